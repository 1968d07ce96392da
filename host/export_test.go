package host

import (
	"math"
	"net/http"
	"time"

	"muster/host/public"
	"muster/host/room"
	"muster/host/turns"
)

// Description returns the document of a host's endpoints.
func Description() ([]byte, error) {
	h, err := New(Config{Public: &public.Limits{}, Page: http.NotFoundHandler(), Get: http.NotFoundHandler()})
	if err != nil {
		return nil, err
	}
	defer h.Close()
	document, err := describe(h.routes())
	if err != nil {
		return nil, err
	}
	return document.JSON()
}

// SearchAtOnce lets n rooms search at the same time, for measurements.
func (h *Host) SearchAtOnce(n int) { h.turns = turns.New(n) }

// Occupy takes all turns of an idle host until leave is called.
func (h *Host) Occupy() (leave func()) {
	var mine []*turns.Turn
	for isFree := true; isFree; {
		t := h.turns.Wait(room.Plan{Since: time.Unix(math.MinInt32, 0)})
		mine = append(mine, t)
		select {
		case <-t.Given():
		default:
			isFree = false
		}
	}
	return func() {
		for _, t := range mine {
			t.Over()
		}
	}
}
