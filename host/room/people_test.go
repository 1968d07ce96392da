package room_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery/plan/topology"
	"muster/host/room"
	"muster/host/room/roster"
	"muster/host/wire"
)

// The limits of the roster, as people meet them.
const (
	guestGone     = 30 * time.Minute
	guestsUnknown = 32
	tokenLength   = 26
)

// TestTakenNames: a stranger's page takes no player's name, nor is handed the room in
// a player's place; who plays takes the name from a guest.
func TestTakenNames(t *testing.T) {
	n := newSession(t, settings(0))
	n.as["ann"] = "secret"
	n.join("ann", "bob")
	for _, name := range []string{"bob", "BOB", " b\x00ob"} {
		if got := reason(n.enters(name, "")); got != wire.ReasonNameTaken {
			t.Errorf("a page takes the name %q of a player: %q", name, got)
		}
	}
	if err := n.orders(room.HandOn{Name: "bob", Secret: "new secret"}); err != nil {
		t.Fatal(err)
	}
	bob := n.pageOf("bob")
	for credential, may := range map[string]bool{"secret": false, "bob's token": false, "token of bob": false, "new secret": true, bob: true} {
		if err := n.acts(credential, room.Lock{Locked: false}); (err == nil) != may {
			t.Errorf("%q steers: %v", credential, err)
		}
	}
	if err := n.enters("zoe", ""); err != nil {
		t.Fatal(err)
	}
	if err := n.acts(bob, room.HandOn{Name: "zoe", Secret: "another"}); err == nil {
		t.Error("a guest is made the organiser by name")
	}
	n.join("zoe")
	if zoe, guest := n.person("zoe"), n.person("zoe (guest)"); !zoe.Peer || zoe.Guest || !guest.Guest || guest.Peer {
		t.Errorf("the player is %+v, the guest %+v", zoe, guest)
	}
}

// TestOwnPage: a page acts for a player by the player's personal link alone, on as many
// devices as there are, and is no key to the player's program.
func TestOwnPage(t *testing.T) {
	s := settings(2)
	s.Agree = wire.Yes
	n := votingBy(t, s)
	ann := n.pageOf("ann")
	if refusal := n.tryJoin("ann", ann); refusal == nil || refusal.Reason != wire.ReasonNameTaken {
		t.Errorf("a page's credential takes the player's seat: %v", refusal)
	}
	for range 2 { // devices
		n.step(room.PageOpened{Token: ann})
	}
	n.step(room.PageClosed{Token: ann})
	if p := n.person("ann"); !p.Page || p.Guest {
		t.Errorf("with her page open ann is %+v", p)
	}
	for _, a := range []room.Action{room.Veto{Addr: addrOf(2)}, room.WhatIf(`{"by":"minimax"}`), room.Vote{Addr: addrOf(1)}, room.Ready{Ready: true}} {
		if err := n.acts("zoe's token", a); reason(err) != wire.ReasonAction {
			t.Errorf("a guest says %T: %v", a, err)
		}
		if err := n.acts(ann, a); err != nil {
			t.Errorf("ann's page cannot say %T: %v", a, err)
		}
	}
	n.wait(countdownTime + time.Second) // who is waited for is ann
	n.goesTo(1)
	if err := n.acts(ann, room.Lock{Locked: true}); reason(err) != wire.ReasonSecret {
		t.Errorf("ann steers: %v", err)
	}
	if err := n.page("zoe", room.Enter{Secret: ann}); err != nil || n.hasGuest("zoe") {
		t.Errorf("a page that opens the personal link stays another's: %v", err)
	}
}

// TestGuestsVote: the organiser may let guests have a say, and take it back.
func TestGuestsVote(t *testing.T) {
	n := inVoting(t)
	n.votes("zoe", 2)
	n.votes("yan", 2)
	if got := n.leads(); got != addrOf(2).String() {
		t.Errorf("guests who may vote are for server %s", got)
	}
	if err := n.orders(room.Change{Settings: []byte(`{"guests_vote":false}`)}); err != nil {
		t.Fatal(err)
	}
	if got := n.leads(); got != addrOf(0).String() {
		t.Errorf("guests who only watch have the room go to server %s", got)
	}
}

