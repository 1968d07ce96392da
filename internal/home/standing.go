package home

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Standing is a room of the user's that stays when the night ends.
type Standing struct {
	// ID tells it from the others.
	ID   string `json:"id"`
	Name string `json:"name"`
	Game string `json:"game"`
	// Next is its next date, zero without one, and Comes how many have said that they come.
	Next  time.Time `json:"next,omitzero"`
	Comes int       `json:"comes"`
	// At is the public host that has it; empty is this machine, where it is reached at
	// Listen.
	At     string `json:"at,omitempty"`
	Listen string `json:"-"`
}

// againWish is to open such a room.
type againWish struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// CanHost: this computer may host.
	CanHost bool `json:"can_host"`
}

// again is the command line that opens a room that stays; quiet has nobody on the local
// network told of it.
func (s Standing) again(name, launch string, canHost, quiet bool) []string {
	args := append([]string{"host", "--game=" + s.Game, "--room=" + s.Name}, player(name, false, launch, canHost)...)
	if s.At != "" {
		return append(args, "--at="+s.At)
	}
	args = append(args, "--here", "--listen="+s.Listen)
	if quiet {
		args = append(args, "--no-mdns")
	}
	return args
}

// sorted returns rooms that stay, the next date first; a nil list has none.
func sorted(list func() ([]Standing, error)) ([]Standing, error) {
	if list == nil {
		return []Standing{}, nil
	}
	rooms, err := list()
	slices.SortStableFunc(rooms, func(a, b Standing) int {
		if a.Next.IsZero() != b.Next.IsZero() {
			if a.Next.IsZero() {
				return 1
			}
			return -1
		}
		return a.Next.Compare(b.Next)
	})
	return append([]Standing{}, rooms...), err
}

func (h *Home) takeAgain(_ context.Context, wish againWish) (any, error) {
	rooms, err := sorted(h.config.Standing)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(rooms, func(s Standing) bool { return s.ID == wish.ID })
	if at < 0 {
		return nil, errors.New("that room is not kept any more: open another")
	}
	_, launch := h.granted()
	h.play("host", rooms[at].Game, rooms[at].again(wish.Name, launch, wish.CanHost, h.config.Rooms == nil), func() {})
	return nil, nil
}
