package calendar

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/host/room/people"
	"muster/host/wire"
)

// den returns the destination of a round that chose for ann and bob.
func den(round int, connect string) wire.Played {
	return wire.Played{
		Round:   round,
		At:      eight,
		Game:    "openarena",
		Server:  "den",
		Connect: connect,
		Country: "DE",
		Map:     "dm1",
		MeanMS:  30,
		Players: []string{"ann", "zoe"},
	}
}

// TestPlay checks that a repeated launch is told from a new one, and that both are written down.
func TestPlay(t *testing.T) {
	r := newRoom(fridays, everybody()...)
	r.People[1].IsHere = false // bob is away, and nobody chose for bob
	for _, tt := range []struct {
		played             wire.Played
		isNew, isElsewhere bool
		history, stays     int
	}{
		{den(1, "192.0.2.1:1"), true, false, 1, 1},
		{den(1, "192.0.2.1:1"), false, false, 1, 1},
		{den(1, "192.0.2.2:1"), true, true, 1, 1},
		{den(2, "192.0.2.2:1"), true, false, 2, 2},
	} {
		trip := r.Play(tt.played, map[string]float64{"ann": 40}, r.Facts)
		if trip.IsNew != tt.isNew || trip.IsElsewhere != tt.isElsewhere || !slices.Equal(trip.Regulars, []people.ID{"1"}) {
			t.Errorf("round %d to %s is %+v", tt.played.Round, tt.played.Connect, trip)
		}
		history, stays := r.View(r.Facts).History, r.History("").Sessions[0].Stays
		if len(history) != tt.history || len(stays) != tt.stays || history[tt.history-1].Connect != tt.played.Connect ||
			stays[tt.stays-1].Connect != tt.played.Connect {
			t.Errorf("after round %d to %s: %+v, %+v", tt.played.Round, tt.played.Connect, history, stays)
		}
		r.sets(r.Now.Wall.Add(time.Hour))
	}
	r.Leave(r.Now.Wall)
	r.Leave(r.Now.Wall.Add(time.Hour)) // the launch leaves from no server now
	want := wire.Session{Began: eight.Add(2 * time.Hour), Stays: []wire.Stay{
		{At: eight.Add(2 * time.Hour), Until: eight.Add(3 * time.Hour)}, {At: eight.Add(3 * time.Hour), Until: eight.Add(4 * time.Hour)},
	}}
	for i := range want.Stays {
		stay := &want.Stays[i]
		stay.Game, stay.Server, stay.Connect, stay.Country, stay.Map, stay.MeanMS = "openarena", "den", "192.0.2.2:1", "DE", "dm1", 30
		stay.Players = []wire.Seat{{Name: "ann", PingMS: 40}, {Name: "zoe"}}
	}
	if e := r.History("Friday"); !reflect.DeepEqual(e, wire.History{
		Format:   wire.HistoryFormat,
		Room:     "Friday",
		Sessions: []wire.Session{want},
	}) {
		t.Errorf("the history is %+v, want %+v", e, want)
	}
	r = newRoom("", everybody()...)
	if trip := r.Play(den(1, ""), nil, r.Facts); trip.Regulars != nil || len(r.History("").Sessions) != 0 ||
		len(r.View(r.Facts).History) != 1 {
		t.Errorf("a room that is no standing one: %+v, %+v", trip, r.History(""))
	}
}

// TestBound checks that the history is bounded in sessions, in rounds of a session, and in seats.
func TestBound(t *testing.T) {
	for _, tt := range []struct{ sessions, stays, seats, left int }{
		{maxSessions, 1, 10, maxSessions},
		{maxSessions + 5, 1, 10, maxSessions},
		{maxSessions, 4, 10, maxSessions},
		{maxSessions, 4, 20, maxSessions / 2},
		{3, maxStays, 1000, 1}, // the newest stays, whatever its size
	} {
		r := newRoom("whenever")
		for i := range tt.sessions {
			r.sets(eight.AddDate(0, 0, i))
			r.state.Current.Began = r.Now.Wall
			for range tt.stays {
				r.state.Current.Stays = append(r.state.Current.Stays, wire.Stay{Players: make([]wire.Seat, tt.seats)})
			}
			r.End("", r.Facts)
			r.Open("", r.Facts)
		}
		if e := r.History("").Sessions; len(e) != tt.left || !e[tt.left-1].Began.Equal(r.Now.Wall) {
			t.Errorf("of %d sessions with %d rounds of %d are left %d, want %d", tt.sessions, tt.stays, tt.seats, len(e), tt.left)
		}
		if s := (State{Sessions: make([]wire.Session, tt.sessions)}); s.Validate() != nil || len(s.Sessions) > maxSessions {
			t.Errorf("of %d sessions %d are restored", tt.sessions, len(s.Sessions))
		}
	}
	r := newRoom("whenever", everybody()...)
	for round := range maxStays + 7 {
		r.Play(den(round, ""), nil, r.Facts)
	}
	if e := r.History("").Sessions; len(e[0].Stays) != maxStays {
		t.Errorf("a session of %d rounds is kept as %d", maxStays+7, len(e[0].Stays))
	}
}

