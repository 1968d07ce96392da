package simulated

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"muster/host/room"
	"muster/internal/sim"
	"muster/selection"
)

// The table of attacks is for measuring. The gate runs a small part of it:
//
//	go -C bench test ./simulated -run TestLiarSweep -v -timeout 0 -liar-worlds 40
var (
	liarSessions = flag.Int("liar-worlds", 0, "worlds of the table of attacks, an evening in each")
	liarFrom     = flag.Uint64("liar-from", 9500, "the first evening's seed")
	liarPlayers  = flag.String("liar-players", "8", "how many players an evening has")
	liarLiars    = flag.String("liar-liars", "1,2", "how many of them are hostile, together")
	liarRules    = flag.String("liar-rules", "mean", "rules of the rooms")
	liarAttacks  = flag.String("liar-attacks", "", "what the attacks' names contain, with | between; all if empty")
	liarOf       = flag.String("liar-of", "night", "kinds of worlds: night, css2007, et2007, and matrix and cities with the files of -sweep-of")
	liarHome     = flag.Bool("liar-home", false, "a hostile player shares an honest one's address and line")
	liarLog      = flag.Bool("liar-log", false, "tell the evenings that were lost or dear, and who was wronged")
)

func TestLiarSweep(t *testing.T) {
	if *liarSessions == 0 { // a small part, for the gate
		*liarSessions, *liarLiars, *liarAttacks = 1, "1", "honest|all 0|random|never done"
	}
	for _, world := range strings.Split(*liarOf, ",") {
		for _, players := range strings.Split(*liarPlayers, ",") {
			for _, rule := range strings.Split(*liarRules, ",") {
				for _, liars := range strings.Split(*liarLiars, ",") {
					t.Logf("%s, %s, %s of %s", world, rule, liars, players)
					sweepAttacks(t, world, selection.Rule(rule), int(sweepNumber(t, liars)), int(sweepNumber(t, players)))
				}
			}
		}
	}
}

// sweepAttacks prints a table of attacks, in the order of their cost.
func sweepAttacks(t *testing.T, world string, rule selection.Rule, liars, players int) {
	var attacks []Attack
	for _, a := range Attacks() {
		if a.plan == nil { // the baseline for the others
			attacks = append(attacks, a)
		}
		for _, part := range strings.Split(*liarAttacks, "|") {
			if strings.Contains(a.Name, part) && !slices.ContainsFunc(attacks, func(b Attack) bool { return a.Name == b.Name }) {
				attacks = append(attacks, a)
			}
		}
	}
	sessions := make([][]Outcome, len(attacks))
	for i := range attacks {
		sessions[i] = make([]Outcome, *liarSessions)
	}
	err := sim.Parallel(context.Background(), *liarSessions, func(n int) error {
		seed := *liarFrom + uint64(n)
		g := drawnGroup(t, world, players, seed)
		first := int(seed) % players
		var hostile []int
		for i := range liars {
			hostile = append(hostile, (first+i*3)%players)
		}
		if *liarHome {
			mate := (first + 1) % players
			g.Vantages[first] = g.Vantages[mate]
			for i := range players {
				g.Homes = append(g.Homes, netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}))
			}
			g.Homes[first] = g.Homes[mate]
		}
		for i, a := range attacks {
			e, err := Attacked(g, hostile, a, sim.GroupOptions{Criteria: liarCriteria(rule)}, seed)
			if err != nil {
				t.Errorf("seed %d, %s: %v", seed, a.Name, err)
			}
			sessions[i][n] = e
			honest := sessions[0][n]
			if a.Wants != nil {
				honest, _ = Attacked(g, hostile, Attack{Wants: a.Wants}, sim.GroupOptions{Criteria: liarCriteria(rule)}, seed)
			}
			sessions[i][n].Cost = e.Regret - honest.Regret
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	order := make([]int, len(attacks))
	for i := range order {
		order[i] = i
	}
	lost := func(i int) int {
		return len(slices.DeleteFunc(slices.Clone(sessions[i]), func(e Outcome) bool { return e.Found }))
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(lost(j), lost(i)), cmp.Compare(quantileOf(sessions[j], 0.95, cost), quantileOf(sessions[i], 0.95, cost)))
	})
	t.Logf("| %-42s | regret 50/95/worst, ms | cost 95/worst, ms | lost | liars named | honest named, left out | s, most | told |", "attack")
	for _, i := range order {
		t.Logf("| %-42s | %s", attacks[i].Name, liarReport(sessions[i]))
		for n, e := range sessions[i] {
			if *liarLog && (!e.Found || e.Wronged != nil || e.Cost > dearFrom) {
				var log strings.Builder
				for _, note := range e.Log {
					log.WriteString(note.At.Format("\n  05.0 ") + note.String())
				}
				t.Logf("seed %d: found %v, cost %.1f, told %.1f, wronged %q%s", *liarFrom+uint64(n), e.Found, e.Cost, e.Told, e.Wronged, &log)
			}
		}
	}
}

