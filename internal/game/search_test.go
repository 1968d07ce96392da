package game

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"muster/discovery"
)

//go:embed testdata/which.json
var whichTable []byte

// few are games whose names are near to each other, and texts what people may type. The page's web/static/which.js passes
// the same table.
var few, texts = func() (games []Game, texts []whichText) {
	var table struct {
		Games []struct {
			ID, Name string
			Aliases  []string
		}
		Texts []whichText
	}
	if err := json.Unmarshal(whichTable, &table); err != nil {
		panic(err)
	}
	for _, g := range table.Games {
		games = append(games, Game{ID: g.ID, Name: g.Name, Aliases: g.Aliases})
	}
	return games, table.Texts
}()

// whichText is a text, the games that it may mean, in their order, and the one that it clearly means, if any.
type whichText struct {
	Text, Clear string
	Games       []string
}

// TestSearch checks which games a text may mean, in their order, and whether one of them is clear.
func TestSearch(t *testing.T) {
	for _, c := range texts {
		found := newFinder(few).find(c.Text)
		var ids []string
		for _, m := range found {
			ids = append(ids, m.Game.ID)
		}
		g, _ := onlyOf(found)
		if !slices.Equal(ids, c.Games) || g.ID != c.Clear {
			t.Errorf("%q means %v, and clearly %q", c.Text, ids, g.ID)
		}
	}
}

// TestSearchKnowsTheLast checks that of equally near games the last played ones come first.
func TestSearchKnowsTheLast(t *testing.T) {
	first := func(text string, last ...string) string { return newFinder(few).find(text, last...)[0].Game.ID }
	if got := first("quake", "xonotic", "quakelive", "quake3"); got != "quakelive" {
		t.Errorf("quake is %s", got)
	}
	if got := first("counter strike", "css"); got != "cs2" { // css only begins so
		t.Errorf("counter strike is %s", got)
	}
	if got := first("counter strike", "cs"); got != "cs" {
		t.Errorf("counter strike is %s", got)
	}
}

// TestNamesOfGames checks that what people call the built-in games leads to them, and that other names mean no other
// game's id.
func TestNamesOfGames(t *testing.T) {
	table := load(t, "")
	for text, id := range map[string]string{
		"cs2": "cs2", "css": "css", "cs 1.6": "cs", "csgo": "csgo", "cs:go": "csgo", "tf2": "tf2", "gmod": "gmod", "garrys mod": "gmod",
		"mc": "minecraft", "minecraft": "minecraft", "mcpe": "bedrock", "ut": "ut99", "ut2k4": "ut2004", "q3": "quake3", "q3a": "quake3",
		"quake 3": "quake3", "ql": "quakelive", "kf2": "kf2", "kf": "killingfloor", "bf2": "bf2", "bf1942": "bf1942", "bf3": "battlefield3",
		"bf4": "battlefield4", "bc2": "bbc2", "l4d2": "l4d2", "cod4": "cod4", "mw2": "iw4x", "mta": "gtasamta", "samp": "gtasam",
		"gta online": "fivem", "mohaa": "mohaa", "dod": "dod", "ns2": "ns2", "wet": "et", "xonotic": "xonotic", "oa": "openarena",
		"ttd": "openttd", "minetest": "luanti", "7 days to die": "7dtd", "pz": "zomboid", "ark": "ark", "hl2dm": "hl2dm", "qw": "quakeworld",
		"ets 2": "ets2", "dont starve": "dst", "zandronum": "zandronum", "ro2": "redorchestra2", "urt": "urbanterror",
	} {
		found := table.Search(text)
		if g, clear := onlyOf(found); !clear || g.ID != id {
			t.Errorf("%q means %q clearly: %v; all are %d", text, g.ID, clear, len(found))
		}
	}
	for _, text := range []string{"chivalry 2", "stalker 2", "ark 2", "valheim 2", "bf1", "cs 1.5", "arma 4", "rust 2", "killing floor 3", "minecraft 2"} {
		if g, _, err := table.Meant(text); err == nil {
			t.Errorf("%q is taken for %q without a question", text, g.ID)
		}
	}
	all := newFinder(table.All())
	for _, g := range table.All() {
		for _, alias := range g.Aliases {
			if other, err := table.Find(alias); err == nil {
				t.Errorf("%q of %s is the id of %s", alias, g.ID, other.ID)
			}
			if at := slices.IndexFunc(all.find(alias), func(m Match) bool { return m.Game.ID == g.ID && m.IsExact() }); at < 0 {
				t.Errorf("%q does not find %s", alias, g.ID)
			}
		}
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("counter strike")
	f.Add("Ⅻ\u0301 v' 9x")
	some := newFinder(few)
	f.Fuzz(func(t *testing.T, text string) {
		found := some.find(text)
		if len(found) > len(few) {
			t.Fatalf("%d games", len(found))
		}
		if g, clear := onlyOf(found); clear && g.ID != found[0].Game.ID {
			t.Fatalf("%q is clearly %s", text, g.ID)
		}
	})
}

// TestEditions checks which protocol a version speaks, if the table knows it.
func TestEditions(t *testing.T) {
	table := load(t, "")
	for version, want := range map[string]map[string]discovery.Edition{
		"5.6.1":    {"": {Version: "5.6.1"}, "luanti": {Version: "5.6.1", Protocol: 41}},
		"5.6":      {"": {Version: "5.6"}, "luanti": {Version: "5.6", Protocol: 41}},
		"5.9.0":    {"": {Version: "5.9.0"}, "luanti": {Version: "5.9.0", Protocol: 44}},
		"5.9.1":    {"": {Version: "5.9.1"}, "luanti": {Version: "5.9.1", Protocol: 45}},
		"5.60":     {"": {Version: "5.60"}},
		"1.20.4":   {"": {Version: "1.20.4"}, "minecraft": {Version: "1.20.4", Protocol: 765}},
		"1.20":     {"": {Version: "1.20"}, "minecraft": {Version: "1.20", Protocol: 763}},
		"1.20.4.1": {"": {Version: "1.20.4.1"}},
		"1.8.9":    {"": {Version: "1.8.9"}, "minecraft": {Version: "1.8.9", Protocol: 47}},
		"71":       {"": {Version: "71", Protocol: 71}},
		"\x1b 1\n": {"": {Version: "1", Protocol: 1}},
		"":         {"": {}},
	} {
		if got := table.Editions(version); !maps.Equal(got, want) {
			t.Errorf("%q: %v, want %v", version, got, want)
		}
	}
	if own := table.Own(); own != nil {
		t.Errorf("the user has %v", own)
	}
}

// TestOwnVersions checks the versions in the user's file.
func TestOwnVersions(t *testing.T) {
	table, err := Load(strings.NewReader(
		"[game.luanti]\nversion = \"5.6.1\"\n[game.xonotic]\nversion = \"0.8.6\"\nprotocols = [\"0.8.*=3\"]\n"), "games.toml")
	want := map[string]discovery.Edition{"luanti": {Version: "5.6.1", Protocol: 41}, "xonotic": {Version: "0.8.6", Protocol: 3}}
	if err != nil || !maps.Equal(table.Own(), want) {
		t.Errorf("%v, %v", table.Own(), err)
	}
	_, err = Load(strings.NewReader("[game.luanti]\nprotocols = [\"5.6\"]\n"), "games.toml")
	if err == nil || !strings.Contains(err.Error(), `games.toml:2: game "luanti": protocols: "5.6" is not VERSION=NUMBER`) {
		t.Errorf("%v", err)
	}
}