// TestVotesOfWhoMakesWay: a guest who comes to play under another guest's name takes only
// their own vote along.
func TestVotesOfWhoMakesWay(t *testing.T) {
	s := settings(0)
	s.Agree, s.GuestsVote = wire.Yes, true
	n := votingBy(t, s)
	n.votes("zoe", 1)
	n.votes("yan", 2)
	n.as["yan"] = roster.TicketOf("zoe's token")
	n.join("yan")
	if zoe, yan := n.person("yan"), n.person("yan (guest)"); zoe.Vote != addrOf(1).String() || yan.Vote != addrOf(2).String() {
		t.Errorf("zoe's vote is %q, and yan's %q", zoe.Vote, yan.Vote)
	}
}

// TestManyNicknames: nicknames fill no room: neither for players nor for guests from
// elsewhere, nor its log.
func TestManyNicknames(t *testing.T) {
	enters := func(n *session, i int, from string) error {
		addr, _ := netip.ParseAddr(from)
		return n.step(room.Order{Action: room.Enter{Name: fmt.Sprint("nickname ", i), Token: fmt.Sprint("page ", i), From: addr}})
	}
	for _, from := range []string{"192.0.2.1", ""} {
		n := newSession(t, settings(2))
		if err := n.enters("zoe", ""); err != nil {
			t.Fatal(err)
		}
		n.step(room.PageOpened{Token: "zoe's token"})
		for i := range 126 {
			enters(n, i, from)
			n.step(room.PageOpened{Token: fmt.Sprint("page ", i)})
		}
		if got := len(n.guests()); got > guestsUnknown+1 {
			t.Errorf("126 nicknames from %q are %d guests", from, got)
		}
		if err := enters(n, 200, "198.51.100.1"); err != nil {
			t.Errorf("a guest from elsewhere is turned away: %v", err)
		}
		n.join("ann", "bob")
		n.inStage(wire.Listing)
		for i := range 126 { // without pages
			n.step(room.PageClosed{Token: fmt.Sprint("page ", i)})
			enters(n, 1000+i, from)
		}
		if !n.hasGuest("zoe") || len(n.view().Log) > 100 {
			t.Errorf("a flood of nicknames pushes out who is here; the log has %d lines", len(n.view().Log))
		}
	}
}

// TestRename: names are given up with their seats, and change between rounds.
func TestRename(t *testing.T) {
	n := inVoting(t)
	ann := n.pageOf("ann")
	n.votes("zoe", 1)
	for _, tt := range []struct {
		credential, name, reason string
	}{
		{"zoe's token", "Bob", wire.ReasonNameTaken}, {"zoe's token", " ", wire.ReasonName}, {"", "dan", wire.ReasonName},
		{"zoe's token", "zoë", ""}, {ann, "anna", ""}, {"yan's token", "ANNA", wire.ReasonNameTaken},
	} {
		if err := n.acts(tt.credential, room.Rename{Name: tt.name}); reason(err) != tt.reason || (err == nil) != (tt.reason == "") {
			t.Errorf("%q becomes %q: %v", tt.credential, tt.name, err)
		}
	}
	if n.person("zoë").Vote == "" || n.person("ann").Name == "" {
		t.Error("a vote goes astray with a name, or a player's name changes within the round")
	}
	if err := n.acts("zoe's token", room.Rename{Name: "zoe"}); err == nil {
		t.Error("one who takes one name after the other fills the log")
	}
	n.goes()
	n.wait(countdownTime + time.Second)
	same(t, n.room, restored(t, n.room))
	n.goes()
	if players := n.players(); !slices.Equal(players, []string{"anna", "bob"}) {
		t.Fatalf("the players are %v", players)
	}
	n.noted("ann will be anna from the next round on", "ann is anna now")
	n.says("anna", wire.Done{Round: 2})
	n.gone("anna")
	if refusal := n.tryJoin("anna", "token of ann"); refusal != nil {
		t.Errorf("anna does not come back: %v", refusal)
	}
}

