// Package calendar keeps a standing room from one session to the next: its dates, who comes, where
// the group has played, and the announcements for those who are away.
//
// The settings of a standing room say when the group meets again. A session ends, but the room
// stays: it sleeps until a program joins, somebody opens it, or a date is near.
//
//	awake ── End, or no program for sleepAfter ──▶ asleep: the session is written down,
//	  ▲                                            players become regulars
//	  └──────── Open, opensBefore a date ◀────────────┘
//
// The room tells a [Calendar] what happens and the present [Facts], and carries out the events.
// Other rooms have a calendar, too. It has the rounds since they opened, the last time that a
// program was there, and their announcements.
//
// Its records outlive the people's IDs. So they have the names that people had then, and identify
// people by [people.Person.Mark].
package calendar

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/schedule"
	"muster/host/wire"
)

const (
	// KeepEmpty is how long a room without anyone in it is kept: a night and the morning after.
	KeepEmpty = 24 * time.Hour
	// sleepAfter is how long a standing room stays awake without a program. No session goes on
	// without one for so long.
	sleepAfter = 2 * time.Hour
	// opensBefore is how long before its date the room opens itself. remindBefore is how long
	// before it the room reminds the group.
	opensBefore  = 30 * time.Minute
	remindBefore = 4 * time.Hour
	// dateStays is how long a date that has come remains the next one, because some people are
	// late.
	dateStays = time.Hour
	// maxRegulars bounds the people who keep their place while they are away: as many as there are
	// places.
	maxRegulars = wire.MaxPlayers
	// returnsWithin is how long programs look for a room after they lost the connection. A program
	// that comes back within this time missed the end of its session. Its player wants to be in no
	// other session.
	returnsWithin = 30 * time.Minute
	// ageStep is the unit of unused time. maxAge is the most time that counts at once, so that a
	// clock that jumps by years costs a day only.
	ageStep, maxAge = 24 * time.Hour, 25 * time.Hour
	// maxAhead is how far in the future the last use of a room may lie. A player who announces a
	// rest counts as heard at its end.
	maxAhead = 5 * time.Minute
)

var (
	errNoDate    = wire.Refuse(wire.ReasonAction, "refused.no-date")
	errNotThere  = wire.Refuse(wire.ReasonAction, "refused.not-there")
	errEnded     = wire.Refuse(wire.ReasonAction, "refused.night-over")
	errMissedEnd = wire.Refuse(wire.ReasonEnded, "refused.missed-end")
)

// Calendar keeps a room's dates and history over its sessions.
type Calendar struct {
	state State
	// wasUsed says that a program was there after the newest step. It is not saved: no program stays
	// connected over a restart.
	wasUsed  bool
	upcoming upcoming
}

// State is the saved state of a calendar.
type State struct {
	// Sessions are the past sessions, the oldest first. Current is the present one.
	Sessions []wire.Session `json:"evenings,omitempty"`
	Current  wire.Session   `json:"tonight,omitzero"`
	// History has the servers of this session, round by round.
	History []wire.Played `json:"history,omitempty"`
	// Ended is when the session ended, zero while it goes on. Left are the marks of its players.
	Ended time.Time `json:"ended,omitzero"`
	Left  []string  `json:"left,omitempty"`
	// Coming has people's answers whether they come to a date, by their marks.
	Coming map[string]Coming `json:"coming,omitempty"`
	// Agreed says that enough people have said yes, for this session.
	Agreed bool `json:"agreed,omitempty"`
	// Reminded is the last date that the room reminded people of. OpenedFor is the last date that it
	// opened itself for.
	Reminded  time.Time `json:"reminded,omitzero"`
	OpenedFor time.Time `json:"dated,omitzero"`
	// Used is when somebody last used the room. [Facts].Heard may be later.
	Used time.Time `json:"used,omitzero"`
	// Unused is how long no program has been in a standing room, counted until the time Counted.
	Unused  time.Duration `json:"unused,omitempty"`
	Counted time.Time     `json:"counted,omitzero"`
	// Unjoined says that no program has joined the room yet.
	Unjoined bool  `json:"unjoined,omitempty"`
	Posts    Posts `json:"posts,omitzero"`
}

// State returns the state, to save or restore it.
func (c *Calendar) State() *State { return &c.state }

// Validate returns the first fault of a saved calendar, or nil. It drops sessions that are more
// than a room keeps.
func (s *State) Validate() error {
	if s.Unused < 0 {
		return errors.New("a room that was unused for less than no time")
	}
	s.Sessions = bound(s.Sessions)
	return nil
}

// Coming is somebody's answer whether they come to the date To.
type Coming struct {
	Comes bool      `json:"comes,omitempty"`
	To    time.Time `json:"to"`
	// At is when somebody said so in a room without a date; zero in others.
	At time.Time `json:"at,omitzero"`
}

