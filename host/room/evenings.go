package room

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/host/room/ballot"
	"muster/host/room/estimates"
	"muster/host/room/roster"
	"muster/host/schedule"
	"muster/host/wire"
)

// A standing room is one whose settings say when the group meets again. Its night ends,
// and the room does not: it sleeps, until somebody's program comes, one of its people
// opens it, or the next date is near.
//
//	awake ── End, or nobody's program for sleepAfter ──▶ asleep: an evening is written,
//	  ▲                                                  players are regulars
//	  └─────── Join, Wake, opensBefore a date ◀──────────────┘
const (
	// sleepAfter is how long a standing room is awake without anybody's program: longer
	// than any evening goes on without one.
	sleepAfter = 2 * time.Hour
	// opensBefore is how long before its date the room opens itself, and remindBefore when
	// the group is told of the date.
	opensBefore  = 30 * time.Minute
	remindBefore = 4 * time.Hour
	// dateStays is how long a date is the next one although it has come: some are late.
	dateStays = time.Hour
	// mostEvenings, mostStays of one evening and mostSeats in all bound the history: two
	// years of Fridays, or ten people four times a night for a hundred nights.
	mostEvenings, mostStays, mostSeats = 100, 24, 4000
	// mostRegulars is how many people keep their place while they are away: as many as
	// there are places.
	mostRegulars = maxPlayers
	// lookFor is for how long programs look for a room to which they have lost the
	// connection: one that comes back within that time of the night's end has not heard of
	// it, and nobody at it wants another evening.
	lookFor = 30 * time.Minute
	// ageStep is how finely the time counts in which nobody uses the room, and mostAge the
	// most that counts at once: a clock that jumps by years costs a day.
	ageStep, mostAge = 24 * time.Hour, 25 * time.Hour
)

// keeping is what a standing room keeps from one evening to the next.
type keeping struct {
	// evenings are those that are over, the oldest first, and tonight the one that goes on.
	evenings []wire.Evening
	tonight  wire.Evening
	// left are the players of the night that ended last, as in [roster.MarkOf].
	left []string
	// reminded and dated are the dates that people were told of, and for which the room
	// opened itself, last.
	reminded, dated time.Time
	// used is when somebody had to do with the room last. Unused is for how long nobody's
	// program has been in it, as counted until the time counted.
	used     time.Time
	unused   time.Duration
	counted  time.Time
	calendar calendar
	// unjoined: no program has joined the room yet. It is false in a room that an earlier
	// release has saved, of which that is not known.
	unjoined bool
}

// calendar is the schedule of the settings' text, and its next date as of the time
// reckoned. It is made anew when the room is restored.
type calendar struct {
	text     string
	schedule schedule.Schedule
	next     time.Time
	reckoned time.Time
}

// IsStanding reports whether the room stays when the night ends.
func (r *Room) IsStanding() bool { return r.settings.Every != "" }

// Unused is for how long nobody's program has been in a standing room, as far as its host
// was there to see it.
func (r *Room) Unused() time.Duration { return r.kept.unused }

// IsClaimed reports whether a standing room is anybody's: a program has joined it, or
// somebody says yes to its date. Anybody can open rooms that nobody comes to.
func (r *Room) IsClaimed() bool {
	return !r.kept.unjoined || slices.ContainsFunc(r.guests, func(g *guest) bool { return g.comes != nil && *g.comes })
}

// isAsleep reports whether the room waits for its next evening.
func (r *Room) isAsleep() bool { return !r.ended.IsZero() && !r.closed }

// dates has the time come for what a date leads to.
func (r *Room) dates() {
	k, c := &r.kept, &r.kept.calendar
	if c.text != r.settings.Every {
		c.schedule, _ = schedule.Parse(r.settings.Every, "") // what was refused has no date
		c.text, c.reckoned = r.settings.Every, time.Time{}
	}
	if !r.IsStanding() {
		c.next = time.Time{}
		return
	}
	if isOld := r.now.Before(c.reckoned) || !c.next.IsZero() && !r.now.Before(c.next.Add(dateStays)) || r.ended.After(c.next); c.reckoned.IsZero() || isOld {
		after := r.now.Add(-dateStays)
		if r.isAsleep() && r.ended.After(after) && !r.ended.After(r.now) {
			after = r.ended
		}
		before := c.next
		if c.next, c.reckoned = c.schedule.Next(after).UTC(), r.now; !c.next.Equal(before) {
			r.revision++
		}
	}
	if k.counted.IsZero() {
		k.counted = r.now
	}
	if passed := r.now.Sub(k.counted); passed >= ageStep || passed < 0 {
		k.unused, k.counted = k.unused+min(max(0, passed), mostAge), r.now
		r.revision++
	}
	if r.isUsed() {
		k.unused = 0
	}
	if c.next.IsZero() {
		return
	}
	if r.now.Before(c.next) && !r.now.Before(c.next.Add(-remindBefore)) && !k.reminded.Equal(c.next) {
		k.reminded, r.binds = c.next, true
		r.remind()
	}
	if !r.now.Before(c.next.Add(-opensBefore)) && !k.dated.Equal(c.next) {
		k.dated, r.binds = c.next, true
		if r.isAsleep() {
			r.wake("it is nearly time: the room is open")
		}
	}
}

