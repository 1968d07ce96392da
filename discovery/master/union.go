package master

import (
	"cmp"
	"net/netip"

	"muster/discovery"
)

// union gathers servers without repeating any, in the order in which they are
// first seen.
type union struct {
	servers []discovery.Server
	index   map[netip.AddrPort]int
}

// add takes a server, or what a second mention adds to the first.
// Over [discovery.MaxServers] it takes no more.
func (u *union) add(s discovery.Server) {
	if u.index == nil {
		u.index = make(map[netip.AddrPort]int)
	}
	s.Addr = discovery.Canonical(s.Addr)
	if i, ok := u.index[s.Addr]; ok {
		known := &u.servers[i]
		known.Country = cmp.Or(known.Country, s.Country)
		known.ASN = cmp.Or(known.ASN, s.ASN)
		return
	}
	if len(u.servers) < discovery.MaxServers {
		u.index[s.Addr] = len(u.servers)
		u.servers = append(u.servers, s)
	}
}
