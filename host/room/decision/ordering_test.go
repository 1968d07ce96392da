package decision_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/host/room/attendance"
	"muster/host/room/decision"
	"muster/host/room/facts/factstest"
	"muster/host/room/people"
	"muster/internal/catalogue"
)

// TestHidden checks that the organiser can hide servers while a server is left to vote on.
func TestHidden(t *testing.T) {
	n := measured(t, 2, "ann", "bob")
	n.choose(false)
	for _, tt := range []struct {
		name      string
		server    int
		isVoting  bool
		note, err string
		chosen    int // -2 if there is no other choice
	}{
		{"one", 0, false, "the organiser hides 20.0.0.1:27960: it won’t be chosen any more", "<nil>", -2},
		{"one, in a vote", 0, true, "the organiser hides 20.0.0.1:27960", "<nil>", 1},
		{"the last, in a vote", 1, true, "", "nothing would be left to play on", -2},
		{"the last", 1, false, "the organiser hides 25.0.1.1:27960: it won’t be chosen any more", "<nil>", -2},
	} {
		addr := n.Servers.List[tt.server].Addr
		if err := n.Lists.Hide(addr, "", n.F.Organiser()); err != nil {
			t.Fatal(err)
		}
		note, other, err := decision.AfterHiding(n.F, addr, tt.isVoting)
		chosen := -2
		if other != nil {
			chosen = factstest.Chosen(other)
		}
		if catalogue.InEnglish().Say(note) != tt.note || fmt.Sprint(err) != tt.err || chosen != tt.chosen {
			t.Errorf("%s: %q, %d is chosen, %v", tt.name, note, chosen, err)
		}
	}
}

// TestVouch checks that a player's unusual numbers count once the organiser confirms them. They
// count in this round too if a server is left that suits the player.
func TestVouch(t *testing.T) {
	odd := func(rtt int) *session {
		n := newSession(t, 20, "ann", "bob", "cat")
		for _, player := range []people.ID{"ann", "bob"} {
			n.Measures(player, factstest.Up(10, 20)...)
		}
		n.Measures("cat", slices.Repeat([]int{rtt}, 20)...)
		if n.choose(false); n.Attendance.Of("cat").Out != attendance.Odd {
			t.Fatalf("cat is out for %q", n.Attendance.Of("cat").Out)
		}
		return n
	}
	n := odd(1)
	notes, other, err := n.vouch("cat")
	if err != nil || other == nil || !slices.Contains(other.Players, "cat") || n.Attendance.Of("cat").Out != "" {
		t.Errorf("cat is vouched for: %q, %+v, %v", notes, other, err)
	}
	if notes, other, err = n.vouch("ann"); other != nil || err != nil {
		t.Errorf("ann is vouched for: %q, %+v, %v", notes, other, err)
	}

	n = odd(1)
	n.Evidence["cat"] = n.Evidence["cat"].Next()
	if _, err := n.Roster.Rename(n.F.Person("cat"), "kit", n.Now); err != nil {
		t.Fatal(err)
	}
	_, other, err = n.vouch("cat")
	if err == nil || !strings.HasPrefix(err.Error(), "kit has not measured") || other != nil ||
		n.Attendance.Of("cat").Out != attendance.Behind {
		t.Errorf("cat has measured nothing: %+v, out for %q, %v", other, n.Attendance.Of("cat").Out, err)
	}

	n = odd(1)
	n.Choice = n.Choice.Forget()
	if _, other, err = n.vouch("cat"); other != nil || err != nil || n.Attendance.Of("cat").Out != "" {
		t.Errorf("there is no choice: %+v, out for %q, %v", other, n.Attendance.Of("cat").Out, err)
	}
}
