package simulated

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/sim"
	"muster/selection"
	"muster/selection/excess"
	"muster/selection/memory"
)

// TestOverstated measures what players of a match gain who delay the answers to their pings, and who
// is named. Two sides of four ask as in a room, their captains ban, and the figures are by true pings:
//
//	S="-sweep-of cities -sweep-matrix rtt.txt.gz -sweep-cities places.txt -sweep-servers list.csv.gz"
//	go -C bench test ./simulated -run TestOverstated -v -timeout 0 $S -overstated 48 -sweep-from 710000
var (
	overstatedWorlds = flag.Int("overstated", 0, "how many worlds")
	overstatedRules  = flag.String("overstated-rules", "even-sides", "rules of the matches")
	overstatedAsk    = flag.Int("overstated-ask", 12, "servers near the host that everybody is asked about")
	overstatedKnown  = flag.Float64("overstated-known", 0, "share of the servers' networks that players' programs remember from an honest evening")
	overstatedHosts  = flag.String("overstated-hosts", "known", "what the room knows of the host's place: known or unknown")
)

// overstatement is what some players' lines and programs add to their pings.
type overstatement struct {
	name string
	// players are those of side a who do it, and isHonest says that their lines are so long.
	players  int
	isHonest bool
	// isNew says that an honest line is so long for the first time.
	isNew bool
	// pings returns what is told of a ping, in ms, and line is what their connections are longer by.
	pings func(ms, drawn float64) float64
	line  func(drawn float64) float64
}

func overstatements() []overstatement {
	more := func(low, high float64) func(ms, drawn float64) float64 {
		return func(ms, drawn float64) float64 { return ms + low + (high-low)*drawn }
	}
	line := func(low, high float64) func(drawn float64) float64 {
		return func(drawn float64) float64 { return low + (high-low)*drawn }
	}
	fully := func(ms, _ float64) float64 { return 1.3 * ms }
	none := func(float64) float64 { return 0 }
	return []overstatement{
		{"nobody", 0, true, false, more(0, 0), none},
		{"one ×1.3", 1, false, false, fully, none},
		{"one +30", 1, false, false, more(30, 30), none},
		{"four ×1.3", 4, false, false, fully, none},
		{"four +30", 4, false, false, more(30, 30), none},
		{"one +30, and the line", 1, false, false, more(30, 30), line(30, 30)},
		{"four +30, and the lines", 4, false, false, more(30, 30), line(30, 30)},
		{"one on slow Wi-Fi", 1, true, false, more(15, 40), line(15, 40)},
		{"two with VPNs", 2, true, false, more(30, 120), line(30, 120)},
		{"four with long home lines", 4, true, false, more(20, 60), line(20, 60)},
		{"one on slow Wi-Fi for once", 1, true, true, more(15, 40), line(15, 40)},
	}
}

// evening is a match whose players have measured.
type evening struct {
	*sim.Group
	list     []discovery.Server // that somebody measured
	of       []int              // their places in the world's list
	pings    []map[int]float64  // that answered, by player and place in the world's list, in ms
	lines    []float64          // round trips to the host, in ms
	earlier  [][]memory.Cell    // what programs remember
	at       excess.Place       // the host's
	atHost   int                // the player whose computer is the host, or -1
	criteria selection.Criteria
	drawn    []float64
	fair     overstatedResult
}

