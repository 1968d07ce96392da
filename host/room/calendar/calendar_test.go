package calendar

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/internal/catalogue"
)

var (
	// eight is a Friday, and an hour after the group meets.
	eight  = time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)
	friday = time.Date(2026, 11, 27, 19, 0, 0, 0, time.UTC)
	after  = time.Date(2026, 12, 4, 19, 0, 0, 0, time.UTC)

	yes, no = true, false
)

const fridays = "fri 20:00 Europe/Berlin"

// everybody returns the players ann, the organiser, and bob, and the guest zoe.
func everybody() []people.Person {
	return []people.Person{
		{ID: "1", Mark: "A", Name: "ann", IsPlayer: true, IsHere: true, IsOrganiser: true, Seen: roomtime.Opening},
		{ID: "2", Mark: "B", Name: "bob", Arrival: 1, IsPlayer: true, IsHere: true, Seen: roomtime.Opening},
		{ID: "3", Mark: "Z", Name: "zoe", Arrival: 2, HasPage: true, Seen: roomtime.Opening},
	}
}

// room plays a calendar's room, on a clock of its own.
type room struct {
	*Calendar
	Facts
	// did are the calendar's events, a line each.
	did []string
}

func newRoom(every string, known ...people.Person) *room {
	r := &room{New(eight), Facts{Every: every, Name: "Friday", Game: "openarena", People: known}, nil}
	r.sets(eight)
	return r
}

// sets lets it be another time.
func (r *room) sets(now time.Time) {
	r.Now = roomtime.Clocks{Room: roomtime.Opening.Add(now.Sub(eight)), Wall: now}
}

// follow carries out events as a room does.
func (r *room) follow(events ...Event) {
	at := r.Now.Wall.Sub(eight)
	for _, e := range events {
		switch e := e.(type) {
		case Note:
			r.did = append(r.did, fmt.Sprintf("%v note %s", at, catalogue.InEnglish().Say(e.Says)))
		case Announce:
			r.did = append(r.did, fmt.Sprintf("%v announce %s", at, e.Announcement.Text))
		case Open:
			r.did = append(r.did, fmt.Sprintf("%v open: %s", at, catalogue.InEnglish().Say(e.Why)))
		case Sleep:
			r.did = append(r.did, fmt.Sprintf("%v sleep: %s %v", at, catalogue.InEnglish().Say(e.Why), e.Forget))
			r.People = slices.DeleteFunc(r.People, func(p people.Person) bool { return slices.Contains(e.Forget, p.ID) })
			for i := range r.People {
				r.People[i].IsPlayer, r.People[i].IsHere = false, false
			}
		case Save, Changed:
		}
	}
}

// until lets time pass as a host does: the room gets it when it asks.
func (r *room) until(t *testing.T, end time.Time) (ticks int) {
	t.Helper()
	for {
		next := r.Calendar.Next(r.Facts)
		if !next.After(r.Now.Wall) {
			next = r.Now.Wall.Add(time.Second)
		}
		if next.After(end) {
			r.sets(end)
			return ticks
		}
		r.sets(next)
		r.tick()
		if ticks++; ticks > 10_000 {
			t.Fatalf("the calendar asks for the time again and again, at %v", r.Now.Wall)
		}
	}
}

func (r *room) tick() {
	r.follow(r.Tick(r.Facts)...)
	r.follow(r.Advance(r.Facts)...)
}

// restarts lets another host go on with the saved calendar.
func (r *room) restarts(t *testing.T) {
	t.Helper()
	data, err := json.Marshal(r.State())
	if err != nil {
		t.Fatal(err)
	}
	r.Calendar = &Calendar{}
	if err := json.Unmarshal(data, r.State()); err != nil {
		t.Fatal(err)
	}
	if err := r.State().Validate(); err != nil {
		t.Fatal(err)
	}
	r.follow(r.Advance(r.Facts)...)
}

