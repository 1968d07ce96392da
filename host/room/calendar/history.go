package calendar

import (
	"maps"
	"slices"
	"strings"
	"time"

	"muster/host/room/people"
	"muster/host/wire"
)

// maxSessions, maxStays of one session and maxSeats in all bound the history: two years of
// Fridays, or ten people four times a session for a hundred sessions.
const maxSessions, maxStays, maxSeats = 100, 24, 4000

// Trip compares a launch with earlier launches.
type Trip struct {
	// IsNew says that this round goes there for the first time. IsElsewhere says that it went
	// somewhere else before.
	IsNew, IsElsewhere bool
	// Regulars are the players who keep place and name from now on.
	Regulars []people.ID
}

// Play writes down the room's destination, and the pings of the players that the choice was for,
// with estimates. Both have people's names.
func (c *Calendar) Play(played wire.Played, rtt map[string]float64, f Facts) Trip {
	t := Trip{IsNew: true}
	isAgain := func(p wire.Played) bool { return p.Round == played.Round && !played.IsMoved }
	for _, p := range c.state.History {
		if isAgain(p) {
			t.IsNew, t.IsElsewhere = p.Connect != played.Connect, p.Connect != played.Connect
		}
	}
	if f.Every != "" {
		t.Regulars = c.stay(played, rtt, f)
	}
	c.state.History = append(slices.DeleteFunc(c.state.History, isAgain), played)
	return t
}

// Told notes the pings in ms that the game's server has listed in a round, by name.
func (c *Calendar) Told(round int, pings map[string]float64) {
	for i := range c.state.History {
		if p := &c.state.History[i]; p.Round == round && len(pings) > 0 {
			p.GamePings = pings
		}
	}
}

// stay writes down a standing room's server and people, and returns its players.
func (c *Calendar) stay(played wire.Played, rtt map[string]float64, f Facts) (players []people.ID) {
	s := &c.state.Current
	if n := len(s.Stays); n > 0 && len(c.state.History) > 0 && c.state.History[len(c.state.History)-1].Round == played.Round && !played.IsMoved {
		s.Stays = s.Stays[:n-1] // the round goes somewhere else after all
	}
	c.Leave(f.Now.Wall)
	if len(s.Stays) == 0 {
		s.Began = f.Now.Wall
	}
	played.At = f.Now.Wall
	return c.keep(played, rtt, slices.DeleteFunc(slices.Clone(f.People), func(p people.Person) bool {
		return !p.IsHere && !slices.Contains(played.Players, p.Name)
	}))
}

// keep adds a stay of some people, and returns the players among them.
func (c *Calendar) keep(played wire.Played, rtt map[string]float64, seated []people.Person) (players []people.ID) {
	stay := wire.Stay{
		At: played.At, Game: played.Game, Server: played.Server, Connect: played.Connect, Country: played.Country,
		Map: played.Map, MeanMS: played.MeanMS, Players: []wire.Seat{},
	}
	for _, p := range seated {
		stay.Players = append(stay.Players, wire.Seat{Who: p.Mark, Name: p.Name, PingMS: rtt[p.Name]})
		if p.IsPlayer {
			players = append(players, p.ID)
		}
	}
	s := &c.state.Current
	if s.Stays = append(s.Stays, stay); len(s.Stays) > maxStays {
		s.Stays = slices.Clone(s.Stays[len(s.Stays)-maxStays:])
	}
	return players
}

// Adopt turns the rounds of a session into stays, for a room that becomes a standing one in the
// middle of it. It returns the players, who keep place and name from now on.
func (c *Calendar) Adopt(f Facts) (regulars []people.ID) {
	if f.Every == "" || len(c.state.Current.Stays) > 0 || len(c.state.History) == 0 {
		return nil
	}
	c.state.Current.Began = c.state.History[0].At
	for _, played := range c.state.History {
		c.Leave(played.At)
		for _, id := range c.keep(played, played.RTT, slices.DeleteFunc(slices.Clone(f.People), func(p people.Person) bool {
			return !slices.Contains(played.Players, p.Name)
		})) {
			if !slices.Contains(regulars, id) {
				regulars = append(regulars, id)
			}
		}
	}
	return regulars
}

// Leave notes that the room has left its server.
func (c *Calendar) Leave(at time.Time) {
	if n := len(c.state.Current.Stays); n > 0 && c.state.Current.Stays[n-1].Until.IsZero() {
		c.state.Current.Stays[n-1].Until = at
	}
}

// writeDown adds the session that ended at a time to the history, if it went anywhere.
func (c *Calendar) writeDown(at time.Time) {
	if c.Leave(at); len(c.state.Current.Stays) > 0 {
		c.state.Current.Ended = at
		c.state.Sessions = bound(append(c.state.Sessions, c.state.Current))
		c.state.Current = wire.Session{}
	}
}

// bound returns the newest sessions, as many as a room keeps.
func bound(sessions []wire.Session) []wire.Session {
	seats := 0
	for i := len(sessions) - 1; i >= 0; i-- {
		for _, stay := range sessions[i].Stays {
			seats += len(stay.Players)
		}
		if seats > maxSeats && i < len(sessions)-1 || len(sessions)-i > maxSessions {
			return slices.Clone(sessions[i+1:])
		}
	}
	return sessions
}

