package room_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/discovery/sentence"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/catalogue"
)

// TestAnnouncements checks that a room announces once that it is open, and where it goes.
func TestAnnouncements(t *testing.T) {
	s := settings(2)
	s.Webhook, s.Password = hook, "club"
	n := newSession(t, s)
	n.wait(time.Second)
	n.tells(wire.AnnouncedOpen)
	n.restarts(0)
	n.wait(time.Second)
	n.tells()
	n.join("ann", "bob")
	n.listed(2)
	n.informs("ann", 12, 12)
	n.measures("ann", 10, 40)
	n.measures("bob", 30, 60)
	n.done("ann", "bob")
	n.verifies("ann")
	n.verifies("bob")
	n.goesTo(0)
	if told := n.told[0]; told.Server == nil || told.Server.Name != "server 0" || told.Server.MeanMS != 20 || told.Server.MaxMS != 30 ||
		len(told.Players) != 2 || told.Players[1] != (wire.AnnouncedPlayer{Name: "bob", PingMS: 30}) || told.Room != "Friday" {
		t.Errorf("told %+v", told)
	}
	text, _ := json.Marshal(n.told[0])
	for _, secret := range []string{"club", "secret", "the link's key", "BAKODI", "192.0.2", "token"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s tells %q", text, secret)
		}
	}
	n.tells(wire.AnnouncedChoice)
}

// TestMatchRecord checks that a match is told with its record, and stays in the room's history: the
// sides with the pings that were measured for the launch, and what their captains decided.
func TestMatchRecord(t *testing.T) {
	s := settings(2)
	s.Webhook, s.Match, s.Maps, s.SideA, s.Order = hook, "bo1", "dm6, dm17", "Nightjars", "pick"
	n := newSession(t, s)
	n.join("ann", "bob")
	for name, side := range map[string]wire.Side{"ann": wire.SideA, "bob": wire.SideB} {
		if err := n.orders(room.TakeSide{Name: name, Side: side}); err != nil {
			t.Fatal(err)
		}
	}
	n.listed(2)
	n.informs("ann", 12, 12)
	n.measures("ann", 10, 40)
	n.measures("bob", 30, 60)
	n.done("ann", "bob")
	n.verifies("ann")
	n.verifies("bob")
	n.told = nil
	n.wait(2 * time.Minute) // the room moves for both
	n.inStage(wire.Launching)
	if len(n.told) == 0 || n.told[len(n.told)-1].Match == nil {
		t.Fatalf("told %+v; the log:\n%s", n.told, n.log())
	}
	told := n.told[len(n.told)-1].Match
	history := n.view().History
	kept := wire.RecordOf("", "Friday", history[len(history)-1])
	if !reflect.DeepEqual(told, kept) {
		t.Errorf("told %+v, and kept %+v", told, kept)
	}
	want := [2]wire.MatchSide{
		{Side: wire.SideA, Name: "Nightjars", Captain: "ann", MeanMS: 10, Players: []wire.MatchPlayer{{Name: "ann", PingMS: 10}}},
		{Side: wire.SideB, Captain: "bob", MeanMS: 30, Players: []wire.MatchPlayer{{Name: "bob", PingMS: 30}}},
	}
	if !reflect.DeepEqual(told.Sides, want) || len(told.Moves) != 2 || len(told.Maps) != 1 || told.Server.Connect != addrOf(0).String() ||
		told.BestOf != 1 || told.Round != 1 {
		t.Errorf("the record is %+v", told)
	}
}

// TestNoWebhook checks that a room without a webhook announces nothing.
func TestNoWebhook(t *testing.T) {
	n := choosing(t, 2)
	n.verifies("ann")
	n.verifies("bob")
	n.goesTo(0)
	n.tells()
	n.step(room.Announced{Trouble: sentence.Plain("that was for another")})
	if n.view().Room.Posts != nil || strings.Contains(n.log(), "posted") {
		t.Errorf("posts of a room that does not: %+v", n.view().Room.Posts)
	}
}

// TestAnnouncementsFare checks that everybody sees whether the newest announcement arrived, and
// nobody sees the webhook's URL.
func TestAnnouncementsFare(t *testing.T) {
	s := settings(2)
	s.Webhook = hook
	n := newSession(t, s)
	n.wait(time.Second)
	n.step(room.Announced{})
	if posts := n.view().Room.Posts; posts == nil || catalogue.InEnglish().Say(posts.To) != "Discord" || !posts.At.Equal(n.now) || !posts.Trouble.IsZero() {
		t.Errorf("posted: %+v", posts)
	}
	for range 2 {
		n.step(room.Announced{Trouble: sentence.Plain("Discord refused\x1b the webhook (404)")})
	}
	n.noted("not posted: Discord refused the webhook (404)")
	if posts := n.view().Room.Posts; catalogue.InEnglish().Say(posts.Trouble) != "Discord refused the webhook (404)" || strings.Count(n.log(), "not posted") != 1 {
		t.Errorf("not posted: %+v, %s", posts, n.log())
	}
	same(t, n.room, restored(t, n.room))
	view, _ := json.Marshal(n.view())
	if strings.Contains(string(view), "webhooks/1") {
		t.Errorf("everyone is shown the webhook: %s", view)
	}
	n.told = nil
	change := room.Change{Settings: json.RawMessage(`{"webhook":"` + hook + `2"}`)}
	if err := n.orders(change); err == nil {
		t.Error("a host that posts for nobody takes a webhook")
	}
	change.Posts = true
	if err := n.orders(change); err != nil {
		t.Fatal(err)
	}
	n.wait(time.Second)
	n.tells(wire.AnnouncedOpen) // shows people that the webhook works
	if posts := n.view().Room.Posts; !posts.Trouble.IsZero() {
		t.Errorf("the new webhook has the trouble of the one before: %+v", posts)
	}
	for _, voice := range []string{"javascript:alert(1)", "https://evil.example/"} {
		if err := n.orders(room.Change{Settings: json.RawMessage(`{"voice":"` + voice + `"}`)}); err == nil {
			t.Errorf("%s is a voice channel", voice)
		}
	}
}
