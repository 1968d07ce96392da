// Package saved is the form of a room at rest: a section of each part, and the room's own state. It
// reads the forms of earlier releases, too:
//
//	form 1, 2 ── upgrade ─┐
//	                      ├─▶ Room ─▶ the parts' Restore
//	form 3 ───────────────┘     └─── LoseList, if the list is gone
package saved

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/bans"
	"muster/host/room/brought"
	"muster/host/room/calendar"
	"muster/host/room/choice"
	"muster/host/room/editions"
	"muster/host/room/estimates"
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
	"muster/host/room/search"
	"muster/host/room/seats"
	"muster/host/room/sides"
	"muster/host/room/trust"
	"muster/host/wire"
)

// The saved form has a version. A host reads every version from the oldest on, because hosts of two
// releases share a store during an upgrade. It leaves a room that a newer host has saved to newer
// hosts: rooms go forward only. A change raises the version if an older host would break the room's
// word without it. A change that an older host may forget, such as a figure that is only shown,
// does not, and an older host that has the room drops it.
const (
	// Version is the newest form that this program reads, and the one that it writes. It
	// gives each part a section.
	Version = 4
	// Oldest is the oldest form that this program reads.
	Oldest = 1
)

// ErrNewer says that a later release of Muster has saved a room.
var ErrNewer = errors.New("a newer Muster has saved it")

// Room is a room at rest: JSON, except for its long columns, which are the same binary frames that
// travel.
type Room struct {
	Version  int            `json:"version"`
	Opened   time.Time      `json:"opened"`
	Settings wire.Settings  `json:"settings"`
	Password string         `json:"password,omitempty"`
	Webhook  string         `json:"webhook,omitempty"`
	League   string         `json:"league,omitempty"`
	Phase    Phase          `json:"phase"`
	Since    time.Time      `json:"since"`
	Closed   bool           `json:"closed,omitempty"`
	Journal  journal.Saved  `json:"journal,omitzero"`
	Previous netip.AddrPort `json:"previous,omitzero"`
	Brought  brought.Saved  `json:"brought,omitzero"`
	Calendar calendar.Saved `json:"calendar,omitzero"`

	Round     int                `json:"round"`
	Players   []Player           `json:"players"`
	Listing   listing.Saved      `json:"listing,omitzero"`
	Nearby    nearby.Saved       `json:"nearby,omitzero"`
	Measuring time.Time          `json:"measuring,omitzero"`
	Failures  attendance.Retries `json:"failures,omitempty"`
	Outage    outage.Saved       `json:"outage,omitzero"`
	Broken    bool               `json:"broken,omitempty"`
	More      search.SavedBudget `json:"more,omitzero"`

	Roster     roster.Saved     `json:"roster,omitzero"`
	Sides      sides.Saved      `json:"sides,omitzero"`
	Origins    origin.Saved     `json:"origins,omitempty"`
	Attendance attendance.Saved `json:"attendance,omitempty"`
	Ballot     ballot.Saved     `json:"ballot,omitzero"`
	Bans       bans.Saved       `json:"bans,omitzero"`
	Choice     choice.Saved     `json:"choice,omitzero"`
	Estimates  estimates.Saved  `json:"estimates,omitzero"`
	Editions   editions.Saved   `json:"editions,omitempty"`
	Seats      seats.Saved      `json:"seats,omitzero"`
	Launch     launch.Saved     `json:"launch,omitempty"`
	Places     places.Saved     `json:"places,omitzero"`
	Infos      infos.Saved      `json:"hearsay,omitzero"`
	Trust      trust.Saved      `json:"trust,omitzero"`
	Finals     finals.Saved     `json:"finals,omitzero"`

	before3
}

// Player is what the room keeps of a player apart from the parts' sections.
type Player struct {
	Name string `json:"name"`
	// Discreet is the most servers that the player lets a round ask for.
	Discreet int  `json:"discreet,omitempty"`
	Shares   bool `json:"shares,omitempty"`
	// Evidence are the player's questions and results.
	Evidence evidence.Saved `json:"evidence,omitzero"`

	playerBefore3
}

// Phase is a phase at rest: its name, and its own state.
type Phase struct {
	Name  string          `json:"name"`
	Knows json.RawMessage `json:"knows,omitempty"`
}

// Read reads a saved room of any form that this program knows. The error is [ErrNewer] for a
// later one.
func Read(data []byte) (s Room, err error) {
	if err := json.Unmarshal(data, &s); err != nil {
		return s, err
	}
	switch {
	case s.Version > Version:
		return s, fmt.Errorf("%w: it has form %d, and this one reads %d", ErrNewer, s.Version, Version)
	case s.Version < Oldest:
		return s, fmt.Errorf("form %d, and this program reads %d to %d", s.Version, Oldest, Version)
	}
	s.upgrade()
	return s, nil
}

// LoseList drops everything that depends on the room's list, which is gone. A room that was about
// to measure or choose begins again. A room that has sent its players somewhere waits for the
// organiser.
func (s *Room) LoseList() (err error) {
	s.Listing.SavedList, s.Listing.ListLost = listing.SavedList{}, true
	if s.Infos, err = new(infos.Infos).Save(nil); err != nil {
		return err
	}
	s.Seats = seats.Saved{}
	s.Nearby.Servers, s.Measuring, s.Outage, s.Broken = nil, time.Time{}, outage.Saved{}, false
	s.Choice, s.Finals, s.More, s.Trust = choice.Saved{}, finals.Saved{}, search.SavedBudget{}, s.Trust.WithoutList()
	s.Launch = s.Launch.WithoutList()
	s.Ballot, s.Bans, s.Attendance = ballot.Saved{}, bans.Saved{}, s.Attendance.Anew()
	blank, err := new(evidence.Witness).Save()
	if err != nil {
		return err
	}
	for i := range s.Players {
		p := &s.Players[i]
		p.Shares = false
		p.Evidence = blank
	}
	switch s.Phase.Name {
	case "gathering", "listing", "failed":
	case "launching":
		s.Phase = Phase{Name: "failed", Knows: json.RawMessage("{}")}
	default:
		s.Phase = Phase{Name: "listing", Knows: json.RawMessage("{}")}
	}
	return nil
}