// wants compares the calendar's events since the last time.
func (r *room) wants(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(r.did, want) {
		t.Errorf("it wants\n%s\nnot\n%s", strings.Join(r.did, "\n"), strings.Join(want, "\n"))
	}
	r.did = nil
}

// TestNextDate checks that a date is the next one until an hour after it, or until its session has
// ended.
func TestNextDate(t *testing.T) {
	r := newRoom(fridays, everybody()...)
	next := func(want time.Time) {
		t.Helper()
		events := r.Advance(r.Facts)
		if got := r.View(r.Facts).Meeting.Next; !got.Equal(want) {
			t.Errorf("at %v the next date is %v, want %v", r.Now.Wall, got, want)
		}
		r.follow(events...)
	}
	r.sets(eight.Add(-time.Second))
	next(eight.Add(-time.Hour)) // somebody may be late
	r.sets(eight)
	next(friday)
	if events := r.Advance(r.Facts); events != nil {
		t.Errorf("what is shown changes although no time passes: %v", events)
	}
	r.sets(friday.Add(dateStays - time.Second))
	next(friday)
	if events := r.Advance(r.Facts); events != nil {
		t.Errorf("what was done for a date is done again: %v", events)
	}
	r.sets(friday.Add(dateStays))
	next(after)
	r = newRoom(fridays, everybody()...)
	r.sets(friday.Add(20 * time.Minute))
	next(friday)
	r.End("ann", r.Facts)
	next(after)
	r.Every = "2026-11-27 20:00 Europe/Berlin"
	next(time.Time{})
	r.Every = ""
	if r.Advance(r.Facts); r.View(r.Facts).Meeting != nil {
		t.Error("a room that is no standing one has a meeting")
	}
}

// TestReminder checks that a reminder names the people who come, and no stranger.
func TestReminder(t *testing.T) {
	r := newRoom(fridays, everybody()...)
	r.Posts = true
	r.People = append(r.People, people.Person{ID: "4", Mark: "C", Name: "cat", IsRegular: true},
		people.Person{ID: "5", Mark: "D", Name: "dan", IsRegular: true}, people.Person{ID: "6", Mark: "E", Name: "eve", IsPlayer: true})
	r.Advance(r.Facts)
	for mark, comes := range map[string]*bool{"A": &yes, "B": &yes, "C": &yes, "D": &no, "Z": &yes} {
		if err := r.Come(mark, comes, r.Facts); err != nil {
			t.Fatal(err)
		}
	}
	r.Come("B", nil, r.Facts) // zoe takes it back
	r.sets(friday.Add(-time.Hour))
	r.follow(r.Advance(r.Facts)...)
	r.wants(t, "166h0m0s note the next game night is near",
		"166h0m0s announce We play openarena on Friday, 27 November, at 20:00 CET. Coming: ann and cat.")
}

// TestCome checks that a word on coming belongs to one date, and is forgotten with the person.
func TestCome(t *testing.T) {
	r := newRoom("whenever", everybody()...)
	r.Advance(r.Facts)
	if err := r.Come("A", &yes, r.Facts); err != errNoDate {
		t.Errorf("ann comes, and to nothing: %v", err)
	}
	r.Every = fridays
	r.Advance(r.Facts)
	r.Come("A", &no, r.Facts)
	r.Come("Z", &yes, r.Facts)
	if !r.HasAnswered("A") || r.HasAnswered("B") || !r.HasAnswered("Z") {
		t.Error("it is not known who has said whether they come")
	}
	r.sets(friday.Add(dateStays))
	if r.Advance(r.Facts); r.HasAnswered("A") || r.HasAnswered("Z") {
		t.Error("what was said of a date holds of the next")
	}
	r.sets(eight)
	r.Advance(r.Facts)
	if !r.HasAnswered("A") {
		t.Error("a clock that was ahead has made the room forget who comes")
	}
	zoe := r.People[2]
	r.People = r.People[:2]
	r.Advance(r.Facts)
	r.People = append(r.People, zoe)
	if r.Advance(r.Facts); r.HasAnswered("Z") {
		t.Error("somebody who has left and is back is still taken to come")
	}
}

