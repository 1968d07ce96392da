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

// leading is a script for a running search with a number of players. It takes the leading server,
// by id, and its average.
const leading = `
	const crowd = (n) => ["anna", "ben", "<b>chong</b> of the very long name", "דניאל", ...Array.from({ length: 12 }, (_, i) => "player" + i)].slice(0, n)
		.map((name, arrival) => ({ name, arrival, peer: true, connected: true, probed: 130, answered: 100, country: ["NL", "US", "MY", "IL", "DE", "FR", "BR", "JP"][arrival % 8] }));
	const search = (n, ids, mean) => ({
		people: crowd(n), room: room("refining", { strategy: "coordinated", by: "mean", search: { rounds: 6, found: true, mean_ms: mean, max_ms: 90, stdev_ms: 5, gain_ms: 6 } }), choice: null,
		you: { ...live.state.you, name: "anna" },
		standing: { round: 1, answered: 1284, places: [["US", 900, 700, 9], ["CA", 300, 200, 30], ["NL", 500, 300, 4]].map(([country, listed, answered, open]) => ({ country, listed, answered, open })), leaders: ids.map((id, i) => ({
			id, name: ["pro-g InstaGib [CA] #1483", "<img src=x> RedEye TDM of the server with the longest name that anybody ever gave to one [US] #1476", "TFC CPMA [NL] #420", ""][id % 4], country: ["CA", "US", "NL", "CA"][id % 4], players: 2, max_players: 24,
			complete: i < 2, mean_ms: mean + i, max_ms: 90, stdev_ms: 5, figure_ms: mean + i,
			rtt_ms: Object.fromEntries(crowd(n).slice(0, i < 2 ? n : n - 2).map(({ name }, at) => [name, 9 + ((at * 37 + id * 20) % 240)])), predicted_ms: i < 2 ? {} : { [crowd(n).at(-1).name]: 48 } })) },
	});
`

// searches sends it to the page.
func (b *browser) searches(state string) {
	b.Helper()
	b.run("{" + friends + leading + "says(" + state + ")}")
}

// TestPodium checks that figures count up to their values, and that places change by sliding, at
// most once a second. A ping that nobody measured is marked as an estimate of the search. What may
// still turn up is said once, and a server whose name has not come is called by its country. With
// less motion everything appears at once.
func TestPodium(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(16))
	b := browse(t, n.organisersLink(), desktop)
	b.sees("#stage", "Waiting for 16 more players")
	small := screenSize{"phone-390", 390, 700, 2, true}
	order := func() string {
		return eval[string](b, `[...document.querySelectorAll(".step")].map((e) => e.dataset.key.slice(5)).join(" ")`)
	}
	b.searches(`search(4, [0, 1, 2], 97)`)
	b.until("three lead", func() bool { return order() == "0 1 2" })
	b.run(`window.seen = []; new MutationObserver(() => { const now = document.querySelector(".best .big").textContent; if (seen.at(-1)?.[0] !== now) seen.push([now, performance.now()]) })
		.observe(document.querySelector("#stage"), { subtree: true, childList: true, characterData: true });
		window.orders = []; new MutationObserver(() => { const now = [...document.querySelectorAll(".step")].map((e) => e.dataset.key).join(" "); if (orders.at(-1)?.[0] !== now) orders.push([now, performance.now(), document.timeline.currentTime]) })
		.observe(document.querySelector("#stage"), { subtree: true, childList: true })`)
	for i := range 12 { // the host sends something new 10 times a second
		b.searches(fmt.Sprintf(`search(4, %s, %d)`, [...]string{"[1, 0, 2]", "[2, 1, 0]", "[0, 3, 1]"}[i%3], 80-i))
		time.Sleep(100 * time.Millisecond)
	}
	b.searches(`search(4, [3, 0, 2], 57)`)
	b.until("the last word stands there", func() bool { return order() == "3 0 2" && b.reads(".best .big") == "57" })
	// From the start of one frame with changed places to the end of the next one.
	if gap := eval[float64](b, `Math.min(...orders.slice(2).map(([, at], i) => at - orders[i + 1][2]))`); gap < 999 {
		t.Errorf("places change after %.0f ms: %s", gap, eval[string](b, "JSON.stringify(orders)"))
	}
	if seen := eval[int](b, "seen.length"); seen < 4 {
		t.Errorf("the figure jumps: %s", eval[string](b, "JSON.stringify(seen)"))
	}
	if figures := b.reads(".step.rank3 .guess"); !strings.Contains(figures, "≈ 48 ms") {
		t.Errorf("nothing is marked as what the search expects: %q", figures)
	}
	if figures := b.reads(".step.rank3 .figure"); !strings.Contains(figures, "…") {
		t.Errorf("of whom nothing is known: %q", figures)
	}
	if name := b.reads(".step.rank1 .title"); name != "a server (Canada)" { // its name has not come yet
		t.Errorf("the first is called %q", name)
	}
	if bounds := eval[int](b, `document.querySelectorAll(".telling :is(.bound, #outlook)").length`); bounds != 1 {
		t.Errorf("the page says %d times what may still turn up", bounds)
	}
	b.until("the map is there", func() bool { return eval[int](b, "document.querySelectorAll('.world .ring').length") == 4 })
	for _, players := range []int{2, 4, 8, 16} {
		b.searches(fmt.Sprintf(`search(%d, [3, 0, 2], 57)`, players))
		b.until("all are there", func() bool {
			return eval[int](b, "document.querySelectorAll('.step.rank1 .pings li').length") == players
		})
		if os.Getenv("MUSTER_SHOTS") != "" || players == 16 {
			b.shoot(fmt.Sprintf("podium-%d", players), desktop, laptop, small, night4k)
		}
		b.resize(small)
		if bottom := eval[float64](b, "Math.max(...[...document.querySelectorAll('.podium, .telling "+
			".buttons')].map((e) => e.getBoundingClientRect().bottom))"); bottom > 700 {
			t.Errorf("with %d players podium and button end at %.0f of 700", players, bottom)
		}
		b.resize(desktop)
	}
	b.prefers("prefers-reduced-motion", "reduce")
	time.Sleep(1100 * time.Millisecond) // places may change again
	b.run(`seen.length = 0`)
	b.searches(`search(4, [0, 1, 2], 30)`)
	b.until("the figure is another", func() bool { return b.reads(".best .big") == "30" })
	if seen := eval[string](b, "[...new Set(seen.map(([figure]) => figure))].filter((figure) => figure !== "+
		"'57').join(' ')"); seen != "30" || eval[int](b, "document.getAnimations().length") > 0 {
		t.Errorf("with less motion the figure is %s, and %d things move", seen, eval[int](b, "document.getAnimations().length"))
	}
}