// upcoming is a parsed schedule, and its next date as of the time reckoned. A restored room parses
// it again.
type upcoming struct {
	text     string
	schedule schedule.Schedule
	next     time.Time
	reckoned time.Time
}

// Facts are the present facts about the room.
type Facts struct {
	Now roomtime.Clocks
	// Every is the text of the room's schedule, empty if the room is no standing one. Name is the
	// room's name, and Game its game's name.
	Every, Name, Game string
	// Quorum is how many people must say yes for the room to open without a date, 0 for no such
	// number.
	Quorum int
	// IsGathering says that the group is not complete, IsClosed that the room is over for
	// good, and Posts that it has a webhook.
	IsGathering, IsClosed, Posts bool
	// Heard is when the room last heard from a player. People are all people of the room, the
	// players first. A room that neither stands nor posts may give the players alone. It then needs
	// only [people.Person.IsPlayer] and [people.Person.IsHere].
	Heard  time.Time
	People []people.Person
}

func (f Facts) isUsed() bool {
	return slices.ContainsFunc(f.People, func(p people.Person) bool { return p.IsHere })
}

// Event is something for the room to do.
type Event interface{ isEvent() }

// The events.
type (
	// Note is a line for the log.
	Note struct{ Says sentence.Sentence }
	// Announce announces something to people who are not in the room.
	Announce struct{ Announcement wire.Announcement }
	// Open says that another session begins, and why, in a line for the log.
	Open struct{ Why sentence.Sentence }
	// Sleep says that the session is over, and why, in a line for the log. The players leave their
	// places. Forget are the people whom the room forgets.
	Sleep struct {
		Why    sentence.Sentence
		Forget []people.ID
	}
	// Save says that the room must be saved before the other events take effect. Changed says that
	// the view or the saved form has changed.
	Save    struct{}
	Changed struct{}
)

func (Note) isEvent()     {}
func (Announce) isEvent() {}
func (Open) isEvent()     {}
func (Sleep) isEvent()    {}
func (Save) isEvent()     {}
func (Changed) isEvent()  {}

// New returns the calendar of a room that opens.
func New(now time.Time) *Calendar { return &Calendar{state: State{Used: now, Unjoined: true}} }

// IsAsleep reports whether the session is over, and no other has begun.
func (c *Calendar) IsAsleep() bool { return !c.state.Ended.IsZero() }

// Tick lets time pass. An empty room falls asleep, and a room that gathers announces once that it
// is open.
func (c *Calendar) Tick(f Facts) []Event {
	c.limitFutureTimes(f.Now.Wall)
	last := c.lastUsed(f)
	isIdle := f.Every != "" && !c.IsAsleep() && !f.isUsed() && f.Now.Wall.Sub(last) >= sleepAfter
	switch {
	case f.IsClosed:
	case isIdle:
		return []Event{Sleep{sentence.Of("room.sleeps"), c.sleep(last, f)}}
	case c.isNewlyOpen(f):
		c.state.Posts.Opened = true
		return append([]Event{Save{}}, c.Announce(wire.Announcement{Kind: wire.AnnouncedOpen}, f)...) // not again after a restart
	}
	return nil
}

// Advance takes the facts after anything has happened. It returns the events that are due.
func (c *Calendar) Advance(f Facts) []Event {
	if f.IsClosed {
		return nil
	}
	c.limitFutureTimes(f.Now.Wall)
	isUsed := f.isUsed()
	if c.wasUsed && !isUsed {
		c.state.Used = f.Now.Wall
	}
	c.wasUsed = isUsed
	c.state.Unjoined = c.state.Unjoined && !slices.ContainsFunc(f.People, func(p people.Person) bool { return p.IsPlayer })
	var events []Event
	if c.findNext(f) {
		events = append(events, Changed{})
	}
	if f.Every == "" {
		return events
	}
	if c.expirePledges(f.Now.Wall) {
		events = append(events, Changed{})
	}
	for mark := range c.state.Coming {
		if !slices.ContainsFunc(f.People, func(p people.Person) bool { return p.Mark == mark }) {
			delete(c.state.Coming, mark)
		}
	}
	if c.state.Counted.IsZero() {
		c.state.Counted = f.Now.Wall
	}
	if passed := f.Now.Wall.Sub(c.state.Counted); passed >= ageStep || passed < 0 {
		c.state.Unused, c.state.Counted = c.state.Unused+min(max(0, passed), maxAge), f.Now.Wall
		events = append(events, Changed{})
	}
	if isUsed {
		c.state.Unused = 0
	}
	return append(append(events, c.applyDate(f)...), c.applyQuorum(f)...)
}

