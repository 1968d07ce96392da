package master_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
	"muster/discovery/lists/master"
	"muster/discovery/lists/weblist"
)

var form = weblist.Form{Format: weblist.JSON, Rows: "servers", Address: "addr", Name: "name", Players: "players"}

func service(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
}

func addresses(l master.Listing) (all []string) {
	for _, s := range l.Servers {
		all = append(all, s.Addr.String())
	}
	return all
}

func TestWebList(t *testing.T) {
	s := service(t, says(`{"servers":[{"addr":"8.8.8.8:27960","name":"One","players":"3"},{"addr":"8.8.4.4"},{"addr":"8.8.8.8:27960","name":"again"},
		{"addr":"ddnet://127.0.0.1:8303/"},{"addr":"games.example:1"},{"addr":"nobody.example:1"},{"addr":"169.254.7.7:27015"}]}`))
	c := master.Client{Lookup: hosts(map[string]string{"games.example": "9.9.9.9"})}
	got, err := c.Fetch(t.Context(), master.WebList{URLs: []string{s.URL}, Form: form, Port: 27015})
	if want := []string{"8.8.8.8:27960", "8.8.4.4:27015", "127.0.0.1:8303", "9.9.9.9:1"}; err != nil || !slices.Equal(addresses(got), want) {
		t.Errorf("%v, %v, want %v", addresses(got), err, want)
	}
	one := netip.MustParseAddrPort("8.8.8.8:27960")
	if want := map[netip.AddrPort]*discovery.Info{one: {Name: "One", Players: 3, AsListed: true}}; !reflect.DeepEqual(
		got.Said.Infos, want) || time.Since(got.Said.At) > time.Minute {
		t.Errorf("it says %v, want %v", got.Said, want)
	}
	at := strings.TrimPrefix(s.URL, "http://")
	want := fmt.Sprintf("[master: %s lists a server that only Steam's relays reach: nobody can measure it "+
		"master: %[1]s: cannot find nobody.example: no such host]", at)
	if fmt.Sprint(got.Warnings) != want {
		t.Errorf("warnings %v\nwant     %s", got.Warnings, want)
	}
}

// A list is asked for once a minute, whoever wants it, and after that only for what
// has changed; when its service is away the old one does, and its age is told.
func TestWebListIsCached(t *testing.T) {
	var asked, unchanged atomic.Int32
	var away atomic.Bool
	s := service(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch {
		case away.Load():
			http.Error(w, "maintenance", http.StatusServiceUnavailable)
		case r.Header.Get("If-None-Match") == `"v1"` && r.Header.Get("If-Modified-Since") != "":
			unchanged.Add(1)
			w.WriteHeader(http.StatusNotModified)
		default:
			if r.Header.Get("Accept-Encoding") != "gzip" {
				t.Errorf("Accept-Encoding is %q", r.Header.Get("Accept-Encoding"))
			}
			w.Header().Set("ETag", `"v1"`)
			w.Header().Set("Last-Modified", "Mon, 02 Nov 2026 10:00:00 GMT")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			io.WriteString(z, `{"servers":[{"addr":"8.8.8.8:1","name":"One"}]}`)
			z.Close()
		}
	})
	c := master.Client{Cache: master.Cache(t.TempDir())}
	list := master.WebList{URLs: []string{s.URL}, Form: form, Port: 1}
	fetch := func(wantAsked, wantUnchanged int32) master.Listing {
		t.Helper()
		got, err := c.Fetch(t.Context(), list)
		if err != nil || !slices.Equal(addresses(got), []string{"8.8.8.8:1"}) || len(got.Said.Infos) != 1 {
			t.Fatalf("%v, %v", got, err)
		}
		if asked.Load() != wantAsked || unchanged.Load() != wantUnchanged {
			t.Fatalf("asked %d times, unchanged %d times; want %d and %d", asked.Load(), unchanged.Load(), wantAsked, wantUnchanged)
		}
		return got
	}
	fetch(1, 0)
	fetch(1, 0)
	age(t, c.Cache, 5*time.Minute)
	fetch(2, 1)
	fetch(2, 1)
	age(t, c.Cache, 3*time.Hour)
	away.Store(true)
	got := fetch(3, 1)
	var stale *master.StaleError
	if len(got.Warnings) != 1 || !errors.As(got.Warnings[0], &stale) ||
		!strings.Contains(stale.Error(), "503 Service Unavailable: taking its list of 3 hours ago") {
		t.Errorf("warnings %v", got.Warnings)
	}
	age(t, c.Cache, 31*24*time.Hour)
	if _, err := c.Fetch(t.Context(), list); err == nil {
		t.Error("a list of last month is taken")
	}
	list.Name = "title" // who reads it otherwise asks anew
	away.Store(false)
	if _, err := c.Fetch(t.Context(), list); err != nil || unchanged.Load() != 1 {
		t.Errorf("%v, unchanged %d times", err, unchanged.Load())
	}
}

