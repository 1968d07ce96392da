package decision_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"muster/host/room/attendance"
	"muster/host/room/decision"
	"muster/host/room/group/grouptest"
	"muster/host/room/people"
	"muster/internal/catalogue"
	"muster/selection"
)

// TestVeto checks that a veto takes a server out of the choice, unless nothing would be left.
func TestVeto(t *testing.T) {
	n := measured(t, 2, "ann", "bob")
	n.choose(false)
	addr := func(server int) netip.AddrPort { return n.Servers.List[server].Addr }
	note, other, err := decision.Veto(n.group(), selection.Veto{Player: "ann", Server: addr(0)})
	if err != nil || catalogue.InEnglish().Say(note) != "ann vetoes 20.0.0.1:27960" || grouptest.Chosen(&other) != 1 {
		t.Errorf("%q, %d is chosen, %v", note, grouptest.Chosen(&other), err)
	}
	if _, _, err = decision.Veto(n.group(), selection.Veto{Player: "ann", Server: addr(1)}); err == nil {
		t.Error("ann has a second veto")
	}
	if _, _, err = decision.Veto(n.group(),
		selection.Veto{Player: "bob", Server: addr(1)}); fmt.Sprint(err) != "nothing would be left to play on" {
		t.Error(err)
	}
	if note, _, err = decision.Veto(n.group(), selection.Veto{Player: "bob", Map: "dm6"}); err != nil || catalogue.InEnglish().Say(note) != "bob vetoes dm6" {
		t.Errorf("bob's veto is used up by one that was refused: %q, %v", note, err)
	}
}

// TestHide checks that the organiser can hide servers, as long as something is left to vote on.
func TestHide(t *testing.T) {
	n := measured(t, 2, "ann", "bob")
	n.choose(false)
	for _, tt := range []struct {
		name               string
		server             int // in the list, or -1
		isHidden, isVoting bool
		note, err          string
		chosen             int // -2 if there is no other choice
	}{
		{"an unknown address", -1, true, false, "", "which server is to be hidden is missing", -2},
		{"one that is not hidden", 0, false, false, "", "<nil>", -2},
		{"one", 0, true, false, "the organiser hides 20.0.0.1:27960: it won’t be chosen any more", "<nil>", -2},
		{"no longer", 0, false, false, "20.0.0.1:27960 isn’t hidden any more", "<nil>", -2},
		{"one, in a vote", 0, true, true, "the organiser hides 20.0.0.1:27960", "<nil>", 1},
		{"the last, in a vote", 1, true, true, "", "nothing would be left to play on", -2},
		{"the last", 1, true, false, "the organiser hides 25.0.1.1:27960: it won’t be chosen any more", "<nil>", -2},
	} {
		addr := netip.AddrPort{}
		if tt.server >= 0 {
			addr = n.Servers.List[tt.server].Addr
		}
		note, other, err := decision.Hide(n.group(), addr, tt.isHidden, tt.isVoting)
		chosen := -2
		if other != nil {
			chosen = grouptest.Chosen(other)
		}
		if catalogue.InEnglish().Say(note) != tt.note || fmt.Sprint(err) != tt.err || chosen != tt.chosen {
			t.Errorf("%s: %q, %d is chosen, %v", tt.name, note, chosen, err)
		}
	}
	addr := netip.MustParseAddrPort("192.0.2.9:27960")
	for i := 0; ; i++ {
		_, _, err := decision.Hide(n.group(), netip.AddrPortFrom(addr.Addr(), uint16(i+1)), true, false)
		if err != nil {
			break
		}
		if i > 10_000 {
			t.Fatal("the organiser hides servers without end")
		}
	}
}

// TestVouch checks that a player's odd numbers count with the organiser's word, in this round too
// if something is left that suits the player.
func TestVouch(t *testing.T) {
	odd := func(rtt int) *session {
		n := newSession(t, 20, "ann", "bob", "cat")
		for _, player := range []people.ID{"ann", "bob"} {
			n.Measures(player, grouptest.Up(10, 20)...)
		}
		n.Measures("cat", slices.Repeat([]int{rtt}, 20)...)
		if n.choose(false); n.Attendance.Of("cat").Out != attendance.Odd {
			t.Fatalf("cat is out for %q", n.Attendance.Of("cat").Out)
		}
		return n
	}
	n := odd(1)
	notes, other, err := decision.Vouch(n.group(), "cat", n.Now)
	if err != nil || other == nil || !slices.Contains(other.Players, "cat") || n.Attendance.Of("cat").Out != "" {
		t.Errorf("cat is vouched for: %q, %+v, %v", notes, other, err)
	}
	if notes, other, err = decision.Vouch(n.group(), "ann", n.Now); other != nil || err != nil {
		t.Errorf("ann is vouched for: %q, %+v, %v", notes, other, err)
	}

	n = odd(1)
	n.Evidence["cat"] = n.Evidence["cat"].Next()
	if _, err := n.Roster.Rename(n.Person("cat"), "kit", true, n.Now); err != nil {
		t.Fatal(err)
	}
	_, other, err = decision.Vouch(n.group(), "cat", n.Now)
	if err == nil || !strings.HasPrefix(err.Error(), "kit has not measured") || other != nil ||
		n.Attendance.Of("cat").Out != attendance.Behind {
		t.Errorf("cat has measured nothing: %+v, out for %q, %v", other, n.Attendance.Of("cat").Out, err)
	}

	n = odd(1)
	n.Choice = n.Choice.Forget()
	if _, other, err = decision.Vouch(n.group(), "cat", n.Now); other != nil || err != nil || n.Attendance.Of("cat").Out != "" {
		t.Errorf("there is no choice: %+v, out for %q, %v", other, n.Attendance.Of("cat").Out, err)
	}
}
