package finals

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/internal/catalogue"
)

var eight = roomtime.Opening

// answered is a player's result for a server from a minute before eight.
func answered(server, ms int) Known {
	rtt := time.Duration(ms) * time.Millisecond
	return Known{
		Probe: discovery.Result{Server: server, State: discovery.Answered, RTT: rtt}, IsAsked: true, AskedAt: eight.Add(-time.Minute),
	}
}

// facts returns the facts of players who are here, each behind an address of their own, with the
// same results for some servers.
func facts(players string, ms ...int) Facts {
	f := Facts{Now: eight}
	for i, player := range strings.Fields(players) {
		p := Looker{ID: people.ID(player), IsHere: true, Group: i, Known: map[int]Known{}}
		for server, ms := range ms {
			p.Known[server] = answered(server, ms)
		}
		f.Players = append(f.Players, p)
	}
	return f
}

// saw returns the samples of a server. Without an RTT all were lost.
func saw(server, sent int, rtts ...float64) wire.Finalist {
	seen := wire.Finalist{Server: server, State: discovery.Lost, Sent: sent, RTTs: rtts}
	if len(rtts) > 0 {
		seen.State = discovery.Answered
	}
	return seen
}

// session holds looks and what the players know, as a room does.
type session struct {
	*testing.T
	Looks
	Facts
}

// says lets a player answer the newest look.
func (s *session) says(player people.ID, seen ...wire.Finalist) Heard {
	s.Helper()
	return s.hears(player, wire.Verified{Attempt: s.state.Attempt, Servers: seen})
}

func (s *session) hears(player people.ID, v wire.Verified) Heard {
	s.Helper()
	h := s.Hear(player, v, s.Facts)
	for _, seen := range h.Seen {
		if seen.Look != nil {
			s.looked(player, *seen.Look)
		}
	}
	return h
}

func (s *session) looked(player people.ID, look Look) {
	known := s.looker(player).Known
	k := known[look.Server]
	k.Look = &look
	known[look.Server] = k
}

func (s *session) settles() Outcome {
	s.Helper()
	o, isSettled := s.Settle(s.Facts)
	if !isSettled {
		s.Fatalf("%v are waited for", s.state.Waiting)
	}
	for _, lost := range o.Lost {
		s.looked(lost.Player, lost.Look)
	}
	return o
}

// TestBegin checks that each player asks as often as the purpose of the look needs.
func TestBegin(t *testing.T) {
	oneHome := facts("ann bob", 10)
	oneHome.Players[1].Group = oneHome.Players[0].Group
	long := facts("ann bob", 10)
	long.Long = 30 * time.Second
	for _, tt := range []struct {
		name    string
		facts   Facts
		setup   Setup
		tries   int // earlier tries
		samples int
		note    string
	}{
		{"each has measured alone", facts("ann bob", 10), Setup{}, 0, 3, ""},
		{"right after a search", facts("ann bob", 10), Setup{Search: Searched}, 0, 1, ""},
		{"again", facts("ann bob", 10), Setup{Search: Searched}, 1, 2, ""},
		{"what is fair", facts("ann bob", 10), Setup{Search: Searched, IsFair: true}, 0, 2, ""},
		{"one player", facts("ann", 10), Setup{Search: Searched}, 0, 2, ""},
		{"two behind one address", oneHome, Setup{Search: Searched}, 0, 2, ""},
		{"right after a short search", facts("ann bob", 10), Setup{Search: SearchedShort}, 0, 1, ""},
		{"what is fair after a short search", facts("ann bob", 10), Setup{Search: SearchedShort, IsFair: true}, 1, 1, ""},
		{"a long look", long, Setup{}, 0, 24, "a long look, 30 seconds, for loss and jitter: the organiser can cut it short"},
		{"a long look after a search", long, Setup{Search: SearchedShort}, 0, 24,
			"a long look, 30 seconds, for loss and jitter: the organiser can cut it short"},
		{"before the launch no look is long", long, Setup{IsLast: true}, 0, 3, ""},
	} {
		l := Looks{State{Attempt: tt.tries}}
		tt.setup.Servers = []int{0}
		asks, note := l.Begin(tt.setup, tt.facts)
		if len(asks) != len(tt.facts.Players) || catalogue.InEnglish().Say(note) != tt.note {
			t.Errorf("%s: %d look, told %q", tt.name, len(asks), note)
		}
		for _, ask := range asks {
			if ask.Samples != tt.samples || ask.Attempt != tt.tries+1 || !slices.Equal(ask.Servers, []int{0}) {
				t.Errorf("%s: %+v, want %d samples", tt.name, ask, tt.samples)
			}
		}
		if want := tt.tries + 1; !tt.setup.IsLast && l.Tries() != want || tt.setup.IsLast && l.Tries() != tt.tries {
			t.Errorf("%s: it is try %d", tt.name, l.Tries())
		}
	}
}

