package room

import (
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/room/evidence"
	"muster/host/wire"
	"muster/selection"
)

// Origin is what a player's connection tells of the address that game servers
// see: the players behind one address are a NAT group, and measure as one. The
// zero value tells nothing, and its player is a group alone. It is shown to nobody.
type Origin struct {
	Addr netip.Addr `json:"addr,omitzero"`
	// Home: in the host's own network, and so behind the host's public address.
	Home bool `json:"home,omitempty"`
	// Country and ASN say where Addr is, as far as the host's tables tell; empty and 0 if
	// they do not, as of every private address.
	Country string `json:"country,omitempty"`
	ASN     uint32 `json:"asn,omitempty"`
	// Near is the connection's own address, for the servers on networks that the
	// host shares with the player; invalid if it may be anybody's.
	Near netip.Addr `json:"near,omitzero"`
	// Here is by which address of the host's machine those on its networks reach the host's
	// own player; invalid for all others.
	Here netip.Addr `json:"here,omitzero"`
}

// beside is where people on the host's networks reach the player's machine; invalid if the
// player comes from elsewhere. It is what the connection itself shows, so nobody can name
// another's.
func (o Origin) beside() netip.Addr {
	at := o.Near
	if at.IsLoopback() {
		at = o.Here
	}
	if at = at.Unmap(); discovery.ReachOf(at) != discovery.NetworkReach || at.IsLinkLocalUnicast() {
		return netip.Addr{}
	}
	return at
}

// OriginOf judges an address that a player comes from; isHome reports whether one
// is in the host's own network. A public address is what servers see. A private
// one says so little that a wrong guess is likely (a VPN, a tunnel, a container),
// and a wrong guess gives players the RTTs of others: it counts only at home, in
// the network through which the host itself gets out. Loopback may be anybody who
// comes through a tunnel, but for the host's own player, whose program says so.
func OriginOf(from netip.Addr, probes wire.Probes, isHome bool) Origin {
	switch {
	case !from.IsValid():
		return Origin{}
	case from.IsLoopback():
		if probes != wire.ProbesAtHost {
			return Origin{}
		}
		isHome = true
	case !isHome && discovery.ReachOf(from) != discovery.InternetReach:
		return Origin{Near: from}
	}
	if probes == wire.ProbesElsewhere {
		return Origin{Near: from}
	}
	return Origin{Addr: from, Home: isHome, Near: from}
}

// LocatedBy is the origin with its place in a table of addresses, which may be nil. An
// address at home stands for the host's public one, which the table is not asked for.
func (o Origin) LocatedBy(table func(netip.Addr) (country string, asn uint32)) Origin {
	if table != nil && !o.Home && o.Addr.IsValid() {
		o.Country, o.ASN = table(o.Addr)
	}
	return o
}

// behindHost stands for the host's public address, which nobody here knows.
var behindHost = netip.IPv4Unspecified()

// natGroups groups some of the players by the public address they share. One
// private address that several players come from is a gateway's or a proxy's:
// behind it they may sit anywhere.
func (r *round) natGroups(of []*player) [][]*player {
	came := map[Origin]int{}
	for _, p := range r.players {
		came[p.origin]++
	}
	keys := make([]netip.Addr, len(of))
	for i, p := range of {
		switch {
		case p.apart || p.origin.Home && came[p.origin] > 1:
		case p.origin.Home:
			keys[i] = behindHost
		default:
			keys[i] = p.origin.Addr
		}
	}
	var groups [][]*player
	for _, group := range selection.NATGroups(keys) {
		var players []*player
		for _, i := range group {
			players = append(players, of[i])
		}
		groups = append(groups, players)
	}
	return groups
}

// natGroupOf are the players behind a player's address, the player too.
func (r *round) natGroupOf(p *player) []*player {
	for _, group := range r.natGroups(r.players) {
		if slices.Contains(group, p) {
			return group
		}
	}
	return []*player{p}
}

// witnesses are what is known of players' measurements.
func witnesses(players []*player) []*evidence.Witness {
	of := make([]*evidence.Witness, len(players))
	for i, p := range players {
		of[i] = &p.witness
	}
	return of
}

// locate notes where a player's new connection comes from. What was measured of
// hidden servers from another network holds no longer.
func (in Join) locate(r *Room, p *player) {
	r.release(p)
	reached := make([]bool, len(r.round.local))
	for i := range r.round.local {
		reached[i] = r.round.local[i].isReachedBy(p)
	}
	if p.origin != in.From {
		p.origin, p.apart, p.near = in.From, false, nearby{}
	}
	for i := range r.round.local {
		if l := &r.round.local[i]; l.isHidden() && reached[i] != l.isReachedBy(p) {
			p.witness.Forget(l.Server)
		}
	}
	if probed, _ := p.witness.Progress(); r.phase.stage() == wire.Measuring && probed == 0 && len(r.round.natGroupOf(p)) > 1 {
		p.shares = true
	}
}

// probeGroup are players behind one address who measure as one: a server is asked
// by one of them, and by another only if it stays silent. Most have one player.
type probeGroup struct {
	players []*player
	// waiting are the servers that a player was asked for and has not reported.
	waiting map[int]*player
}

