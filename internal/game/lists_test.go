package game

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"context"

	"google.golang.org/protobuf/encoding/protowire"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/lists/master"
	"muster/host/wire"
)

// known resolves the names in testdata/lists.
func known(_ context.Context, host string) ([]netip.Addr, error) {
	addr := map[string]string{
		"qw.quake.example": "9.9.1.1", "luanti.example": "9.9.1.2", "station.example": "9.9.1.3", "one.example": "9.9.1.4",
		"two.example": "9.9.1.5", "server.veloren.example": "9.9.1.6", "voice.example": "9.9.1.7",
		"play.rage.example": "9.9.1.10", "vs.example": "9.9.1.11",
	}[host]
	if addr == "" {
		return nil, errors.New("no such host")
	}
	return []netip.Addr{netip.MustParseAddr(addr)}, nil
}

// TestListsOfServices checks that the table reads each service's answer as the service's own clients do: the servers'
// addresses, and the facts about the first.
func TestListsOfServices(t *testing.T) {
	table := load(t, "")
	for _, c := range []struct {
		id, file string
		want     string
		// The facts about the first server, and others that few lists tell.
		name, mapName, mode, version string
		players, maxPlayers          int
		said                         discovery.Info
	}{
		{"ddnet", "ddnet.json", "[45.141.57.22:8303]",
			"DDNet GER1 - Novice", "Tutorial", "DDraceNetwork", "0.6.4, 18.9", 2, 64, discovery.Info{}},
		{"teeworlds", "ddnet.json", "[45.141.57.22:8303 [2a01:4f8::7]:8310]",
			"DDNet GER1 - Novice", "Tutorial", "DDraceNetwork", "0.6.4, 18.9", 2, 64, discovery.Info{}},
		{"quakeworld", "quakeworld.json", "[qw.quake.example:28501 9.9.9.9:27500]",
			"quake.example:28501", "dm6", "2on2", "MVDSV 0.36", 3, 4, discovery.Info{Password: true}},
		{"mohaa", "333networks.json", "[45.76.4.7:12203 45.76.4.8:12204]",
			"The Bridge", "obj/obj_team2", "Objective-Match", "", 3, 20, discovery.Info{}},
		{"ut99", "333networks.json", "[45.76.4.7:12203 45.76.4.8:12204]",
			"The Bridge", "obj/obj_team2", "Objective-Match", "", 3, 20, discovery.Info{}},
		{"luanti", "luanti.json", "[luanti.example:30000 [2a01:4f8::9]:30001]",
			"A world", "", "mineclonia", "5.14.0", 2, 30, discovery.Info{Protocol: 49, OldestProtocol: 37, Mod: "mineclonia"}},
		{"dayz", "dayz.json", "[185.216.144.79:2303]",
			"A server", "chernarusplus", "", "1.29.163709", 3, 60, discovery.Info{Password: true, GamePort: 2302}},
		{"mumble", "mumble.xml", "[voice.example:64738 45.76.4.15:64739]",
			"A place to talk", "", "", "", 0, 0, discovery.Info{}},
		{"openarena", "dpmaster.xml", "[45.76.4.16:27960]",
			"^1Rail ^7only", "oa_rpg3dm2", "baseoa", "", 2, 8, discovery.Info{}},
		{"iw4x", "iw4madmin.json", "[45.76.4.18:28960]",
			"Rust 24/7", "mp_rust", "war", "IW4x r4432", 4, 18, discovery.Info{}},
		{"sauerbraten", "sauerbraten.txt", "[45.76.4.19:28785 45.76.4.20:10000]",
			"", "", "", "", 0, 0, discovery.Info{}},
		{"fivem", "", "[45.76.4.21:30120]",
			"A city", "San Andreas", "Roleplay", "FXServer-master", 31, 48, discovery.Info{}},
		{"redm", "", "[45.76.4.22:30120]",
			"A ranch", "San Andreas", "Roleplay", "FXServer-master", 31, 48, discovery.Info{}},
		{"mindustry", "mindustry.json", "[one.example:6567 two.example:20204 45.76.4.13:6567]",
			"Example", "", "", "", 0, 0, discovery.Info{}},
		{"gtasam", "openmp.json", "[9.9.1.8:7777 45.76.4.23:7777]",
			"A town RP", "", "RP v6.2", "0.3.7-R2", 34, 350, discovery.Info{Tags: "Romanian/English", Password: true}},
		{"gtasamta", "mtasa.json", "[45.76.4.24:22003 45.76.4.25:22010]",
			"A race through San Fierro", "", "", "1.6", 34, 128, discovery.Info{Password: true}},
		{"ragemp", "ragemp.json", "[45.76.4.26:22005 play.rage.example:22010]",
			"[EN] A city in San Andreas", "", "roleplay", "", 412, 1000, discovery.Info{}},
		{"vintagestory", "vintagestory.json", "[45.76.4.27:42420 vs.example:42421]",
			"A valley", "", "surviveandbuild", "1.21.5", 3, 16, discovery.Info{Password: true}},
		{"bf2", "bflist.json", "[45.76.4.29:16567 45.76.4.30:16568]",
			"Karkand all day", "Strike at Karkand", "", "", 41, 64, discovery.Info{Mod: "bf2"}},
		{"bfv", "bflist.json", "[45.76.4.29:16567 45.76.4.30:16568]",
			"Karkand all day", "Strike at Karkand", "gpm_cq", "", 41, 64, discovery.Info{}},
		{"openra", "openra.json", "[45.76.4.9:1234]",
			"Quick game", "b5c1c8a3", "ra", "release-20250330", 1 + 1, 4 + 1, discovery.Info{Bots: 1, Password: true}},
		{"ss14", "ss14.json", "[45.76.4.11:1212 station.example:443]",
			"A station", "Bagel", "Extended", "", 40, 80, discovery.Info{}},
		{"beammp", "beammp.json", "[45.76.4.12:30814]",
			"^lA road", "/levels/west_coast_usa/info.json", "", "3.8.1", 2, 8, discovery.Info{}},
		{"veloren", "veloren.json", "[server.veloren.example:14004]",
			"Veloren Official", "", "", "weekly", 0, 0, discovery.Info{}},
		{"supertuxkart", "supertuxkart.xml", "[45.74.4.14:2759]",
			"A & B", "hacienda", "3", "", 2, 8, discovery.Info{}},
	} {
		t.Run(c.id, func(t *testing.T) {
			g, err := table.Find(c.id)
			if err != nil {
				t.Skip("its servers cannot be asked yet")
			}
			text := append(fivem("A city", "gta5", "45.76.4.21:30120"), fivem("A ranch", "rdr3", "45.76.4.22:30120")...)
			if c.file != "" {
				if text, err = os.ReadFile(filepath.Join("testdata", "lists", c.file)); err != nil {
					t.Fatal(err)
				}
			}
			list := g.Lists[0]
			list.URLs, list.Port = []string{serveList(t, list, text)}, g.Port
			got, err := master.Client{Lookup: known}.Fetch(t.Context(), list)
			var addrs []string
			for _, s := range got.Servers {
				addrs = append(addrs, hostport.Text(s.Addr))
			}
			if fmt.Sprint(addrs) != c.want || err != nil || len(got.Warnings) > 0 {
				t.Fatalf("%v, %v, %v; want %s", addrs, err, got.Warnings, c.want)
			}
			c.said.Name, c.said.Map, c.said.Mode, c.said.Version = c.name, c.mapName, c.mode, c.version
			c.said.Players, c.said.MaxPlayers = c.players, c.maxPlayers
			c.said.AsListed = c.said != discovery.Info{}
			if said := got.Said.Infos[got.Servers[0].Addr]; c.said.AsListed != (said != nil) || said != nil && *said != c.said {
				t.Errorf("it says %+v\nwant    %+v", said, c.said)
			}
		})
	}
}

