// Package saved has the form of a saved room: the state of each part, and the room's own.
//
//	bytes ── Read ──▶ Room ─▶ the parts' states, which are validated
//	                   └─── LoseList, if the list is gone
package saved

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/bans"
	"muster/host/room/brought"
	"muster/host/room/calendar"
	"muster/host/room/candidates"
	"muster/host/room/choice"
	"muster/host/room/editions"
	"muster/host/room/estimates"
	"muster/host/room/evened"
	"muster/host/room/evidence"
	"muster/host/room/finals"
	"muster/host/room/infos"
	"muster/host/room/ingame"
	"muster/host/room/journal"
	"muster/host/room/launch"
	"muster/host/room/listing"
	"muster/host/room/nearby"
	"muster/host/room/origin"
	"muster/host/room/outage"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/room/roster"
	"muster/host/room/search"
	"muster/host/room/sides"
	"muster/host/room/trust"
	"muster/host/wire"
)

// Form names the form that this program reads and writes. New fields are optional, and older
// programs ignore them. Fields that are no longer used are ignored. The number grows only if older
// programs would break the room's promises.
const Form = family + "1"

// Version is the number of [Form].
const Version = 1

// family begins the name of each form.
const family = "muster.room/"

var (
	// ErrNewer says that a later Muster has saved a room. Hosts of two releases share a store during
	// an upgrade, and the older one leaves such rooms to the newer one.
	ErrNewer = errors.New("a newer Muster has saved it")
	// ErrOlder says that a room has a form from before there were releases.
	ErrOlder = errors.New("it has a form from before the first release of Muster")
)

// Room is a saved room. It is JSON, except for its long columns, which are binary frames as on the
// wire.
type Room struct {
	Form   string    `json:"form"`
	Opened time.Time `json:"opened"`
	// At is the time of the room's newest step, and Now the room time then.
	At       time.Time      `json:"at"`
	Now      roomtime.Time  `json:"now"`
	Settings wire.Settings  `json:"settings"`
	Password string         `json:"password,omitempty"`
	Webhook  string         `json:"webhook,omitempty"`
	League   string         `json:"league,omitempty"`
	Phase    Phase          `json:"phase"`
	Since    roomtime.Time  `json:"since"`
	Closed   bool           `json:"closed,omitempty"`
	Journal  journal.State  `json:"journal,omitzero"`
	Brought  brought.State  `json:"brought,omitzero"`
	Calendar calendar.State `json:"calendar,omitzero"`

	Round     int                `json:"round"`
	Players   []Player           `json:"players"`
	Listing   listing.Saved      `json:"listing,omitzero"`
	Nearby    nearby.State       `json:"nearby,omitzero"`
	Measuring roomtime.Time      `json:"measuring,omitzero"`
	Failures  attendance.Retries `json:"failures,omitempty"`
	Outage    outage.State       `json:"outage,omitzero"`
	Broken    bool               `json:"broken,omitempty"`
	More      search.BudgetState `json:"more,omitzero"`

	Roster     roster.State     `json:"roster,omitzero"`
	Sides      sides.State      `json:"sides,omitzero"`
	Origins    origin.State     `json:"origins,omitempty"`
	Attendance attendance.State `json:"attendance,omitzero"`
	Ballot     ballot.State     `json:"ballot,omitzero"`
	Bans       bans.State       `json:"bans,omitzero"`
	Evened     evened.State     `json:"evened,omitzero"`
	InGame     ingame.State     `json:"in_game,omitzero"`
	Choice     choice.State     `json:"choice,omitzero"`
	Estimates  estimates.State  `json:"estimates,omitzero"`
	Editions   editions.State   `json:"editions,omitempty"`
	Launch     launch.State     `json:"launch,omitempty"`
	Candidates candidates.State `json:"candidates,omitzero"`
	FoundNone  bool             `json:"found_none,omitempty"`
	Infos      infos.Saved      `json:"hearsay,omitzero"`
	Trust      trust.State      `json:"trust,omitzero"`
	Finals     finals.State     `json:"finals,omitzero"`
}

// Player is a player's part of the saved room. Each part of the room saves the rest in its own
// section.
type Player struct {
	ID people.ID `json:"id"`
	// ProbeLimit is the most servers that the player lets a round ask for.
	ProbeLimit int  `json:"discreet,omitempty"`
	Shares     bool `json:"shares,omitempty"`
	// Evidence are the player's questions and results.
	Evidence evidence.Saved `json:"evidence,omitzero"`
}

// Phase is a saved phase: its name, and its own state.
type Phase struct {
	Name  string          `json:"name"`
	Begun roomtime.Time   `json:"begun"`
	Knows json.RawMessage `json:"knows,omitempty"`
}

// Read reads a saved room. The error is [ErrNewer] or [ErrOlder] for a room of another form.
func Read(data []byte) (s Room, err error) {
	var head struct {
		Form string `json:"form"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return s, err
	}
	switch number, ours := strings.CutPrefix(head.Form, family); {
	case head.Form == Form:
	case ours && len(number) > 0 && !strings.HasPrefix(number, "0"):
		return s, fmt.Errorf("%w: its form is %s, and this one reads %s", ErrNewer, head.Form, Form)
	default:
		return s, ErrOlder
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, err
	}
	if s.Now < roomtime.Opening || !s.Now.IsValid() {
		return s, fmt.Errorf("it was saved %v after its opening", s.Now.Sub(roomtime.Opening))
	}
	return s, nil
}

// Carry copies a part's state into its section of a saved room, or back.
func Carry[T any](saves bool, section, state *T) {
	if saves {
		*section = *state
	} else {
		*state = *section
	}
}

// LoseList drops everything that depends on the room's list, which is gone. A room that was about
// to measure or choose begins again. A room that has sent its players to a server waits for the
// organiser.
func (s *Room) LoseList() (err error) {
	s.Listing.SavedList, s.Listing.ListLost = listing.SavedList{}, true
	if s.Infos, err = new(infos.Infos).Save(nil); err != nil {
		return err
	}
	s.Nearby.Servers, s.Measuring, s.Outage, s.Broken = nil, roomtime.Time(0), outage.State{}, false
	s.Choice, s.Finals, s.More, s.Trust = choice.State{Previous: s.Choice.Previous}, finals.State{}, search.BudgetState{}, s.Trust.Next()
	s.Launch = s.Launch.WithoutList()
	s.Ballot, s.Bans, s.Attendance = ballot.State{}, bans.State{}, s.Attendance.Anew()
	blank, err := new(evidence.PlayerResults).Save()
	if err != nil {
		return err
	}
	for i := range s.Players {
		p := &s.Players[i]
		p.Shares = false
		p.Evidence = blank
	}
	switch s.Phase.Name {
	case "gathering", "listing":
	case "failed": // it keeps its next try, and forgets the servers that people have waited for
		var failed struct {
			Retry roomtime.Time `json:"retry,omitzero"`
		}
		if err := json.Unmarshal(s.Phase.Knows, &failed); err != nil {
			return err
		}
		s.Phase.Knows, err = json.Marshal(failed)
		return err
	case "launching":
		s.Phase = Phase{Name: "failed", Knows: json.RawMessage("{}")}
	default:
		s.Phase = Phase{Name: "listing", Knows: json.RawMessage("{}")}
	}
	return nil
}
