package simulated

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/internal/sim"
	"muster/selection"
)

// The sessions of honest players are for measuring. The gate runs a few of them:
//
//	go -C bench test ./simulated -run TestHonestEvenings -v -timeout 0 -honest-sessions 1000
var (
	honestSessions = flag.Int("honest-evenings", 0, "evenings of honest players")
	honestMisses   = flag.Uint("honest-misses", 15, "how many networks of a hundred do not answer some of them")
	honestFrom     = flag.Uint64("honest-from", 70_000, "the first one's seed")
	honestRules    = flag.String("honest-rules", "mean", "rules of the rooms, one evening after the other")
	maxHonest      = flag.Int("honest-most", 12, "how many players an evening has at most")
	honestOf       = flag.String("honest-of", "night", "kind of worlds: night, or matrix with -sweep-matrix and -sweep-servers")
	honestLoss     = flag.Float64("honest-loss", 0, "share of packets that poor servers lose")
	honestPoor     = flag.Float64("honest-poor", 0.4, "share of the machines whose servers are poor, if those lose any")
	honestLog      = flag.Bool("honest-log", true, "tell what happened in evenings in which somebody was named")
)

// honest is a session of honest players, and what was unusual about it.
type honest struct {
	Outcome
	rule   selection.Rule
	traits []string
	// poor says that the server they were sent to loses packets. clean is how much worse it is than
	// the best that loses none, in ms.
	poor  bool
	clean float64
}

// TestHonestEvenings checks that no honest player is left out, or has numbers doubted, whatever the
// players' lines are like.
func TestHonestEvenings(t *testing.T) {
	t.Parallel()
	n := *honestSessions
	if n == 0 {
		n = 6
	}
	draw := honestWorld
	if *honestOf == "matrix" {
		draw = honestMatrix(t)
	}
	all := make([]honest, n)
	err := sim.Parallel(context.Background(), n, func(i int) (err error) {
		all[i], err = honestSession(draw, *honestFrom+uint64(i))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	of := map[selection.Rule][]honest{}
	for i, e := range all {
		of[e.rule] = append(of[e.rule], e)
		for _, trait := range e.traits {
			count[strings.SplitN(trait, ": ", 2)[0]]++
		}
		if e.Wronged == nil && e.LeftOut == 0 && e.Found {
			continue
		}
		var log strings.Builder
		for _, note := range e.Log {
			if *honestLog {
				log.WriteString(note.At.Format("\n  04:05.0 ") + note.String())
			}
		}
		t.Errorf("seed %d, %s, found %v, regret %.1f ms, %d left out, who lost %.1f ms, wronged %q, %q%s",
			*honestFrom+uint64(i), e.rule, e.Found, e.Regret, e.LeftOut, e.Lost, e.Wronged, e.traits, &log)
	}
	if len(of) > 1 {
		for _, rule := range slices.Sorted(maps.Keys(of)) {
			t.Logf("%s: %s", rule, honestReport(of[rule]))
		}
	}
	t.Logf("%s; %v", honestReport(all), count)
}

func honestReport(all []honest) string {
	var sessions []Outcome
	wronged, out, lost, poor, cost := 0, 0, 0, 0, 0.0
	var clean []float64
	for _, e := range all {
		sessions = append(sessions, e.Outcome)
		wronged, out = wronged+len(e.Wronged), out+e.LeftOut
		cost = max(cost, e.Lost)
		switch {
		case !e.Found:
			lost++
			continue
		case e.poor:
			poor++
		}
		clean = append(clean, e.clean)
	}
	at := func(share float64, of func(Outcome) float64) float64 { return quantileOf(sessions, share, of) }
	seconds := func(e Outcome) float64 { return e.Seconds }
	text := fmt.Sprintf("%d evenings: %d honest players wronged, %d left out, who lost %.1f ms at most, %d "+
		"evenings lost, regret %.1f / %.1f / %.1f ms, %.0f / %.0f s",
		len(all), wronged, out, cost, lost, at(0.5, regret), at(0.95, regret), at(1, regret), at(0.5, seconds), at(1, seconds))
	if slices.Sort(clean); *honestLoss > 0 && len(clean) > 0 {
		text += fmt.Sprintf("; on poor servers %d, worse than the best clean one by %.1f / %.1f / %.1f ms", poor,
			clean[len(clean)/2], clean[len(clean)*95/100], clean[len(clean)-1])
	}
	return text
}

// drawn is a world of so many players, and the homes that some of them share, with one line each.
type drawn struct {
	*sim.Group
	mate   map[int]int
	traits []string
}

// honestSession runs a session on a list and with players that draw drew, on lines of all kinds.
func honestSession(draw func(rng *rand.Rand, rule selection.Rule, seed uint64) (drawn, error), seed uint64) (honest, error) {
	rng := rand.New(rand.NewPCG(seed, 0x686f6e657374))
	rules := strings.Split(*honestRules, ",")
	h := honest{rule: selection.Rule(rules[seed%uint64(len(rules))])}
	g, err := draw(rng, h.rule, seed)
	if err != nil {
		return h, err
	}
	h.traits = g.traits
	o := sim.GroupOptions{Criteria: liarCriteria(h.rule)}
	o.Rates = map[int]float64{}
	for i, v := range g.Vantages {
		if rng.IntN(12) == 0 {
			h.traits = append(h.traits, fmt.Sprintf("slow: %d", i))
			o.Rates[i] = 25
		}
		if m, shares := g.mate[i]; shares {
			h.traits = append(h.traits, fmt.Sprintf("household: %d", i))
			g.Homes, g.Vantages[i] = append(g.Homes, g.Homes[m]), g.Vantages[m]
			continue
		}
		g.Homes = append(g.Homes, netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}))
		if rng.IntN(4) == 0 {
			h.traits = append(h.traits, fmt.Sprintf("loses 2 %%: %d", i))
			g.Vantages[i] = lossy(v, seed+uint64(i), func(int) float64 { return 0.02 })
		}
		if rng.IntN(25) == 0 {
			h.traits = append(h.traits, fmt.Sprintf("misses networks: %d", i))
			g.Vantages[i] = missing(g.Vantages[i], *honestMisses)
		}
	}
	poor := func(server int) bool {
		addr := g.Vantages[0].Servers[server].Addr.Addr().As16()
		return *honestLoss > 0 && rand.New(rand.NewPCG(seed, hash(string(addr[:])))).Float64() < *honestPoor
	}
	if *honestLoss > 0 {
		for i, v := range g.Vantages { // the players of a household have packets of their own, too
			g.Vantages[i] = lossy(v, seed+uint64(1000+i), func(server int) float64 {
				if poor(server) {
					return *honestLoss
				}
				return 0
			})
		}
	}
	if h.Outcome, err = Attacked(g.Group, nil, Attack{}, o, seed); err == nil && h.Found {
		h.poor = poor(h.Server)
		clean := &sim.Group{Players: g.Players}
		for _, v := range g.Vantages {
			clean.Vantages = append(clean.Vantages, without(v, poor))
		}
		best := clean.Truth(o.WithDefaults(len(g.Players)).Criteria)
		best.Group = g.Group
		_, h.clean = best.Regret(h.Server)
	}
	return h, err
}

