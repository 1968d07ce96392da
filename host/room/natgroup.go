package room

import (
	"net/netip"
	"slices"

	"muster/discovery"
	"muster/host/room/evidence"
	"muster/host/room/search"
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
	if p.origin != in.From {
		p.origin, p.apart = in.From, false
		for _, server := range r.round.nearby.Move(p.name, in.From.around()) {
			p.witness.Forget(server)
		}
	}
	if probed, _ := p.witness.Progress(); r.phase.stage() == wire.Measuring && probed == 0 && len(r.round.natGroupOf(p)) > 1 {
		p.shares = true
	}
}

// groups returns the groups that measure as one, nil if nobody coordinates.
func (r *Room) groups() *search.Groups {
	if m, measuring := r.phase.(*Measuring); measuring {
		return m.groups
	}
	if r.round.search != nil {
		return r.round.search.Groups
	}
	return nil
}

// unreported returns the servers that players of some groups were asked for and still owe.
func (r *round) unreported(groups *search.Groups) (out []search.Ask) {
	if groups == nil {
		return nil
	}
	for _, ask := range groups.Out() {
		if p := r.player(ask.Player); p != nil {
			ask.Servers = slices.DeleteFunc(ask.Servers, func(server int) bool { return !p.witness.IsUnprobed(server) })
			out = append(out, ask)
		}
	}
	return out
}

// searchedBy returns the NAT groups that can search now.
func (r *round) searchedBy() [][]*player { return r.natGroups(r.present()) }

// members returns what the search has to know of NAT groups.
func (r *Room) members(natGroups [][]*player) [][]search.Member {
	groups, terms := make([][]search.Member, len(natGroups)), r.terms()
	for i, players := range natGroups {
		for _, p := range players {
			groups[i] = append(groups[i], search.Member{
				Name: p.name, Spare: terms.Spare(p.witness.Left(), r.isVoting()), Discreet: p.discreet, Asked: p.witness.Asked(), More: p.witness.AskedMore(),
			})
		}
	}
	return groups
}

// namesOf returns the names of the players of NAT groups.
func namesOf(natGroups [][]*player) [][]string {
	groups := make([][]string, len(natGroups))
	for i, players := range natGroups {
		groups[i] = names(players)
	}
	return groups
}

// release has whatever a player was asked for asked again.
func (r *Room) release(p *player) {
	if groups := r.groups(); groups != nil {
		groups.Release(p.name)
	}
}

// askAll sends players the questions of those who coordinate.
func (r *Room) askAll(asks []search.Ask) {
	for _, ask := range asks {
		r.ask(r.round.player(ask.Player), ask.Servers)
	}
}

// heard tells those who coordinate of a result.
func (r *Room) heard(p *player, result discovery.Result) {
	groups := r.groups()
	if groups == nil {
		return
	}
	var mates []search.Mate
	for _, name := range groups.Mates(p.name, result) {
		mate := r.round.player(name)
		mayAsk := !r.round.nearby.IsHidden(mate.name, result.Server) && r.terms().Spare(mate.witness.Left(), r.isVoting()) > 0
		mates = append(mates, search.Mate{Name: name, State: mate.witness.At(result.Server).State, MayAsk: mayAsk})
	}
	if s := r.round.search; s != nil && s.Groups == groups {
		r.askAll(s.Heard(p.name, result, mates))
		return
	}
	_, instead := groups.Heard(p.name, result, mates)
	r.askAll(instead)
}
