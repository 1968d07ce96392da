package room_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/plan/topology"
	"muster/host/room"
	"muster/host/room/editions"
	"muster/host/room/launch"
	"muster/host/room/origin"
	"muster/host/room/people"
	"muster/host/room/roomtest"
	"muster/host/room/roomtime"
	"muster/host/room/saved"
	"muster/host/room/sides"
	"muster/host/wire"
)

func TestRestoreRefuses(t *testing.T) {
	whole, err := choosing(t, 2).Room.Save()
	if err != nil {
		t.Fatal(err)
	}
	with := func(field string, value any) string {
		var document map[string]any
		if err := json.Unmarshal(whole, &document); err != nil {
			t.Fatal(err)
		}
		if document[field] = value; value == nil {
			delete(document, field)
		}
		data, _ := json.Marshal(document)
		return string(data)
	}
	for _, data := range []string{
		"", "{}", `{"version":4}`, `{"form":"muster.room/1"}`, string(whole[:len(whole)/2]), with("form", "muster.room/2"),
		with("form", "muster.room/0"), with("form", 1), with("now", 1), with("now", int64(roomtime.Opening)-1), with("listing", nil), with("hearsay", nil), with("choice", nil),
		with("phase", map[string]any{"name": "lunch"}), with("phase", map[string]any{"name": "launching"}),
		with("finals", map[string]any{"seen": []int{9}}), with("players", []map[string]any{{"name": "ann"}}),
		with("nearby", map[string]any{"servers": []map[string]any{{"addr": "10.9.0.5:1", "server": 2}}}),
	} {
		if room, err := room.Restore([]byte(data), topology.New); err == nil {
			t.Errorf("%.60q restores %+v", data, room)
		}
	}
}

func TestOver(t *testing.T) {
	n := newSession(t, settings(2))
	day := 24 * time.Hour
	if n.Room.Use(eight.Add(day)).IsOver || !n.Room.Use(eight.Add(day+time.Second)).IsOver {
		t.Error("an empty room is kept for a day")
	}
	n.Join("ann")
	if n.Room.Use(eight.Add(30 * day)).IsOver {
		t.Error("a room with someone in it is over")
	}
	n.Now = eight.Add(day)
	n.Gone("ann")
	if n.Room.Use(eight.Add(2*day)).IsOver || !n.Room.Use(eight.Add(2*day+time.Second)).IsOver {
		t.Error("a room is kept for a day after the last has left")
	}
}

var update = flag.Bool("update", false, "write the golden files anew")

