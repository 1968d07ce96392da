package room

import (
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room/evidence"
	"muster/host/wire"
)

// from is the numbers from first to last.
func from(first, last int) (numbers []int) {
	for n := first; n <= last; n++ {
		numbers = append(numbers, n)
	}
	return numbers
}

// searching is a room of four that searches the long list.
func searching(t *testing.T) *session {
	s := settings(4)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	n.join("ann", "bob", "cat", "dan")
	n.gets(far())
	n.inStage(wire.Refining)
	return n
}

// honest has some answer what they are asked until the search is over, and dan do
// something every time.
func (n *session) honest(dan func()) {
	n.Helper()
	for range 400 {
		n.wait(200 * time.Millisecond)
		for i, name := range []string{"ann", "bob", "cat"} {
			n.answers(i, name)
		}
		if dan(); n.room.phase.stage() != wire.Refining {
			return
		}
	}
	n.Fatalf("the search does not end; the log:\n%s", n.log())
}

// bestFor is the lowest mean RTT to a server of the long list for the first
// players.
func bestFor(players int) float64 {
	best := 1e9
	for server := range 1000 {
		sum := time.Duration(0)
		for player := range players {
			sum += farRTT(player, server)
		}
		best = min(best, discovery.MS(sum)/float64(players))
	}
	return best
}

// TestUnaskedDoesNotCount: one frame about everything, before anything was asked,
// culls nothing and has nothing chosen.
func TestUnaskedDoesNotCount(t *testing.T) {
	for _, state := range []discovery.State{discovery.Lost, discovery.Refused, discovery.Forbidden, discovery.Answered} {
		t.Run(state.String(), func(t *testing.T) {
			n := searching(t)
			dan := n.room.round.player("dan")
			dan.witness = evidence.Witness{} // not even those of the first round
			n.denies("dan", state, from(0, 999)...)
			asked := 0 // since then
			for server := range 1000 {
				if dan.witness.IsAsked(server) {
					asked++
					continue
				}
				if got := n.room.round.knowledge(dan).At(server).State; got != discovery.Unprobed {
					t.Fatalf("server %d is %v for dan, who was not asked", server, got)
				}
			}
			if probed, _ := dan.witness.Progress(); probed > asked || asked > 20 {
				t.Errorf("%d results count, and %d were asked for", probed, asked)
			}
			same(t, n.room, restored(t, n.room))
		})
	}
}

// TestOneFrame: who denies everything, or everything but one server, in one frame
// ends no evening and sends nobody anywhere.
func TestOneFrame(t *testing.T) {
	const worst = 999 // far from all
	for _, tt := range []struct {
		name  string
		state discovery.State
		last  int
	}{
		{"lost for everything", discovery.Lost, 999},
		{"lost for all but one", discovery.Lost, worst - 1},
		{"refused by everything", discovery.Refused, 999},
		{"refused by all but one", discovery.Refused, worst - 1},
		{"may ask nothing", discovery.Forbidden, 999},
		{"may ask only one", discovery.Forbidden, worst - 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := searching(t)
			n.honest(func() {
				if dan := n.room.round.player("dan"); n.isOut(dan.name) {
					return
				}
				n.denies("dan", tt.state, from(0, tt.last)...)
				if tt.last < worst {
					n.says("dan", wire.Report{Round: 1, Results: []discovery.Result{{Server: worst, State: discovery.Answered, RTT: time.Millisecond}}})
				}
			})
			n.inStage(wire.Chosen)
			if !n.room.round.trust.IsExcluded("dan") {
				t.Errorf("dan is not named; the log:\n%s", n.log())
			}
			for _, name := range []string{"ann", "bob", "cat"} {
				if n.room.round.trust.IsExcluded(name) || n.isOut(name) {
					t.Errorf("%s is left out; the log:\n%s", name, n.log())
				}
			}
			if got := n.room.round.choice.Newest().Chosen.MeanMS; got > bestFor(3)+2 {
				t.Errorf("chosen with %.1f ms, the best has %.1f", got, bestFor(3))
			}
		})
	}
}