// liarCriteria returns the usual criteria of rooms: seats for all, and no password.
func liarCriteria(rule selection.Rule) selection.Criteria {
	c := sweepCriteria(rule)
	c.Seats, c.NoPassword = 1, true
	return c
}

// usualServers is the default number of servers in these sessions: enough for a coordinated search.
const usualServers = 2000

func drawnGroup(t *testing.T, world string, players int, seed uint64) *sim.Group {
	if world == "matrix" || world == "cities" {
		g, err := sweepGroup(t, world, fmt.Sprintf("world-%d", players))(seed)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	spec, err := sim.NightSpec(usualServers, seed), error(nil)
	if world != "night" {
		spec, err = sim.NamedSpec(world, seed)
	}
	if err != nil {
		t.Fatal(err)
	}
	spec.Places = sim.DrawPlaces(players, seed, func(sim.Region) bool { return true })
	g, err := sim.Generate(spec).Everybody()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func regret(e Outcome) float64 { return e.Regret }
func cost(e Outcome) float64   { return e.Cost }

// quantileOf returns what a share of the sessions that found a server stay within.
func quantileOf(sessions []Outcome, share float64, of func(Outcome) float64) float64 {
	found := slices.DeleteFunc(slices.Clone(sessions), func(e Outcome) bool { return !e.Found })
	if len(found) == 0 {
		return math.Inf(1)
	}
	return sim.Quantile(found, share, of)
}

// dearFrom is how many ms a lie must cost before the room should say that the choice hangs on that
// player.
const dearFrom = 2

func liarReport(sessions []Outcome) string {
	lost, named, wronged, out, longest, dear, told := 0, 0, 0, 0, 0.0, 0, 0
	for _, e := range sessions {
		if e.Found && e.Cost > dearFrom {
			dear++
			if e.Told >= dearFrom {
				told++
			}
		}
		if !e.Found {
			lost++
		}
		named += e.Named
		wronged += len(e.Wronged)
		out += e.LeftOut
		longest = max(longest, e.Seconds)
	}
	at := func(share float64, of func(Outcome) float64) float64 { return quantileOf(sessions, share, of) }
	return fmt.Sprintf("%.1f / %.1f / %.1f | %.1f / %.1f | %d | %d | %d, %d | %.0f | %d of %d |",
		at(0.5, regret), at(0.95, regret), at(1, regret), at(0.95, cost), at(1, cost), lost, named, wronged, out, longest, told, dear)
}

// TestCrudeLies checks that a liar among eight is named, that nobody else is, and that the others
// get as good a server as without the liar.
func TestCrudeLies(t *testing.T) {
	t.Parallel()
	g := drawnGroup(t, "et2007", 8, 1)
	for _, lie := range append(crudeLies(), Attack{Name: "honest"}) {
		liars := []int{3}
		if lie.plan == nil {
			liars = nil
		}
		for _, rule := range []selection.Rule{selection.Mean, selection.Minimax} {
			e, err := Attacked(g, liars, lie, sim.GroupOptions{Criteria: sweepCriteria(rule), Tuning: room.Tuning{Budget: -1}}, 1)
			if err != nil {
				t.Fatal(err)
			}
			if (e.Named == 1) != (lie.Name != "honest") || e.Wronged != nil || !e.Found || e.Regret > 2 {
				t.Errorf("%s, %s: %+v", lie.Name, rule, e)
			}
		}
	}
}

// TestPlausibleLiesAreTold checks lies that nobody can recognise: the room says how much hangs on
// them.
func TestPlausibleLiesAreTold(t *testing.T) {
	lies := plausibleLies()
	lie := lies[slices.IndexFunc(lies, func(a Attack) bool { return a.Name == "favourite -30 %" })]
	for seed := uint64(9501); ; seed++ {
		g := drawnGroup(t, "night", 8, seed)
		e, err := Attacked(g, []int{int(seed) % 8}, lie, sim.GroupOptions{Criteria: liarCriteria(selection.Mean)}, seed)
		if err != nil {
			t.Fatal(err)
		}
		if e.Regret > 2*dearFrom && e.Named == 0 { // the search missed some of it by itself
			if e.Told < dearFrom {
				t.Errorf("seed %d: %.1f ms worse than the best, and %.1f ms are said to hang on the liar", seed, e.Regret, e.Told)
			}
			return
		}
	}
}
