package simulated

import (
	"math/rand/v2"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/internal/sim"
	"muster/selection"
)

// Seats come and go: single players stay so long on average, and other groups of two to eight
// players come to a server so often.
const (
	stay       = 20 * time.Minute
	groupEvery = 40 * time.Minute
	maxGroup   = 8
)

// population is the players of one server: an M/M/c/c queue with arrivals of groups. Its events do
// not depend on how often somebody looks.
type population struct {
	seats, taken int
	// load is how many single players there would be with any number of seats.
	load float64
	rng  rand.PCG
	// next is the time of the next arrival or departure.
	next time.Duration
}

// pass lets time pass. A player who finds no seat goes elsewhere, and so does a group that does not
// fit as a whole.
func (c *population) pass(until time.Duration) {
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
			change = 2 + rng.IntN(maxGroup-1)
		}
		if c.taken+change <= c.seats {
			c.taken += change
		}
		c.next += time.Duration(rng.ExpFloat64() / each() * float64(time.Second))
	}
}

// Populated is the best servers of a group, all of them with players whose seats come and go.
type Populated struct {
	group       *sim.Group
	truth       sim.GroupTruth
	populations []population
	now         time.Duration
	number      uint64 // of the next launch
}

// mostPopulated is how many servers a table keeps. More are never needed.
const mostPopulated = 200

// NewPopulated returns so many of a group's nearest servers.
func NewPopulated(g *sim.Group, servers int, seed uint64) (*Populated, error) {
	var near []int
	for _, ranked := range g.Selection(selection.Criteria{By: selection.Mean}).Ranking {
		if g.Vantages[0].Infos[ranked.Server].MaxPlayers >= maxGroup && len(near) < servers {
			near = append(near, ranked.Server)
		}
	}
	var vantages []*sim.Vantage
	for _, v := range g.Vantages {
		vantages = append(vantages, v.Part(near, func(int) float64 { return 1 }))
	}
	group, err := sim.NewGroup(vantages...)
	if err != nil {
		return nil, err
	}
	h := &Populated{group: group, truth: group.Truth(selection.Criteria{By: selection.Mean}), now: 2 * time.Hour}
	rng := rand.New(rand.NewPCG(seed, 0x7365617473))
	for _, info := range group.Vantages[0].Infos {
		h.populations = append(h.populations, population{
			seats: info.MaxPlayers,
			load:  float64(info.MaxPlayers) * (0.2 + 0.9*rng.Float64()),
			rng:   *rand.NewPCG(seed, rng.Uint64()),
		})
	}
	return h, nil
}

// Launches count the results of launches: how many of N failed, and the sum of the scores of the
// servers that the group tried first, in ms.
type Launches struct {
	N, Failed int
	Score     float64
}

// Ways are the ways of launching, with the results of each.
type Ways struct {
	// Best is the room's first choice, and BestOf the first of its first few that has seats on
	// arrival. Again is the server that the room sends everybody to in the end, and AgainOf is the
	// first of the first few in that last ranking that has seats.
	Best, BestOf, Again, AgainOf Launches
}

const (
	// few is how many servers a group tries one after the other.
	few = 5
	// start is how long a game takes to start, and countdown is the room's.
	start, countdown = 5 * time.Second, 5 * time.Second
)

// Launch lets a room choose and launch, with everybody arriving so long after the list. It does so
// for a usual room, and for one that ignores spare seats.
func (h *Populated) Launch(wait time.Duration, spare, none *Ways) error {
	for _, ways := range []*Ways{spare, none} {
		populations := slices.Clone(h.populations)
		o := sim.GroupOptions{Criteria: selection.Criteria{By: selection.Mean, Seats: len(h.group.Players)}}
		o.Ready = wait - start - countdown
		if ways == none {
			o.Tuning.Spare = -1
		}
		s, err := h.group.NewSession(sim.Full, o.WithDefaults(len(h.group.Players)), h.number)
		if err != nil {
			return err
		}
		s.InfoOf = func(server int) discovery.Info {
			populations[server].pass(h.now + s.Now)
			return discovery.Info{MaxPlayers: populations[server].seats, Players: populations[server].taken}
		}
		var first []selection.Ranked // before anybody was ready
		s.Watch = func(room.Input) {
			if s.HasChosen && first == nil {
				first = s.Room.Snapshot().Choice.Selection.Ranking
			}
		}
		if err := s.Run(); err != nil {
			return err
		}
		s.Now = s.Launched + start
		isFree := func(r selection.Ranked) bool {
			info := s.InfoOf(r.Server)
			return info.Free() >= len(h.group.Players)
		}
		count := func(l *Launches, ranked []selection.Ranked) {
			if l.N++; !slices.ContainsFunc(ranked, isFree) {
				l.Failed++
			}
			score, _ := h.truth.Regret(ranked[0].Server)
			l.Score += score
		}
		last := s.Room.Snapshot().Choice.Selection.Ranking
		count(&ways.Best, first[:1])
		count(&ways.BestOf, first[:min(few, len(first))])
		count(&ways.Again, last[:1])
		count(&ways.AgainOf, last[:min(few, len(last))])
	}
	h.number++
	return nil
}

// Pass lets time pass on all servers.
func (h *Populated) Pass(d time.Duration) {
	h.now += d
	for i := range h.populations {
		h.populations[i].pass(h.now)
	}
}
