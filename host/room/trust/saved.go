package trust

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"muster/discovery"
	"muster/selection/anomaly"
)

// Saved is a round's [Doubts] at rest.
type Saved struct {
	Players map[string]SavedPlayer `json:"players,omitempty"`
	TooNear []int                  `json:"too_near,omitempty"`
}

// SavedPlayer has the facts against a player, or for one.
type SavedPlayer struct {
	Trusted     bool             `json:"trusted,omitempty"`
	Anomaly     *anomaly.Anomaly `json:"anomaly,omitempty"`
	Odd         *anomaly.Anomaly `json:"odd,omitempty"`
	Contradicts *anomaly.Anomaly `json:"contradicts,omitempty"`
	// Raised are pings that count as more than the player reported.
	Raised []savedPing `json:"raised,omitempty"`
}

type savedPing struct {
	Server int              `json:"server"`
	RTT    discovery.Millis `json:"rtt_ms"`
}

// Save returns the doubts for [Restore].
func (d *Doubts) Save() Saved {
	s := Saved{TooNear: slices.Clone(d.tooNear)}
	for name, p := range d.players {
		saved := SavedPlayer{Trusted: p.vouched, Anomaly: p.excluded, Odd: p.odd, Contradicts: p.contradicts}
		for _, server := range slices.Sorted(maps.Keys(p.raised)) {
			saved.Raised = append(saved.Raised, savedPing{server, discovery.Millis(p.raised[server])})
		}
		s.Add(name, saved)
	}
	return s
}

// Add adds a player, if anything is known.
func (s *Saved) Add(name string, p SavedPlayer) {
	switch {
	case !p.Trusted && p.Anomaly == nil && p.Odd == nil && p.Contradicts == nil && len(p.Raised) == 0:
		return
	case s.Players == nil:
		s.Players = map[string]SavedPlayer{}
	}
	s.Players[name] = p
}

// WithoutList returns the doubts that outlive the loss of the round's list.
func (s Saved) WithoutList() (left Saved) {
	for name, p := range s.Players {
		left.Add(name, SavedPlayer{Trusted: p.Trusted})
	}
	return left
}

// Restore returns the doubts that were saved, about players of these names and a list of so many
// servers. Any values are safe: values that make no sense are an error.
func Restore(s Saved, players []string, listed int) (d Doubts, err error) {
	isListed := func(server int) bool { return server >= 0 && server < listed }
	for name, p := range s.Players {
		if !slices.Contains(players, name) {
			return Doubts{}, fmt.Errorf("a doubt about %q, who is no player", name)
		}
		restored := doubt{vouched: p.Trusted, excluded: p.Anomaly, odd: p.Odd, contradicts: p.Contradicts}
		for _, raised := range p.Raised {
			if !isListed(raised.Server) || raised.RTT <= 0 {
				return Doubts{}, fmt.Errorf("a ping of %v ms of server %d of %d", raised.RTT, raised.Server, listed)
			}
			if restored.raised == nil {
				restored.raised = map[int]time.Duration{}
			}
			restored.raised[raised.Server] = time.Duration(raised.RTT)
		}
		d.set(name, restored)
	}
	for _, server := range s.TooNear {
		if !isListed(server) {
			return Doubts{}, fmt.Errorf("a server %d of %d", server, listed)
		}
		d.tooNear = append(d.tooNear, server)
	}
	return d, nil
}
