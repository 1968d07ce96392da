package a2s

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"muster/discovery"
)

// Applications whose servers say some things in a way of their own.
const (
	theShip = 2400
	rust    = 252490
)

const (
	// theShipRules are the bytes in which The Ship has mode, witnesses and
	// duration.
	theShipRules = 3
	// rustKey is the length of the keys among a Rust server's keywords.
	rustKey = 2
	// aboutMod are the bytes that GoldSrc has of a mod behind its addresses: NUL,
	// version[4], size[4], for several players[1], own library[1].
	aboutMod = 11
)

// parseInfo reads today's reply to [Info], without header and kind:
//
//	protocol[1] name map folder game app[2] players[1] max[1] bots[1]
//	type[1] system[1] password[1] secure[1] version [flags[1] extra…]
func parseInfo(b []byte) (*discovery.Info, error) {
	r := reader{rest: b}
	info := new(discovery.Info)
	r.octet() // protocol
	info.Name, info.Map, info.Mode = r.text(), r.text(), r.text()
	r.bytes() // game, in words
	info.AppID = uint64(r.u16())
	info.Players, info.MaxPlayers = int(r.octet()), int(r.octet())
	info.Bots = min(int(r.octet()), info.Players)
	r.octet() // type
	r.octet() // system
	info.Password = r.flag()
	r.octet() // secure
	if info.AppID == theShip {
		r.take(theShipRules)
	}
	info.Version = r.text()
	if r.short {
		return nil, malformed("information cut short")
	}
	parseExtra(&r, info)
	return info, nil
}

// parseExtra reads the fields that flags announce, in the order of the flags
// here. Servers may leave them out, or cut them short: then they say nothing.
func parseExtra(r *reader, info *discovery.Info) {
	flags := r.octet()
	if flags&hasGamePort != 0 {
		info.GamePort = r.u16()
	}
	if flags&hasSteamID != 0 {
		r.u64()
	}
	if flags&hasTV != 0 {
		r.u16()
		r.bytes()
	}
	var keywords []byte
	if flags&hasKeywords != 0 {
		keywords = r.bytes()
	}
	if flags&hasGameID != 0 {
		// The field before has room for 16 bits of the application's 24.
		if app := r.u64() & appMask; app != 0 {
			info.AppID = app
		}
	}
	if info.AppID == rust {
		applyRustCounts(keywords, info)
	}
}

// applyRustCounts takes the true numbers out of a Rust server's keywords, as in
// "mp300,cp281,qp0": the fields for them end at 255.
func applyRustCounts(keywords []byte, info *discovery.Info) {
	for word := range bytes.SplitSeq(keywords, []byte(",")) {
		if len(word) < rustKey {
			continue
		}
		n, err := strconv.ParseUint(string(word[rustKey:]), 10, 16)
		if err != nil {
			continue
		}
		switch string(word[:rustKey]) {
		case "cp":
			info.Players = int(n)
		case "mp":
			info.MaxPlayers = int(n)
		}
	}
	info.Bots = min(info.Bots, info.Players)
}

// parseGoldSrc reads the reply of old servers of the GoldSrc engine, without
// header and kind:
//
//	address name map folder game players[1] max[1] protocol[1]
//	type[1] system[1] password[1] mod[1] [about the mod] secure[1] bots[1]
func parseGoldSrc(b []byte) (*discovery.Info, error) {
	r := reader{rest: b}
	info := new(discovery.Info)
	r.bytes() // its address, as far as it knows
	info.Name, info.Map, info.Mode = r.text(), r.text(), r.text()
	r.bytes() // game, in words
	info.Players, info.MaxPlayers = int(r.octet()), int(r.octet())
	r.octet() // protocol
	r.octet() // type
	r.octet() // system
	info.Password = r.flag()
	if isMod := r.flag(); isMod {
		r.bytes() // where to read about it
		r.bytes() // where to download it
		r.take(aboutMod)
	}
	r.octet() // secure
	info.Bots = min(int(r.octet()), info.Players)
	if r.short {
		return nil, malformed("information cut short")
	}
	return info, nil
}

// reader takes fields off the front of a packet. A field that is not there is
// zero, and so is all after it; short says so.
type reader struct {
	rest  []byte
	short bool
}

// take is the next n bytes, or n zeros.
func (r *reader) take(n int) []byte {
	if len(r.rest) < n {
		r.rest, r.short = nil, true
		return make([]byte, n)
	}
	field := r.rest[:n]
	r.rest = r.rest[n:]
	return field
}

func (r *reader) octet() byte { return r.take(1)[0] }
func (r *reader) flag() bool  { return r.octet() != 0 }
func (r *reader) u16() uint16 { return binary.LittleEndian.Uint16(r.take(2)) }
func (r *reader) u32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) u64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

// bytes is what stands before the next NUL.
func (r *reader) bytes() []byte {
	text, rest, found := bytes.Cut(r.rest, []byte{0})
	if !found {
		r.rest, r.short = nil, true
		return nil
	}
	r.rest = rest
	return text
}

// text is what stands before the next NUL, cleaned for display.
func (r *reader) text() string { return discovery.CleanText(string(r.bytes())) }
