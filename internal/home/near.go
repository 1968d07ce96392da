package home

import (
	"context"
	"iter"
	"slices"
	"sync"

	"muster/discovery/lists/lan"
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

// roomsNear are the rooms on the local network. The zero value has none.
type roomsNear struct {
	mu    sync.Mutex // guards what follows
	found []lan.Found
}

// browse updates the rooms while a page is open to show them, and wakes the pages.
func (r *roomsNear) browse(ctx context.Context, search func(context.Context) iter.Seq2[[]lan.Found, error], pages *audience) {
	for ctx.Err() == nil {
		if !pages.await(ctx, true) {
			return
		}
		shown, cancel := context.WithCancel(ctx)
		var watching sync.WaitGroup
		watching.Go(func() {
			pages.await(shown, false)
			cancel()
		})
		for found := range search(shown) {
			r.set(found)
			pages.wake()
		}
		if shown.Err() == nil { // there is no network to search
			<-shown.Done()
		}
		cancel()
		watching.Wait()
	}
}

func (r *roomsNear) set(found []lan.Found) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found = found
}

// find returns the room with an ID.
func (r *roomsNear) find(id string) (room lan.Found, is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.found, func(f lan.Found) bool { return f.ID == id })
	if at < 0 {
		return lan.Found{}, false
	}
	return r.found[at], true
}

// list returns the rooms as pages show them.
func (r *roomsNear) list() []roomNear {
	r.mu.Lock()
	defer r.mu.Unlock()
	rooms := []roomNear{}
	for _, f := range r.found {
		rooms = append(rooms, roomNear{
			ID: f.ID, Name: f.Name, Game: f.Game, Organiser: f.Organiser, Players: f.Players, Seats: f.Seats, Open: f.Open,
			Via: f.AnnouncedBy(), Unknown: f.IsUnknown(),
		})
	}
	return rooms
}
