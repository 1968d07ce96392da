package host

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"muster/host/room"
	"muster/host/wire"
)

// Standing is what a public host keeps for groups that come again. A room that sleeps
// costs its few kilobytes, and a look at the time a day.
type Standing struct {
	// Rooms is how many standing rooms the host keeps, and PerAddress how many of those one
	// address may have opened since the host started; 0 is none at all.
	Rooms, PerAddress int
	// Keep is how long one is kept without anybody's program in it.
	Keep time.Duration
}

// standing is how many rooms of the host stay, and how many of these sleep.
func (h *Host) standing() (stay, sleep int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.rooms {
		view, _ := a.views.get()
		if s := &view.Snapshot.Room; s.Every != "" {
			stay++
			if !s.Ended.IsZero() {
				sleep++
			}
		}
	}
	return stay, sleep
}

// mayStay is why the host keeps no other standing room, nil if it does.
func (h *Host) mayStay() *wire.Refusal {
	p := h.config.Public
	if p == nil {
		return nil
	}
	if p.Standing.Rooms == 0 {
		return &wire.Refusal{Reason: wire.ReasonAction, Message: "this service keeps no rooms from one evening to the next", Hint: `leave out "every", or open the room on your own computer: muster host --here`}
	}
	if stay, _ := h.standing(); stay >= p.Standing.Rooms {
		return &wire.Refusal{Reason: wire.ReasonFull, Message: fmt.Sprintf("all %d rooms that this service keeps from one evening to the next are taken", p.Standing.Rooms), Hint: "try again another day, or open the room on your own computer: muster host --here"}
	}
	return nil
}

// makesStay reports whether a change has a room stay that does not yet.
func makesStay(change room.Change, now wire.Settings) bool {
	// by the very key that the room goes by: a struct would take "Every" for it, too
	var settings map[string]json.RawMessage
	var every string
	json.Unmarshal(change.Settings, &settings) // what is no setting is refused by the room
	json.Unmarshal(settings["every"], &every)
	return every != "" && now.Every == ""
}

// serveEvenings is the history of a standing room, for its own people: GET
// /api/rooms/CODE/evenings, as JSON or, with ?format=csv, as a table. Whoever only knows the
// code, or the link, does not learn who plays when.
func (h *Host) serveEvenings(w http.ResponseWriter, r *http.Request) {
	a := h.addressed(w, r, r.PathValue("code"))
	if a == nil {
		return
	}
	view, _ := a.views.get()
	if by := view.Badges[room.DigestOf(bearer(r))]; !by.Belongs && !by.Organiser {
		h.refuse(w, http.StatusForbidden, wire.Refusal{Reason: wire.ReasonSecret, Message: "who has played here reads where and with whom", Hint: "open the page by your own link, which muster join shows"})
		return
	}
	evenings, here := ask(a, func() wire.Evenings { return a.room.Evenings() })
	if !here {
		h.refuse(w, http.StatusServiceUnavailable, *a.tooLate())
		return
	}
	if r.URL.Query().Get("format") != "csv" {
		answer(w, http.StatusOK, evenings)
		return
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="evenings.csv"`)
	w.Header().Set("Cache-Control", "no-store")
	evenings.CSV(w) // fails only if the client is gone
}
