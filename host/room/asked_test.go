package room_test

import (
	"maps"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/room/evidence"
	"muster/host/wire"
)

// searching returns a room of four that searches the long list.
func searching(t *testing.T) *session {
	t.Helper()
	return searchingFor(t, room.Tuning{}, settings(4), "ann", "bob", "cat", "dan")
}

// honest lets some players answer until the search is over. Dan does something of his own every
// time.
func (n *session) honest(dan func()) {
	n.Helper()
	for range 400 {
		n.Wait(200 * time.Millisecond)
		for i, name := range []string{"ann", "bob", "cat"} {
			n.answers(i, name)
		}
		if dan(); !n.isSearching() {
			return
		}
	}
	n.Fatalf("the search does not end; the log:\n%s", n.Story())
}

// TestUnaskedDoesNotCount checks that one frame about all servers, sent before the room asked for
// many, rules out nothing and chooses nothing.
func TestUnaskedDoesNotCount(t *testing.T) {
	for _, state := range []discovery.State{discovery.Lost, discovery.Refused, discovery.Forbidden, discovery.Answered} {
		t.Run(state.String(), func(t *testing.T) {
			n := searching(t)
			n.denies("dan", state, from(0, 999)...)
			if probed, asked := n.Person("dan").Probed, len(n.Asked["dan"]); probed > asked || asked > 20 {
				t.Errorf("%d results count, and %d were asked for", probed, asked)
			}
			same(t, n.Room, restored(t, n.Room))
			before := len(n.Asked["ann"])
			n.Wait(time.Second)
			for i, name := range []string{"ann", "bob", "cat"} {
				n.answers(i, name)
			}
			if n.Wait(time.Second); len(n.Asked["ann"]) == before || !n.isSearching() {
				t.Errorf("with that the search is over; the log:\n%s", n.Story())
			}
		})
	}
}

// TestOneFrame checks that one frame cannot end a session or send anybody anywhere, even if it
// denies every server but one.
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
				if n.IsOut("dan") {
					return
				}
				n.denies("dan", tt.state, from(0, tt.last)...)
				if tt.last < worst {
					n.denies("dan", discovery.Answered, worst)
				}
			})
			n.InStage(wire.Chosen)
			for _, name := range n.Players() {
				isDan := name == "dan"
				if isNamed := !n.Person(name).Doubt.IsZero(); isNamed != isDan || n.IsOut(name) != isDan {
					t.Errorf("%s is named: %v, and left out: %v; the log:\n%s", name, isNamed, n.IsOut(name), n.Story())
				}
			}
			n.isBestFor(3)
		})
	}
}

// TestTooSoon checks that the room believes that a server is silent only after the time that a
// probe takes. A server that a player calls lost sooner counts as one that the player could not
// ask.
func TestTooSoon(t *testing.T) {
	for _, tt := range []struct {
		after time.Duration
		want  discovery.State
	}{{0, discovery.Forbidden}, {evidence.LeastProbe - tick, discovery.Forbidden}, {evidence.LeastProbe, discovery.Lost}} {
		n := measuring(t, 4, "ann", "bob")
		n.Wait(tt.after)
		n.denies("bob", discovery.Lost, 1)
		if got := traceOf(n.Room, "bob")[1].State; got != tt.want {
			t.Errorf("lost after %v is %v, want %v", tt.after, got, tt.want)
		}
	}
	n := coordinated(t)
	n.Wait(10 * time.Second) // only the time since the question counts
	servers := n.Asked["bob"]
	n.answers(0, "ann")
	n.answers(1, "bob")
	for len(n.Asked["bob"]) == len(servers) {
		n.Wait(tick)
	}
	next := n.Asked["bob"][len(servers)]
	n.denies("bob", discovery.Lost, next)
	if trace := traceOf(n.Room, "bob"); trace[next].State != discovery.Forbidden {
		t.Errorf("lost in the moment of asking is %v", trace[next].State)
	}
}

// TestForbiddenCullsNothing checks that a server that a player may not ask is neither lost nor
// chosen.
func TestForbiddenCullsNothing(t *testing.T) {
	n := measuring(t, 3, "ann", "bob")
	n.Measures("ann", 10, 20, 30)
	n.Measures("bob", skip, 20, 30)
	n.denies("bob", discovery.Forbidden, 0)
	n.Done("ann", "bob")
	n.InStage(wire.Chosen)
	if s := n.Choice(); s.Culled.Unreachable != 0 || s.Culled.Unmeasured != 1 || s.Chosen.Server != 1 {
		t.Errorf("culled %+v, chosen %d", s.Culled, s.Chosen.Server)
	}
	same(t, n.Room, restored(t, n.Room))
}

// TestAskedLater checks that an answer that a player sent unasked counts once the room asks for it,
// because the program would not measure again. A result without an answer does not count. A restart
// forgets none of it.
func TestAskedLater(t *testing.T) {
	n := coordinated(t)
	n.Wait(evidence.LeastProbe)
	report, told := wire.Report{Round: 1}, map[int]bool{}
	for server := range far() {
		if !n.wasAsked("bob", server) {
			told[server] = true
			result := discovery.Result{Server: server, State: discovery.Lost}
			if server%2 == 0 {
				result.State, result.RTT = discovery.Answered, farRTT(1, server)
			}
			report.Results = append(report.Results, result)
		}
	}
	n.Says("bob", report)
	if probed := n.Person("bob").Probed; probed != 0 {
		t.Errorf("%d count before bob is asked", probed)
	}
	n.Restarts(0)
	n.Join("ann", "bob")
	for range 20 {
		n.Wait(200 * time.Millisecond)
		n.answers(0, "ann")
		n.answersBut(1, "bob", farRTT, func(server int) bool { return told[server] })
	}
	answered, asked := 0, map[int]bool{}
	for _, server := range n.Asked["bob"] {
		if told[server] && server%2 == 0 {
			answered++
		}
		asked[server] = true
	}
	if answered < 10 {
		t.Fatalf("bob was asked for %v", n.Asked["bob"])
	}
	if got := n.Person("bob").Answered; got < answered {
		t.Errorf("%d answers of bob's count, of %d that the program had before it was asked", got, answered)
	}
	trace := traceOf(n.Room, "bob")
	for server := range maps.Keys(asked) {
		if got := trace[server]; told[server] && server%2 == 1 && got.State != discovery.Forbidden {
			t.Errorf("server %d is %v, which bob called lost before anybody asked", server, got.State)
		}
	}
}

// TestNominations checks that a player may bring up as many servers of its own discovery as the
// room allows while people vote, and none before.
func TestNominations(t *testing.T) {
	n := searchingOn(t)
	allowed := 0
	for allowed == 0 {
		n.Wait(tick)
		allowed = ownFinds(n, "ann")
	}
	before := n.Person("ann").Probed
	report := wire.Report{Round: 1}
	for server := range far() {
		if !n.wasAsked("ann", server) {
			report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Answered, RTT: 80 * time.Millisecond})
		}
	}
	n.Says("ann", report)
	if got := n.Person("ann").Probed; got-before != allowed || allowed > 25 {
		t.Errorf("%d of ann's finds count, %d are allowed, want them and at most 25", got-before, allowed)
	}
}