// lastStay returns the room's last stay on a server, or nil.
func (c *Calendar) lastStay() *wire.Stay {
	stays := c.state.Current.Stays
	if n := len(c.state.Sessions); len(stays) == 0 && n > 0 {
		stays = c.state.Sessions[n-1].Stays
	}
	if len(stays) == 0 {
		return nil
	}
	return &stays[len(stays)-1]
}

// lastSeat returns somebody's seat in the last stay, or nil.
func (c *Calendar) lastSeat(mark string) *wire.Seat {
	last := c.lastStay()
	if last == nil {
		return nil
	}
	at := slices.IndexFunc(last.Players, func(seat wire.Seat) bool { return seat.Who == mark })
	if at < 0 {
		return nil
	}
	return &last.Players[at]
}

// Like takes somebody's opinion of the last stay; nil takes it back.
func (c *Calendar) Like(mark string, liked *bool) error {
	seat := c.lastSeat(mark)
	if seat == nil {
		return errNotThere
	}
	seat.Liked = liked
	return nil
}

// Forget takes somebody out of the history, by the mark or, if that is empty, by the name. It
// reports whether the person was in a session.
func (c *Calendar) Forget(mark, name string) (was bool) {
	isIt := func(seat wire.Seat) bool {
		is := mark != "" && seat.Who == mark || mark == "" && strings.EqualFold(seat.Name, name)
		was = was || is
		return is
	}
	names := []string{name}
	delete(c.state.Coming, mark)
	c.state.Left = slices.DeleteFunc(slices.Clone(c.state.Left), func(left string) bool { return left == mark })
	for _, session := range append(slices.Clip(c.state.Sessions), c.state.Current) {
		for i := range session.Stays {
			for _, seat := range session.Stays[i].Players {
				if isIt(seat) {
					names = append(names, seat.Name) // the name may have been another then
				}
			}
			session.Stays[i].Players = slices.DeleteFunc(session.Stays[i].Players, isIt)
		}
	}
	isTheirs := func(player string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(player, name) })
	}
	for i := range c.state.History {
		p := &c.state.History[i]
		p.Players = slices.DeleteFunc(slices.Clone(p.Players), isTheirs)
		p.Voted = slices.DeleteFunc(slices.Clone(p.Voted), isTheirs)
		p.RTT = maps.Clone(p.RTT)
		maps.DeleteFunc(p.RTT, func(player string, _ float64) bool { return isTheirs(player) })
	}
	return was
}

// View is the calendar's part of the snapshot.
type View struct {
	// Ended is when the session ended, zero while it goes on. History has its servers.
	Ended   time.Time
	History []wire.Played
	// Meeting is nil if the room is no standing one.
	Meeting *wire.Meeting
	// Posts is nil in a room without a webhook. It does not say where the posts go.
	Posts *wire.Posts
}

// View returns the calendar as everybody sees it.
func (c *Calendar) View(f Facts) View {
	v := View{Ended: c.state.Ended, History: slices.Clone(c.state.History)}
	if f.Posts {
		v.Posts = &wire.Posts{At: c.state.Posts.At, Trouble: c.state.Posts.Trouble}
	}
	if f.Every != "" {
		v.Meeting = c.meeting(f)
	}
	return v
}

// meeting returns a standing room's dates and people as everybody sees them.
func (c *Calendar) meeting(f Facts) *wire.Meeting {
	m := &wire.Meeting{Next: c.upcoming.next, Who: []wire.Attendee{}, Sessions: len(c.state.Sessions)}
	if f.Quorum > 0 && m.Next.IsZero() {
		m.Quorum = f.Quorum
		m.Pledged, _ = c.pledged(f)
	}
	if last := c.lastStay(); last != nil {
		m.Last = &wire.Last{At: last.At, Server: last.Server, Country: last.Country, Map: last.Map, MeanMS: last.MeanMS}
	}
	for _, p := range f.People {
		awaits := c.HasAnswered(p.Mark)
		if !p.IsPlayer && !p.IsRegular && !p.IsOrganiser && !awaits {
			continue
		}
		attendee := wire.Attendee{Name: p.Name, Arrival: p.Arrival, Here: p.IsHere || p.HasPage}
		if awaits {
			comes := c.state.Coming[p.Mark].Comes
			attendee.Comes = &comes
		}
		if seat := c.lastSeat(p.Mark); seat != nil {
			attendee.Played, attendee.Liked = true, seat.Liked
		}
		m.Who = append(m.Who, attendee)
	}
	return m
}

// History returns the history of a standing room, without the marks of its people. It shares
// nothing with the calendar.
func (c *Calendar) History(room string) wire.History {
	e := wire.History{Format: wire.HistoryFormat, Room: room, Sessions: []wire.Session{}}
	sessions := c.state.Sessions
	if len(c.state.Current.Stays) > 0 {
		sessions = append(slices.Clip(sessions), c.state.Current)
	}
	for _, session := range sessions {
		session.Stays = slices.Clone(session.Stays)
		for i := range session.Stays {
			seats := slices.Clone(session.Stays[i].Players)
			for j := range seats {
				seats[j].Who = ""
			}
			session.Stays[i].Players = seats
		}
		e.Sessions = append(e.Sessions, session)
	}
	return e
}
