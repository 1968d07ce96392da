package page_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// friends is a script with a room of the session of 2005. The tests add measurements, the choice,
// and what became of the way there.
const friends = `
	const people = ["anna", "ben", "chong", "dave"].map((name, arrival) => ({ name, arrival, organiser: arrival === 0, peer: true, connected: true, page: true, probed: 300, answered: 280, done: true, able: true }));
	const addr = "192.0.2.7:27960";
	const ranked = { addr, score: 97, mean_ms: 97, max_ms: 247, stdev_ms: 104, rtt_ms: { anna: 88, ben: 9, chong: 247, dave: 44 } };
	const servers = { [addr]: { name: "pro-g InstaGib [CA] #1483", country: "CA", map: "q3dm7", players: 3, max_players: 16 } };
	const selection = { by: "mean", players: people.map(({ name }) => name), chosen: ranked, ranking: [ranked], culled: {} };
	const choice = { selection, explain: [{ key: "plain", with: { text: "It has the lowest average." } }], servers, target: addr };
	const says = (news) => {
		live.socket && (live.socket.onmessage = live.socket.onclose = null);
		live.watch = live.connect = () => {};
		clearTimeout(live.watchdog);
		live.receive(JSON.stringify({ type: "state", now: Date.now(), ...news }));
	};
	const live = muster.live;
	const room = (stage, more) => ({ ...live.state.room, stage, round: 1, listed: 2000, ...more });
`

// tells sends news of the room to the page, as a host would.
func (b *browser) tells(news string) { b.Helper(); b.run("{" + friends + "says(" + news + ")}") }

// TestFarOff checks the stage if nothing suits. The nearest miss is shown on a line before the
// limit. The organiser can allow more, go without somebody or ask more servers, with one button
// each.
func TestFarOff(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(4))
	b := browse(t, n.organisersLink(), desktop)
	b.sees("#stage", "Waiting for 4 more players")
	b.tells(`{ people, room: room("failed", { limits_ms: [150] }), choice: { ...choice, target: undefined, explain: [{ key: "why.nothing" }],
		selection: { ...selection, chosen: null, ranking: [], culled: { over_threshold: 1400 } },
		miss: { addr, limit_ms: 150, rtt_ms: { anna: 12, ben: 78, chong: 198, dave: 108 } },
		advice: [{ action: "allow", argument: { limit_ms: 198 }, servers: 4, addr }, { action: "without", argument: { name: "chong" }, servers: 611, addr },
			{ action: "without", argument: { name: "dave" }, servers: 2, addr }, { action: "more", argument: { servers: 200 } }] } }`)
	b.sees("#stage h1", "No server within 150 ms for all 4")
	b.sees("#stage .excess", "48 ms over")
	b.shoot("nothing-suits", desktop, laptop, phone, night4k)
	b.run(`window.asked = []; window.fetch = async (url, { body }) => { asked.push(url.split("/").at(-1) + body); return new Response(null, { status: 204 }); }`)
	b.click("#stage [data-order=allow]")
	b.click("#stage [data-order=without]")
	b.click("#stage [data-order=more]")
	b.until("the room is asked for both", func() bool {
		return eval[string](b, "asked.join(' ')") == `allow{"limit_ms":198} without{"name":"chong"} more{"servers":200}`
	})
}

