package room

import (
	"net/netip"
	"slices"

	"muster/discovery"
	"muster/host/room/evidence"
	"muster/host/room/origin"
	"muster/host/room/search"
	"muster/host/wire"
)

// Origin is that of [origin.Origin].
type Origin = origin.Origin

// OriginOf judges an address that a player comes from; see [origin.Of].
func OriginOf(from netip.Addr, probes wire.Probes, isHome bool) Origin {
	return origin.Of(from, probes, isHome)
}

// natGroups groups some of the players by the public address that they share.
func (r *round) natGroups(of []*player) [][]*player {
	var groups [][]*player
	for _, group := range r.origins.Groups(names(of)) {
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
	if r.round.origins.Come(p.name, in.From) {
		for _, server := range r.round.nearby.Move(p.name, placeOf(in.From)) {
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
