package room_test

import (
	"encoding/json"
	"reflect"
	"slices"
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
	n.Wait(time.Second)
	n.tells(wire.AnnouncedOpen)
	n.Restarts(0)
	n.Wait(time.Second)
	n.tells()
	n.Join("ann", "bob")
	n.Listed(2)
	n.Informs("ann", 12, 12)
	n.Measures("ann", 10, 40)
	n.Measures("bob", 30, 60)
	n.Done("ann", "bob")
	n.Verifies("ann")
	n.Verifies("bob")
	n.GoesTo(0)
	if told := n.Told[0]; told.Server == nil || told.Server.Name != "server 0" || told.Server.MeanMS != 20 || told.Server.MaxMS != 30 ||
		len(told.Players) != 2 || told.Players[1] != (wire.AnnouncedPlayer{Name: "bob", PingMS: 30}) || told.Room != "Friday" {
		t.Errorf("told %+v", told)
	}
	text, _ := json.Marshal(n.Told[0])
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
	n.Join("ann", "bob")
	for name, side := range map[string]wire.Side{"ann": wire.SideA, "bob": wire.SideB} {
		if err := n.Orders(room.TakeSide{Name: name, Side: side}); err != nil {
			t.Fatal(err)
		}
	}
	n.Listed(2)
	n.Informs("ann", 12, 12)
	n.Measures("ann", 10, 40)
	n.Measures("bob", 30, 60)
	n.Done("ann", "bob")
	n.Verifies("ann")
	n.Verifies("bob")
	n.Told = nil
	n.Wait(2 * time.Minute) // the room moves for both
	n.InStage(wire.Launching)
	if len(n.Told) == 0 || n.Told[len(n.Told)-1].Match == nil {
		t.Fatalf("told %+v; the log:\n%s", n.Told, n.Story())
	}
	told := n.Told[len(n.Told)-1].Match
	history := n.View().History
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

// TestAnnouncementsFare checks that everybody sees whether the newest announcement arrived, and
// nobody sees the webhook's URL.
func TestAnnouncementsFare(t *testing.T) {
	s := settings(2)
	s.Webhook = hook
	n := newSession(t, s)
	n.Wait(time.Second)
	n.Step(room.Announced{})
	if posts := n.View().Room.Posts; posts == nil || catalogue.InEnglish().Say(posts.To) != "Discord" || !posts.At.Equal(n.Now) || !posts.Trouble.IsZero() {
		t.Errorf("posted: %+v", posts)
	}
	for range 2 {
		n.Step(room.Announced{Trouble: sentence.Plain("Discord refused\x1b the webhook (404)")})
	}
	n.Noted("not posted: Discord refused the webhook (404)")
	if posts := n.View().Room.Posts; catalogue.InEnglish().Say(posts.Trouble) != "Discord refused the webhook (404)" || strings.Count(n.Story(), "not posted") != 1 {
		t.Errorf("not posted: %+v, %s", posts, n.Story())
	}
	same(t, n.Room, restored(t, n.Room))
	view, _ := json.Marshal(n.View())
	if strings.Contains(string(view), "webhooks/1") {
		t.Errorf("everyone is shown the webhook: %s", view)
	}
	n.Told = nil
	change := room.Change{Settings: json.RawMessage(`{"webhook":"` + hook + `2"}`)}
	if err := n.Orders(change); err == nil {
		t.Error("a host that posts for nobody takes a webhook")
	}
	change.Posts = true
	if err := n.Orders(change); err != nil {
		t.Fatal(err)
	}
	n.Wait(time.Second)
	n.tells(wire.AnnouncedOpen) // shows people that the webhook works
	if posts := n.View().Room.Posts; !posts.Trouble.IsZero() {
		t.Errorf("the new webhook has the trouble of the one before: %+v", posts)
	}
	for _, voice := range []string{"javascript:alert(1)", "https://evil.example/"} {
		if err := n.Orders(room.Change{Settings: json.RawMessage(`{"voice":"` + voice + `"}`)}); err == nil {
			t.Errorf("%s is a voice channel", voice)
		}
	}
}

// tells checks that the room has made exactly these announcements since the last check.
func (n *session) tells(kinds ...wire.Announced) {
	n.Helper()
	var got []wire.Announced
	for _, a := range n.Told {
		got = append(got, a.Kind)
	}
	if n.Told = nil; !slices.Equal(got, kinds) {
		n.Errorf("the world was told of %v, want %v", got, kinds)
	}
}
