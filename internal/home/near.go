package home

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"muster/discovery/sentence"
	"muster/internal/hint"
)

// roomNear is a room on the local network.
type roomNear struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Game      string `json:"game"`
	Organiser string `json:"organiser"`
	Players   int    `json:"players"`
	Seats     int    `json:"seats"`
	Open      bool   `json:"open"`
	// Via says who announces the room, if it is not its host. Unknown says that nothing binds it to
	// its host.
	Via     sentence.Sentence `json:"via,omitzero"`
	Unknown bool              `json:"unknown,omitempty"`
}

// browse keeps the rooms up to date while a page is open to show them.
func (h *Home) browse() {
	for h.awaitPages(h.ctx, true) {
		shown, cancel := context.WithCancel(h.ctx)
		var watching sync.WaitGroup
		watching.Go(func() {
			h.awaitPages(shown, false)
			cancel()
		})
		for found := range h.config.Rooms(shown) {
			h.change(func(s *state) {
				h.near, s.Rooms = found, []roomNear{}
				for _, f := range found {
					s.Rooms = append(s.Rooms, roomNear{
						ID: f.ID, Name: f.Name, Game: f.Game, Organiser: f.Organiser, Players: f.Players, Seats: f.Seats, Open: f.Open,
						Via: f.AnnouncedBy(), Unknown: f.IsUnknown(),
					})
				}
			})
		}
		<-shown.Done() // it is there at once, unless there is no network to search
		cancel()
		watching.Wait()
	}
}

// awaitPages waits until a page is open, or until none is. It reports whether that happened before ctx
// ended.
func (h *Home) awaitPages(ctx context.Context, open bool) bool {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		h.mu.Lock()
		isOpen := h.pages > 0
		h.mu.Unlock()
		if isOpen == open {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
}

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
	Self
	ID string `json:"id"`
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
	of := rooms[at]
	request.Auto = new(bool) // the page asks
	h.open(Open{
		Self: request.Self, Room: map[string]json.RawMessage{"game": quoted(of.Game), "name": quoted(of.Name)},
		At: of.At, Listen: of.Listen, Again: true,
	})
	return nil, nil
}

// quoted returns a text as JSON.
func quoted(text string) json.RawMessage {
	data, _ := json.Marshal(text) // fails for no text
	return data
}
