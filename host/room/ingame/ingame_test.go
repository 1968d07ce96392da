package ingame

import (
	"fmt"
	"testing"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
)

// TestPings checks who is asked when, and which pings count: of five answers, one of them a lie.
func TestPings(t *testing.T) {
	var g InGame
	here, now := []people.ID{"ann", "emil"}, roomtime.Opening
	if by := g.Ask(here, false, now.Add(time.Hour)); by != "" {
		t.Errorf("%s asks before the launch", by)
	}
	g.Begin(now)
	if by := g.Ask(here, false, now.Add(59*time.Second)); by != "" {
		t.Errorf("%s asks in the first minute", by)
	}
	added := func(player people.ID) (int, bool) { return map[people.ID]int{"ann": 30}[player], player == "ann" }
	for i, step := range []struct {
		asks, from people.ID
		ann, emil  float64
		isHeard    bool
		want       string
	}{
		{"ann", "emil", 70, 60, false, "map[]"}, // emil was not asked
		{"emil", "emil", 70, 60, true, "map[]"},
		{"ann", "ann", 500, 5, true, "map[]"}, // a lie
		{"emil", "emil", 71, 0, true, "map[ann:41]"},
		{"ann", "ann", 69, 61, true, "map[ann:40 emil:60]"},
		{"", "emil", 1, 1, false, "map[ann:40 emil:60]"}, // there are enough
	} {
		now = now.Add(time.Minute)
		by := g.Ask(here, false, now)
		isHeard := g.Heard(step.from, map[people.ID]float64{"ann": step.ann, "emil": step.emil}, added)
		if got := fmt.Sprint(g.Pings()); by != step.asks || isHeard != step.isHeard || got != step.want {
			t.Errorf("minute %d: %s asks, heard is %v, pings are %s", i, by, isHeard, got)
		}
	}
	g.Begin(now)
	for i := range 8 {
		if g.Ask(here, true, now.Add(time.Hour)) == "" || fmt.Sprint(g.Pings()) != "map[]" {
			t.Errorf("question %d of those that go on", i)
		}
		now = now.Add(time.Hour)
	}
}

// TestValidate checks what a saved room may say.
func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		state State
		isOK  bool
	}{
		{State{Turn: 5, Told: map[people.ID][]float64{"ann": {1, 2, 3, 4, 5}}}, true},
		{State{Turn: -1}, false},
		{State{Told: map[people.ID][]float64{"ann": {1, 2, 3, 4, 5, 6}}}, false},
		{State{Told: map[people.ID][]float64{"ann": {0}}}, false},
	} {
		if err := tt.state.Validate(); (err == nil) != tt.isOK {
			t.Errorf("%+v: %v", tt.state, err)
		}
	}
}
