package sim

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"muster/discovery"
)

// Sweep measures trials on many worlds: each once in each world.
type Sweep struct {
	// World makes the group for a seed.
	World  func(seed uint64) (*Group, error)
	Trials []Trial
	// From is the first seed, Worlds how many there are.
	From   uint64
	Worlds int
}

// Trial is a method and its options. If AnyMap is set the group wants a map that
// the first server of the world plays, which nobody knows before it is asked; if
// Percent is, the budget is this share of the list and is spent.
type Trial struct {
	Method  Method
	Options GroupOptions
	AnyMap  bool
	Percent float64
}

func (t Trial) in(g *Group) GroupOptions {
	o := t.Options
	if t.AnyMap {
		o.Criteria.Map = g.Vantages[0].Infos[0].Map
	}
	if t.Percent > 0 {
		o.Tuning.Budget, o.Tuning.Enough = int(t.Percent/100*float64(len(g.Vantages[0].Servers))), -1
	}
	return o
}

// GroupNames are the groups that [GroupPlaces] knows.
func GroupNames() []string {
	return []string{"musst", "au-jp", "au-de-usw", "europe-8", "world-16", "world-64"}
}

// GroupPlaces are where the players of a named group sit: the four of MUSST's
// evaluation, two or three far apart, or cities drawn by a seed.
func GroupPlaces(name string, seed uint64) ([]Place, error) {
	switch name {
	case "musst":
		return NamedPlaces("NL", "Massachusetts", "Kota Bharu", "North Carolina")
	case "au-jp":
		return NamedPlaces("AU", "JP")
	case "au-de-usw":
		return NamedPlaces("AU", "DE", "US-W")
	case "europe-8":
		return drawPlaces(8, seed, func(r region) bool { return r == europe }), nil
	case "world-16":
		return drawPlaces(16, seed, func(region) bool { return true }), nil
	case "world-64":
		return drawPlaces(64, seed, func(region) bool { return true }), nil
	}
	return nil, fmt.Errorf("sim: unknown group %q (known: %q)", name, GroupNames())
}

// drawPlaces draws cities of some regions, each with a line of its own.
func drawPlaces(n int, seed uint64, where func(region) bool) []Place {
	rng := rand.New(rand.NewPCG(seed, 0x706c61636573))
	var drawn []Place
	of := metroRegions()
	for _, i := range rng.Perm(len(metros)) {
		if m := metros[i]; where(of[i]) && len(drawn) < n {
			access := milliseconds(5 + 15*rng.Float64())
			drawn = append(drawn, Place{Name: m.name, Country: m.country, Lat: m.lat, Lon: m.lon, Access: access})
		}
	}
	return drawn
}

// GroupWorld is a named group on a named world: a synthetic one, the distance
// world of a list like css2007's, or the demo's night of 2,000 servers.
func GroupWorld(world, group string, seed uint64) (*Group, error) {
	players, err := GroupPlaces(group, seed)
	if err != nil {
		return nil, err
	}
	switch world {
	case "distance":
		spec := css2007(seed)
		spec.Places = nil
		return DistanceWorld(Generate(spec).List(), players, seed).everybody()
	case "night2000":
		spec := night2005(2000, seed)
		spec.Places = players
		return Generate(spec).everybody()
	}
	spec, err := NamedSpec(world, seed)
	if err != nil {
		return nil, err
	}
	spec.Places = players
	return Generate(spec).everybody()
}

// OnMatrix is a group that sits as a named one does, on hosts of a matrix. A list
// of none is one like css2007's.
func (m Matrix) OnMatrix(list []discovery.Server, group string, seed uint64) (*Group, error) {
	players, err := GroupPlaces(group, seed)
	if err != nil {
		return nil, err
	}
	spread := Far
	switch n := len(players); {
	case group == "europe-8":
		spread = Near
	case n > 4:
		spread = Anywhere
	}
	if list == nil {
		spec := css2007(seed)
		spec.Places = nil
		list = Generate(spec).List()
	}
	return m.World(list, m.Draw(len(players), spread, seed), seed).everybody()
}

// Run makes the worlds, and is what each trial came to in each of them.
func (s Sweep) Run() ([][]GroupRun, error) {
	all := make([][]GroupRun, len(s.Trials))
	for i := range all {
		all[i] = make([]GroupRun, s.Worlds)
	}
	return all, Parallel(context.Background(), s.Worlds, func(world int) error {
		seed := s.From + uint64(world)
		g, err := s.World(seed)
		for i := 0; i < len(s.Trials) && err == nil; i++ {
			all[i][world], err = g.Run(s.Trials[i].Method, s.Trials[i].in(g), seed)
		}
		return err
	})
}

// Report is a line of figures: regret p50/p95/most, percent of the list and
// servers a player (the most), rounds, seconds, and how often the planner's claim
// of what is still to be had, in whole milliseconds as players are told, was too
// low.
func Report(all []GroupRun) string {
	get := func(share float64, of func(GroupRun) float64) float64 { return quantile(all, share, of) }
	none, broken := 0, 0
	for _, r := range all {
		if !r.Found {
			none++
		}
		if r.SearchRegret > r.claim() {
			broken++
		}
	}
	regret := func(r GroupRun) float64 { return r.Regret }
	rounds := func(r GroupRun) float64 { return float64(r.Rounds) }
	return fmt.Sprintf("regret %5.2f / %5.2f (%5.2f) ms, %5.2f %% = %3.0f a player, rounds %2.0f (%2.0f), %4.1f s, none %d, claim %4.1f (%4.1f) ms, broken %2d of %d",
		get(0.5, regret), get(0.95, regret), get(1, regret), get(0.5, func(r GroupRun) float64 { return slices.Max(r.Percent) }),
		get(0.5, func(r GroupRun) float64 { return r.Search.Probes }), get(0.5, rounds), get(1, rounds),
		get(0.5, func(r GroupRun) float64 { return r.Seconds }), none, get(0.5, GroupRun.claim), get(0.95, GroupRun.claim), broken, len(all))
}

// claim is how much better than the best found a server may be, at most, as the
// planner has it told.
func (r GroupRun) claim() float64 {
	return math.Ceil(float64(r.Search.RegretBound) / float64(time.Millisecond))
}
