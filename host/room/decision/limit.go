package decision

import (
	"math"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/choice"
	"muster/host/room/facts"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection"
)

// This file is about players over the limit: the notes about them, and the question to the
// organiser.

// excess returns a player's ping to a server, and by how much it exceeds the room's highest limit.
func excess(g facts.Facts, player people.ID, server int) (rtt, over time.Duration) {
	limits := g.Settings().Limits
	if len(limits) == 0 {
		return 0, 0
	}
	rtt = g.Knowledge(player).At(server).RTT
	return rtt, max(0, rtt-limits[len(limits)-1])
}

func limitNotes(g facts.Facts, players []people.ID, s *selection.Selection) (notes []sentence.Sentence) {
	if s.Chosen == nil {
		return nil
	}
	for _, player := range players {
		if rtt, over := excess(g, player, s.Chosen.Server); over > 0 {
			notes = append(notes, sentence.Of("room.over-limit", "player", player, "server", g.Servers().Called(s.Chosen.Server),
				"ms", math.Ceil(discovery.MS(rtt)), "over", math.Ceil(discovery.MS(over)), "limit", discovery.MS(rtt-over)))
		}
	}
	return notes
}

// viewOverLimit returns the pings to a server of the players who are left out and over the limit
// there. It is nil if there are none.
func viewOverLimit(g facts.Facts, server int) *wire.Miss {
	if server < 0 {
		return nil
	}
	miss := wire.Miss{Addr: hostport.Text(g.Servers().List[server].Addr), RTT: map[string]float64{}}
	for _, player := range g.Players() {
		if out := g.Mark(player).Out; out != attendance.Outvoted && out != attendance.Unwanted {
			continue
		}
		if rtt, over := excess(g, player, server); over > 0 {
			miss.RTT[g.Names().Of(player)], miss.LimitMS = discovery.MS(rtt), discovery.MS(rtt-over)
		}
	}
	if len(miss.RTT) == 0 {
		return nil
	}
	return &miss
}

// limitQuestion asks the organiser whether the limit rises for players who are over it, or the
// group goes without them. It is cached for each choice, because every viewer of the room gets it.
type limitQuestion struct {
	of     *selection.Selection
	about  []people.ID
	names  *people.Names
	advice []wire.Advice
}

// limitAdvice returns the possible answers to the question, none if there is no question.
func (d *Decision) limitAdvice(g facts.Facts) []wire.Advice {
	newest := g.Newest()
	if newest.Chosen == nil {
		return nil
	}
	about := people.Filtered(outvoted(g), func(player people.ID) bool {
		_, over := excess(g, player, newest.Chosen.Server)
		return over > 0
	})
	names := g.Names()
	if d.question.of != newest || d.question.names != names || !slices.Equal(d.question.about, about) {
		d.question = limitQuestion{newest, about, names, adviseLimit(g, about)}
	}
	return d.question.advice
}

// adviseLimit advises the lowest limit at which a server suits everyone, including the players in
// about, or else to go without these players. If no limit helps it advises nothing.
func adviseLimit(g facts.Facts, about []people.ID) (advice []wire.Advice) {
	if len(about) == 0 {
		return nil
	}
	everyone := g.BasisWithGuests(chosenWith(g, about...)).Select()
	if everyone.Chosen != nil || everyone.Why == nil {
		return nil
	}
	at := slices.IndexFunc(everyone.Why.Relax, func(way selection.Relax) bool {
		return way.Player == "" && way.Give == selection.OverThreshold
	})
	if at < 0 {
		return nil
	}
	way := everyone.Why.Relax[at]
	if _, err := choice.Allow(*g.Settings(), way.LimitMS); err != nil {
		return nil
	}
	advice = []wire.Advice{{
		Action: "allow", Argument: wire.Argument{LimitMS: int(math.Ceil(way.LimitMS))}, Servers: way.Frees, Addr: way.Addr.String(),
	}}
	for _, player := range about {
		advice = append(advice, wire.Advice{Action: "without", Argument: wire.Argument{Name: g.Names().Of(player)}})
	}
	return advice
}

// ReadmitOverLimit adds players whom the limit left out to the choice again, if a server now suits
// them and the others. It returns these players.
func (d *Decision) ReadmitOverLimit(g facts.Facts) (again attendance.Change) {
	for _, player := range outvoted(g) {
		s := g.BasisWithGuests(chosenWith(g, player)).Select()
		if s.Chosen == nil {
			continue
		}
		again.Players = append(again.Players, player)
		g = g.Suppose(again)
		before := *g.Newest()
		before.Players = s.Players
		d.choice.Refine(before)
	}
	return again
}

// outvoted returns the connected players whom the choice leaves out because nothing suits both them
// and the others.
func outvoted(g facts.Facts) []people.ID {
	return people.Filtered(g.Players(), func(player people.ID) bool {
		mark := g.Mark(player)
		return mark.Here && mark.Out == attendance.Outvoted
	})
}

// chosenWith returns the players that the choice is for, and others.
func chosenWith(g facts.Facts, others ...people.ID) []people.ID {
	counted := g.ChosenFor()
	return people.Filtered(g.Players(), func(player people.ID) bool {
		return slices.Contains(counted, player) || slices.Contains(others, player)
	})
}

// isOrganiserHere reports whether the organiser can answer, on an open page or at the terminal.
func isOrganiserHere(g facts.Facts) bool {
	organiser := g.Person(g.Organiser())
	return organiser.HasPage || organiser.IsAsked
}