// probeGroups are one for each NAT group. They go on with what their players were
// asked for as part of groups before, and have not reported since.
func probeGroups(natGroups [][]*player, before []*probeGroup) []*probeGroup {
	var groups []*probeGroup
	for _, players := range natGroups {
		g := &probeGroup{players: players, waiting: map[int]*player{}}
		for _, old := range before {
			for server, p := range old.waiting {
				if slices.Contains(players, p) && p.witness.IsUnprobed(server) {
					g.waiting[server] = p
				}
			}
		}
		groups = append(groups, g)
	}
	return groups
}

// areOf reports whether probe groups are still those of the NAT groups.
func areOf(groups []*probeGroup, natGroups [][]*player) bool {
	return slices.EqualFunc(groups, natGroups, func(g *probeGroup, players []*player) bool { return slices.Equal(g.players, players) })
}

// deal shares servers out to the players, neighbours in the network to different
// ones: each measures some of every cluster then, and a cluster's distance is known
// however the list is cut. Each share is in the order given.
func (g *probeGroup) deal(r *Room, servers []int) {
	order := make([]int, len(servers)) // by place in the list, where neighbours stand together
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return servers[i] - servers[j] })
	of := g.open() // by place among the players
	room := map[int]int{}
	for _, i := range of {
		room[i] = r.spare(g.players[i])
	}
	to := make([]int, len(servers))
	for n, i := range order {
		to[i] = of[n%len(of)]
		for next := range len(of) { // whoever is asked for no more leaves it to the others
			if one := of[(n+next)%len(of)]; room[one] > 0 {
				to[i] = one
				room[one]--
				break
			}
		}
	}
	for i, p := range g.players {
		var share []int
		for at, server := range servers {
			if to[at] == i {
				share = append(share, server)
			}
		}
		g.ask(r, p, share)
	}
}

// ask has one player ask servers.
func (g *probeGroup) ask(r *Room, p *player, servers []int) {
	for _, server := range servers {
		g.waiting[server] = p
	}
	for part := range slices.Chunk(servers, wire.MaxAsked) {
		r.ask(p, part)
	}
}

// heard takes a player's result, and has another ask a server that stayed silent,
// or that the player may not ask: the player's own line may be to blame. It reports whether the group's word on the
// server stands.
func (g *probeGroup) heard(r *Room, p *player, result discovery.Result) (stands bool) {
	if g.waiting[result.Server] == p {
		delete(g.waiting, result.Server)
	}
	if _, asked := g.waiting[result.Server]; asked {
		return !isOpen(result.State)
	}
	if !isOpen(result.State) {
		return true
	}
	at := slices.Index(g.players, p)
	for i := range g.players {
		next := g.players[(at+1+i)%len(g.players)]
		switch state := next.witness.At(result.Server).State; {
		case state == discovery.Answered:
			return true
		case state == discovery.Unprobed && !r.round.isOutOfReach(next, result.Server) && r.spare(next) > 0:
			g.ask(r, next, []int{result.Server})
			return false
		}
	}
	return true
}

// isOpen reports whether another player behind the same address may come to know
// more of a server.
func isOpen(state discovery.State) bool {
	return state == discovery.Lost || state == discovery.Forbidden
}

// release forgets what a player was asked for, whose connection has ended, and
// breaks up its group: that is to be formed anew.
func (g *probeGroup) release(p *player) {
	if !slices.Contains(g.players, p) {
		return
	}
	g.players = nil
	for server, asked := range g.waiting {
		if asked == p {
			delete(g.waiting, server)
		}
	}
}

// release has whatever a player was asked for asked again.
func (r *Room) release(p *player) {
	for _, g := range r.groups() {
		g.release(p)
	}
}

// groups are the probe groups at work, if any are.
func (r *Room) groups() []*probeGroup {
	if m, measuring := r.phase.(*Measuring); measuring {
		return m.groups
	}
	if r.round.search != nil {
		return r.round.search.groups
	}
	return nil
}

// groupOf is a player's probe group, nil for who measures alone.
func groupOf(groups []*probeGroup, p *player) (place int, group *probeGroup) {
	for i, g := range groups {
		if slices.Contains(g.players, p) {
			return i, g
		}
	}
	return -1, nil
}

// heard tells those who coordinate of a result. What a search is told of a server
// that was silent waits until all of the player's group were asked.
func (r *Room) heard(p *player, result discovery.Result) {
	place, group := groupOf(r.groups(), p)
	if group == nil {
		return
	}
	if group.heard(r, p, result) && r.round.search != nil {
		r.round.search.planner.Observe(place, result)
	}
}

// excuseIdle says that whoever has been asked nothing has nothing to report.
func excuseIdle(groups []*probeGroup, now time.Time) {
	for _, g := range groups {
		busy := map[*player]bool{}
		for _, p := range g.waiting {
			busy[p] = true
		}
		for _, p := range g.players {
			if p.connected && !busy[p] {
				p.isHeard(now)
			}
		}
	}
}
