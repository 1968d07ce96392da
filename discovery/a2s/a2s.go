// Package a2s speaks Valve's server queries: what a client asks, and what the
// servers of the Source and GoldSrc engines answer. Bytes in, bytes out: it
// opens no socket and reads no clock.
//
//	client                                     server
//	FF FF FF FF 54 "Source Engine Query" 00 ──▶
//	                                        ◀──  FF FF FF FF 41 challenge[4]
//	the same, then challenge[4]             ──▶
//	                                        ◀──  FF FF FF FF 49 what it is
//
// Servers may skip the challenge, or send another one. All numbers are
// little-endian, texts end with NUL. What does not fit a datagram comes in
// pieces; see [SplitSource].
//
// Sources: Valve Developer Community, "Server queries"; packets recorded from
// servers (testdata).
package a2s

import (
	"fmt"

	"muster/discovery"
)

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

// malformed is an error about bytes that the protocol does not allow.
func malformed(format string, args ...any) error {
	return fmt.Errorf("a2s: %w: "+format, append([]any{discovery.ErrMalformed}, args...)...)
}
