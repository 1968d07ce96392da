package room_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
)

// doubting returns a room of four. Dan makes his numbers up. Without him the first of twenty
// servers is the best.
func doubting(t *testing.T) *session {
	n := measuring(t, 20, "ann", "bob", "cat", "dan")
	for i, name := range []string{"ann", "bob", "cat"} {
		ms := make([]int, 20)
		for server := range ms {
			ms[server] = 10*server + 10 + i
		}
		n.Measures(name, ms...)
	}
	made := make([]int, 20)
	for server := range made {
		made[server] = 9999
	}
	made[19] = 1
	n.Measures("dan", made...)
	n.Done("ann", "bob", "cat", "dan")
	n.InStage(wire.Chosen)
	return n
}

func TestMadeUpNumbersDoNotCount(t *testing.T) {
	n := doubting(t)
	n.Noted("dan reports the same ping for 19 of 20 servers, but a low one for 192.0.2.19:27960: that doesn’t count in the choice")
	for _, p := range n.View().People {
		if !p.Doubt.IsZero() != (p.Name == "dan") {
			t.Errorf("%s is doubted: %q", p.Name, p.Doubt)
		}
	}
	// More lies, and more returns, change nothing.
	n.Says("dan", wire.Report{Round: 1, Results: []discovery.Result{{Server: 0, State: discovery.Lost}}})
	full := discovery.Info{Name: "mine", Players: 16, MaxPlayers: 16, GamePort: 666}
	n.Says("dan", wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: 0, Info: full}}})
	if card := n.View().Choice.Servers[addrOf(0).String()]; card.Name == full.Name || card.Players == full.Players {
		t.Errorf("the first server is what dan says: %+v", card)
	}
	n.Gone("dan")
	n.Join("dan")
	same(t, n.Room, restored(t, n.Room))
	for _, name := range []string{"ann", "bob", "cat"} {
		n.Verifies(name)
	}
	n.GoesTo(0)
	doubts := n.Choice().Doubts
	if len(doubts) != 1 || doubts[0].Player != "dan" {
		t.Errorf("doubts are %v", doubts)
	}
}

// TestOddButHarmless checks that the room names a player whose pings contradict everybody's
// distances, and leaves the player out only if the others lose by it or nearly all are
// contradicted. It may be a slow line.
func TestOddButHarmless(t *testing.T) {
	for _, test := range []struct {
		name string
		slow func(server int) bool
		out  bool
	}{
		{"slow to what is far", func(server int) bool { return server >= 9 }, false},
		{"slow to all that is near the others", func(server int) bool { return server < 10 }, true},
		{"slow to nearly everything", func(server int) bool { return server >= 3 }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := measuring(t, 20, "ann", "bob", "cat", "dan")
			for i, name := range []string{"ann", "bob", "cat", "dan"} {
				ms := make([]int, 20)
				for server := range ms {
					if ms[server] = 10*server + 10 + i; name == "dan" && test.slow(server) {
						ms[server] += 1000
					}
				}
				n.Measures(name, ms...)
			}
			n.Done("ann", "bob", "cat", "dan")
			n.InStage(wire.Chosen)
			if got := n.IsOut("dan"); got != test.out {
				t.Errorf("dan is left out: %v; the log:\n%s", got, n.Story())
			}
			if !strings.Contains(n.Story(), "fit anyone else’s") {
				t.Errorf("nothing is said of dan's pings; the log:\n%s", n.Story())
			}
			same(t, n.Room, restored(t, n.Room))
			for _, name := range []string{"ann", "bob", "cat", "dan"} {
				n.Verifies(name)
			}
			n.GoesTo(0)
			if doubts := n.Choice().Doubts; len(doubts) != 1 || doubts[0].Player != "dan" {
				t.Errorf("doubts are %v", doubts)
			}
		})
	}
}

// TestSlowLineCounts checks that a player whose pings a slow line explains counts, unless everybody
// would be better off with pings no longer than the others' allow.
func TestSlowLineCounts(t *testing.T) {
	for _, test := range []struct {
		by   selection.Rule
		goes int
		out  bool
		told string
	}{
		// Dan has 20 ms to the first server, and the others have 60. They have 10 to the second,
		// where he says 210 although theirs allow 138.
		{selection.Minimax, 0, false, "that counts as long as the others lose little by it"}, // 60 ms instead of 138
		{selection.Mean, 1, true, "that doesn’t count in the choice"},                        // 50 ms instead of 42
	} {
		t.Run(string(test.by), func(t *testing.T) {
			s := settings(4)
			s.By = test.by
			n := newSession(t, s)
			n.Join("ann", "bob", "cat", "dan")
			n.Listed(20)
			n.Informs("ann", slices.Repeat([]int{12}, 20)...)
			for i, name := range []string{"ann", "bob", "cat", "dan"} {
				n.Took(name)
				ms := []int{60 + i}
				for server := 1; server < 20; server++ {
					ms = append(ms, 10*server+i)
				}
				if name == "dan" {
					ms[0] = 20
					for server := 1; server < 20; server++ {
						ms[server] += 200
					}
				}
				n.Measures(name, ms...)
			}
			n.Done("ann", "bob", "cat", "dan")
			n.InStage(wire.Chosen)
			n.Noted("dan’s pings for 19 of 20 servers are higher than everyone else’s can explain, as on a slow line: " + test.told)
			if got := n.IsOut("dan"); got != test.out {
				t.Errorf("dan is left out: %v; the log:\n%s", got, n.Story())
			}
			same(t, n.Room, restored(t, n.Room))
			for _, name := range []string{"ann", "bob", "cat", "dan"} {
				n.Verifies(name)
			}
			n.GoesTo(test.goes)
			if doubts := n.Choice().Doubts; len(doubts) != 1 || doubts[0].Player != "dan" {
				t.Errorf("doubts are %v", doubts)
			}
		})
	}
}

// TestDoubtedWhileRefining checks that the search goes on without a player who makes numbers up.
func TestDoubtedWhileRefining(t *testing.T) {
	s := settings(4)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	n.Join("ann", "bob", "cat", "dan")
	n.Gets(far())
	for back := false; n.Now.Sub(eight) < time.Minute; {
		if !back && !n.Person("dan").Doubt.IsZero() { // he leaves and comes back
			n.Gone("dan")
			n.Join("dan")
			back = true
		}
		n.Wait(200 * time.Millisecond)
		for i, name := range []string{"ann", "bob", "cat"} {
			n.answers(i, name)
		}
		n.lies("dan")
		if !n.isSearching() {
			break
		}
	}
	n.InStage(wire.Chosen)
	if told := strings.Count(n.Story(), "doesn’t count"); told != 1 {
		t.Errorf("told %d times: %s", told, n.Story())
	}
	if dan := n.Person("dan"); dan.Doubt.IsZero() || !dan.LeftOut || dan.Probed > 200 {
		t.Errorf("dan's doubt is %q after %d servers", dan.Doubt, dan.Probed)
	}
}

// lies answers 9999 ms for all that a player was asked, and sends it unasked too.
func (n *session) lies(name string) {
	asked := []int{0}
	for _, ask := range n.takes(name) {
		asked = append(asked, ask.Servers...)
	}
	n.Finds(name, discovery.Answered, 9999*time.Millisecond, asked...)
}
