package room_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
)

// TestLookalikes checks that nobody comes in under a name that people would take for another's.
func TestLookalikes(t *testing.T) {
	n := newSession(t, settings(0))
	n.Join("ann")
	for _, tt := range []struct{ name, reason string }{
		{"\u0430nn", wire.ReasonNameTaken}, // a Cyrillic letter
		{"ａｎｎ", wire.ReasonNameTaken},
		{"ann\u3164", wire.ReasonNameTaken},
		{"a\u0335\u0336nn", wire.ReasonNameTaken},
		{"\u3164", wire.ReasonName},
		{"🎉", wire.ReasonName},
	} {
		if refusal := n.TryJoin(tt.name, "token of another"); refusal == nil || refusal.Reason != tt.reason {
			t.Errorf("a player comes as %q: %v, want %q", tt.name, refusal, tt.reason)
		}
		if err := n.Step(room.Order{Action: room.Enter{Name: tt.name, Token: "page of another"}}); reason(err) != tt.reason {
			t.Errorf("a guest comes as %q: %v, want %q", tt.name, err, tt.reason)
		}
	}
	n.Step(room.Order{Action: room.Enter{Name: "zoe", Token: "page of zoe"}})
	if err := n.Acts("page of zoe", room.Rename{Name: "Аnn"}); reason(err) != wire.ReasonNameTaken {
		t.Errorf("a guest takes a name that looks like ann's: %v", err)
	}
	n.Join("zоe") // the middle letter is Cyrillic: the guest gives way to a player
	var names []string
	for _, p := range n.View().People {
		names = append(names, p.Name)
	}
	if want := []string{"ann", "zоe", "zoe (guest)"}; !slices.Equal(names, want) {
		t.Errorf("the people are %q, want %q", names, want)
	}
}

func TestOpenRoomsAreFullOnce(t *testing.T) {
	n := newSession(t, settings(0))
	for i := range wire.MaxPlayers {
		n.Join(fmt.Sprint("player ", i))
	}
	if refusal := n.TryJoin("one more", ""); refusal == nil || refusal.Reason != wire.ReasonFull {
		t.Errorf("the %dth member: %v", wire.MaxPlayers+1, refusal)
	}
}

// TestLateJoiner checks that a player who comes late gets what the others know, and holds up
// nobody.
func TestLateJoiner(t *testing.T) {
	start := func(t *testing.T) *session {
		n := newSession(t, settings(0))
		n.Join("ann", "bob")
		n.Goes()
		return n
	}
	listed := func(t *testing.T) *session {
		n := start(t)
		n.Listed(2)
		n.Informs("ann", 12, 12)
		n.Measures("ann", 10, 20)
		n.Measures("bob", 10, 20)
		return n
	}
	chosen := func(t *testing.T) *session {
		n := listed(t)
		n.Done("ann", "bob")
		n.InStage(wire.Chosen)
		return n
	}
	tests := []struct {
		name string
		at   func(t *testing.T) *session
		sent string
		then func(n *session)
	}{
		{"listing", start, "welcome", func(n *session) {
			n.Listed(2)
			if got := n.Took("cat"); got != "list measure" {
				n.Errorf("cat is sent %q then", got)
			}
		}},
		{"measuring", listed, "welcome list measure", func(n *session) {
			n.Done("ann", "bob")
			n.InStage(wire.Measuring) // the room waits for cat
			n.Measures("cat", 99, 10)
			n.Done("cat")
			n.Verifies("ann")
			n.Verifies("bob")
			n.Verifies("cat")
			n.GoesTo(1)
		}},
		{"chosen", chosen, "welcome", func(n *session) {
			n.Verifies("ann")
			n.Verifies("bob")
			n.GoesTo(0)
			if got := n.Took("cat"); got != "list launch" { // without the list cat's program would doubt the launch
				n.Errorf("cat is sent %q then", got)
			}
			n.Noted("cat is here, too late for a say in this round")
		}},
		{"chosen, and looks all the same", chosen, "welcome", func(n *session) {
			n.Says("cat", wire.Verified{Round: 1, Attempt: 1, Servers: []wire.Finalist{{Server: 0, State: discovery.Lost, Sent: 3}}})
			n.Verifies("ann")
			n.Verifies("bob")
			n.GoesTo(0)
		}},
		{"chosen, and the last seat was for bob", func(t *testing.T) *session {
			n := listed(t)
			n.Informs("ann", 2, 12)
			n.Done("ann", "bob")
			n.InStage(wire.Chosen)
			return n
		}, "welcome", func(n *session) {
			for _, name := range []string{"ann", "bob"} {
				n.Says(name, wire.Verified{
					Round:   1,
					Attempt: 1,
					Servers: []wire.Finalist{{Server: 0, State: discovery.Answered, RTTs: []float64{10}, Sent: 3}},
				})
			}
			n.Noted("192.0.2.0:27960 turned out to be full: 192.0.2.1:27960 takes its place")
		}},
		{"launching", func(t *testing.T) *session {
			n := chosen(t)
			n.Verifies("ann")
			n.Verifies("bob")
			return n
		}, "welcome list launch", func(n *session) { n.GoesTo(0) }},
		{"failed", func(t *testing.T) *session {
			n := start(t)
			n.Step(room.Listed{Err: errors.New("no master answers")})
			return n
		}, "welcome", func(n *session) {
			n.Goes()
			n.InStage(wire.Listing)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := tt.at(t)
			n.Join("cat")
			if got := n.Took("cat"); got != tt.sent {
				t.Errorf("cat is sent %q, want %q", got, tt.sent)
			}
			tt.then(n)
		})
	}
}

