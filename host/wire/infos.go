package wire

import (
	"encoding/binary"
	"fmt"
	"time"

	"muster/discovery"
)

// An infos frame holds a record for each server. Maps and modes repeat, so the frame has each text
// once, and then refers to it by number:
//
//	kind │ round │ count │ gap │ flags │ players │ max │ map │ mode │ (flagged …)
//
// The gap is the zigzag difference to the previous server's index. Flagged values follow in the
// order of the flags: bots, game port, app id, both pings in ms, version, name, and more. More is
// another byte of flags, followed by its values: protocol and the number of older ones, mod, tags.
// A new text is 0, its length and its bytes; a repeated text is its number in the frame, from 1.
const (
	flagPassword = 1 << iota
	flagBots
	flagGamePort
	flagAppID
	flagPings
	flagVersion
	flagName
	flagMore
)

// These are the flags of the second byte.
const (
	moreProtocol = 1 << iota
	moreMod
	moreTags
	moreFlags // reserved
)

const (
	// maxText bounds a text; [discovery.CleanText] cuts texts to the same length.
	maxText = 256
	// maxSeats bounds the counts of an Info, and its pings in milliseconds.
	maxSeats = 1 << 16
	// minInfo is the smallest size of a record, in bytes.
	minInfo = 6
)

// AppendInfos appends an infos frame to b. It brings absurd values back into the range of a frame;
// see [TidyInfo].
func AppendInfos(b []byte, in Infos) []byte {
	b = append(b, kindInfos)
	b = binary.AppendUvarint(b, uint64(in.Round))
	b = binary.AppendUvarint(b, uint64(len(in.Servers)))
	texts := dictionary{}
	last := 0
	for i := range in.Servers {
		s := &in.Servers[i]
		b = binary.AppendUvarint(b, zigzag(int64(s.Server-last)))
		last = s.Server
		info := TidyInfo(s.Info)
		b = appendInfo(b, &info, texts)
	}
	return b
}

// seats returns a count as it may stand in an Info. An impossible count becomes unknown.
func seats(n int) int {
	if n < 0 || n >= maxSeats {
		return 0
	}
	return n
}

// TidyInfo returns an Info as it arrives at the other side: safe texts, counts from 0 to 65,536,
// and pings in whole milliseconds. It removes the mark of a list, because the receiver gets the
// value from the peer.
func TidyInfo(info discovery.Info) discovery.Info {
	info.AsListed = false
	for _, text := range []*string{&info.Name, &info.Map, &info.Mode, &info.Version, &info.Mod} {
		*text = clean(*text)
	}
	info.Tags = discovery.TagsOf(string(info.Tags))
	info.Protocol = min(max(info.Protocol, 0), discovery.MaxProtocol)
	if info.OldestProtocol <= 0 || info.OldestProtocol >= info.Protocol {
		info.OldestProtocol = 0 // likewise
	}
	for _, n := range []*int{&info.Players, &info.MaxPlayers, &info.Bots} {
		*n = seats(*n)
	}
	for _, ping := range []*time.Duration{&info.MinPing, &info.MaxPing} {
		*ping = min(max(ping.Truncate(time.Millisecond), 0), maxSeats*time.Millisecond)
	}
	return info
}

func appendInfo(b []byte, info *discovery.Info, texts dictionary) []byte {
	flags := len(b)
	b = binary.AppendUvarint(append(b, 0), uint64(info.Players))
	b = binary.AppendUvarint(b, uint64(info.MaxPlayers))
	b = texts.append(b, info.Map)
	b = texts.append(b, info.Mode)
	flag := func(f byte, set bool) bool {
		if set {
			b[flags] |= f
		}
		return set
	}
	flag(flagPassword, info.Password)
	if flag(flagBots, info.Bots != 0) {
		b = binary.AppendUvarint(b, uint64(info.Bots))
	}
	if flag(flagGamePort, info.GamePort != 0) {
		b = binary.AppendUvarint(b, uint64(info.GamePort))
	}
	if flag(flagAppID, info.AppID != 0) {
		b = binary.AppendUvarint(b, info.AppID)
	}
	if flag(flagPings, info.MinPing != 0 || info.MaxPing != 0) {
		b = binary.AppendUvarint(b, uint64(info.MinPing/time.Millisecond))
		b = binary.AppendUvarint(b, uint64(info.MaxPing/time.Millisecond))
	}
	if flag(flagVersion, info.Version != "") {
		b = texts.append(b, info.Version)
	}
	if flag(flagName, info.Name != "") {
		b = texts.append(b, info.Name)
	}
	if flag(flagMore, info.Protocol != 0 || info.Mod != "" || info.Tags != "") {
		b = appendMore(b, info, texts)
	}
	return b
}

