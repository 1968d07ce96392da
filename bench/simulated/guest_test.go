package simulated

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/room"
	"muster/internal/sim"
	"muster/selection"
	"muster/selection/coordinate"
	"muster/selection/estimate"
)

// These flags measure the estimates of guests' pings, and the gain of a choice from them. The gate
// runs a small part:
//
//	go -C bench test ./simulated -run TestGuests$ -v -timeout 0 -guest-worlds 20 [-guest-of css2007,et2007,distance,cables]
//	go -C bench test ./simulated -run TestGuests -v -guest-worlds 400 -guest-of cities -sweep-matrix FILE -guest-countries FILE
//	go -C bench test ./simulated -run TestGuests -v -guest-worlds 20 -guest-of matrix -sweep-matrix FILE -sweep-servers FILE
var (
	guestWorlds    = flag.Int("guest-worlds", 0, "how many worlds of each kind")
	guestFrom      = flag.Uint64("guest-from", 1, "first seed")
	guestOf        = flag.String("guest-of", "css2007", "worlds: css2007, distance, matrix, cities")
	guestCountries = flag.String("guest-countries", "", "the country of each row of -sweep-matrix, for -guest-of cities")
)

// nearness is what the guest and the first player have in common.
type nearness string

const (
	inNetwork nearness = "network"
	inCountry nearness = "country"
	inNeither nearness = "neither"
)

// guestCase is a guest and the players that the guest may play with. The case says how near the
// first player is.
type guestCase struct {
	near    nearness
	guest   estimate.Place
	players []estimate.Place
	servers []discovery.Server
	// rtt returns the RTT of the guest (-1) or a player. Negative is silence.
	rtt func(player, server int) time.Duration
	// sites are machines that may be landmarks, and site returns one.
	sites int
	site  func(i int) site
}

// Of long lists every errorsKept-th error is kept.
const errorsKept, shortOne = 16, 1000

// guestResult is the result of one case with so many players.
type guestResult struct {
	typical float64 // the claimed error of the estimates, in ms
	offered bool
	errors  []float64 // of all servers, in ms
	atBest  float64   // of the server chosen with the estimate
	within  float64   // share of the errors within the claimed one
	with    float64   // regret of everybody, in ms
	without float64
	price   float64 // the loss of the others if the guest counts
	truly   float64 // the same if the guest had measured
}

func (c *guestCase) run(players int, by selection.Rule) (r guestResult) {
	sites := c.landmarks(players)
	e := estimate.New(c.guest, c.players[:players], known(sites, players)...)
	r.typical, r.offered = float64(e.Typical())/float64(time.Millisecond), e.IsWorthwhile(by)
	names := []string{"a", "b", "c", "d", "e", "f", "g", "guest"}
	names = append(names[:players:players], "guest")
	truth, guess := selection.NewTable(names, len(c.servers)), selection.NewTable(names, len(c.servers))
	alone := selection.NewTable(names[:players], len(c.servers))
	seen := make([]time.Duration, players)
	compared := 0
	for server, s := range c.servers {
		silent := c.rtt(-1, server) < 0 || slices.ContainsFunc(sites, func(s site) bool { return s.isAt(server) })
		for p := range players {
			seen[p] = c.rtt(p, server)
			silent = silent || seen[p] < 0
		}
		if silent {
			continue
		}
		for p := range players {
			for _, t := range []*selection.Table{truth, guess, alone} {
				t.Set(p, server, discovery.Answered, seen[p])
			}
		}
		got := e.Estimate(s.Country, seen)
		truth.Set(players, server, discovery.Answered, c.rtt(-1, server))
		guess.Set(players, server, discovery.Answered, got.RTT)
		off := math.Abs(float64(got.RTT-c.rtt(-1, server))) / float64(time.Millisecond)
		if compared++; off <= float64(got.Error)/float64(time.Millisecond) {
			r.within++
		}
		if compared%errorsKept == 0 || len(c.servers) < shortOne {
			r.errors = append(r.errors, off)
		}
	}
	r.within /= float64(max(1, compared))
	servers := selection.Servers{List: c.servers, Infos: map[int]*discovery.Info{}}
	choose := func(t *selection.Table) int {
		return selection.NewFilter(servers, selection.Criteria{By: by, Top: 1, Reasons: -1}).Select(t).Chosen.Server
	}
	// score returns the rule's score of a server for the players, from one on. -1 is the guest.
	score := func(server, from int) float64 {
		var rtts []float64
		for p := from; p < players; p++ {
			rtts = append(rtts, float64(c.rtt(p, server))/float64(time.Millisecond))
		}
		return selection.Criteria{By: by}.Objective(names[:len(rtts)]).Score(rtts)
	}
	best, with, without := choose(truth), choose(guess), choose(alone)
	r.with, r.without = score(with, -1)-score(best, -1), score(without, -1)-score(best, -1)
	r.price, r.truly = score(with, 0)-score(without, 0), score(best, 0)-score(without, 0)
	for p := range players {
		seen[p] = c.rtt(p, with)
	}
	r.atBest = math.Abs(float64(e.Estimate(c.servers[with].Country, seen).RTT-c.rtt(-1, with))) / float64(time.Millisecond)
	return r
}

