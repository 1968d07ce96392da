package room

import (
	"time"

	"muster/discovery/sentence"
	"muster/host/room/ballot"
	"muster/host/room/calendar"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

// Announced says whether an [Announce] arrived. Trouble tells people why not, and is empty if it
// did.
type Announced struct{ Trouble sentence.Sentence }

func (in Announced) step(r *Room) error {
	r.follow(r.calendar.Posted(in.Trouble, r.dates(r.wall))...)
	return nil
}

// Use returns how much people use the room, as of now.
func (r *Room) Use(now time.Time) calendar.Use { return r.calendar.Use(r.dates(now)) }

// History returns the history of a standing room; it shares nothing with the room.
func (r *Room) History() wire.History { return r.calendar.History(r.parts.Settings.Name) }

// dates returns the facts for the calendar, as of now.
func (r *Room) dates(now time.Time) calendar.Facts {
	g, s := &r.parts, &r.parts.Settings
	posts := s.Webhook != ""
	r.people = r.facts.AppendPeople(r.people[:0], s.Every == "" && !posts)
	return calendar.Facts{
		Now: roomtime.Clocks{Room: r.now, Wall: now}, Every: s.Every, Quorum: s.Quorum, Name: s.Name, Game: s.GameName(),
		Heard: r.clocks().Of(g.Attendance.LastHeard()), IsGathering: r.phase.traits().isGathering, IsClosed: r.closed, Posts: posts,
		People: r.people,
	}
}

func (r *Room) follow(events ...calendar.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case calendar.Note:
			r.out.say(e.Says)
		case calendar.Announce:
			r.out.emit(Announce{e.Announcement})
		case calendar.Open:
			r.since, r.out.mustSave = r.now, true
			r.out.say(e.Why)
		case calendar.Sleep:
			r.out.say(e.Why)
			(&Gathering{}).beginAgain(r, e.Forget)
		case calendar.Save:
			r.out.mustSave = true
		case calendar.Changed:
			r.out.revision++
		}
	}
}

// The actions of the people of a standing room.
type (
	// Come says whether the caller comes to the next date, or as soon as enough people do. Nil withdraws the answer.
	Come struct {
		Comes *bool `json:"comes"`
	}
	// Like says whether the caller liked the last server. Nil takes that back.
	Like struct {
		Liked *bool `json:"liked"`
	}
	// Wake opens a room that sleeps.
	Wake struct{}
	// Forget takes the caller, or the person whom the organiser names, out of the room, its history
	// and its log.
	Forget struct {
		Name string `json:"name"`
	}
)

func (a Come) do(r *Room, by caller) error {
	if !by.IsSomebody() {
		return errNickname
	}
	return r.calendar.Come(by.Mark, a.Comes, r.dates(r.wall))
}

func (a Like) do(r *Room, by caller) error {
	if !by.IsSomebody() {
		return errNickname
	}
	return r.calendar.Like(by.Mark, a.Liked)
}

func (Wake) do(r *Room, by caller) error {
	switch {
	case !by.IsSomebody() && !by.IsOrganiser:
		return errNickname
	case !by.IsOrganiser && !by.IsPlayer && !by.IsRegular:
		return ballot.ErrGuest
	}
	r.follow(r.calendar.Open(by.ID, r.dates(r.wall))...)
	return nil
}

func (a Forget) do(r *Room, by caller) error {
	one, err := r.parts.Roster.ForgetTarget(by, a.Name)
	if err != nil {
		return err
	}
	wasThere := r.calendar.Forget(one.Mark, one.Name)
	defer func() { // deferred, so that the note on the leaving is forgotten, too
		r.parts.Lists.Withdraw(one.ID)
		r.out.journal.Forget(one.ID)
		r.parts.Roster.Forget(one.ID)
	}()
	switch {
	case one.IsPlayer:
		r.parts.Roster.StopKeeping(one.ID)
		r.sendAway(one.ID, *wire.Refuse(wire.ReasonLeft, "refused.forgotten"))
	case one.Mark != "":
		r.apply(r.parts.Roster.Drop(one.ID))
	case !wasThere && !one.IsSomebody():
		return wire.Refuse(wire.ReasonAction, "refused.nobody-known")
	}
	return nil
}
