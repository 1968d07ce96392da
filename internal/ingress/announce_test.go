package ingress

import (
	"testing"

	"muster/discovery/lan"
	"muster/host/wire"
)

// What is announced holds no code.
func TestAnnounced(t *testing.T) {
	room := wire.Room{Code: "BAKODI", Game: "openarena", Seats: 4, Members: []wire.Member{{Name: "bob"}, {Name: "cat", Organiser: true}}, Open: true}
	want := lan.Room{Name: "cat's room", Game: "openarena", Organiser: "cat", Players: 2, Seats: 4, Open: true}
	if got := announced(room, lan.Room{Organiser: "ann"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
