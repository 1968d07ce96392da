package calendar

import (
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// SavedPosts is what a room knows of its announcements.
type SavedPosts struct {
	// Opened says that it was said that the room is open.
	Opened bool `json:"opened,omitempty"`
	// At and Trouble are those of [wire.Posts].
	At      time.Time `json:"at,omitzero"`
	Trouble string    `json:"trouble,omitempty"`
}

// isNewlyOpen reports whether nobody was told yet that the room is open.
func (c *Calendar) isNewlyOpen(f Facts) bool {
	return f.IsGathering && f.Posts && !f.IsClosed && !c.posts.Opened && !c.IsAsleep()
}

// Announce tells those who are not in the room of something, if it has a webhook. It adds what
// all announcements say, and the players who are there unless some are given.
func (c *Calendar) Announce(a wire.Announcement, f Facts) []Event {
	if !f.Posts {
		return nil
	}
	a.Format, a.At, a.Room, a.Game = wire.AnnouncementFormat, f.Now, f.Name, f.Game
	if a.Players == nil {
		for _, p := range f.People {
			if p.IsConnected {
				a.Players = append(a.Players, wire.AnnouncedPlayer{Name: p.Name})
			}
		}
	}
	a.Text = a.Sentence()
	return []Event{Announce{a}}
}

// Posted takes what became of an announcement: it arrived, or there was trouble, in people's
// words.
func (c *Calendar) Posted(trouble string, f Facts) []Event {
	if !f.Posts {
		return nil // it was for the webhook of before
	}
	if trouble == "" {
		c.posts.At, c.posts.Trouble = f.Now, ""
		return nil
	}
	trouble = discovery.CleanText(trouble)
	isNew := trouble != c.posts.Trouble
	if c.posts.Trouble = trouble; !isNew {
		return nil
	}
	return []Event{Note{"not posted: " + trouble}}
}

// ForgetPosts forgets how announcements fared: they go to another webhook from now on, and
// that hears first that the room is open.
func (c *Calendar) ForgetPosts() { c.posts = SavedPosts{} }
