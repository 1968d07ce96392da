package room

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// nearby is what a player's program found on its own networks, where the host is not.
type nearby struct {
	Game    string            `json:"game"`
	Servers []wire.NearServer `json:"servers,omitempty"`
	// At is when it told so; lookSince is when it was asked and has not told since, and
	// lookFor for which game. Those are of a connection, and not saved.
	At        time.Time `json:"at"`
	lookSince time.Time
	lookFor   string
}

const (
	// nearFresh is how long what a player found is as good as looking again.
	nearFresh = 2 * time.Minute
	// nearWait is how long a player's program may look: it takes two seconds.
	nearWait = 4 * time.Second
)

func (n *nearby) isLooking() bool { return !n.lookSince.IsZero() }

// home stands for the network that a player's program looks around in: the public
// address, or the host's own site for those whom the host sees at private addresses. It
// is invalid if nobody knows, and then what the player finds does not count.
func (p *player) home() netip.Addr {
	switch {
	case p.origin.Home, discovery.ReachOf(p.origin.Near) == discovery.NetworkReach:
		return behindHost
	case p.origin.Addr.IsValid() && discovery.ReachOf(p.origin.Addr) == discovery.InternetReach:
		return p.origin.Addr
	}
	return netip.Addr{}
}

// is reports whether a player's finding is this server. Two households may have the
// same addresses behind one public one, as behind a carrier's NAT: then their servers
// say other things of themselves.
func (l *LocalServer) is(found wire.NearServer) bool {
	return found.Addr == l.Addr && found.Info.Name == l.Name && found.Info.MaxPlayers == l.Seats
}

// lookAround asks a player's program what is around it, unless that is known.
func (r *Room) lookAround(p *player) {
	n := &p.near
	isKnown := n.Game == r.settings.Game && !n.At.IsZero() && r.now.Sub(n.At) < nearFresh
	isUnderWay := n.isLooking() && n.lookFor == r.settings.Game
	if r.settings.LookAround && p.connected && p.home().IsValid() && !isKnown && !isUnderWay {
		n.lookSince, n.lookFor = r.now, r.settings.Game
		r.send(p, wire.Look{Game: r.settings.Game})
	}
}

// looksFirst has a player who comes late look around before it is told the list, if
// others there have found anything, and reports whether it does.
func (r *Room) looksFirst(p *player) bool {
	isShared := slices.ContainsFunc(r.round.local, func(l LocalServer) bool { return l.Home.IsValid() && l.Home == p.home() })
	if isShared && p.near.Game != r.settings.Game {
		r.lookAround(p)
	}
	return p.near.isLooking()
}

// stopLooking waits no longer for programs that do not tell.
func (r *Room) stopLooking() {
	for _, p := range r.round.players {
		if p.near.isLooking() && r.now.Sub(p.near.lookSince) > nearWait {
			r.looked(p, nearby{Game: p.near.lookFor, At: r.now})
		}
	}
}

// near takes what a player's program found. What nobody asked for is passed over: the
// list that the players have counts on what was known.
func (in Hear) near(r *Room, p *player, m wire.Near) {
	if !p.near.isLooking() || m.Game != p.near.lookFor {
		return
	}
	found := nearby{Game: m.Game, At: r.now}
	for _, s := range m.Servers {
		isThere := slices.ContainsFunc(found.Servers, func(other wire.NearServer) bool { return other.Addr == s.Addr })
		if !isThere && p.isBeside(s.Addr.Addr()) {
			found.Servers = append(found.Servers, wire.NearServer{Addr: s.Addr, Info: wire.TidyInfo(s.Info)})
		}
	}
	r.looked(p, found)
}

// isBeside reports whether a private address may be one of the player's own network. If
// the host sees the player at a private one, that has to be in the same network: else a
// router is in between, and behind others there are other servers of that address.
func (p *player) isBeside(server netip.Addr) bool {
	if p.home() != behindHost {
		return true
	}
	const network = 24 // bits: what a household or a hall has
	beside, err := p.origin.Near.Unmap().WithZone("").Prefix(network)
	return err == nil && server.Is4() && beside.Contains(server)
}

