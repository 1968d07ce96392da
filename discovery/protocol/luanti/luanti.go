// Package luanti speaks the first packets of the protocol of Luanti (Minetest). A
// server has no others for strangers. Bytes in, bytes out: it opens no socket and reads
// no clock.
//
//	client                                      server
//	4F 45 74 03  00 00  00  01             ──▶           an empty packet from nobody
//	                                       ◀──  4F 45 74 03  00 01  00  03 n[2]  00 01 peer[2]   "you are peer …"
//	4F 45 74 03  peer[2]  00  00 03        ──▶           "goodbye"
//
// A server keeps a place for each peer until the peer says goodbye, so Muster does.
// Only the public list tells the game and the number of players. Neither datagram has
// room for a nonce.
//
// Sources: Luanti's src/network/mtp, server.py of its public list, which asks in the
// same way, and packets recorded from Minetest 5.6.1 (testdata).
package luanti

import (
	"bytes"
	"fmt"
	"slices"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Protocol asks Luanti's servers. It is a [discovery.Protocol].
type Protocol struct{}

const (
	magic = "\x4f\x45\x74\x03"
	// nobody and theServer are peers. The numbers in between are clients.
	nobody, theServer = "\x00\x00", "\x00\x01"
	channel           = "\x00"
	original          = "\x01"
	reliable          = "\x03"
	setPeer           = "\x00\x01"
	goodbye           = "\x00\x03"

	hello = magic + nobody + channel + original
	// welcome begins the reply; the number of the packet comes next.
	welcome   = magic + theServer + channel + reliable
	numberLen = 2
	peerLen   = 2
)

// AppendQuery appends the datagram that makes a server assign a peer's number.
func (Protocol) AppendQuery(b []byte, _ discovery.Nonce, _ []byte) []byte { return append(b, hello...) }

var errNoWelcome = fmt.Errorf("luanti: %w: no number of a peer", discovery.ErrMalformed)

// Parse reads the newest datagram that is a reply.
func (Protocol) Parse(datagrams [][]byte) (discovery.Reply, error) {
	return packet.Newest(datagrams, errNoWelcome, func(b []byte) (reply discovery.Reply, ok bool) {
		rest, ok := bytes.CutPrefix(b, []byte(welcome))
		if !ok || len(rest) != numberLen+len(setPeer)+peerLen || string(rest[numberLen:][:len(setPeer)]) != setPeer {
			return reply, false
		}
		peer := rest[numberLen+len(setPeer):]
		return discovery.Reply{Info: &discovery.Info{}, Farewell: slices.Concat([]byte(magic), peer, []byte(channel+goodbye))}, true
	})
}

// Answer returns the answer of a server in Muster's fleet to a request, nil if the
// server does not understand it.
func Answer(request []byte) []byte {
	if string(request) != hello {
		return nil
	}
	return []byte(welcome + "\xff\xdc" + setPeer + "\x00\x02")
}