func TestGuests(t *testing.T) {
	taste := *guestWorlds == 0
	if taste { // for the gate
		*guestWorlds, *guestOf = 1, "taste"
	}
	for _, of := range strings.Split(*guestOf, ",") {
		results := map[string][]guestResult{}
		for world := range *guestWorlds {
			for _, c := range guestCases(t, of, *guestFrom+uint64(world)) {
				for _, by := range []selection.Rule{selection.Mean, selection.Minimax, selection.Fairness} {
					for _, n := range []int{1, 3, 7} {
						if n == 1 && by == selection.Fairness {
							continue // a single player deviates from nobody
						}
						name := fmt.Sprintf("%-8s %-9s %d measured, %s", of, c.near, n, by)
						r := c.run(n, by)
						results[name] = append(results[name], r)
						offer := fmt.Sprintf("%-8s %s, %s", of, map[bool]string{true: "offered", false: "not offered"}[r.offered], by)
						results[offer] = append(results[offer], r)
						bucket := fmt.Sprintf("%-8s said to be off by %02.0f, %s", of, 2*math.Ceil(r.typical/2), by)
						results[bucket] = append(results[bucket], r)
					}
				}
			}
		}
		for _, name := range slices.Sorted(func(yield func(string) bool) {
			for name := range results {
				if !yield(name) {
					return
				}
			}
		}) {
			all := results[name]
			column := func(of func(guestResult) float64) []float64 {
				var values []float64
				for _, r := range all {
					values = append(values, of(r))
				}
				slices.Sort(values)
				return values
			}
			var errors []float64
			for _, r := range all {
				errors = append(errors, r.errors...)
			}
			slices.Sort(errors)
			at := func(values []float64, q float64) float64 { return values[int(q*float64(len(values)-1))] }
			mean := func(values []float64) float64 {
				sum := 0.0
				for _, v := range values {
					sum += v
				}
				return sum / float64(len(values))
			}
			with, without := column(func(r guestResult) float64 { return r.with }), column(func(r guestResult) float64 { return r.without })
			worse := 0
			for _, r := range all {
				if r.with > r.without+1 {
					worse++
				}
			}
			atBest := column(func(r guestResult) float64 { return r.atBest })
			t.Logf("%s: off by %.0f, p90 %.0f (at the choice %.0f, %.0f; within the error said %.0f %%); regret "+
				"counted in %.1f, p90 %.1f, left out %.1f, p90 %.1f; worse in %d of %d; the others lose %.1f, by the truth %.1f",
				name, at(errors, 0.5), at(errors, 0.9), at(atBest, 0.5), at(atBest, 0.9), 100*mean(column(func(r guestResult) float64 {
					return r.within
				})),
				mean(with), at(with, 0.9), mean(without), at(without, 0.9), worse, len(all),
				mean(column(func(r guestResult) float64 { return r.price })), mean(column(func(r guestResult) float64 { return r.truly })))
			if taste && strings.Contains(name, "network") && mean(with) > mean(without)+1 {
				t.Errorf("%s: counting guests of a player's network in makes choices worse", name)
			}
		}
	}
}

// chairs are the places of a case's guest, first, and its players.
type chairs []int

