package host

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// Neighbour is a game server on a network that the host is on, too. Players
// there reach it by its address there, the others by its public one, if it has
// any: few routers let out and in again.
type Neighbour struct {
	Addr netip.AddrPort `json:"addr"`
	// Networks are where Addr is reached from.
	Networks []netip.Prefix `json:"networks"`
	// Public is its address in the list of the internet's servers, invalid if it
	// is in none.
	Public netip.AddrPort `json:"public,omitzero"`
	// Info is what it said of itself when it was found.
	Info discovery.Info `json:"-"`
	// Server is its place in the room's list.
	Server int `json:"server"`
}

// maxNeighbours are more than a LAN party has.
const maxNeighbours = 256

// isHidden: only its network reaches it.
func (n *Neighbour) isHidden() bool { return !n.Public.IsValid() }

// reaches tells whether somebody at an address reaches the server by its own: the
// host's machine does, and who is in one of its networks.
func (n *Neighbour) reaches(from netip.Addr) bool {
	from = from.Unmap().WithZone("")
	return from.IsLoopback() || slices.ContainsFunc(n.Networks, func(p netip.Prefix) bool { return p.Contains(from) })
}

// nearOf is where a player sits on the host's networks, as far as that can be
// told: at the end of a tunnel everybody seems to be this machine.
func nearOf(from netip.Addr, probes wire.Probes) netip.Addr {
	if from.IsLoopback() && probes != wire.ProbesAtHost {
		return netip.Addr{}
	}
	return from
}

// withHidden is a list with the neighbours that are in no other.
func withHidden(servers []discovery.Server, near []Neighbour) []discovery.Server {
	servers = slices.Clip(servers)
	for _, n := range near[:min(len(near), maxNeighbours)] {
		if n.isHidden() {
			servers = append(servers, discovery.Server{Addr: n.Addr})
		}
	}
	return servers
}

// placeNeighbours finds the servers of the host's networks in the room's list, and
// notes what they said.
func (r *Room) placeNeighbours(near []Neighbour) {
	places := map[netip.AddrPort]int{}
	for i, s := range r.Servers {
		places[s.Addr] = i
	}
	r.Neighbours = nil
	for _, n := range near[:min(len(near), maxNeighbours)] {
		var isListed bool
		if n.Server, isListed = places[n.listed()]; isListed {
			info := wire.TidyInfo(n.Info)
			r.Infos[n.Server] = &info
			r.Neighbours = append(r.Neighbours, n)
		}
	}
}

// placesNeighbours tells that all of them have a place in the list.
func (r *Room) placesNeighbours() bool {
	return !slices.ContainsFunc(r.Neighbours, func(n Neighbour) bool { return n.Server < 0 || n.Server >= len(r.Servers) })
}

// listed is the address that the room's list has.
func (n *Neighbour) listed() netip.AddrPort {
	if n.isHidden() {
		return n.Addr
	}
	return n.Public
}

// serversFor is the list with the addresses that are right for a member.
func (r *Room) serversFor(m *Member) []discovery.Server {
	servers := r.Servers
	for i := range r.Neighbours {
		if n := &r.Neighbours[i]; !n.isHidden() && n.reaches(m.Origin.Near) {
			if &servers[0] == &r.Servers[0] {
				servers = slices.Clone(servers)
			}
			servers[n.Server].Addr = n.Addr
		}
	}
	return servers
}

// listMessages send everyone the list: one for all, unless addresses differ.
func (r *Room) listMessages() []effect {
	if !slices.ContainsFunc(r.Neighbours, func(n Neighbour) bool { return !n.isHidden() }) {
		return []effect{send{message: wire.List{Round: r.Round, Servers: r.Servers}}}
	}
	var effects []effect
	for _, m := range r.Members {
		effects = append(effects, send{m.Name, r.listMessage(m)})
	}
	return effects
}

// shutOut takes hidden servers for lost to members who are elsewhere: their own
// networks may have others at those addresses. It is no measurement of theirs, and
// what they measured at home holds no longer.
func (r *Room) shutOut(m *Member, before netip.Addr) {
	for i := range r.Neighbours {
		n := &r.Neighbours[i]
		switch result := &m.Results[n.Server]; {
		case !n.isHidden():
		case !n.reaches(m.Origin.Near):
			*result = discovery.Result{Server: n.Server, State: discovery.Lost}
		case !n.reaches(before):
			*result = discovery.Result{}
		}
	}
	m.Probed, m.Answered = 0, 0
	for _, result := range r.measured(m) {
		m.Probed++
		m.Answered += count(result.State == discovery.Answered)
	}
}

// isShutOut tells whether a server is hidden from a member.
func (r *Room) isShutOut(m *Member, server int) bool {
	return slices.ContainsFunc(r.Neighbours, func(n Neighbour) bool {
		return n.Server == server && n.isHidden() && !n.reaches(m.Origin.Near)
	})
}

// measured is what a member knows, but for what was shut out.
func (r *Room) measured(m *Member) []discovery.Result {
	return slices.DeleteFunc(m.known(), func(result discovery.Result) bool { return r.isShutOut(m, result.Server) })
}

// neighbourMessages have a member ask the neighbours at once: a search of a long
// list might pass them over, and they could hardly be nearer.
func (r *Room) neighbourMessages(m *Member) []effect {
	var servers []int
	for i := range r.Neighbours {
		if n := &r.Neighbours[i]; m.Results[n.Server].State == discovery.Unprobed {
			servers = append(servers, n.Server)
		}
	}
	if len(servers) == 0 || r.Stage != wire.Refining {
		return nil
	}
	return []effect{send{m.Name, wire.Ask{Round: r.Round, Servers: servers}}}
}

// hiddenFrom are the members who cannot get to a hidden server.
func (r *Room) hiddenFrom(n *Neighbour) (names []string) {
	for _, m := range r.Members {
		if n.isHidden() && !n.reaches(m.Origin.Near) {
			names = append(names, m.Name)
		}
	}
	return names
}

// noteNeighbours says what is special about them.
func (r *Room) noteNeighbours(now time.Time) {
	if len(r.Neighbours) == 0 {
		return
	}
	r.note(now, "%d of them on the local network", len(r.Neighbours))
	for i := range r.Neighbours {
		if names := r.hiddenFrom(&r.Neighbours[i]); len(names) > 0 {
			r.note(now, "%s is on a local network that %s cannot reach", r.serverName(r.Neighbours[i].Server), strings.Join(names, ", "))
		}
	}
}

// launchFor is the launch with the address that is right for a member.
func (r *Room) launchFor(m *Member) wire.Launch {
	launch := *r.Launch
	for i := range r.Neighbours {
		n := &r.Neighbours[i]
		if n.listed() == r.Target && n.reaches(m.Origin.Near) {
			launch.Address = netip.AddrPortFrom(n.Addr.Addr(), r.connect(n.Server).Port()).String()
		}
	}
	return launch
}

// launchMessages send everyone there.
func (r *Room) launchMessages() []effect {
	var effects []effect
	for _, m := range r.Members {
		effects = append(effects, send{m.Name, r.launchFor(m)})
	}
	return effects
}
