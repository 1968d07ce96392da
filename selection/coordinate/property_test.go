package coordinate_test

import (
	"fmt"
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

// sessions is how many small worlds a property is tried on. It is enough to find each bug that was
// ever found this way, and each that was planted to test this.
const sessions = 400

// TestReachesTheOptimum checks that a search that asks until nothing is left ends on the best
// server, whatever the rule.
func TestReachesTheOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range sessions {
		w := newSmallWorld(rng, false)
		n := newSession(t, w, 1+rng.IntN(maxPlayers), coordinate.Options{Seed: uint64(i), Budget: -1, Enough: -1})
		n.found(n.finish())
	}
}

// TestSurvivesTheSession checks searches whose players come and go, and whose replies are late,
// lost, unasked and never the same twice.
func TestSurvivesTheSession(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range sessions {
		events := make([]byte, rng.IntN(120))
		for at := range events {
			events[at] = byte(rng.IntN(256))
		}
		first := live(t, uint64(i), events)
		if second := live(t, uint64(i), events); !slices.Equal(first, second) {
			t.Fatalf("session %d: the same events, other questions", i)
		}
	}
}

func FuzzPlanner(f *testing.F) {
	f.Add(uint64(1), []byte{0, 1, 1, 1, 2, 2, 3, 0, 1, 5, 13, 6, 0, 7, 15, 0, 4, 0})
	f.Add(uint64(2), []byte{0, 6, 14, 22, 0, 7, 15, 23, 0, 3, 3, 3, 0})
	f.Fuzz(func(t *testing.T, seed uint64, events []byte) {
		live(t, seed, events[:min(len(events), 200)])
	})
}

// live plays the events of a session, a byte each, and then lets it end. It returns all questions.
func live(t testing.TB, seed uint64, events []byte) []question {
	rng := rand.New(rand.NewPCG(seed, 5))
	w := newSmallWorld(rng, seed%2 == 0)
	options := coordinate.Options{Seed: seed, Budget: 1 + rng.IntN(30), Batch: rng.IntN(10)}
	if seed%4 < 2 {
		options.Budget, options.Enough = -1, -1
	}
	n := newSession(t, w, rng.IntN(5), options)
	for at, event := range events {
		if seed%4 == 3 {
			n.drift = float64(at) / 100
		}
		n.happens(event%8, int(event/8))
	}
	n.regroup() // lost replies are not waited for
	if o := n.finish(); seed%4 == 1 {
		n.found(o)
	}
	return n.trace
}

// happens plays one event. whom picks the player or question.
func (n *session) happens(event byte, whom int) {
	player := whom % maxPlayers
	if len(n.here) > 0 {
		player = n.here[whom%len(n.here)]
	}
	switch {
	case event == 0:
		n.next()
	case event == 4:
		n.join(whom % maxPlayers)
	case len(n.here) == 0:
	case event == 1 && len(n.waiting) > 0: // in any order
		n.answer(whom % len(n.waiting))
	case event == 2: // answer nearly all
		for i := range min(len(n.waiting), 4+whom) {
			n.answer(i * 7919 % len(n.waiting))
		}
	case event == 3 && whom%2 == 0 && len(n.waiting) > 0: // lost on the way
		n.lose(whom / 2 % len(n.waiting))
	case event == 3: // unasked
		n.tell(question{player, whom * 31 % len(n.says)})
	case event == 5:
		n.leave(player)
	case event == 6 && len(n.waiting) > 0: // from a player who left or is still here
		n.tell(question{whom % maxPlayers, n.waiting[0].server})
	case event == 7:
		n.regroup()
	}
}

// TestSilentNeighbour checks that a server that is silent for somebody is excluded, even if another
// server on the same address answered.
func TestSilentNeighbour(t *testing.T) {
	w := &smallWorld{says: make([]discovery.Info, 2)}
	for port := range uint16(2) {
		w.servers.List = append(w.servers.List, discovery.Server{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{30, 1, 1, 1}), port)})
	}
	w.rtts[0] = []time.Duration{time.Millisecond, 0}
	w.servers.Infos = map[int]*discovery.Info{}
	w.criteria.Vetoes = []selection.Veto{{Server: w.servers.List[0].Addr}}
	n := newSession(t, w, 1, coordinate.Options{})
	n.tell(question{0, 0})
	n.tell(question{0, 1})
	if o := n.finish(); o.Best != -1 {
		t.Errorf("server %d is the best", o.Best)
	}
}

// country is a country of a list, equally far from all players except for one of its networks.
type country struct {
	networks, perNetwork int
	away                 time.Duration
	// odd is the RTT to the servers of its last network, 0 if it is the same as to the others.
	odd time.Duration
}

// TestLimits checks that the search finds a server that keeps a stricter limit in a country that
// was hardly explored. Where it does not find one, Reach says whether there may be one.
func TestLimits(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name      string
		countries []country
		budget    int
		keeps     bool          // a server that keeps the limit of 200 ms is found
		reach     time.Duration // the limit that an unknown server may keep
	}{
		{"a near country", []country{{30, 10, 230 * ms, 0}, {5, 10, 190 * ms, 0}}, 0, true, 0},
		{"one network of a far country", []country{{40, 10, 230 * ms, 0}, {20, 16, 215 * ms, 185 * ms}}, 0, true, 0},
		{"none, all far over", []country{{20, 10, 260 * ms, 0}, {20, 10, 280 * ms, 0}}, 0, false, 0},
		{"hardly anything asked", []country{{40, 10, 230 * ms, 0}, {40, 10, 205 * ms, 0}}, 3, false, 200 * ms},
	} {
		for _, by := range []selection.Rule{selection.Threshold, selection.FairThreshold} {
			t.Run(fmt.Sprintf("%s/%s", test.name, by), func(t *testing.T) {
				list, rtt := countriesOf(test.countries)
				criteria := selection.Criteria{By: by, Limits: []time.Duration{200 * ms, 300 * ms}}
				p := coordinate.New(topology.New(list), selection.Servers{},
					selection.NewTable([]string{"ann", "bob", "cem"}, len(list)), criteria, coordinate.Options{Seed: 1, Budget: test.budget})
				for !p.Progress().Done {
					for _, b := range p.Next() {
						for _, server := range b.Servers {
							p.Observe(b.Player, discovery.Result{Server: server, State: discovery.Answered, RTT: rtt[server] + time.Duration(b.Player)*ms})
						}
					}
				}
				o := p.Progress()
				if keeps := o.Best >= 0 && rtt[o.Best] < 198*ms; keeps != test.keeps || o.Reach != test.reach {
					t.Errorf("found %v, which may be bettered within %v after %d rounds of %.0f probes, want %v and %v",
						rtt[o.Best], o.Reach, o.Rounds, o.Probes, test.keeps, test.reach)
				}
			})
		}
	}
}

// countriesOf returns a list with such countries, and each server's RTT.
func countriesOf(countries []country) (list []discovery.Server, rtt []time.Duration) {
	for c, country := range countries {
		for n := range country.networks {
			for i := range country.perNetwork {
				away := country.away
				if country.odd > 0 && n == country.networks-1 {
					away = country.odd
				}
				addr := netip.AddrFrom4([4]byte{byte(30 + c), byte(n), byte(i), 1})
				list = append(list, discovery.Server{
					Addr:    netip.AddrPortFrom(addr, 27960),
					Country: fmt.Sprintf("%cA", 'A'+c),
					ASN:     uint32(1000*c + n + 1),
				})
				rtt = append(rtt, away+time.Duration(n*7%11+i%3)*time.Millisecond/2)
			}
		}
	}
	return list, rtt
}
