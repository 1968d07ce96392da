package terms

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/discovery/hostport"
	"muster/host/wire"
)

var eight = time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)

// room returns the settings of a room that gathers, and the facts about it.
func room(t *testing.T) (before wire.Settings, facts Facts) {
	t.Helper()
	before, err := wire.Settings{
		Game:    "openarena",
		By:      "mean",
		Every:   "2026-11-13 20:00 UTC",
		Servers: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:1")},
	}.
		Patched([]byte(`{"places":"A, 192.0.2.1\nB, 192.0.2.2"}`), wire.OnPage)
	if err != nil {
		t.Fatal(err)
	}
	return before, Facts{Now: eight, Stage: wire.Gathering, Players: 3, Games: []string{"openarena", "xonotic"}, MaxPlaces: 1, Posts: true}
}

// match makes the room a match in a stage.
func match(stage wire.Stage) func(*wire.Settings, *Facts) {
	return func(s *wire.Settings, f *Facts) { s.Match, f.Stage = "bo1", stage }
}

// hostPlaces gives the host places of its own.
func hostPlaces(_ *wire.Settings, f *Facts) { f.Places = own }

// own are a host's places.
var own = wire.Venues{{Name: "Frankfurt", Addr: hostport.At(netip.MustParseAddrPort("192.0.2.9:443")), Protocol: "tcp"}}

// TestPlaced checks that a room which looks for a place has places: its own, or else the host's.
func TestPlaced(t *testing.T) {
	mine := wire.Venues{{Name: "Paris", Addr: hostport.At(netip.MustParseAddrPort("192.0.2.8:443")), Protocol: "tcp"}}
	for name, c := range map[string]struct {
		before wire.Settings
		patch  string
		want   wire.Venues
	}{
		"a new search":       {wire.Settings{Game: "openarena", By: "mean"}, `{"seeks":"place"}`, own},
		"a search by theirs": {wire.Settings{Game: "openarena", By: "mean", Places: mine}, `{"seeks":"either"}`, mine},
		"servers again":      {wire.Settings{Game: "openarena", By: "mean", Seeks: "place", Places: own}, `{"seeks":""}`, nil},
		"theirs stay":        {wire.Settings{Game: "openarena", By: "mean", Seeks: "place", Places: mine}, `{"seeks":""}`, mine},
		"another rule":       {wire.Settings{Game: "openarena"}, `{"by":"mean"}`, nil},
	} {
		s, err := Change(c.before, []byte(c.patch), Facts{Stage: wire.Gathering, Places: own})
		if err != nil || !s.Places.Equal(c.want) {
			t.Errorf("%s: the places are %v (%v), want %v", name, s.Places, err, c.want)
		}
	}
}

