package page_test

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestSeats checks the page while the room waits for seats. It shows how many of the needed seats
// are free, when somebody looks again, and which servers have seats now. It calls people who want
// that, and sums up the looks once the room gives up.
func TestSeats(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(4))
	small := screenSize{"small-phone-dark", 390, 700, 1, true}
	b := browse(t, n.organisersLink(), desktop)
	b.sees("#stage", "Waiting for 4 more players")
	const waiting = `const at = (s) => new Date(Date.now() + 1000 * s).toISOString();
		const on = (addr, name, mean_ms, more) => ({ ...servers[Object.keys(servers)[0]], addr, name, mean_ms, max_ms: 2 * mean_ms, rtt_ms: { anna: mean_ms - 9, ben: mean_ms }, asked: 12, most: 3, from: 0, to: 1, at: at(-4), next: at(7), ...more });
		const wait = { need: 4, began: at(-300), until: at(1500), servers: [on(addr, "pro-g <i>InstaGib</i> [CA] #1483", 97, { free: 3 }), on("192.0.2.8:27960", "The second best", 101, { free: 0, country: "DE" })], instead: [on("192.0.2.9:27960", "Far but empty", 140, { free: 14, country: "JP" })] };
		const state = { people, choice: { ...choice, target: undefined, selection: { ...selection, chosen: null, ranking: [] } } };`
	b.run(`{` + friends + waiting +
		`says({ ...state, room: room("waiting"), seats: wait, you: { ...live.state.you, name: "anna", organiser: true } })}`)
	b.sees("#stage h1", "3 of 4 seats free")
	b.sees("#stage", "next check in")
	b.sees("#stage", "asked 12 times")
	b.sees("#stage .instead", "14 seats free")
	b.sees("#stage .instead", "43 ms more")
	if title := eval[string](b, "document.title"); !strings.HasPrefix(title, "3 of 4 seats free") {
		t.Errorf("the tab says %q", title)
	}
	if free := eval[int](b, `document.querySelectorAll("#stage .chairs .free").length`); free != 3 {
		t.Errorf("%d of the seats are golden", free)
	}
	if said := b.reads("#stage .meanwhile"); strings.Contains(said, "AM") || strings.Contains(said, "PM") {
		t.Errorf("of 24 hours and twelve the log says the former, and the stage %q", said)
	}
	b.axe("seats")
	b.shoot("seats", desktop, laptop, small, phone)
	b.run(`window.asked = []; const plain = window.fetch; window.fetch = async (url, options) => { if (!options?.body) return plain(url, options); asked.push(url.split("/").at(-1) + options.body); return new Response(null, { status: 204 }); }`)
	b.click("#stage [data-key=unwait]")
	b.click("#stage [data-key=instead]")
	b.until("the room is asked for both", func() bool { return eval[string](b, "asked.join(' ')") == `unwait{} unwait{"instead":true}` })
	b.run(`window.chimes = 0; window.AudioContext = class extends AudioContext { createGain() { return super.createGain() } }; { const start = OscillatorNode.prototype.start; OscillatorNode.prototype.start = function (...at) { chimes++; return start.apply(this, at); }; }`)
	b.click("#stage [data-action=callme]")
	b.sees("#stage [data-action=callme]", "You’ll be called")
	b.run(`{` + friends + waiting + `says({ ...state, room: room("waiting"), seats: { ...wait, target: addr, launch_at: at(5) } })}`)
	b.sees("#stage", "Seats for all 4: off we go")
	b.until("it calls", func() bool { return eval[int](b, "chimes") == 4 })
	b.sees("#stage .off h1", "Canada")
	if os.Getenv("MUSTER_SHOTS") != "" {
		b.capture("seats-off.png", chromedp.CaptureScreenshot())
	}
	b.run(`{` + friends + waiting +
		`says({ ...state, room: room("failed"), seats: { ...wait, over: "There were never 4 seats at once in 30 minutes.", chance: "pro-g had at most 3 seats free, mostly 0 to 1." },
		choice: { ...state.choice, advice: [{ action: "await", argument: {}, servers: 2, addr, seats: 4 }] } })}`)
	b.sees("#stage h1", "No seats for everyone this time")
	b.sees("#stage", "at most 3 seats free")
	b.click("#stage [data-order=await]")
	b.until("the room is asked to wait once more", func() bool { return strings.HasSuffix(eval[string](b, "asked.join(' ')"), "await{}") })
	b.axe("seats given up")
	b.run(`{ const ask = window.fetch; window.fetch = async (url, options) => url.includes("culled") ? Response.json({ cause: "full", total: 1, servers: [{ addr: "192.0.2.8:27960", name: "The second best", players: 16, max_players: 16, rtt_ms: { anna: 92 } }] }) : ask(url, options); }`)
	b.run(`muster.live.state.choice.selection.culled = { full: 1 }, muster.view.changed()`)
	b.unfold("#culled")
	b.click("#culled [data-cause=full]")
	b.click("#dialog [data-action=wait-on]")
	b.until("the room waits for seats on that one", func() bool {
		return strings.HasSuffix(eval[string](b, "asked.join(' ')"), `await{"addr":"192.0.2.8:27960"}`)
	})
	b.shoot("seats-over", desktop, small)
	b.run(`{` + friends + waiting +
		`says({ people, choice, room: room("failed"), seats: { ...wait, over: "There were never 4 seats at once." } })}`)
	b.until("nothing says why nothing suits, where a server did", func() bool {
		return eval[bool](b, `!document.querySelector("#stage [data-key=reasons]")`)
	})
	b.run(`{` + friends + waiting +
		`says({ ...state, room: room("waiting"), seats: { ...wait, servers: [on(addr, "pro-g", 97, { free: -1 })], for: ["נועה", "ben"] } })}`)
	b.sees("#stage h1", "Waiting for 4 seats for נועה and ben")
	b.until("a name turns no words around it", func() bool { return eval[int](b, `document.querySelectorAll("#stage h1 bdi").length`) == 2 })
	b.run(`{` + friends + waiting + `says({ people, choice, seats: null, room: room("launching"), way: { connect: addr, server: "pro-g" } })}`)
	b.unfold("#stage .left-outside")
	for _, name := range []string{"anna", "chong", "dave", "anna"} { // a person who is pressed twice is in again
		b.click("#stage .left-outside [data-name=" + name + "]")
	}
	b.sees("#stage .left-outside [data-name=dave][aria-pressed=true]", "dave")
	b.click("#stage [data-action=await-outside]")
	b.until("those two are waited for", func() bool {
		return strings.HasSuffix(eval[string](b, "asked.join(' ')"), `await{"names":["chong","dave"]}`)
	})
	wall := browse(t, strings.Replace(n.organisersLink(), "#", "?tv#", 1), desktop)
	wall.sees("#stage", "4 more players")
	wall.run(`{` + friends + waiting + `says({ ...state, room: room("waiting"), seats: wait })}`)
	wall.sees("#stage h1", "3 of 4 seats free")
	wall.isFromTheSofa("waiting for seats", desktop, night4k)
	if os.Getenv("MUSTER_SHOTS") != "" {
		wall.capture("seats-wall.png", chromedp.CaptureScreenshot())
	}
}
