package jamulus

import (
	"fmt"
	"net/netip"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// directory asks Jamulus' directories. It is a [discovery.Lister].
type directory struct{}

// Master returns how directories are asked.
func (Protocol) Master() discovery.Lister { return directory{} }

// shortList is a list with nothing but addresses and names, for lines that lose long packets.
const shortList = 1018

var errNoList = fmt.Errorf("jamulus: %w: no list of servers", discovery.ErrMalformed)

// AppendListQuery appends the datagram that asks for the list.
func (directory) AppendListQuery(b []byte) []byte { return frame(b, wantsList, nil) }

// Repeats is false: a list comes whole.
func (directory) Repeats() bool { return false }

// ParseList reads a list. Its first server is the directory itself, without an address.
func (directory) ParseList(b []byte, yield func(netip.AddrPort, *discovery.Info)) (end bool, err error) {
	kind, message, ok := unframe(b)
	if !ok || kind != seatedList && kind != shortList {
		return false, errNoList
	}
	r := reader{packet.Reader{Rest: message}}
	for len(r.Rest) > 0 {
		ip := r.Take(4)
		host, port := netip.AddrFrom4([4]byte{ip[3], ip[2], ip[1], ip[0]}), r.short()
		info := &discovery.Info{}
		if kind == shortList {
			info.Name = packet.Text(r.Take(int(r.Octet())))
		} else {
			r.short() // the country
			info.MaxPlayers = int(r.Octet())
			r.Octet() // whether it stays
			info.Name = r.text()
			r.text() // nothing
			r.text() // the city
		}
		switch {
		case r.Short:
			return false, errNoList
		case host.IsUnspecified():
			yield(netip.AddrPort{}, info)
		default:
			yield(netip.AddrPortFrom(host, port), info)
		}
	}
	return kind == seatedList, nil
}
