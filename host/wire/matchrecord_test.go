package wire_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/law"
)

// played is a match of three against one, with a caster who measured, too.
var played = wire.Played{
	Round: 2, At: time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC), Game: "openarena", Server: "Den (192.0.2.1:27960)",
	Connect: "192.0.2.1:27960", Country: "SE", Map: "dm6", Players: []string{"ann", "ben", "emil", "cast"},
	RTT: map[string]float64{"ann": 20, "ben": 31, "emil": 40, "cast": 80},
	Match: &wire.Match{
		BestOf: 1, Play: []string{"dm17"}, Moves: []wire.Move{{Number: 1, Kind: wire.Ban, Of: wire.OfMap, Side: wire.SideB, What: "dm6"}},
		Camps: [2]wire.Camp{
			{Side: wire.SideA, Name: "=Nightjars", Captain: "ann", Players: []string{"ann", "ben", "gone"}},
			{Side: wire.SideB, Captain: "emil", Players: []string{"emil"}},
		},
	},
}

// TestRecordOf checks that a match's record has each side's average of the pings that are known.
func TestRecordOf(t *testing.T) {
	got := wire.RecordOf("id", "Cup", played)
	want := &wire.MatchRecord{
		Format: "muster.match/1", ID: "id-2", Round: 2, Room: "Cup", Game: "openarena", At: played.At, BestOf: 1, Maps: []string{"dm17"},
		Server: wire.MatchPlace{Name: "Den (192.0.2.1:27960)", Connect: "192.0.2.1:27960", Country: "SE", Map: "dm6"},
		Sides: [2]wire.MatchSide{
			{Side: "a", Name: "=Nightjars", Captain: "ann", MeanMS: 25.5, Players: []wire.MatchPlayer{
				{Name: "ann", PingMS: 20}, {Name: "ben", PingMS: 31}, {Name: "gone"},
			}},
			{Side: "b", Captain: "emil", MeanMS: 40, Players: []wire.MatchPlayer{{Name: "emil", PingMS: 40}}},
		},
		Others: []wire.MatchPlayer{{Name: "cast", PingMS: 80}}, Moves: played.Match.Moves,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
	if wire.RecordOf("id", "", wire.Played{}) != nil {
		t.Error("a round without a match has a record of one")
	}
	got.Identify(wire.SteamIDs{"a": {"ann": "1", "emil": "2"}, "b": {"emil": "3"}})
	if a, b := got.Sides[0].Players[0].SteamID, got.Sides[1].Players[0].SteamID; a != "1" || b != "3" {
		t.Errorf("the ids are %q and %q", a, b)
	}
}

// TestMatchesCSV checks that a spreadsheet gets a line for each player, and no formula.
func TestMatchesCSV(t *testing.T) {
	var b strings.Builder
	played := played
	with := *played.Match
	with.Law = &wire.MatchLaw{Name: "-cup", League: "The Cup", Said: []sentence.Sentence{sentence.Plain("it breaks")}, Breaks: []law.Break{
		{Of: law.Means, Value: discovery.Millis(14500 * time.Microsecond), Limit: discovery.Millis(10 * time.Millisecond)}}}
	played.Match = &with
	if r := wire.RecordOf("id", "Cup", played); len(r.Law.Said) > 0 || len(with.Law.Said) != 1 {
		t.Errorf("the record says %v", r.Law.Said)
	}
	if err := wire.MatchesCSV(&b, []*wire.MatchRecord{wire.RecordOf("id", "Cup", played)}); err != nil {
		t.Fatal(err)
	}
	match := `id-2,2026-11-20T20:00:00Z,Cup,openarena,1,dm17,Den (192.0.2.1:27960),192.0.2.1:27960,SE,`
	want := `id,at,room,game,best_of,maps,server,connect,country,side,side_name,side_mean_ms,captain,player,ping_ms,law,law_breaks
` + match + `a,'=Nightjars,25.5,true,ann,20.0,'-cup,means 14.5 > 10.0
` + match + `a,'=Nightjars,25.5,false,ben,31.0,'-cup,means 14.5 > 10.0
` + match + `a,'=Nightjars,25.5,false,gone,,'-cup,means 14.5 > 10.0
` + match + `b,,40.0,true,emil,40.0,'-cup,means 14.5 > 10.0
` + match + `,,,false,cast,80.0,'-cup,means 14.5 > 10.0
`
	if b.String() != want {
		t.Errorf("the table is\n%s\nwant\n%s", b.String(), want)
	}
}

// TestSteamIDs checks that only SteamID64s of people on a side are taken.
func TestSteamIDs(t *testing.T) {
	for _, tt := range []struct {
		text string
		ok   bool
	}{
		{`{"steam_ids":{"a":{"ann":"76561197990682262"},"b":{}}}`, true},
		{`{"steam_ids":null}`, true},
		{`{"steam_ids":{"c":{"ann":"76561197990682262"}}}`, false},
		{`{"steam_ids":{"a":{"ann":"7656119799068226"}}}`, false},
		{`{"steam_ids":{"a":{"ann":"7656119799068226x"}}}`, false},
		{`{"steam_ids":{"a":{"ann":"12345678901234567"}}}`, false},
		{`{"steam_ids":{"a":{"` + strings.Repeat("n", 300) + `":"76561197990682262"}}}`, false},
		{`{"steam_ids":["76561197990682262"]}`, false},
	} {
		_, err := wire.Settings{By: selection.Mean}.Patched([]byte(tt.text), func(wire.Setting) bool { return true })
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.text, err)
		}
	}
}
