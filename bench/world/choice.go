package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
)

// What follows says again what docs/algorithms.md says of a choice, in milliseconds. The pings that everybody
// sees decide it, so everybody can calculate it.
const (
	seatPrice = 2.0     // of a server that would be full with the group
	lossPrice = 1000.0  // of losing everything
	minGain   = 10.0    // of a move to another server than the last round's, and at least a third of its score
	rounding  = 0.00201 // of figures that were rounded to microseconds, two of them
)

// misjudged says what is wrong with a choice, given the pings that the world has, and what the rule says of
// those that the choice shows.
func (w *world) misjudged(c *wire.Choice, g *group) string {
	s := &c.Selection
	if g.by != "" && string(s.By) != g.by {
		return fmt.Sprintf("it is by %s, and the room's rule is %s", s.By, g.by)
	}
	for i, r := range s.Ranking {
		n := slices.IndexFunc(w.servers, func(s discovery.Server) bool { return s.Addr == r.Addr.AddrPort })
		if n < 0 {
			return fmt.Sprintf("%v is in no list", r.Addr)
		}
		of, isSilent := info(n)
		if isSilent || of.MaxPlayers-of.Players < players {
			return fmt.Sprintf("%v is full or silent, and has rank %d", r.Addr, i+1)
		}
		if r.Tight != (of.MaxPlayers-of.Players == players) {
			return fmt.Sprintf("%v has %d free seats, and is called tight: %v", r.Addr, of.MaxPlayers-of.Players, r.Tight)
		}
		for _, name := range s.Players {
			if _, is := r.RTT[name]; !is {
				return fmt.Sprintf("%v is ranked without the ping of %s", r.Addr, name)
			}
		}
		for _, p := range g.players {
			least := float64(ping(p.n, n)) / 1e6
			if ms, is := r.RTT[p.name]; is && (ms < least-0.2 || ms > least+float64(noise)/1e6+0.2) {
				return fmt.Sprintf("%s has at least %.2f ms to %v, and not %.2f", p.name, least, r.Addr, ms)
			}
		}
	}
	return misranked(s)
}

// misranked says what a ranking's own pings say against its scores and its order.
func misranked(s *selection.Selection) string {
	isOff := func(a, b float64) bool { return math.Abs(a-b) > rounding }
	costs := costs(s)
	var extras []float64 // of those at which people have looked twice
	for i, r := range s.Ranking {
		if r.JitterMS != nil {
			extras = append(extras, scored(s, i, costs)-scored(s, i, nil))
		}
	}
	usual := 0.0
	if slices.Sort(extras); len(extras) > 0 {
		usual = extras[(len(extras)-1)/2]
	}
	price := func(r selection.Ranked) float64 {
		if r.Tight {
			return r.Score + seatPrice
		}
		return r.Score
	}
	for i, r := range s.Ranking {
		score := scored(s, i, costs)
		if r.JitterMS == nil {
			score += usual
		}
		switch {
		case isOff(r.Score, score):
			return fmt.Sprintf("by %s %v has the score %.3f, and not %.3f", s.By, r.Addr, score, r.Score)
		case i > 0 && price(r) < price(s.Ranking[i-1])-rounding:
			return fmt.Sprintf("by %s %v (%.3f) comes before %v (%.3f)", s.By, s.Ranking[i-1].Addr, price(s.Ranking[i-1]), r.Addr, price(r))
		}
	}
	if s.Chosen == nil || len(s.Ranking) == 0 || s.Decided != nil && s.Decided.By == selection.ByVote {
		return ""
	}
	best := s.Ranking[0]
	if s.Keep != nil {
		at := slices.IndexFunc(s.Ranking, func(r selection.Ranked) bool { return r.Addr == s.Keep.Addr })
		if isOut := s.Keep.Culled != nil || s.Keep.Unlisted; isOut != (at < 0) {
			return fmt.Sprintf("%v, the last round's, has rank %d, and suits: %v", s.Keep.Addr, at+1, !isOut)
		}
		if at >= 0 {
			if gain := s.Ranking[at].Score - best.Score; gain < minGain || gain < s.Ranking[at].Score/3 {
				best = s.Ranking[at]
			}
		}
	}
	if s.Chosen.Addr != best.Addr {
		return fmt.Sprintf("by %s %v is the best, and the choice is %v", s.By, best.Addr, s.Chosen.Addr)
	}
	return ""
}