// TestLeave: who leaves gives up the place at once; an organiser goes on steering.
func TestLeave(t *testing.T) {
	n := newSession(t, settings(3))
	n.as["ann"] = "secret"
	n.join("ann", "bob")
	ann, bob := n.pageOf("ann"), n.pageOf("bob")
	if err := n.acts(bob, room.Quit{}); err != nil || n.person("bob").Name != "" {
		t.Errorf("bob does not leave: %v", err)
	}
	if err := n.acts(ann, room.Quit{}); err != nil || n.person("ann").Peer || !n.person("ann").Organiser {
		t.Errorf("the organiser's place is not free, or the room without one: %v", err)
	}
	if err := n.acts(ann, room.Quit{}); err == nil {
		t.Error("an organiser leaves the room to nobody")
	}
	if want := []string{"bob", "ann"}; !slices.Equal(n.dismissed, want) {
		t.Errorf("%v are sent away", n.dismissed)
	}
	n.join("ann")
	if !n.person("ann").Organiser {
		t.Error("the organiser comes back as somebody else")
	}
	if err := n.orders(room.Remove{Name: "ann"}); err != nil || !n.person("ann").Organiser {
		t.Errorf("an organiser who removes the own player steers no more: %v", err)
	}
	if err := n.acts(ann, room.Lock{Locked: true}); err != nil {
		t.Errorf("nor by the personal link: %v", err)
	}
}

// TestRenew: a new organiser's link leaves the old one, and who came by it, without power.
func TestRenew(t *testing.T) {
	n := newSession(t, settings(0))
	n.as["ann"] = "secret"
	n.join("ann")
	ann := n.pageOf("ann")
	if err := n.acts("secret", room.Renew{Secret: "new secret"}); err != nil || fmt.Sprint(n.answer) != "map[secret:new secret]" {
		t.Fatalf("%v, %v", n.answer, err)
	}
	for credential, may := range map[string]bool{"secret": false, "new secret": true, ann: true} {
		if err := n.acts(credential, room.Lock{Locked: false}); (err == nil) != may {
			t.Errorf("%q steers: %v", credential, err)
		}
	}
	n = newSession(t, settings(0))
	if err := n.enters("mallory", "secret"); err != nil { // who found the link
		t.Fatal(err)
	}
	n.acts("secret", room.Renew{Secret: "new secret"})
	if err := n.acts("secret", room.Lock{Locked: true}); reason(err) != wire.ReasonSecret {
		t.Errorf("the old link steers: %v", err)
	}
}

// TestComesToPlay: somebody with the page who pastes its line is one person with the
// program, and keeps the page; a ticket does that once, and is no key to the page.
func TestComesToPlay(t *testing.T) {
	n := newSession(t, settings(0))
	n.enters("zoe", "")
	n.enters("yan", "secret")
	n.step(room.PageOpened{Token: "zoe's token"})
	ticket := n.room.View().Badges[room.DigestOf("zoe's token")].Ticket
	if err := n.acts(ticket, room.Rename{Name: "mallory"}); reason(err) != wire.ReasonName {
		t.Errorf("a ticket acts: %v", err)
	}
	n.as["zoë"], n.as["zed"], n.as["yan"] = ticket, ticket, roster.TicketOf("yan's token")
	if refusal := n.tryJoin("yan", ""); refusal != nil || !n.person("yan").Organiser {
		t.Errorf("the organiser of the page does not play as such: %v", refusal)
	}
	n.join("zoë", "zed")
	if p := n.person("zoë"); !p.Peer || !p.Page || len(n.guests()) != 0 || n.person("zed").Page {
		t.Errorf("zoe plays as %+v; the guests are %+v", p, n.guests())
	}
	if refusal := n.tryJoin("dan", ""); refusal != nil {
		t.Error(refusal)
	}
	n.enters("kim", "new")
	if err := n.acts("secret", room.Rename{Name: "yana"}); err != nil || n.person("yana").Name == "" {
		t.Errorf("the organiser's link is not the organiser's: %v", err)
	}
}

