package home

import (
	"context"
	"sync"
	"time"

	"muster/discovery/sentence"
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
