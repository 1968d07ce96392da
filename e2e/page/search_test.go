package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"muster/discovery"
	"muster/host"
	"muster/host/hosttest"
	"muster/host/wire"
	"muster/host/wire/conn"
	"muster/selection"
	"muster/web"
)

// TestSearch checks that during measurement the page shows the leading server by name, with
// everybody's ping, on a map that shows where everything is. On a phone all of it is above the
// fold.
func TestSearch(t *testing.T) {
	t.Parallel()
	countries := []string{"CA", "US", "NL", "DE", "FR", "BR", "JP", "AU", "ZA", "SG"}
	homes := map[string]string{"198.41.0.1": "NL", "198.41.1.1": "US", "198.41.2.1": "MY", "198.41.3.1": "US"}
	list := make([]discovery.Server, 2000)
	for i := range list {
		list[i] = discovery.Server{
			Addr:    netip.AddrPortFrom(netip.AddrFrom4([4]byte{45, 5, byte(i >> 8), byte(i)}), 27960),
			Country: countries[i%len(countries)],
		}
	}
	rooms, err := host.New(host.Config{
		Page: web.Handler(), List: func(context.Context, string) ([]discovery.Server, error) { return list, nil },
		Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Locate:  func(addr netip.Addr) (string, uint32) { return homes[addr.String()], 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(rooms.Handler())
	t.Cleanup(func() { server.Close(); rooms.Close() })
	code, _, _ := rooms.Open(wire.Settings{Name: "The night of 2005", Game: "openarena", By: selection.Mean, Strategy: "as"})
	b := browse(t, server.URL+"/#"+code, desktop)
	names := []string{"anna", "ben", "chong", "dave <b>of the very long name"}
	var players []*conn.Conn
	for i, name := range names {
		players = append(players, farPlayer(t, server, code, name, fmt.Sprintf("198.41.%d.1", i)))
	}
	b.sees("#stage", "4 players here")
	rooms.Go(code)
	b.sees("#stage", "Everyone is measuring")
	for i, player := range players {
		report := wire.Report{Round: 1, Now: time.Second}
		infos := wire.Infos{Round: 1}
		for s := range 600 {
			report.Results = append(report.Results, discovery.Result{
				Server: s,
				State:  discovery.Answered,
				RTT:    time.Duration(20+40*((s+3*i)%9)+s%7) * time.Millisecond,
			})
			if s < 60 {
				infos.Servers = append(infos.Servers, wire.ServerInfo{
					Server: s,
					Info:   discovery.Info{Name: fmt.Sprintf("pro-g <i>InstaGib</i> #%d", s), Players: 2, MaxPlayers: 16},
				})
			}
		}
		player.Send(infos)
		player.Send(report)
	}
	b.until("three lead", func() bool { return eval[int](b, "document.querySelectorAll('.step').length") == 3 })
	b.sees("#stage", "best so far")
	b.sees("#stage", "600 of 2,000 servers have answered")
	b.until("the map is there", func() bool { return eval[int](b, "document.querySelectorAll('.world .ring').length") == 4 })
	drawn := func(canvas string) int {
		return eval[int](b, `(() => { const c = document.querySelector('.world canvas`+canvas+
			`'); return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((n, i) => i % 4 === 3 && n > 0).length; })()`)
	}
	b.until("the land is drawn", func() bool { return drawn("") > 10_000 })
	b.until("the lights are on", func() bool { return drawn(":nth-of-type(2)") > 500 }) // of 2,000; many cover each other
	if at := eval[string](b, "document.querySelector('#stage').textContent"); strings.Contains(at, "45.5.") ||
		strings.Contains(at, "198.41.") {
		t.Errorf("an address stands there: %s", at)
	}
	small := screenSize{"phone-390", 390, 700, 2, true}
	b.shoot("search", desktop, laptop, night4k, small)
	b.resize(small)
	b.until("the podium is above the fold", func() bool {
		return eval[float64](b, "document.querySelector('.podium').getBoundingClientRect().bottom") <= 700
	})
	b.resize(desktop)
	for _, player := range players {
		player.Send(wire.Done{Round: 1})
	}
	b.until("the world turns to the server", func() bool { return eval[int](b, "document.querySelectorAll('.turned .spoke').length") == 4 })
	b.sees("#stage", "Tonight we meet in")
	if os.Getenv("MUSTER_SHOTS") != "" {
		time.Sleep(2 * time.Second) // it has turned
		b.capture("reveal-desktop.png", chromedp.CaptureScreenshot())
	}
	b.until("the reveal is over", func() bool { return eval[string](b, "document.body.dataset.stage") != "reveal" })
	t.Logf("longest frame %.1f ms; the map takes %d bytes", eval[float64](b, "muster.view.longest"),
		eval[int](b, "performance.getEntriesByType('resource').filter((e) => "+
			"/map|d3-|topojson|countries/.test(e.name)).reduce((n, e) => n + e.transferSize, 0)"))
}

// farPlayer is a player's program at an address on the internet.
func farPlayer(t *testing.T, server *httptest.Server, code, name, from string) *conn.Conn {
	t.Helper()
	player := hosttest.Dial(t, server.URL, http.Header{"X-Forwarded-For": {from}}, func(player *conn.Conn, m wire.Message) {
		look, is := m.(wire.Finalists)
		if !is {
			return
		}
		seen := wire.Verified{Round: look.Round, Attempt: look.Attempt}
		for _, s := range look.Servers {
			seen.Servers = append(seen.Servers, wire.Finalist{
				Server: s,
				State:  discovery.Answered,
				RTTs:   []float64{40, 41, 40},
				Sent:   3,
				Info:   &discovery.Info{Name: fmt.Sprintf("pro-g <i>InstaGib</i> #%d", s), Players: 2, MaxPlayers: 16},
			})
		}
		player.Send(seen)
	}, nil)
	player.Send(wire.Hello{Version: wire.Version, Code: code, Name: name})
	return player
}
