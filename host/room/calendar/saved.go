package calendar

import (
	"errors"
	"maps"
	"time"

	"muster/host/wire"
)

// Saved is a calendar at rest.
type Saved struct {
	Sessions  []wire.Session    `json:"evenings,omitempty"`
	Current   wire.Session      `json:"tonight,omitzero"`
	History   []wire.Played     `json:"history,omitempty"`
	Ended     time.Time         `json:"ended,omitzero"`
	Left      []string          `json:"left,omitempty"`
	Coming    map[string]Coming `json:"coming,omitempty"`
	Reminded  time.Time         `json:"reminded,omitzero"`
	OpenedFor time.Time         `json:"dated,omitzero"`
	Used      time.Time         `json:"used,omitzero"`
	Unused    time.Duration     `json:"unused,omitempty"`
	Counted   time.Time         `json:"counted,omitzero"`
	Unjoined  bool              `json:"unjoined,omitempty"`
	Posts     SavedPosts        `json:"posts,omitzero"`
}

// Save returns the calendar for [Restore]. It shares memory that the calendar still changes: encode
// it at once.
func (c *Calendar) Save() Saved {
	return Saved{
		c.sessions, c.current, c.history, c.ended, c.left, c.coming, c.reminded, c.openedFor,
		c.used, c.unused, c.counted, c.isUnjoined, c.posts,
	}
}

// Restore returns the calendar that was saved. Any values are safe: values that make no calendar
// are an error.
func Restore(s Saved) (*Calendar, error) {
	if s.Unused < 0 {
		return nil, errors.New("a room that was unused for less than no time")
	}
	return &Calendar{
		sessions: bound(s.Sessions), current: s.Current, history: s.History, ended: s.Ended, left: s.Left,
		coming: maps.Clone(s.Coming), reminded: s.Reminded, openedFor: s.OpenedFor,
		used: s.Used, unused: s.Unused, counted: s.Counted, isUnjoined: s.Unjoined, posts: s.Posts,
	}, nil
}