// TestSavedForm checks that the saved form is the one in the golden file, and can be read back. A
// change of the form must follow the rule of [saved.Form].
func TestSavedForm(t *testing.T) {
	own := []netip.AddrPort{addrOf(0), addrOf(1)}
	kept := topology.New(room.Shared(listOf(6), nil))
	with := room.Kept{
		List: func(hash string) (*topology.Tree, error) {
			if hash != "the hash of the list" {
				t.Errorf("asked for is the list %q", hash)
			}
			return kept, nil
		},
		Own: func(hash string) ([]netip.AddrPort, error) {
			if hash != "the hash of the organiser's list" {
				t.Errorf("asked for is the organiser's list %q", hash)
			}
			return own, nil
		},
	}
	set := settings(2)
	set.Agree, set.GuestsVote = wire.Yes, true
	n := votingBy(t, set)
	before := len(n.View().Log)
	set.Limits, set.Password, set.Servers = wire.Limits{150 * time.Millisecond}, "club", own
	n.Step(room.Resettle{Settings: set})
	said := n.View().Log[before:]
	n.OnPage("zoe", room.Vote{Addr: hostport.At(roomtest.AddrOf(1))})
	n.OnPage("yan", room.WhatIf(`{"by":"minimax"}`))
	for _, name := range []string{"zoe", "yan"} { // the golden files show no reveal: only players' pages had one
		n.Step(room.PageClosed{Token: name + "'s token"})
	}
	n.Goes()
	n.Step(room.OwnKept{Kept: "the hash of the organiser's list"})
	form := savedBy(t, n.Room)
	form.Listing.List, form.Listing.Hash, form.Listing.SaidAt = nil, "the hash of the list", n.Now.Add(-time.Minute)
	infos, err := wire.Marshal(wire.Infos{
		Round:   1,
		Servers: []wire.ServerInfo{{Server: 1, Info: discovery.Info{Name: "listed 1", Map: "haven", Mode: "ctf", Players: 4, MaxPlayers: 16}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	form.Listing.Said = infos.Data
	form.Journal.Notes = slices.DeleteFunc(form.Journal.Notes, func(note wire.Note) bool {
		return slices.Contains(said, note)
	})
	for i := range form.Roster.Guests {
		form.Roster.Guests[i].From = netip.Addr{} // as when the golden files were made
	}
	data, err := json.Marshal(form)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := room.RestoreKept(data, topology.New, with)
	if err != nil {
		t.Fatal(err)
	}
	if data, err = whole.Save(); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/room-1.json"
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, data, "", " "); err != nil {
		t.Fatal(err)
	}
	pretty.WriteByte('\n')
	if *update {
		if err := os.WriteFile(file, pretty.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(pretty.Bytes(), golden) {
		t.Errorf("what is saved differs from %s; go test ./host/room -run SavedForm -update shows how", file)
	}
	back, err := room.RestoreKept(golden, topology.New, with)
	if err != nil {
		t.Fatal(err)
	}
	same(t, whole, back)
}

func savedBy(t *testing.T, r *room.Room) saved.Room {
	t.Helper()
	data := roomtest.Saved(t, r)
	s, err := saved.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func idOf(s *saved.Room, name string) people.ID {
	for _, p := range slices.Concat(s.Roster.Players, s.Roster.Guests) {
		if p.Name == name {
			return p.ID
		}
	}
	return ""
}

// quoted returns an ID in JSON.
func quoted(id people.ID) string {
	data, _ := json.Marshal(id)
	return string(data)
}

// TestListGone checks that a room whose list the store has lost keeps its people and gets a new
// list. It gets it at once if it was about to choose, else when the organiser says go.
func TestListGone(t *testing.T) {
	for _, tt := range []struct {
		at    func(t *testing.T) *session
		after wire.Stage
		asks  bool
	}{
		{inVoting, wire.Listing, true},
		{func(t *testing.T) *session {
			n := inVoting(t)
			n.Goes()
			n.Wait(countdownTime + tick)
			n.InStage(wire.Launching)
			return n
		}, wire.Failed, false},
		{func(t *testing.T) *session { n := newSession(t, settings(3)); n.Join("ann"); return n }, wire.Gathering, false},
	} {
		n := tt.at(t)
		form := savedBy(t, n.Room)
		form.Listing.List, form.Listing.Hash = nil, "the hash of the list"
		data, err := json.Marshal(form)
		if err != nil {
			t.Fatal(err)
		}
		back := roomtest.Play(t, roomtest.Read(t, data), n.Now)
		if err := back.Step(room.Resume{}); err != nil || back.Room.Stage() != tt.after || back.Fetches > 0 != tt.asks {
			t.Errorf("a room in %s is in %s after, and asks for %d lists: %v", n.Room.Stage(), back.Room.Stage(), back.Fetches, err)
		}
		if got, want := back.Players(), n.Players(); !slices.Equal(got, want) || !slices.Equal(back.Room.Tokens(), n.Room.Tokens()) {
			t.Errorf("it has the players %v, want %v", got, want)
		}
		same(t, back.Room, restored(t, back.Room))
	}
}

// TestListKeptApart checks that a list that the store has is not saved with the room.
func TestListKeptApart(t *testing.T) {
	n := newSession(t, settings(1))
	n.Join("ann")
	n.Step(room.Listed{List: topology.New(room.Shared(listOf(6), nil)), Kept: "the hash of the list"})
	n.InStage(wire.Measuring)
	if form := savedBy(t, n.Room); form.Listing.List != nil || form.Listing.Hash != "the hash of the list" {
		t.Errorf("saved is the list %q, by the hash %q", form.Listing.List, form.Listing.Hash)
	}
}

// TestEveryFieldIsKept checks that a room that was read from a saved form with a value in every
// field saves all of them again.
func TestEveryFieldIsKept(t *testing.T) {
	waits := newSession(t, settings(2))
	waits.Join("ann", "bob")
	waits.Listed(1)
	for _, name := range []string{"ann", "bob"} {
		waits.Informs(name, 0)
		waits.Measures(name, 20)
	}
	waits.Done("ann", "bob")
	if err := waits.Orders(room.AwaitSeats{}); err != nil {
		t.Fatal(err)
	}
	waits.InStage(wire.Waiting)
	tests := map[string]struct {
		at     func(t *testing.T) *session
		change func(s *saved.Room)
	}{
		"as it is":        {inVoting, func(*saved.Room) {}},
		"while they wait": {func(*testing.T) *session { return waits }, func(*saved.Room) {}},
		"while they ban":  {inBans, func(*saved.Room) {}},
		"Password":        {inVoting, func(s *saved.Room) { s.Password = "club" }},
		"League":          {inVoting, func(s *saved.Room) { s.League = "cup" }},
		"Webhook":         {inVoting, func(s *saved.Room) { s.Webhook = hook }},
		"Closed":          {inVoting, func(s *saved.Room) { s.Closed = true }},
		"Previous":        {inVoting, func(s *saved.Room) { s.Choice.Previous = addrOf(3) }},
		"Brought":         {inVoting, func(s *saved.Room) { s.Brought.Struck = []netip.AddrPort{addrOf(1)} }},
		"Failures":        {inVoting, func(s *saved.Room) { s.Failures = 2 }},
		"Outage":          {inVoting, func(s *saved.Room) { s.Outage.Held = time.Second }},
		"Broken":          {inVoting, func(s *saved.Room) { s.Broken = true }},
		"More":            {inVoting, func(s *saved.Room) { s.More.Servers = 100 }},
		"Origins":         {inVoting, func(s *saved.Room) { s.Origins[idOf(s, "ann")] = origin.Entry{Origin: berlin, IsPlayer: true} }},
		"Sides": {inVoting, func(s *saved.Room) {
			s.Sides = sides.State{Members: []sides.Member{{ID: idOf(s, "ann"), Side: wire.SideB}}, Captains: [2]people.ID{"", idOf(s, "ann")}}
		}},
		"Estimates":  {inVoting, func(s *saved.Room) { s.Estimates.Counted = []people.ID{idOf(s, "zoe")} }},
		"Editions":   {inVoting, func(s *saved.Room) { s.Editions = editions.State{idOf(s, "ann"): edition56} }},
		"Launch":     {inVoting, func(s *saved.Room) { s.Launch = launch.State{idOf(s, "ann"): {State: wire.LaunchStarted}} }},
		"InGame":     {inVoting, func(s *saved.Room) { s.InGame.Turn = 2 }},
		"Evened":     {inVoting, func(s *saved.Room) { s.Evened.Added = map[people.ID]int{idOf(s, "ann"): 30} }},
		"Candidates": {inVoting, func(s *saved.Room) { s.Candidates.Attempt = 3 }},
		"FoundNone":  {inVoting, func(s *saved.Room) { s.FoundNone = true }},
		"Trust": {inVoting, func(s *saved.Room) {
			json.Unmarshal(fmt.Appendf(nil, `{"players":{%s:{"vouched":true}}}`, quoted(idOf(s, "ann"))), &s.Trust)
		}},
		"Nearby": {inVoting, func(s *saved.Room) {
			json.Unmarshal(fmt.Appendf(nil, `{"players":{%s:{"game":"openarena","at":31536000000000000}}}`, quoted(idOf(s, "ann"))), &s.Nearby)
		}},
		"Player.Discreet": {inVoting, func(s *saved.Room) { s.Players[1].ProbeLimit = 20 }},
		"Player.Shares":   {inVoting, func(s *saved.Room) { s.Players[1].Shares = true }},
	}
	isTried := map[string]bool{}
	tries := func(of string, v reflect.Value) {
		for i := range v.NumField() {
			if f := v.Type().Field(i); !f.Anonymous && !v.Field(i).IsZero() {
				isTried[of+f.Name] = true
			}
		}
	}
	for name, tt := range tests {
		form := savedBy(t, tt.at(t).Room)
		tt.change(&form)
		tries("", reflect.ValueOf(form))
		for _, p := range form.Players {
			tries("Player.", reflect.ValueOf(p))
		}
		data, err := json.Marshal(form)
		if err != nil {
			t.Fatal(err)
		}
		back, err := room.Restore(data, topology.New)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if is, was := roomtest.Differ(t, roomtest.Document(t, roomtest.Saved(t, back)), roomtest.Document(t, data)); is != was {
			t.Errorf("%s: saved again it says %s, and said %s", name, is, was)
		}
	}
	for of, fields := range map[string]reflect.Type{"": reflect.TypeFor[saved.Room](), "Player.": reflect.TypeFor[saved.Player]()} {
		for i := range fields.NumField() {
			if f := fields.Field(i); !f.Anonymous && !isTried[of+f.Name] {
				t.Errorf("nothing here has %s%s", of, f.Name)
			}
		}
	}
}

// TestWaited checks that people read how long everything waited, in whole seconds.
func TestWaited(t *testing.T) {
	n := choosing(t, 2)
	for waited, told := range map[time.Duration]string{400 * time.Millisecond: "1 second", 1600 * time.Millisecond: "2 seconds"} {
		n.Step(room.Waited{For: waited})
		n.Noted("the host couldn’t save anything for " + told + ": everything waited, and goes on now")
	}
}
