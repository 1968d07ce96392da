// Package odamex asks Odamex' servers, by the protocol for its launchers. Bytes in, bytes
// out: it opens no socket and reads no clock.
//
//	client                                           server
//	AD011002  version[4]  7[4]  time[4]         ──▶
//	                                            ◀──  AD032003  version[4]  form[4]  time[4]  7[4]  build
//	                                                 n[1]  n × (name  type[1]  value)
//	                                                 length[1] password's hash  map  [minutes left[2]]
//	                                                 [n[1]  n × (team  colour[4]  points[2])]
//	                                                 n[1]  n × patch   n[1]  n × (file  length[1] hash)
//	                                                 n[1]  n × (name  colour[4]  [team[1]]  ping[2]  minutes[2]
//	                                                            spectates[1]  frags[2]  kills[2]  deaths[2])
//
// Numbers have their lowest byte first, texts end with NUL. A version is 256 × major +
// 10 × minor + patch. The server returns the time unchanged, so it is the query's nonce.
//
// A server of a later major version than the query's says AD032002, its version, its form
// and the time. It answers as soon as the query has that version, which therefore counts as
// a challenge.
//
// Sources: server/src/sv_sqp.cpp and odalpapi/net_packet.cpp of odamex/odamex.
package odamex

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Protocol asks the servers. It is a [discovery.Protocol].
type Protocol struct{}

// The first numbers of packets. Each holds an identifier, the sender's kind, whether the packet
// answers, and its kind.
const (
	asks   = 0xad011002
	tells  = 0xad032003
	tooOld = 0xad032002
)

const (
	// form is the newest form of an answer that is read here. From this one on the build is a
	// text. timed is the first that leaves out the minutes left if there is no limit.
	form, timed = 7, 6
	// version is what queries have at first, 10.6.0.
	version    = 10*perMajor + 6*perMinor
	perMajor   = 256
	perMinor   = 10
	versionLen = 4
	timeLen    = 4
)

// The types of a variable's value. All others have none, and true is one of them.
const (
	isByte = 2 + iota
	isShort
	isLong
	isFloat
	isText
)

// modes are the game's own names, by number.
var modes = [...]string{"cooperative", "deathmatch", "teamdeathmatch", "ctf", "horde"}

// Team games, by number.
const teamDeathmatch, captureTheFlag = 2, 3

// AppendQuery appends the datagram that asks a server about itself.
func (Protocol) AppendQuery(b []byte, nonce discovery.Nonce, challenge []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, asks)
	if len(challenge) == versionLen {
		b = append(b, challenge...)
	} else {
		b = binary.LittleEndian.AppendUint32(b, version)
	}
	b = binary.LittleEndian.AppendUint32(b, form)
	return binary.LittleEndian.AppendUint32(b, uint32(nonce))
}

var errNoReply = fmt.Errorf("odamex: %w: no answer of a server", discovery.ErrMalformed)

// Parse reads the newest datagram that is a reply.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) { return parse(datagrams, false) }

// Roll returns the protocol that asks for the players' names, too.
func (Protocol) Roll() discovery.Protocol { return roll{} }

type roll struct{ Protocol }

func (roll) Parse(datagrams [][]byte) (discovery.Reply, error) { return parse(datagrams, true) }

func parse(datagrams [][]byte, named bool) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoReply, func(b []byte) (reply discovery.Reply, ok bool) {
		r := reader{packet.Reader{Rest: b}}
		kind, its := r.long(), r.Take(versionLen)
		itsForm := r.long()
		reply = discovery.Reply{Nonce: discovery.Nonce(r.long()), NonceBits: 8 * timeLen, Echoed: true}
		if kind == tooOld && binary.LittleEndian.Uint32(its) > version && !r.Short {
			reply.Challenge = bytes.Clone(its)
			return reply, true
		}
		if kind != tells || itsForm > form {
			return reply, false
		}
		info := r.info(itsForm, named)
		info.Version = versionText(binary.LittleEndian.Uint32(its))
		reply.Info = info
		return reply, !r.Short
	})
}

func versionText(v uint32) string {
	return fmt.Sprintf("%d.%d.%d", v/perMajor, v%perMajor/perMinor, v%perMajor%perMinor)
}

