package coordinate_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/selection"
	"muster/selection/coordinate"
)

// maxPlayers is the most players of a session.
const maxPlayers = 8

// smallWorld is a list of some servers, several on a machine. Some are silent for all or for one
// player, and some are unsuitable.
type smallWorld struct {
	servers selection.Servers
	// says holds what each server reports of itself if it answers.
	says []discovery.Info
	// rtts are by player and server. 0 is silence.
	rtts     [maxPlayers][]time.Duration
	criteria selection.Criteria
}

// newSmallWorld draws a world and criteria. A whole machine may be silent or, with ports, a single
// server.
func newSmallWorld(rng *rand.Rand, ports bool) *smallWorld {
	w := &smallWorld{}
	countries, machines := 1+rng.IntN(5), 1+rng.IntN(40)
	for m := range machines {
		country, network := rng.IntN(countries), rng.IntN(8)
		silent, deaf := rng.IntN(8) == 0, rng.IntN(4*maxPlayers)
		addr := netip.AddrFrom4([4]byte{30 + byte(country), byte(network), byte(m), 1})
		var rtts [maxPlayers]time.Duration
		for player := range rtts {
			away := 20 + 60*((country+3*player)%5) + 5*network
			rtts[player] = time.Duration(away)*time.Millisecond + time.Duration(rng.IntN(20_000))*time.Microsecond
			if silent || deaf == player {
				rtts[player] = 0
			}
		}
		for port := range 1 + rng.IntN(3) {
			w.servers.List = append(w.servers.List, discovery.Server{
				Addr: netip.AddrPortFrom(addr, uint16(27960+port)), Country: fmt.Sprintf("%cA", 'A'+country), ASN: uint32(100 + network),
			})
			info := discovery.Info{MaxPlayers: 16, Map: "oa_dm1"}
			switch rng.IntN(6) {
			case 0:
				info.Players = 16 - rng.IntN(maxPlayers)
			case 1:
				info.Map = "oa_dm2"
			}
			w.says = append(w.says, info)
			hushed := ports && rng.IntN(3) == 0
			for player, rtt := range rtts {
				if hushed {
					rtt = 0
				}
				w.rtts[player] = append(w.rtts[player], rtt)
			}
		}
	}
	w.servers.Infos = map[int]*discovery.Info{}
	w.criteria = w.draw(rng)
	return w
}

// draw returns criteria of any rule. Some bar servers.
func (w *smallWorld) draw(rng *rand.Rand) selection.Criteria {
	criteria := selection.Criteria{By: selection.Rules()[rng.IntN(len(selection.Rules()))], Weights: map[string]float64{}}
	if rng.IntN(2) == 0 {
		criteria.Seats = maxPlayers
	}
	if rng.IntN(3) == 0 {
		criteria.Map = "oa_dm1"
	}
	for range rng.IntN(4) {
		criteria.Limits = append(criteria.Limits, time.Duration(50+rng.IntN(250))*time.Millisecond)
	}
	for player := range rng.IntN(maxPlayers) {
		criteria.Weights[playerName(player)] = []float64{0, 0.5, 1, 1, 2}[rng.IntN(5)]
	}
	criteria.Sides = map[string]selection.Side{}
	for player := range rng.IntN(maxPlayers) {
		criteria.Sides[playerName(player)] = selection.Side(rng.IntN(3))
	}
	for range rng.IntN(4) {
		criteria.Vetoes = append(criteria.Vetoes, selection.Veto{Server: w.servers.List[rng.IntN(len(w.says))].Addr})
	}
	return criteria
}

func playerName(player int) string { return fmt.Sprintf("player %d", player) }

// question is a server that a player was asked for.
type question struct{ player, server int }

// session is a planner at work, replaced whenever players come or go, with all it must hold to.
type session struct {
	testing.TB
	*smallWorld
	tree    *topology.Tree
	options coordinate.Options
	planner *coordinate.Planner
	// here are the planner's players.
	here []int
	// waiting are the open questions, oldest first. asked are, by player, those that may not be
	// asked again.
	waiting []question
	asked   map[question]bool
	// lost are questions or answers that were lost on the way.
	lost []question
	load [maxPlayers]int
	// got holds the last result for each question. told holds all RTTs for each question.
	got  map[question]discovery.State
	told map[question]time.Duration
	// trace lists all questions.
	trace []question
	// drift is how much RTTs have grown, as a share.
	drift float64
}

func newSession(t testing.TB, w *smallWorld, players int, options coordinate.Options) *session {
	n := &session{
		TB:         t,
		smallWorld: w,
		tree:       topology.New(w.servers.List),
		options:    options,
		got:        map[question]discovery.State{},
		told:       map[question]time.Duration{},
	}
	for player := range players {
		n.here = append(n.here, player)
	}
	n.regroup()
	return n
}