// A service that wants to be left alone for longer is.
func TestWebListIsAskedSeldom(t *testing.T) {
	var asked atomic.Int32
	s := service(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		io.WriteString(w, `{"servers":[{"addr":"8.8.8.8:1"}]}`)
	})
	c := master.Client{Cache: master.Cache(t.TempDir())}
	list := master.WebList{URLs: []string{s.URL}, Form: form, Every: 8}
	for i, after := range []struct {
		by   time.Duration
		want int32
	}{{0, 1}, {7 * time.Minute, 1}, {9 * time.Minute, 2}} {
		if i > 0 {
			age(t, c.Cache, after.by)
		}
		if _, err := c.Fetch(t.Context(), list); err != nil || asked.Load() != after.want {
			t.Errorf("after %v: asked %d times, %v; want %d", after.by, asked.Load(), err, after.want)
		}
	}
}

// age makes all lists in a cache older.
func age(t *testing.T, cache master.Cache, by time.Duration) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(string(cache), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("nothing is cached", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), `"at":"`)
		was, _, _ := strings.Cut(rest, `"`)
		text = []byte(strings.Replace(string(text), was, time.Now().Add(-by).Format(time.RFC3339Nano), 1))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A cache that somebody, or a crash, has spoilt costs a fetch.
func TestSpoiltCache(t *testing.T) {
	s := service(t, says(`{"servers":[{"addr":"8.8.8.8:1"}]}`))
	c := master.Client{Cache: master.Cache(t.TempDir())}
	list := master.WebList{URLs: []string{s.URL}, Form: form}
	for _, text := range []string{"", "{", "[]", `{"at":"2999-01-01T00:00:00Z","rows":[{"address":"6.6.6.6:6"}]}`} {
		if _, err := c.Fetch(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob(filepath.Join(string(c.Cache), "*.json"))
		if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Fetch(t.Context(), list); err != nil || !slices.Equal(addresses(got), []string{"8.8.8.8:1"}) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	c.Cache = "/dev/null/nowhere"
	if _, err := c.Fetch(t.Context(), list); err != nil {
		t.Errorf("a cache that cannot be: %v", err)
	}
}

// The next URL is asked when the first does not answer, and an error names no URL.
func TestMirrors(t *testing.T) {
	broken := service(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTooManyRequests) })
	page := service(t, says("<html>"))
	good := service(t, says(`{"servers":[{"addr":"8.8.8.8:1"}]}`))
	var c master.Client
	got, err := c.Fetch(t.Context(), master.WebList{URLs: []string{broken.URL, page.URL, good.URL}, Form: form})
	if err != nil || len(got.Servers) != 1 || len(got.Warnings) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	list := master.WebList{URLs: []string{broken.URL + "/secret"}, Form: form, Secret: "?key=SECRET"}
	_, err = c.Fetch(t.Context(), list)
	if err == nil || !strings.Contains(err.Error(), "429 Too Many Requests") || strings.Contains(strings.ToLower(err.Error()), "secret") {
		t.Errorf("%v", err)
	}
	broken.Close()
	_, err = c.Fetch(t.Context(), list)
	if err == nil || !strings.Contains(err.Error(), "connection refused") || strings.Contains(strings.ToLower(err.Error()), "secret") {
		t.Errorf("%v", err)
	}
}

// No list leads into a private network, whatever name leads there: what counts is
// the address that is dialed. Only who writes the address itself means it.
func TestPrivateNetworksAreClosed(t *testing.T) {
	inside := service(t, func(http.ResponseWriter, *http.Request) { t.Error("a private network was asked") })
	at := strings.Replace(inside.URL, "127.0.0.1", "lists.example", 1)
	c := master.Client{Lookup: hosts(map[string]string{"lists.example": "127.0.0.1"})}
	_, err := c.Fetch(t.Context(), master.WebList{URLs: []string{at}, Form: form})
	if err == nil || !strings.Contains(err.Error(), "private network") {
		t.Errorf("%v", err)
	}
	_, err = c.Fetch(t.Context(), master.WebList{URLs: []string{strings.Replace(at, "http", "tcp", 1)}, Form: form})
	if err == nil || !strings.Contains(err.Error(), "private network") {
		t.Errorf("over TCP: %v", err)
	}
}

