package room

import (
	"errors"
	"slices"
	"time"

	"muster/host/room/ballot"
	"muster/host/room/calendar"
	"muster/host/room/decision"
	"muster/host/room/estimates"
	"muster/host/room/group"
	"muster/host/room/probing"
	"muster/host/wire"
)

// Announce tells those of the group who are not in the room, by its webhook. The driver adds the
// link. It may tell by an [Announced] whether the announcement arrived.
type Announce struct{ Announcement wire.Announcement }

func (Announce) isOutput() {}

// Announced says what became of an [Announce]: that it arrived, or what trouble there
// was, in people's words.
type Announced struct{ Trouble string }

func (in Announced) step(r *Room) error {
	r.follow(r.calendar.Posted(in.Trouble, r.facts(r.now))...)
	return nil
}

// Use returns how much the room is used at a time.
func (r *Room) Use(now time.Time) calendar.Use { return r.calendar.Use(r.facts(now)) }

// Evenings returns the history of a standing room; it shares nothing with the room.
func (r *Room) Evenings() wire.Evenings { return r.calendar.Evenings(r.group.Settings.Name) }

// facts returns what the calendar must know of the room at a time.
func (r *Room) facts(now time.Time) calendar.Facts {
	_, gathering := r.phase.(*Gathering)
	g, s := &r.group, &r.group.Settings
	f := calendar.Facts{
		Now: now, Every: s.Every, Name: s.Name, Game: s.GameName(),
		Heard: g.Attendance.LastHeard(), IsGathering: gathering, IsClosed: r.closed, Posts: s.Webhook != "",
	}
	if s.Every == "" && !f.Posts { // then only who plays matters, many times a second
		players := g.Attendance.Players()
		f.People = make([]calendar.Person, 0, len(players))
		for _, player := range players {
			f.People = append(f.People, calendar.Person{Name: player, IsPlayer: true, IsConnected: g.IsHere(player)})
		}
		return f
	}
	for p := range g.Roster.People() {
		f.People = append(f.People, calendar.Person{
			Key: p.Mark, Name: p.Name, Arrival: p.Arrival, Seen: p.Seen, HasPage: p.HasPage,
			IsPlayer: p.IsPlayer, IsConnected: p.IsPlayer && g.Attendance.Of(p.Name).Here,
			IsRegular: p.IsRegular, IsOrganiser: p.IsOrganiser,
		})
	}
	return f
}

// follow does what the calendar wants.
func (r *Room) follow(events ...calendar.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case calendar.Note:
			r.note("%s", e.Text)
		case calendar.Announce:
			r.do(Announce{e.Announcement})
		case calendar.Open:
			r.since, r.binds = r.now, true
			r.note("%s", e.Why)
		case calendar.Sleep:
			r.note("%s", e.Why)
			r.sleep(e.Forget)
		case calendar.Save:
			r.binds = true
		case calendar.Changed:
			r.revision++
		}
	}
}

// sleep takes the places of all players away, and forgets where people are. Forget are the
// keys of people that the room forgets.
func (r *Room) sleep(forget []string) {
	r.binds = true
	for _, player := range r.group.Attendance.Players() {
		r.unseat(player, true)
	}
	r.group.Estimates = estimates.Guests{}
	r.apply(r.group.Roster.Sleep(r.now))
	for _, p := range slices.Collect(r.group.Roster.People()) {
		if slices.Contains(forget, p.Mark) {
			r.apply(r.group.Roster.Drop(p.Name))
		}
	}
	// Programs and pages that were away when the night ended may be back for the next one: to
	// them a round of the same number would be the one that they know.
	r.group.Round, r.failures = group.NewRound(r.group.Number%wire.MaxRound+1), 0
	r.probing, r.decision = probing.Probing{}, decision.Decision{}
	r.source.Stop() // which was of this session
	r.survey.End()
	r.enter(&Gathering{})
}

// The actions of the people of a standing room.
type (
	// Come says whether somebody comes to the next date; nil takes it back.
	Come struct {
		Comes *bool `json:"comes"`
	}
	// Like says how somebody liked it where the room was last; nil takes it back.
	Like struct {
		Liked *bool `json:"liked"`
	}
	// Wake opens a room that sleeps.
	Wake struct{}
	// Forget takes whoever orders it, or whom the organiser names, out of the room, its
	// history and its log.
	Forget struct {
		Name string `json:"name"`
	}
)

func (a Come) do(r *Room, by caller) error {
	if !by.IsSomebody() {
		return errNickname
	}
	return r.calendar.Come(r.group.Roster.Person(by.Name).Mark, a.Comes)
}

func (a Like) do(r *Room, by caller) error {
	if !by.IsSomebody() {
		return errNickname
	}
	return r.calendar.Like(r.group.Roster.Person(by.Name).Mark, a.Liked)
}

func (Wake) do(r *Room, by caller) error {
	switch {
	case !by.IsSomebody() && !by.IsOrganiser:
		return errNickname
	case !by.IsOrganiser && !by.IsPlayer && !by.IsRegular:
		return ballot.ErrGuest
	}
	r.follow(r.calendar.Open(by.Title(), r.facts(r.now))...)
	return nil
}

func (a Forget) do(r *Room, by caller) error {
	one, err := r.group.Roster.Meant(by, a.Name)
	if err != nil {
		return err
	}
	if one.Mark != "" && one.Name == by.Name && !one.IsPlayer && !one.IsRegular {
		// Of somebody who never played there is nothing but a nickname, which may be any word, and
		// what stands under it.
		r.group.Lists.Withdraw(one.Name)
		r.apply(r.group.Roster.Drop(one.Name))
		return nil
	}
	names, wasThere := r.calendar.Forget(one.Mark, one.Name)
	r.group.Lists.Forget(names...)
	r.journal.Forget(names...)
	switch {
	case one.IsPlayer:
		r.group.Roster.LetGo(one.Name)
		r.sendAway(one.Name, wire.Refusal{Reason: wire.ReasonLeft, Message: "you have left the room, and it has forgotten you"})
		r.group.Lists.Forget(names...)
		r.journal.Forget(names...) // what has just been said of it
	case one.Mark != "":
		r.apply(r.group.Roster.Drop(one.Name))
	case !wasThere:
		return errors.New("nobody of that name is known here")
	}
	return nil
}