// regroup makes a new planner for the present players, from what is known.
func (n *session) regroup() {
	n.waiting, n.lost, n.load, n.asked = nil, nil, [maxPlayers]int{}, map[question]bool{}
	var names []string
	for _, player := range n.here {
		names = append(names, playerName(player))
	}
	table := selection.NewTable(names, len(n.says))
	for column, player := range n.here {
		for server := range n.says {
			q := question{player, server}
			table.Set(column, server, n.got[q], n.told[q])
			n.asked[q] = n.got[q] != discovery.Unprobed
		}
	}
	n.planner = coordinate.New(n.tree, n.servers, table, n.criteria, n.options)
}

// next lets the planner ask, and checks that it may ask that.
func (n *session) next() (asked int) {
	for _, b := range n.planner.Next() {
		for _, server := range b.Servers {
			q := question{n.here[b.Player], server}
			switch {
			case n.asked[q]:
				n.Fatalf("player %d is asked for server %d again", q.player, q.server)
			case n.bars(server):
				n.Fatalf("player %d is asked for server %d, which cannot be chosen", q.player, q.server)
			}
			n.asked[q] = true
			n.waiting, n.trace = append(n.waiting, q), append(n.trace, q)
			n.load[q.player]++
			asked++
		}
		budget := cmp.Or(n.options.Budget, 650)
		if player := n.here[b.Player]; budget > 0 && n.load[player] > budget {
			n.Fatalf("player %d is asked %d times, the budget is %d", player, n.load[player], budget)
		}
	}
	n.holds()
	return asked
}

// bars reports whether known facts rule out a server.
func (n *session) bars(server int) bool {
	barred, _ := selection.NewFilter(n.servers, n.criteria).Bars(server)
	return barred
}

// answer answers one of the open questions.
func (n *session) answer(i int) {
	q := n.waiting[i]
	n.waiting = slices.Delete(n.waiting, i, i+1)
	n.tell(q)
}

// lose drops an answer before the planner gets it.
func (n *session) lose(i int) {
	n.lost = append(n.lost, n.waiting[i])
	n.waiting = slices.Delete(n.waiting, i, i+1)
}

// tell reports what a player sees of a server, asked or not.
func (n *session) tell(q question) {
	rtt := n.rtts[q.player][q.server]
	result := discovery.Result{Server: q.server, State: discovery.Lost + discovery.State(q.server%2)}
	if rtt > 0 {
		result.State, result.RTT = discovery.Answered, rtt+time.Duration(n.drift*float64(rtt))
		n.servers.Infos[q.server] = &n.says[q.server]
	}
	n.asked[q], n.got[q] = true, result.State
	if before := n.told[q]; before == 0 || result.RTT < before {
		n.told[q] = result.RTT
	}
	if column := slices.Index(n.here, q.player); column >= 0 {
		n.planner.Observe(column, result)
	}
	if rtt > 0 {
		n.planner.Inform(q.server)
	}
}

// join adds a player, or brings one back.
func (n *session) join(player int) {
	if !slices.Contains(n.here, player) {
		n.here = append(n.here, player)
		n.regroup()
	}
}

func (n *session) leave(player int) {
	n.here = slices.DeleteFunc(n.here, func(other int) bool { return other == player })
	n.regroup()
}

// holds checks the planner's claims about the servers found so far.
func (n *session) holds() {
	o := n.planner.Progress()
	best := n.planner.Finalists(5)
	if o.Best >= 0 {
		best = append(best, o.Best)
	}
	for _, server := range best {
		if n.bars(server) {
			n.Fatalf("server %d is among the best, and cannot be chosen", server)
		}
		if n.servers.Infos[server] == nil && (n.criteria.Seats > 0 || n.criteria.Map != "") {
			n.Fatalf("server %d is among the best, and nobody knows what it is like", server)
		}
		for _, player := range n.here {
			state := n.got[question{player, server}]
			if state == discovery.Lost || state == discovery.Refused {
				n.Fatalf("server %d is among the best, and silent for player %d", server, player)
			}
		}
	}
	if math.IsNaN(o.Score) || o.RegretBound < 0 {
		n.Fatalf("progress %+v", o)
	}
}

// maxRounds is ample for a small world.
const maxRounds = 400

// finish answers everything until the planner is done.
func (n *session) finish() coordinate.Progress {
	for range maxRounds {
		if o := n.planner.Progress(); o.Done {
			return o
		}
		n.next()
		for len(n.waiting) > 0 {
			n.answer(0)
		}
	}
	n.Fatalf("not done after %d rounds: %+v", maxRounds, n.planner.Progress())
	return coordinate.Progress{}
}

// found checks that the result is near the best server there is.
func (n *session) found(o coordinate.Progress) {
	want := n.best()
	if want == nil {
		return
	}
	if o.Best < 0 {
		n.Fatalf("%s: nothing found, %v has %v", n.criteria.By, want.Addr, want.Score)
	}
	if got := n.chosen(o.Best); got == nil || n.figure(got) > n.figure(want)+0.002 {
		n.Fatalf("%s: found %+v, the best is %+v", n.criteria.By, got, want)
	}
}