// isUsed reports whether somebody's program is there.
func (r *Room) isUsed() bool {
	return r.round.attendance.IsUsed()
}

// nextDate is when the room needs the time for what a date leads to, at most at a time.
func (r *Room) nextDate(at time.Time) time.Time {
	if !r.IsStanding() {
		return at
	}
	at = earlier(at, r.kept.counted.Add(ageStep))
	if !r.isAsleep() && !r.isUsed() {
		at = earlier(at, r.lastHeard().Add(sleepAfter))
	}
	next := r.kept.calendar.next
	switch {
	case next.IsZero():
	case !r.kept.reminded.Equal(next) && r.now.Before(next.Add(-remindBefore)):
		at = earlier(at, next.Add(-remindBefore))
	case !r.kept.dated.Equal(next):
		at = earlier(at, next.Add(-opensBefore))
	default:
		at = earlier(at, next.Add(dateStays))
	}
	return at
}

// remind tells the group of the next date.
func (r *Room) remind() {
	r.note("the next evening is near")
	coming := []wire.AnnouncedPlayer{}
	for _, one := range r.roster.People() {
		p := r.person(one.Name)
		if r.awaits(p) && *p.comes && (one.IsPlayer || one.IsRegular || one.IsOrganiser) { // no stranger's nickname is posted anywhere
			coming = append(coming, wire.AnnouncedPlayer{Name: p.name})
		}
	}
	r.announce(wire.Announcement{Kind: wire.AnnouncedReminder, Next: r.kept.calendar.schedule.In(r.kept.calendar.next), Players: coming})
}

// lastHeard is when somebody's program was in the room last, or somebody opened it.
func (r *Room) lastHeard() time.Time {
	last := r.opened
	if r.kept.used.After(last) {
		last = r.kept.used
	}
	if heard := r.round.attendance.LastHeard(); heard.After(last) {
		last = heard
	}
	return last
}

// dozes has a standing room sleep that nobody is in any more.
func (r *Room) dozes() {
	if !r.IsStanding() || r.isAsleep() || r.isUsed() || r.now.Sub(r.lastHeard()) < sleepAfter {
		return
	}
	left := r.lastHeard()
	r.note("nobody is here any more: the night is over, and the room sleeps")
	r.sleep(left)
}

// sleep ends the night at a time, and keeps the room. Whoever has played keeps place, name
// and link; nothing is kept of where they are.
func (r *Room) sleep(at time.Time) {
	r.ended, r.kept.used, r.binds = r.now, r.now, true
	r.leavesStay(at)
	if k := &r.kept; len(k.tonight.Stays) > 0 {
		k.tonight.Ended = at
		k.evenings = append(k.evenings, k.tonight)
		k.tonight = wire.Evening{}
		k.bound()
	}
	r.kept.left = nil
	for _, p := range slices.Clone(r.round.players) {
		r.kept.left = append(r.kept.left, r.roster.Person(p.name).Mark)
		r.unseat(p, true)
	}
	r.estimates = estimates.Guests{}
	r.apply(r.roster.Sleep(r.now))
	for _, g := range r.guests {
		g.origin = Origin{}
	}
	awaited := r.awaited()
	for _, one := range r.roster.People() {
		if !one.IsRegular && !one.IsOrganiser && !one.HasPage && !slices.Contains(awaited, one.Name) {
			r.apply(r.roster.Drop(one.Name))
		}
	}
	for regulars := r.regulars(); len(regulars) > mostRegulars; regulars = regulars[1:] {
		r.apply(r.roster.Drop(regulars[0].Name))
	}
	// Programs and pages that were away when the night ended may be back for the next one: to
	// them a round of the same number would be the one that they know.
	r.round, r.previous, r.failures = newRound(r.round.number%wire.MaxRound+1), netip.AddrPort{}, 0
	r.started = netip.AddrPort{} // which was of tonight
	r.survey.End()
	r.enter(&Gathering{})
}

// regulars are those who keep their place while they are away, but for the organiser,
// first who was there longest ago.
func (r *Room) regulars() []roster.Person {
	regulars := slices.DeleteFunc(r.roster.People(), func(one roster.Person) bool {
		return one.IsPlayer || !one.IsRegular || one.IsOrganiser
	})
	slices.SortStableFunc(regulars, func(a, b roster.Person) int { return a.Seen.Compare(b.Seen) })
	return regulars
}

