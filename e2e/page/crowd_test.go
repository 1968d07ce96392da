package page_test

import (
	"context"
	"flag"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/host"
	"muster/host/hosttest"
	"muster/host/wire"
	"muster/selection"
	"muster/web"
)

const (
	crowdServers = 30_000
	crowdPlayers = 8
	// crowdLate is how many servers answer late, one a second.
	crowdLate = 100
	// maxLoaded is what the page may load before it shows something. The rest loads a moment later,
	// so that phones with a slow connection see the room soon.
	maxLoaded = 200_000
)

var crowdSlower = flag.Float64("crowd-slower", 1, "TestCrowd: how many times slower the page's main thread is; a phone's is 4 to 6")

// TestCrowd measures the page in a big session, with 30,000 servers and 8 players. It measures the
// bytes that the page loads, the time to the first state, and the longest frame of each part. Run
// it with -v for the figures.
func TestCrowd(t *testing.T) {
	atNight(t)
	t.Parallel()
	rooms, err := host.New(host.Config{
		Page: web.Handler(),
		List: func(context.Context, string) ([]discovery.Server, error) { return crowdList(), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(rooms.Handler())
	t.Cleanup(func() { server.Close(); rooms.Close() })
	code, _, _ := rooms.Open(wire.Settings{
		Name:     "LAN party",
		Game:     "openarena",
		By:       selection.Mean,
		Strategy: "as",
		Limits:   []time.Duration{400 * time.Millisecond},
	})
	trace := traceTasks(t)
	b := browse(t, server.URL+"/#"+code, desktop, trace.options()...)
	b.slows(*crowdSlower)
	b.sees("#stage", "Waiting for the first player")
	b.run(countFrames)
	first := eval[int](b, loadedFirst)
	if first > maxLoaded {
		t.Errorf("the page loads %d bytes to the first state", first)
	}
	var crowd []*hosttest.Player
	for i := range crowdPlayers {
		crowd = append(crowd, hosttest.Join(t, server.URL, nil, wire.Hello{Code: code, Name: fmt.Sprintf("player%d", i)}))
	}
	b.sees("#stage", "8 players here")
	b.tellsFrames("the lobby fills", trace)
	rooms.Go(code)
	b.sees("#stage", "Everyone is measuring")
	for _, p := range crowd {
		hosttest.Expect[wire.Measure](p)
	}
	for first := 0; first < crowdServers-crowdLate; first += 1000 {
		for i, p := range crowd {
			p.Conn.Send(crowdResults(i, first, min(1000, crowdServers-crowdLate-first)))
		}
		time.Sleep(100 * time.Millisecond) // 10,000 a second
	}
	go func() { // the search goes on while the page draws, however slow it is
		for first := crowdServers - crowdLate; first < crowdServers; first++ {
			select {
			case <-t.Context().Done():
				return
			case <-time.After(time.Second):
			}
			for i, p := range crowd {
				p.Conn.Send(crowdResults(i, first, 1))
			}
		}
	}()
	b.until("all points are there", func() bool {
		return eval[int](b, "[...muster.live.clouds.byPlayer.values()].reduce((n, cloud) => n + cloud.length, 0)") >= (crowdServers-crowdLate)*crowdPlayers
	})
	b.until("the map is there", func() bool { return eval[bool](b, "document.querySelectorAll('.world .ring').length == 8") })
	b.tellsFrames("the search, with its map", trace)
	t.Logf("loaded %d bytes to the first state, %d in %d files with the map, which takes %d; first state after "+
		"%.0f ms; streamed %d bytes for at least %d points",
		first, eval[int](b, loaded), eval[int](b, "performance.getEntriesByType('resource').length + 1"), eval[int](b, loadedForMap),
		eval[float64](b, "muster.view.firstState"), eval[int](b, "muster.live.bytes"), (crowdServers-crowdLate)*crowdPlayers)
	b.folds(true)
	b.until("all is plotted", func() bool { return eval[bool](b, "!!document.querySelector('#picture-plot canvas')") })
	b.tellsFrames("all details unfold and are plotted", trace)
	b.folds(false)
	b.shoot("crowd", desktop, laptop)
	b.tellsFrames("the screen changes its size and colours, with all details", trace)
	if foreign := eval[int](b, "performance.getEntriesByType('resource').filter((e) => "+
		"!e.name.startsWith(location.origin)).length"); foreign > 0 {
		t.Errorf("the page asks %d times elsewhere", foreign)
	}
}

const (
	// countFrames makes the page record its frames: the time spent in scripts, and every frame over
	// 50 ms, including styles, layout and paint.
	countFrames = `window.noted = { script: 0, at: 0, took: 0, long: [] };
		const plain = window.requestAnimationFrame;
		window.requestAnimationFrame = (draw) => plain.call(window, (now) => {
			const began = performance.now();
			draw(now);
			noted.took = performance.now() - began + (noted.at === now ? noted.took : 0);
			noted.at = now;
			noted.script = Math.max(noted.script, noted.took);
		});
		new PerformanceObserver((list) => noted.long.push(...list.getEntries().map((frame) => Math.round(frame.duration)))).observe({ type: "long-animation-frame" })`
	loaded = "performance.getEntries().reduce((n, e) => n + (e.transferSize ?? 0), 0)"
	// loadedFirst leaves out what the page asks for after its first drawing.
	loadedFirst  = "performance.getEntries().reduce((n, e) => n + (e.startTime <= muster.view.firstState ? e.transferSize ?? 0 : 0), 0)"
	loadedForMap = "performance.getEntriesByType('resource').filter((e) => " +
		"/map\\/|d3-|topojson|countries/.test(e.name)).reduce((n, e) => n + e.transferSize, 0)"
)

// tellsFrames logs the frames that were recorded since the last call.
func (b *browser) tellsFrames(when string, trace *taskTrace) {
	b.Helper()
	b.Logf("%s: the longest frame has %.1f ms of scripts; frames of more than 50 ms in all: %s", when,
		eval[float64](b, "noted.script"), eval[string](b, "noted.long.sort((a, b) => b - a).join(', ') || 'none'"))
	b.run("noted.script = noted.long.length = 0")
	trace.endsPart(b, when)
}

func crowdList() []discovery.Server {
	list := make([]discovery.Server, crowdServers)
	for i := range list {
		list[i].Country = [...]string{"US", "DE", "FR", "GB", "NL", "RU", "BR", "JP", "AU", "ZA", "CA", "PL", "SE", "SG", "IN", "CL"}[i%16]
		list[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 27960)
	}
	return list
}

// crowdResults returns a player's results for n servers.
func crowdResults(player, first, n int) wire.Report {
	report := wire.Report{Round: 1, First: first, Now: 100 * time.Millisecond}
	for i := range n {
		report.Results = append(report.Results, discovery.Result{
			Server: first + i, State: discovery.Answered, At: time.Duration(i) * 100 * time.Microsecond,
			RTT: time.Duration(10+30*player+((first+i)*7919)%(60+first/200)) * time.Millisecond,
		})
	}
	return report
}
