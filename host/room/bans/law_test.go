package bans

import (
	"fmt"
	"strings"
	"testing"

	"muster/host/wire"
	"muster/selection/law"
)

// TestLaw checks where a law's moves lead. A word is a captain's: anna's ban or pick of a server,
// emil's, or the organiser's, zoe. ! objects to the present server, ~ asks for a delay there, = is
// fine with it, and a dot lets the clock run out. The sides that may move stand before each.
func TestLaw(t *testing.T) {
	a, b := wire.SideA, wire.SideB
	for _, tt := range []struct {
		name  string
		law   Law
		moves string
		want  string
	}{
		{"home", Law{Decides: true, Way: law.Home}, "", "[0 1 0] [0]"},
		{"places", Law{Decides: true, Way: law.InPlaces}, "", "[] [0]"},
		{"in turn", Law{Decides: true, Way: law.Alternate}, "a anna:3 b emil:1", "[3 1 3] [3]"},
		{"in turn, by the clock", Law{Decides: true, Way: law.Alternate}, "a . b .", "[0 1 0] [0]"},
		{"each strikes one", Law{Decides: true, Way: law.Veto}, "ab emil:0 a anna:2", "[] [1]"},
		{"both strike the same", Law{Decides: true, Way: law.Veto}, "ab anna:0 b emil:0", "[] [1]"},
		{"one strikes in time", Law{Decides: true, Way: law.Veto}, "ab emil:0 a .", "[] [1]"},
		{"none does", Law{Decides: true, Way: law.Veto}, "ab .", "[] [0]"},
		{"the organiser decides", Law{Decides: true, Way: law.ByAdmin}, "- zoe:2", "[] [2]"},
		{"the organiser is away", Law{Decides: true, Way: law.ByAdmin}, "- .", "[] [0]"},
		{"the higher side at each server, once", Law{Decides: true, Objects: "higher", Higher: []wire.Side{b, a, b, b}}, "b emil! a anna!", "[] [0 1 2]"},
		{"nobody has more", Law{Decides: true, Objects: "higher", Higher: []wire.Side{"", a, b, b}}, "", "[] [0]"},
		{"either, until both have", Law{Decides: true, Objects: "either"}, "ab anna= b emil! a anna!", "[] [0 1 2]"},
		{"both together", Law{Decides: true, Objects: "both"}, "ab anna! b emil!", "[] [0 1]"},
		{"one alone", Law{Decides: true, Objects: "both"}, "ab anna! b emil=", "[] [0]"},
		{"the time is over", Law{Decides: true, Objects: "both"}, "ab anna! b .", "[] [0]"},
		{"the organiser", Law{Decides: true, Objects: "admin"}, "- zoe!", "[] [0 1]"},
		{"a delay", Law{Decides: true, Objects: "either", Higher: []wire.Side{a, b, b, b}, Delays: true}, "ab emil= a anna~", "[] [0]"},
		{"after bans, the next that is left", Law{Objects: "either"}, "a anna:0 b emil:3 ab anna!", "[] [1 2]"},
		{"home after an objection", Law{Decides: true, Way: law.Home, Objects: "either"}, "ab emil! a anna=", "[1 2 1] [0 1]"},
	} {
		setup := Setup{Servers: upTo(4), BestOf: 3, Law: tt.law, Clock: clock}
		if tt.law.Way == law.Veto {
			setup.Servers = upTo(3)
		} else if !tt.law.Decides {
			setup.Order = []string{wire.Ban, wire.Ban}
		}
		s, _ := Begin(setup, began)
		words := strings.Fields(tt.moves)
		for i := 0; i < len(words); i += 2 {
			turn, _ := s.Turn()
			if sides := strings.ReplaceAll(words[i], "-", ""); fmt.Sprint(turn.Sides) != fmt.Sprint(strings.Split(sides, "")) && (sides != "" || !turn.isAdmin()) {
				t.Errorf("%s: in turn %d %v may move, not %s", tt.name, turn.Number, turn.Sides, words[i])
			}
			by, what, isMove := strings.Cut(words[i+1], ":")
			at := Attempt{Number: turn.Number, What: s.Server()}
			switch mark := by[len(by)-1]; {
			case by == ".":
				if s.Tick(nil, clocks(turn.Until-1)) || !s.Tick(nil, clocks(turn.Until)) {
					t.Fatalf("%s: turn %d does not end by its clock", tt.name, turn.Number)
				}
				continue
			case isMove:
				fmt.Sscan(what, &at.What)
			default:
				at.Said, by = map[byte]string{'!': wire.Object, '~': wire.AskDelay, '=': wire.Accept}[mark], by[:len(by)-1]
			}
			for side, captain := range captains {
				if string(captain) == by {
					at.By = captains[side]
				}
			}
			if err := s.Move(at, led(captains), nil, clocks(s.state.Since)); err != nil {
				t.Fatalf("%s: %s: %v", tt.name, words[i+1], err)
			}
			if err := s.State().Validate(4); err != nil {
				t.Fatal(err)
			}
		}
		if got := fmt.Sprint(s.Venues(), s.state.Went); !s.IsOver() || got != tt.want {
			t.Errorf("%s: over: %v, maps and servers: %s, want %s", tt.name, s.IsOver(), got, tt.want)
		}
	}
	s, _ := Begin(Setup{Servers: upTo(2), Law: Law{Decides: true, Objects: "either", Higher: []wire.Side{a, a}, Delays: true}, Clock: clock}, began)
	for _, tt := range []struct {
		a   Attempt
		err error
	}{
		{Attempt{Number: 1, By: "emil", Said: wire.AskDelay}, errNoDelay},
		{Attempt{Number: 1, By: "emil", What: 1, Said: wire.Object}, errTurnOver},
		{Attempt{Number: 1, By: "emil", Said: "nonsense"}, errTurnOver},
		{Attempt{Number: 1, By: "zoe", Said: wire.Object}, notYours("anna")},
		{Attempt{Number: 1, By: "emil", Said: wire.Object}, nil},
		{Attempt{Number: 2, By: "anna", What: 1, Said: wire.Object}, errNoOther},
	} {
		if err := s.Move(tt.a, led(captains), nil, clocks(began)); fmt.Sprint(err) != fmt.Sprint(tt.err) {
			t.Errorf("%+v: %v, want %v", tt.a, err, tt.err)
		}
	}
}

func (t *Turn) isAdmin() bool { return len(t.Sides) == 1 && t.Sides[0] == "" }