// fivem returns a server of FiveM's list (citizenfx/fivem, ext/cfx-ui/src/app/servers/master.js).
func fivem(name, game, address string) []byte {
	text := func(b []byte, field protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
	}
	number := func(b []byte, field protowire.Number, n uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
	}
	variable := string(text(text(nil, 1, "gamename"), 2, game))
	data := text(text(text(number(number(nil, 1, 48), 2, 31), 4, name), 5, "Roleplay"), 6, "San Andreas")
	data = text(text(text(text(data, 8, "a-resource"), 9, "FXServer-master"), 12, variable), 18, address)
	frame := text(text(nil, 1, "abc123"), 2, string(data))
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(frame))), frame...)
}

// serveList serves a list's text at a URL of the same kind as the list's.
func serveList(t *testing.T, list master.WebList, text []byte) string {
	if !strings.HasPrefix(list.URLs[0], "tcp:") {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(text) }))
		t.Cleanup(s.Close)
		return s.URL
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		conn.Read(make([]byte, len("list\n")))
		conn.Write(text)
	}()
	return "tcp://" + l.Addr().String()
}

// TestSourcesOfSteam checks that Steam's games have three sources, and that a user without any of them learns about
// them.
func TestSourcesOfSteam(t *testing.T) {
	g := find(t, load(t, ""), "tf2")
	file := filepath.Join(t.TempDir(), "serverbrowser_hist.vdf")
	if err := os.WriteFile(file, []byte(`"Filters" { "Favorites" { "1" { "address" "8.8.8.8:27015" "appid" "440" } } }`), 0o600); err != nil {
		t.Fatal(err)
	}
	const key = master.SteamKey("0123456789ABCDEF0123456789ABCDEF")
	for _, c := range []struct {
		user User
		want string
	}{
		{User{Steam: key}, "[master.Steam]"},
		{User{SteamFiles: []string{file}}, "[master.SteamFiles]"},
		{User{Steam: key, SteamFiles: []string{file}}, "[master.Steam master.SteamFiles]"},
		{User{SteamFiles: []string{file + "x"}}, "[]"},
		{User{}, "[]"},
	} {
		sources, err := g.Sources(c.user)
		var kinds []string
		for _, s := range sources {
			kinds = append(kinds, fmt.Sprintf("%T", s))
		}
		if fmt.Sprint(kinds) != c.want {
			t.Errorf("%v, want %s", kinds, c.want)
		}
		var none *NoMasterError
		if errors.As(err, &none) != (c.want == "[]") {
			t.Errorf("%v", err)
		}
		if none != nil {
			for _, way := range []string{"favourites", "steamcommunity.com/dev/apikey", "--servers FILE"} {
				if !strings.Contains(none.Hint(), way) {
					t.Errorf("the hint does not say %s: %s", way, none.Hint())
				}
			}
		}
	}
}