// TestChange checks that a room takes a change whole, or says why it does not.
func TestChange(t *testing.T) {
	const hook = `{"webhook":"https://discord.com/api/webhooks/1/token"}`
	for _, tt := range []struct {
		name, patch string
		change      func(*wire.Settings, *Facts)
		// refusal is a part of the refusal, empty if the room takes the change.
		refusal string
	}{
		{"nothing", "", nil, "no settings"},
		{"what is no setting", `{"by":"luck"}`, nil, "luck"},
		{"the rule", `{"by":"minimax"}`, nil, ""},
		{"a date", `{"every":"2026-11-27 20:00 UTC"}`, nil, ""},
		{"a date that has passed", `{"every":"2026-11-06 20:00 UTC"}`, nil, "was in the past"},
		{"the date of before, which has passed", `{"every":"2026-11-13 20:00 UTC"}`, nil, ""},
		{"no date any more", `{"every":""}`, nil, ""},
		{"a webhook", hook, nil, ""},
		{"a webhook, at a host that posts for nobody", hook, func(_ *wire.Settings, f *Facts) { f.Posts = false }, "doesn’t post anywhere"},
		{"the webhook of before, there", hook, func(s *wire.Settings, f *Facts) {
			s.Webhook, f.Posts = "https://discord.com/api/webhooks/1/token", false
		}, ""},
		{"no webhook, there", `{"webhook":""}`, func(_ *wire.Settings, f *Facts) { f.Posts = false }, ""},
		{"a game", `{"game":"xonotic"}`, nil, ""},
		{"a game after a launch", `{"game":"xonotic"}`, func(_ *wire.Settings, f *Facts) { f.Stage = wire.Launching }, ""},
		{"a game after a failure", `{"game":"xonotic"}`, func(_ *wire.Settings, f *Facts) { f.Stage = wire.Failed }, ""},
		{"a game while people measure", `{"game":"xonotic"}`, func(_ *wire.Settings, f *Facts) {
			f.Stage = wire.Measuring
		}, "everyone is on the servers of openarena already"},
		{"the game of before, then", `{"game":"openarena"}`, func(_ *wire.Settings, f *Facts) { f.Stage = wire.Measuring }, ""},
		{"a match", `{"match":"bo3"}`, nil, ""},
		{"a match in the middle of a search", `{"match":"bo3"}`, func(_ *wire.Settings, f *Facts) { f.Stage = wire.Measuring }, "only before its search"},
		{"no match any more, before the search", `{"match":""}`, match(wire.Gathering), ""},
		{"no match any more, to see the others' pings", `{"match":""}`, match(wire.Chosen), "only before its search"},
		{"no match any more after the launch, for the same", `{"match":""}`, match(wire.Launching), "only before its search"},
		{"no match any more after a failure, for the same", `{"match":""}`, match(wire.Failed), "only before its search"},
		{"a longer match after the launch", `{"match":"bo3"}`, match(wire.Launching), ""},
		{"another rule while captains decide", `{"by":"minimax"}`, match(wire.Chosen), "rules that stood"},
		{"a shorter clock while captains decide", `{"turn_ms":10000}`, match(wire.Chosen), "rules that stood"},
		{"a side's name while captains decide", `{"side_a":"Reds"}`, match(wire.Chosen), ""},
		{"a game that the host does not know", `{"game":"chess"}`, nil, `no servers of "chess"`},
		{"as many places as before", `{"places":"A, 192.0.2.1\nC, 192.0.2.3"}`, nil, ""},
		{"more places than the host lets it have", `{"places":"A, 192.0.2.1\nB, 192.0.2.2\nC, 192.0.2.3"}`, nil, "at most 1 place to measure"},
		{"and if that is two", `{"places":"A, 192.0.2.1\nB, 192.0.2.2\nC, 192.0.2.3"}`, func(_ *wire.Settings, f *Facts) {
			f.MaxPlaces = 2
		}, "2 places to measure"},
		{"and if it may", `{"places":"A, 192.0.2.1\nB, 192.0.2.2\nC, 192.0.2.3"}`, func(_ *wire.Settings, f *Facts) { f.MaxPlaces = 3 }, ""},
		{"a private place", `{"places":"A, 10.0.0.1"}`, nil, ""},
		{"a private place on the internet", `{"places":"A, 10.0.0.1"}`, func(_ *wire.Settings, f *Facts) { f.IsPublic = true }, "on a private network"},
		{"a place, with the room's own list", `{"seeks":"place"}`, nil, ""},
		{"a place without any", `{"seeks":"either","places":"none"}`, nil, "knows no places"},
		{"a place by the host's list", `{"seeks":"place","places":"none"}`, hostPlaces, ""},
		{"servers for no game", `{"seeks":""}`, func(s *wire.Settings, _ *Facts) { s.Game, s.Seeks = "", wire.SeekPlace }, "which game"},
		{"either for no game", `{"seeks":"either"}`, func(s *wire.Settings, _ *Facts) { s.Game, s.Seeks = "", wire.SeekPlace }, "which game"},
		{"no game for a place", `{"seeks":"place","game":""}`, nil, ""},
		{"a game that the host knows, for a place", `{"game":"xonotic"}`, func(s *wire.Settings, _ *Facts) {
			s.Game, s.Seeks, s.Servers = "", wire.SeekPlace, nil
		}, ""},
		{"places for all who are here", `{"players":3}`, nil, ""},
		{"places for fewer", `{"players":2}`, nil, "3 players are here already"},
		{"places for as many as like", `{"players":0}`, nil, ""},
	} {
		before, facts := room(t)
		if tt.change != nil {
			tt.change(&before, &facts)
		}
		s, err := Change(before, []byte(tt.patch), facts)
		switch {
		case tt.refusal == "" && err != nil, tt.refusal != "" && (err == nil || !strings.Contains(err.Error(), tt.refusal)):
			t.Errorf("%s: refused as %v, want %q", tt.name, err, tt.refusal)
		case err != nil && !reflect.DeepEqual(s, before):
			t.Errorf("%s: it is refused, and the settings are %v", tt.name, s)
		case (len(s.Servers) == 0) != (s.Game != before.Game):
			t.Errorf("%s: the organiser's own list has %d servers", tt.name, len(s.Servers))
		}
	}
}

// TestResettle checks that a host's flags change neither the game nor how open a room is, and send
// nobody away.
func TestResettle(t *testing.T) {
	before := wire.Settings{Game: "openarena", Open: true, Players: 8}
	for given, want := range map[int]int{0: 0, 2: 3, 5: 5} {
		s := Resettle(before, wire.Settings{Game: "xonotic", Name: "Friday", Players: given}, 3, false)
		if !reflect.DeepEqual(s, wire.Settings{Game: "openarena", Open: true, Name: "Friday", Players: want}) {
			t.Errorf("for %d players: %+v", given, s)
		}
	}
	final := wire.Settings{Game: "openarena", Match: "bo3", By: "even-sides"}
	for gathers, want := range map[bool]wire.Settings{true: {Game: "openarena", By: "mean"}, false: final} {
		if s := Resettle(final, wire.Settings{By: "mean"}, 3, gathers); !reflect.DeepEqual(s, want) {
			t.Errorf("a match that gathers: %v: %+v", gathers, s)
		}
	}
}