// overstatedEvening lets a group search for a server. Its host stands beside one of the servers. On each
// third evening it is a computer of side b, on whose line the round trips are longer.
func overstatedEvening(g *sim.Group, rule selection.Rule, seed uint64) (*evening, error) {
	e := &evening{Group: g, atHost: -1, criteria: selection.Criteria{By: rule, Sides: map[string]selection.Side{}, Top: captainsSee}}
	for i, name := range g.Players {
		if e.criteria.Sides[name] = selection.SideA; i >= len(g.Players)/2 {
			e.criteria.Sides[name] = selection.SideB
		}
		e.pings = append(e.pings, map[int]float64{})
	}
	s, err := g.NewSession(sim.Coordinated, sim.GroupOptions{Criteria: e.criteria}.WithDefaults(len(g.Players)), seed)
	if err != nil {
		return nil, err
	}
	s.Watch = func(in room.Input) {
		heard, _ := in.(room.Hear)
		report, _ := heard.Message.(wire.Report)
		for _, r := range report.Results {
			if r.State == discovery.Answered {
				player := slices.IndexFunc(s.Peers, func(p *sim.Peer) bool { return p.ID == heard.Player })
				e.pings[player][r.Server] = millis(r.RTT)
			}
		}
	}
	if err := s.Run(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, 0x6f766572))
	list := g.Vantages[0].Servers
	answersAll := func(server int) bool {
		return !slices.ContainsFunc(g.Vantages, func(v *sim.Vantage) bool { return v.RTT[server] < 0 })
	}
	beside, access := -1, 0.0
	for beside < 0 || !answersAll(beside) {
		beside = rng.IntN(len(list))
	}
	if seed%3 == 0 {
		e.atHost = len(g.Players) - 1
		own := g.Vantages[e.atHost].RTT
		for server := range list {
			if answersAll(server) && own[server] < own[beside] {
				beside = server
			}
		}
		access = 5 + 15*rng.Float64()
	}
	for player, v := range g.Vantages {
		e.drawn = append(e.drawn, rng.Float64())
		if e.lines = append(e.lines, millis(v.RTT[beside])+access+rng.ExpFloat64()); player == e.atHost {
			e.lines[player] = 0
		}
	}
	if *overstatedHosts == "known" {
		e.at = excess.Place{Country: list[beside].Country, ASN: list[beside].ASN}
		for _, server := range excess.Near(list, e.at, *overstatedAsk) {
			for player, v := range g.Vantages {
				if v.RTT[server] >= 0 {
					e.pings[player][server] = millis(v.RTT[server]) + rng.ExpFloat64()
				}
			}
		}
	}
	for server, s := range list {
		if slices.ContainsFunc(e.pings, func(of map[int]float64) bool { return of[server] > 0 }) {
			e.list, e.of = append(e.list, s), append(e.of, server)
		}
	}
	e.remember(rng)
	e.fair = e.played(overstatements()[0], false)
	return e, nil
}

// remember gives players an earlier evening. By now RTTs have changed by some per cent, and one route in
// twenty by more.
func (e *evening) remember(rng *rand.Rand) {
	tree := topology.New(e.list)
	for _, v := range e.Vantages {
		var results []discovery.Result
		is := map[netip.Prefix]bool{}
		for server, place := range e.of {
			at := topology.Prefix24.Prefix(e.list[server].Addr.Addr())
			if _, known := is[at]; !known {
				is[at] = rng.Float64() < *overstatedKnown
			}
			changed := max(.7, 1+.05*rng.NormFloat64())
			if rng.IntN(20) == 0 {
				changed = .7 + .7*rng.Float64()
			}
			if v.RTT[place] >= 0 && is[at] {
				rtt := time.Duration(changed*float64(v.RTT[place])) + milliseconds(rng.ExpFloat64())
				results = append(results, discovery.Result{Server: server, State: discovery.Answered, RTT: rtt})
			}
		}
		e.earlier = append(e.earlier, memory.Of(tree, results, time.Unix(1e9, 0)))
	}
}

func millis(d time.Duration) float64 { return d.Seconds() * 1000 }

// captainsSee is how many servers captains ban among.
const captainsSee = 5

// result is how a match ends. Lead is by how many ms the pings of side a are truly lower.
type overstatedResult struct {
	lead  float64
	found []selection.Excess
	// below are the players who play below their claim, by the game server's pings. claimed is by how many ms
	// pings there were overstated.
	below, claimed map[string]float64
}

