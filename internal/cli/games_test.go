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
