package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"muster/discovery"
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
type crowd struct {
	seats, taken int
	// load is how many single players there would be with any number of seats.
	load float64
	rng  *rand.Rand
}

// pass lets time pass: who finds no seat goes elsewhere, a group if not all of it
// does.
func (c *crowd) pass(d time.Duration) {
	for left := d.Seconds(); ; {
		single, group, leave := c.load/stay.Seconds(), 1/groupEvery.Seconds(), float64(c.taken)/stay.Seconds()
		left -= c.rng.ExpFloat64() / (single + group + leave)
		if left < 0 {
			return
		}
		switch at := c.rng.Float64() * (single + group + leave); {
		case at < single:
			c.arrive(1)
		case at < single+group:
			c.arrive(2 + c.rng.IntN(mostGroup-1))
		default:
			c.taken--
		}
	}
}

func (c *crowd) arrive(players int) {
	if c.taken+players <= c.seats {
		c.taken += players
	}
}

// Way is how a room goes about a launch.
type Way struct {
	// Again: just before the launch the first few are asked again, and the choice
	// is made anew, until it falls on one that was.
	Again bool
	// Fallbacks: who finds no seats goes to the next of the first few.
	Fallbacks bool
	// Spare is [selection.Criteria].Spare.
	Spare time.Duration
}

const (
	// few is how many servers a launch looks at again, or falls back to.
	few = 5
	// attempts is how often it does.
	attempts = 4
	// start is what it takes a game to start.
	start = 5 * time.Second
)

// Launches are what became of launches.
type Launches struct {
	N, Failed int
	// Score is the sum of the scores of the servers gone to first, in ms.
	Score float64
}

// Harbour is the best servers of a group, all of them populated, whose seats come
// and go.
type Harbour struct {
	servers selection.Servers
	table   *selection.Table
	crowds  []crowd
}

// berths is how many servers a harbour has: more are never needed.
const berths = 200

// NewHarbour is the nearest servers of a group.
func NewHarbour(g *Group, seed uint64) *Harbour {
	t := g.truth(selection.Criteria{By: selection.Mean})
	near := slices.DeleteFunc(t.near(), func(server int) bool { return g.Vantages[0].Infos[server].MaxPlayers < mostGroup })
	near = near[:min(berths, len(near))]
	h := &Harbour{table: selection.NewTable(g.Players, len(near))}
	rng := rand.New(rand.NewPCG(seed, 0x7365617473))
	for row, server := range near {
		seats := g.Vantages[0].Infos[server].MaxPlayers
		h.servers.List = append(h.servers.List, g.Vantages[0].Servers[server])
		h.servers.Infos = append(h.servers.Infos, &discovery.Info{MaxPlayers: seats})
		h.crowds = append(h.crowds, crowd{seats: seats, load: float64(seats) * (0.2 + 0.9*rng.Float64()), rng: rng})
		for player, v := range g.Vantages {
			h.table.Set(player, row, discovery.Answered, v.RTT[server])
		}
	}
	h.pass(2 * time.Hour)
	return h
}

// near are the servers that everybody reaches, the best mean first.
func (t groupTruth) near() []int {
	type place struct {
		server int
		total  time.Duration
	}
	var all []place
	for server := range t.Vantages[0].Servers {
		total := time.Duration(0)
		for _, v := range t.Vantages {
			if v.RTT[server] < 0 {
				total = -1
				break
			}
			total += v.RTT[server]
		}
		if total > 0 {
			all = append(all, place{server, total})
		}
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Or(cmp.Compare(a.total, b.total), cmp.Compare(a.server, b.server)) })
	servers := make([]int, len(all))
	for i, p := range all {
		servers[i] = p.server
	}
	return servers
}

// pass lets time pass in the whole harbour.
func (h *Harbour) pass(d time.Duration) {
	for i := range h.crowds {
		h.crowds[i].pass(d)
	}
}

// all are the servers.
func (h *Harbour) all() []int {
	all := make([]int, len(h.crowds))
	for server := range all {
		all[server] = server
	}
	return all
}

// look notes how full some servers are now.
func (h *Harbour) look(infos []*discovery.Info, servers []int) {
	for _, server := range servers {
		infos[server] = &discovery.Info{MaxPlayers: h.crowds[server].seats, Players: h.crowds[server].taken}
	}
}

// ranked are the first few by what is known of the seats.
func (h *Harbour) ranked(way Way, infos []*discovery.Info) []selection.Ranked {
	wish := selection.Criteria{By: selection.Mean, Seats: len(h.table.Players()), Spare: way.Spare, Top: few, Reasons: -1}
	return selection.NewFilter(selection.Servers{List: h.servers.List, Infos: infos}, wish).Select(h.table).Ranking
}

// Launch sends the group to a server, in each of the ways at the same time: so
// long after the first look at the seats everybody arrives.
func (h *Harbour) Launch(wait time.Duration, ways []Way, launches []Launches) {
	h.look(h.servers.Infos, h.all())
	h.pass(wait - start)
	targets := make([][]selection.Ranked, len(ways))
	for i, way := range ways {
		targets[i] = h.decide(way, slices.Clone(h.servers.Infos))
	}
	h.pass(start)
	for i, way := range ways {
		l := &launches[i]
		l.N++
		if !h.arrive(way, targets[i]) {
			l.Failed++
		}
		l.Score += targets[i][0].Score
	}
}

// decide is where to go, and what to fall back to.
func (h *Harbour) decide(way Way, infos []*discovery.Info) []selection.Ranked {
	ranked := h.ranked(way, infos)
	if !way.Again {
		return ranked
	}
	seen := make(map[int]bool)
	for range attempts {
		if seen[ranked[0].Server] {
			break
		}
		var first []int
		for _, r := range ranked {
			first, seen[r.Server] = append(first, r.Server), true
		}
		h.look(infos, first)
		ranked = h.ranked(way, infos)
	}
	return ranked
}

// arrive tells whether the group finds seats.
func (h *Harbour) arrive(way Way, targets []selection.Ranked) bool {
	if !way.Fallbacks {
		targets = targets[:1]
	}
	return slices.ContainsFunc(targets, func(r selection.Ranked) bool {
		return h.crowds[r.Server].seats-h.crowds[r.Server].taken >= len(h.table.Players())
	})
}
