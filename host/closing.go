package host

import (
	"encoding/json"
	"fmt"
	"time"

	"muster/host/wire"
)

const (
	// keepGraves is how long a host remembers that a room was: old links lie about
	// in chats.
	keepGraves = 30 * 24 * time.Hour
	// maxGraves is several rooms an evening.
	maxGraves = 256
)

// CloseRoom ends a room for good. Whoever is in it is sent away, and whoever
// comes with its code later hears that it is over.
func (h *Host) CloseRoom(code string) {
	a := h.actor(CanonicalCode(code))
	if a == nil {
		return
	}
	h.remember(a.code, time.Now())
	a.post(func() {
		a.room.Closed = true
		for name := range a.links {
			a.dismiss(dismiss{name, *closed(a.code)})
		}
	})
}

// closed is what people hear who want to go where a room was.
func closed(code string) *wire.Refusal {
	return &wire.Refusal{
		Reason: wire.ReasonClosed, Message: fmt.Sprintf("room %s is over", code),
		Hint: "ask the organiser for the link of the new one",
	}
}

// grave is what the store keeps of a room that is over.
type grave struct {
	Over time.Time `json:"over,omitzero"`
}

// isGrave tells whether saved data is of a room that is over, and since when.
func isGrave(data []byte) (over time.Time, is bool) {
	var g grave
	err := json.Unmarshal(data, &g)
	return g.Over, err == nil && !g.Over.IsZero()
}

// bury forgets all of a room but that it was.
func (h *Host) bury(code string, now time.Time) error {
	data, err := json.Marshal(grave{now})
	if err != nil {
		return err
	}
	h.remember(code, now)
	return h.config.Store.Save(code, data)
}

// visit remembers a room that is over, unless it is long ago.
func (h *Host) visit(code string, over, now time.Time) error {
	if now.Sub(over) > keepGraves {
		return h.config.Store.Delete(code)
	}
	h.remember(code, over)
	return nil
}

// remember notes since when a room is over, in the place of the oldest if there
// are many.
func (h *Host) remember(code string, over time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over == nil {
		h.over = map[string]time.Time{}
	}
	h.over[code] = over
	if len(h.over) > maxGraves {
		oldest := code
		for other, at := range h.over {
			if at.Before(h.over[oldest]) {
				oldest = other
			}
		}
		delete(h.over, oldest)
	}
}

// wasRoom tells whether a code was a room's that is over.
func (h *Host) wasRoom(code string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, was := h.over[code]
	return was
}
