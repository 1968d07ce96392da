package attendance

import (
	"fmt"
	"slices"
	"time"

	"muster/host/room/roomtime"
)

// Saved is a register at rest, by the names of the players. It does not say which players are here.
type Saved map[string]SavedPlayer

// SavedPlayer is what is kept of a player.
type SavedPlayer struct {
	Heard  roomtime.Time `json:"heard"`
	Done   bool          `json:"done,omitempty"`
	Out    Why           `json:"out,omitempty"`
	Missed time.Duration `json:"missed,omitempty"`
}

// Save returns the section of the saved room.
func (r *Register) Save() Saved {
	s := Saved{}
	for name, m := range r.marks {
		s[name] = SavedPlayer{m.heard, m.Done, m.Out, m.missed}
	}
	return s
}

// Anew returns what is left of a register if its round begins again.
func (s Saved) Anew() Saved {
	anew := Saved{}
	for name, p := range s {
		anew[name] = SavedPlayer{Heard: p.Heard}
	}
	return anew
}

// Restore returns the register that was saved. The players are in the order of their arrival.
func Restore(s Saved, players []string) (Register, error) {
	r := Register{order: slices.Clone(players), marks: map[string]*mark{}}
	for _, name := range players {
		p := s[name]
		if p.Missed < 0 || !slices.Contains(reasons, p.Out) {
			return Register{}, fmt.Errorf("a player who missed %v, and is left out for %q", p.Missed, p.Out)
		}
		r.marks[name] = &mark{Mark: Mark{Done: p.Done, Out: p.Out}, heard: p.Heard, missed: p.Missed}
	}
	for name := range s {
		if r.marks[name] == nil {
			return Register{}, fmt.Errorf("the attendance of %q, who is not in the room", name)
		}
	}
	return r, nil
}
