package facts

import (
	"net/netip"
	"slices"

	"muster/discovery"
	"muster/host/room/choice"
	"muster/host/room/infos"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
)

// HearInfo notes what a server says of itself, as a player heard it. If by is empty the host heard
// it.
func (r *Round) HearInfo(by people.ID, server int, info discovery.Info, now roomtime.Time) {
	r.Heard.Hear(by, server, info, now.Sub(r.Measuring))
}

// RefreshFacts decides which facts about the servers to believe. It does so only if other players
// count now, or the settings want other servers. A player who has just left still counts.
func (p *Parts) RefreshFacts() { p.refresh(p.Attendance.Active()) }

func (p *Parts) refresh(active []people.ID) {
	players := p.Attendance.Players()
	voices := make([]infos.Voice, len(players))
	for i, player := range players {
		voices[i] = infos.Voice{
			Player: player, Results: p.Evidence[player], Counts: p.Trust.IsBelieved(player),
			Alone: len(active) == 1 && player == active[0],
		}
	}
	p.Heard.Attend(voices, p.Settings.Wishes)
}

// HearInfos notes what servers say of themselves, as a player heard them. If the list lacks one of
// the servers it notes nothing and returns that server, else -1.
func (r *Round) HearInfos(by people.ID, infos wire.Infos, now roomtime.Time) (stranger int) {
	for i := range infos.Servers {
		if server := infos.Servers[i].Server; server >= len(r.Servers.List) {
			return server
		}
	}
	for i := range infos.Servers {
		r.HearInfo(by, infos.Servers[i].Server, infos.Servers[i].Info, now)
	}
	return -1
}

// Criteria returns the criteria that settings set for a choice for some of the players.
func (f Facts) Criteria(s wire.Settings, players []people.ID) selection.Criteria {
	if f.IsOfPlaces() { // where no server is yet, only pings count
		s = wire.Settings{By: s.By, Limits: s.Limits, AnyVersion: true}
	}
	c := choice.Criteria(s, f.p.Tuning.Spare)
	if !s.AnyVersion {
		c.Editions = f.p.Editions.Of(players, f.p.Settings.Game)
	}
	if c.Sides = f.sidesFor(players); len(c.Sides) == 0 {
		c.Sides = byID(f, f.p.Tuning.Sides)
	}
	if c.Law = s.Law.Law; c.Law != nil && c.Law.CountsBest() {
		c.Best = f.p.Memories.Best()
	}
	if !f.IsOfPlaces() {
		c.Seats = max(s.Players, f.SeatsFor(players))
	}
	c.Weights = byID(f, f.p.Tuning.Weights)
	c.Vetoes, c.Keep = f.p.Ballot.Vetoes(), f.p.Choice.Previous()
	c.Ours, c.Hidden = f.p.Lists.Ours(), f.p.Lists.Hidden(f.p.Servers.List, f.Organiser())
	for _, addr := range f.p.Candidates.Doubted() {
		c.Blacklist = append(c.Blacklist, netip.PrefixFrom(addr, addr.BitLen()))
	}
	c.Blacklist = append(c.Blacklist, f.p.Trust.Blacklist(&f.p.Servers)...)
	return c
}

// byID returns a tuning's values by ID. The tuning knows players by name.
func byID[V any](f Facts, named map[string]V) map[string]V {
	if len(named) == 0 {
		return nil
	}
	of := make(map[string]V, len(named))
	for name, value := range named {
		if player := f.p.Roster.Player(name); player != "" {
			of[string(player)] = value
		}
	}
	return of
}

// Basis returns the basis of a choice for players, without the guests who are counted in.
func (f Facts) Basis(players []people.ID) selection.Basis {
	b := selection.Basis{Servers: f.p.Servers, Table: f.Table(players), Criteria: f.Criteria(f.p.Settings, players)}
	b.Guests = len(f.Counted().Guests())
	if !f.IsOfPlaces() {
		b.Criteria.Seats = f.p.Settings.Players
	}
	b.Criteria.Excess = f.excess(b.Table)
	b.Along = people.Texts(people.Filtered(f.p.Attendance.Players(), f.IsHere))
	return b
}

// BasisWithGuests returns the basis of a choice for players, with the guests who are counted in.
func (f Facts) BasisWithGuests(players []people.ID) selection.Basis {
	return f.Counted().In(f.Basis(players).For(people.Texts(players)))
}

// IsHere reports whether a player's program is connected.
func (f Facts) IsHere(player people.ID) bool { return f.p.Attendance.Of(player).Here }

// SeatsFor returns the number of seats for players, counted guests, and the connected players who
// have no say.
func (f Facts) SeatsFor(players []people.ID) int {
	along := people.Filtered(f.p.Attendance.Players(), func(player people.ID) bool {
		return f.IsHere(player) && !slices.Contains(players, player)
	})
	return len(players) + len(f.Counted().Guests()) + len(along)
}

// Select returns the choice for players as of now. It keeps the basis for the record, because
// making a basis takes as long as choosing.
func (f Facts) Select(players []people.ID) selection.Selection {
	f.Refresh()
	return f.p.Choice.Try(f.BasisWithGuests(players))
}

// CauseAgainst returns the reason why a server does not suit players, or nil if none is known.
func (f Facts) CauseAgainst(server int, players []people.ID) *selection.Cause {
	f.Refresh()
	criteria := f.Criteria(f.p.Settings, players)
	criteria.Keep, criteria.Top, criteria.Reasons = f.p.Servers.List[server].Addr, 1, -1
	return selection.NewFilter(f.p.Servers, criteria).Select(f.Table(players)).Keep.Culled
}