// guestCases returns some guests of a world, each with players. The first player is in the guest's
// network, in its country, or in neither.
func guestCases(t *testing.T, of string, seed uint64) []guestCase {
	switch of {
	case "cities":
		return cityCases(t, seed)
	case "matrix":
		return matrixCases(t, seed)
	}
	const guests, others = 3, 7
	rng := rand.New(rand.NewPCG(seed, 0x677565737473))
	var places []sim.Place
	add := func(metro int, name string) int {
		m := cities[metro]
		places = append(places, sim.Place{Name: name, Country: m.Country, Lat: m.Lat, Lon: m.Lon, Access: milliseconds(5 + 15*rng.Float64())})
		return len(places) - 1
	}
	region := sim.CityRegions()
	var cases []guestCase
	var sitting []chairs
	for guest := range guests {
		together := rng.IntN(2) == 0 // friends live in one part of the world, or all over it
		all := rng.Perm(len(cities))
		home, name := all[0], fmt.Sprintf("guest %d", guest)
		mates := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return cities[i].Country != cities[home].Country })
		foreign := slices.DeleteFunc(slices.Clone(all), func(i int) bool {
			return cities[i].Country == cities[home].Country || together && region[i] != region[home]
		})
		if len(foreign) == 0 {
			continue
		}
		at := add(home, name)
		var rest chairs
		for i := range others {
			rest = append(rest, add(foreign[i%len(foreign)], fmt.Sprintf("%s's friend %d", name, i)))
		}
		for _, near := range []nearness{inNetwork, inCountry, inNeither} {
			sit, c := chairs{at}, guestCase{near: near, guest: estimate.Place{Country: cities[home].Country, ASN: 1}}
			switch near {
			case inNetwork: // takes the guest's ways, which worlds draw by name
				sit = append(sit, add(mates[rng.IntN(len(mates))], name))
			case inCountry:
				sit = append(sit, add(mates[len(mates)-1], name+"'s mate"))
			}
			sit = append(sit, rest...)[:1+others]
			for i, place := range sit[1:] {
				p := estimate.Place{Country: places[place].Country, ASN: uint32(10 + i)}
				if near == inNetwork && i == 0 {
					p.ASN = 1
				}
				c.players = append(c.players, p)
			}
			cases, sitting = append(cases, c), append(sitting, sit)
		}
	}
	var w *sim.World
	switch of {
	case "css2007", "et2007":
		spec, err := sim.NamedSpec(of, seed)
		if err != nil {
			t.Fatal(err)
		}
		spec.Places = places
		w = sim.Generate(spec)
	case "distance":
		w = sim.DistanceWorld(sweepList(t)(seed), places, seed)
	case "cables":
		w = sim.CableWorld(sweepList(t)(seed), places, seed)
	default:
		spec := sim.NightSpec(500, seed)
		spec.Places = places
		w = sim.Generate(spec)
	}
	list := w.List()
	for i := range cases {
		cases[i].servers, cases[i].rtt = list, func(player, server int) time.Duration {
			if s := w.Servers[server]; s.Silent || s.Refusing {
				return sim.Silent
			}
			return w.RTT(sitting[i][1+player], server)
		}
		cases[i].sites, cases[i].site = len(list), func(at int) site {
			return site{estimate.Landmark{Country: list[at].Country, Lat: w.Servers[at].Lat, Lon: w.Servers[at].Lon},
				func(player int) time.Duration { return cases[i].rtt(player, at) },
				func(server int) bool { return sim.Network(list[at], 16) == sim.Network(list[server], 16) }}
		}
	}
	return cases
}

// cityCases returns people and servers in cities with known countries and measured round trips.
// Their networks are unknown.
func cityCases(t *testing.T, seed uint64) (cases []guestCase) {
	m := sweepRoundTrips(t)
	text, err := os.ReadFile(*guestCountries)
	if err != nil {
		t.Fatal(err)
	}
	var countries []string
	for line := range strings.Lines(string(text)) {
		countries = append(countries, line[:2])
	}
	var list []discovery.Server
	for i, country := range countries {
		list = append(list, discovery.Server{
			Addr:    netip.AddrPortFrom(netip.AddrFrom4([4]byte{80, byte(i >> 8), byte(i), 1}), 1),
			Country: country,
		})
	}
	rng := rand.New(rand.NewPCG(seed, 0x636974696573))
	for _, near := range []nearness{inCountry, inNeither} {
		perm := rng.Perm(len(m))
		isMate := func(i int) bool { return i != perm[0] && countries[i] == countries[perm[0]] }
		sit := chairs{perm[0]}
		if near == inCountry {
			at := slices.IndexFunc(perm, isMate)
			if at < 0 {
				continue
			}
			sit = append(sit, perm[at])
		}
		// friends live in one part of the world, or all over it
		rest := slices.DeleteFunc(slices.Clone(perm[1:]), func(i int) bool { return isMate(i) })
		if rng.IntN(2) == 0 {
			near := m.NearestTo(perm[0])
			near = slices.DeleteFunc(near, func(i int) bool { return !slices.Contains(rest, i) })[:len(rest)/4]
			rng.Shuffle(len(near), func(i, j int) { near[i], near[j] = near[j], near[i] })
			rest = near
		}
		sit = append(sit, rest...)[:8]
		c := guestCase{near: near, servers: list, guest: estimate.Place{Country: countries[sit[0]]}}
		for _, i := range sit[1:] {
			c.players = append(c.players, estimate.Place{Country: countries[i]})
		}
		c.rtt = func(player, server int) time.Duration {
			if slices.Contains(sit, server) {
				return sim.Silent // no server stands where a player sits
			}
			return milliseconds(m[sit[1+player]][server])
		}
		cases = append(cases, c)
	}
	return cases
}