// TestIdle checks that a room sleeps two hours after the last program, and not before.
func TestIdle(t *testing.T) {
	const sleeps = "everyone has left: the night is over, and the room sleeps"
	for _, tt := range []struct {
		name, every string
		// change happens an hour after the room has opened.
		change func(*room)
		// sleeps is when the room falls asleep, and last when the session ended; 0 is never.
		sleeps, last time.Duration
	}{
		{"somebody is there", fridays, func(r *room) {}, 0, 0},
		{"no standing room", "", func(r *room) { r.People = r.People[2:] }, 0, 0},
		{"the last has left for good", fridays, func(r *room) { r.People = r.People[2:] }, 3 * time.Hour, time.Hour},
		{"the last has lost the connection", fridays, func(r *room) {
			for i := range r.People {
				r.People[i].IsHere = false
			}
			r.Heard = eight.Add(30 * time.Minute)
		}, 3 * time.Hour, time.Hour},
		{"a host that was started again", fridays, func(r *room) {
			for i := range r.People {
				r.People[i].IsHere = false
			}
			r.Heard = eight.Add(30 * time.Minute)
			r.restarts(t)
		}, 150 * time.Minute, 30 * time.Minute},
		{"closed", fridays, func(r *room) { r.People, r.IsClosed = r.People[2:], true }, 0, 0},
		{"the clock was ahead when the last left", fridays, func(r *room) {
			r.sets(eight.AddDate(9, 0, 0))
			r.People = r.People[2:]
			r.Advance(r.Facts)
			r.sets(eight.Add(time.Hour))
			r.tick()
		}, 3 * time.Hour, time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRoom(tt.every, everybody()...)
			r.tick()
			r.sets(eight.Add(30 * time.Minute))
			r.Play(wire.Played{Round: 1}, nil, r.Facts)
			r.sets(eight.Add(time.Hour))
			tt.change(r)
			r.follow(r.Advance(r.Facts)...)
			r.until(t, eight.Add(12*time.Hour))
			if tt.sleeps == 0 {
				r.tick()
				r.wants(t)
				return
			}
			if len(r.did) != 1 || !strings.HasPrefix(r.did[0], fmt.Sprintf("%v sleep: %s", tt.sleeps, sleeps)) {
				t.Errorf("it wants %v", r.did)
			}
			if e := r.History("").Sessions; len(e) != 1 || !e[0].Ended.Equal(eight.Add(tt.last)) || !e[0].Stays[0].Until.Equal(e[0].Ended) {
				t.Errorf("the session is %+v", e)
			}
		})
	}
}

// TestForgotten checks that a room that sleeps forgets only the right people.
func TestForgotten(t *testing.T) {
	for _, tt := range []struct {
		name   string
		person people.Person
		comes  *bool
		is     bool
	}{
		{"a player who has not played", people.Person{IsPlayer: true, IsHere: true}, nil, true},
		{"a player who has", people.Person{IsPlayer: true, IsRegular: true}, nil, false},
		{"a regular who is away", people.Person{IsRegular: true}, nil, false},
		{"the organiser", people.Person{IsOrganiser: true}, nil, false},
		{"somebody who looks on", people.Person{HasPage: true}, nil, false},
		{"somebody who looked on", people.Person{}, nil, true},
		{"somebody who will come", people.Person{}, &yes, false},
		{"somebody who will not", people.Person{}, &no, false},
	} {
		tt.person.ID, tt.person.Mark = "1", "X"
		r := newRoom(fridays, tt.person)
		r.Advance(r.Facts)
		r.Come("X", tt.comes, r.Facts)
		if end, err := r.End("", r.Facts); err != nil || slices.Contains(end.Forget, "1") != tt.is {
			t.Errorf("%s: forgotten are %v, %v", tt.name, end.Forget, err)
		}
	}
}

