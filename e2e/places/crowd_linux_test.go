package places

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"muster/discovery/hostport"
	"muster/discovery/protocol/beacon"
	"muster/e2e/netfab"
	"muster/host"
	"muster/host/wire"
	"muster/internal/await"
	"muster/selection"
	"muster/web"
)

// crowd is how many people measure, and crowdGoal from the first press until all pings are there.
const crowd, crowdGoal = 8, 10 * time.Second

// crowdPage joins the room as the room's page does, once all are there.
const crowdPage = `<!doctype html><meta charset=utf-8><script type=module>
import { start } from "/places/browserpeer.js";
const [code, key, name] = location.hash.slice(1).split(",");
await fetch("/together");
start({ code, key, name, url: "ws://" + location.host + "/peer" });
</script>`

// TestCrowd lets eight people measure 24 places in a room, each behind a router of their own.
func TestCrowd(t *testing.T) {
	able(t)
	const away = 99 // the number of the host's address
	fabric := netfab.New(1, func(from, to netip.Addr) time.Duration {
		at, player := from, to
		if network.Contains(to) {
			at, player = to, from
		}
		if numberOf(at) == away {
			return 15 * ms
		}
		return time.Duration(5+3*((numberOf(at)+5*int(player.As4()[3]))%24)) * ms
	})
	sites := make([]int, crowd)
	for i := range sites {
		sites[i] = fabric.AddSite(netfab.Site{
			Name: fmt.Sprint("home ", i), Up: home, Down: home, NAT: &netfab.NAT{Public: netip.AddrFrom4([4]byte{203, 0, 113, byte(10 + i)})},
		})
	}
	public := fabric.AddSite(netfab.Site{Name: "away"})
	n, servers := begin(t, fabric, public)
	var venues wire.Venues
	for i := range 24 {
		at := netip.AddrPortFrom(server(i), beacon.Port)
		serveBeacon(t, servers, at)
		venues = append(venues, wire.Venue{Name: fmt.Sprint("place ", i), Addr: hostport.At(at), Protocol: "beacon"})
	}
	var here sync.WaitGroup
	here.Add(crowd)
	mux := http.NewServeMux()
	mux.Handle("/", web.Handler())
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Del("Content-Security-Policy") // its script stands in it
		_, _ = io.WriteString(w, crowdPage)
	})
	var began time.Time
	var once sync.Once
	mux.HandleFunc("GET /together", func(http.ResponseWriter, *http.Request) {
		here.Done()
		here.Wait()
		once.Do(func() { began = time.Now() })
	})
	rooms, err := host.New(host.Config{Page: mux})
	if err != nil {
		t.Fatal(err)
	}
	at := netip.AddrPortFrom(server(away), 8080)
	listener := listen(t, servers, at)
	serving := &http.Server{Handler: rooms.Handler()}
	go func() { _ = serving.Serve(listener) }()
	t.Cleanup(func() { _ = serving.Close(); _ = rooms.Close() })
	code, _, err := rooms.Open(wire.Settings{Name: "Friday", By: selection.Mean, Strategy: "as", Seeks: wire.SeekPlace, Places: venues})
	if err != nil {
		t.Fatal(err)
	}
	for i, site := range sites {
		m := add(t, n, site, fmt.Sprint("p", i), fmt.Sprintf("192.168.%d.2/32", i))
		url := fmt.Sprintf("http://%v/#%s,%s,player%d", at, code, rooms.Keys(code).Link, i)
		profile := t.TempDir()
		program := m.Command("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
			"--disable-background-networking", "--disable-component-update", "--user-data-dir="+profile, url)
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = program.Process.Kill()
			_ = program.Wait()
			gone := func() bool { return os.RemoveAll(profile) == nil }
			await.Until(t, gone, "the browser's profile stays in use")
		})
	}
	var last wire.Snapshot
	for last = range rooms.Watch(t.Context(), code) {
		done := 0
		if last.Places != nil {
			for _, one := range last.Places.People {
				if one.Done {
					done++
				}
			}
		}
		if done == crowd {
			break
		}
	}
	took := time.Since(began)
	asked, answered := 0, 0
	for _, one := range last.Places.People {
		asked, answered = asked+one.Asked, answered+one.Answered
	}
	t.Logf("%d people have %d of %d pings after %.1f s", crowd, answered, asked, took.Seconds())
	if took > crowdGoal {
		t.Errorf("all pings are there after %v", took)
	}
	if answered < asked*95/100 || asked != crowd*24 {
		t.Errorf("%d of %d places answered", answered, asked)
	}
}
