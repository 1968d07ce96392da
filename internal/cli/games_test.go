package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/adrg/xdg"
)

const steamKey = "0123456789ABCDEF0123456789ABCDEF"

// TestSteamKey checks that the key is read from standard input, that only the user can read its
// file, and that it is never shown.
func TestSteamKey(t *testing.T) {
	file := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "muster", "steam-key")
	t.Cleanup(func() { os.Remove(file) })
	for _, wrong := range []string{"", "hunter2\n", steamKey + "0\n"} {
		if got := musterWith(t, wrong, "games", "--steam-key"); got.code == 0 ||
			!strings.Contains(got.err, "steamcommunity.com/dev/apikey") || wrong != "" && strings.Contains(got.err, strings.TrimSpace(wrong)) {
			t.Errorf("%q: %+v", wrong, got)
		}
	}
	got := musterWith(t, "  "+strings.ToLower(steamKey)+"\r\n", "games", "--steam-key")
	if got.code != 0 || strings.Contains(got.out+got.err, steamKey) || !strings.Contains(got.err, file) {
		t.Fatalf("%+v", got)
	}
	info, err := os.Stat(file)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if text, _ := os.ReadFile(file); string(text) != steamKey+"\n" {
		t.Errorf("the file holds %q", text)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := muster(t, "discover", "--game", "tf2", "--lan", "off"); got.code != 1 ||
		!strings.Contains(got.err, "can be read by others") || !strings.Contains(got.err, "chmod 600") {
		t.Errorf("a key that others can read: %+v", got)
	}
}