// TestTooSoon: silence takes a probe its time. What is called lost sooner is not
// believed; it is as if the player could not ask.
func TestTooSoon(t *testing.T) {
	for _, tt := range []struct {
		after time.Duration
		want  discovery.State
	}{{0, discovery.Forbidden}, {evidence.LeastProbe - tick, discovery.Forbidden}, {evidence.LeastProbe, discovery.Lost}} {
		n := measuring(t, 4, "ann", "bob")
		n.wait(tt.after)
		n.denies("bob", discovery.Lost, 1)
		if got := n.room.round.player("bob").witness.At(1).State; got != tt.want {
			t.Errorf("lost after %v is %v, want %v", tt.after, got, tt.want)
		}
	}
	n := coordinated(t)
	n.wait(time.Minute / 6)
	n.took("bob")
	bob := n.room.round.player("bob")
	for server := range 1000 {
		if !bob.witness.IsAsked(server) {
			n.room.ask(bob, []int{server})
			n.denies("bob", discovery.Lost, server)
			if got := bob.witness.At(server).State; got != discovery.Forbidden {
				t.Fatalf("lost in the moment of asking is %v", got)
			}
			break
		}
	}
}

// TestForbiddenCullsNothing: what one may not ask is not lost, and not chosen.
func TestForbiddenCullsNothing(t *testing.T) {
	n := measuring(t, 3, "ann", "bob")
	n.measures("ann", 10, 20, 30)
	n.measures("bob", skip, 20, 30)
	n.denies("bob", discovery.Forbidden, 0)
	n.done("ann", "bob")
	n.inStage(wire.Chosen)
	if s := n.room.round.choice.Newest(); s.Culled.Unreachable != 0 || s.Culled.Unmeasured != 1 || s.Chosen.Server != 1 {
		t.Errorf("culled %+v, chosen %d", s.Culled, s.Chosen.Server)
	}
	same(t, n.room, restored(t, n.room))
}

// TestAskedLater: what somebody told unasked counts when it is asked for, but for
// what is no answer; the peer has it, and would not ask again.
func TestAskedLater(t *testing.T) {
	n := coordinated(t)
	bob := n.room.round.player("bob")
	bob.witness = evidence.Witness{}
	n.says("bob", wire.Report{Round: 1, Results: []discovery.Result{
		{Server: 7, State: discovery.Answered, RTT: 20 * time.Millisecond}, {Server: 8, State: discovery.Lost},
	}})
	n.room = restored(t, n.room)
	n.join("ann", "bob")
	bob = n.room.round.player("bob")
	n.room.ask(bob, []int{7, 8})
	if a, b := bob.witness.At(7), bob.witness.At(8); a.RTT != 20*time.Millisecond || b.State != discovery.Forbidden {
		t.Errorf("bob is taken to have %v and %v", a, b)
	}
	if !slices.Equal(slices.Collect(bob.witness.Servers()), []int{7, 8}) {
		t.Errorf("bob has %v", slices.Collect(bob.witness.Servers()))
	}
}

// ownFinds returns how many finds of its own discovery a player was allowed to bring up.
func ownFinds(n *session, name string) (own int) {
	for _, m := range n.sent[name] {
		if ask, is := m.(wire.Ask); is {
			own += ask.Own
		}
	}
	return own
}

// TestNominations: while people vote a player may bring up as many servers of its
// own discovery as it is allowed, and none before.
func TestNominations(t *testing.T) {
	n := searchingOn(t)
	ann := n.room.round.player("ann")
	allowed := 0
	for allowed == 0 {
		n.wait(tick)
		allowed = ownFinds(n, "ann")
	}
	before, _ := ann.witness.Progress()
	report := wire.Report{Round: 1}
	for server := range 1000 {
		if !ann.witness.IsAsked(server) {
			report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Answered, RTT: 80 * time.Millisecond})
		}
	}
	n.says("ann", report)
	if got, _ := ann.witness.Progress(); got-before != allowed || allowed > 25 {
		t.Errorf("%d of ann's finds count, %d are allowed, want them and at most 25", got-before, allowed)
	}
}
