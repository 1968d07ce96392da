package finals

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

var eight = time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)

// answered is what a player measured of a server a minute before eight.
func answered(server, ms int) Known {
	rtt := time.Duration(ms) * time.Millisecond
	return Known{
		Probe: discovery.Result{Server: server, State: discovery.Answered, RTT: rtt}, IsAsked: true, AskedAt: eight.Add(-time.Minute),
	}
}

// facts are those of players who are here, each behind an address of their own, and have
// measured some servers, all the same.
func facts(names string, ms ...int) Facts {
	f := Facts{Now: eight}
	for i, name := range strings.Fields(names) {
		p := Looker{Name: name, IsHere: true, Group: i, Known: map[int]Known{}}
		for server, ms := range ms {
			p.Known[server] = answered(server, ms)
		}
		f.Players = append(f.Players, p)
	}
	return f
}

// saw is what samples showed of a server. Without an RTT all were lost.
func saw(server, sent int, rtts ...float64) wire.Finalist {
	seen := wire.Finalist{Server: server, State: discovery.Lost, Sent: sent, RTTs: rtts}
	if len(rtts) > 0 {
		seen.State = discovery.Answered
	}
	return seen
}

// session is looks with what is known of the players, as a room has it.
type session struct {
	*testing.T
	Looks
	Facts
}

// says has a player answer the newest look.
func (s *session) says(player string, seen ...wire.Finalist) Heard {
	s.Helper()
	return s.hears(player, wire.Verified{Attempt: s.attempt, Servers: seen})
}

func (s *session) hears(player string, v wire.Verified) Heard {
	s.Helper()
	h, err := s.Hear(player, v, s.Facts)
	if err != nil {
		s.Fatalf("%s: %v", player, err)
	}
	for _, seen := range h.Seen {
		if seen.Look != nil {
			s.looked(player, *seen.Look)
		}
	}
	return h
}

func (s *session) looked(player string, look Look) {
	known := s.looker(player).Known
	k := known[look.Server]
	k.Look = &look
	known[look.Server] = k
}

// settles ends the look.
func (s *session) settles() Outcome {
	s.Helper()
	o, isSettled := s.Settle(s.Facts)
	if !isSettled {
		s.Fatalf("%v are waited for", s.waiting)
	}
	for _, lost := range o.Lost {
		s.looked(lost.Player, lost.Look)
	}
	return o
}

// TestBegin: how often each player asks, by what the look is for.
func TestBegin(t *testing.T) {
	oneHome := facts("ann bob", 10)
	oneHome.Players[1].Group = oneHome.Players[0].Group
	long := facts("ann bob", 10)
	long.Long = 30 * time.Second
	for _, tt := range []struct {
		name    string
		facts   Facts
		setup   Setup
		tries   int // before
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
		{"a long look", long, Setup{}, 0, 24, "a long look, of 30s, for loss and jitter: the organiser can cut it short"},
		{"a long look after a search", long, Setup{Search: SearchedShort}, 0, 24, "a long look, of 30s, for loss and jitter: the organiser can cut it short"},
		{"before the launch no look is long", long, Setup{IsLast: true}, 0, 3, ""},
	} {
		l := Looks{attempt: tt.tries}
		tt.setup.Servers = []int{0}
		asks, note := l.Begin(tt.setup, tt.facts)
		if len(asks) != len(tt.facts.Players) || note != tt.note {
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

// golden are looks in the form in which rooms are saved.
const golden = `{"attempt":2,"repeats":1,"servers":[0],"short":true,"seen":[1],"missed":[{"player":"bob","server":0,"sent":2}],` +
	`"alone":["bob"],"waiting":["bob"],"absent":["cat"],` +
	`"asked":{"ann":"2026-11-20T20:00:00Z","bob":"2026-11-20T20:00:02.2Z","cat":"2026-11-20T20:00:00Z"}}`

// TestSaved: the form does not change, and comes back whole.
func TestSaved(t *testing.T) {
	s := &session{T: t, Facts: facts("ann bob cat", 10, 20)}
	s.Begin(Setup{Servers: []int{0, 1}, Search: SearchedShort}, s.Facts)
	s.says("ann", saw(0, 3, 10, 10, 10), saw(1, 3, 20, 20, 20))
	s.says("bob", saw(0, 2), saw(1, 3, 20, 20, 20))
	s.Passed = time.Minute
	s.Tick(s.Facts)
	s.settles()
	data, err := json.Marshal(s.Save())
	if err != nil || string(data) != golden {
		t.Errorf("%s, and not\n%s\n%v", data, golden, err)
	}
	var saved Saved
	if err := json.Unmarshal([]byte(golden), &saved); err != nil {
		t.Fatal(err)
	}
	back, err := Restore(saved, 2)
	if again, _ := json.Marshal(back.Save()); err != nil || string(again) != golden {
		t.Errorf("it comes back as %s, error %v", again, err)
	}
	if _, err := Restore(saved, 1); err == nil {
		t.Error("a finalist outside the list is taken")
	}
}