// TestArrival: everybody keeps their place in the order of arrival, by which others know
// them again, whoever leaves, takes another name, comes to play or comes back; after a
// restart, too.
func TestArrival(t *testing.T) {
	n := newSession(t, settings(0))
	n.join("ann", "bob")
	if err := n.enters("zoe", ""); err != nil {
		t.Fatal(err)
	}
	n.join("cat")
	arrivals := func(r *room.Room) map[string]int {
		all := map[string]int{}
		for _, p := range r.Snapshot().People {
			all[p.Name] = p.Arrival
		}
		return all
	}
	is := func(when string, want map[string]int) {
		t.Helper()
		if got := arrivals(n.room); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	is("at first", map[string]int{"ann": 0, "bob": 1, "zoe": 2, "cat": 3})
	n.step(room.Join{Hello: wire.Hello{Name: "zoe", As: roster.TicketOf("zoe's token")}, Token: "zoe plays"})
	is("a guest plays", map[string]int{"ann": 0, "bob": 1, "zoe": 2, "cat": 3})
	n.step(room.Order{Credential: roster.PageOf("token of ann"), Action: room.Quit{}})
	is("the first has left", map[string]int{"bob": 1, "zoe": 2, "cat": 3})
	n.acts(roster.PageOf("token of bob"), room.Rename{Name: "rob"})
	n.join("dan")
	is("somebody has another name, and one is new", map[string]int{"dan": 0, "rob": 1, "zoe": 2, "cat": 3})
	data, err := n.room.Save()
	if err != nil {
		t.Fatal(err)
	}
	back, err := room.Restore(data, topology.New)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := arrivals(back), arrivals(n.room); !maps.Equal(got, want) {
		t.Errorf("after a restart: %v, want %v", got, want)
	}
	old, err := room.Restore(bytes.ReplaceAll(data, []byte(`"arrival"`), []byte(`"was"`)), topology.New)
	if err != nil {
		t.Fatal(err)
	}
	if got := arrivals(old); len(slices.Compact(slices.Sorted(maps.Values(got)))) != 4 {
		t.Errorf("of a room that was saved without: %v", got)
	}
}

// TestEnd: the organiser, and nobody else, ends the night: it is kept before it is said,
// and shown before everybody is sent away.
func TestEnd(t *testing.T) {
	n := newSession(t, settings(0))
	n.as["ann"] = n.room.Keys().Secret
	n.join("ann", "bob")
	if err := n.acts(n.pageOf("bob"), room.End{}); reason(err) != wire.ReasonSecret {
		t.Errorf("bob ends the night: %v", err)
	}
	outputs, err := n.room.Step(room.Order{Credential: n.pageOf("ann"), Action: room.End{}}, n.now)
	why := wire.Refusal{Reason: wire.ReasonEnded, Message: "ann has ended the night. Good night!"}
	if want := []room.Output{room.Save{}, room.Publish{}, room.Dismiss{Player: "ann", Why: why}, room.Dismiss{Player: "bob", Why: why}}; err != nil || !slices.Equal(outputs, want) {
		t.Errorf("it comes to %v, %v; want %v", outputs, err, want)
	}
	if shown := n.view(); !shown.Room.Ended.Equal(n.now) || shown.Log[len(shown.Log)-1].Text != why.Message || !n.room.Use(n.now).IsOver {
		t.Errorf("shown is %v, with %q", shown.Room.Ended, shown.Log[len(shown.Log)-1].Text)
	}
	if refusal := n.tryJoin("cat", ""); reason(refusal) != wire.ReasonClosed {
		t.Errorf("who comes later is told %v", refusal)
	}
	same(t, n.room, restored(t, n.room))
}
