package game

import (
	"slices"
	"strings"
	"testing"
)

// few are games whose names are near to each other.
var few = []Game{
	{ID: "cs", Name: "Counter-Strike", Aliases: []string{"cs 1.6"}},
	{ID: "cs2", Name: "Counter-Strike 2", Aliases: []string{"counter strike"}},
	{ID: "css", Name: "Counter-Strike: Source"},
	{ID: "tf2", Name: "Team Fortress 2"},
	{ID: "tfc", Name: "Team Fortress Classic"},
	{ID: "quake2", Name: "Quake II"},
	{ID: "quake3", Name: "Quake III Arena", Aliases: []string{"q3"}},
	{ID: "quakelive", Name: "Quake Live"},
	{ID: "ut99", Name: "Unreal Tournament", Aliases: []string{"ut"}},
	{ID: "ut2004", Name: "Unreal Tournament 2004", Aliases: []string{"ut2k4"}},
	{ID: "gmod", Name: "Garry's Mod"},
	{ID: "fivem", Name: "FiveM (GTA V)"},
	{ID: "kf2", Name: "Killing Floor 2"},
	{ID: "xonotic", Name: "Xonotic"},
	{ID: "vrising", Name: "V Rising"},
	{ID: "theforest", Name: "The Forest"},
	{ID: "sotf", Name: "Sons of the Forest"},
	{ID: "openra", Name: "OpenRA: Red Alert"},
	{ID: "luanti", Name: "Luanti (Minetest)"},
	{ID: "et", Name: "Wolfenstein: Enemy Territory (ET: Legacy)"},
	{ID: "etqw", Name: "Enemy Territory: Quake Wars"},
	{ID: "elan", Name: "Élan Vital Ⅱ"},
	{ID: "rust", Name: "Rust"},
}

// TestSearch checks which games a text may mean, in their order, and whether one of them is clear.
func TestSearch(t *testing.T) {
	for _, c := range []struct{ text, clear, games string }{
		{"cs2", "cs2", "cs2"},
		{"CS2", "cs2", "cs2"},
		{"cs", "cs", "cs cs2 css"},
		{"Counter-Strike 2", "cs2", "cs2"},
		{"counter strike", "", "cs2 cs css"},
		{"counterstrike", "", "cs2 cs css"},
		{"counter strike source", "css", "css"},
		{"counter", "", "cs cs2 css"},
		{"cs 1.6", "cs", "cs"},
		{"css", "css", "css"},
		{"tf2", "tf2", "tf2"},
		{"team fortress", "", "tf2 tfc"},
		{"fortress 2", "tf2", "tf2"},
		{"quake3", "quake3", "quake3"},
		{"quake 3", "quake3", "quake3"},
		{"Quake III", "quake3", "quake3"},
		{"quake iii arena", "quake3", "quake3"},
		{"quake 2", "quake2", "quake2"},
		{"q3", "quake3", "quake3"},
		{"q3a", "quake3", "quake3"},
		{"QUAKE LIVE", "quakelive", "quakelive"},
		{"live quake", "quakelive", "quakelive"},
		{"quake", "", "quake2 quakelive quake3 etqw"},
		{"ut", "ut99", "ut99 ut2004"},
		{"unreal tournament", "ut99", "ut99 ut2004"},
		{"unreal t", "", "ut99 ut2004"},
		{"ut2k4", "ut2004", "ut2004"},
		{"garrys mod", "gmod", "gmod"},
		{"Garry’s  MOD", "gmod", "gmod"},
		{"gta 5", "fivem", "fivem"},
		{"gta v", "fivem", "fivem"},
		{"killing floor", "kf2", "kf2"},
		{"xono", "xonotic", "xonotic"},
		{"v", "", "vrising elan fivem"},
		{"forest", "theforest", "theforest sotf"},
		{"the forest", "theforest", "theforest sotf"},
		{"sons of forest", "sotf", "sotf"},
		{"red alert", "openra", "openra"},
		{"minetest", "luanti", "luanti"},
		{"enemy territory", "", "etqw et"},
		{"elan vital 2", "elan", "elan"},
		{"ÉLAN vital ii", "elan", "elan"},
		{" rust ", "rust", "rust"},
		{"otic", "xonotic", "xonotic"},
		// Slips.
		{"xontoic", "xonotic", "xonotic"},
		{"quake lvie", "quakelive", "quakelive"},
		{"garys mod", "gmod", "gmod"},
		{"tournamet 2004", "", "ut2004"},
		{"counter stirke", "", "cs cs2 css"},
		{"unraal tournament 2004", "ut2004", "ut2004"},
		{"xonxxic", "", ""},
		{"rsut", "", "rust"}, // four letters are near to many words
		{"rxxt", "", ""},
		{"chess", "", ""},
		{"", "", ""},
		{" -' ", "", ""},
		{strings.Repeat("x", 65), "", ""},
	} {
		found := NewFinder(few).Find(c.text)
		var ids []string
		for _, m := range found {
			ids = append(ids, m.Game.ID)
		}
		g, _ := Clear(found)
		if strings.Join(ids, " ") != c.games || g.ID != c.clear {
			t.Errorf("%q means %v, and clearly %q", c.text, ids, g.ID)
		}
	}
}

// TestSearchKnowsTheLast checks that of equally near games the last played ones come first.
func TestSearchKnowsTheLast(t *testing.T) {
	first := func(text string, last ...string) string { return NewFinder(few).Find(text, last...)[0].Game.ID }
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
		if g, clear := Clear(found); !clear || g.ID != id {
			t.Errorf("%q means %q clearly: %v; all are %d", text, g.ID, clear, len(found))
		}
	}
	for _, g := range table.All() {
		for _, alias := range g.Aliases {
			if other, err := table.Find(alias); err == nil {
				t.Errorf("%q of %s is the id of %s", alias, g.ID, other.ID)
			}
			if at := slices.IndexFunc(table.Search(alias), func(m Match) bool { return m.Game.ID == g.ID && m.IsExact() }); at < 0 {
				t.Errorf("%q does not find %s", alias, g.ID)
			}
		}
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("counter strike")
	f.Add("Ⅻ\u0301 v' 9x")
	finder := NewFinder(few)
	f.Fuzz(func(t *testing.T, text string) {
		found := finder.Find(text)
		if len(found) > len(few) {
			t.Fatalf("%d games", len(found))
		}
		if g, clear := Clear(found); clear && g.ID != found[0].Game.ID {
			t.Fatalf("%q is clearly %s", text, g.ID)
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	table, _ := Load(nil, "")
	finder := NewFinder(table.All())
	for _, text := range []string{"quake", "counter stirke"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				finder.Find(text)
			}
		})
	}
}