// TestMostRegulars checks that the newest players get the places of the regulars who were away
// longest.
func TestMostRegulars(t *testing.T) {
	r := newRoom(fridays, people.Person{ID: "ann", IsOrganiser: true, IsRegular: true})
	for i := range maxRegulars + 2 {
		r.People = append(r.People, people.Person{
			ID:        people.ID(fmt.Sprint(i)),
			IsRegular: true,
			IsPlayer:  i < 2,
			Seen:      roomtime.Opening.Add(-time.Duration(i) * time.Minute),
		})
	}
	end, err := r.End("", r.Facts)
	want := people.IDs([]string{fmt.Sprint(maxRegulars + 1), fmt.Sprint(maxRegulars)})
	if err != nil || !slices.Equal(end.Forget, want) {
		t.Errorf("forgotten are %v, want %v: %v", end.Forget, want, err)
	}
}

// TestMissedEnd checks that the room recognises a program that was away when the session ended.
func TestMissedEnd(t *testing.T) {
	for _, tt := range []struct {
		name, mark string
		after      time.Duration
		opens      bool
		is         bool
	}{
		{"a player who was away", "B", time.Minute, false, true},
		{"half an hour later", "B", returnsWithin, false, false},
		{"somebody who was not there", "X", time.Minute, false, false},
		{"one who looked on", "Z", time.Minute, false, false},
		{"a room that was opened again", "B", time.Minute, true, false},
		{"a clock that was ahead", "B", -time.Minute, false, false},
	} {
		r := newRoom(fridays, everybody()...)
		if r.MissedEnd(tt.mark, r.Now.Wall) != nil {
			t.Errorf("%s: told of the end before it", tt.name)
		}
		r.End("ann", r.Facts)
		r.restarts(t)
		r.sets(r.Now.Wall.Add(tt.after))
		if tt.opens {
			r.Open("ann", r.Facts)
		}
		if why := r.MissedEnd(tt.mark, r.Now.Wall); (why != nil) != tt.is || why != nil && why.Reason != wire.ReasonEnded {
			t.Errorf("%s: refused as %v", tt.name, why)
		}
	}
}

// TestMissedEndOfTheLast checks that a program is told only of the end of the newest session.
func TestMissedEndOfTheLast(t *testing.T) {
	r := newRoom(fridays, everybody()...)
	r.End("ann", r.Facts)
	r.Open("ann", r.Facts)
	r.People = r.People[:1]
	r.End("ann", r.Facts)
	if r.MissedEnd("A", r.Now.Wall) == nil || r.MissedEnd("B", r.Now.Wall) != nil {
		t.Error("bob, who was not there, has missed the end")
	}
}

