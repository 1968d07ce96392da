package room_test

import (
	"strings"
	"testing"

	"muster/host/room"
	"muster/host/wire"
)

// TestPasswordOnPages checks that only the players' pages get the server's password, to type it,
// once the room goes there.
func TestPasswordOnPages(t *testing.T) {
	for _, isCounted := range []bool{false, true} {
		s := settings(2)
		s.Password = "s3cret"
		n := withGuestBy(t, berlin, s)
		if err := n.EntersFrom("yan", "", frankfurt.Addr); err != nil {
			t.Fatal(err)
		}
		n.Step(room.PageOpened{Token: "yan's token"})
		if isCounted {
			if err := n.Orders(room.Count{Name: "zoe", Counted: true}); err != nil {
				t.Fatal(err)
			}
		}
		n.plays()
		readers := map[string]string{
			"the link": n.Room.Keys().Link, "the organiser": n.Room.Keys().Secret, "nobody": "x",
			"ann": n.PageOf("ann"), "bob": n.PageOf("bob"), "zoe": "zoe's token", "yan": "yan's token",
		}
		see := func(when string, want map[string]bool) {
			t.Helper()
			badges := n.Room.View().Badges
			for name, credential := range readers {
				password := badges[room.DigestOf(credential)].Password
				if has := password != ""; has != want[name] || has && password != "s3cret" {
					t.Errorf("%s, zoe counted: %v: %s's page has %q", when, isCounted, name, password)
				}
			}
		}
		see("while they vote", nil)
		if err := n.Orders(room.Go{}); err != nil {
			t.Fatal(err)
		}
		n.Wait(countdownTime)
		n.InStage(wire.Launching)
		see("at the launch", map[string]bool{"ann": true, "bob": true, "the organiser": true, "zoe": isCounted})
		for _, note := range n.View().Log {
			if strings.Contains(note.String(), "s3cret") {
				t.Errorf("everybody reads %q", note.String())
			}
		}
		if err := n.Orders(room.Go{}); err != nil {
			t.Fatal(err)
		}
		see("in the next round", nil)
	}
}