// findNext finds the next date, and reports whether it is another.
func (c *Calendar) findNext(f Facts) (isAnother bool) {
	u := &c.upcoming
	if u.text != f.Every {
		u.schedule, _ = schedule.Parse(f.Every, "") // a text that does not parse has no date
		u.text, u.reckoned = f.Every, time.Time{}
	}
	if f.Every == "" {
		u.next = time.Time{}
		return false
	}
	isPast := !u.next.IsZero() && !f.Now.Wall.Before(u.next.Add(dateStays))
	if !u.reckoned.IsZero() && !f.Now.Wall.Before(u.reckoned) && !isPast && !c.state.Ended.After(u.next) {
		return false
	}
	after := f.Now.Wall.Add(-dateStays)
	if c.IsAsleep() && c.state.Ended.After(after) && !c.state.Ended.After(f.Now.Wall) {
		after = c.state.Ended
	}
	before := u.next
	u.next, u.reckoned = u.schedule.Next(after).UTC(), f.Now.Wall
	return !u.next.Equal(before)
}

// applyDate reminds people of the next date, and opens the room for it.
func (c *Calendar) applyDate(f Facts) (events []Event) {
	next := c.upcoming.next
	if next.IsZero() {
		return nil
	}
	if f.Now.Wall.Before(next) && !f.Now.Wall.Before(next.Add(-remindBefore)) && !c.state.Reminded.Equal(next) {
		c.state.Reminded = next
		events = append(events, Save{}, Note{sentence.Of("room.evening-near")})
		coming := []wire.AnnouncedPlayer{}
		for _, p := range f.People {
			isOwn := p.IsPlayer || p.IsRegular || p.IsOrganiser // no stranger's nickname is posted anywhere
			if isOwn && c.HasAnswered(p.Mark) && c.state.Coming[p.Mark].Comes {
				coming = append(coming, wire.AnnouncedPlayer{Name: p.Name})
			}
		}
		reminder := wire.Announcement{Kind: wire.AnnouncedReminder, Next: c.upcoming.schedule.In(next), Players: coming}
		events = append(events, c.Announce(reminder, f)...)
	}
	if !f.Now.Wall.Before(next.Add(-opensBefore)) && !c.state.OpenedFor.Equal(next) {
		c.state.OpenedFor = next
		events = append(events, Save{})
		if c.IsAsleep() {
			events = append(events, c.open(sentence.Of("room.nearly-time"), f.Now.Wall))
		}
	}
	return events
}

// Next returns when the calendar needs the time again: no more than a day from now.
func (c *Calendar) Next(f Facts) time.Time {
	at := f.Now.Wall.Add(KeepEmpty)
	earlier := func(other time.Time) {
		if other.Before(at) {
			at = other
		}
	}
	if c.isNewlyOpen(f) {
		return f.Now.Wall
	}
	if f.Every == "" || f.IsClosed {
		return at
	}
	earlier(c.state.Counted.Add(ageStep))
	for _, coming := range c.state.Coming {
		if coming.isPledge() {
			earlier(coming.At.Add(pledgeStays))
		}
	}
	if !c.IsAsleep() && !f.isUsed() {
		earlier(c.lastUsed(f).Add(sleepAfter))
	}
	switch next := c.upcoming.next; {
	case next.IsZero():
	case !c.state.Reminded.Equal(next) && f.Now.Wall.Before(next.Add(-remindBefore)):
		earlier(next.Add(-remindBefore))
	case !c.state.OpenedFor.Equal(next):
		earlier(next.Add(-opensBefore))
	default:
		earlier(next.Add(dateStays))
	}
	return at
}

// lastUsed returns when a program was in the room last, or somebody opened it.
func (c *Calendar) lastUsed(f Facts) time.Time {
	if f.Heard.After(c.state.Used) {
		return f.Heard
	}
	return c.state.Used
}

// limitFutureTimes corrects times that lie in the future, because the clock was ahead or has been
// set back. Dates and history stay, because people read them.
func (c *Calendar) limitFutureTimes(now time.Time) {
	if c.state.Used.Sub(now) > maxAhead {
		c.state.Used = now
	}
	if c.state.Ended.After(now) { // nobody who comes now missed the end
		c.state.Ended = now.Add(-dateStays)
	}
}

// Open begins another session on somebody's order, if the room sleeps.
func (c *Calendar) Open(by people.ID, f Facts) []Event {
	if !c.IsAsleep() || f.IsClosed {
		return nil
	}
	return []Event{c.open(byPerson(by, "room.opened-by", "room.opened-by-organiser"), f.Now.Wall)}
}

func (c *Calendar) open(why sentence.Sentence, now time.Time) Event {
	c.state.Ended, c.state.History, c.state.Current, c.state.Used, c.state.Posts.Opened = time.Time{}, nil, wire.Session{}, now, false
	return Open{why}
}