// TestUse checks that the calendar knows for how long a room was empty, and whether anybody uses
// it.
func TestUse(t *testing.T) {
	away := everybody()
	away[0].IsHere, away[1].IsHere = false, false
	for _, tt := range []struct {
		name   string
		every  string
		people []people.Person
		at     time.Duration
		change func(*room)
		want   Use
	}{
		{"nobody was there yet", "", nil, 0, func(r *room) {}, Use{Empty: 1}},
		{"for a day", "", nil, KeepEmpty, func(r *room) {}, Use{Empty: KeepEmpty}},
		{"for longer", "", nil, KeepEmpty + 1, func(r *room) {}, Use{Empty: KeepEmpty + 1, IsOver: true}},
		{"players are there", "", everybody(), 90 * time.Hour, func(r *room) {}, Use{IsClaimed: true}},
		{"players are away", "", away, time.Hour, func(r *room) {
			r.Heard = eight.Add(time.Minute)
		}, Use{IsClaimed: true, Empty: 59 * time.Minute}},
		{"closed", "", everybody(), 0, func(r *room) { r.IsClosed = true }, Use{IsClaimed: true, IsOver: true}},
		{"a standing one", fridays, nil, 0, func(r *room) {}, Use{IsStanding: true, Empty: 1}},
		{"for half a year", fridays, nil, 0, func(r *room) { r.until(t, eight.AddDate(0, 0, 180)) },
			Use{IsStanding: true, Empty: 2 * time.Hour, Unused: 180 * 24 * time.Hour}},
		{"after a clock has jumped", fridays, nil, 0, func(r *room) { r.sets(r.Now.Wall.AddDate(9, 0, 0)); r.tick(); r.sets(eight); r.tick() },
			Use{IsStanding: true, Unused: maxAge}},
		{"and somebody came", fridays, nil, 0, func(r *room) {
			r.until(t, eight.AddDate(0, 0, 90))
			r.People = everybody()
			r.tick()
			r.restarts(t)
		},
			Use{IsStanding: true, IsClaimed: true}},
		{"a guest comes", fridays, everybody()[2:], 0, func(r *room) {
			r.Come("Z", &yes, r.Facts)
			r.restarts(t)
		}, Use{IsStanding: true, IsClaimed: true, Empty: 1}},
		{"a guest does not", fridays, everybody()[2:], 0, func(r *room) { r.Come("Z", &no, r.Facts) }, Use{IsStanding: true, Empty: 1}},
	} {
		r := newRoom(tt.every, tt.people...)
		r.Advance(r.Facts)
		r.sets(eight.Add(tt.at))
		tt.change(r)
		got := r.Use(r.Facts)
		if tt.want.Unused > 0 { // unused time matters more than the time of opening
			tt.want.Empty = got.Empty
		}
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestAnnouncements checks that a room says once that it is open, and posts nothing without a
// webhook.
func TestAnnouncements(t *testing.T) {
	const open = "0s announce Friday is open: we're looking for a openarena server."
	r := newRoom("", everybody()...)
	r.IsGathering = true
	r.tick()
	r.follow(r.Announce(wire.Announcement{Kind: wire.AnnouncedChoice}, r.Facts)...)
	r.follow(r.Posted(sentence.Plain("for another"), r.Facts)...)
	if r.wants(t); r.View(r.Facts).Posts != nil {
		t.Error("posts are shown of a room without a webhook")
	}
	r.Posts, r.IsGathering = true, false
	r.tick()
	r.wants(t) // the group is on its way
	r.IsGathering = true
	if next := r.Calendar.Next(r.Facts); !next.Equal(r.Now.Wall) {
		t.Errorf("it says that it is open at %v", next)
	}
	r.Advance(r.Facts)
	r.wants(t) // this waits for a tick
	r.tick()
	r.restarts(t)
	r.tick()
	r.wants(t, open)
	r.ForgetPosts()
	r.tick()
	r.wants(t, open)
	a := r.Announce(wire.Announcement{Kind: wire.AnnouncedOpen}, r.Facts)[0].(Announce).Announcement
	if want := []wire.AnnouncedPlayer{{Name: "ann"}, {Name: "bob"}}; !slices.Equal(a.Players, want) ||
		a.Format != wire.AnnouncementFormat || !a.At.Equal(eight) {
		t.Errorf("told is %+v", a)
	}
	for range 2 {
		r.follow(r.Posted(sentence.Plain("refused\x1b (404)"), r.Facts)...)
	}
	r.wants(t, "0s note not posted: refused (404)")
	if p := r.View(r.Facts).Posts; catalogue.InEnglish().Say(p.Trouble) != "refused (404)" || !p.At.IsZero() {
		t.Errorf("shown is %+v", p)
	}
	r.follow(r.Posted(sentence.Sentence{}, r.Facts)...)
	if p := r.View(r.Facts).Posts; !p.Trouble.IsZero() || !p.At.Equal(eight) {
		t.Errorf("shown is %+v", p)
	}
	r.Posted(sentence.Plain("refused"), r.Facts)
	r.ForgetPosts()
	if p := r.View(r.Facts).Posts; *p != (wire.Posts{}) {
		t.Errorf("the new webhook has the trouble of the one before: %+v", p)
	}
}

// golden is a calendar in its saved form.
const golden = `{"evenings":[{"began":"2026-11-13T20:00:00Z","ended":"2026-11-13T23:00:00Z","stays":[]}],` +
	`"tonight":{"began":"2026-11-20T20:00:00Z","stays":[{"at":"2026-11-20T20:00:00Z","game":"openarena","server":"den",` +
	`"connect":"192.0.2.1:27960","mean_ms":30,"players":[{"who":"A","name":"ann","ping_ms":40,"liked":true}]}]},` +
	`"history":[{"round":1,"at":"2026-11-20T20:00:00Z","game":"openarena","server":"den","connect":"192.0.2.1:27960","by":"mean","mean_ms":30,"max_ms":40,"players":["ann"]}],` +
	`"ended":"2026-11-20T22:00:00Z","left":["A"],"coming":{"A":{"comes":true,"to":"2026-11-27T19:00:00Z"},"B":{"to":"2026-11-27T19:00:00Z"}},"agreed":true,` +
	`"reminded":"2026-11-20T19:00:00Z","dated":"2026-11-20T19:00:00Z","used":"2026-11-20T22:00:00Z","unused":5,` +
	`"counted":"2026-11-20T20:00:00Z","unjoined":true,"posts":{"opened":true,"at":"2026-11-20T20:00:00Z","trouble":{"key":"plain","with":{"text":"refused"}}}}`

// TestSaved checks that a saved calendar comes back whole.
func TestSaved(t *testing.T) {
	var s State
	if err := json.Unmarshal([]byte(golden), &s); err != nil || s.Validate() != nil {
		t.Fatal(err, s.Validate())
	}
	data, err := json.Marshal(s)
	if err != nil || string(data) != golden {
		t.Errorf("%v, and not\n%v\n%v", string(data), golden, err)
	}
	for v, i := reflect.ValueOf(s), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("the golden text has no %s", v.Type().Field(i).Name)
		}
	}
	if (&State{Unused: -1}).Validate() == nil {
		t.Error("a room was unused for less than no time")
	}
}

