package calendar

import (
	"time"

	"muster/discovery/sentence"
	"muster/host/wire"
)

// Posts is the state of a room's announcements.
type Posts struct {
	// Opened says that the room has announced its opening.
	Opened bool `json:"opened,omitempty"`
	// At and Trouble are fields of [wire.Posts].
	At      time.Time         `json:"at,omitzero"`
	Trouble sentence.Sentence `json:"trouble,omitzero"`
}

// isNewlyOpen reports whether the room has yet to announce its opening.
func (c *Calendar) isNewlyOpen(f Facts) bool {
	return f.IsGathering && f.Posts && !f.IsClosed && !c.state.Posts.Opened && !c.IsAsleep()
}

// Announce announces something to people who are not in the room, if it has a webhook. It adds the
// fields of all announcements. If the announcement names no players, it adds the players who are
// there.
func (c *Calendar) Announce(a wire.Announcement, f Facts) []Event {
	if !f.Posts {
		return nil
	}
	a.Format, a.At, a.Room, a.Game = wire.AnnouncementFormat, f.Now.Wall, f.Name, f.Game
	if a.Players == nil {
		for _, p := range f.People {
			if p.IsHere {
				a.Players = append(a.Players, wire.AnnouncedPlayer{Name: p.Name})
			}
		}
	}
	a.Text = a.Sentence()
	return []Event{Announce{a}}
}

// Posted notes whether an announcement arrived. Trouble tells people why it did not.
func (c *Calendar) Posted(trouble sentence.Sentence, f Facts) []Event {
	if !f.Posts {
		return nil // it was for the earlier webhook
	}
	if trouble.IsZero() {
		c.state.Posts.At, c.state.Posts.Trouble = f.Now.Wall, trouble
		return nil
	}
	isNew := trouble != c.state.Posts.Trouble
	if c.state.Posts.Trouble = trouble; !isNew {
		return nil
	}
	return []Event{Note{sentence.Of("room.not-posted", "why", trouble)}}
}

// ForgetPosts forgets earlier announcements, because another webhook gets them from now on. Its
// first one is that the room is open.
func (c *Calendar) ForgetPosts() { c.state.Posts = Posts{} }