// TestHasty checks that servers that are stricter than their game answer no early look. Then
// everyone looks again after a second, and only that look finds a server lost.
func TestHasty(t *testing.T) {
	s := &session{T: t, Facts: facts("ann bob", 10, 20)}
	s.Gap = 300 * time.Millisecond
	justAsked := func() {
		for _, p := range s.Players {
			for server, known := range p.Known {
				known.AskedAt = s.Now
				p.Known[server] = known
			}
		}
	}
	look := func() time.Duration {
		s.Helper()
		justAsked()
		asks, _ := s.Begin(Setup{Servers: []int{0, 1}, Search: SearchedShort}, s.Facts)
		return time.Duration(asks[0].After)
	}
	if rest := look(); rest != s.Gap {
		t.Errorf("the first look rests for %v", rest)
	}
	s.says("ann", saw(0, 1), saw(1, 1, 20))
	s.says("bob", saw(0, 1), saw(1, 1, 20))
	if o := s.settles(); len(o.Lost) > 0 || len(o.Asks) > 0 || !slices.Equal(s.Seen(), []int{1}) || s.Tries() != 0 {
		t.Errorf("a hasty look ends with %+v, having seen %v in %d tries", o, s.Seen(), s.Tries())
	}
	data, err := json.Marshal(s.State())
	if err != nil || !strings.Contains(string(data), `"strict":true`) || !strings.Contains(string(data), `"hasty":true`) {
		t.Errorf("it is saved as %s, %v", data, err)
	}
	if rest := look(); rest != betweenMates {
		t.Errorf("the next look rests for %v", rest)
	}
	s.says("ann", saw(0, 1))
	s.says("bob", saw(0, 1))
	if o := s.settles(); len(o.Lost) != 2 || o.Lost[0].Look.State != discovery.Lost {
		t.Errorf("the next look ends with %+v", o)
	}
	if s.Forget(); look() != betweenMates {
		t.Error("another choice has forgotten how strict they are")
	}
}

// golden are looks in their saved form.
const golden = `{"attempt":2,"repeats":1,"seen":[1],"absent":["cat"],` +
	`"asked":{"ann":31536000000000000,"bob":31536002200000000,"cat":31536000000000000},` +
	`"servers":[0],"short":true,"missed":[{"player":"bob","server":0,"sent":2}],"alone":["bob"],"waiting":["bob"]}`

// TestSaved checks that the saved form stays the same, and comes back whole.
func TestSaved(t *testing.T) {
	s := &session{T: t, Facts: facts("ann bob cat", 10, 20)}
	s.Begin(Setup{Servers: []int{0, 1}, Search: SearchedShort}, s.Facts)
	s.says("ann", saw(0, 3, 10, 10, 10), saw(1, 3, 20, 20, 20))
	s.says("bob", saw(0, 2), saw(1, 3, 20, 20, 20))
	s.Passed = time.Minute
	s.Tick(s.Facts)
	s.settles()
	data, err := json.Marshal(s.State())
	if err != nil || string(data) != golden {
		t.Errorf("%s, and not\n%s\n%v", data, golden, err)
	}
	if err := s.State().Validate(2); err != nil {
		t.Error(err)
	}
	if s.State().Validate(1) == nil {
		t.Error("a finalist outside the list is taken")
	}
}

// TestWanted checks that only players whose samples disagree look again after the search of a short
// list.
func TestWanted(t *testing.T) {
	s := &session{T: t, Facts: facts("ann bob", 10, 20)}
	s.Begin(Setup{Servers: []int{0, 1}, Search: SearchedShort}, s.Facts)
	s.says("ann", saw(0, 1, 50), saw(1, 1, 20))
	s.says("bob", saw(0, 1, 10), saw(1, 1, 20))
	if o := s.settles(); len(o.Asks) > 0 || slices.Contains(s.Seen(), 0) || !slices.Contains(s.Seen(), 1) {
		t.Fatalf("outcome is %+v, seen are %v", o, s.Seen())
	}
	asks, _ := s.Begin(Setup{Servers: []int{0, 1}, Search: SearchedShort}, s.Facts)
	if len(asks) != 1 || asks[0].Player != "ann" || !slices.Equal(asks[0].Servers, []int{0}) || !slices.Equal(s.state.Waiting, []people.ID{"ann"}) {
		t.Errorf("asked are %+v, and %v are waited for", asks, s.state.Waiting)
	}
}