// FuzzRestore checks that any section that is accepted can be shown, goes on, and is saved again.
func FuzzRestore(f *testing.F) {
	f.Add([]byte(golden), int64(0))
	f.Add([]byte(`{"evenings":[{},{"stays":[{"players":[{}]}]}],"tonight":{"stays":null},"coming":{"":{}}}`), int64(1)<<40)
	f.Add([]byte(`{"left":[""],"ended":"9999-12-31T00:00:00Z","used":"0001-01-01T00:00:00Z"}`), int64(-1)<<62)
	f.Fuzz(func(t *testing.T, data []byte, passed int64) {
		c := &Calendar{}
		if json.Unmarshal(data, c.State()) != nil || c.State().Validate() != nil {
			return
		}
		r := &room{c, Facts{Every: fridays, Posts: true, IsGathering: true, People: everybody()}, nil}
		r.sets(eight.Add(time.Duration(passed)))
		r.tick()
		if c.state.Used.Sub(r.Now.Wall) > maxAhead || c.state.Ended.After(r.Now.Wall) {
			t.Fatalf("at %v the room was used at %v, and ended at %v", r.Now.Wall, c.state.Used, c.state.Ended)
		}
		r.Play(wire.Played{Round: 1}, nil, r.Facts)
		r.Like("A", &yes)
		end, _ := r.End("ann", r.Facts)
		r.follow(end)
		r.Forget("B", "bob")
		r.restarts(t)
		if e := r.History(""); len(e.Sessions) == 0 || len(e.Sessions) > maxSessions {
			t.Fatalf("%d sessions are kept", len(e.Sessions))
		}
		if _, err := json.Marshal(r.View(r.Facts)); err != nil {
			t.Fatal(err)
		}
	})
}
