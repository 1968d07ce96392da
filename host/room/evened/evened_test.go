package evened

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"muster/host/room/people"
	"muster/host/wire"
)

var (
	captains = Captains{wire.SideA: "ann", wire.SideB: "emil"}
	holds    = func(player people.ID) bool { return player != "guest" }
	measured = map[people.ID]int{"ann": 40, "ben": 40, "guest": 40, "emil": 0, "fay": 0}
	sides    = map[people.ID]wire.Side{"ann": wire.SideA, "ben": wire.SideA, "guest": wire.SideA, "emil": wire.SideB, "fay": wire.SideB, "zoe": ""}
)

// agreed returns a match whose captains agree.
func agreed(t *testing.T) *Evened {
	e := &Evened{}
	for _, captain := range captains {
		if _, err := e.Agree(captain, captains, true, true); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// TestConsent checks whose consent counts: that of both captains who are here at the launch.
func TestConsent(t *testing.T) {
	for name, tt := range map[string]struct {
		says  func(e *Evened) error
		at    Captains
		holds int
	}{
		"both":                                 {nil, captains, 2},
		"one takes it back":                    {func(e *Evened) error { _, err := e.Agree("ann", captains, false, true); return err }, captains, 0},
		"a captain has left before the launch": {nil, Captains{wire.SideA: "ben", wire.SideB: "emil"}, 0},
		"a side has nobody left":               {nil, Captains{wire.SideA: "ann"}, 0},
	} {
		e := agreed(t)
		if tt.says != nil && tt.says(e) != nil {
			t.Errorf("%s: refused", name)
		}
		e.Begin(tt.at, measured, holds)
		if n := len(e.state.Added); n != tt.holds {
			t.Errorf("%s: %d hold packets, want %d", name, n, tt.holds)
		}
	}
	for _, tt := range []struct {
		by         people.ID
		isYes, can bool
		isOK       bool
	}{{"ben", true, true, false}, {"", true, true, false}, {"ann", true, false, false}, {"ann", false, false, true}, {"emil", true, true, true}} {
		if _, err := new(Evened).Agree(tt.by, captains, tt.isYes, tt.can); (err == nil) != tt.isOK {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

// TestPlay checks delays and corrections after a launch, and the end.
func TestPlay(t *testing.T) {
	e := agreed(t)
	e.Begin(captains, measured, holds)
	if want := map[people.ID]int{"ann": 40, "ben": 40}; !maps.Equal(e.state.Added, want) {
		t.Fatalf("they hold %v, want %v", e.state.Added, want)
	}
	status := map[people.ID]float64{"ann": 80, "ben": 90, "emil": 104, "fay": 96, "zoe": 300}
	for i, step := range []struct {
		status  map[people.ID]float64
		changed string
		ann     int
	}{
		{status, "[ann ben]", 50},
		{map[people.ID]float64{"ann": 100, "emil": 103, "fay": 97}, "[]", 50},       // ben's name is not told
		{map[people.ID]float64{"ann": 300, "ben": 300, "emil": 99}, "[ann ben]", 1}, // 0 would end the line
		{nil, "[]", 1},
	} {
		changed := e.Correct(step.status, sides)
		if ms, _ := e.Added("ann"); fmt.Sprint(changed) != step.changed || ms != step.ann {
			t.Errorf("look %d: %v change, and ann has %d ms", i, changed, ms)
		}
	}
	if _, _, err := e.End(people.Person{ID: "zoe"}, ""); err == nil {
		t.Error("an onlooker ends it")
	}
	freed, _, err := e.End(people.Person{ID: "fay"}, wire.SideB)
	if err != nil || !slices.Equal(freed, []people.ID{"ann", "ben"}) {
		t.Errorf("the end frees %v, %v", freed, err)
	}
	if e.Begin(captains, measured, holds); e.Holds() {
		t.Error("it begins again in the same round")
	}
}

// TestValidate checks what a saved room may say.
func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		state State
		isOK  bool
	}{
		{State{}, true},
		{State{Agreed: map[wire.Side]people.ID{wire.SideA: "ann"}, Added: map[people.ID]int{"ann": 150}}, true},
		{State{Agreed: map[wire.Side]people.ID{"": "ann"}}, false},
		{State{Agreed: map[wire.Side]people.ID{"c": "ann"}}, false},
		{State{Added: map[people.ID]int{"ann": 151}}, false},
	} {
		if err := tt.state.Validate(); (err == nil) != tt.isOK {
			t.Errorf("%+v: %v", tt.state, err)
		}
	}
}
