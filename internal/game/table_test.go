package game

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"muster/discovery"
	"muster/discovery/lists/address"
	"muster/discovery/lists/master"
	"muster/discovery/protocol/quake3"
	"muster/discovery/sentence"
	"muster/selection"
)

func load(t *testing.T, user string) Table {
	t.Helper()
	table, err := Load(strings.NewReader(user), "games.toml")
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func find(t *testing.T, table Table, id string) Game {
	t.Helper()
	g, err := table.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestBuiltInGames(t *testing.T) {
	table := load(t, "")
	for _, id := range []string{
		"quake3", "openarena", "urbanterror", "et", "xonotic", "warfork", "unvanquished",
		"tf2", "css", "cs2", "gmod", "l4d2",
	} {
		find(t, table, id)
	}
	for _, g := range table.All() {
		for _, name := range g.QStatTypes {
			if !address.IsType(name) {
				t.Errorf("%s: readers of lists take QStat's type %s for a name", g.ID, name)
			}
		}
		if g.Protocol() == nil || g.Port == 0 || g.Name == "" || len(g.QStatTypes) == 0 || g.Rule == "" {
			t.Errorf("%s is not complete: %+v", g.ID, g)
		}
		for _, goos := range []string{"linux", "darwin", "windows"} {
			if isByHand := g.Launch == nil && g.LaunchWindows == nil; (len(g.Template(goos)) == 0) != isByHand {
				t.Errorf("%s cannot be launched on %s, but elsewhere", g.ID, goos)
			}
		}
		if _, err := g.Queries(); (len(g.Masters) == 0) != (err != nil) {
			t.Errorf("%s: Queries: %v", g.ID, err)
		}
	}
	if !slices.IsSortedFunc(table.All(), func(a, b Game) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("the games are not in order")
	}
}

// TestFamilies checks that each file of the table has its games in order.
func TestFamilies(t *testing.T) {
	_, texts, err := loadBuiltIn()
	if err != nil || len(texts) < 4 {
		t.Fatalf("%d files, %v", len(texts), err)
	}
	for _, text := range texts {
		var ids []string
		for line := range strings.Lines(text) {
			if id, isEntry := strings.CutPrefix(line, "[game."); isEntry {
				ids = append(ids, strings.TrimRight(id, "]\n"))
			}
		}
		if !slices.IsSorted(ids) || len(ids) == 0 {
			t.Errorf("the order is %v", ids)
		}
	}
}

// TestCheck checks that a user's file is checked as it is loaded, and its games are named.
func TestCheck(t *testing.T) {
	ids, err := Check(strings.NewReader("[game.x]\nprotocol='a2s'\nport=1\n[game.cs2]\nport=2\n"), "mine.toml")
	if err != nil || !slices.Equal(ids, []string{"cs2", "x"}) {
		t.Errorf("%v, %v", ids, err)
	}
	var wrong *FileError
	if _, err = Check(strings.NewReader("[game.x]\nport=1\nprotocol='doom'\n"), "mine.toml"); !errors.As(err, &wrong) || wrong.Line != 3 {
		t.Errorf("%v", err)
	}
}

func TestUserAddsAGame(t *testing.T) {
	g := find(t, load(t, "\ufeff"+`
		[game.mygame]
		protocol = "quake3"
		port = 1234
		launch = ["mygame", "{address}"]
	`), "mygame")
	want := Game{
		ID: "mygame", Name: "mygame", ProtocolName: "quake3", Port: 1234,
		Rule: selection.Mean, Launch: []string{"mygame", "{address}"},
	}
	if !reflect.DeepEqual(g, want) {
		t.Errorf("got  %+v\nwant %+v", g, want)
	}
}

func TestUserOverridesFieldByField(t *testing.T) {
	before := find(t, load(t, ""), "urbanterror")
	after := find(t, load(t, `
		[game.urbanterror]
		masters = ["192.0.2.1"]
		rule = "minimax"
		launch = ["/opt/urt/run", "{address}"]
	`), "urbanterror")
	want := before
	want.Masters, want.Rule = []string{"192.0.2.1"}, selection.Minimax
	want.Launch, want.LaunchWindows = []string{"/opt/urt/run", "{address}"}, nil
	if !reflect.DeepEqual(after, want) {
		t.Errorf("got  %+v\nwant %+v", after, want)
	}
	if again := find(t, load(t, ""), "urbanterror"); !reflect.DeepEqual(again, before) {
		t.Errorf("one table changed another: %+v", again)
	}
}

func TestUserLaunchesOnOneSystemOnly(t *testing.T) {
	g := find(t, load(t, "[game.urbanterror]\nlaunch_darwin = ['urt']\n"), "urbanterror")
	if g.LaunchWindows == nil || g.Template("darwin")[0] != "urt" || g.Template("linux")[0] != "urbanterror" {
		t.Errorf("got %+v", g)
	}
}

func TestLoadRefuses(t *testing.T) {
	const sound = "protocol='a2s'\nport=1\n"
	tests := []struct {
		name, in string
		line     int
		want     string
	}{
		{"no TOML", "[game.x\n", 1, "a ] is missing: [game.x]"},
		{"a key with a slip", "# mine\n[game.openarena]\nmaster = ['x']\n", 3, `unknown key "game.openarena.master": did you mean masters?`},
		{"an unknown key", "# mine\n[game.openarena]\ncolour = ['x']\n", 3,
			`unknown key "game.openarena.colour"; a game has name, protocol, port, `},
		{"an unknown table", "[games.x]\nport=1\n", 1, `unknown key "games.x": entries begin with [game.ID]`},
		{"a word for a number", "[game.openarena]\nport = 'many'\n", 2,
			"game.openarena.port: cannot decode TOML string: a number from 1 to 65535 is wanted"},
		{"a port too high", "[game.openarena]\nport = 65536\n", 2,
			"game.openarena.port: integer value 65536: a number from 1 to 65535 is wanted"},
		{"a text for a list", "[game.openarena]\nmasters = 'x'\n", 2, "a list of texts is wanted"},
		{"no protocol", "[game.x]\nport=1\n", 0, `game "x": protocol ""`},
		{"a foreign protocol", "[game.x]\nport=1\nprotocol='nosuch'\n", 0, `"nosuch"`},
		{"another's port", "[game.x]\nquery_above=1\n" + sound, 0, "query_above is for"},
		{"a foreign protocol, with the known", "[game.x]\nport=1\nprotocol='nosuch'\n", 3, `those are a2s, ase, bedrock, `},
		{"neither protocol nor app_id", "[game.x]\nport=1\n", 1, "A game of Steam needs only its app_id"},
		{"no end of a text", "[game.x]\nname = \"Tavern\nport = 1\n", 2, `a quotation mark is missing: nothing ends "Tavern`},
		{"a text without marks", "[game.x]\nprotocol = a2s # Steam\n", 2, `a text stands in quotation marks: "a2s"`},
		{"a text without a beginning", "[game.x]\nname = Tavern\"\n", 2, `a quotation mark is missing before Tavern"`},
		{"no end in a list", "[game.x]\nlaunch = [\n  \"a\",\n  \"b,\n]\n", 4, `nothing ends "b,`},
		{"no end between two", "[game.x]\nlaunch = [\"a, \"b\"]\n", 2, `a quotation mark is missing or too much before b"]`},
		{"no beginning in a list", "[game.x]\nlaunch = [\"a\", b\"]\n", 2, `a quotation mark is missing before b"`},
		{"an apostrophe", "[game.x]\nname = 'Garry's Mod'\n", 2, `in double quotation marks: "Garry's Mod"`},
		{"typographic marks", "[game.x]\nname = “Tavern”\n", 2, `“ is no quotation mark here: write "`},
		{"a path of Windows", "[game.x]\nlaunch = [\"C:\\games\\x\"]\n", 2, `\ stands in a text as \\`},
		{"two numbers", "[game.x]\nport = 40 00\n", 2, "expected newline"},
		{"no port", "[game.x]\nprotocol='a2s'\n", 0, "port is missing"},
		{"an unknown rule", "[game.x]\nrule='best'\n" + sound, 0, `rule "best"`},
		{"a master's game of two words", "[game.x]\nmaster_game='a 68 full'\n" + sound, 0, "one word"},
		{"an odd id", "[game.'X y']\n" + sound, 0, "lower-case"},
		{"an unknown placeholder", "[game.x]\nlaunch=['x','{adress}']\n" + sound, 0, "{adress}"},
		{"an open placeholder", "[game.x]\nlaunch=['x','{address']\n" + sound, 0, "{address;"},
		{"no program", "[game.x]\nlaunch=[]\n" + sound, 0, "no program"},
		{"a program of a host's choice", "[game.x]\nlaunch_linux=['','{address}']\n" + sound, 0, "no program"},
	}
	for _, tt := range tests {
		_, err := Load(strings.NewReader(tt.in), "games.toml")
		var wrong *FileError
		if !errors.As(err, &wrong) || wrong.File != "games.toml" || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want a FileError that says %q", tt.name, err, tt.want)
			continue
		}
		if tt.line != 0 && wrong.Line != tt.line {
			t.Errorf("%s: got line %d, want %d (%v)", tt.name, wrong.Line, tt.line, err)
		}
	}
}

func TestLoadIsBounded(t *testing.T) {
	if _, err := Load(strings.NewReader(strings.Repeat("#", 2<<20)), "games.toml"); err == nil {
		t.Error("two megabytes of comment were read")
	}
	broken := errors.New("disk on fire")
	if _, err := Load(iotest.ErrReader(broken), "games.toml"); !errors.Is(err, broken) {
		t.Errorf("got error %v, want %v", err, broken)
	}
}

func TestFind(t *testing.T) {
	table := load(t, "")
	if g := find(t, table, "OpenArena"); g.ID != "openarena" {
		t.Errorf("got %s", g.ID)
	}
	tests := []struct{ id, similar string }{
		{"openarna", "openarena"},
		{"openarea", "openarena"},
		{"xonotik", "xonotic"},
		{"tf", "tf2"},
		{"teamfortress2", "tf2"},
		{"Garry's mod", "gmod"},
		{"urbanterro", "urbanterror"},
		{"chess", ""},
		{"", ""},
		{strings.Repeat("x", 10_000), ""},
	}
	for _, tt := range tests {
		_, err := table.Find(tt.id)
		if unknown, is := errors.AsType[*UnknownError](err); !is || unknown.Similar != tt.similar {
			t.Errorf("Find(%.20q): got error %v, want %q to be similar", tt.id, err, tt.similar)
		}
	}
	if _, err := table.Find("openarna"); err.Error() != `game: unknown game "openarna", did you mean openarena?` {
		t.Errorf("it reads %v", err)
	}
}

func TestProtocolNames(t *testing.T) {
	if _, ok := find(t, load(t, ""), "openarena").Protocol().(quake3.Protocol); !ok {
		t.Error("openarena does not speak quake3")
	}
	if p := (Game{ProtocolName: "tees"}).Protocol(); p != nil {
		t.Errorf("an unknown protocol is %T", p)
	}
}

func TestQueries(t *testing.T) {
	table := load(t, "[game.nomasters]\nprotocol='quake3'\nport=1\nmaster_protocols=[7]\n")
	q := func(game string, version int, extended bool) discovery.Lister {
		return quake3.MasterQuery{Game: game, Protocol: version, Extended: extended, IPv4: extended, IPv6: extended, Empty: true, Full: true}
	}
	tests := []struct {
		id      string
		masters []string
		want    []master.Query
	}{
		{"openarena", nil, []master.Query{
			{Master: "dpmaster.deathmask.net", Asks: []discovery.Lister{q("Quake3Arena", 71, true), q("", 71, false)}},
			{Master: "master.ioquake3.org", Asks: []discovery.Lister{q("Quake3Arena", 71, true), q("", 71, false)}},
		}},
		{"xonotic", []string{"127.0.0.1:9"}, []master.Query{
			{Master: "127.0.0.1:9", Asks: []discovery.Lister{q("Xonotic", 3, true), q("Xonotic", 3, false)}},
		}},
		{"urbanterror", []string{"localhost"}, []master.Query{
			{Master: "localhost", Port: 27900, Asks: []discovery.Lister{q("", 68, false), q("", 68, false)}},
		}},
		{"nomasters", []string{"localhost"}, []master.Query{
			{Master: "localhost", Asks: []discovery.Lister{q("", 7, false), q("", 7, false)}},
		}},
		{"nomasters", nil, nil},
		{"tf2", nil, nil},
		{"tf2", []string{"127.0.0.1:27011"}, nil},
	}
	for _, tt := range tests {
		got, err := find(t, table, tt.id).Queries(tt.masters...)
		var none *NoMasterError
		if !reflect.DeepEqual(got, tt.want) || (tt.want == nil) != errors.As(err, &none) {
			t.Errorf("%s, %v: got %+v, %v\nwant %+v", tt.id, tt.masters, got, err, tt.want)
		}
		if none != nil && !strings.Contains(none.Hint(), "--servers FILE") {
			t.Errorf("%s: the hint is %q", tt.id, none.Hint())
		}
	}
}

func TestTakes(t *testing.T) {
	g := find(t, load(t, ""), "openarena")
	for kind, want := range map[string]bool{"": true, "Q3S": true, "q3s": true, "OPENARENAS": true, "A2S": false, "Q3M": false} {
		if g.Takes(kind) != want {
			t.Errorf("openarena takes %q: %t", kind, !want)
		}
	}
}

// TestSteamByItsID checks that an id on Steam is a whole entry, and that an entry's own fields stay.
func TestSteamByItsID(t *testing.T) {
	table := load(t, "[game.mine]\napp_id = 4711\n[game.other]\napp_id = 4712\nname = 'Other'\nport = 7777\nlaunch = ['other', '{address}']\n")
	want := Game{ID: "mine", Name: "mine", ProtocolName: "a2s", Port: 27015, AppID: 4711, Rule: selection.Mean,
		Launch: []string{"steam://connect/{query}{/password}"}}
	if g := find(t, table, "mine"); !reflect.DeepEqual(g, want) || !g.OnSteam() || !slices.Equal(g.Kinds(), []string{"steam"}) {
		t.Errorf("got  %+v\nwant %+v", g, want)
	}
	if g := find(t, table, "other"); g.ProtocolName != "a2s" || g.Port != 7777 || !slices.Equal(g.Launch, []string{"other", "{address}"}) {
		t.Errorf("got %+v", g)
	}
	shipped := load(t, "")
	for _, g := range load(t, "[game.tf2]\napp_id = 440\n[game.squad]\napp_id = 5\n").All() { // changes of known games
		if before := find(t, shipped, g.ID); g.ProtocolName != before.ProtocolName || !slices.Equal(g.Launch, before.Launch) {
			t.Errorf("%s is %+v", g.ID, g)
		}
	}
}

// TestProtocols checks that the list of protocols names what Muster speaks, and that every game's is in it.
func TestProtocols(t *testing.T) {
	if !slices.IsSorted(Protocols()) {
		t.Errorf("%v", Protocols())
	}
	for _, name := range Protocols() {
		if (Game{ProtocolName: name}).Protocol() == nil {
			t.Errorf("nothing speaks %s", name)
		}
	}
	for _, g := range load(t, "").All() {
		if !slices.Contains(Protocols(), g.ProtocolName) {
			t.Errorf("%s of %s is missing in the list of protocols in game.go", g.ProtocolName, g.ID)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("[game.x]\nprotocol='a2s'\nport=1\nlaunch=['x','{address}']\n")
	f.Add("[game.openarena]\nrule='minimax'\n")
	f.Fuzz(func(t *testing.T, in string) {
		table, err := Load(strings.NewReader(in), "games.toml")
		if err != nil {
			return
		}
		for _, g := range table.All() {
			if found, err := table.Find(g.ID); err != nil || found.ID != g.ID || g.Protocol() == nil {
				t.Fatalf("%q gives the game %+v, which is not found: %v", in, g, err)
			}
		}
	})
}

func TestLANPorts(t *testing.T) {
	table := load(t, "[game.last]\nprotocol = \"quake3\"\nport = 65534\n")
	for id, want := range map[string][]uint16{
		"openarena": {27960, 27961, 27962, 27963},
		"cs2":       {27015, 27016, 27017, 27018, 27019, 27020},
		"last":      {65534, 65535},
	} {
		if got := find(t, table, id).LANPorts(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
}

// TestSources checks that each game names the sources of its ports, and that all sources have dates.
func TestSources(t *testing.T) {
	for _, g := range load(t, "").All() {
		if len(g.References) == 0 {
			t.Errorf("%s has no source", g.ID)
		}
		for _, text := range slices.Concat(g.References, g.JoinReferences) {
			date, where, _ := strings.Cut(text, " ")
			at, err := time.Parse(time.DateOnly, date)
			if err != nil || at.Year() < 2000 || len(where) < 10 {
				t.Errorf("%s: the source %q is not DATE WHERE: WHAT", g.ID, text)
			}
		}
	}
}

// TestWhySilent checks that the notes on silent games are in the catalogue.
func TestWhySilent(t *testing.T) {
	for _, g := range load(t, "").All() {
		if text := g.whySilent(); g.Silent != "" && (text == g.Silent || g.WhySilent().Key != g.Silent) {
			t.Errorf("%s is said to be silent by %q", g.ID, text)
		}
	}
	if g := (Game{Silent: "it rests"}); g.WhySilent() != sentence.Plain("it rests") || g.whySilent() != "it rests" {
		t.Errorf("a player's own note is %v", g.WhySilent())
	}
}
