package coordinate

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/selection"
)

// TestGuessesAgree checks that ASes guessed from each other, which all look alike, say nothing of
// unknown ASes.
func TestGuessesAgree(t *testing.T) {
	for _, test := range []struct {
		guess bool
		want  float64 // as a multiple of the prior variance
	}{{true, 1}, {false, 0.1}} {
		tree := topology.New(oneCountry(40))
		prior := priorVariances()
		p := &posterior{tree: tree, before: prior.usual, now: prior}
		before := prior.usual[topology.Country]
		var all []observation
		for node := range topology.Node(tree.Nodes()) {
			if tree.Level(node) == topology.Address {
				all = append(all, observation{node, 3, 0.1, test.guess})
			}
		}
		p.learn(all)
		country := p.find(1)
		if got := country.spread; test.guess && got != before || !test.guess && got > test.want*before {
			t.Errorf("guess %v: the ASes vary by %.4f, want %.1f times %.4f", test.guess, got, test.want, before)
		}
		if n := country.knownEnd - country.known; test.guess != (n == 0) {
			t.Errorf("guess %v: %d ASes tell what the others are like", test.guess, n)
		}
		if got := country.mean; got < 2.999 || got > 3.001 {
			t.Errorf("guess %v: the country is at %.3f, want 3", test.guess, got)
		}
	}
}

// TestExplorersTakeTurns checks machines of one network that may not suit: each player looks at a
// different one before anybody looks at a second.
func TestExplorersTakeTurns(t *testing.T) {
	list := oneCountry(1)
	for i := range byte(3) {
		list = append(list, discovery.Server{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{1, 0, 0, 2 + i}), 27960), Country: "AA", ASN: 1})
	}
	p := New(topology.New(list), selection.Servers{}, selection.NewTable(names(4), len(list)),
		selection.Criteria{By: selection.Mean, Wishes: selection.Wishes{Map: "oa_dm1"}}, Options{Seed: 1})
	p.questions[3].load = 10 // was asked more, and knows no less than the others
	seen := map[int]bool{}
	for server := range list {
		a := newAcquisition(p)
		if !a.exploreBy(server) {
			t.Fatalf("nobody looks at server %d", server)
		}
		for player, asked := range a.asked {
			if len(asked) == 1 {
				seen[player] = true
				p.Observe(player, discovery.Result{Server: server, State: discovery.Answered, RTT: 50 * time.Millisecond})
			}
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d of 4 players have looked at 4 machines of a network", len(seen))
	}
}

// oneCountry returns a list with one server in each of some ASes of one country.
func oneCountry(networks int) []discovery.Server {
	var list []discovery.Server
	for n := range networks {
		addr := netip.MustParseAddr(fmt.Sprintf("1.%d.0.1", n))
		list = append(list, discovery.Server{Addr: netip.AddrPortFrom(addr, 27960), Country: "AA", ASN: uint32(1 + n)})
	}
	return list
}

// TestGuessed checks that one player's result is a guess if the others need not look, because the
// server does not suit or may not.
func TestGuessed(t *testing.T) {
	for _, test := range []struct {
		criteria string
		info     *discovery.Info
		want     bool
	}{
		{"", nil, false},
		{"oa_dm1", nil, true},
		{"oa_dm1", &discovery.Info{Map: "oa_dm2"}, true},
		{"oa_dm1", &discovery.Info{Map: "oa_dm1"}, false},
	} {
		list := oneCountry(1)
		infos := map[int]*discovery.Info{}
		if test.info != nil {
			infos[0] = test.info
		}
		p := New(topology.New(list), selection.Servers{Infos: infos}, selection.NewTable(names(2), 1),
			selection.Criteria{By: selection.Mean, Wishes: selection.Wishes{Map: test.criteria}}, Options{Seed: 1})
		for player, want := range []bool{test.want, false} { // the second player makes it whole
			p.Observe(player, discovery.Result{Server: 0, State: discovery.Answered, RTT: 50 * time.Millisecond})
			if c := p.candidates.of[p.tree.Of(0)]; p.candidates.guessed(c) != want {
				t.Errorf("wanted %q, is %+v, measured by %d: guessed is not %v", test.criteria, test.info, player+1, want)
			}
		}
	}
}

func names(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("player %02d", i)
	}
	return names
}
