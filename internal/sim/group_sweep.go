package sim

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/discovery"
)

// Trial is what a sweep does with each group.
type Trial func(g *Group, seed uint64) (GroupRun, error)

// Sweep makes so many worlds' groups, from a first seed on, and is what each trial
// came to with each of them.
func Sweep(group func(seed uint64) (*Group, error), from uint64, worlds int, trials []Trial) ([][]GroupRun, error) {
	all := make([][]GroupRun, len(trials))
	for i := range all {
		all[i] = make([]GroupRun, worlds)
	}
	return all, Parallel(context.Background(), worlds, func(world int) error {
		seed := from + uint64(world)
		g, err := group(seed)
		for i := 0; i < len(trials) && err == nil; i++ {
			all[i][world], err = trials[i](g, seed)
		}
		return err
	})
}

// GroupPlaces are where the players of a named group sit: the four of MUSST's
// evaluation, two or three far apart, or cities drawn by a seed: world-N are N of them.
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
	}
	text, _ := strings.CutPrefix(name, "world-")
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return drawPlaces(n, seed, func(region) bool { return true }), nil
	}
	return nil, fmt.Errorf("sim: unknown group %q", name)
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
	if world == "distance" {
		return DistanceWorld(ListLike2007(seed), players, seed).everybody()
	}
	spec, err := night2005(2000, seed), error(nil)
	if world != "night2000" {
		spec, err = NamedSpec(world, seed)
	}
	if err != nil {
		return nil, err
	}
	spec.Places = players
	return Generate(spec).everybody()
}

// ListLike2007 is a list like css2007's.
func ListLike2007(seed uint64) []discovery.Server {
	spec := css2007(seed)
	spec.Places = nil
	return Generate(spec).List()
}

// OnMatrix is a group that sits as a named one does, on hosts of a matrix, and so do
// the servers of a list.
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
	return m.World(list, m.Draw(len(players), spread, seed), seed).everybody()
}

// Report is a line of figures: regret p50/p95/most, and that of the best server
// that the search found; percent of the list and
// servers a player (the most), rounds, seconds, and how often the planner's claim of
// what is still to be had, in whole milliseconds as players are told, was too low, and
// how often a limit was missed that 0.5 % of the list keep; then regret and claims where
// no server counts that keeps a limit by less than a packet pair is off by.
func Report(all []GroupRun) string {
	get := func(share float64, of func(GroupRun) float64) float64 { return quantile(all, share, of) }
	none, broken, unclear, missed, limited := 0, 0, 0, 0, 0
	for _, r := range all {
		if r.Share >= manyKeep {
			limited++
			if !r.Kept {
				missed++
			}
		}
		if !r.Found {
			none++
		}
		if !r.claims() {
			broken++
			if r.FoundClear > r.claim() {
				unclear++
			}
		}
	}
	regret := func(r GroupRun) float64 { return r.Regret }
	found := func(r GroupRun) float64 { return r.FoundRegret }
	clear := func(r GroupRun) float64 { return r.Clear }
	rounds := func(r GroupRun) float64 { return float64(r.Rounds) }
	return fmt.Sprintf("regret %5.2f / %5.2f (%5.2f) ms, found %5.2f / %5.2f, %5.2f %% = %3.0f a player, rounds %2.0f (%2.0f), %4.1f s, none %d, claim %4.1f (%4.1f) ms, broken %2d of %d, limit missed %d of %d, but for edges %5.2f / %5.2f (%5.2f) ms, broken %d",
		get(0.5, regret), get(0.95, regret), get(1, regret), get(0.5, found), get(0.95, found), get(0.5, func(r GroupRun) float64 { return slices.Max(r.Percent) }),
		get(0.5, func(r GroupRun) float64 { return r.Search.Probes }), get(0.5, rounds), get(1, rounds),
		get(0.5, func(r GroupRun) float64 { return r.Seconds }), none, get(0.5, GroupRun.claim), get(0.95, GroupRun.claim), broken, len(all), missed, limited,
		get(0.5, clear), get(0.95, clear), get(1, clear), unclear)
}

// manyKeep is the share of a list that has to keep a limit for a search to find it:
// that of which Meridian's queries with several limits found nine in ten.
const manyKeep = 0.005

// claims reports whether what is told at the end holds: that nothing found later would
// be better by more, or that something may keep a stricter limit.
func (r GroupRun) claims() bool {
	return r.FoundRegret <= r.claim() || !r.FoundKept && r.Search.Reach > 0
}

// claim is how much better than the best found a server may be, at most, as the
// planner has it told.
func (r GroupRun) claim() float64 {
	return math.Ceil(float64(r.Search.RegretBound) / float64(time.Millisecond))
}
