package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"muster/selection"
)

// Sweep measures the methods on many worlds: one run on each.
type Sweep struct {
	// Group is one of [GroupNames].
	Group string
	// World makes the group for a seed; nil is css2007.
	World   func(seed uint64) (*Group, error)
	Method  Method
	Options GroupOptions
	// From is the first seed, Worlds how many there are.
	From   uint64
	Worlds int
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

// GroupWorld is a named group on a named world.
func GroupWorld(world, group string, seed uint64) (*Group, error) {
	spec, err := NamedSpec(world, seed)
	if err != nil {
		return nil, err
	}
	if spec.Places, err = GroupPlaces(group, seed); err != nil {
		return nil, err
	}
	places := make([]int, len(spec.Places))
	for i := range places {
		places[i] = i
	}
	return Generate(spec).Group(places...), nil
}

// Run makes the worlds and runs the method once on each.
func (s Sweep) Run() ([]GroupRun, error) {
	var all []GroupRun
	for seed := s.From; seed < s.From+uint64(s.Worlds); seed++ {
		world := s.World
		if world == nil {
			world = func(seed uint64) (*Group, error) { return GroupWorld("css2007", s.Group, seed) }
		}
		g, err := world(seed)
		if err != nil {
			return nil, err
		}
		run, err := g.Run(s.Method, s.Options, seed)
		if err != nil {
			return nil, err
		}
		all = append(all, run)
	}
	return all, nil
}

// Report is a line of figures: regret p50/p95, percent of the list a player (the
// most), rounds, seconds, and how often the planner's claim of what is still to
// be had was too low.
func Report(all []GroupRun) string {
	get := func(share float64, of func(GroupRun) float64) float64 { return quantile(all, share, of) }
	none, broken := 0, 0
	for _, r := range all {
		if !r.Found {
			none++
		}
		if gain := r.Outlook.Gain; r.Regret > 1+float64(gain)/float64(time.Millisecond) {
			broken++
		}
	}
	return fmt.Sprintf("regret %5.2f / %5.2f ms, %5.2f %% a player, %2.0f rounds, %4.1f s, none %d, claim broken %d of %d",
		get(0.5, func(r GroupRun) float64 { return r.Regret }), get(0.95, func(r GroupRun) float64 { return r.Regret }),
		get(0.5, func(r GroupRun) float64 { return slices.Max(r.Percent) }), get(0.5, func(r GroupRun) float64 { return float64(r.Rounds) }),
		get(0.5, func(r GroupRun) float64 { return r.Seconds }), none, broken, len(all))
}

// rules of the sweep, as wishes.
func sweepWish(rule selection.Rule) selection.Wish {
	w := selection.Wish{By: rule}
	if rule == selection.Threshold || rule == selection.FairThreshold {
		w.Limits = []time.Duration{150 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond}
	}
	return w
}