// wake begins another evening.
func (r *Room) wake(why string) {
	r.ended, r.history, r.kept.tonight, r.kept.used, r.binds = time.Time{}, nil, wire.Evening{}, r.now, true
	r.since, r.posts.Opened = r.now, false
	r.note("%s", why)
}

// missedEnd reports whether a hello is of a program that was in the room when the night
// ended, and has lost its connection before it could hear so. Mark is whose it is.
func (in Join) missedEnd(r *Room, mark string) bool {
	isBack := in.Hello.Line > 1 && in.Hello.Token != "" && slices.Contains(r.kept.left, mark)
	return r.isAsleep() && isBack && r.now.Sub(r.ended) < lookFor
}

// bound drops the oldest of what is more than a room keeps.
func (k *keeping) bound() {
	seats := 0
	for i := len(k.evenings) - 1; i >= 0; i-- {
		for _, stay := range k.evenings[i].Stays {
			seats += len(stay.Players)
		}
		if seats > mostSeats && i < len(k.evenings)-1 || len(k.evenings)-i > mostEvenings {
			k.evenings = slices.Clone(k.evenings[i+1:])
			return
		}
	}
}

// plays writes down where a standing room goes, and with whom.
func (r *Room) plays(played wire.Played, country string, rtt map[string]float64) {
	if !r.IsStanding() {
		return
	}
	t := &r.kept.tonight
	if n := len(t.Stays); n > 0 && len(r.history) > 0 && r.history[len(r.history)-1].Round == played.Round {
		t.Stays = t.Stays[:n-1] // the round goes somewhere else after all
	}
	r.leavesStay(r.now)
	if len(t.Stays) == 0 {
		t.Began = r.now
	}
	stay := wire.Stay{At: r.now, Game: played.Game, Server: played.Server, Connect: played.Connect, Country: country, Map: played.Map, MeanMS: played.MeanMS, Players: []wire.Seat{}}
	for _, p := range r.roster.People() {
		if p.IsPlayer && r.round.attendance.Of(p.Name).Here || slices.Contains(played.Players, p.Name) {
			r.roster.Keep(p.Name)
			stay.Players = append(stay.Players, wire.Seat{Who: p.Mark, Name: p.Name, PingMS: rtt[p.Name]})
		}
	}
	if t.Stays = append(t.Stays, stay); len(t.Stays) > mostStays {
		t.Stays = slices.Clone(t.Stays[len(t.Stays)-mostStays:])
	}
}

// leavesStay notes that the room is no longer where it was.
func (r *Room) leavesStay(at time.Time) {
	if n := len(r.kept.tonight.Stays); n > 0 && r.kept.tonight.Stays[n-1].Until.IsZero() {
		r.kept.tonight.Stays[n-1].Until = at
	}
}

// lastStay is where the room was last, or nil.
func (r *Room) lastStay() *wire.Stay {
	stays := r.kept.tonight.Stays
	if n := len(r.kept.evenings); len(stays) == 0 && n > 0 {
		stays = r.kept.evenings[n-1].Stays
	}
	if len(stays) == 0 {
		return nil
	}
	return &stays[len(stays)-1]
}

// seatOf is the seat of the person with a mark in a stay, or nil.
func seatOf(s *wire.Stay, who string) *wire.Seat {
	if s == nil {
		return nil
	}
	if at := slices.IndexFunc(s.Players, func(seat wire.Seat) bool { return seat.Who == who }); at >= 0 {
		return &s.Players[at]
	}
	return nil
}

// awaits reports whether somebody has said whether they come to the next date.
func (r *Room) awaits(p *person) bool {
	return p.comes != nil && !r.kept.calendar.next.IsZero() && p.comesTo.Equal(r.kept.calendar.next)
}

// awaited returns who has said whether they come to the next date.
func (r *Room) awaited() (names []string) {
	for _, p := range r.everyone() {
		if r.awaits(p) {
			names = append(names, p.name)
		}
	}
	return names
}

// meeting is what everybody sees of a standing room, nil of others.
func (r *Room) meeting() *wire.Meeting {
	if !r.IsStanding() {
		return nil
	}
	m := &wire.Meeting{Next: r.kept.calendar.next, Who: []wire.Comer{}, Evenings: len(r.kept.evenings)}
	last := r.lastStay()
	if last != nil {
		m.Last = &wire.Last{At: last.At, Server: last.Server, Country: last.Country, Map: last.Map, MeanMS: last.MeanMS}
	}
	for _, one := range r.roster.People() {
		p := r.person(one.Name)
		if !one.IsPlayer && !one.IsRegular && !one.IsOrganiser && !r.awaits(p) {
			continue
		}
		c := wire.Comer{Name: p.name, Arrival: one.Arrival, Here: one.IsPlayer && r.round.attendance.Of(p.name).Here || one.HasPage}
		if r.awaits(p) {
			c.Comes = p.comes
		}
		if seat := seatOf(last, one.Mark); seat != nil {
			c.Played, c.Liked = true, seat.Liked
		}
		m.Who = append(m.Who, c)
	}
	return m
}

