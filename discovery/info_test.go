package discovery_test

import (
	"testing"
	"time"

	"muster/discovery"
)

// TestCompleted checks that a list's word fills in what a server does not say, and is
// marked as such.
func TestCompleted(t *testing.T) {
	type info = discovery.Info
	listed := &info{
		Name:       "One",
		Map:        "tokara",
		Mode:       "dm",
		Version:    "7",
		Players:    3,
		MaxPlayers: 8,
		Bots:       1,
		Password:   true,
		GamePort:   9,
		AsListed:   true,
	}
	for _, c := range []struct {
		name string
		own  *info
		want info
	}{
		{"nobody has asked", nil, *listed},
		{"it only answers", &info{}, *listed},
		{"it says all", &info{Name: "1", Map: "m", Mode: "ctf", Version: "8", MaxPlayers: 16},
			info{Name: "1", Map: "m", Mode: "ctf", Version: "8", MaxPlayers: 16}},
		{"it says no name", &info{Map: "m", Mode: "ctf", Version: "8", MaxPlayers: 16},
			info{Name: "One", Map: "m", Mode: "ctf", Version: "8", MaxPlayers: 16, AsListed: true}},
		{"it counts no seats", &info{Name: "1", Map: "m", Mode: "ctf", Version: "8", Players: 2},
			info{Name: "1", Map: "m", Mode: "ctf", Version: "8", Players: 2, MaxPlayers: 8, AsListed: true}},
		{"it counts nobody, and has ping limits", &info{Name: "1", MaxPing: time.Second}, info{
			Name:       "1",
			Map:        "tokara",
			Mode:       "dm",
			Version:    "7",
			Players:    3,
			MaxPlayers: 8,
			Bots:       1,
			MaxPing:    time.Second,
			AsListed:   true,
		}},
	} {
		if got := c.own.Completed(listed); *got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, *got, c.want)
		}
		if got := c.own.Completed(nil); got != c.own {
			t.Errorf("%s, and the list nothing: %+v", c.name, got)
		}
	}
	if listed.Name != "One" || listed.Players != 3 {
		t.Errorf("the list's word has changed: %+v", listed)
	}
}
