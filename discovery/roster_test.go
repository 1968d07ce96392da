package discovery_test

import (
	"maps"
	"testing"
	"time"

	"muster/discovery"
)

// TestPings checks whose pings a status tells: bots, people who connect and shared names have none.
func TestPings(t *testing.T) {
	const ms = time.Millisecond
	roster := &discovery.Roster{Players: []discovery.Player{
		{Name: "anna", Ping: 31 * ms}, {Name: "bot"}, {Name: "ben", Ping: 999 * ms}, {Name: "", Ping: 20 * ms},
		{Name: "zoe", Ping: 40 * ms}, {Name: "zoe"}, {Name: "emil", Ping: 998 * ms},
	}}
	want := map[string]time.Duration{"anna": 31 * ms, "emil": 998 * ms}
	if got := roster.Pings(); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := (*discovery.Roster)(nil).Pings(); len(got) > 0 {
		t.Errorf("no roster tells %v", got)
	}
}
