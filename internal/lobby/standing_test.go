package lobby

import (
	"testing"
	"time"

	"github.com/adrg/xdg"

	"muster/host/wire"
)

// TestStandingNotes checks that Home lists a closed standing room with its next date, until the
// room stops being a standing one.
func TestStandingNotes(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	xdg.Reload()
	defer xdg.Reload()
	friday := time.Date(2026, 11, 27, 19, 0, 0, 0, time.UTC)
	yes := true
	var s wire.Snapshot
	s.Room.Code, s.Room.Name, s.Room.Game, s.Room.Every = "BAKODI", "Friday", "openarena", "fri 20:00 Europe/Berlin"
	s.Meeting = &wire.Meeting{Next: friday, Who: []wire.Attendee{{Name: "ann", Comes: &yes}, {Name: "bob"}}}
	note := notes("", ":7777", func(warnings ...error) { t.Error(warnings) })
	note(wire.Snapshot{}) // it is no standing room, and leaves nothing
	note(s)
	rooms, err := Standing(friday.Add(-time.Hour))
	if err != nil || len(rooms) != 1 || rooms[0].Name != "Friday" || rooms[0].Comes != 1 ||
		!rooms[0].Next.Equal(friday) || rooms[0].Listen != ":7777" {
		t.Fatalf("Home shows %+v, %v", rooms, err)
	}
	for _, test := range []struct{ room, at, listen, game string }{
		{"Friday", "", ":7777", "openarena"}, {"Friday", "", ":7778", ""},
		{"Friday", "https://muster.example", ":7777", ""}, {"Sunday", "", ":7777", ""}, {"", "", ":7777", ""},
	} {
		if game := GameOfStanding(test.room, test.at, test.listen); game != test.game {
			t.Errorf("--room %q --at %q --listen %s is of %q, want %q", test.room, test.at, test.listen, game, test.game)
		}
	}
	if rooms, _ := Standing(friday.Add(time.Hour)); len(rooms) != 1 || rooms[0].Comes != 0 || !rooms[0].Next.Equal(friday.AddDate(0, 0, 7)) {
		t.Errorf("after the date Home shows %+v", rooms)
	}
	if rooms, _ := Standing(friday.AddDate(1, 0, 0)); len(rooms) != 1 {
		t.Errorf("a year later a room on this machine is shown as %+v", rooms)
	}
	s.Room.Every, s.Meeting = "", nil
	note(s)
	if rooms, _ := Standing(friday); len(rooms) != 0 {
		t.Errorf("a room that ends with the night is shown as %+v", rooms)
	}
}