// End ends the session on somebody's order. Then a standing room sleeps, and any other is over.
func (c *Calendar) End(by people.ID, f Facts) (Sleep, error) {
	end := Sleep{Why: byPerson(by, "room.ended-by", "room.ended-by-organiser")}
	switch {
	case f.Every == "":
		c.state.Ended = f.Now.Wall
	case c.IsAsleep():
		return Sleep{}, errEnded
	default:
		end.Forget = c.sleep(f.Now.Wall, f)
	}
	return end, nil
}

// byPerson returns the sentence of a key about a person, or that of the other key about an organiser
// who is not in the room.
func byPerson(by people.ID, key, absent string) sentence.Sentence {
	if by == "" {
		return sentence.Of(absent)
	}
	return sentence.Of(key, "player", by)
}

// sleep ends the session at a time, and returns the people whom the room forgets. People who have
// played keep their place, and so do people who steer, watch or have answered about the date.
func (c *Calendar) sleep(at time.Time, f Facts) (forget []people.ID) {
	c.state.Ended, c.state.Used = f.Now.Wall, f.Now.Wall
	c.writeDown(at)
	c.state.Left = nil
	defer c.forgetPledges()               // who pledged keeps the place until then
	var players, regulars []people.Person // people who keep their place: this session's players, and other regulars
	for _, p := range f.People {
		if p.IsPlayer {
			p.Seen = f.Now.Room
			c.state.Left = append(c.state.Left, p.Mark)
		}
		switch {
		case !p.IsRegular && !p.IsOrganiser && !p.HasPage && !c.HasAnswered(p.Mark):
			forget = append(forget, p.ID)
		case !p.IsRegular || p.IsOrganiser:
		case p.IsPlayer:
			players = append(players, p)
		default:
			regulars = append(regulars, p)
		}
	}
	regulars = append(regulars, players...)
	slices.SortStableFunc(regulars, func(a, b people.Person) int { return cmp.Compare(a.Seen, b.Seen) })
	for _, p := range regulars[:max(0, len(regulars)-maxRegulars)] {
		forget = append(forget, p.ID)
	}
	return forget
}

// MissedEnd returns the refusal of a program that lost its connection, missed the end of its
// session, and comes back. It is nil for all others.
func (c *Calendar) MissedEnd(mark string, now time.Time) *wire.Refusal {
	isNow := !c.state.Ended.After(now) && now.Sub(c.state.Ended) < returnsWithin
	if c.IsAsleep() && isNow && slices.Contains(c.state.Left, mark) {
		return errMissedEnd
	}
	return nil
}

// Come notes whether somebody comes to the next date or, in a room with a quorum and no date, as
// soon as enough do. Nil withdraws an answer.
func (c *Calendar) Come(mark string, comes *bool, f Facts) error {
	isPledge := c.upcoming.next.IsZero()
	switch {
	case isPledge && (f.Quorum == 0 || f.Every == ""):
		return errNoDate
	case comes == nil:
		delete(c.state.Coming, mark)
	default:
		if c.state.Coming == nil {
			c.state.Coming = map[string]Coming{}
		}
		coming := Coming{Comes: *comes, To: c.upcoming.next}
		if isPledge {
			coming.At = f.Now.Wall
		}
		c.state.Coming[mark] = coming
	}
	return nil
}

// HasAnswered reports whether somebody has said yes or no to the next date, or without one to the
// next session.
func (c *Calendar) HasAnswered(mark string) bool {
	coming, has := c.state.Coming[mark]
	return has && coming.isPledge() == c.upcoming.next.IsZero() && coming.To.Equal(c.upcoming.next)
}

// Use says how much people use a room.
type Use struct {
	// IsStanding says that the room stays when a session ends.
	IsStanding bool
	// IsClaimed says that people use the room: a program has joined it, or somebody says yes to its
	// date. Anybody can open rooms that stay empty.
	IsClaimed bool
	// IsOver says that the room was closed, or that no program has been in it for long. Only
	// closing ends a standing room.
	IsOver bool
	// Empty is how long no program has been in the room, or 0 if one is there. Unused is the same
	// for a standing room, counted while its host runs.
	Empty, Unused time.Duration
}

// Use returns how much people use the room.
func (c *Calendar) Use(f Facts) Use {
	u := Use{IsStanding: f.Every != "", IsClaimed: !c.state.Unjoined, Unused: c.state.Unused}
	for _, coming := range c.state.Coming {
		u.IsClaimed = u.IsClaimed || coming.Comes
	}
	if !f.isUsed() {
		u.Empty = max(1, f.Now.Wall.Sub(c.lastUsed(f))) // never 0 without a program
	}
	u.IsOver = f.IsClosed || !u.IsStanding && u.Empty > KeepEmpty
	return u
}
