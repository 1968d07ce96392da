package seats

import (
	"errors"
	"maps"
	"slices"

	"muster/discovery/sentence"
	"muster/host/room/roomtime"
)

// Saved is a wait at rest.
type Saved struct {
	Began    roomtime.Time     `json:"began"`
	Until    roomtime.Time     `json:"until"`
	For      []string          `json:"for,omitempty"`
	Servers  []watched         `json:"servers"`
	Turn     int               `json:"turn"`
	Look     *look             `json:"look,omitempty"`
	Demerits map[string]int    `json:"demerits,omitempty"`
	Going    *going            `json:"going,omitempty"`
	News     sentence.Sentence `json:"news,omitzero"`
	Over     sentence.Sentence `json:"over,omitzero"`
	Chance   sentence.Sentence `json:"chance,omitzero"`
}

// Save returns the wait for [Restore]. It shares memory that the wait still changes: encode it at
// once.
func (w *Watch) Save() Saved {
	return Saved{w.began, w.until, w.outside, w.servers, w.turn, w.look, w.demerits, w.going, w.news, w.over, w.chance}
}

// Restore returns the wait that was saved, for a list of so many servers. Any values are safe:
// values that make no wait are an error.
func Restore(s Saved, listed int) (*Watch, error) {
	w := &Watch{s.Began, s.Until, slices.Clone(s.For), slices.Clone(s.Servers), s.Turn, s.Look, maps.Clone(s.Demerits),
		s.Going, s.News, s.Over, s.Chance}
	isWhole := s.Turn >= 0 && (s.Going == nil || w.at(s.Going.Server) != nil)
	for i := range w.servers {
		at := &w.servers[i]
		at.Ranked.Server = at.Server
		isWhole = isWhole && at.Server >= 0 && at.Server < listed &&
			len(at.Counts) <= countedSeats+1 && at.Since >= 0 && at.Silent >= 0 && at.Misses >= 0
	}
	if !isWhole {
		return nil, errors.New("a wait for seats that is none")
	}
	return w, nil
}
