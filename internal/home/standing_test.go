package home

import (
	"slices"
	"testing"
)

// TestAgain checks that a standing room is reopened by its name, at its host, and that its name is
// never taken for a flag.
func TestAgain(t *testing.T) {
	for _, test := range []struct {
		room           Standing
		name           string
		canHost, quiet bool
		want           []string
	}{
		{Standing{Name: "Friday", Game: "openarena", Listen: ":7777"}, "ann", false, false,
			[]string{"host", "--game=openarena", "--room=Friday", "--name=ann", "--here", "--listen=:7777"}},
		{Standing{Name: "--new", Game: "openarena", Listen: ":7777"}, "", false, true,
			[]string{"host", "--game=openarena", "--room=--new", "--here", "--listen=:7777", "--no-mdns"}},
		{Standing{Name: "", Game: "cs2", At: "https://muster.example"}, "", false, true,
			[]string{"host", "--game=cs2", "--room=", "--at=https://muster.example"}},
		{Standing{Name: "Friday", Game: "openarena", Listen: ":7777"}, "ann", true, false,
			[]string{"host", "--game=openarena", "--room=Friday", "--name=ann", "--can-host", "--here", "--listen=:7777"}},
	} {
		if got := test.room.again(test.name, "", test.canHost, test.quiet); !slices.Equal(got, test.want) {
			t.Errorf("%+v is opened by %q, want %q", test.room, got, test.want)
		}
	}
}