// TestGo checks that the player's own way comes first, with help for players who did not get there,
// above the fold of a small phone. A person who comes late joins with one button.
func TestGo(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(4))
	small := screenSize{"small-phone-dark", 390, 700, 1, true}
	b := browse(t, n.organisersLink(), small)
	b.sees("#stage", "Waiting for 4 more players")
	launching := `people, choice, room: room("launching", { voice: "https://discord.gg/abc" }), way: { connect: addr, server: servers[addr].name, link: "steam://connect/" + addr }`
	far := `people[0].launch = "launched", people[1].launch = "by-hand", people[2].launch = "asking", people[3].launch = "failed", people[3].detail = { key: "plain", with: { text: "openarena: not found in PATH" } }, `
	b.tells(`(` + far + `{` + launching + `, you: { name: "dave", link: live.state.you.link, join: "" } })`)
	b.sees("#stage h1", "Your game didn’t open")
	b.sees("#stage", "not found in PATH")
	b.sees("#stage .path summary", "Tell Muster where")
	b.shoot("go-failed", small, phone, desktop)
	b.resize(small)
	b.tells(`(` + far + `{` + launching + `, you: { name: "chong", link: live.state.you.link, join: "" } })`)
	b.sees("#stage h1", "Say yes to your game")
	b.sees("#stage .voice a", "Voice: Discord")
	b.sees("#stage .help summary", "Help")
	if bottom := eval[float64](b, `document.querySelector("#stage .way [data-action=copy]").getBoundingClientRect().bottom`); bottom > 690 {
		t.Errorf("the buttons end at %.0f of 700", bottom)
	}
	b.shoot("go", small, desktop, laptop, night4k)
	b.tells(`{` + launching + `, you: { name: "zoe", link: live.state.you.link, join: "" }, people: [...people.map((p) => ({ ...p, launch: "launched" })), { name: "zoe", arrival: 4, guest: true, page: true },
		{ name: "yan", arrival: 5, guest: true, page: true, vote: addr }, { name: "ulf", arrival: 6, guest: true, page: true, estimate: { counted: true, error_ms: 6 } }] }`)
	b.sees("#stage h1", "Join them")
	for guest, does := range map[string]string{"zoe": "watching", "yan": "voted, without Muster", "ulf": "plays without Muster"} {
		b.sees("#stage [data-key="+guest+"]", does)
	}
	if link := eval[string](b, `document.querySelector("#stage .way a.primary").href`); !strings.HasPrefix(link, "steam://connect/") {
		t.Errorf("who is late is taken to %s", link)
	}
	b.shoot("go-late", small, desktop)
}

// TestGoTyped checks that the page says what to type in a game that takes no address from outside, and copies it.
func TestGoTyped(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(4))
	small := screenSize{"small-phone-dark", 390, 700, 1, true}
	b := browse(t, n.organisersLink(), small)
	b.sees("#stage", "Waiting for 4 more players")
	b.tells(`(people.forEach((p) => p.launch = "by-hand"), { people, choice, room: room("launching"), you: { name: "chong", link: live.state.you.link, join: "" },
		way: { connect: addr, server: "pro-g", typed: { where: "console", texts: ["connect " + addr] } } })`)
	b.sees("#stage .way", "In the game’s console, type: connect 192.0.2.7")
	if text := eval[string](b, `[...document.querySelectorAll("#stage .way [data-action=copy]")].map((one) => one.dataset.copyText).join(", ")`); !strings.Contains(text, "connect 192.0.2.7") {
		t.Errorf("the buttons copy %q", text)
	}
	b.shoot("go-typed", small, desktop)
}

// TestGoRegion checks that a game with regions says what to set, shows no address, and opens nothing.
func TestGoRegion(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(4))
	small := screenSize{"small-phone-dark", 390, 700, 1, true}
	b := browse(t, n.organisersLink(), small)
	b.sees("#stage", "Waiting for 4 more players")
	b.tells(`(people.forEach((p) => p.launch = "by-hand"), { people, choice, room: room("launching"), you: { name: "chong", link: live.state.you.link, join: "" },
		way: { connect: addr, server: "West Europe", region: { name: "West Europe", set: "playfab/westeurope", how: { key: "region.siege", with: { set: "playfab/westeurope" } } } } })`)
	b.sees("#stage", "Once everyone has set this region, you play together.")
	b.sees("#stage .way", "Set this in your game playfab/westeurope")
	b.sees("#stage .way", "write DataCenterHint=playfab/westeurope into GameSettings.ini")
	if text := eval[string](b, `document.querySelector("#stage .way [data-action=copy]").dataset.copyText`); text != "playfab/westeurope" {
		t.Errorf("the button copies %q", text)
	}
	if words := b.reads("#stage"); strings.Contains(words, "192.0.2.7") || eval[bool](b, `document.querySelector("#stage [data-action=reopen]") !== null`) {
		t.Errorf("it says %s", words)
	}
	if bottom := eval[float64](b, `document.querySelector("#stage .way [data-action=copy]").getBoundingClientRect().bottom`); bottom > 690 {
		t.Errorf("the button ends at %.0f of 700", bottom)
	}
	b.shoot("go-region", small, desktop)
}

