package places

import (
	"errors"
	"maps"

	"muster/host/room/roomtime"
	"muster/host/wire"
)

// Saved is a survey at rest.
type Saved struct {
	Attempt int              `json:"attempt,omitempty"`
	Before  int              `json:"before,omitempty"`
	At      roomtime.Time    `json:"at,omitzero"`
	Told    bool             `json:"told,omitempty"`
	Anew    int              `json:"anew,omitempty"`
	Homes   []home           `json:"homes,omitempty"`
	Found   map[string]Found `json:"found,omitempty"`
}

// Save returns the survey for [Restore].
func (s *Survey) Save() Saved {
	return Saved{s.attempt, s.before, s.at, s.isTold, s.anew, s.homes, maps.Clone(s.found)}
}

// Restore returns the survey that was saved. Any values are safe: values that make no survey are an
// error.
func Restore(s Saved) (Survey, error) {
	isWhole := s.Attempt >= 0 && s.Before >= 0 && s.Anew >= 0 && len(s.Homes) <= wire.MaxVenues
	for _, f := range s.Found {
		isWhole = isWhole && len(f.Found) <= wire.MaxVenues
	}
	if !isWhole {
		return Survey{}, errors.New("a survey of places that is none")
	}
	return Survey{
		attempt: s.Attempt,
		before:  s.Before,
		at:      s.At,
		isTold:  s.Told,
		anew:    s.Anew,
		homes:   s.Homes,
		found:   maps.Clone(s.Found),
	}, nil
}
