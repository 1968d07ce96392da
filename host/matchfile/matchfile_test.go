package matchfile_test

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/host/matchfile"
	"muster/host/wire"
)

// match returns a match of two against two over three maps.
func match() *wire.MatchRecord {
	return &wire.MatchRecord{
		Format: wire.MatchFormat, ID: "room-1", Game: "cs2", At: time.Unix(1795000000, 0), BestOf: 3,
		Maps:     []string{"de_nuke", "de_mirage", "de_ancient"},
		Server:   wire.MatchPlace{Name: "Norrsken", Connect: "192.0.2.7:27015", Country: "SE"},
		Password: "club",
		Sides: [2]wire.MatchSide{
			{Side: wire.SideA, Name: "Nightjars", Captain: "anna", Players: []wire.MatchPlayer{
				{Name: "anna", PingMS: 20, SteamID: "76561197990682262"}, {Name: `b"en`, PingMS: 30, SteamID: "76561198010511021"},
			}},
			{Side: wire.SideB, Players: []wire.MatchPlayer{
				{Name: "emil", PingMS: 40, SteamID: "76561198034202275"}, {Name: "fatima", SteamID: "76561198044045107"},
			}},
		},
	}
}

// TestFiles checks each form of a match, byte by byte but for its indentation.
func TestFiles(t *testing.T) {
	for kind, want := range map[matchfile.Kind]string{
		matchfile.Get5: `{"matchid":"room-1","match_title":"Nightjars – Side B","num_maps":3,
			"maplist":["de_nuke","de_mirage","de_ancient"],"skip_veto":true,"side_type":"standard","players_per_team":2,
			"team1":{"name":"Nightjars","players":{"76561197990682262":"anna","76561198010511021":"b\"en"}},
			"team2":{"name":"Side B","players":{"76561198034202275":"emil","76561198044045107":"fatima"}},
			"spectators":{"players":{}},"cvars":{"sv_password":"club"}}`,
		matchfile.MatchZy: `{"matchid":1795000000,
			"team1":{"name":"Nightjars","players":{"76561197990682262":"anna","76561198010511021":"b\"en"}},
			"team2":{"name":"Side B","players":{"76561198034202275":"emil","76561198044045107":"fatima"}},
			"num_maps":3,"maplist":["de_nuke","de_mirage","de_ancient"],"map_sides":["knife","knife","knife"],
			"skip_veto":true,"spectators":{"players":{}},"clinch_series":true,"players_per_team":2,"cvars":{"sv_password":"club"}}`,
		matchfile.TMT2: `{"passthrough":"room-1","mapPool":["de_nuke","de_mirage","de_ancient"],
			"teamA":{"name":"Nightjars","passthrough":"a","playerSteamIds64":["76561197990682262","76561198010511021"]},
			"teamB":{"name":"Side B","passthrough":"b","playerSteamIds64":["76561198034202275","76561198044045107"]},
			"electionSteps":[{"map":{"mode":"FIXED","fixed":"de_nuke"},"side":{"mode":"KNIFE"}},
			{"map":{"mode":"FIXED","fixed":"de_mirage"},"side":{"mode":"KNIFE"}},
			{"map":{"mode":"FIXED","fixed":"de_ancient"},"side":{"mode":"KNIFE"}}],
			"gameServer":{"ip":"192.0.2.7","port":27015,"rconPassword":""},"rconCommands":{"init":["sv_password \"club\""]},"canClinch":true}`,
	} {
		got, err := matchfile.Of(kind, match())
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if !same(t, string(got), want) {
			t.Errorf("%s:\n%s\nwant\n%s", kind, got, want)
		}
	}
}

func same(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal([]byte(a), &x), json.Unmarshal([]byte(b), &y)); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}