// Evenings is the history of a standing room; it shares nothing with the room.
func (r *Room) Evenings() wire.Evenings {
	e := wire.Evenings{Format: wire.EveningsFormat, Room: r.settings.Name, Evenings: []wire.Evening{}}
	all := r.kept.evenings
	if len(r.kept.tonight.Stays) > 0 {
		all = append(slices.Clip(all), r.kept.tonight)
	}
	for _, evening := range all {
		evening.Stays = slices.Clone(evening.Stays)
		for i := range evening.Stays {
			seats := slices.Clone(evening.Stays[i].Players)
			for j := range seats {
				seats[j].Who = ""
			}
			evening.Stays[i].Players = seats
		}
		e.Evenings = append(e.Evenings, evening)
	}
	return e
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
	// Forget takes who orders it, or whom the organiser names, out of the room, its
	// history and its log.
	Forget struct {
		Name string `json:"name"`
	}
)

var (
	errNoDate  = &wire.Refusal{Reason: wire.ReasonAction, Message: "no date is set for this room"}
	errNotThen = &wire.Refusal{Reason: wire.ReasonAction, Message: "who played there last says how it was"}
)

func (a Come) do(r *Room, by caller) error {
	switch {
	case !by.IsSomebody():
		return errNickname
	case r.kept.calendar.next.IsZero():
		return errNoDate
	}
	one := r.person(by.Name)
	one.comes, one.comesTo = a.Comes, r.kept.calendar.next
	return nil
}

func (a Like) do(r *Room, by caller) error {
	if !by.IsSomebody() {
		return errNickname
	}
	seat := seatOf(r.lastStay(), r.roster.Person(by.Name).Mark)
	if seat == nil {
		return errNotThen
	}
	seat.Liked = a.Liked
	return nil
}

func (Wake) do(r *Room, by caller) error {
	switch {
	case !by.IsSomebody() && !by.IsOrganiser:
		return errNickname
	case !by.IsOrganiser && !by.IsPlayer && !by.IsRegular:
		return ballot.ErrGuest
	case !r.isAsleep():
		return nil
	}
	r.wake(by.Title() + " has opened the room")
	return nil
}

func (a Forget) do(r *Room, by caller) error {
	one, err := r.roster.Meant(by, a.Name)
	if err != nil {
		return err
	}
	if one.Mark != "" && one.Name == by.Name && !one.IsPlayer && !one.IsRegular {
		// Of somebody who never played there is nothing but a nickname, which may be any word, and
		// what stands under it.
		r.lists.Withdraw(one.Name)
		r.apply(r.roster.Drop(one.Name))
		return nil
	}
	if !r.forgets(one.Mark, one.Name) && one.Mark == "" {
		return errors.New("nobody of that name is known here")
	}
	if !one.IsPlayer {
		r.apply(r.roster.Drop(one.Name))
		return nil
	}
	r.roster.LetGo(one.Name)
	r.sendAway(r.round.player(one.Name), wire.Refusal{Reason: wire.ReasonLeft, Message: "you have left the room, and it has forgotten you"})
	r.forgets(one.Mark, one.Name) // what has just been said of it
	return nil
}

// forgets takes somebody out of history and log, and reports whether they were there.
func (r *Room) forgets(who, name string) (was bool) {
	isIt := func(seat wire.Seat) bool {
		is := who != "" && seat.Who == who || who == "" && strings.EqualFold(seat.Name, name)
		was = was || is
		return is
	}
	names := []string{name}
	r.kept.left = slices.DeleteFunc(slices.Clone(r.kept.left), func(left string) bool { return left == who })
	for _, evening := range append(slices.Clip(r.kept.evenings), r.kept.tonight) {
		for i := range evening.Stays {
			for _, seat := range evening.Stays[i].Players {
				if isIt(seat) {
					names = append(names, seat.Name) // which may have been another then
				}
			}
			evening.Stays[i].Players = slices.DeleteFunc(evening.Stays[i].Players, isIt)
		}
	}
	isNamed := func(text string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(text, name) })
	}
	for i := range r.history {
		r.history[i].Players = slices.DeleteFunc(slices.Clone(r.history[i].Players), isNamed)
	}
	r.lists.Forget(names...)
	r.journal.Forget(names...)
	r.revision++
	return was
}
