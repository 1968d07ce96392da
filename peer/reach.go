package peer

import (
	"net"
	"net/netip"

	"muster/discovery"
)

// mayAsk tells whether a host may have us ask a server. A host on the internet
// knows nothing of the networks that we are on: at the private addresses in its
// list are our own machines, which no stranger should have us probe.
func mayAsk(host, server netip.Addr) bool {
	reach := discovery.ReachOf(server)
	return reach != discovery.NoReach && reach >= discovery.ReachOf(host)
}

func (r *round) mayAsk(server int) bool { return mayAsk(r.host, r.servers[server].Addr.Addr()) }

// outOfReach are the servers that the host may not have us ask, besides those
// that are known. We call them lost, without ever having asked.
func (r *round) outOfReach(known []discovery.Result) (lost []discovery.Result) {
	isKnown := make([]bool, len(r.servers))
	for i := range known {
		isKnown[known[i].Server] = true
	}
	for i := range r.servers {
		if !isKnown[i] && !r.mayAsk(i) {
			lost = append(lost, discovery.Result{Server: i, State: discovery.Lost})
		}
	}
	return lost
}

// hostAddr is where a connection's host is. One at our own address is on this
// machine, whichever of its addresses that is.
func hostAddr(conn net.Conn) netip.Addr {
	remote, local := addrOf(conn.RemoteAddr()), addrOf(conn.LocalAddr())
	if remote == local {
		return netip.IPv6Loopback()
	}
	return remote
}

func addrOf(a net.Addr) netip.Addr {
	at, _ := netip.ParseAddrPort(a.String()) // of a TCP connection
	return at.Addr().Unmap().WithZone("")
}
