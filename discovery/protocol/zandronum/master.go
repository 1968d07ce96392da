package zandronum

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// A launcher asks the master for its list. Packets are packed in the same way as servers' packets:
//
//	launcher                    master
//	5660028[4]  2[2]       ──▶
//	                       ◀──  6[4]  part[1]  8[1]  k × (n[1]  IPv4[4]  n × port[2])  00  07, or 02 in the last part
//
// To an address that got a list in the last ten seconds it says 4[4], and then nothing for a
// while; 3[4] to one that it bans, 5[4] to an old version.
//
// Sources: "Launcher protocol" of Zandronum's documentation, masterserver/main.cpp of
// Q-Zandronum.

// master asks Zandronum's masters. It is a [discovery.Lister].
type master struct{}

// Master returns how the game's masters are asked.
func (Protocol) Master() discovery.Lister { return master{} }

const (
	askMaster     = 5660028
	masterVersion = 2

	bans, waits, isOld = 3, 4, 5
	listPart           = 6
	block              = 8
	endOfPart          = 7
	endOfList          = 2
)

// These are the reasons for which a master gives no list.
var (
	errNoList = fmt.Errorf("zandronum: %w: no list of servers", discovery.ErrMalformed)
	errBanned = errors.New("the master bans this address")
	errWaits  = errors.New("the master gives a list only every ten seconds")
	errOld    = errors.New("the master wants a newer version of its protocol")
)

// AppendListQuery appends the datagram that asks for the list.
func (master) AppendListQuery(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, plain), askMaster)
	return binary.LittleEndian.AppendUint16(b, masterVersion)
}

// Repeats is false: the master would answer no second question.
func (master) Repeats() bool { return false }

// ParseList reads one part of a list.
func (master) ParseList(b []byte, yield func(netip.AddrPort, *discovery.Info)) (end bool, err error) {
	r := reader{packet.Reader{Rest: unpack(b)}}
	switch kind := r.long(); {
	case r.Short:
		return false, errNoList
	case kind == bans:
		return false, errBanned
	case kind == waits:
		return false, errWaits
	case kind == isOld:
		return false, errOld
	case kind != listPart:
		return false, errNoList
	}
	r.Octet() // the part's number
	if r.Octet() != block {
		return false, errNoList
	}
	for {
		n := r.Octet()
		if n == 0 {
			break
		}
		host := netip.AddrFrom4([4]byte(r.Take(4)))
		for range n {
			port := binary.LittleEndian.Uint16(r.Take(2))
			if r.Short {
				return false, errNoList
			}
			if at := netip.AddrPortFrom(host, port); port != 0 && !host.IsUnspecified() {
				yield(at, nil)
			}
		}
	}
	last := r.Octet()
	if r.Short || last != endOfPart && last != endOfList {
		return false, errNoList
	}
	return last == endOfList, nil
}
