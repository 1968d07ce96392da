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
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
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
		all = append(all, hostport.Text(s.Addr))
	}
	return all
}

func TestWebList(t *testing.T) {
	s := service(t, says(`{"servers":[{"addr":"8.8.8.8:27960","name":"One","players":"3"},{"addr":"8.8.4.4"},{"addr":"8.8.8.8:27960","name":"again"},
		{"addr":"ddnet://127.0.0.1:8303/"},{"addr":"games.example:1"},{"addr":"nobody.example:1"},{"addr":"169.254.7.7:27015"}]}`))
	c := master.Client{Lookup: hosts(map[string]string{"games.example": "9.9.9.9"})}
	got, err := c.Fetch(t.Context(), master.WebList{URLs: []string{s.URL}, Form: form, Port: 27015})
	if want := []string{"8.8.8.8:27960", "8.8.4.4:27015", "127.0.0.1:8303", "games.example:1"}; err != nil || !slices.Equal(addresses(got), want) {
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

// A list is requested once a minute, by any number of readers, and after that only if
// it has changed. When its service is away, the old list serves, and its age is told.
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
	list.Name = "title" // another form fetches the list again
	away.Store(false)
	if _, err := c.Fetch(t.Context(), list); err != nil || unchanged.Load() != 1 {
		t.Errorf("%v, unchanged %d times", err, unchanged.Load())
	}
}

// A service that wants to be asked seldom is asked seldom.
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

// A spoilt cache costs a fetch.
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

// No list leads into a private network, by any name. The dialed address counts. A list
// is allowed there only if its own URL has such an address.
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

// TestDrips checks that a service that sends byte by byte gets a bounded time.
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

// TestLongWebList checks that each address has its share of two million rows, in
// bounded memory.
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

// TestBomb checks that an answer that unpacks to a gigabyte is unpacked only up to the
// size of a row.
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

// TestPages checks that a list in pages is read whole, and as far as it can be.
func TestPages(t *testing.T) {
	pages := map[string]string{
		"":                            `{"servers":[{"addr":"8.8.8.8:1"},{"addr":"8.8.8.8:2"}],"cursor":"c","hasMore":true}`,
		"&cursor=c&after=8.8.8.8%3A2": `{"servers":[{"addr":"8.8.4.4:1"}],"cursor":"d","hasMore":true}`,
		"&cursor=d&after=8.8.4.4%3A1": `{"servers":[{"addr":"1.1.1.1:1"}],"cursor":"e","hasMore":false}`,
	}
	for _, c := range []struct {
		name, last string
		want       []string
		warning    string
	}{
		{"whole", "", []string{"8.8.8.8:1", "8.8.8.8:2", "8.8.4.4:1", "1.1.1.1:1"}, ""},
		{"nothing left", `{"servers":[],"hasMore":false}`, []string{"8.8.8.8:1", "8.8.8.8:2", "8.8.4.4:1"}, ""},
		{"a page is missing", "500", []string{"8.8.8.8:1", "8.8.8.8:2", "8.8.4.4:1"}, "500 Internal Server Error: taking the 3 servers before that"},
		{"a page that leads to itself", `{"servers":[{"addr":"8.8.4.4:1"}],"cursor":"d","hasMore":true}`,
			[]string{"8.8.8.8:1", "8.8.8.8:2", "8.8.4.4:1"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			asked := 0
			s := service(t, func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				asked++
				text, found := pages[strings.TrimPrefix(r.URL.RawQuery, "perPage=2")]
				if strings.Contains(r.URL.RawQuery, "cursor=d") && c.last != "" {
					text = c.last
				}
				if !found || text == "500" {
					http.Error(w, "no", http.StatusInternalServerError)
					return
				}
				fmt.Fprint(w, text)
			})
			list := master.WebList{URLs: []string{s.URL + "/?perPage=2"}, Form: weblist.Form{
				Format: weblist.JSON, Rows: "servers", Address: "addr", More: "hasMore", Next: "&cursor={cursor}&after={last}",
			}}
			got, err := master.Client{Cache: master.Cache(t.TempDir())}.Fetch(t.Context(), list)
			if err != nil || !slices.Equal(addresses(got), c.want) || asked > 4 {
				t.Errorf("%v, %v, asked %d times", addresses(got), err, asked)
			}
			if warnings := fmt.Sprint(got.Warnings); (c.warning != "") != (len(got.Warnings) > 0) || !strings.Contains(warnings, c.warning) {
				t.Errorf("warnings %s", warnings)
			}
		})
	}
}