// TestMistakesByLine checks that a user's mistakes are reported with their lines.
func TestMistakesByLine(t *testing.T) {
	const entry = "# mine\n[game.x]\nprotocol = 'a2s'\nport = 1\nlaunch = ['x']\n\n[[game.x.lists]]\nurls = " +
		"['https://example.org/']\nformat = 'json'\naddress = 'a'\n"
	if _, err := Load(strings.NewReader(entry), "games.toml"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		old, new string
		line     int
		want     string
	}{
		{"'a2s'", "'nosuch'", 3, `"nosuch"`},
		{"port = 1\n", "", 2, "port is missing"},
		{"['x']", "['{adress}']", 5, "{adress}"},
		{"'json'", "'yaml'", 9, `list 1: format "yaml" is none of`},
		{"https://example.org/", "ftp://example.org/", 8, "no URL that starts with https://"},
		{"https://example.org/", "https://ann:x@example.org/", 8, "a name or a password"},
		{"urls = ['https://example.org/']\n", "", 7, "urls is missing"},
		{"address = 'a'\n", "", 7, "address is missing"},
		{"address = 'a'\n", "host = 'a'\nwhere = ['mod']\n", 11, `where "mod"`},
		{"address = 'a'\n", "adress = 'a'\n", 10, `unknown key "game.x.lists.adress": did you mean address?`},
		{"address = 'a'\n", "address = 7\n", 10, "address"},
	} {
		_, err := Load(strings.NewReader(strings.Replace(entry, c.old, c.new, 1)), "games.toml")
		if wrong, is := errors.AsType[*FileError](err); !is || wrong.Line != c.line || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s -> %s: %v, want line %d and %s", c.old, c.new, err, c.line, c.want)
		}
	}
}

