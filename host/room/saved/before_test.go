package saved

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/calendar"
	"muster/host/room/outage"
	"muster/host/room/roster"
	"muster/host/room/seats"
	"muster/host/wire"
	"muster/selection"
)

var eight = time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)

func TestBallotBefore3(t *testing.T) {
	vote := 1
	s := Room{Version: 2, before3: before3{Voted: true, Vetoes: []selection.Veto{{Player: "ann", Map: "dm1"}}, Numbered: []int{1}}}
	s.Guests = []guestBefore3{{Name: "zoe", personBefore3: personBefore3{Ready: true, Vote: &vote}}}
	s.Players = []Player{{Name: "ann", playerBefore3: playerBefore3{personBefore3: personBefore3{ByHand: true}}}}
	old, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"opened":true,"papers":{"ann":{"by_hand":true},"zoe":{"vote":1,"ready":true}},` +
		`"vetoes":[{"Player":"ann","Server":"","Map":"dm1"}],"numbers":[1]}`
	var back Room
	if err := json.Unmarshal(old, &back); err != nil {
		t.Fatal(err)
	}
	back.upgrade()
	if got, _ := json.Marshal(back.Ballot); string(got) != want {
		t.Errorf("it has %s, want %s", got, want)
	}
	if got, _ := json.Marshal(back); strings.Count(string(got), `"vote"`) != 1 || strings.Count(string(got), "by_hand") != 1 {
		t.Errorf("the room is kept as %s", got)
	}
}

func TestEvidenceBefore3(t *testing.T) {
	const measured = `"report":"AgAAAAIAAisAAgE=","looks":[{"server":1,"state":"answered","rtt_ms":3}],` +
		`"asked":"Bg==","asked_all":true,"before":1,"own":1,"shown":"Dg==","promised":5`
	const heard = `"infos":"AwACBAAACAADZG0xAAAAQAAEAgIAA2xpZQ==","words":"AAAAAALoBwEB0A8="`
	var s, section Room
	for data, into := range map[string]*Room{
		`{"version":2,` + heard + `,"players":[{"name":"ann",` + measured + `}]}`:                          &s,
		`{"version":3,"hearsay":{` + heard + `},"players":[{"name":"ann","evidence":{` + measured + `}}]}`: &section,
	} {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			t.Fatal(err)
		}
		into.upgrade()
	}
	s.Version, s.Ballot, s.Roster, s.Attendance = section.Version, section.Ballot, section.Roster, nil
	if !reflect.DeepEqual(s, section) || s.Players[0].Evidence.Promised != 5 || len(s.Infos.Words) == 0 {
		t.Errorf("read is %+v, want %+v", s, section)
	}
}

func TestTrustBefore3(t *testing.T) {
	const ann = `{"trusted":true}`
	const bob = `{"anomaly":{"player":"bob","sign":"constant","servers":8,"of":9},"odd":{"player":"bob","sign":"slow","servers":3,"of":9},` +
		`"contradicts":{"player":"bob","sign":"contradicts","servers":4,"of":9},"raised":[{"server":2,"rtt_ms":9}]}`
	var s, section Room
	for data, into := range map[string]*Room{
		`{"version":2,"too_near":[3],"players":[{"name":"ann",` + ann[1:] + `,{"name":"bob",` + bob[1:] + `,{"name":"cat"}]}`: &s,
		`{"version":3,"trust":{"players":{"ann":` + ann + `,"bob":` + bob + `},"too_near":[3]},"players":[{"name":"ann"}]}`:   &section,
	} {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			t.Fatal(err)
		}
		into.upgrade()
	}
	if !reflect.DeepEqual(s.Trust, section.Trust) || len(s.Trust.Players) != 2 || s.Trust.TooNear == nil {
		t.Errorf("read is %+v, want %+v", s.Trust, section.Trust)
	}
	if left := s.Trust.WithoutList(); len(left.Players) != 1 || !left.Players["ann"].Trusted || left.TooNear != nil {
		t.Errorf("without its list the room has %+v", left)
	}
}

func TestAttendanceBefore3(t *testing.T) {
	const old = `{"version":2,"players":[{"name":"ann","heard":"2026-11-20T20:00:00Z","done":true,"missed":7},` +
		`{"name":"bob","left_out":true},{"name":"cat","left_out":true,"anomaly":{}}]}`
	const want = `{"ann":{"heard":"2026-11-20T20:00:00Z","done":true,"missed":7},` +
		`"bob":{"heard":"0001-01-01T00:00:00Z","out":"unsaid"},"cat":{"heard":"0001-01-01T00:00:00Z","out":"odd"}}`
	var s Room
	if err := json.Unmarshal([]byte(old), &s); err != nil {
		t.Fatal(err)
	}
	s.upgrade()
	if got, _ := json.Marshal(s.Attendance); string(got) != want {
		t.Errorf("it has %s, want %s", got, want)
	}
	if got, _ := json.Marshal(s.Players[1]); strings.Contains(string(got), "left_out") {
		t.Errorf("the player is kept as %s", got)
	}
}

func TestListsBefore3(t *testing.T) {
	const lists = `{"favourites":[{"addr":"192.0.2.1:27960","by":["ann"]}],"hidden":[{"addr":"192.0.2.2:27960","by":["bob"]}],` +
		`"struck":["192.0.2.3:27960"],"gone":{"secret":"ann"}}`
	var s, section Room
	for data, into := range map[string]*Room{
		`{"version":2,"lists":` + lists + `}`:   &s,
		`{"version":3,"brought":` + lists + `}`: &section,
	} {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			t.Fatal(err)
		}
		into.upgrade()
	}
	if !reflect.DeepEqual(s, Room{Version: 2, Brought: section.Brought, Ballot: s.Ballot}) || len(s.Brought.Left) != 1 {
		t.Errorf("the lists are %+v, want %+v", s.Brought, section.Brought)
	}
}

func TestEditionsBefore3(t *testing.T) {
	const has = `{"luanti":{"version":"5.6","protocol":41}}`
	var s, section Room
	for data, into := range map[string]*Room{
		`{"version":2,"players":[{"name":"ann"},{"name":"ben","editions":` + has + `}]}`:         &s,
		`{"version":3,"players":[{"name":"ann"},{"name":"ben"}],"editions":{"ben":` + has + `}}`: &section,
	} {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			t.Fatal(err)
		}
		into.upgrade()
	}
	s.Version, s.Ballot, s.Roster, s.Attendance = section.Version, section.Ballot, section.Roster, nil
	if !reflect.DeepEqual(s, section) || s.Editions["ben"]["luanti"].Protocol != 41 {
		t.Errorf("read is %+v, want %+v", s.Editions, section.Editions)
	}
}

func TestCountedBefore3(t *testing.T) {
	var s Room
	if err := json.Unmarshal([]byte(`{"version":2,"guests":[{"name":"yan"},{"name":"zoe","counted":true}]}`), &s); err != nil {
		t.Fatal(err)
	}
	s.upgrade()
	if want := []string{"zoe"}; !slices.Equal(s.Estimates.Counted, want) || s.Guests != nil {
		t.Errorf("counted are %v, want %v", s.Estimates.Counted, want)
	}
}

func TestChoiceBefore3(t *testing.T) {
	const chosen = `"selection":{"by":"mean","players":["ann"]},"what_if":{"player":"ann","patch":{"by":"minimax"},"selection":{"by":"minimax"}}`
	var s, section Room
	for data, into := range map[string]*Room{
		`{"version":2,` + chosen + `}`:            &s,
		`{"version":3,"choice":{` + chosen + `}}`: &section,
	} {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			t.Fatal(err)
		}
		into.upgrade()
	}
	if !reflect.DeepEqual(s.Choice, section.Choice) || s.Choice.Selection == nil || s.Selection != nil || s.Choice.WhatIf.Player != "ann" {
		t.Errorf("the choice is %+v, want %+v", s.Choice, section.Choice)
	}
}

func TestLogBefore3(t *testing.T) {
	var s Room
	if err := json.Unmarshal([]byte(`{"version":2,"log":[{"at":"2026-11-20T20:00:00Z","text":"ann is here"}]}`), &s); err != nil {
		t.Fatal(err)
	}
	s.upgrade()
	if want := []wire.Note{{At: eight, Sentence: sentence.Plain("ann is here")}}; !reflect.DeepEqual(s.Journal.Notes, want) || s.Log != nil {
		t.Errorf("the notes are %+v, want %+v", s.Journal.Notes, want)
	}
}

func TestCalendarBefore3(t *testing.T) {
	const played = `[{"round":1,"at":"2026-11-20T20:00:00Z","game":"openarena","server":"den","connect":"192.0.2.1:1","by":"mean","mean_ms":1,"max_ms":1,"players":["ann"]}]`
	const kept = `"evenings":[{"began":"2026-11-13T20:00:00Z","stays":[]}],"tonight":{"began":"2026-11-20T20:00:00Z","stays":null},"left":["A"],` +
		`"reminded":"2026-11-20T16:00:00Z","dated":"2026-11-20T19:30:00Z","unused":5,"counted":"2026-11-20T20:00:00Z","unjoined":true`
	const rest = `"ended":"2026-11-20T22:00:00Z","history":` + played + `,"posts":{"opened":true,"trouble":"refused"}`
	coming := fmt.Sprintf(`"coming":{%q:{"comes":true,"to":"2026-11-27T19:00:00Z"},%q:{"to":"2026-11-27T19:00:00Z"}}`,
		roster.MarkOf("ann's"), roster.MarkOf("zoe's"))
	var s, section Room
	for data, into := range map[string]*Room{
		`{"version":2,"opened":"2026-11-20T20:00:00Z","kept":{` + kept + `},` + rest + `,` +
			`"players":[{"name":"ann","page":"ann's","comes":true,"comes_to":"2026-11-27T19:00:00Z"},{"name":"bob","page":"bob's"}],` +
			`"guests":[{"name":"zoe","page":"zoe's","comes":false,"comes_to":"2026-11-27T19:00:00Z"}]}`: &s,
		`{"version":3,"calendar":{` + kept + `,"used":"2026-11-20T20:00:00Z",` + rest + `,` + coming + `}}`: &section,
	} {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			t.Fatal(err)
		}
		into.upgrade()
	}
	if !reflect.DeepEqual(s.Calendar, section.Calendar) || s.Calendar.Unused != 5 || len(s.Calendar.Coming) != 2 ||
		!reflect.DeepEqual(s.Kept, calendar.Saved{}) {
		t.Errorf("read is %+v, want %+v", s.Calendar, section.Calendar)
	}
	var used Room
	if err := json.Unmarshal([]byte(
		`{"version":2,"opened":"2026-11-20T20:00:00Z","kept":{"used":"2026-11-20T21:00:00Z"}}`), &used); err != nil {
		t.Fatal(err)
	}
	if used.upgrade(); !used.Calendar.Used.Equal(eight.Add(time.Hour)) {
		t.Errorf("it was used at %v", used.Calendar.Used)
	}
}

func TestPauseBefore3(t *testing.T) {
	var s, section Room
	for data, into := range map[string]*Room{
		`{"version":2,"pause":{"on":true,"held":5,"absent":7}}`:  &s,
		`{"version":3,"outage":{"on":true,"held":5,"absent":7}}`: &section,
	} {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			t.Fatal(err)
		}
		into.upgrade()
	}
	if s.Outage != section.Outage || s.Outage != (outage.Saved{On: true, Held: 5, Absent: 7}) {
		t.Errorf("the pause is %+v, want %+v", s.Outage, section.Outage)
	}
}

func TestListingBefore3(t *testing.T) {
	const kept = `"list":"AQ==","list_hash":"hash","said":"Ag==","said_at":"2026-11-20T20:00:00Z",` +
		`"own_hash":"own","own_lost":true,"started":"192.0.2.1:27960"`
	var s, section Room
	for data, into := range map[string]*Room{
		`{"version":2,` + kept + `}`:             &s,
		`{"version":3,"listing":{` + kept + `}}`: &section,
	} {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			t.Fatal(err)
		}
		into.upgrade()
	}
	s.Version, s.Ballot = section.Version, section.Ballot
	if !reflect.DeepEqual(s, section) || s.Listing.Hash != "hash" || !s.Listing.OwnLost || !s.Listing.Started.IsValid() {
		t.Errorf("read is %+v, want %+v", s, section)
	}
}

func TestNearbyBefore3(t *testing.T) {
	const servers = `[{"addr":"192.168.1.5:27960","networks":null,"home":"203.0.113.1","name":"Den","server":2}]`
	const found = `{"game":"openarena","servers":[{"addr":"192.168.1.5:27960","info":{"Name":"Den"}}],"at":"2026-11-20T20:00:00Z"}`
	var s, section Room
	for data, into := range map[string]*Room{
		`{"version":2,"local":` + servers + `,"players":[{"name":"ann","near":` + found + `},{"name":"bob"}]}`:                         &s,
		`{"version":3,"nearby":{"servers":` + servers + `,"players":{"ann":` + found + `}},"players":[{"name":"ann"},{"name":"bob"}]}`: &section,
	} {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			t.Fatal(err)
		}
		into.upgrade()
	}
	s.Version, s.Ballot, s.Roster, s.Attendance = section.Version, section.Ballot, section.Roster, nil
	if !reflect.DeepEqual(s, section) || len(s.Nearby.Servers) != 1 || len(s.Nearby.Players["ann"].Servers) != 1 {
		t.Errorf("read is %+v, want %+v", s, section)
	}
}

func TestPlacesBefore3(t *testing.T) {
	const survey = `"attempt":2,"at":"2026-11-20T20:00:00Z","told":true,"anew":1,` +
		`"homes":[{"player":"ann","place":{"name":"ann's computer","addr":"203.0.113.1:7787","protocol":"beacon"}}]`
	const found = `{"attempt":2,"found":[{"state":"answered","rtt_ms":20}]}`
	var s, section Room
	for data, into := range map[string]*Room{
		`{"version":2,"survey":{` + survey + `},"players":[{"name":"ann","surveyed":` + found + `},{"name":"bob"}]}`:      &s,
		`{"version":3,"places":{` + survey + `,"found":{"ann":` + found + `}},"players":[{"name":"ann"},{"name":"bob"}]}`: &section,
	} {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			t.Fatal(err)
		}
		into.upgrade()
	}
	if !reflect.DeepEqual(s.Places, section.Places) || len(s.Places.Found) != 1 || s.Players[0].Surveyed.Attempt != 0 {
		t.Errorf("read is %+v, want %+v", s.Places, section.Places)
	}
}

func TestRosterBefore3(t *testing.T) {
	const person = `"name":"ann","arrival":3,"somewhere":true,"becomes":"anna","organiser":true,"regular":true,"page":"P","token":"T"`
	const guest = `"name":"zoe","page":"Z","from":"192.0.2.1","seen":"2026-11-20T20:00:00Z"`
	const keys = `"code":"BAKODI","link":"L","secret":"S","locked":true`
	var s, section Room
	for data, into := range map[string]*Room{
		`{"version":2,` + keys + `,"players":[{` + person + `}],"guests":[{` + guest + `}]}`:            &s,
		`{"version":3,"roster":{` + keys + `,"players":[{` + person + `}],"guests":[{` + guest + `}]}}`: &section,
	} {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			t.Fatal(err)
		}
		into.upgrade()
	}
	if !reflect.DeepEqual(s.Roster, section.Roster) || len(s.Roster.Guests) != 1 || !s.Roster.Players[0].Somewhere {
		t.Errorf("the roster is %+v, want %+v", s.Roster, section.Roster)
	}
	if got, _ := json.Marshal(s.Players[0]); !s.Roster.Locked || s.before3.Code != "" || strings.Contains(string(got), "arrival") {
		t.Errorf("the player is kept as %s", got)
	}
}

func TestLaunchBefore3(t *testing.T) {
	const way = `"launch":"failed","detail":"no such program","again":"2026-11-20T20:00:00Z"`
	var s, section Room
	for data, into := range map[string]*Room{
		`{"version":2,"players":[{"name":"ann",` + way + `},{"name":"bob"}]}`:                    &s,
		`{"version":3,"launch":{"ann":{` + way + `}},"players":[{"name":"ann"},{"name":"bob"}]}`: &section,
	} {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			t.Fatal(err)
		}
		into.upgrade()
	}
	if !reflect.DeepEqual(s.Launch, section.Launch) || s.Launch["ann"].Again != eight || !s.Players[0].Detail.IsZero() {
		t.Errorf("the ways are %+v, want %+v", s.Launch, section.Launch)
	}
}

func TestOriginsBefore3(t *testing.T) {
	const ann, zoe = `{"addr":"198.51.100.1","country":"DE","apart":true}`, `{"near":"10.8.0.7"}`
	var s, section Room
	for data, into := range map[string]*Room{
		`{"version":2,"players":[{"name":"ann","apart":true,"origin":{"addr":"198.51.100.1","country":"DE"}},{"name":"bob"}],` +
			`"guests":[{"name":"zoe","origin":` + zoe + `}]}`: &s,
		`{"version":3,"origins":{"ann":` + ann + `,"zoe":` + zoe + `}}`: &section,
	} {
		if err := json.Unmarshal([]byte(data), into); err != nil {
			t.Fatal(err)
		}
		into.upgrade()
	}
	if !reflect.DeepEqual(s.Origins, section.Origins) || !s.Origins["ann"].IsApart || s.Players[0].Apart {
		t.Errorf("they come from %+v, want %+v", s.Origins, section.Origins)
	}
}

// TestWaitingBefore3 checks that the wait for seats is read from the phase of forms 1 and 2, even
// if it was given up.
func TestWaitingBefore3(t *testing.T) {
	servers := selection.Servers{List: make([]discovery.Server, 1), Infos: map[int]*discovery.Info{0: {Players: 16, MaxPlayers: 16}}}
	want := seats.Begin([]selection.Ranked{{Server: 0, MeanMS: 20}}, nil, servers, 0, eight).Save()
	wait, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	for _, phase := range []Phase{
		{"waiting", wait},
		{"failed", json.RawMessage(`{"waited":` + string(wait) + "}")},
	} {
		s := Room{Version: 2, Phase: phase}
		if s.upgrade(); want.Began.IsZero() || !reflect.DeepEqual(s.Seats, want) {
			t.Errorf("%+v has become %+v", want, s.Seats)
		}
	}
	nonsense := Room{Version: 1, Phase: Phase{"waiting", json.RawMessage(`{"began":7}`)}}
	if nonsense.upgrade(); !nonsense.Seats.Began.IsZero() {
		t.Errorf("nonsense has become %+v", nonsense.Seats)
	}
}

// TestRead checks that unknown forms are refused, a later one by its own error.
func TestRead(t *testing.T) {
	for data, later := range map[string]bool{`{"version":5}`: true, `{"version":0}`: false, `{`: false, `[]`: false, ``: false} {
		if _, err := Read([]byte(data)); err == nil || errors.Is(err, ErrNewer) != later {
			t.Errorf("%s: %v", data, err)
		}
	}
	for _, form := range []string{`{"version":1,"code":"BAKODI"}`, `{"version":2,"code":"BAKODI"}`,
		`{"version":3,"roster":{"code":"BAKODI"}}`, `{"version":4,"roster":{"code":"BAKODI"}}`} {
		if s, err := Read([]byte(form)); err != nil || s.Roster.Code != "BAKODI" {
			t.Errorf("%s: %+v, %v", form, s.Roster, err)
		}
	}
}