// TestRest checks that one address never asks a server twice within a second, right after a search
// or a look.
func TestRest(t *testing.T) {
	after := func(asks []Ask) (after []time.Duration) {
		for _, ask := range asks {
			after = append(after, time.Duration(ask.After))
		}
		return after
	}
	s := &session{T: t, Facts: facts("ann bob", 10)}
	k := s.Players[0].Known[0]
	k.AskedAt = eight.Add(-300 * time.Millisecond)
	s.Players[0].Known[0] = k
	asks, _ := s.Begin(Setup{Servers: []int{0}}, s.Facts)
	if got := after(asks); !slices.Equal(got, []time.Duration{0, 0}) {
		t.Errorf("players who measured alone look after %v", got)
	}
	s.Looks = Looks{}
	asks, _ = s.Begin(Setup{Servers: []int{0}, Search: Searched}, s.Facts)
	if got := after(asks); !slices.Equal(got, []time.Duration{800 * time.Millisecond, 800 * time.Millisecond}) {
		t.Errorf("after a search they look after %v", got)
	}
	s.says("ann", saw(0, 1, 90))
	s.says("bob", saw(0, 1, 10))
	s.settles()
	s.Now = eight.Add(900 * time.Millisecond) // and ann asked at 800 ms
	if ask, _ := s.Ask("ann", s.Facts); ask.After != 0 {
		t.Errorf("when it is time ann is asked after %v", time.Duration(ask.After))
	}
	asks, _ = s.Begin(Setup{Servers: []int{0}, Search: Searched}, s.Facts)
	if got := after(asks); !slices.Equal(got, []time.Duration{time.Second, time.Second}) {
		t.Errorf("after a look they look after %v", got)
	}
	for name, asked := range map[string]time.Duration{"a clock that was ahead": time.Minute, "another server": 0} {
		s.Looks = Looks{State{Asked: map[people.ID]roomtime.Time{"ann": eight.Add(900 * time.Millisecond)}}}
		s.Players[0].Known[1] = Known{AskedAt: s.Now.Add(asked - 10*time.Second)}
		want := time.Duration(0)
		if asked > 0 {
			want = betweenMates
		}
		if asks, _ := s.Begin(Setup{Servers: []int{1}, Search: Searched}, s.Facts); time.Duration(asks[0].After) != want {
			t.Errorf("%s: they look after %v", name, time.Duration(asks[0].After))
		}
	}
}

// TestBack checks that a player who comes back finds the same turn again.
func TestBack(t *testing.T) {
	s := &session{T: t, Facts: facts("ann bob cat", 10)}
	for i := range s.Players {
		s.Players[i].Group = 7
	}
	asks, _ := s.Begin(Setup{Servers: []int{0}}, s.Facts)
	if at, every := time.Duration(asks[2].After), time.Duration(asks[2].Every); at != 2*betweenMates || every != 3*betweenMates {
		t.Fatalf("cat looks after %v, every %v", at, every)
	}
	for passed, want := range map[time.Duration]time.Duration{
		time.Second: 1200 * time.Millisecond, 2 * betweenMates: 0, 3 * time.Second: 2500 * time.Millisecond, 5500 * time.Millisecond: 0,
	} {
		s.Passed = passed
		if ask, _ := s.Ask("cat", s.Facts); time.Duration(ask.After) != want {
			t.Errorf("%v later cat looks after %v, want %v", passed, time.Duration(ask.After), want)
		}
	}
	s = &session{T: t, Facts: facts("ann bob cat dan eve fay", 10)}
	s.Begin(Setup{Servers: []int{0}}, s.Facts)
	s.Passed = time.Minute
	if ask, _ := s.Ask("fay", s.Facts); ask.After != 0 {
		t.Errorf("fay, whose turn is over, looks after %v", time.Duration(ask.After))
	}
}

// TestTries checks that looks for other choices are no tries, and that no two looks have the same
// number.
func TestTries(t *testing.T) {
	s := &session{T: t, Facts: facts("ann", 10)}
	begin := func(want int) {
		t.Helper()
		before := s.state.Attempt
		asks, _ := s.Begin(Setup{Servers: []int{0}}, s.Facts)
		s.says("ann", saw(0, 3, 10, 10, 10))
		s.settles()
		if s.Tries() != want || asks[0].Attempt <= before {
			t.Errorf("look %d is try %d, want %d", asks[0].Attempt, s.Tries(), want)
		}
	}
	begin(1)
	begin(2)
	s.Retry()
	begin(1)
	if len(s.Seen()) != 1 {
		t.Error("what was seen is forgotten")
	}
	s.Forget()
	if len(s.Seen()) > 0 || s.View(s.Facts, roomtime.Clocks{}, nil) != nil {
		t.Error("what was seen is not forgotten")
	}
	begin(1)
	before := s.state.Attempt
	if s.Resume(); s.Tries() != 1 || s.state.Attempt < before+100 {
		t.Errorf("after a restart it is look %d, try %d", s.state.Attempt, s.Tries())
	}
}
