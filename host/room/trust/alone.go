package trust

import (
	"cmp"
	"math"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/selection"
	"muster/selection/anomaly"
	"muster/selection/rules"
)

// MaxTrials bounds how often one choice is made again because one player alone is near to the
// chosen server.
const MaxTrials = 25

// Ping is a player's RTT to a server. First is its value before any look, and Now the believed
// value. 0 means none.
type Ping struct{ First, Now time.Duration }

// Trial tests a choice that depends on pings which players alone report. If all measurements near
// the server contradict such a ping, and it would cost the others, it counts as the neighbours'
// value. Choose again while [Trial.NextFloor] returns true, and give each choice to [Trial.Chose].
type Trial struct {
	doubts *Doubts
	basis  selection.Basis
	before *selection.Selection
	pings  map[people.ID]Ping
	// alone are the players whose pings may be raised. The first raised of them have been.
	alone  []lone
	raised int
	// after is the choice with the raised pings, nil before there is one.
	after *selection.Selection
}

// lone is a player who alone is near to a server, and perhaps to others of its AS. Usual are the RTTs
// that those servers' neighbours suggest. For the server itself it is the player's first report if
// that is more, so a look with a far lower ping gains nothing over the first report.
type lone struct {
	player people.ID
	// excess is how much less than usual the ping to the server is.
	excess time.Duration
	usual  map[int]time.Duration
}

// Try begins the trial of a choice for the players of a basis; pings are their pings to the chosen
// server.
func (d *Doubts) Try(b selection.Basis, chosen *selection.Selection, pings map[people.ID]Ping) *Trial {
	t := &Trial{doubts: d, basis: b, before: chosen, pings: pings}
	doubt, group := anomaly.FarDoubt, people.IDs(b.Table.Players())
	if rules.Of(b.Criteria.By).Averages {
		doubt = anomaly.RouteDoubt
	}
	for i, player := range group {
		usual, is := anomaly.Alone(b.Servers.List, b.Table, i, t.server(), doubt)
		if !is || d.state.Players[player].Vouched {
			continue
		}
		_, reported := b.Table.At(i, t.server())
		usual = max(usual, pings[player].First)
		l := lone{player, usual - reported, map[int]time.Duration{t.server(): usual}}
		for other := range b.Table.Measured() {
			if as := b.Servers.List[other].ASN; other == t.server() || as == 0 || as != b.Servers.List[t.server()].ASN {
				continue
			}
			if usual, is := anomaly.Alone(b.Servers.List, b.Table, i, other, doubt); is {
				l.usual[other] = usual
			}
		}
		t.alone = append(t.alone, l)
	}
	slices.SortStableFunc(t.alone, func(a, b lone) int { return cmp.Compare(b.excess, a.excess) })
	t.alone = t.alone[:min(len(t.alone), maxDispensable(len(group)))]
	return t
}

func (t *Trial) server() int { return t.before.Chosen.Server }

// NextFloor raises the ping of one more player, the least plausible first, and reports whether it
// did. It does not if another server was chosen already, or if no such player is left.
func (t *Trial) NextFloor() bool {
	if t.raised == len(t.alone) || t.after != nil && (t.after.Chosen == nil || t.after.Chosen.Server != t.server()) {
		return false
	}
	for server, usual := range t.alone[t.raised].usual {
		t.doubts.raise(t.alone[t.raised].player, server, usual)
	}
	t.raised++
	return true
}

// Chose takes the choice with the pings that were raised so far.
func (t *Trial) Chose(s *selection.Selection) { t.after = s }

// End returns notes for people. If the others lose nothing by the first choice it takes all raises
// back, and returns no notes.
func (t *Trial) End() (notes []sentence.Sentence) {
	raised := t.alone[:t.raised]
	if !t.isWorse() {
		for _, l := range raised {
			for server := range l.usual {
				t.doubts.raise(l.player, server, 0)
			}
		}
		return nil
	}
	for _, l := range raised {
		notes = append(notes, sentence.Of("room.odd-raised",
			"player", l.player, "oddity", tooNearFor(l.player, t.server(), &t.basis.Servers).Sentence(),
			"ms", math.RoundToEven(discovery.MS(l.usual[t.server()])), "instead", math.RoundToEven(discovery.MS(t.pings[l.player].Now))))
	}
	return notes
}

// isWorse reports whether the first choice is noticeably worse than the newest for the players
// whose pings are not raised.
func (t *Trial) isWorse() bool {
	if t.after == nil || t.after.Chosen == nil || t.after.Chosen.Server == t.server() {
		return false
	}
	others := slices.DeleteFunc(slices.Clone(t.basis.Table.Players()), func(player string) bool {
		return slices.ContainsFunc(t.alone[:t.raised], func(l lone) bool { return string(l.player) == player })
	})
	b := t.basis.For(others)
	objective := t.after.Above(b.Objective(), others)
	score := func(server int) float64 {
		rtts := make([]float64, len(others))
		for i := range others {
			_, rtt := b.Table.At(i, server)
			rtts[i] = discovery.MS(rtt)
		}
		return objective.Score(rtts)
	}
	return score(t.server())-score(t.after.Chosen.Server) >= discovery.MS(worthLooking)
}

// raise sets the least RTT that counts for a player and a server. 0 removes it.
func (d *Doubts) raise(player people.ID, server int, least time.Duration) {
	p := d.state.Players[player]
	if least == 0 {
		delete(p.Raised, server)
	} else if p.Raised == nil {
		p.Raised = map[int]time.Duration{server: least}
	} else {
		p.Raised[server] = least
	}
	d.state.set(player, p)
}
