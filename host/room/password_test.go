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
		if err := n.entersFrom("yan", "", frankfurt.Addr); err != nil {
			t.Fatal(err)
		}
		n.step(room.PageOpened{Token: "yan's token"})
		if isCounted {
			if err := n.orders(room.Count{Name: "zoe", Counted: true}); err != nil {
				t.Fatal(err)
			}
		}
		n.plays()
		readers := map[string]string{
			"the link": n.room.Keys().Link, "the organiser": n.room.Keys().Secret, "nobody": "x",
			"ann": n.pageOf("ann"), "bob": n.pageOf("bob"), "zoe": "zoe's token", "yan": "yan's token",
		}
		see := func(when string, want map[string]bool) {
			t.Helper()
			badges := n.room.View().Badges
			for name, credential := range readers {
				password := badges[room.DigestOf(credential)].Password
				if has := password != ""; has != want[name] || has && password != "s3cret" {
					t.Errorf("%s, zoe counted: %v: %s's page has %q", when, isCounted, name, password)
				}
			}
		}
		see("while they vote", nil)
		if err := n.orders(room.Go{}); err != nil {
			t.Fatal(err)
		}
		n.wait(countdownTime)
		n.inStage(wire.Launching)
		see("at the launch", map[string]bool{"ann": true, "bob": true, "the organiser": true, "zoe": isCounted})
		for _, note := range n.view().Log {
			if strings.Contains(note.String(), "s3cret") {
				t.Errorf("everybody reads %q", note.String())
			}
		}
		if err := n.orders(room.Go{}); err != nil {
			t.Fatal(err)
		}
		see("in the next round", nil)
	}
}

// TestTypesPassword checks that the others see which players type the password in the game.
func TestTypesPassword(t *testing.T) {
	n := newSession(t, settings(0))
	n.join("ann", "bob")
	n.says("ann", wire.Able{Game: n.view().Room.Game, TypesPassword: true})
	n.says("bob", wire.Able{Game: n.view().Room.Game})
	for _, p := range n.view().People {
		if p.TypesPassword != (p.Name == "ann") {
			t.Errorf("%s types it: %v", p.Name, p.TypesPassword)
		}
	}
}