// Hosts of a matrix without further facts count as in one network, or in one country, by the RTT
// between them, in ms.
const oneNetwork, oneCountry = 3, 20

// matrixCases returns hosts of a matrix without names, and a list whose networks stand on others.
// Countries tell which networks are together, but not how far they are.
func matrixCases(t *testing.T, seed uint64) (cases []guestCase) {
	m, list := sweepRoundTrips(t), sweepList(t)(seed)
	rng := rand.New(rand.NewPCG(seed, 0x686f737473))
	fitted := fittedTo(m)
	for _, near := range []nearness{inNetwork, inCountry} {
		for range 100 {
			perm := slices.DeleteFunc(rng.Perm(len(m)), func(host int) bool { return fitted[host] })
			mate := slices.IndexFunc(perm[1:], func(i int) bool {
				ms := m[perm[0]][i]
				return near == inNetwork && ms < oneNetwork || near == inCountry && ms >= oneNetwork && ms < oneCountry
			})
			if mate < 0 {
				continue
			}
			sit := chairs{perm[0], perm[1+mate]}
			for _, i := range perm[1:] {
				if len(sit) < 8 && m[perm[0]][i] >= oneCountry {
					sit = append(sit, i)
				}
			}
			w := m.World(list, sit, seed)
			servers := w.List()
			for i := range servers {
				servers[i].Country = "" // the matrix's country is not where the server stands
			}
			c := guestCase{near: near, servers: servers, guest: estimate.Place{Country: "X0", ASN: 1}}
			for i := range sit[1:] {
				c.players = append(c.players, estimate.Place{Country: fmt.Sprintf("X%d", i), ASN: uint32(10 + i)})
			}
			if near == inNetwork {
				c.players[0].ASN = 1
			}
			c.rtt = func(player, server int) time.Duration {
				if w.Servers[server].Silent {
					return sim.Silent
				}
				return w.RTT(1+player, server)
			}
			c.sites, c.site = len(m), func(host int) site {
				way := func(player int) time.Duration {
					if fitted[host] || slices.Contains(sit, host) || m[perm[0]][host] < oneNetwork {
						return sim.Silent // no landmark stands where somebody sits
					}
					return milliseconds(m[sit[1+player]][host])
				}
				return site{rtt: way, isAt: func(server int) bool {
					guest, player := w.RTT(0, server)-way(-1), w.RTT(1, server)-way(0)
					return (guest - player).Abs() < time.Microsecond
				}}
			}
			cases = append(cases, c)
			break
		}
	}
	return cases
}