func TestRedirects(t *testing.T) {
	var hops atomic.Int32
	loop := service(t, func(w http.ResponseWriter, r *http.Request) {
		hops.Add(1)
		http.Redirect(w, r, "/again", http.StatusFound)
	})
	_, err := master.Client{}.Fetch(t.Context(), master.WebList{URLs: []string{loop.URL}, Form: form})
	if err == nil || !strings.Contains(err.Error(), "without end") || hops.Load() > 7 {
		t.Errorf("a loop: %d hops, %v", hops.Load(), err)
	}
	good := service(t, says(`{"servers":[{"addr":"8.8.8.8:1"}]}`))
	moved := service(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, good.URL, http.StatusMovedPermanently)
	})
	if got, err := (master.Client{}).Fetch(t.Context(),
		master.WebList{URLs: []string{moved.URL}, Form: form}); err != nil || len(got.Servers) != 1 {
		t.Errorf("moved: %v, %v", got, err)
	}
	_, err = master.Client{}.Fetch(t.Context(), master.WebList{URLs: []string{moved.URL}, Form: form, Secret: "?key=SECRET"})
	if err == nil || !strings.Contains(err.Error(), "must not go there") || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("with a key: %v", err)
	}
}

// A service that drips has a bounded time.
func TestDrips(t *testing.T) {
	s := service(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"servers":[{"addr":"8.8.8.8:1"},`)
		for r.Context().Err() == nil {
			io.WriteString(w, " ")
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	c := master.Client{Patience: 100 * time.Millisecond}
	_, err := c.Fetch(t.Context(), master.WebList{URLs: []string{s.URL}, Form: form})
	if err == nil || !strings.Contains(err.Error(), "in time") {
		t.Errorf("%v", err)
	}
}

var longList = flag.Int("long-list", 200_000, "rows of the long list on the web")

// TestLongWebList: of two million rows each address has its share, in bounded memory.
func TestLongWebList(t *testing.T) {
	rows := *longList
	s := service(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"servers":[`)
		b := make([]byte, 0, 1<<16)
		for i := range rows {
			b = fmt.Appendf(b, `{"addr":"%d.%d.7.7:%d"},`, 11+i%3, i>>8&15, 1+i%60000)
			if len(b) > 1<<15 {
				w.Write(b)
				b = b[:0]
			}
		}
		fmt.Fprintf(w, `%s{"addr":"8.8.8.8:1"}]}`, b)
	})
	got, err := master.Client{}.Fetch(t.Context(), master.WebList{URLs: []string{s.URL}, Form: form})
	var cut *master.CutError
	if err != nil || len(got.Servers) != 48*32+1 || len(got.Warnings) != 1 {
		t.Fatalf("%d servers, %v, %v, %v", len(got.Servers), got.Warnings, cut, err)
	}
}

func TestManyNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var list []master.Entry
		for i := range 5000 {
			list = append(list, master.Entry{Host: fmt.Sprintf("h%d.example", i), Port: 1})
		}
		list = append(list, master.Entry{Host: "8.8.8.8", Port: 1})
		c := master.Client{Lookup: func(ctx context.Context, _ string) ([]netip.Addr, error) {
			<-ctx.Done() // a name server that swallows questions
			return nil, ctx.Err()
		}}
		start := time.Now()
		got, err := c.Resolve(t.Context(), list, 1)
		if took := time.Since(start); err != nil || len(got.Servers) != 1 || took > 31*time.Second {
			t.Errorf("%d servers after %v, %v", len(got.Servers), took, err)
		}
	})
}

// TestBomb: of what unpacks to a gigabyte no more is unpacked than a row may have.
func TestBomb(t *testing.T) {
	s := service(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, `{"servers":[`)
		blanks := bytes.Repeat([]byte(" "), 1<<20)
		for range 1 << 10 {
			if _, err := z.Write(blanks); err != nil {
				return
			}
		}
		z.Close()
	})
	began := time.Now()
	_, err := master.Client{}.Fetch(t.Context(), master.WebList{URLs: []string{s.URL}, Form: form, Port: 1})
	if err == nil || !strings.Contains(err.Error(), "a single row of it is longer than 1 MiB") {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}

