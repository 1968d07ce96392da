package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/selection"
)

// How seats come and go: single players stay so long on average, and other
// groups come to a server so often, of two to eight players.
const (
	stay       = 20 * time.Minute
	groupEvery = 40 * time.Minute
	mostGroup  = 8
)

// crowd is the players of one server: an M/M/c/c queue with arrivals of groups.
// What happens there is the same however often somebody looks.
type crowd struct {
	seats, taken int
	// load is how many single players there would be with any number of seats.
	load float64
	rng  rand.PCG
	// next is when somebody comes or goes.
	next time.Duration
}

// pass lets time pass: who finds no seat goes elsewhere, a group if not all of it
// does.
func (c *crowd) pass(until time.Duration) {
	rng := rand.New(&c.rng)
	single, group := c.load/stay.Seconds(), 1/groupEvery.Seconds()
	each := func() float64 { return single + group + float64(c.taken)/stay.Seconds() }
	for c.next <= until {
		change := -1
		switch at := rng.Float64() * each(); {
		case c.next == 0: // nobody yet
			change = 0
		case at < single:
			change = 1
		case at < single+group:
			change = 2 + rng.IntN(mostGroup-1)
		}
		if c.taken+change <= c.seats {
			c.taken += change
		}
		c.next += time.Duration(rng.ExpFloat64() / each() * float64(time.Second))
	}
}

// Crowded is the best servers of a group, all of them populated, whose seats come
// and go.
type Crowded struct {
	group  *Group
	truth  groupTruth
	crowds []crowd
	now    time.Duration
	number uint64 // of the next launch
}

// mostCrowded is how many servers are kept: more are never needed.
const mostCrowded = 200

// NewCrowded is the nearest servers of a group.
func NewCrowded(g *Group, seed uint64) (*Crowded, error) {
	var near []int
	for _, ranked := range g.selection(selection.Criteria{By: selection.Mean}).Ranking {
		if g.Vantages[0].Infos[ranked.Server].MaxPlayers >= mostGroup && len(near) < mostCrowded {
			near = append(near, ranked.Server)
		}
	}
	var vantages []*Vantage
	for _, v := range g.Vantages {
		vantages = append(vantages, v.part(near, func(int) float64 { return 1 }))
	}
	group, err := NewGroup(vantages...)
	if err != nil {
		return nil, err
	}
	h := &Crowded{group: group, truth: group.truth(selection.Criteria{By: selection.Mean}), now: 2 * time.Hour}
	rng := rand.New(rand.NewPCG(seed, 0x7365617473))
	for _, info := range group.Vantages[0].Infos {
		h.crowds = append(h.crowds, crowd{
			seats: info.MaxPlayers,
			load:  float64(info.MaxPlayers) * (0.2 + 0.9*rng.Float64()),
			rng:   *rand.NewPCG(seed, rng.Uint64()),
		})
	}
	return h, nil
}

// Launches are what became of launches: how many of N failed, and the sum of the
// scores of the servers gone to first, in ms.
type Launches struct {
	N, Failed int
	Score     float64
}

// Ways are how a group may go about a launch, by what comes of it.
type Ways struct {
	// Best is the room's first choice, BestOf the first of its first few that has
	// seats on arrival. Again is where the room sends all in the end, and AgainOf the
	// first few of its last choice.
	Best, BestOf, Again, AgainOf Launches
}

const (
	// few is how many servers a group tries one after the other.
	few = 5
	// start is what it takes a game to start, and countdown what a room counts down.
	start, countdown = 5 * time.Second, 5 * time.Second
)

// Launch has a room choose and launch, everybody arriving so long after the list: as
// rooms are, and in one that minds no spare seat.
func (h *Crowded) Launch(wait time.Duration, spare, none *Ways) error {
	for _, ways := range []*Ways{spare, none} {
		crowds := slices.Clone(h.crowds)
		o := GroupOptions{Criteria: selection.Criteria{By: selection.Mean, Seats: len(h.group.Players)}}
		o.ready = wait - start - countdown
		if ways == none {
			o.Tuning.Spare = -1
		}
		s, err := h.group.session(Full, o.withDefaults(len(h.group.Players)), h.number)
		if err != nil {
			return err
		}
		s.infoOf = func(server int) discovery.Info {
			crowds[server].pass(h.now + s.now)
			return discovery.Info{MaxPlayers: crowds[server].seats, Players: crowds[server].taken}
		}
		var first []selection.Ranked // before anybody was ready
		s.watch = func(room.Input) {
			if s.hasChosen && first == nil {
				first = s.room.Snapshot().Choice.Selection.Ranking
			}
		}
		if err := s.run(); err != nil {
			return err
		}
		s.now = s.launched + start
		isFree := func(r selection.Ranked) bool {
			info := s.infoOf(r.Server)
			return info.Free() >= len(h.group.Players)
		}
		count := func(l *Launches, ranked []selection.Ranked) {
			if l.N++; !slices.ContainsFunc(ranked, isFree) {
				l.Failed++
			}
			score, _ := h.truth.regret(ranked[0].Server)
			l.Score += score
		}
		last := s.room.Snapshot().Choice.Selection.Ranking
		count(&ways.Best, first[:1])
		count(&ways.BestOf, first[:min(few, len(first))])
		count(&ways.Again, last[:1])
		count(&ways.AgainOf, last[:min(few, len(last))])
	}
	h.number++
	return nil
}

// Pass lets time pass for all of them.
func (h *Crowded) Pass(d time.Duration) {
	h.now += d
	for i := range h.crowds {
		h.crowds[i].pass(h.now)
	}
}