// searched returns the true regret, in ms, of the players' choice after a coordinated search, and
// how many servers each was asked for. The planner knows of the guest or does not, and the guest
// counts by an estimate or not at all.
func (c *guestCase) searched(players int, by selection.Rule, knows, counted bool, seed uint64) (regret, probes float64) {
	e := estimate.New(c.guest, c.players[:players])
	list := room.Shared(c.servers, nil)
	places := map[netip.AddrPort]int{}
	for i, s := range c.servers {
		places[s.Addr] = i
	}
	rtt := func(player, server int) time.Duration { return c.rtt(player, places[list[server].Addr]) }
	names := []string{"a", "b", "c", "d", "e", "f", "g", "guest"}
	names = append(names[:players:players], "guest")
	servers := selection.Servers{List: list, Infos: map[int]*discovery.Info{}}
	criteria := selection.Criteria{By: by, Top: 1, Reasons: -1}
	options := coordinate.Options{Seed: seed, Enough: 500 * time.Microsecond} // as in rooms
	guess := func(country string, rtts []time.Duration) time.Duration { return e.Estimate(country, rtts).RTT }
	if knows {
		options.Guests = []coordinate.Guest{{Name: "guest", RTT: guess}}
	}
	p := coordinate.New(topology.New(list), servers, selection.NewTable(names[:players], len(list)), criteria, options)
	table := selection.NewTable(names, len(list))
	alone := selection.NewTable(names[:players], len(list))
	for !p.Progress().Done {
		batches := p.Next()
		if len(batches) == 0 {
			break
		}
		for _, b := range batches {
			for _, server := range b.Servers {
				result := discovery.Result{Server: server, State: discovery.Lost}
				if d := rtt(b.Player, server); d >= 0 {
					result.State, result.RTT = discovery.Answered, d
				}
				p.Observe(b.Player, result)
				for _, t := range []*selection.Table{table, alone} {
					t.Set(b.Player, server, result.State, result.RTT)
				}
			}
		}
	}
	seen := make([]time.Duration, players)
	for server := range list {
		known := true
		for player := range players {
			state, d := table.At(player, server)
			seen[player], known = d, known && state == discovery.Answered
		}
		if known {
			table.Set(players, server, discovery.Answered, guess(list[server].Country, seen))
		}
	}
	if !counted {
		table = alone
	}
	chosen := selection.NewFilter(servers, criteria).Select(table).Chosen
	score := func(server int) float64 {
		var rtts []float64
		for player := -1; player < players; player++ {
			d := rtt(player, server)
			if d < 0 {
				return math.Inf(1)
			}
			rtts = append(rtts, float64(d)/float64(time.Millisecond))
		}
		return criteria.Objective(names[:len(rtts)]).Score(rtts)
	}
	best := math.Inf(1)
	for server := range list {
		best = min(best, score(server))
	}
	if chosen == nil || math.IsInf(score(chosen.Server), 1) {
		return math.NaN(), p.Progress().Probes
	}
	return score(chosen.Server) - best, p.Progress().Probes
}

// TestGuestsSearched measures the gain of a coordinated search that knows of the guest over one for
// the players alone. See bench/experiments/guest-estimates.md.
func TestGuestsSearched(t *testing.T) {
	worlds, of, groups, rules := *guestWorlds, *guestOf, []int{1, 3, 7}, []selection.Rule{selection.Mean, selection.Minimax}
	taste := worlds == 0 || of == "taste" // as TestGuests has set it
	if taste {                            // for the gate
		worlds, of, groups, rules = 1, "taste", groups[:1], rules[:1]
	}
	for _, of := range strings.Split(of, ",") {
		for _, by := range rules {
			type sums struct{ regret, probes, better, worse float64 }
			var none, some, out sums
			n := 0.0
			for world := range worlds {
				seed := *guestFrom + uint64(world)
				for _, c := range guestCases(t, of, seed) {
					for _, players := range groups {
						if !estimate.New(c.guest, c.players[:players]).IsWorthwhile(by) {
							continue
						}
						regret, probes := c.searched(players, by, false, true, seed)
						alone, _ := c.searched(players, by, false, false, seed)
						known, asked := c.searched(players, by, true, true, seed)
						if math.IsNaN(regret + alone + known) {
							continue
						}
						n++
						none.regret, none.probes = none.regret+regret, none.probes+probes
						out.regret += alone
						some.regret, some.probes = some.regret+known, some.probes+asked
						if known < regret-0.5 {
							some.better++
						} else if known > regret+0.5 {
							some.worse++
						}
					}
				}
			}
			if n == 0 {
				continue
			}
			t.Logf("%s, %s: %.0f searches: left out %.2f ms; counted in after a search without the guest %.2f "+
				"ms (%.0f servers each), with %.2f ms (%.0f): better by 0.5 ms in %.0f, worse in %.0f",
				of, by, n, out.regret/n, none.regret/n, none.probes/n, some.regret/n, some.probes/n, some.better, some.worse)
			if taste && some.regret > none.regret+n {
				t.Error("a search that knows of the guest finds worse servers")
			}
		}
	}
}
