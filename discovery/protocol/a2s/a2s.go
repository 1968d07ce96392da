// Package a2s speaks Valve's server queries: a client's requests, and the replies of
// servers of the Source and GoldSrc engines. Bytes in, bytes out: it opens no socket
// and reads no clock.
//
//	client                                     server
//	FF FF FF FF 54 "Source Engine Query" 00 ──▶
//	                                        ◀──  FF FF FF FF 41 challenge[4]
//	the same, then challenge[4]             ──▶
//	                                        ◀──  FF FF FF FF 49 what it is
//
// Servers may skip the challenge, or send another one. All numbers are little-endian,
// texts end with NUL. A reply that does not fit a datagram comes in pieces; see
// [SplitSource].
//
// Sources: Valve Developer Community, "Server queries"; packets recorded from servers
// (testdata).
package a2s

import (
	"bytes"
	"cmp"
	"fmt"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Protocol asks for a server's information. It is a [discovery.Protocol].
type Protocol struct {
	// BotsApart says that the game's servers count people alone as players, and that bots
	// take no seat from them.
	BotsApart bool
}

// AppendQuery appends the datagram that asks a server about itself. The protocol has no
// place for a nonce, so the sender's address identifies a reply.
func (Protocol) AppendQuery(b []byte, _ discovery.Nonce, challenge []byte) []byte {
	b = append(b, single...)
	b = append(b, Info)
	b = append(b, infoWord...)
	return append(b, challenge...)
}

// Parse returns the first information in the datagrams, whole or in pieces. Otherwise
// the newest datagram counts: a challenge, or a piece of a reply under way. Noise is an
// error only if nothing else came.
//
// Info.Mode is the server's folder ("cstrike", "tf"), as QStat has it: the field game
// is a title, and the protocol knows no game type. Bots count as players.
func (p Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return parse(datagrams, p.parsePacket)
}

// Unpacks reports whether Parse unpacks one of these datagrams. Protocol is
// [discovery.Packed].
func (Protocol) Unpacks(datagrams [][]byte) bool { return unpacks(datagrams) }

// parse returns the first information that read finds in the datagrams, or else the newest. It
// unpacks at most one packet, the last compressed one. Such a packet costs a server 94 bytes, and
// the reader a thousand times as much.
func parse(datagrams [][]byte, read func(packet []byte) (discovery.Reply, error)) (discovery.Reply, error) {
	newest, heard := discovery.Reply{Incomplete: true}, len(datagrams) == 0
	var split pieces
	var packed *joined
	var noise error
	for _, d := range datagrams {
		reply := discovery.Reply{Incomplete: true}
		whole, err := split.add(d)
		switch {
		case err == nil && whole.packed:
			packed = &whole
			continue
		case err == nil && whole.bytes != nil:
			reply, err = read(whole.bytes)
		}
		switch {
		case err != nil:
			noise = cmp.Or(noise, err)
			continue
		case reply.Info != nil:
			return reply, nil
		}
		newest, heard = reply, true
	}
	if packed != nil {
		reply, err := readPacked(packed.bytes, read)
		if err == nil && (reply.Info != nil || !heard) {
			return reply, nil
		}
		noise = cmp.Or(noise, err)
	}
	if !heard {
		return discovery.Reply{}, noise
	}
	return newest, nil
}

func readPacked(b []byte, read func(packet []byte) (discovery.Reply, error)) (discovery.Reply, error) {
	whole, err := unpack(b)
	if err != nil {
		return discovery.Reply{}, err
	}
	return read(whole)
}

// parsePacket reads a packet without its header.
func (p Protocol) parsePacket(b []byte) (reply discovery.Reply, err error) {
	if len(b) == 0 {
		return reply, malformed("an empty packet")
	}
	kind, b := b[0], b[1:]
	switch kind {
	case kindChallenge:
		if len(b) < challengeLen {
			return reply, malformed("a challenge of %d bytes", len(b))
		}
		reply.Challenge = bytes.Clone(b[:challengeLen])
	case kindInfo:
		reply.Info, err = parseInfo(b)
	case kindGoldSrc:
		reply.Info, err = parseGoldSrc(b)
	default:
		err = malformed("a reply of kind %#02x", kind)
	}
	if i := reply.Info; i != nil {
		packet.Seat(i, i.Players, i.Bots, i.MaxPlayers, p.BotsApart)
	}
	return reply, err
}

const (
	// single starts a packet that is whole.
	single = "\xff\xff\xff\xff"
	// piece starts a packet that is one of several.
	piece = "\xfe\xff\xff\xff"
)

// The kinds of requests, the byte after the header.
const (
	Info    byte = 'T'
	Players byte = 'U'
	Rules   byte = 'V'
)

// The kinds of replies.
const (
	kindChallenge byte = 'A'
	kindInfo      byte = 'I'
	kindGoldSrc   byte = 'm'
	kindPlayers   byte = 'D'
	kindRules     byte = 'E'
)

// infoWord follows the kind in a request for [Info].
const infoWord = "Source Engine Query\x00"

// challengeLen is the length of a challenge, whose bytes mean nothing to clients.
const challengeLen = 4

// malformed returns an error about bytes that the protocol does not allow.
func malformed(format string, args ...any) error {
	return fmt.Errorf("a2s: %w: "+format, append([]any{discovery.ErrMalformed}, args...)...)
}

// noChallenge is sent by clients that do not know the server's challenge yet.
const noChallenge = "\xff\xff\xff\xff"

// Request is a client's request to a server.
type Request struct {
	// Kind is [Info], [Players] or [Rules].
	Kind byte
	// Challenge is the 4 bytes that the server demanded, or nil if the client does not
	// know them yet. It is a part of the datagram.
	Challenge []byte
}

// ParseRequest reads a client's request. It ignores what follows, as servers do: some
// clients pad their requests.
func ParseRequest(b []byte) (Request, error) {
	b, ok := bytes.CutPrefix(b, []byte(single))
	if !ok || len(b) == 0 {
		return Request{}, malformed("a request of %d bytes", len(b))
	}
	r := Request{Kind: b[0]}
	b = b[1:]
	switch r.Kind {
	case Players, Rules:
	case Info:
		if b, ok = bytes.CutPrefix(b, []byte(infoWord)); !ok {
			return Request{}, malformed("a request for information without its word")
		}
	default:
		return Request{}, malformed("a request of kind %#02x", r.Kind)
	}
	if len(b) >= challengeLen && string(b[:challengeLen]) != noChallenge {
		r.Challenge = b[:challengeLen:challengeLen]
	}
	return r, nil
}
