package page_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"muster/host"
	"muster/host/wire"
	"muster/web"
)

// firstMap is a script that draws the search's map in a box of its own, with 30,000 servers and
// eight players.
const firstMap = `globalThis.lit = 0;
const put = CanvasRenderingContext2D.prototype.putImageData;
CanvasRenderingContext2D.prototype.putImageData = function (...image) { lit++; put.apply(this, image); }; // the lights come last
globalThis.firstMap = async (width) => {
	lit = 0;
	const { WorldMap } = await import(new URL("map/map.js", document.querySelector("script[src$='app.js']").src));
	const codes = ["US", "DE", "FR", "GB", "NL", "RU", "BR", "JP", "AU", "ZA", "CA", "PL", "SE", "SG", "IN", "CL"];
	const place = document.createElement("div");
	place.className = "world";
	place.style.cssText = "position: fixed; inset: 0 auto auto 0; height: 480px; width: " + width + "px";
	document.querySelector(".world")?.remove();
	document.body.append(place);
	const people = codes.slice(0, 8).map((country, i) => ({ name: "player" + i, country, arrival: i, peer: true, connected: true, probed: 90 * i }));
	const leaders = ["DE", "FR", "GB"].map((country, id) => ({ id, country, name: "server " + id, rtt_ms: Object.fromEntries(people.map(({ name }, i) => [name, 20 * i + id])) }));
	const map = new WorldMap(place);
	map.show({ room: { strategy: "as", listed: 30_000 }, people, standing: { leaders, places: codes.map((country, i) => ({ country, listed: 1875, answered: 100 * i, open: 10 * i })) } });
}; `

// inked is a script that counts the opaque pixels of one of the map's canvases.
const inked = `((nth) => { const c = document.querySelectorAll(".world canvas")[nth];
	return new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer).reduce((n, pixel) => n + (pixel >>> 24 > 0 ? 1 : 0), 0); })`

// TestFirstMap checks that the search's map is drawn in pieces. Its clock runs so fast that each
// step takes a frame, and then no frame draws more than a quarter of the outlines. Run it with -v
// for the longest tasks of a first map.
func TestFirstMap(t *testing.T) {
	atNight(t)
	t.Parallel()
	rooms, err := host.New(host.Config{Page: web.Handler()})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(rooms.Handler())
	t.Cleanup(func() { server.Close(); rooms.Close() })
	code, _, _ := rooms.Open(wire.Settings{Name: "map", Game: "openarena"})
	trace := traceTasks(t)
	b := browse(t, server.URL+"/#"+code, desktop, trace.options()...)
	b.slows(*crowdSlower)
	b.sees("#stage", "Waiting for the first player")
	b.until("the later stages are loaded", func() bool {
		return eval[bool](b, "performance.getEntriesByName(document.querySelector(\"script[src$='app.js']\").src.replace('app.js', 'later.js')).length > 0")
	})
	b.run(firstMap)
	complete := func(when string) {
		b.Helper()
		b.until("the map is there", func() bool { return eval[bool](b, "lit > 0 && document.querySelectorAll('.world .ring').length === 8") })
		trace.endsPart(b, when)
		if land, lights := eval[int](b, inked+"(0)"), eval[int](b, inked+"(1)"); land < 50_000 || lights < 1000 {
			t.Errorf("%s: %d pixels are land, %d are lights", when, land, lights)
		}
	}
	trace.endsPart(b, "the lobby")
	b.run("firstMap(1000)")
	complete("the first map")
	b.run(`globalThis.outlines = { points: 0, frames: [] };
		for (const { prototype } of [CanvasRenderingContext2D, Path2D]) {
			const plain = prototype.lineTo;
			prototype.lineTo = function (x, y) { outlines.points++; plain.call(this, x, y); };
		}
		let clock = performance.now();
		performance.now = () => (clock += 100);
		const frame = () => { if (outlines.points > 0) outlines.frames.push(outlines.points); outlines.points = 0; requestAnimationFrame(frame); };
		requestAnimationFrame(frame)`)
	b.run("firstMap(900)")
	complete("the second map")
	var frames []int
	if err := json.Unmarshal([]byte(eval[string](b, "JSON.stringify(outlines.frames)")), &frames); err != nil {
		t.Fatal(err)
	}
	most, all := 0, 0
	for _, points := range frames {
		most, all = max(most, points), all+points
	}
	t.Logf("the outlines have %d points, in frames of %d", all, frames)
	if all < 5000 || most > all/4 {
		t.Errorf("a frame draws %d of %d points", most, all)
	}
}
