package lobby

import (
	"net/netip"
	"testing"
	"time"

	"muster/host/wire"
	"muster/internal/game"
	"muster/selection"
)

// TestAgreedTo checks that without a question only the organiser's own game and map are started,
// and only a few times, whatever a host says.
func TestAgreedTo(t *testing.T) {
	now := time.Date(2026, 1, 1, 20, 0, 0, 0, time.UTC)
	often := func(n int, ago time.Duration) (begun []time.Time) {
		for range n {
			begun = append(begun, now.Add(-ago))
		}
		return begun
	}
	said := wire.Settings{Game: "openarena", Wishes: selection.Wishes{Map: "oa_dm1"}}
	for name, c := range map[string]struct {
		game, level string
		begun       []time.Time
		want        bool
	}{
		"what was said":       {"openarena", "oa_dm1", nil, true},
		"another game":        {"xonotic", "oa_dm1", nil, false},
		"another map":         {"openarena", "oa_dm2", nil, false},
		"no map":              {"openarena", "", nil, false},
		"after some":          {"openarena", "oa_dm1", often(5, time.Minute), true},
		"after too many":      {"openarena", "oa_dm1", often(6, time.Minute), false},
		"after many long ago": {"openarena", "oa_dm1", often(60, time.Hour), true},
	} {
		if got := agreedTo(said, wire.Head{Settings: wire.Settings{Game: c.game, Wishes: selection.Wishes{Map: c.level}}}, c.begun, now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestStill checks that an answer counts while the room wants the same, and that news which say
// otherwise stay for the next reader.
func TestStill(t *testing.T) {
	den := wire.Venue{Name: "Den", Addr: netip.MustParseAddrPort("192.0.2.1:7787"), Protocol: "beacon"}
	barn := wire.Venue{Name: "Barn", Addr: netip.MustParseAddrPort("192.0.2.2:7787"), Protocol: "beacon"}
	news := func(round int, game string, stage wire.Stage, first string) wire.Snapshot {
		return wire.Snapshot{
			Room:  wire.Head{Settings: wire.Settings{Game: game}, Round: round, Stage: stage},
			Sites: &wire.Sites{Better: true, Sites: []wire.Site{{Name: first, Suits: true}}},
		}
	}
	before := news(2, "openarena", wire.Failed, "Den")
	for name, c := range map[string]struct {
		news *wire.Snapshot
		want bool
	}{
		"nothing new":      {nil, true},
		"the same":         {new(news(2, "openarena", wire.Failed, "Den")), true},
		"another round":    {new(news(3, "openarena", wire.Failed, "Den")), false},
		"it searches":      {new(news(2, "openarena", wire.Measuring, "Den")), false},
		"another game":     {new(news(2, "xonotic", wire.Failed, "Den")), false},
		"another place":    {new(news(2, "openarena", wire.Failed, "Barn")), false},
		"an unknown place": {new(news(2, "openarena", wire.Failed, "Mill")), false},
	} {
		rooms := make(chan wire.Snapshot, 1)
		if c.news != nil {
			rooms <- *c.news
		}
		if got := isStillWanted(rooms, before, den, wire.Venues{den, barn}); got != c.want || !got && len(rooms) != 1 {
			t.Errorf("%s: %v, and %d are left to look at", name, got, len(rooms))
		}
	}
}

// TestVenueTakesTheOwnCode checks that a remote host cannot choose what {room} becomes.
func TestVenueTakesTheOwnCode(t *testing.T) {
	s := Starter{code: "BAKODI"}
	den := wire.Venue{Name: "Den", Addr: netip.MustParseAddrPort("192.0.2.1:7787"), Protocol: "beacon"}
	v := s.venue(game.Game{ID: "openarena", Port: 27960}, den, wire.Snapshot{Room: wire.Head{Code: "BAKODI reboot"}})
	if v.Room != "BAKODI" || v.Address != netip.MustParseAddrPort("192.0.2.1:27960") {
		t.Errorf("the command is told %+v", v)
	}
}