func TestSauerbratenMaster(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, closes := range []bool{true, false} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			asked := make([]byte, 16)
			n, _ := conn.Read(asked)
			if string(asked[:n]) != "list\n" {
				t.Errorf("asked %q", asked[:n])
			}
			io.WriteString(conn, "addserver 8.8.8.8 28785\naddserver 8.8.4.4 28795\n\x00")
			if !closes {
				conn.Read(asked) // waits for more
			}
		}()
		got, err := master.Client{}.Fetch(t.Context(), master.WebList{
			URLs: []string{"tcp://" + l.Addr().String()},
			Form: weblist.Form{Format: weblist.Sauerbraten},
		})
		if want := []string{"8.8.8.8:28785", "8.8.4.4:28795"}; err != nil || !slices.Equal(addresses(got), want) {
			t.Errorf("closes %v: %v, %v", closes, addresses(got), err)
		}
		<-done
	}
}

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

// A key shows itself in no output whatever.
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
	if want := []string{"192.168.1.5:27015", "8.8.8.8:27015"}; err != nil || !slices.Equal(addresses(got), want) || !files.Remembers() {
		t.Errorf("%v, %v, want %v", addresses(got), err, want)
	}
	if said := got.Said.Infos[netip.MustParseAddrPort("192.168.1.5:27015")]; said.Name != "Home" {
		t.Errorf("%+v", said)
	}
	if len(got.Warnings) != 2 || (master.SteamFiles{Files: []string{file}, AppID: 10}).Remembers() {
		t.Errorf("warnings %v", got.Warnings)
	}
}

func TestParsePasted(t *testing.T) {
	for text, want := range map[string]string{
		"1.2.3.4:27015 my clan server":                              "1.2.3.4:27015",
		"My clan: 1.2.3.4:27015":                                    "1.2.3.4:27015",
		"My clan = 1.2.3.4:27015":                                   "1.2.3.4:27015",
		"Clan: games.example:27015":                                 "games.example:27015",
		"games.example.org our home":                                "games.example.org:0",
		"connect 1.2.3.4:27015; password x":                         "1.2.3.4:27015",
		"connect 1.2.3.4":                                           "1.2.3.4:0",
		"steam://connect/1.2.3.4:27015/password":                    "1.2.3.4:27015",
		"steam://connect/games.example":                             "games.example:0",
		"steam://run/730//+connect 1.2.3.4:27015":                   "1.2.3.4:27015",
		"steam://run/730//+connect%201.2.3.4:27015":                 "1.2.3.4:27015",
		"- <ddnet://1.2.3.4:8303/>":                                 "1.2.3.4:8303",
		"* 1.2.3.4:8303, nice":                                      "1.2.3.4:8303",
		"minecraft://?addExternalServer=Mine|mc.example.org:25565":  "mc.example.org:25565",
		"minecraft://connect?serverUrl=mc.example&serverPort=19132": "mc.example:19132",
		"fivem://connect/1.2.3.4:30120":                             "1.2.3.4:30120",
		"mumble://ann@voice.example:64738/Channel":                  "voice.example:64738",
		"ss14://station.example:1212":                               "station.example:1212",
		"ss14s://station.example/server":                            "station.example:443",
		"1.2.3.4 27015":                                             "1.2.3.4:27015",
		"[2001:db8::1]:27015 six":                                   "2001:db8::1:27015",
		"(1.2.3.4:27015)":                                           "1.2.3.4:27015",
		"`1.2.3.4:27015`":                                           "1.2.3.4:27015",
		"Q3S 1.2.3.4:27960":                                         "1.2.3.4:27960",
	} {
		got, _, err := master.ParseList(strings.NewReader("// mine\n"+text+"\n"), "l.txt")
		if err != nil || len(got) != 1 || fmt.Sprintf("%s:%d", got[0].Host, got[0].Port) != want {
			t.Errorf("%q: %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"my clan server", "see https://1.2.3.4/ please", "https://example.org/",
		"steam://install/440", "1.2.3.4:27015:27016 x"} {
		if got, _, err := master.ParseList(strings.NewReader(text), "l.txt"); err == nil && got[0].Type == "" {
			t.Errorf("%q gives %v", text, got)
		}
	}
}
