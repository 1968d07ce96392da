package listing

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/internal/hint"
)

// fleeting makes a function the source of a host's lists.
func fleeting(t *testing.T, fetch func(ctx context.Context, id string) ([]discovery.Server, error)) *Rooms {
	t.Helper()
	games := builtIn(t)
	r := &Rooms{Games: games, Warn: func(...error) {}, Public: func() netip.Addr { return netip.Addr{} }}
	r.Once = func(ctx context.Context, id string, _ func(context.Context) (List, error)) (List, time.Time, error) {
		servers, err := fetch(ctx, id)
		return List{Servers: servers}, time.Now(), err
	}
	return r
}

// TestOneFetch checks that a list is fetched once for all rooms that need it within a minute, and that a failed source
// is not asked again at once.
func TestOneFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fetches atomic.Int32
		fails := errors.New("nobody answers")
		r := fleeting(t, func(context.Context, string) ([]discovery.Server, error) {
			time.Sleep(3 * time.Second)
			if fetches.Add(1) == 2 {
				return nil, fails
			}
			return serversAt("192.0.2.1:27960"), nil
		})
		defer r.Begin(t.Context())()
		ask := func(rooms int, want error) {
			t.Helper()
			var all sync.WaitGroup
			for range rooms {
				all.Go(func() {
					if _, err := r.List(t.Context(), "openarena"); !errors.Is(err, want) {
						t.Errorf("a room gets %v, want %v", err, want)
					}
				})
			}
			all.Wait()
		}
		ask(1000, nil)
		time.Sleep(FreshFor / 2)
		ask(10, nil)
		if n := fetches.Load(); n != 1 {
			t.Errorf("the list was fetched %d times", n)
		}
		clear(r.newest) // pretend that there never was a list
		ask(1000, fails)
		ask(1000, fails)
		if n := fetches.Load(); n != 2 {
			t.Errorf("a source that is away is asked %d times at once", n-1)
		}
		time.Sleep(failureRest)
		ask(1, nil)
	})
}

// TestHangingSource checks that a hanging source delays only rooms without another list, and no other game. Rooms learn
// the age of an old list.
func TestHangingSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hangs atomic.Bool
		r := fleeting(t, func(ctx context.Context, id string) ([]discovery.Server, error) {
			if id == "openarena" && hangs.Load() {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return serversAt("192.0.2.1:27960"), nil
		})
		defer r.Begin(t.Context())()
		r.List(t.Context(), "openarena")
		hangs.Store(true)
		time.Sleep(2 * time.Hour)
		began := time.Now()
		if servers, err := r.List(t.Context(), "openarena"); err != nil || len(servers) != 1 || time.Since(began) > patience {
			t.Errorf("after %v a room gets %v, %v", time.Since(began), servers, err)
		}
		if said := r.Age("openarena"); said != sentence.Of("list.old", "age", 2*time.Hour) {
			t.Errorf("people are told %v", said)
		}
		if ages, failing := r.Watch(); ages["openarena"] != 0 || failing != 0 {
			t.Errorf("before the fetch ends operators see %v, and %d that fail", ages, failing)
		}
		time.Sleep(fetchTime)
		if ages, failing := r.Watch(); ages["openarena"] < 2*time.Hour || failing != 1 {
			t.Errorf("operators see %v, and %d that fail", ages, failing)
		}
		time.Sleep(watchedFor)
		if ages, failing := r.Watch(); len(ages) != 0 || failing != 0 {
			t.Errorf("of lists that no room asks for operators see %v, and %d that fail", ages, failing)
		}
		began = time.Now()
		if _, err := r.List(t.Context(), "xonotic"); err != nil || time.Since(began) > 0 {
			t.Errorf("another game's list takes %v, %v", time.Since(began), err)
		}
		if said := r.Age("xonotic"); !said.IsZero() {
			t.Errorf("of a new list people are told %v", said)
		}
		clear(r.newest)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began = time.Now()
		if _, err := r.List(ctx, "openarena"); err == nil || time.Since(began) > 5*time.Second {
			t.Errorf("whoever gives up after 5 s is held for %v, %v", time.Since(began), err)
		}
		time.Sleep(2 * fetchTime) // let the fetch give up, too
	})
}

