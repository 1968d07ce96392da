package ingress

import (
	"testing"

	"muster/discovery/lists/lan"
	"muster/host/wire"
)

// TestAnnounced checks that announcements contain no code.
func TestAnnounced(t *testing.T) {
	room := wire.Snapshot{
		Room:   wire.Head{Code: "BAKODI", Settings: wire.Settings{Game: "openarena", Players: 4, Open: true}},
		People: []wire.Person{{Name: "bob", Peer: true}, {Name: "cat", Peer: true, Organiser: true}, {Name: "dan", Page: true}},
	}
	want := lan.Room{Name: "cat's room", Game: "openarena", Organiser: "cat", Players: 2, Seats: 4, Open: true}
	if got := announced(room, lan.Room{Organiser: "ann"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
