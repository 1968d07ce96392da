package game

import (
	"testing"
	"time"
)

// TestGap checks that only servers known to tolerate it are asked several times a second.
func TestGap(t *testing.T) {
	table := load(t, "")
	for id, want := range map[string]time.Duration{
		"openarena": 300 * time.Millisecond, "tf2": 300 * time.Millisecond, "ddnet": 300 * time.Millisecond,
		"xonotic": 0, "minecraft": 0, "mindustry": 0, "no such game": 0,
	} {
		if gap := table.Gap(id); gap != want {
			t.Errorf("%s: %v, want %v", id, gap, want)
		}
	}
	slow := Game{ID: "slow", Name: "Slow", ProtocolName: "a2s", Port: 27015, GapMS: 900}
	if slow.Gap() != 900*time.Millisecond {
		t.Errorf("a game with a gap of its own has %v", slow.Gap())
	}
}
