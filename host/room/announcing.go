package room

import (
	"errors"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// Announce tells those of the group who are not in the room, by its webhook. The link is
// for the driver to add, who knows it. What came of it may be told by an [Announced].
type Announce struct{ Announcement wire.Announcement }

func (Announce) isOutput() {}

// errNoPosts is what an organiser hears who wants posted at a host that posts for nobody.
var errNoPosts = errors.New("this host posts for nobody: its operator has not allowed it")

// Announced says what became of an [Announce]: that it arrived, or what trouble there
// was, in people's words.
type Announced struct{ Trouble string }

func (in Announced) step(r *Room) error {
	if r.settings.Webhook == "" {
		return nil // it was for the one of before
	}
	if in.Trouble == "" {
		r.posts.At, r.posts.Trouble = r.now, ""
		return nil
	}
	trouble := discovery.CleanText(in.Trouble)
	if trouble != r.posts.Trouble {
		r.note("not posted: %s", trouble)
	}
	r.posts.Trouble = trouble
	return nil
}

// posts is what a room knows of its announcements.
type posts struct {
	// Opened: it was said that the room is open.
	Opened bool `json:"opened,omitempty"`
	// At and Trouble are those of [wire.Posts].
	At      time.Time `json:"at,omitzero"`
	Trouble string    `json:"trouble,omitempty"`
}

// announce tells of something those who are not in the room, if it has a webhook; what
// all announcements say is added.
func (r *Room) announce(a wire.Announcement) {
	if r.settings.Webhook == "" {
		return
	}
	a.Format, a.At, a.Room, a.Game = wire.AnnouncementFormat, r.now, r.settings.Name, r.gameName()
	if a.Players == nil {
		for _, p := range r.round.players {
			if r.round.mark(p).Here {
				a.Players = append(a.Players, wire.AnnouncedPlayer{Name: p.name})
			}
		}
	}
	a.Text = a.Sentence()
	r.do(Announce{a})
}

// opens reports whether it is to be told that the room is open.
func (r *Room) opens() bool {
	_, gathering := r.phase.(*Gathering)
	return gathering && !r.posts.Opened && r.settings.Webhook != "" && !r.closed && !r.isAsleep()
}

// announceOpen tells once that the room is open, while it gathers.
func (r *Room) announceOpen() {
	if !r.opens() {
		return
	}
	r.posts.Opened, r.binds = true, true // a restart is no news
	r.announce(wire.Announcement{Kind: wire.AnnouncedOpen})
}

// announced is a server as outsiders hear of it: by its name.
func (r *round) announced(server int) *wire.AnnouncedServer {
	a := &wire.AnnouncedServer{}
	if info := r.servers.Info(server); info != nil {
		a.Name, a.Map = info.Name, info.Map
	}
	return a
}