func (r *reader) info(itsForm uint32, named bool) *discovery.Info {
	r.long() // the form that the server knows best
	if itsForm >= form {
		r.Bytes()
	} else {
		r.long()
	}
	is := r.variables()
	info := &discovery.Info{Name: packet.Text([]byte(is["sv_hostname"]))}
	info.MaxPlayers = min(packet.ParseCount(is["sv_maxclients"]), packet.ParseCount(is["sv_maxplayers"]))
	mode := packet.ParseNumber(is["sv_gametype"])
	if mode < len(modes) {
		info.Mode = modes[mode]
	}
	info.Password = len(r.Take(int(r.Octet()))) > 0
	info.Map = packet.Text(r.Bytes())
	limit, _ := strconv.ParseFloat(is["sv_timelimit"], 32)
	if itsForm < timed || limit >= 1 {
		r.short()
	}
	hasTeams := mode == teamDeathmatch || mode == captureTheFlag
	if hasTeams {
		for range r.Octet() {
			r.Bytes()
			r.Take(4 + 2)
		}
	}
	r.files(info)
	r.players(info, hasTeams, named)
	return info
}

// variables returns the server's variables as text. Those with the value 0 are missing.
func (r *reader) variables() map[string]string {
	is := map[string]string{}
	for range r.Octet() {
		name := string(r.Bytes())
		switch r.Octet() {
		case isByte:
			is[name] = strconv.Itoa(int(r.Octet()))
		case isShort:
			is[name] = strconv.Itoa(r.short())
		case isLong:
			is[name] = strconv.Itoa(int(int32(r.long())))
		case isFloat, isText:
			is[name] = string(r.Bytes())
		}
		if r.Short {
			break
		}
	}
	return is
}

// files reads the files that players need. The game's files become the mod, and others become tags.
// The first file is Odamex' own.
func (r *reader) files(info *discovery.Info) {
	var needed []string
	for range r.Octet() {
		needed = append(needed, packet.Text(r.Bytes()))
	}
	for i := range r.Octet() {
		file := packet.Text(r.Bytes())
		r.Take(int(r.Octet()))
		switch i {
		case 0:
		case 1:
			info.Mod = file
		default:
			needed = append(needed, file)
		}
	}
	info.Tags = discovery.TagsOf(strings.Join(needed, ","))
}

// players reads the players. Spectators take no seat.
func (r *reader) players(info *discovery.Info, hasTeams, named bool) {
	if named {
		info.Roster = &discovery.Roster{}
	}
	for range r.Octet() {
		p := discovery.Player{Name: packet.Text(r.Bytes())}
		r.Take(4)
		if hasTeams {
			r.Octet()
		}
		p.Ping = time.Duration(r.short()) * time.Millisecond
		r.short() // how long they have been there
		spectates := r.Octet() != 0
		p.Score = int(int16(r.short()))
		r.Take(2 + 2)
		if r.Short {
			return
		}
		if spectates {
			continue
		}
		info.Players++
		if named {
			info.Roster.Players = append(info.Roster.Players, p)
		}
	}
}

// reader takes numbers and texts off a packet.
type reader struct{ packet.Reader }

func (r *reader) long() uint32 { return binary.LittleEndian.Uint32(r.Take(4)) }

func (r *reader) short() int { return int(binary.LittleEndian.Uint16(r.Take(2))) }

// Answer returns the answer of a server in Muster's fleet to a request, nil if the server
// does not understand it. Players are their names.
func Answer(request []byte, info discovery.Info, names []string) []byte {
	r := reader{packet.Reader{Rest: request}}
	kind, asker, _, sent := r.long(), r.long(), r.long(), r.Take(timeLen)
	if kind != asks || r.Short {
		return nil
	}
	own := versionOf(info.Version)
	answer := uint32(tells)
	if asker/perMajor < own/perMajor {
		answer = tooOld
	}
	b := binary.LittleEndian.AppendUint32(nil, answer)
	b = binary.LittleEndian.AppendUint32(b, own)
	b = append(binary.LittleEndian.AppendUint32(b, form), sent...)
	if answer == tooOld {
		return b
	}
	b = append(binary.LittleEndian.AppendUint32(b, form), 0) // no build
	b = append(append(b, 3), "sv_hostname\x00"...)
	b = append(append(append(b, isText), info.Name...), 0)
	for _, name := range []string{"sv_maxclients", "sv_maxplayers"} {
		b = append(append(b, name...), 0, isByte, byte(min(info.MaxPlayers, 255)))
	}
	if b = append(b, 0); info.Password {
		b = append(b[:len(b)-1], 1, 0)
	}
	b = append(append(b, info.Map...), 0, 0, 1)
	b = append(append(b, "odamex.wad"...), 0, 0)
	names = names[:min(len(names), info.Players, 255)]
	b = append(b, byte(len(names)))
	for _, name := range names {
		b = append(append(b, name...), make([]byte, 1+4+2+2+1+2+2+2)...)
	}
	return b
}

// versionOf is the inverse of versionText, and version for other texts.
func versionOf(text string) uint32 {
	var major, minor, patch uint8
	if _, err := fmt.Sscanf(text, "%d.%d.%d", &major, &minor, &patch); err != nil {
		return version
	}
	return uint32(major)*perMajor + uint32(minor)*perMinor + uint32(patch)
}