// TestReveal checks that the choice is revealed once, in its order, and never by an address. A
// person who prefers no motion sees the last frame at once. A reveal that happened in a hidden tab,
// or before the person came, is not played.
func TestReveal(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(4))
	b := browse(t, n.organisersLink(), laptop)
	b.sees("#stage", "Waiting for 4 more players")
	const you = `you: { ...live.state.you, name: "anna" }`
	const measuring = `{ people, ` + you + `, room: room("measuring") }`
	const voting = `{ people, ` + you + `, choice, agreement: { open: true, vetoes: [], ballot: [addr] }, room: room("chosen") }`
	const chosen = `{ people, ` + you + `, choice, agreement: { open: true, vetoes: [], ballot: [addr], launch_at: new Date(Date.now() + 60e3).toISOString() }, room: room("chosen") }`
	const going = `{ agreement: { open: true, vetoes: [], ballot: [addr], launch_at: new Date(Date.now() + 4e3).toISOString() } }`
	const launched = `{ agreement: { open: false, vetoes: [], ballot: [] }, room: room("launching"), way: { connect: addr, server: "pro-g" } }`
	seen := func(what string) float64 { // -1 while it is not there
		return eval[float64](b, `(() => { const there = document.querySelector("#stage `+what+
			`"); return there ? Number(getComputedStyle(there).opacity) : -1; })()`)
	}
	b.tells(measuring)
	b.until("the search stands there", func() bool { return eval[string](b, "muster.view.stage") == "search" })
	b.tells(voting)
	b.until("people vote, and nothing is revealed", func() bool { return eval[string](b, "muster.view.stage") == "vote" })
	b.tells(chosen)
	b.until("the reveal begins", func() bool { return eval[string](b, "muster.view.stage") == "reveal" })
	if place := seen(".place"); place > 0.5 {
		t.Errorf("the country is seen at once, by %.2f", place)
	}
	b.until("the country is seen", func() bool { return seen(".place") == 1 })
	b.sees("#stage h1", "Canada")
	if words := b.reads("#stage"); strings.Contains(words, "192.0.2.7") {
		t.Errorf("it says an address: %s", words)
	}
	b.tells(going)
	b.until("the countdown waits for nobody", func() bool { return eval[string](b, "muster.view.stage") == "countdown" })
	b.tells(launched)
	b.until("without a countdown it ends by itself", func() bool { return eval[string](b, "muster.view.stage") == "go" })
	b.tells(`{ whole: true, ...` + chosen + `, way: null }`) // as after a lost connection
	b.until("who comes back does not see it again", func() bool { return eval[string](b, "muster.view.stage") == "countdown" })
	b.prefers("prefers-reduced-motion", "reduce")
	b.run(`window.later = window.setTimeout; window.setTimeout = () => 0; muster.view.revealed = 0`) // it stays
	b.tells(chosen)
	b.until("the last frame stands", func() bool {
		return seen(".named") == 1 && seen(".everybody") == 1 && eval[int](b, "document.getAnimations().length") == 0
	})
	b.shoot("reveal", laptop, desktop, screenSize{"small-phone-dark", 390, 700, 1, true}, night4k)
	b.tells(strings.Replace(chosen, " choice,",
		` choice: { ...choice, selection: { ...selection, by: "least-sacrifice", ranking: [{ ...ranked, extra_ms: { anna: 23.4, ben: 2, chong: 0, dave: 11 } }] } },`, 1))
	b.sees("#stage .figure-of", "88 ms for you · nobody gives up more than 23 ms of their own best")
	b.shoot("reveal-sacrifice", laptop, phone)
	b.resize(laptop)
	b.tells(launched)
	b.click("#stage [data-action=revealed]")
	b.until("a button goes on", func() bool { return eval[string](b, "muster.view.stage") == "go" })
	soon := strings.Replace(chosen, "60e3", "11e3", 1)
	b.run(`muster.view.revealed = 0; window.setTimeout = window.later; window.sent = []; window.fetches = window.fetch; window.fetch = async (url, { body }) => { sent.push(url.split("/").at(-1) + body); return new Response(null, { status: 204 }); }`)
	b.tells(soon)
	b.sees("#stage .soon", "The countdown starts in")
	b.click("#stage .soon .stop")
	b.until("the room is asked to wait", func() bool { return strings.Contains(eval[string](b, "sent.join()"), `"ready":false`) })
	b.until("the countdown begins by itself", func() bool { return eval[string](b, "muster.view.stage") == "countdown" })
	b.run(`window.setTimeout = () => 0; window.fetch = window.fetches; muster.view.searched = 2`)
	b.tells(`{ ` + you + `, people: people.map((one, i) => ({ ...one, country: ["NL", "US", "MY"][i] })), choice, agreement: { open: true, vetoes: [], ballot: [addr], launch_at: new Date(Date.now() + 60e3).toISOString() }, way: null, room: { ...room("chosen"), round: 2 } }`)
	b.until("who is somewhere says so, on a dotted spoke", func() bool {
		return eval[string](b, `[...document.querySelectorAll(".turning .some")].map((e) => e.parentNode.textContent)`+".join(' ')") == "dave44 mssomewhere" &&
			eval[int](b, `document.querySelectorAll(".turning .spoke.lost").length`) == 1
	})
	if ways := eval[int](b, `document.querySelectorAll(".turning .spoke").length`); ways != 4 {
		t.Errorf("%d of 4 have a way on the map", ways)
	}
	b.tells(`{ agreement: { open: true, vetoes: [], ballot: [addr] } }`)
	maps := func() string {
		return eval[string](b, `[...document.querySelectorAll("#stage .around")].filter((e) => e.querySelectorAll(".spoke").length === 4 && e.querySelectorAll(".lost").length === 1).map((e) => e.checkVisibility()).join(" ")`)
	}
	b.until("the card has its map", func() bool { return eval[string](b, "muster.view.stage") == "vote" && maps() == "true" })
	b.run(`muster.view.revealed = 2`)
	b.tells(`{ room: { ...room("launching"), round: 2 }, agreement: { open: false, vetoes: [], ballot: [] }, way: { connect: addr, server: "pro-g" } }`)
	b.until("everybody is on the way, on the map", func() bool {
		return eval[string](b, "muster.view.stage") == "go" && eval[int](b, `document.querySelectorAll(".travelling .trail.is-half").length`) == 4
	})
	b.run(`import(new URL("share.js", document.baseURI)).then(async ({ picture }) => { window.shared = await picture(muster.live.state); })`)
	b.until("there is a picture to share", func() bool { return eval[bool](b, "Boolean(window.shared)") })
	shared := eval[string](b, "window.shared")
	if text, err := drawn(regexp.MustCompile(`<style>.*?</style>`).ReplaceAllString(shared, "")); err != nil ||
		!strings.Contains(text, "somewhere") || strings.Contains(text, "192.0.2.7") {
		t.Errorf("the picture to share says %q: %v", text, err)
	}
	if ways, land := strings.Count(shared, `stroke-linecap="round"`),
		regexp.MustCompile(`<path d="([^"]*)" fill="#243049"/>`).FindString(shared); ways != 3 || len(land) < 1000 ||
		strings.Contains(land, "NaN") {
		t.Errorf("the picture to share has %d ways and %.50q for land", ways, land)
	}
	b.run(`muster.view.revealed = muster.view.searched = 1`)
	b.tells(voting)
	b.until("the vote stands there", func() bool { return eval[string](b, "muster.view.stage") == "vote" })
	b.run(`Object.defineProperty(document, "hidden", { value: true, configurable: true }); muster.view.revealed = 0`)
	b.tells(chosen)
	b.run(`delete document.hidden; muster.view.changed()`)
	b.until("nothing is played late", func() bool { return eval[int](b, "muster.view.revealed") == 1 })
}