func appendMore(b []byte, info *discovery.Info, texts dictionary) []byte {
	flags := len(b)
	b = append(b, 0)
	if info.Protocol != 0 {
		b[flags] |= moreProtocol
		b = binary.AppendUvarint(b, uint64(info.Protocol))
		older := 0
		if info.OldestProtocol != 0 {
			older = info.Protocol - info.OldestProtocol
		}
		b = binary.AppendUvarint(b, uint64(older))
	}
	if info.Mod != "" {
		b[flags] |= moreMod
		b = texts.append(b, info.Mod)
	}
	if info.Tags != "" {
		b[flags] |= moreTags
		b = texts.append(b, string(info.Tags))
	}
	return b
}

// dictionary numbers a frame's texts from 1.
type dictionary map[string]uint64

func (d dictionary) append(b []byte, s string) []byte {
	if n, ok := d[s]; ok {
		return binary.AppendUvarint(b, n)
	}
	d[s] = uint64(len(d) + 1)
	b = binary.AppendUvarint(append(b, 0), uint64(len(s)))
	return append(b, s...)
}

func parseInfos(b []byte) (Message, error) {
	r := reader{b: b}
	in := Infos{Round: int(r.upTo(MaxRound))}
	count := r.upTo(uint64(len(r.b) / minInfo))
	in.Servers = make([]ServerInfo, 0, count)
	var texts []string
	last := int64(0)
	for range count {
		last = r.server(last)
		info := r.info(&texts)
		if r.err != nil {
			return nil, fmt.Errorf("%w: infos: record %d of %d: %v", ErrMalformed, len(in.Servers)+1, count, r.err)
		}
		in.Servers = append(in.Servers, ServerInfo{Server: int(last), Info: info})
	}
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("%w: infos: %v", ErrMalformed, err)
	}
	return in, nil
}

func (r *reader) info(texts *[]string) discovery.Info {
	flags := r.byte()
	info := discovery.Info{
		Password:   flags&flagPassword != 0,
		Players:    seats(int(r.upTo(maxSeats))),
		MaxPlayers: seats(int(r.upTo(maxSeats))),
		Map:        r.numbered(texts),
		Mode:       r.numbered(texts),
	}
	if flags&flagBots != 0 {
		info.Bots = seats(int(r.upTo(maxSeats)))
	}
	if flags&flagGamePort != 0 {
		info.GamePort = uint16(r.upTo(1<<16 - 1))
	}
	if flags&flagAppID != 0 {
		info.AppID = r.uvarint()
	}
	if flags&flagPings != 0 {
		info.MinPing = time.Duration(r.upTo(maxSeats)) * time.Millisecond
		info.MaxPing = time.Duration(r.upTo(maxSeats)) * time.Millisecond
	}
	if flags&flagVersion != 0 {
		info.Version = r.numbered(texts)
	}
	if flags&flagName != 0 {
		info.Name = r.numbered(texts)
	}
	if flags&flagMore != 0 {
		r.readMore(&info, texts)
	}
	return info
}

func (r *reader) readMore(info *discovery.Info, texts *[]string) {
	flags := r.byte()
	if flags >= moreFlags {
		r.fail("flags %#x", flags)
	}
	if flags&moreProtocol != 0 {
		info.Protocol = int(r.upTo(discovery.MaxProtocol))
		if older := int(r.upTo(uint64(info.Protocol))); older > 0 {
			info.OldestProtocol = info.Protocol - older
		}
	}
	if flags&moreMod != 0 {
		info.Mod = r.numbered(texts)
	}
	if flags&moreTags != 0 {
		info.Tags = discovery.TagsOf(r.numbered(texts))
	}
}

// numbered reads a new or repeated text and cleans it, because a peer's texts are as hostile as a
// server's.
func (r *reader) numbered(texts *[]string) string {
	n := r.uvarint()
	switch {
	case n == 0:
		*texts = append(*texts, clean(r.text(maxText)))
		n = uint64(len(*texts))
	case n > uint64(len(*texts)):
		r.fail("text %d of %d", n, len(*texts))
		return ""
	}
	return (*texts)[n-1]
}