// honestWorld returns two players and more, near each other or over the world, on a short list or a
// long one. A player with a satellite's ping keeps no limit, and is rightly left out of a room with
// limits. So such rooms have no such player.
func honestWorld(rng *rand.Rand, rule selection.Rule, seed uint64) (d drawn, err error) {
	spec := sim.NightSpec([]int{300, 1000, usualServers}[rng.IntN(3)], seed)
	if rng.IntN(4) == 0 {
		if spec, err = sim.NamedSpec("et2007", seed); err != nil {
			return d, err
		}
	}
	d.traits = []string{fmt.Sprintf("list of %d", spec.Servers)}
	players := 2 + rng.IntN(*maxHonest-1)
	spec.Places = sim.DrawPlaces(players, seed, func(sim.Region) bool { return true })
	if rng.IntN(2) == 0 {
		spec.Places = sim.DrawPlaces(players, seed, func(r sim.Region) bool { return r == sim.Europe })
		if rng.IntN(3) == 0 {
			far, err := sim.NamedPlaces("AU")
			if err != nil {
				return d, err
			}
			spec.Places[rng.IntN(players)] = far[0]
			d.traits = append(d.traits, "one far away")
		}
	}
	for i := range spec.Places {
		if rng.IntN(20) == 0 && sweepCriteria(rule).Limits == nil {
			spec.Places[i].Access = 550 * time.Millisecond
			d.traits = append(d.traits, fmt.Sprintf("satellite: %d", i))
		}
	}
	d.mate = drawMates(rng, players)
	for i := range players {
		if m, shares := d.mate[i]; shares {
			spec.Places[i] = spec.Places[m]
		}
	}
	d.Group, err = sim.Generate(spec).Everybody()
	return d, err
}

// honestMatrix returns two players and more on hosts of a matrix.
func honestMatrix(t *testing.T) func(rng *rand.Rand, rule selection.Rule, seed uint64) (drawn, error) {
	m, list := sweepRoundTrips(t), sweepList(t)
	return func(rng *rand.Rand, _ selection.Rule, seed uint64) (d drawn, err error) {
		players := 2 + rng.IntN(*maxHonest-1)
		group := fmt.Sprintf("world-%d", players)
		d.traits, d.mate = []string{group}, drawMates(rng, players)
		d.Group, err = m.OnMatrix(list(seed), group, seed)
		return d, err
	}
}

// drawMates draws shared homes: a later player may live in an earlier player's.
func drawMates(rng *rand.Rand, players int) map[int]int {
	mate := map[int]int{}
	for i := 1; i < players; i++ {
		if rng.IntN(8) == 0 {
			mate[i] = rng.IntN(i)
		}
	}
	return mate
}

// lossy returns the vantage over a line that loses a share of its packets, by server.
func lossy(v *sim.Vantage, seed uint64, share func(server int) float64) *sim.Vantage {
	lossy := *v
	lossy.Sample = func(server int, n uint64) (time.Duration, bool) {
		rtt, lost := v.Sample(server, n)
		draw := rand.New(rand.NewPCG(seed^uint64(server)<<32, n))
		return rtt, lost || draw.Float64() < share(server)
	}
	return &lossy
}

// without returns the vantage with some servers silent.
func without(v *sim.Vantage, some func(server int) bool) *sim.Vantage {
	few := *v
	few.RTT = slices.Clone(v.RTT)
	for server := range v.Servers {
		if some(server) {
			few.RTT[server] = sim.Silent
		}
	}
	return &few
}

// missing returns the vantage over a line that n of a hundred networks do not answer.
func missing(v *sim.Vantage, n uint) *sim.Vantage {
	return without(v, func(server int) bool { return uint(v.Servers[server].ASN%100) < n })
}
