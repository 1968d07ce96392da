package host_test

import (
	"strings"
	"testing"

	"muster/host"
	"muster/host/room"
	"muster/host/wire"
)

// TestOrder checks that a host's own program steers its rooms as their organiser does, and learns
// why a room refuses.
func TestOrder(t *testing.T) {
	h, server := serve(t, host.Config{List: listOf(3)})
	code, _, err := h.Open(friday(2))
	if err != nil {
		t.Fatal(err)
	}
	join(t, server, code, "ann")
	for _, tt := range []struct {
		name, code string
		action     room.Action
		refused    string
	}{
		{"no such room", "NOSUCH", room.Hide{}, "the room is over"},
		{"what makes no sense", code, room.Hide{}, "which server is to be hidden is missing"},
		{"too early", code, room.AwaitSeats{}, "no choice right now"},
		{"what only the organiser may", code, room.Go{Stage: wire.Gathering}, ""},
	} {
		err := h.Order(tt.code, tt.action)
		if (err == nil) != (tt.refused == "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.refused)
		}
	}
	(&night{t, h, nil, code}).await(func(state wire.Snapshot) bool { return state.Room.Stage != wire.Gathering })
}
