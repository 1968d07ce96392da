package lobby

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/hostport"
	"muster/host/matchfile"
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

// TestStill checks that an answer counts only if the room's newest state asks for the same. A state
// that asks for something else stays in the channel for the next reader.
func TestStill(t *testing.T) {
	den := wire.Venue{Name: "Den", Addr: hostport.At(netip.MustParseAddrPort("192.0.2.1:7787")), Protocol: "beacon"}
	barn := wire.Venue{Name: "Barn", Addr: hostport.At(netip.MustParseAddrPort("192.0.2.2:7787")), Protocol: "beacon"}
	news := func(round int, game, place, connect string) wire.Snapshot {
		s := wire.Snapshot{Room: wire.Head{Settings: wire.Settings{Game: game}, Round: round}}
		if place != "" {
			s.Way = &wire.Way{Place: &wire.Candidate{Name: place}, Connect: connect}
		}
		return s
	}
	before := news(2, "openarena", "Den", "")
	for name, c := range map[string]struct {
		news *wire.Snapshot
		want bool
	}{
		"nothing new":      {nil, true},
		"the same":         {new(news(2, "openarena", "Den", "")), true},
		"another round":    {new(news(3, "openarena", "Den", "")), false},
		"it searches":      {new(news(2, "openarena", "", "")), false},
		"it is there":      {new(news(2, "openarena", "Den", "192.0.2.3:27960")), false},
		"another game":     {new(news(2, "xonotic", "Den", "")), false},
		"another place":    {new(news(2, "openarena", "Barn", "")), false},
		"an unknown place": {new(news(2, "openarena", "Mill", "")), false},
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
	den := wire.Venue{Name: "Den", Addr: hostport.At(netip.MustParseAddrPort("192.0.2.1:7787")), Protocol: "beacon"}
	v := s.venue(game.Game{ID: "openarena", Port: 27960}, den, wire.Snapshot{Room: wire.Head{Code: "BAKODI reboot"}})
	if v.Room != "BAKODI" || v.Address != netip.MustParseAddrPort("192.0.2.1:27960") {
		t.Errorf("the command is told %+v", v)
	}
}

// TestMatchFiles checks that a start command gets the files that it names, with the password and the
// SteamID64s of the organiser's own settings, and that nobody else can read them.
func TestMatchFiles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	news := wire.Snapshot{Room: wire.Head{Round: 2}, Match: &wire.Match{
		BestOf: 1, Maps: []wire.MatchMap{{Name: "de_nuke"}, {Name: "de_dust2"}},
		Camps: [2]wire.Camp{{Side: wire.SideA, Name: "Nightjars", Players: []string{"ann"}}, {Side: wire.SideB, Players: []string{"bob"}}},
	}}
	settings := wire.Settings{Password: "club", SteamIDs: wire.SteamIDs{wire.SideA: {"ann": "76561197990682262"}}}
	for _, tt := range []struct {
		command string
		news    wire.Snapshot
		files   map[string]string // what each file has
		argv    int
		err     string
	}{
		{"start {address}", news, nil, 2, ""},
		{"start --match {match} --five {get5}", news, map[string]string{
			"match.json": `"steam_id":"76561197990682262"`, "get5.json": `"sv_password": "club"`,
		}, 5, ""},
		{"start --match {match}", wire.Snapshot{}, nil, 1, ""},
		{"start {tmt2}", news, nil, 0, "needs the maps"},
	} {
		hook, err := game.NewHook(tt.command)
		if err != nil {
			t.Fatal(err)
		}
		s := Starter{code: "BAKODI", Hook: hook, Settings: func() wire.Settings { return settings }}
		v := game.Venue{Place: "Frankfurt", Address: netip.MustParseAddrPort("192.0.2.1:27960")}
		folder, err := s.matchFiles(&v, tt.news)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v, want %s", tt.command, err, tt.err)
			}
			continue
		}
		if err != nil || (folder != "") != (tt.files != nil) {
			t.Errorf("%s: %q, %v", tt.command, folder, err)
		}
		for name, has := range tt.files {
			path := filepath.Join(folder, name)
			text, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(text), has) || !json.Valid(text) {
				t.Errorf("%s: %v\n%s\nwithout %s", tt.command, err, text, has)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", path, info, err)
			}
		}
		if argv, err := hook.Fill(v); err != nil || len(argv) != tt.argv {
			t.Errorf("%s: %q, %v", tt.command, argv, err)
		}
	}
	if forms := game.MatchFiles()[1:]; !slices.Equal(forms, matchfile.Kinds()) {
		t.Errorf("commands may name %q, and there are %q", forms, matchfile.Kinds())
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "muster-match-*", "tmt2.json")); len(left) > 0 || err != nil {
		t.Errorf("a failed start leaves %v, %v", left, err)
	}
}
