package master_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/discovery"
	"muster/discovery/lists/master"
)

func TestSteam(t *testing.T) {
	const key = "0123456789ABCDEF0123456789ABCDEF"
	var asked []string
	full := 10_000
	s := service(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("key") != key {
			http.Error(w, "Forbidden", http.StatusForbidden)
			return
		}
		filter := r.URL.Query().Get("filter")
		asked = append(asked, strings.TrimPrefix(filter, `\appid\440`))
		switch filter {
		case `\appid\440`, `\appid\440\nor\1\noplayers\1`:
			fmt.Fprint(w, `{"response":{"servers":[`)
			for i := range full {
				fmt.Fprintf(w, `{"addr":"11.%d.%d.1:27015","map":"ctf_2fort"},`, i>>8, i&255)
			}
			fmt.Fprint(w, `{"addr":"8.8.8.8:27015"}]}}`)
		case `\appid\440\noplayers\1`:
			fmt.Fprint(w, `{"response":{"servers":[{"addr":"1.1.1.1:27015","gameport":27016,"steamid":"9","name":"One","appid":440,"gamedir":"tf","version":"9",
				"product":"tf","region":255,"players":3,"max_players":24,"bots":1,"map":"pl_x","secure":true,"dedicated":true,"os":"l","gametype":"payload"}]}}`)
		case `\appid\440\nor\1\noplayers\1\secure\1`:
			fmt.Fprint(w, `{"response":{}}`)
		default:
			fmt.Fprint(w, `{"response":{"servers":[{"addr":"169.254.1.1:1"},{"addr":"2.2.2.2:27015"}]}}`)
		}
	})
	c := master.Client{Cache: master.Cache(t.TempDir())}
	got, err := c.Fetch(t.Context(), master.Steam{AppID: 440, Key: key, URL: s.URL})
	if want := []string{"1.1.1.1:27015", "2.2.2.2:27015"}; err != nil || !slices.Equal(addresses(got), want) {
		t.Errorf("%v, %v, want %v", addresses(got), err, want)
	}
	want := discovery.Info{
		Name:       "One",
		Map:        "pl_x",
		Mode:       "payload",
		Version:    "9",
		Players:    3,
		MaxPlayers: 24,
		Bots:       1,
		GamePort:   27016,
		AsListed:   true,
	}
	if info := got.Said.Infos[netip.MustParseAddrPort("1.1.1.1:27015")]; *info != want {
		t.Errorf("it says %+v", info)
	}
	if want := []string{"", `\noplayers\1`, `\nor\1\noplayers\1`, `\nor\1\noplayers\1\secure\1`,
		`\nor\1\noplayers\1\nor\1\secure\1`}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q", asked)
	}
	files, _ := filepath.Glob(filepath.Join(string(c.Cache), "*"))
	for _, file := range files {
		if text, _ := os.ReadFile(file); strings.Contains(string(text)+file, key) {
			t.Errorf("%s holds the key", file)
		}
	}
	_, err = master.Client{}.Fetch(t.Context(), master.Steam{AppID: 440, Key: "FEDCBA98765432100123456789ABCDEF", URL: s.URL})
	if err == nil || !strings.Contains(err.Error(), "does not take the key") || strings.Contains(err.Error(), "FEDCBA") {
		t.Errorf("a wrong key: %v", err)
	}
	s.Close()
	_, err = master.Client{}.Fetch(t.Context(), master.Steam{AppID: 440, Key: key, URL: s.URL})
	if err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("away: %v", err)
	}
}

// A key appears in no output.
func TestSteamKeyIsHidden(t *testing.T) {
	key, err := master.ParseSteamKey("  0123456789abcdef0123456789abcdef\n")
	if err != nil || string(key) != "0123456789ABCDEF0123456789ABCDEF" {
		t.Fatalf("%q, %v", string(key), err)
	}
	steam := master.Steam{AppID: 1, Key: key}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		if text := fmt.Sprintf(format, steam) + fmt.Sprintf(format, key); strings.Contains(text, "0123") || strings.Contains(text, "30313233") {
			t.Errorf("%s shows %s", format, text)
		}
	}
	for _, wrong := range []string{"", "0123", "0123456789ABCDEF0123456789ABCDEG", strings.Repeat("0", 33)} {
		if _, err := master.ParseSteamKey(wrong); err == nil || wrong != "" && strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

func TestSteamFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "serverbrowser_hist.vdf")
	text := `"Filters" { "Favorites" { "1" { "name" "Home" "address" "192.168.1.5:27015" "appid" "440" } "2" { "address" "169.254.3.3:1" "appid" "440" } }
		"History" { "1" { "address" "8.8.8.8:27015" "appid" "440" } "2" { "address" "9.9.9.9:27015" "appid" "730" } "3" { "address" "192.168.1.5:27015" "appid" "440" } } }`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	files := master.SteamFiles{Files: []string{file, file + "x"}, AppID: 440}
	got, err := master.Client{}.Fetch(t.Context(), files)
	if want := []string{"192.168.1.5:27015", "8.8.8.8:27015"}; err != nil || !slices.Equal(addresses(got), want) || !files.IsWorthAsking() {
		t.Errorf("%v, %v, want %v", addresses(got), err, want)
	}
	if said := got.Said.Infos[netip.MustParseAddrPort("192.168.1.5:27015")]; said.Name != "Home" {
		t.Errorf("%+v", said)
	}
	if len(got.Warnings) != 2 || (master.SteamFiles{Files: []string{file}, AppID: 10}).IsWorthAsking() {
		t.Errorf("warnings %v", got.Warnings)
	}
}

// TestDamagedSteamFiles checks that a damaged file is named, and that what it still has is taken.
func TestDamagedSteamFiles(t *testing.T) {
	const text = `"Filters" { "Favorites" { "1" { "address" "8.8.8.8:27015" "appid" "440" } "2" { "address" "9.9.9.9:27015" "appid" "440" } } }`
	for cut, want := range map[int]int{0: 0, 20: 0, strings.Index(text, `"2"`): 1, len(text) - 2: 2} {
		file := filepath.Join(t.TempDir(), "serverbrowser_hist.vdf")
		if err := os.WriteFile(file, []byte(text[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		files := master.SteamFiles{Files: []string{file}, AppID: 440}
		got, err := master.Client{}.Fetch(t.Context(), files)
		said := fmt.Sprint(err, got.Warnings)
		if !files.IsWorthAsking() || len(got.Servers) != want || (err != nil) != (want == 0) || !strings.Contains(said, "Steam's file "+file+" is damaged: ") {
			t.Errorf("cut at %d: %v, %s", cut, got.Servers, said)
		}
		if want == 0 && !strings.Contains(fmt.Sprint(err.(interface{ Hint() string }).Hint()), "let Steam write it anew") {
			t.Errorf("cut at %d: nothing is said of what to do", cut)
		}
	}
}