// TestIncomplete checks what each form does without maps, SteamID64s or a password that it can say.
func TestIncomplete(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*wire.MatchRecord)
		kind   matchfile.Kind
		err    error
		has    string
	}{
		{"no maps", func(m *wire.MatchRecord) { m.Maps = nil }, matchfile.Get5, nil, `"num_maps": 3,
  "skip_veto": false`},
		{"a pool of maps", func(m *wire.MatchRecord) { m.Maps, m.Pool = nil, []string{"de_nuke"} }, matchfile.Get5, nil, `"maplist": [
    "de_nuke"
  ],
  "skip_veto": false`},
		{"no maps", func(m *wire.MatchRecord) { m.Maps = nil }, matchfile.MatchZy, matchfile.ErrNoMaps, ""},
		{"no maps", func(m *wire.MatchRecord) { m.Maps = nil }, matchfile.TMT2, matchfile.ErrNoMaps, ""},
		{"one id is missing", func(m *wire.MatchRecord) { m.Sides[1].Players[0].SteamID = "" }, matchfile.Get5, nil,
			`"get5_check_auths": "0"`},
		{"one id is missing", func(m *wire.MatchRecord) { m.Sides[1].Players[0].SteamID = "" }, matchfile.MatchZy, matchfile.ErrNoIDs, ""},
		{"one id is missing", func(m *wire.MatchRecord) { m.Sides[1].Players[0].SteamID = "" }, matchfile.TMT2, nil,
			`"playerSteamIds64": [
      "76561198044045107"
    ]`},
		{"nobody on a side", func(m *wire.MatchRecord) { m.Sides[0].Players = nil }, matchfile.MatchZy, matchfile.ErrNoIDs, ""},
		{"nobody on a side", func(m *wire.MatchRecord) { m.Sides = [2]wire.MatchSide{} }, matchfile.TMT2, nil, `"playerSteamIds64": []`},
		{"a password that ends its quotes", func(m *wire.MatchRecord) { m.Password = `x"; quit` }, matchfile.TMT2, nil, `"init": []`},
		{"an address in IPv6", func(m *wire.MatchRecord) { m.Server.Connect = "[2001:db8::1]:27015" }, matchfile.TMT2, nil,
			`"ip": "2001:db8::1"`},
		{"no address", func(m *wire.MatchRecord) { m.Server.Connect = "Frankfurt" }, matchfile.TMT2, nil, `"gameServer": null`},
	} {
		m := match()
		tt.change(m)
		got, err := matchfile.Of(tt.kind, m)
		if !errors.Is(err, tt.err) || !strings.Contains(string(got), tt.has) {
			t.Errorf("%s, %s: %v\n%s\nwant %v, %s", tt.name, tt.kind, err, got, tt.err, tt.has)
		}
	}
	if _, err := matchfile.Of("faceit", match()); err == nil {
		t.Error("there is a file of a kind that nobody knows")
	}
}

// TestTheirFields checks that a file has only fields that its reader knows, with the right types.
// The tables are those of get5's match_schema.md (0.15), MatchZy's match_setup.md (0.8) and TMT2's
// IMatchCreateDto, ITeamCreateDto and IElectionStep.
func TestTheirFields(t *testing.T) {
	team := map[string]any{"id": "", "name": "", "tag": "", "flag": "", "logo": "", "players": map[string]any{}, "series_score": 0.0,
		"matchtext": "", "coaches": []any{}}
	source := map[string]any{
		"maplist": []any{""}, "skip_veto": true, "side_type": "", "players_per_team": 0.0, "min_players_to_ready": 0.0,
		"num_maps": 0.0, "cvars": map[string]any{}, "team1": team, "team2": team, "spectators": map[string]any{"players": map[string]any{}, "name": ""},
		"map_sides": []any{""}, "clinch_series": true,
	}
	with := func(more map[string]any) map[string]any {
		all := map[string]any{}
		for _, m := range []map[string]any{source, more} {
			maps.Copy(all, m)
		}
		return all
	}
	tmtTeam := map[string]any{"name": "", "passthrough": "", "advantage": 0.0, "playerSteamIds64": []any{""}}
	for kind, known := range map[matchfile.Kind]map[string]any{
		matchfile.Get5: with(map[string]any{"matchid": "", "match_title": "", "veto_first": "", "coaches_per_team": 0.0,
			"favored_percentage_team1": 0.0, "favored_percentage_text": ""}),
		matchfile.MatchZy: with(map[string]any{"matchid": 0.0, "wingman": true, "veto_mode": []any{""}, "min_spectators_to_ready": 0.0}),
		matchfile.TMT2: {
			"passthrough": "", "mapPool": []any{""}, "teamA": tmtTeam, "teamB": tmtTeam,
			"electionSteps": []any{map[string]any{"map": map[string]any{"mode": "", "fixed": "", "who": ""},
				"side": map[string]any{"mode": "", "fixed": "", "who": ""}}},
			"gameServer":   map[string]any{"ip": "", "port": 0.0, "rconPassword": ""},
			"rconCommands": map[string]any{"init": []any{""}, "knife": []any{""}, "match": []any{""}, "end": []any{""}},
			"webhookUrl":   "", "canClinch": true, "matchEndAction": "", "mode": "",
		},
	} {
		text, err := matchfile.Of(kind, match())
		if err != nil {
			t.Fatal(err)
		}
		var file any
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		compare(t, string(kind), file, known)
	}
}

// compare checks that a value has only known fields, of the same types. An empty known map takes
// any texts, and an empty list anything.
func compare(t *testing.T, at string, value, known any) {
	t.Helper()
	if reflect.TypeOf(value) != reflect.TypeOf(known) {
		t.Errorf("%s is %T, want %T", at, value, known)
		return
	}
	switch value := value.(type) {
	case map[string]any:
		fields := known.(map[string]any)
		for name, v := range value {
			like, has := fields[name]
			if len(fields) == 0 {
				like, has = "", true
			}
			if !has {
				t.Errorf("%s has the field %s, which nobody reads", at, name)
				continue
			}
			compare(t, at+"."+name, v, like)
		}
	case []any:
		for _, v := range value {
			if list := known.([]any); len(list) > 0 {
				compare(t, at+"[]", v, list[0])
			}
		}
	}
}
