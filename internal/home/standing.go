package home

import (
	"context"
	"slices"
	"time"

	"muster/internal/hint"
)

// Standing is a standing room of the user's: it stays when a session ends.
type Standing struct {
	// ID tells it from the others.
	ID   string `json:"id"`
	Name string `json:"name"`
	Game string `json:"game"`
	// Next is its next date, or zero. Comes is how many people have said that they come.
	Next  time.Time `json:"next,omitzero"`
	Comes int       `json:"comes"`
	// At is the public host that has the room. Empty means this machine, listening on Listen.
	At     string `json:"at,omitempty"`
	Listen string `json:"-"`
}

// againRequest opens a standing room.
type againRequest struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// CanHost says that this computer may host.
	CanHost bool `json:"can_host"`
}

// again returns the command line that opens a standing room. quiet hides it from the local network.
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

// sorted returns the standing rooms, the next date first. A nil list has none.
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

func (h *Home) takeAgain(_ context.Context, request againRequest) (any, error) {
	rooms, err := sorted(h.config.Standing)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(rooms, func(s Standing) bool { return s.ID == request.ID })
	if at < 0 {
		return nil, hint.Say("standing.gone")
	}
	_, launch := h.granted()
	h.play("host", rooms[at].Game, rooms[at].again(request.Name, launch, request.CanHost, h.config.Rooms == nil), func() {})
	return nil, nil
}