// figure returns the figure by which the rule orders servers.
func (n *session) figure(r *selection.Ranked) float64 {
	if n.criteria.By != selection.EvenSides {
		return r.Score
	}
	names := slices.Sorted(maps.Keys(r.RTT))
	var rtts []float64
	for _, name := range names {
		rtts = append(rtts, r.RTT[name])
	}
	return n.criteria.Objective(names).Order(rtts, 1)
}

// best returns the choice of somebody who knows everything, nil if nothing suits.
func (n *session) best() *selection.Ranked {
	servers := selection.Servers{List: n.servers.List, Infos: map[int]*discovery.Info{}}
	for server := range n.says {
		servers.Infos[server] = &n.says[server]
	}
	return n.choice(servers, func(int) bool { return true })
}

// chosen returns a server as it is ranked, nil if it is culled.
func (n *session) chosen(server int) *selection.Ranked {
	return n.choice(n.servers, func(s int) bool { return s == server })
}

func (n *session) choice(servers selection.Servers, among func(server int) bool) *selection.Ranked {
	var names []string
	for _, player := range n.here {
		names = append(names, playerName(player))
	}
	table := selection.NewTable(names, len(n.says))
	for column, player := range n.here {
		for server, rtt := range n.rtts[player] {
			if among(server) && rtt > 0 {
				table.Set(column, server, discovery.Answered, rtt)
			}
		}
	}
	return selection.NewFilter(servers, n.criteria).Select(table).Chosen
}

// TestFinishesWhatIsBegun checks that a search does not end on a lucky round. Its answers are far
// nearer than all before, and only one player was asked for those servers.
func TestFinishesWhatIsBegun(t *testing.T) {
	const far = 0 // no round: none has a near server
	list := small()
	// search asks until it is done, and returns the number of rounds. In the lucky round the
	// servers that one player is asked for are next door, and the search ends there.
	search := func(seed uint64, lucky int) (rounds int, done bool) {
		p := coordinate.New(topology.New(list), selection.Servers{},
			selection.NewTable([]string{"ann", "bob", "cat"}, len(list)), selection.Criteria{By: selection.Mean},
			coordinate.Options{Seed: seed, Enough: 5 * time.Millisecond})
		heard := map[int]int{}
		for !p.Progress().Done {
			batches := p.Next()
			for _, b := range batches {
				for _, server := range b.Servers {
					heard[server]++
				}
			}
			rounds++
			found := false
			for _, b := range batches {
				for _, server := range b.Servers {
					rtt := smallRTT(b.Player, server)
					if rounds == lucky && heard[server] == 1 {
						rtt, found = time.Millisecond, true
					}
					p.Observe(b.Player, discovery.Result{Server: server, State: discovery.Answered, RTT: rtt})
				}
			}
			if found {
				return rounds, p.Progress().Done
			}
		}
		return rounds, true
	}
	tried := 0
	for seed := range uint64(5) {
		rounds, _ := search(seed, far)
		last, done := search(seed, rounds)
		if last != rounds || rounds == coordinate.MaxRounds {
			continue // nobody was asked alone
		}
		if tried++; done {
			t.Errorf("seed %d: it ends after %d rounds", seed, rounds)
		}
	}
	if tried == 0 {
		t.Error("no search ends before it must")
	}
}

// TestAwaitsWhatMayWin checks that a search with its budget spent is over, whatever answers are
// still missing, unless one of them may make a server the best.
func TestAwaitsWhatMayWin(t *testing.T) {
	list := small()
	mean := func(server int) time.Duration { return (smallRTT(0, server) + smallRTT(1, server)) / 2 }
	for _, test := range []struct {
		name   string
		out    func(server int) bool // bob does not answer for these
		awaits bool
	}{
		{"nothing", noneDead, false},
		{"far servers", func(server int) bool { return mean(server) > 80*time.Millisecond }, false},
		{"the nearest", func(server int) bool { return mean(server) < 50*time.Millisecond }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := coordinate.New(topology.New(list), selection.Servers{},
				selection.NewTable([]string{"ann", "bob"}, len(list)), selection.Criteria{By: selection.Mean},
				coordinate.Options{Seed: 1, Budget: 60, Batch: 30, Enough: -1})
			var out []int
			for {
				batches := p.Next()
				if len(batches) == 0 {
					break
				}
				for _, b := range batches {
					for _, server := range b.Servers {
						if b.Player == 1 && test.out(server) {
							out = append(out, server)
							continue
						}
						p.Observe(b.Player, discovery.Result{Server: server, State: discovery.Answered, RTT: smallRTT(b.Player, server)})
					}
				}
			}
			o := p.Progress()
			if o.Probes != 60 || len(out) == 0 != (test.name == "nothing") {
				t.Fatalf("%v servers each, and bob waits for %v", o.Probes, out)
			}
			if o.Done == test.awaits {
				t.Errorf("done: %v, and bob waits for %v", o.Done, out)
			}
			for _, server := range out {
				p.Observe(1, discovery.Result{Server: server, State: discovery.Lost})
			}
			if !p.Progress().Done {
				t.Error("not done when all are lost")
			}
		})
	}
}