// TestFirstListOfSteam checks what a player without a key is told, and that favourites are a list.
func TestFirstListOfSteam(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	data := xdg.DataHome
	xdg.DataHome = filepath.Join(home, "data")
	defer func() { xdg.DataHome = data }()
	got := muster(t, "discover", "--game", "tf2", "--lan", "off")
	if got.code != 1 || !strings.Contains(got.err, "Steam lists Team Fortress 2 only with a key") {
		t.Errorf("%+v", got)
	}
	for _, way := range []string{"favourites in Steam", "https://steamcommunity.com/dev/apikey",
		"muster games --steam-key", "--servers FILE"} {
		if !strings.Contains(strings.Join(strings.Fields(got.err), " "), way) {
			t.Errorf("nothing is said of %s:\n%s", way, got.err)
		}
	}
	steam := filepath.Join(home, "data", "Steam", "userdata", "77", "7", "remote")
	if err := os.MkdirAll(steam, 0o700); err != nil {
		t.Fatal(err)
	}
	text := `"Filters" { "Favorites" { "1" { "name" "Mine" "address" "127.0.0.1:9" "appid" "440" } "2" { "address" "169.254.7.7:27015" "appid" "440" } } }`
	if err := os.WriteFile(filepath.Join(steam, "serverbrowser_hist.vdf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got = muster(t, "discover", "--game", "tf2", "--lan", "off")
	if !strings.Contains(got.err, "1 Team Fortress 2 server listed") ||
		!strings.Contains(got.err, "only Steam's relays reach: nobody can measure it") {
		t.Errorf("with favourites: %+v", got)
	}
}

// TestNewGameFromAFewLines checks a game that Muster does not know, defined by games.toml alone.
// Its list on the web provides what the servers do not say.
func TestNewGameFromAFewLines(t *testing.T) {
	listener := httptest.NewServer(http.NotFoundHandler()) // accepts connections, like the server of any TCP game
	defer listener.Close()
	at := strings.TrimPrefix(listener.URL, "http://")
	host, port, _ := strings.Cut(at, ":")
	list := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"result":[{"ip":%q,"port":%q,"title":"The tavern","online":["ann","bob"],"slots":8}]}`, host, port)
	}))
	defer list.Close()
	file := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "muster", "games.toml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	entry := `
[game.tavern]
name = "Tavern Tales"
protocol = "tcp"
port = 4000
launch = ["tavern", "--join", "{address}"]

[[game.tavern.lists]]
urls = ["` + list.URL + `"]
format = "json"
rows = "result"
host = "ip"
port = "port"
name = "title"
players = "online"
max_players = "slots"
`
	if err := os.WriteFile(file, []byte(entry), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(file) })
	got := muster(t, "discover", "--game", "tavern", "--format", "csv")
	if got.code != 0 || !strings.Contains(got.out, at) || !strings.Contains(got.out, "The tavern") {
		t.Errorf("%+v", got)
	}
	got = muster(t, "host", "--game", "tavern", "--players", "1", "--once", "--launch", "never", "--listen",
		"127.0.0.1:0", "--lan", "off", "--no-browser", "--no-mdns", "--name", "ann")
	if got.code != 0 || !strings.Contains(got.err, "everyone to The tavern ("+at+")") {
		t.Errorf("a room for it: %+v", got)
	}
	if out := succeeds(t, "games", "--template", "tavern"); !strings.Contains(out, "Tavern Tales") ||
		!strings.Contains(out, "[[game.tavern.lists]]") {
		t.Errorf("its entry is\n%s", out)
	}
	if out := succeeds(t, "games", "--template", "never-heard-of"); !strings.Contains(out, "[game.never-heard-of]") {
		t.Errorf("the pattern is\n%s", out)
	}
	if got := muster(t, "games", "--template", "No Such"); got.code != 2 {
		t.Errorf("%+v", got)
	}
}

// TestListsCommand checks that lists are imported and exported in each form, and that servers that
// cannot be kept are reported.
func TestListsCommand(t *testing.T) {
	folder, config := t.TempDir(), xdg.ConfigHome
	xdg.ConfigHome = filepath.Join(folder, "config")
	defer func() { xdg.ConfigHome = config }()
	file := filepath.Join(folder, "list.txt")
	if err := os.WriteFile(file, []byte("# ours\n192.0.2.1:27960 Ann's\n192.0.2.2\ngames.example.org\nno server\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		args      []string
		code      int
		out, says string
	}{
		{[]string{"lists", "--game", "openarena"}, 0, "", "no lists yet; "},
		{[]string{"lists", "import", file, "--game", "openarena"}, 0, "",
			`3 favourites added; left out 1 that name no server of the game, the first "no server" in line 5`},
		{[]string{"lists", "import", file, "--game", "openarena"}, 0, "", "0 favourites added, 3 were there"},
		{[]string{"lists", "export", "--game", "openarena"}, 0, "192.0.2.1:27960 Ann's\n192.0.2.2:27960\ngames.example.org:27960\n", ""},
		{[]string{"lists", "export", "--game", "openarena", "--format", "qstat"}, 0, " 192.0.2.2:27960\n", ""},
		{[]string{"lists", "export", filepath.Join(folder, "out.vdf"), "--game", "openarena", "--format", "steam"}, 0,
			"", "3 servers written to "},
		{[]string{"lists", "import", filepath.Join(folder, "out.vdf"), "--game", "openarena", "--hidden"}, 0, "",
			"3 hidden servers added; 3 of the hidden were favourites, and are no more"},
		// A hidden server is no favourite.
		{[]string{"lists", "--game", "openarena"}, 0, "192.0.2.1:27960", "0 favourites of OpenArena, 3 servers hidden"},
		{[]string{"lists", "export", "--game", "openarena", "--format", "excel"}, 2, "", "excel"},
		{[]string{"lists", "import", filepath.Join(folder, "none"), "--game", "openarena"}, 1, "", "none"},
		{[]string{"lists", "import", file}, 2, "", "which game?"},
	} {
		got := muster(t, step.args...)
		if says := strings.Join(strings.Fields(got.err), " "); got.code != step.code ||
			!strings.Contains(got.out, step.out) || !strings.Contains(says, step.says) {
			t.Errorf("%v: %+v", step.args, got)
		}
	}
}
