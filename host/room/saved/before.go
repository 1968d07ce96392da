package saved

import (
	"encoding/json"
	"time"

	"muster/discovery"
	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/brought"
	"muster/host/room/calendar"
	"muster/host/room/choice"
	"muster/host/room/editions"
	"muster/host/room/evidence"
	"muster/host/room/finals"
	"muster/host/room/infos"
	"muster/host/room/journal"
	"muster/host/room/launch"
	"muster/host/room/listing"
	"muster/host/room/nearby"
	"muster/host/room/origin"
	"muster/host/room/outage"
	"muster/host/room/places"
	"muster/host/room/roster"
	"muster/host/room/seats"
	"muster/host/room/trust"
	"muster/host/wire"
	"muster/selection"
)

// infosBefore3 has a name of its own because a struct embeds no two types of one name.
type infosBefore3 = infos.Saved

// before3 has what forms 1 and 2 kept at the top of the room, and form 3 keeps in the parts'
// sections. It is read, and never written.
type before3 struct {
	Code   string         `json:"code,omitempty"`
	Link   string         `json:"link,omitempty"`
	Secret string         `json:"secret,omitempty"`
	Locked bool           `json:"locked,omitempty"`
	Guests []guestBefore3 `json:"guests,omitempty"`

	Log []wire.Note `json:"log,omitempty"`
	infosBefore3
	Lists brought.Saved `json:"lists,omitzero"`
	Pause outage.Saved  `json:"pause,omitzero"`
	listing.Saved
	chosenBefore3
	Local    []nearby.Server  `json:"local,omitempty"`
	Survey   places.Saved     `json:"survey,omitzero"`
	Voted    bool             `json:"voted,omitempty"`
	Vetoes   []selection.Veto `json:"vetoes,omitempty"`
	Numbered []int            `json:"numbered,omitempty"`
	TooNear  []int            `json:"too_near,omitempty"`
	Look     finals.Saved     `json:"look,omitzero"`

	Kept    calendar.Saved      `json:"kept,omitzero"`
	Ended   time.Time           `json:"ended,omitzero"`
	History []wire.Played       `json:"history,omitempty"`
	Posts   calendar.SavedPosts `json:"posts,omitzero"`
}

// chosenBefore3 is the form of the choice in forms 1 and 2.
type chosenBefore3 struct{ choice.Saved }

// personBefore3 is the form of each person in forms 1 and 2.
type personBefore3 struct {
	*roster.SavedPerson
	Origin origin.Origin `json:"origin,omitzero"`
	Apart  bool          `json:"apart,omitempty"`
	Ready  bool          `json:"ready,omitempty"`
	Vote   *int          `json:"vote,omitempty"`
	ByHand bool          `json:"by_hand,omitempty"`
	// ComesTo is the date of Comes.
	Comes   *bool     `json:"comes,omitempty"`
	ComesTo time.Time `json:"comes_to,omitzero"`
}