// TestComeBack checks that a member with its token gets back what it had.
func TestComeBack(t *testing.T) {
	n := measuring(t, 4, "ann", "bob")
	n.Measures("bob", 10, lost, skip, 30)
	n.Gone("bob")
	n.Wait(5 * time.Second)
	if refusal := n.TryJoin("bob", ""); refusal == nil || refusal.Reason != wire.ReasonNameTaken {
		t.Errorf("bob without a token: %v", refusal)
	}
	n.Join("bob")
	messages := n.Sent["bob"]
	if got := n.Took("bob"); got != "welcome list measure report" {
		t.Fatalf("bob is sent %q", got)
	}
	if welcome := messages[0].(wire.Welcome); welcome.Token != "token of bob" {
		t.Errorf("bob's token is %q now", welcome.Token)
	}
	if known := messages[2].(wire.Measure).Known; known != 3 {
		t.Errorf("bob is told that %d results are known, want 3", known)
	}
	report := messages[3].(wire.Report)
	if len(report.Results) != 3 || report.Results[1].State != discovery.Lost || report.Results[2].Server != 3 {
		t.Errorf("bob gets back %+v", report)
	}
	n.Noted("lost the connection to bob", "bob is back")

	n.Measures("bob", 10, lost, 20, 30) // all of it once more
	n.Measures("ann", 10, 10, 10, 10)
	n.Done("ann", "bob")
	n.InStage(wire.Chosen)
	n.Gone("bob")
	n.Join("bob")
	if got := n.Took("bob"); got != "finalists welcome list finalists" {
		t.Errorf("bob is sent %q while the finalists are looked at", got)
	}
	n.Verifies("ann")
	n.Verifies("bob")
	n.InStage(wire.Launching)
	n.Took("bob")
	for _, tt := range []struct {
		state wire.LaunchState
		sent  string
	}{
		{"", "welcome list launch"},
		{wire.LaunchAsking, "welcome list launch"}, // the question may have died with the program
		{wire.LaunchFailed, "welcome"},
		{wire.LaunchStarted, "welcome"},
		{wire.LaunchDeclined, "welcome"},
	} {
		n.Says("bob", wire.Launched{Round: 1, State: tt.state})
		n.Gone("bob")
		n.Join("bob")
		if got := n.Took("bob"); got != tt.sent {
			t.Errorf("bob, whose launch is %q, is sent %q, want %q", tt.state, got, tt.sent)
		}
	}
}