// played returns the result of a match in which the first players overstate. If isChecked, only what
// lines confirm counts.
func (e *evening) played(o overstatement, isChecked bool) (r overstatedResult) {
	table, lines := selection.NewTable(e.Players, len(e.list)), make([]time.Duration, len(e.Players))
	for player, of := range e.pings {
		isLonger := player < o.players
		if lines[player] = milliseconds(e.lines[player]); isLonger && lines[player] > 0 {
			lines[player] += milliseconds(o.line(e.drawn[player]))
		}
		for server, place := range e.of {
			if ms := of[place]; ms > 0 {
				if isLonger {
					ms = o.pings(ms, e.drawn[player])
				}
				table.Set(player, server, discovery.Answered, milliseconds(ms))
			}
		}
	}
	criteria := e.criteria
	if isChecked {
		earlier := slices.Clone(e.earlier)
		for player := 0; player < o.players && o.isHonest && !o.isNew; player++ {
			earlier[player] = slices.Clone(earlier[player])
			for i := range earlier[player] {
				earlier[player][i].MS = o.pings(earlier[player][i].MS, e.drawn[player])
			}
		}
		r.found, criteria.Excess = excess.Find(e.list, table, lines, earlier, e.at), map[string]selection.Excess{}
		for player, f := range r.found {
			criteria.Excess[e.Players[player]] = f
		}
	}
	left := selection.Select(selection.Servers{List: e.list}, table, criteria).Ranking
	lead := func(r selection.Ranked) float64 { return r.SideMeanMS.B - r.SideMeanMS.A }
	slices.SortStableFunc(left, func(a, b selection.Ranked) int { return cmp.Compare(lead(a), lead(b)) })
	for turn := 0; len(left) > 1; turn++ {
		if turn%2 == 0 {
			left = left[1:]
		} else {
			left = left[:len(left)-1]
		}
	}
	r.claimed = map[string]float64{}
	measured, over, game := map[string]float64{}, map[string]float64{}, map[string]float64{}
	rng := rand.New(rand.NewPCG(uint64(e.of[left[0].Server]), 0x67616d65))
	for player, v := range e.Vantages {
		name, ms := e.Players[player], millis(v.RTT[e.of[left[0].Server]])
		if e.criteria.Sides[name] == selection.SideA {
			r.lead -= ms / float64(len(e.Players)/2)
		} else {
			r.lead += ms / float64(len(e.Players)/2)
		}
		measured[name], game[name] = ms, ms+8+12*rng.Float64()+rng.NormFloat64()
		if player < o.players {
			measured[name] = o.pings(ms, e.drawn[player]) // everybody has looked at it again
			if r.claimed[name] = measured[name] - ms; o.isHonest {
				game[name] = o.pings(game[name], e.drawn[player])
			}
		}
	}
	for player, f := range r.found {
		name := e.Players[player]
		over[name] = measured[name] - f.Off(measured[name], 1)
	}
	r.below = excess.Below(measured, over, game)
	return r
}

func TestOverstated(t *testing.T) {
	of, count := *sweepOf, *overstatedWorlds
	if count == 0 { // a small part, for the gate
		of, count = "night2000", 2
	}
	made := sweepGroup(t, of, "clans-4")
	for rule := range strings.SplitSeq(*overstatedRules, ",") {
		evenings := make([]*evening, count)
		err := sim.Parallel(context.Background(), count, func(world int) error {
			g, err := made(*sweepFrom + uint64(world))
			if err == nil {
				evenings[world], err = overstatedEvening(g, selection.Rule(rule), *sweepFrom+uint64(world))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range overstatements() {
			var row overstatedRow
			for _, e := range evenings {
				row.add(o, e)
			}
			t.Logf("| %s | %s | %s |", rule, o.name, row)
			if !o.isHonest && averageOf(row.checked) > averageOf(row.plain)+1 || row.honest.named > max(2, row.honest.all/50) && !o.isNew {
				t.Errorf("%s: the check moves the choice by %.1f ms, without it are %.1f", o.name, averageOf(row.checked), averageOf(row.plain))
			}
		}
	}
}

// overstatedRow sums matches up. Moves are by how many ms the choice moved in favour of side a, without
// and with a check.
type overstatedRow struct {
	plain, checked []float64
	// named are those with an excess, and below those whom the record names.
	// told and toldBelow are those whose pings in the game tell it.
	liars, honest struct{ all, named, below, told, toldBelow int }
}

func (r *overstatedRow) add(o overstatement, e *evening) {
	plain, checked := e.played(o, false), e.played(o, true)
	r.plain, r.checked = append(r.plain, plain.lead-e.fair.lead), append(r.checked, checked.lead-e.fair.lead)
	for player, f := range checked.found {
		of := &r.honest
		if player < o.players && !o.isHonest {
			of = &r.liars
		}
		if of.all++; f != (selection.Excess{}) {
			of.named++
		}
		isTold := checked.claimed[e.Players[player]] >= tellable
		if of.told += oneIf(isTold); checked.below[e.Players[player]] > 0 {
			of.below, of.toldBelow = of.below+1, of.toldBelow+oneIf(isTold)
		}
	}
}

// tellable is how many ms a ping must be overstated by for the game to tell: as many as honest game pings
// differ by, and a few of their noise.
const tellable = 15

func oneIf(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (r overstatedRow) String() string {
	return fmt.Sprintf("%.1f | %.1f | %d, %d of %d, %d of %d told | %d, %d of %d", averageOf(r.plain), averageOf(r.checked),
		r.liars.named, r.liars.below, r.liars.all, r.liars.toldBelow, r.liars.told, r.honest.named, r.honest.below, r.honest.all)
}

func averageOf(of []float64) (m float64) {
	for _, x := range of {
		m += x / float64(len(of))
	}
	return m
}
