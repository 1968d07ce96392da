package room

import (
	"net/netip"
	"slices"

	"muster/discovery"
	"muster/host/wire"
)

// LocalServer is a game server on a network that the host is on, too, or on one of
// players who found it there. Players there reach it by its address there, the others
// by its public one, if it has any: few routers let out and in again.
type LocalServer struct {
	Addr netip.AddrPort `json:"addr"`
	// Networks are where Addr is reached from.
	Networks []netip.Prefix `json:"networks"`
	// Public is its address in the list of the internet's servers, invalid if it
	// is in none: then it is hidden from everybody elsewhere.
	Public netip.AddrPort `json:"public,omitzero"`
	// Home stands for the network of the players who found it, see [player.home], and
	// Name and Seats for what it said: another network has another server at this
	// address. It is invalid if the host found it.
	Home  netip.Addr `json:"home,omitzero"`
	Name  string     `json:"name,omitempty"`
	Seats int        `json:"seats,omitempty"`
	// Info is what it said of itself when the host found it.
	Info discovery.Info `json:"-"`
	// Server is its place in the room's list.
	Server int `json:"server"`
}

// maxLocal are more than a LAN party has.
const maxLocal = 256

func (l *LocalServer) isHidden() bool { return !l.Public.IsValid() }

// listed is the address that the room's list has.
func (l *LocalServer) listed() netip.AddrPort {
	if l.isHidden() {
		return l.Addr
	}
	return l.Public
}

// isReachedFrom reports whether somebody at an address reaches the server by its
// own: the host's machine does, and who is in one of its networks.
func (l *LocalServer) isReachedFrom(from netip.Addr) bool {
	from = from.Unmap().WithZone("")
	return from.IsLoopback() || slices.ContainsFunc(l.Networks, func(p netip.Prefix) bool { return p.Contains(from) })
}

// isReachedBy reports whether a player reaches the server by its own address: whoever
// is on the host's network does, and who has found it on the same network as others.
func (l *LocalServer) isReachedBy(p *player) bool {
	if l.Home.IsValid() {
		return l.Home == p.home() && slices.ContainsFunc(p.near.Servers, l.is)
	}
	return l.isReachedFrom(p.origin.Near)
}

// isHiddenFrom reports whether a player cannot get there. The player's own
// network may have another server at that address.
func (l *LocalServer) isHiddenFrom(p *player) bool {
	return l.isHidden() && !l.isReachedBy(p)
}

// isOutOfReach reports whether a server is hidden from a player.
func (r *round) isOutOfReach(p *player, server int) bool {
	return slices.ContainsFunc(r.local, func(l LocalServer) bool { return l.Server == server && l.isHiddenFrom(p) })
}

// hiddenFrom are the servers that a player cannot get to, as lost.
func (r *round) hiddenFrom(p *player) []discovery.Result {
	var hidden []discovery.Result
	for i := range r.local {
		if l := &r.local[i]; l.isHiddenFrom(p) {
			hidden = append(hidden, discovery.Result{Server: l.Server, State: discovery.Lost})
		}
	}
	return hidden
}

// placeLocal finds the servers of the host's networks in the room's list, notes
// what they said, and tells what is special about them.
func (r *Room) placeLocal(local []LocalServer) {
	if len(local) == 0 {
		return
	}
	places := map[netip.AddrPort]int{}
	for i, s := range r.round.servers.List {
		places[s.Addr] = i
	}
	for _, l := range local[:min(len(local), maxLocal)] {
		var isListed bool
		if l.Server, isListed = places[l.listed()]; isListed {
			if !l.Home.IsValid() {
				r.said("", l.Server, wire.TidyInfo(l.Info))
			}
			l.Info = discovery.Info{}
			r.round.local = append(r.round.local, l)
		}
	}
}

// listFor is the list with the addresses that are right for a player.
func (r *round) listFor(p *player) wire.List {
	servers := r.servers.List
	for i := range r.local {
		if l := &r.local[i]; !l.isHidden() && l.isReachedBy(p) {
			if &servers[0] == &r.servers.List[0] {
				servers = slices.Clone(servers)
			}
			servers[l.Server].Addr = l.Addr
		}
	}
	return wire.List{Round: r.number, Servers: servers}
}