// upgrade moves the fields of an older form from the top into the parts' sections.
func (s *Room) upgrade() {
	if s.Version >= 3 {
		return
	}
	s.Ballot = ballot.Saved{Opened: s.Voted, Vetoes: s.Vetoes, Numbers: s.Numbered, Papers: map[string]ballot.Paper{}}
	s.Roster = roster.Saved{Code: s.Code, Link: s.Link, Secret: s.Secret, Locked: s.Locked}
	s.Calendar = s.Kept
	s.Calendar.Ended, s.Calendar.History, s.Calendar.Posts = s.Ended, s.History, s.Posts
	if s.Opened.After(s.Calendar.Used) {
		s.Calendar.Used = s.Opened
	}
	move := func(name string, p *personBefore3, to *[]roster.SavedPerson) {
		one := roster.SavedPerson{}
		if p.SavedPerson != nil {
			one = *p.SavedPerson
		}
		one.Name = name
		*to = append(*to, one)
		if from := (origin.Entry{Origin: p.Origin, IsApart: p.Apart}); from != (origin.Entry{}) {
			if s.Origins == nil {
				s.Origins = origin.Saved{}
			}
			s.Origins[name] = from
		}
		if p.Comes != nil {
			if s.Calendar.Coming == nil {
				s.Calendar.Coming = map[string]calendar.Coming{}
			}
			s.Calendar.Coming[roster.MarkOf(one.Page)] = calendar.Coming{Comes: *p.Comes, To: p.ComesTo}
		}
		s.Ballot.Papers[name] = ballot.Paper{Vote: p.Vote, Ready: p.Ready, ByHand: p.ByHand}
		*p = personBefore3{}
	}
	for i := range s.Guests {
		g := &s.Guests[i]
		move(g.Name, &g.personBefore3, &s.Roster.Guests)
		if g.Counted {
			s.Estimates.Counted = append(s.Estimates.Counted, g.Name)
		}
	}
	for i := range s.Players {
		move(s.Players[i].Name, &s.Players[i].personBefore3, &s.Roster.Players)
	}
	s.Outage, s.Brought, s.Journal = s.Pause, s.Lists, journal.Saved{Notes: s.Log}
	s.Listing, s.Nearby, s.Choice = s.Saved, nearby.Saved{Servers: s.Local}, s.chosenBefore3.Saved
	s.Places = s.Survey
	s.Finals = s.Look
	s.Infos, s.Trust.TooNear, s.before3 = s.infosBefore3, s.TooNear, before3{}
	if len(s.Players) > 0 {
		s.Attendance = attendance.Saved{}
	}
	for i := range s.Players {
		p := &s.Players[i]
		out := attendance.Why("")
		switch {
		case p.LeftOut && p.Anomaly != nil:
			out = attendance.Odd
		case p.LeftOut:
			out = attendance.Unsaid
		}
		s.Attendance[p.Name] = attendance.SavedPlayer{Heard: p.Heard, Done: p.Done, Out: out, Missed: p.Missed}
		if p.Editions != nil {
			if s.Editions == nil {
				s.Editions = editions.Saved{}
			}
			s.Editions[p.Name] = p.Editions
		}
		s.Trust.Add(p.Name, p.SavedPlayer)
		if p.Near != nil {
			s.Nearby.Add(p.Name, *p.Near)
		}
		s.Launch.Add(p.Name, p.Way)
		if p.Surveyed.Attempt > 0 {
			if s.Places.Found == nil {
				s.Places.Found = map[string]places.Found{}
			}
			s.Places.Found[p.Name] = p.Surveyed
		}
		p.Evidence, p.playerBefore3 = p.Saved, playerBefore3{}
	}
	s.Seats = s.Phase.seatsOf()
}

// guestBefore3 is the form of each guest in forms 1 and 2. It is read, and never written.
type guestBefore3 struct {
	Name string `json:"name"`
	personBefore3
	Counted bool `json:"counted,omitempty"`
}

// playerBefore3 has the fields at the top of a player in forms 1 and 2. It is read, and never
// written.
type playerBefore3 struct {
	personBefore3
	Heard   time.Time     `json:"heard,omitzero"`
	Done    bool          `json:"done,omitempty"`
	LeftOut bool          `json:"left_out,omitempty"`
	Missed  time.Duration `json:"missed,omitempty"`
	evidence.Saved
	Editions map[string]discovery.Edition `json:"editions,omitempty"`
	trust.SavedPlayer
	Near     *nearby.Finding `json:"near,omitempty"`
	Surveyed places.Found    `json:"surveyed,omitzero"`
	launch.Way
}

// seatsOf returns the wait that forms 1 and 2 kept with the phase. A senseless wait counts as none,
// and a waiting room without a wait is an error.
func (p Phase) seatsOf() (s seats.Saved) {
	err := error(nil)
	switch p.Name {
	case "waiting":
		err = json.Unmarshal(p.Knows, &s)
	case "failed":
		err = json.Unmarshal(p.Knows, &struct {
			Waited *seats.Saved `json:"waited"`
		}{&s})
	}
	if err != nil {
		return seats.Saved{}
	}
	return s
}
