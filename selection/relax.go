package selection

import (
	"cmp"
	"math/bits"
	"slices"

	"muster/discovery"
	"muster/discovery/hostport"
)

// maxRelaxations is the most ways out that are listed.
const maxRelaxations = 10

// Relax is one thing to give up, and what that would free.
type Relax struct {
	// Give is the obstacle to give up. [Unmeasured] asks for measuring, [OverThreshold] for a
	// higher limit. With a player, [OverThreshold] and [Unreachable] mean playing without that
	// player.
	Give   Cause  `json:"give"`
	Player string `json:"player,omitempty"`
	// Frees is how many servers only this limit excludes.
	Frees int `json:"frees"`
	// Addr is the best of those by mean, for a limit the one with the lowest worst RTT, and for
	// seats the one with the most free.
	Addr hostport.AddrPort `json:"addr"`
	// LimitMS is the limit that Addr keeps, and Seats is how many it has free.
	LimitMS float64 `json:"limit_ms,omitempty"`
	Seats   *int    `json:"seats,omitempty"`
}

// Miss is a server that nearly suits everyone.
type Miss struct {
	Addr      hostport.AddrPort `json:"addr"`
	Obstacles []Obstacle        `json:"obstacles"`
}

// Obstacle is one thing against a server.
type Obstacle struct {
	Cause   Cause    `json:"reason"`
	Players []string `json:"players,omitempty"`
}

// obstacle is one thing to give up for a server.
type obstacle struct {
	give   Cause
	player int
}

// whyNone looks for single things to give up so that a server survives.
func (r *round) whyNone() *Why {
	ways := make(map[obstacle][]int) // the servers that each frees
	nearest, fewest := -1, 0
	for server := range r.fates {
		all := r.allAgainst(server)
		// a player who cannot reach it weighs as much as any other cause
		n := bits.OnesCount16(uint16(all)) + max(0, int(r.view.needed-r.view.sumsOf(server).answered)-1)
		if nearest < 0 || n < fewest || n == fewest && r.servers.compare(server, nearest) < 0 {
			nearest, fewest = server, n
		}
		for _, o := range r.onlyObstacles(server, all) {
			ways[o] = append(ways[o], server)
		}
	}
	w := &Why{}
	for o, freed := range ways {
		w.Relax = append(w.Relax, r.relax(o, freed))
	}
	slices.SortFunc(w.Relax, func(a, b Relax) int {
		return cmp.Or(cmp.Compare(b.Frees, a.Frees), cmp.Compare(b.Give, a.Give), cmp.Compare(a.Player, b.Player))
	})
	w.Relax = w.Relax[:min(len(w.Relax), maxRelaxations)]
	if nearest < 0 {
		return w
	}
	w.Nearest = &Miss{Addr: hostport.At(r.servers.List[nearest].Addr)}
	all := r.allAgainst(nearest)
	for cause := range none {
		if all.has(cause) {
			w.Nearest.Obstacles = append(w.Nearest.Obstacles, Obstacle{cause, r.concerned(nearest, cause)})
		}
	}
	return w
}

// allAgainst returns all causes against a server, including the limit.
func (r *round) allAgainst(server int) causes {
	s := r.view.sumsOf(server)
	all := r.against(server, s)
	if s.failed == 0 && s.answered < r.view.needed {
		all.add(Unmeasured) // even if the list rules it out
	}
	if r.limit != 0 && s.worst > r.limit {
		all.add(OverThreshold)
	}
	return all
}

// onlyObstacles returns the obstacles that each, alone, keep a server out, if there are any.
func (r *round) onlyObstacles(server int, all causes) []obstacle {
	if bits.OnesCount16(uint16(all)) != 1 {
		return nil
	}
	s, cause := r.view.sumsOf(server), all.first()
	only := func(so func(cell) bool) obstacle {
		return obstacle{cause, append(r.view.playersWhere(server, so), nobody)[0]}
	}
	switch cause {
	case Unreachable, Unmeasured:
		alone := cause == Unreachable && r.view.needed == 1
		if alone || r.view.needed-s.answered > 1 {
			return nil
		}
		return []obstacle{only(func(c cell) bool { return !c.answered() })}
	case WrongVersion:
		info := r.servers.Info(server)
		if out := r.criteria.shutOut(info); len(out) == 1 && r.view.needed > 1 && (r.criteria.Version == "" || info.IsOfVersion(r.criteria.Version)) {
			return []obstacle{{cause, slices.Index(r.view.table.players, out[0])}}
		}
	case OverThreshold:
		raise := obstacle{cause, nobody}
		if s.second > r.limit || r.view.needed < 2 {
			return []obstacle{raise}
		}
		return []obstacle{raise, only(func(c cell) bool { return c == s.worst })}
	}
	return []obstacle{{cause, nobody}}
}

// relax returns what it means to give up an obstacle, which alone keeps these servers out.
func (r *round) relax(o obstacle, freed []int) Relax {
	best := slices.MinFunc(freed, func(a, b int) int {
		return cmp.Or(cmp.Compare(r.price(o, a), r.price(o, b)), r.servers.compare(a, b))
	})
	way := Relax{Give: o.give, Frees: len(freed), Addr: hostport.At(r.servers.List[best].Addr)}
	switch {
	case o.player != nobody:
		way.Player = r.view.table.players[o.player]
	case o.give == Full:
		free := freeSeats(r.servers.Info(best))
		way.Seats = &free
	case o.give == OverThreshold:
		way.LimitMS = millis(r.price(o, best))
	}
	return way
}

// price orders the servers that an obstacle keeps out, the cheapest first.
func (r *round) price(o obstacle, server int) float64 {
	s := r.view.sumsOf(server)
	switch {
	case o.give == OverThreshold && o.player == nobody:
		return float64(s.worst)
	case o.give == Full:
		return float64(-freeSeats(r.servers.Info(server)))
	case s.answered == 0:
		return float64(cellOf(discovery.Answered, 0))
	}
	return s.mean()
}
