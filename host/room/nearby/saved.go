package nearby

import (
	"fmt"
	"slices"
)

// Saved is the section of the saved room.
type Saved struct {
	// Players are the players' findings, by name.
	Players map[string]Finding `json:"players,omitempty"`
	Servers []Server           `json:"servers,omitempty"`
}

// Add adds a player's finding.
func (s *Saved) Add(name string, f Finding) {
	if s.Players == nil {
		s.Players = map[string]Finding{}
	}
	s.Players[name] = f
}

// Save returns the networks for [Restore], without the players' places. It shares memory that the
// networks still change: encode it at once.
func (n *Networks) Save() Saved {
	s := Saved{Servers: n.servers}
	for name, p := range n.players {
		if p.Game != "" || p.Servers != nil || !p.At.IsZero() {
			s.Add(name, p.Finding)
		}
	}
	return s
}

// Restore returns the networks that were saved, for players at some places and a list of so many
// servers. Any values are safe: nonsense is an error.
func Restore(s Saved, places map[string]Place, listed int) (Networks, error) {
	n := Networks{servers: slices.Clone(s.Servers)}
	for _, server := range n.servers {
		if server.Server < 0 || server.Server >= listed {
			return Networks{}, fmt.Errorf("a local server %d of %d", server.Server, listed)
		}
	}
	for name := range s.Players {
		if _, is := places[name]; !is {
			return Networks{}, fmt.Errorf("servers around %q, who is not here", name)
		}
	}
	for name, place := range places {
		n.set(name, player{place: place, Finding: s.Players[name]})
	}
	return n, nil
}
