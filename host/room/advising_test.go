package room_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/host/room"
	"muster/host/wire"
	"muster/selection"
)

// tooFar is a room of two that has failed: all that suits ann is too far away for cat.
func tooFar(t *testing.T) *session {
	t.Helper()
	s := settings(2)
	s.By, s.Limits = selection.Threshold, wire.Limits{100 * time.Millisecond}
	n := newSession(t, s)
	n.as["ann"] = n.room.Keys().Secret
	n.join("ann", "cat")
	n.listed(3)
	n.informs("ann", 12, 12, 12)
	n.measures("ann", 10, 20, 30)
	n.measures("cat", 190, 185, 300)
	n.done("ann", "cat")
	n.inStage(wire.Failed)
	return n
}

// TestAdvice: where nothing suits everyone each way out is one order of the organiser's,
// with its argument, and leads from what was measured to a server.
func TestAdvice(t *testing.T) {
	n := tooFar(t)
	advice := map[string]wire.Advice{}
	for _, a := range n.view().Choice.Advice {
		advice[a.Text] = a
	}
	raise, without := advice["allow 185 ms"], advice["go without cat"]
	if raise.Action != "allow" || raise.Argument != (wire.Argument{LimitMS: 185}) || raise.Addr != addrOf(1).String() {
		t.Errorf("raising the limit is %+v", raise)
	}
	if without.Action != "without" || without.Argument != (wire.Argument{Name: "cat"}) || without.Servers != 3 {
		t.Errorf("going without is %+v", without)
	}
	if miss := n.view().Choice.Miss; miss == nil || miss.Addr != addrOf(1).String() || miss.LimitMS != 100 || miss.RTT["cat"] != 185 {
		t.Errorf("what came nearest is %+v", miss)
	}
	tests := []struct {
		name   string
		action room.Action
		to     int
		limits int
		note   string
	}{
		{"allow 185 ms", room.Allow{LimitMS: 185}, 1, 2, "the organiser allows 185 ms: choosing again from what was measured"},
		{"allow 184.2 ms", room.Allow{LimitMS: 184.2}, 1, 2, "the organiser allows 185 ms: choosing again from what was measured"},
		{"allow too little", room.Allow{LimitMS: 150}, -1, 2, "the organiser allows 150 ms: that is not enough, still no server suits everyone"},
		{"go without cat", room.Without{Name: "cat"}, 0, 1, "the organiser goes without cat, who comes along without a say: choosing again from what was measured"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := tooFar(t)
			if err := n.acts(n.pageOf("cat"), tt.action); reason(err) != wire.ReasonSecret {
				t.Errorf("cat orders it: %v", err)
			}
			if err := n.orders(tt.action); err != nil {
				t.Fatal(err)
			}
			n.noted(tt.note)
			if len(n.room.Settings().Limits) != tt.limits {
				t.Errorf("the limits are %v", n.room.Settings().Limits)
			}
			if tt.to < 0 {
				n.inStage(wire.Failed)
				return
			}
			n.lookAgain()
			n.goesTo(tt.to)
		})
	}
}

// TestNoAdvice: what makes no sense is refused, and changes nothing.
func TestNoAdvice(t *testing.T) {
	for name, action := range map[string]room.Action{"no limit": room.Allow{LimitMS: 0}, "a limit of an hour": room.Allow{LimitMS: 3_600_000}, "somebody else": room.Without{Name: "eve"}} {
		n := tooFar(t)
		if err := n.orders(action); err == nil || n.room.Stage() != wire.Failed || strings.Contains(n.log(), "again from") {
			t.Errorf("%s: %v, in %s", name, err, n.room.Stage())
		}
	}
	n := newSession(t, settings(2))
	n.join("ann")
	if err := n.orders(room.Allow{LimitMS: 185}); err == nil {
		t.Error("a limit is allowed before anything was chosen")
	}
	n = tooFar(t)
	n.orders(room.Without{Name: "cat"})
	n.lookAgain()
	if err := n.orders(room.Without{Name: "ann"}); err == nil {
		t.Error("nobody is left to choose for")
	}
}

// TestOnOneWord: where the choice hangs on one player's word the group is asked, and the
// organiser can choose without.
func TestOnOneWord(t *testing.T) {
	names := []string{"ann", "bob", "cat", "dan"}
	s := settings(len(names))
	s.Agree = wire.Yes
	n := newSession(t, s)
	n.join(names...)
	n.listed(20)
	n.informs("ann", slices.Repeat([]int{12}, 20)...)
	for i, name := range names {
		n.took(name)
		ms := make([]int, 20)
		for server := range ms {
			if ms[server] = 10 + 3*server + i; name == "dan" { // far away, or not
				ms[server] = 20 + 10*max(12-server, server-12)
			}
		}
		n.measures(name, ms...)
	}
	n.done(names...)
	n.lookAgain()
	view := n.view()
	if !view.Voting.Open || n.chosen().Server != 12 {
		t.Fatalf("there is no vote on server 12: %v; the log:\n%s", view.Voting.Open, n.log())
	}
	asked := slices.IndexFunc(view.Choice.Advice, func(a wire.Advice) bool { return a.Action == "without" && a.Argument.Name == "dan" })
	if asked < 0 || view.Choice.Advice[asked].Addr != addrOf(0).String() {
		t.Fatalf("the group is not asked about dan: %+v", view.Choice.Advice)
	}
	if said := strings.Join(view.Choice.Explain, " "); !strings.Contains(said, "The choice hangs on dan's word alone: had dan not reported 20.0 ms here and 140.0 ms to") {
		t.Errorf("it is explained so: %s", said)
	}
	if err := n.orders(room.Without{Name: "dan"}); err != nil {
		t.Fatal(err)
	}
	if chosen := n.chosen().Server; chosen != 0 {
		t.Errorf("without dan server %d is chosen", chosen)
	}
	for _, a := range n.view().Choice.Advice {
		if a.Action == "without" {
			t.Errorf("the group is asked again: %+v", a)
		}
	}
}