// TestEntry checks that the output of muster games --template loads, including the pattern's list.
func TestEntry(t *testing.T) {
	table := load(t, "")
	for _, id := range []string{"openarena", "ddnet", "cs2", "brandnew"} {
		text, err := table.Entry(id)
		if err != nil || !strings.Contains(text, "[game."+id+"]") || strings.Count(text, "[game.") > 2 {
			t.Errorf("%s: %v\n%s", id, err, text)
		}
		text = strings.ReplaceAll(text, "[[game.", "[[game.") // keep it as it is
		if _, err := Load(strings.NewReader(text), "games.toml"); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	pattern, _ := table.Entry("brandnew")
	var plain strings.Builder
	for line := range strings.Lines(pattern) {
		if rest, isRemark := strings.CutPrefix(line, "# "); isRemark && (strings.Contains(rest, "=") || strings.HasPrefix(rest, "[[")) {
			line = rest
		}
		plain.WriteString(line)
	}
	g := find(t, load(t, plain.String()), "brandnew")
	if len(g.Lists) != 1 || g.Lists[0].Rows != "servers" || g.AppID == 0 {
		t.Errorf("%+v", g)
	}
	if _, err := table.Entry("no ID"); err == nil {
		t.Error("an entry for an id that cannot be one")
	}
}

func TestUserChangesLists(t *testing.T) {
	g := find(t, load(t, "[[game.ddnet.lists]]\nurls=['http://127.0.0.1/']\nformat='text'\n"), "ddnet")
	if len(g.Lists) != 1 || g.Lists[0].Format != "text" || g.Lists[0].Rows != "" || g.Port != 8303 {
		t.Errorf("%+v", g)
	}
}

// TestManyGames checks promises about the table: at least 60 games, the families among them, each with its kinds of
// lists or none, over TLS or TCP, and no list that is asked too often.
func TestManyGames(t *testing.T) {
	table := load(t, "")
	if n := len(table.All()); n < 60 {
		t.Errorf("%d games", n)
	}
	for _, id := range []string{"minecraft", "bedrock", "quakeworld", "ddnet", "teeworlds", "luanti", "sauerbraten", "mumble"} {
		find(t, table, id)
	}
	for _, g := range table.All() {
		for _, list := range g.Lists {
			for _, at := range list.URLs {
				if !strings.HasPrefix(at, "https://") && !strings.HasPrefix(at, "tcp://") {
					t.Errorf("%s: %s is neither over TLS nor a master", g.ID, at)
				}
			}
		}
		if g.Kinds() == nil || len(g.Kinds()) > 0 != (len(g.Masters)+len(g.Lists)+len(g.Regions.List) > 0 || g.OnSteam()) {
			t.Errorf("%s: its lists are of %q", g.ID, g.Kinds())
		}
		for _, what := range g.Unsure {
			if strings.TrimSpace(what) == "" || strings.Contains(what, "\n") {
				t.Errorf("%s is unsure of %q", g.ID, what)
			}
		}
	}
}

// TestNames checks that a game has its name whether or not its servers are listed.
func TestNames(t *testing.T) {
	table := load(t, "")
	for id, want := range map[string]string{"cs2": find(t, table, "cs2").Name, "openarena": "OpenArena", "nobody-knows": ""} {
		if got := table.Name(id); got != want || got == id {
			t.Errorf("%s is called %q, want %q", id, got, want)
		}
	}
}

// TestConnectLinks checks that links start games, and that no link is the web's.
func TestConnectLinks(t *testing.T) {
	table := load(t, "[game.own]\nprotocol='tcp'\nport=1\nlaunch=['prog','x://{address}']\n")
	for _, c := range []struct {
		id    string
		query uint16
		want  string
	}{
		{"cs2", 0, "steam://connect/192.0.2.1:27015"},
		{"ddnet", 0, "ddnet://192.0.2.1:27015"},
		{"mumble", 0, "mumble://192.0.2.1:27015"},
		{"fivem", 0, "fivem://connect/192.0.2.1:27015"},
		{"openarena", 0, ""},
		{"own", 0, ""},
		{"nosuch", 0, ""},
		// Steam asks a link's server first, so the link has the query port.
		{"unturned", 27016, "steam://connect/192.0.2.1:27016"},
		{"ddnet", 8304, "ddnet://192.0.2.1:27015"},
	} {
		if got := table.ConnectLink(c.id, wire.Way{Connect: "192.0.2.1:27015", QueryPort: c.query}); got != c.want {
			t.Errorf("%s, asked at %d: %q, want %q", c.id, c.query, got, c.want)
		}
	}
}

// TestSteamLinksTakeTheQueryPort checks games whose query port differs: Steam's links fail with the players' port
// (steam-for-linux#6992).
func TestSteamLinksTakeTheQueryPort(t *testing.T) {
	asked := Target{Address: netip.MustParseAddrPort("192.0.2.1:7777"), QueryPort: 27015, Password: "club"}
	links := 0
	for _, g := range load(t, "").All() {
		for _, goos := range []string{"linux", "darwin", "windows"} {
			argv, err := g.Command(g.Template(goos), asked)
			if errors.Is(err, errNoTemplate) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			port := asked.QueryPort
			if aside, ok := g.Protocol().(discovery.Aside); ok {
				port = aside.QueryPort(port) // lists have the players' port of these games
			}
			if link := argv[len(argv)-1]; strings.HasPrefix(link, "steam:") {
				links++
				if link != fmt.Sprintf("steam://connect/192.0.2.1:%d/club", port) {
					t.Errorf("%s on %s: %s", g.ID, goos, link)
				}
			}
		}
	}
	if links == 0 {
		t.Error("no game has a link of Steam's")
	}
}
