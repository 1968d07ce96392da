package lan

import (
	"bytes"
	"net/netip"
	"slices"

	"muster/discovery"
)

// What strangers can make Muster remember and send.
const (
	// maxCrowd is more servers than a network has seats for.
	maxCrowd = 256
	// maxParts and maxPartsLen bound a reply in several datagrams.
	maxParts, maxPartsLen = 32, 32 << 10
	// maxChallenges is how often a server may ask back, and maxChallengeLen with
	// how much: A2S demands four bytes, seldom twice.
	maxChallenges, maxChallengeLen = 3, 64
)

// crowd is what a query to everybody brings in. It opens no socket.
type crowd struct {
	protocol discovery.Protocol
	nonce    discovery.Nonce
	network  netip.Prefix
	ports    []uint16
	members  map[netip.AddrPort]*member
}

// member is one that answered.
type member struct {
	parts      [][]byte
	partsLen   int
	challenges int
	info       *discovery.Info
}

// hear takes a datagram, and gives what is to be sent back, or nil.
func (c *crowd) hear(from netip.AddrPort, datagram []byte) []byte {
	if !c.network.Contains(from.Addr()) || !slices.Contains(c.ports, from.Port()) {
		return nil
	}
	m := c.members[from]
	if m == nil {
		m = &member{}
	}
	if m.info != nil || len(c.members) >= maxCrowd && c.members[from] == nil {
		return nil
	}
	reply, err := c.protocol.Parse(append(slices.Clip(m.parts), datagram))
	if err != nil || reply.Echoed && reply.Nonce != c.nonce {
		return nil
	}
	if c.members == nil {
		c.members = make(map[netip.AddrPort]*member)
	}
	c.members[from] = m
	return c.answer(m, reply, datagram)
}

// answer does what a reply calls for.
func (c *crowd) answer(m *member, reply discovery.Reply, datagram []byte) []byte {
	switch {
	case reply.Info != nil:
		m.info, m.parts = reply.Info, nil
	case reply.Incomplete && len(m.parts) < maxParts && m.partsLen+len(datagram) <= maxPartsLen:
		m.parts = append(m.parts, bytes.Clone(datagram))
		m.partsLen += len(datagram)
	case len(reply.Challenge) > 0 && len(reply.Challenge) <= maxChallengeLen && m.challenges < maxChallenges:
		m.challenges++
		m.parts, m.partsLen = nil, 0
		return c.protocol.AppendQuery(nil, c.nonce, reply.Challenge)
	}
	return nil
}

// servers are those that told of themselves, on a card with these networks.
func (c *crowd) servers(networks []netip.Prefix) []Server {
	var list []Server
	for addr, m := range c.members {
		if m.info != nil {
			list = append(list, Server{Server: discovery.Server{Addr: addr}, Info: *m.info, Networks: networks})
		}
	}
	return list
}