// scored returns the rule's figure of a server, with what its second looks cost, or without if there are none.
func scored(s *selection.Selection, at int, costs map[string][]float64) float64 {
	r, n := s.Ranking[at], float64(len(s.Players))
	sum, most, mean, cost := 0.0, 0.0, 0.0, 0.0
	for _, name := range s.Players {
		mean += r.RTT[name] / n
		ms := r.RTT[name]
		if of := costs[name]; of != nil {
			ms += of[at]
			cost += of[at] / n
		}
		sum, most = sum+ms, math.Max(most, ms)
	}
	squares := 0.0
	for _, name := range s.Players {
		squares += (r.RTT[name] - mean) * (r.RTT[name] - mean)
	}
	switch {
	case s.By == "minimax":
		return most
	case s.By == "fairness" && n > 1:
		return math.Sqrt(squares/(n-1)) + cost // a deviation would fall if the nearest had a bad line
	}
	return sum / n
}

// costs returns what each player's second looks cost, by rank, above what they cost the player in the median.
func costs(s *selection.Selection) map[string][]float64 {
	of := map[string][]float64{}
	for _, name := range s.Players {
		var all []float64
		for _, r := range s.Ranking {
			cost := 2*r.JitterMS[name] + lossPrice*r.Loss[name]
			if of[name] = append(of[name], cost); r.JitterMS != nil {
				all = append(all, cost)
			}
		}
		line := 0.0
		if slices.Sort(all); len(all) >= 3 && len(s.Players) > 1 {
			line = all[len(all)/2]
		}
		for i, r := range s.Ranking {
			if of[name][i] = math.Max(0, of[name][i]-line); r.JitterMS == nil {
				of[name][i] = 0
			}
		}
	}
	return of
}

// uncounted says who was in a round that a whole world had, and does not count in what it chose.
func (w *world) uncounted(g *group) string {
	in := slices.DeleteFunc(slices.Clone(g.players), func(p *gamer) bool { return p.isOut.Load() })
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range in {
		var c *wire.Choice
		round := 0
		for _, s := range w.seen {
			if s.who == p.name && s.phase != "" {
				c, round = s.choice, s.round
			}
		}
		if c == nil {
			return fmt.Sprintf("%s sees no choice in round %d", p.name, round)
		}
		for _, other := range in {
			if !slices.Contains(c.Selection.Players, other.name) {
				return fmt.Sprintf("%s does not count in round %d", other.name, round)
			}
		}
		// After the fourth look a room takes what it has, but never without any.
		if !slices.ContainsFunc(c.Selection.Ranking, func(r selection.Ranked) bool { return r.JitterMS != nil }) {
			return fmt.Sprintf("nobody has looked twice at any server in round %d", round)
		}
	}
	return ""
}

// claim is a claim to a room, as the records of it name it.
type claim struct {
	Life  string
	Claim uint64
}

// held notes a record of a room that NATS keeps. Each claim has an epoch of its own, later than any before.
func (w *world) held(code string, epoch uint64, by claim) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.claims[code]
	if of == nil {
		of = &epochs{by: map[uint64]claim{}}
		w.claims[code] = of
	}
	if before, is := of.by[epoch]; is && before != by {
		w.rivals = append(w.rivals, fmt.Sprintf("two claims to a room have epoch %d, at %v", epoch, time.Since(w.began)))
	}
	if epoch < of.newest {
		w.rivals = append(w.rivals, fmt.Sprintf("a room is kept with epoch %d after epoch %d, at %v", epoch, of.newest, time.Since(w.began)))
	}
	of.newest, of.by[epoch] = epoch, by
}

// epochs are the claims to a room, by epoch, and the newest epoch.
type epochs struct {
	by     map[uint64]claim
	newest uint64
}