// TestLike checks that only people who played on the last server can say how they liked it.
func TestLike(t *testing.T) {
	r := newRoom("whenever", everybody()...)
	if err := r.Like("A", &yes); err != errNotThere {
		t.Errorf("before there was anything: %v", err)
	}
	r.Play(den(1, "a"), nil, r.Facts)
	r.People = r.People[:1]
	r.Play(den(2, "b"), nil, r.Facts)
	end, _ := r.End("", r.Facts)
	r.follow(end)
	if err := r.Like("B", &yes); err != errNotThere {
		t.Errorf("bob, who had left before, says %v", err)
	}
	if err := r.Like("A", &no); err != nil {
		t.Error(err)
	}
	if e := r.History("").Sessions[0]; e.Stays[0].Players[0].Liked != nil || *e.Stays[1].Players[0].Liked {
		t.Errorf("noted is %+v", e)
	}
	if r.Like("A", nil); r.History("").Sessions[0].Stays[1].Players[0].Liked != nil {
		t.Error("ann cannot take it back")
	}
}

// TestMeeting checks that everybody sees the people who may come, and the room's last server.
func TestMeeting(t *testing.T) {
	r := newRoom(fridays, everybody()...)
	r.Play(den(1, "a"), nil, r.Facts)
	r.Like("A", &yes)
	r.sets(eight.Add(time.Hour))
	r.Advance(r.Facts)
	r.Come("A", &no, r.Facts)
	r.People = append(r.People, people.Person{ID: "4", Mark: "C", Name: "cat", IsRegular: true}, people.Person{ID: "5", Mark: "D", Name: "dan"},
		people.Person{ID: "6", Mark: "E", Name: "eve", HasPage: true})
	r.Advance(r.Facts)
	r.Come("D", &yes, r.Facts)
	want := &wire.Meeting{
		Next: friday, Last: &wire.Last{At: eight, Server: "den", Country: "DE", Map: "dm1", MeanMS: 30},
		Who: []wire.Attendee{
			{Name: "ann", Comes: &no, Here: true, Played: true, Liked: &yes},
			{Name: "bob", Arrival: 1, Here: true, Played: true},
			{Name: "cat"}, {Name: "dan", Comes: &yes},
		},
	}
	if got := r.View(r.Facts).Meeting; !reflect.DeepEqual(got, want) {
		t.Errorf("shown is %+v, want %+v", got, want)
	}
	end, _ := r.End("", r.Facts)
	if r.follow(end); r.View(r.Facts).Meeting.Sessions != 1 || r.View(r.Facts).Meeting.Last == nil {
		t.Errorf("after the end %+v", r.View(r.Facts).Meeting)
	}
}

// TestForget checks that a forgotten person leaves no trace, under any name.
func TestForget(t *testing.T) {
	made := func() *room {
		r := newRoom(fridays, everybody()...)
		r.Advance(r.Facts)
		for _, name := range []string{"bob", "robert"} {
			r.People[1].Name = name
			r.Play(wire.Played{Round: 1, Players: []string{"ann", "Bob", "robert"}}, nil, r.Facts)
			r.Come("B", &yes, r.Facts)
			r.End("", r.Facts)
			if name == "bob" {
				r.Open("", r.Facts)
			}
		}
		return r
	}
	for _, tt := range []struct {
		mark, name string
		was        bool
		left       string // the rest of "bob", "robert" and bob's mark
	}{
		{"B", "robert", true, ""},
		{"", "BOB", true, "robert B"},
		{"", "nobody", false, "bob robert B"},
		{"X", "bob", false, "bob robert B"},
	} {
		r := made()
		if was := r.Forget(tt.mark, tt.name); was != tt.was {
			t.Errorf("%q, %q: was there: %v", tt.mark, tt.name, was)
		}
		data, _ := json.Marshal(r.State())
		var left []string
		for what, text := range map[string]string{"bob": `"bob"`, "robert": `"robert"`, "B": `"B"`} {
			if strings.Contains(string(data), text) {
				left = append(left, what)
			}
		}
		if slices.Sort(left); strings.Join(left, " ") != strings.Join(slices.Sorted(slices.Values(strings.Fields(tt.left))), " ") {
			t.Errorf("%q, %q: left are %q of %s", tt.mark, tt.name, left, data)
		}
		if len(r.History("").Sessions) != 2 || len(r.History("").Sessions[1].Stays[0].Players) == 0 {
			t.Errorf("of the others is left %+v", r.History(""))
		}
	}
}

// TestAdopt checks that a room that becomes a standing one in the middle of a session keeps what
// it has played so far, once, and its players.
func TestAdopt(t *testing.T) {
	r := newRoom("", everybody()...)
	for round := 1; round <= 2; round++ {
		played := den(round, "a")
		played.RTT = map[string]float64{"ann": 9}
		r.Play(played, nil, r.Facts)
	}
	if kept := r.Adopt(r.Facts); kept != nil || len(r.History("").Sessions) != 0 {
		t.Errorf("a room that is no standing one keeps %v, %+v", kept, r.History(""))
	}
	r.Every = fridays
	for range 2 {
		kept := r.Adopt(r.Facts)
		sessions := r.History("").Sessions
		if len(sessions) != 1 || len(sessions[0].Stays) != 2 || !sessions[0].Began.Equal(eight) {
			t.Fatalf("the history is %+v", sessions)
		}
		stay := sessions[0].Stays[0]
		if stay.Country != "DE" || stay.Until.IsZero() || len(stay.Players) != 2 || stay.Players[0].PingMS != 9 {
			t.Errorf("the first stay is %+v", stay)
		}
		if kept != nil && !slices.Equal(kept, []people.ID{"1"}) {
			t.Errorf("it keeps %v", kept)
		}
	}
}