// looked goes on with what a player's program has found, or has not.
func (r *Room) looked(p *player, found nearby) {
	p.near = found
	switch phase := r.phase.(type) {
	case *Listing:
		phase.goOn(r)
	case *Measuring, *Coordinating:
		if p.connected {
			r.catchUp(p) // it came late, and has waited for that
		}
	}
}

// foundNear are the servers that players found on their own networks. At one address
// there is one server: of several networks that has which most players found, and who is
// on another takes it for out of reach, whatever is there. Known are those that the host
// found itself.
func (r *Room) foundNear(listed []discovery.Server, known []LocalServer) []LocalServer {
	if !r.settings.LookAround {
		return nil
	}
	isListed := map[netip.AddrPort]bool{}
	for _, s := range listed {
		isListed[s.Addr] = true
	}
	for i := range known {
		isListed[known[i].Addr] = true
	}
	var all []LocalServer
	finders := map[netip.AddrPort]map[netip.Addr]int{} // of the first of a network
	for _, p := range r.round.active() {
		for _, s := range p.near.Servers {
			l := LocalServer{Addr: s.Addr, Home: p.home(), Name: s.Info.Name, Seats: s.Info.MaxPlayers}
			if p.near.Game != r.settings.Game || !l.Home.IsValid() || isListed[s.Addr] {
				continue
			}
			if finders[s.Addr] == nil {
				finders[s.Addr] = map[netip.Addr]int{}
			}
			first := slices.IndexFunc(all, func(o LocalServer) bool { return o.Addr == l.Addr && o.Home == l.Home })
			switch {
			case first < 0:
				all = append(all, l)
				finders[s.Addr][l.Home] = 1
			case all[first].is(s):
				finders[s.Addr][l.Home]++
			}
		}
	}
	var found []LocalServer
	for _, l := range all[:min(len(all), maxLocal)] {
		l.Public = publicOf(l, all, isListed)
		isOutvoted := slices.ContainsFunc(all, func(o LocalServer) bool {
			return o.Addr == l.Addr && o.Home != l.Home && !publicOf(o, all, isListed).IsValid() && finders[l.Addr][o.Home] > finders[l.Addr][l.Home]
		})
		isLater := slices.ContainsFunc(found, func(o LocalServer) bool { return o.Addr == l.Addr && o.isHidden() })
		if !l.isHidden() || !isOutvoted && !isLater {
			found = append(found, l)
		}
	}
	return found
}

// publicOf is where the internet finds a server of a player's network: the only one
// there of a port that the list has at the network's public address.
func publicOf(l LocalServer, all []LocalServer, isListed map[netip.AddrPort]bool) netip.AddrPort {
	outside := netip.AddrPortFrom(l.Home, l.Addr.Port())
	isRival := func(o LocalServer) bool {
		return o.Home == l.Home && o.Addr != l.Addr && o.Addr.Port() == l.Addr.Port()
	}
	if l.Home == behindHost || !isListed[outside] || slices.ContainsFunc(all, isRival) {
		return netip.AddrPort{}
	}
	return outside
}

// noteLocal says how many servers are on local networks, and whose.
func (r *Room) noteLocal() {
	here := 0
	var homes []netip.Addr
	there := map[netip.Addr]int{}
	for i := range r.round.local {
		home := r.round.local[i].Home
		if !home.IsValid() {
			here++
			continue
		}
		if there[home]++; there[home] == 1 {
			homes = append(homes, home)
		}
	}
	if here > 0 {
		r.note("%d of them on the local network", here)
	}
	for _, home := range homes {
		of := filtered(r.round.players, func(p *player) bool { return p.home() == home && len(p.near.Servers) > 0 })
		r.note("%d of them on the network of %s", there[home], strings.Join(names(of), ", "))
	}
}