// TestOwn checks that a stranger's list consists of addresses, and names nothing that the host would look up, open or
// fetch.
func TestOwn(t *testing.T) {
	games := builtIn(t)
	g, err := games.Find("openarena")
	if err != nil {
		t.Fatal(err)
	}
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf("192.0.2.9:%d", 27960+i)
	}
	far, lan, here := netip.MustParseAddr("203.0.113.7"), netip.MustParseAddr("192.168.1.7"), netip.MustParseAddr("127.0.0.1")
	for _, c := range []struct {
		lines []string
		from  netip.Addr
		want  string // the servers, or a part of the error
	}{
		{[]string{"192.0.2.4:27960", " 192.0.2.5 # ours", "", "[2001:db8::1]:27961", "192.0.2.4:27960"}, far,
			"[192.0.2.4:27960 192.0.2.5:27960 [2001:db8::1]:27961]"},
		{[]string{"[::ffff:192.0.2.4]:27960", "192.0.2.4:27960"}, far, "[192.0.2.4:27960]"},
		{[]string{"Q3S 192.0.2.4:27960", "A2S 192.0.2.5:27015"}, far, "[192.0.2.4:27960]"},
		{[]string{"addr,country", "192.0.2.4:27960,DE"}, far, "[192.0.2.4:27960]"},
		{[]string{"A2S 192.0.2.5:27015"}, far, "no server of OpenArena"},
		{nil, far, "no server in it"},
		{[]string{"games.example.org:27961", "192.0.2.4", "Play.example.org"}, far, "[games.example.org:27961 192.0.2.4:27960 play.example.org:27960]"},
		{[]string{"localhost"}, far, "own network"},
		{[]string{"localhost:22"}, here, "own network"},
		{[]string{"http://169.254.169.254/latest"}, far, "is no address"},
		{[]string{"file:///etc/passwd"}, far, "is no address"},
		{[]string{"/etc/passwd"}, far, "is no address"},
		{[]string{"-"}, far, "is no address"},
		{[]string{"$(reboot)"}, far, "is no address"},
		{[]string{"192.0.2.4:27960\nreboot"}, far, "an entry of the list names one"},
		{[]string{"169.254.169.254:80"}, far, "own network"},
		{[]string{"192.168.1.5:27960"}, far, "own network"},
		{[]string{"192.168.1.5:27960"}, lan, "[192.168.1.5:27960]"},
		{[]string{"127.0.0.1:27960"}, far, "own network"},
		{[]string{"127.0.0.1:27960"}, lan, "own network"},
		{[]string{"127.0.0.1:27960"}, here, "[127.0.0.1:27960]"},
		{[]string{"0.0.0.0:27960"}, here, "is no address"},
		{[]string{"224.0.0.1:27960"}, here, "is no address"},
		{[]string{"[fe80::1%eth0]:27960"}, here, "is no address"},
		{many[:30], far, "27989]"},
		{many, far, "32 of them"},
		{append(many, many...), far, "80 servers are more than the 50"},
	} {
		servers, err := Own(g, c.lines, c.from, 50)
		var texts []string
		for _, s := range servers {
			texts = append(texts, hostport.Text(s))
		}
		got := fmt.Sprint(texts)
		if err != nil {
			if got = err.Error(); hint.Of(err) == "" {
				t.Errorf("%q: nothing is said of what to do about %v", c.lines, err)
			}
		}
		if c.want == "32 of them" && len(servers) == 32 { // a fair share for the others
			continue
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%q from %v: %s, want %s", c.lines[:min(2, len(c.lines))], c.from, got, c.want)
		}
		if !slices.IsSortedFunc(servers, netip.AddrPort.Compare) && len(c.lines) > 30 {
			t.Errorf("%q: the order is lost: %v", c.lines, servers)
		}
	}
}

// FuzzOwn checks that a stranger's list yields only addresses to which players may be sent.
func FuzzOwn(f *testing.F) {
	games := builtIn(f)
	g, err := games.Find("openarena")
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{"192.0.2.4:27960", "Q3S [2001:db8::1]", "addr,asn\n192.0.2.4,3320", "127.0.0.1", "\ufeff#"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		servers, err := Own(g, strings.Split(text, "\n"), netip.MustParseAddr("203.0.113.7"), 50)
		if err != nil {
			return
		}
		for _, s := range servers {
			if discovery.ReachOf(s.Addr()) != discovery.InternetReach || s.Port() == 0 || s != discovery.Canonical(s) {
				t.Errorf("%q lists %v", text, s)
			}
		}
		if len(servers) == 0 || len(servers) > 50 {
			t.Errorf("%q lists %d servers", text, len(servers))
		}
	})
}
