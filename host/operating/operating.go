// Package operating shows rooms to the operator of a public host, and closes and moves them.
//
//	muster serve rooms ── key, on loopback ──▶ Desk ──▶ this host's rooms
//	                                            └── between the hosts ──▶ the others' rooms
//
// It shows what an operator needs to decide, and nothing that admits anybody or tells one person from
// another: rooms have their public ids, and people a number.
package operating

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"muster/host/pressure"
	"muster/host/wire"
)

// Room is a row of the list of rooms.
type Room struct {
	// ID is the room's public id, which logs have, too.
	ID string `json:"id"`
	// Host is the name of the host that has the room, empty if it is alone.
	Host  string     `json:"host,omitempty"`
	Game  string     `json:"game"`
	Phase wire.Stage `json:"phase"`
	// Since is when the phase began. Opened is when the room was opened, or the oldest thing that a
	// standing room remembers.
	Since  time.Time `json:"since"`
	Opened time.Time `json:"opened"`
	Round  int       `json:"round"`
	// Wanted is how many players the group waits for; 0 leaves it to the organiser.
	Wanted int `json:"wanted,omitempty"`
	// People are all in the room. Programs of them have a program that is connected, and Pages the
	// page open.
	People   int `json:"people"`
	Programs int `json:"programs"`
	Pages    int `json:"pages"`
	// Stays says that it is a standing room, and Asleep that it waits for its next session.
	Stays  bool `json:"stays,omitempty"`
	Asleep bool `json:"asleep,omitempty"`
	// Held says that the room waits because its host cannot keep it.
	Held bool `json:"held,omitempty"`
}

// RoomOf returns the row of a room in this state.
func RoomOf(id, host string, s *wire.Snapshot) Room {
	r := Room{
		ID: id, Host: host, Game: s.Room.Game, Phase: s.Room.Stage, Since: s.Room.Since, Opened: s.Room.Since, Round: s.Room.Round,
		Wanted: s.Room.Players, People: len(s.People), Stays: s.Room.Every != "", Held: !s.Room.Held.IsZero(),
	}
	r.Asleep = r.Stays && !s.Room.Ended.IsZero()
	if len(s.Log) > 0 && s.Log[0].At.Before(r.Opened) {
		r.Opened = s.Log[0].At
	}
	for _, p := range s.People {
		if p.Connected {
			r.Programs++
		}
		if p.Page {
			r.Pages++
		}
	}
	return r
}

// Sort sorts rooms: those with most people first, then the oldest.
func Sort(rooms []Room) {
	slices.SortFunc(rooms, func(a, b Room) int {
		return cmp.Or(cmp.Compare(b.People, a.People), a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID))
	})
}

// Reasons for closing a room. People in it read the sentence for the reason.
const (
	Maintenance = "maintenance"
	Rules       = "rules"
	Load        = "load"
	Asked       = "asked"
)

// Reasons are all reasons for closing a room.
func Reasons() []string { return []string{Maintenance, Rules, Load, Asked} }

// Closing returns the message for the people in a room that the operator closes, nil if there is no
// such reason.
func Closing(reason string) *wire.Refusal {
	switch reason {
	case Maintenance:
		return wire.Refuse(wire.ReasonClosed, "refused.operator-maintenance").Advising("refused.operator-elsewhere-hint")
	case Rules:
		return wire.Refuse(wire.ReasonClosed, "refused.operator-rules").Advising("refused.operator-rules-hint")
	case Load:
		return wire.Refuse(wire.ReasonClosed, "refused.operator-load").Advising("refused.operator-elsewhere-hint")
	case Asked:
		return wire.Refuse(wire.ReasonClosed, "refused.operator-asked").Advising("refused.over-hint")
	}
	return nil
}

// Rooms are the rooms of one host. Any goroutine may use it.
type Rooms interface {
	// List returns all rooms of the host.
	List() []Room
	// Explain says why a room is where it is. The error is ErrUnknown if this host does not have it.
	Explain(id string) (Explanation, error)
	// Close ends a room for good, for one of the [Reasons].
	Close(ctx context.Context, id, reason string) error
	// Move gives a room to another host, and returns once that host has it.
	Move(ctx context.Context, id, to string) error
	// Where returns the name of the host that has a room. The error is ErrUnknown if none has it.
	Where(id string) (host string, err error)
	// Limits returns the networks that have lately run into limits.
	Limits() []pressure.Row
}

// These errors tell the operator why nothing was done.
var (
	ErrUnknown = errors.New("no room has this id: muster serve rooms lists them")
	ErrOrphan  = errors.New("no host has this room now: one takes it within seconds, unless none can read it; their logs say")
	ErrAlone   = errors.New("this host has no others: rooms move between hosts that share --nats")
	ErrBusy    = errors.New("the room waits for its store: try again when muster_store_up is 1")
	ErrHost    = errors.New("no such host is ready to take rooms")
	ErrThere   = errors.New("the room is on that host already")
	ErrReason  = errors.New("--reason is one of " + strings.Join(Reasons(), ", "))
	ErrStays   = errors.New("the other host has not taken the room in time: muster serve rooms says where it is")
)
