package odamex

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// A launcher asks the master for its list:
//
//	launcher          master
//	777123[4]    ──▶
//	             ◀──  777123[4]  n[2]  n × (IPv4[4]  port[2])
//
// Numbers have their lowest byte first. The list is one packet.
//
// Source: master/main.cpp and odalpapi/net_packet.cpp of odamex/odamex.

// master asks Odamex' masters. It is a [discovery.Lister].
type master struct{}

// Master returns how the game's masters are asked.
func (Protocol) Master() discovery.Lister { return master{} }

const list = 777123

var errNoList = fmt.Errorf("odamex: %w: no list of servers", discovery.ErrMalformed)

// AppendListQuery appends the datagram that asks for the list.
func (master) AppendListQuery(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, list) }

// Repeats is false: the list comes whole.
func (master) Repeats() bool { return false }

// ParseList reads a list.
func (master) ParseList(b []byte, yield func(netip.AddrPort, *discovery.Info)) (end bool, err error) {
	r := reader{packet.Reader{Rest: b}}
	if r.long() != list {
		return false, errNoList
	}
	n := r.short()
	for range n {
		host := netip.AddrFrom4([4]byte(r.Take(4)))
		port := uint16(r.short())
		if r.Short {
			break
		}
		yield(netip.AddrPortFrom(host, port), nil)
	}
	if r.Short {
		return false, errNoList
	}
	return true, nil
}