// TestMoment checks what a reveal shows at a time after its beginning: each thing in its turn, the
// nearest spoke first, and all of it at the end.
func TestMoment(t *testing.T) {
	t.Parallel()
	type seen struct {
		Dim, Pin, Turn, Place, Name, Pings float64
		Spokes                             []float64
		Over                               bool
	}
	var got []seen
	const script = `const { seenAt } = await import("../../web/static/stages/moment.js");
		console.log(JSON.stringify([-50, 0, 200, 400, 800, 1500, 2200, 2330, 2740, 3000, 3400, 3800, 4000, 4199, 4200, 1e9].map((ms) => seenAt(ms, 3)).concat([seenAt(3000, 0), seenAt(2460, 1)])))`
	inNode(t, &got, script)
	spokes := func(of ...float64) []float64 { return of }
	for i, want := range []seen{ // eased: half of the time shows seven eighths
		{Spokes: spokes(0, 0, 0)},
		{Spokes: spokes(0, 0, 0)},
		{Dim: 0.5, Spokes: spokes(0, 0, 0)},
		{Dim: 1, Spokes: spokes(0, 0, 0)},
		{Dim: 1, Pin: 1, Spokes: spokes(0, 0, 0)},
		{Dim: 1, Pin: 1, Turn: 0.875, Spokes: spokes(0, 0, 0)},
		{Dim: 1, Pin: 1, Turn: 1, Spokes: spokes(0, 0, 0)},
		{Dim: 1, Pin: 1, Turn: 1, Spokes: spokes(0.875, 0, 0)},
		{Dim: 1, Pin: 1, Turn: 1, Spokes: spokes(1, 1, 0)},
		{Dim: 1, Pin: 1, Turn: 1, Spokes: spokes(1, 1, 1)},
		{Dim: 1, Pin: 1, Turn: 1, Spokes: spokes(1, 1, 1), Place: 1},
		{Dim: 1, Pin: 1, Turn: 1, Spokes: spokes(1, 1, 1), Place: 1, Name: 1},
		{Dim: 1, Pin: 1, Turn: 1, Spokes: spokes(1, 1, 1), Place: 1, Name: 1, Pings: 0.5},
		{Dim: 1, Pin: 1, Turn: 1, Spokes: spokes(1, 1, 1), Place: 1, Name: 1, Pings: 0.9975},
		{Dim: 1, Pin: 1, Turn: 1, Spokes: spokes(1, 1, 1), Place: 1, Name: 1, Pings: 1, Over: true},
		{Dim: 1, Pin: 1, Turn: 1, Spokes: spokes(1, 1, 1), Place: 1, Name: 1, Pings: 1, Over: true},
		{Dim: 1, Pin: 1, Turn: 1, Spokes: []float64{}},
		{Dim: 1, Pin: 1, Turn: 1, Spokes: spokes(1)},
	} {
		if !reflect.DeepEqual(got[i], want) {
			t.Errorf("moment %d shows\n%+v, not\n%+v", i, got[i], want)
		}
	}
}
