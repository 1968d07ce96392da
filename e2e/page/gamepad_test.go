package page_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"muster/host/wire"
)

// The buttons of a gamepad, as the W3C numbers them.
const (
	padA = iota
	padB
	padUp    = 12
	padDown  = 13
	padLeft  = 14
	padRight = 15
)

// plugIn is a script that connects a gamepad. pressed is how many presses are over. toward(selector)
// returns the button of the shortest way from the focus to an element, and unreachable() what no way
// leads to from the first thing on the page.
const plugIn = `
	globalThis.pad = { connected: true, index: 0, mapping: "standard", axes: [0, 0, 0, 0], buttons: Array.from({ length: 17 }, () => ({ pressed: false, value: 0 })) };
	navigator.getGamepads = () => [pad, null, null, null];
	globalThis.pressed = 0;
	const frames = (n) => new Promise((done) => { const next = () => (n-- > 0 ? requestAnimationFrame(next) : done()); next(); });
	globalThis.press = async (button) => {
		pad.buttons[button] = { pressed: true, value: 1 };
		await frames(2);
		pad.buttons[button] = { pressed: false, value: 0 };
		await frames(2);
		pressed++;
	};
	globalThis.steering = import("/gamepad.js").then((m) => (globalThis.steer = m));
	const sides = { up: 12, down: 13, left: 14, right: 15 };
	const beyond = (from, all) => Object.entries(sides).flatMap(([side, button]) => {
		const others = all.filter((e) => e !== from);
		const at = steer.nearest(from.getBoundingClientRect(), others.map((e) => e.getBoundingClientRect()), side);
		return at < 0 ? [] : [[others[at], button]];
	});
	const search = (from, all, isThere) => {
		const first = new Map([[from, -1]]);
		for (const [e, by] of first) {
			if (isThere(e)) return { by, first };
			for (const [next, button] of beyond(e, all)) if (!first.has(next)) first.set(next, by < 0 ? button : by);
		}
		return { by: -1, first };
	};
	globalThis.toward = (selector) => search(document.activeElement, steer.focusable(), (e) => e.matches(selector) && e !== document.activeElement).by;
	globalThis.unreachable = () => {
		const all = steer.focusable();
		const { first } = search(all[0], all, () => false);
		return all.filter((e) => !first.has(e)).map((e) => e.outerHTML.slice(0, 120));
	};
	dispatchEvent(new Event("gamepadconnected"));
`

// plugsIn connects a gamepad to the page.
func (b *browser) plugsIn() {
	b.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error { // as if its window were in front
		_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
		return err
	}))
	b.run(plugIn)
	b.until("the gamepad is listened to", func() bool {
		return eval[bool](b, "!!globalThis.steer?.focusable && document.adoptedStyleSheets.length > 0")
	})
}

// pushes presses buttons of the gamepad, one after the other.
func (b *browser) pushes(buttons ...int) {
	b.Helper()
	for _, button := range buttons {
		before := eval[int](b, "pressed")
		b.run(fmt.Sprintf("void press(%d)", button))
		b.until("the button is let go", func() bool { b.Helper(); return eval[int](b, "pressed") > before })
	}
}

// steersTo moves the focus to an element with the D-pad, and requires everybody to see where it is.
// Then it presses buttons.
func (b *browser) steersTo(selector string, then ...int) {
	b.Helper()
	b.until(selector+" is there", func() bool {
		return eval[bool](b, fmt.Sprintf("!!document.querySelector(%q)?.checkVisibility()", selector))
	})
	for range 60 {
		if b.isAt(selector) {
			if !eval[bool](b, "getComputedStyle(document.activeElement).outlineStyle !== 'none'") {
				b.Errorf("nobody can see that %s has the focus", selector)
			}
			b.pushes(then...)
			return
		}
		button := eval[int](b, fmt.Sprintf("toward(%q)", selector))
		if button < 0 {
			b.shoot("pad-stuck")
			b.Fatalf("no way leads to %s from %s", selector, eval[string](b, "document.activeElement.outerHTML.slice(0, 200)"))
		}
		b.pushes(button)
	}
	b.Fatalf("the D-pad never comes to %s", selector)
}

// reachesAll requires that the D-pad can get to everything on the page.
func (b *browser) reachesAll(where string) {
	b.Helper()
	for _, element := range b.settled("unreachable()") {
		b.Errorf("%s: the D-pad does not get to %s", where, element)
	}
}

// TestGamepad plays a whole session as an organiser with a gamepad, as on a Steam Deck.
func TestGamepad(t *testing.T) {
	t.Parallel()
	n := newSession(t, 80, friday(0))
	deck := screenSize{"deck", 1280, 800, 1, true}
	b := n.browse(n.organisersLink(), deck)
	b.sees("#stage", "Waiting for the first player")
	b.plugsIn()
	b.steersTo("#nickname")
	b.types("anna" + kb.Enter) // the console's own keyboard
	b.sees("#people .badge", "you")
	n.as["anna"] = n.secret
	n.plays(0)
	n.plays(1)
	b.sees("#stage", "2 players here")
	b.folds(false)
	b.reachesAll("the lobby")

	b.steersTo("#settings > summary", padA)
	b.reachesAll("the settings")
	b.steersTo("#by", padRight)
	n.awaits("another rule", func(r wire.Snapshot) bool { return r.Room.By == "threshold" })
	b.pushes(padB)
	b.until("the settings are folded, and the focus stays", func() bool { return b.isAt("#settings:not([open]) > summary") })
	b.steersTo("#stage [data-action=go]", padA)
	b.begins("search", "Everyone is measuring")
	n.searched()
	b.begins("vote", "Where shall we play?")
	b.reachesAll("the vote")
	b.steersTo("#stage .candidate:nth-child(1) .cast", padA)
	b.until("the vote counts", func() bool { return b.isAt("#stage .candidate.mine .cast[aria-pressed=true]") })
	b.steersTo("#stage [data-ready=true]", padA)
	b.begins("reveal", "Tonight we meet in")
	n.pass(reveal)
	b.begins("countdown", "Next stop")
	b.pushes(padB)
	b.begins("vote", "Where shall we play?")
	b.steersTo("#stage [data-ready=true]", padA)
	n.launches()
	b.begins("go", "You’re on the way")
	b.reachesAll("on the way")
}

// TestGamepadHeld checks that a held direction repeats and a held button does not, that a stick that
// rests a little aside moves nothing, and that nothing moves while another window has the gamepad.
func TestGamepadHeld(t *testing.T) {
	atNight(t)
	t.Parallel()
	n := newSession(t, 80, friday(0))
	b := n.browse("http://"+n.at+"/", desktop)
	b.until("the page has begun", func() bool { return eval[bool](b, "!!globalThis.muster") })
	b.plugsIn()
	b.deaf.Store(true) // the page's own code misses what was there
	b.run(`document.body.replaceChildren(...Array.from({ length: 30 }, () => {
			const button = document.createElement("button");
			button.style.display = "block";
			return button;
		}));
		globalThis.clicks = globalThis.moves = 0;
		document.addEventListener("click", () => clicks++);
		document.querySelector("button").focus();
		document.addEventListener("focusin", () => moves++)`)
	b.run("pad.axes = [0, .95, 0, 0]")
	b.plays(3 * time.Second)
	if moves := eval[int](b, "moves"); moves < 4 {
		t.Errorf("a held stick has moved the focus %d times", moves)
	}
	b.run("pad.axes = [0, .2, 0, .1]; pad.buttons[0] = { pressed: true, value: 1 }")
	b.until("the button is pressed", func() bool { return eval[int](b, "clicks") >= 1 })
	b.run("globalThis.rested = moves")
	b.plays(3 * time.Second)
	if moved, clicks := eval[int](b, "moves - rested"), eval[int](b, "clicks"); moved > 1 || clicks != 1 {
		t.Errorf("a stick at rest moved the focus %d times; a held button clicked %d times", moved, clicks)
	}
	b.run("pad.buttons[0] = { pressed: false, value: 0 }; document.hasFocus = () => false; rested = moves; pad.axes = [0, 1, 0, 0]")
	b.plays(3 * time.Second)
	if moved := eval[int](b, "moves - rested"); moved > 0 {
		t.Errorf("another window's gamepad moved the focus %d times", moved)
	}
}

// TestGamepadLanguage checks that a gamepad which comes by the choice of the language does not load
// the page again, and that A does.
func TestGamepadLanguage(t *testing.T) {
	atNight(t)
	t.Parallel()
	n := newSession(t, 20, friday(0))
	b := n.browse("http://"+n.at+"/", desktop)
	b.until("the languages are there", func() bool { return eval[bool](b, "!!document.querySelector('#language')") })
	b.plugsIn()
	b.run(`globalThis.isFirst = true; document.querySelector("#language").focus()`)
	chosen := func() string { return eval[string](b, `document.querySelector("#language").value`) }
	b.pushes(padRight, padRight)
	next := chosen()
	if next == "en" {
		t.Error("the gamepad does not change the choice")
	}
	b.run(`document.activeElement.blur()`)
	if got := chosen(); got != "en" || !eval[bool](b, "!!globalThis.isFirst") {
		t.Errorf("after passing by, the choice is %s", got)
	}
	b.run(`document.querySelector("#language").focus()`)
	b.pushes(padRight, padRight)
	b.run(fmt.Sprintf("void press(%d)", padA)) // the page that it loads forgets how it ended
	b.until("the page speaks "+next, func() bool { return read[string](b, "document.documentElement?.lang ?? ''") == next })
}

// TestHomeGamepad checks every page of Home with a gamepad, and that nobody gets stuck in its list.
func TestHomeGamepad(t *testing.T) {
	atNight(t)
	h := startHome(t, 60)
	b := browseHome(t, h, screenSize{"deck", 1280, 800, 1, true})
	b.plugsIn()
	b.reachesAll("the first page")
	b.steersTo(`.door[href="#find"]`, padA)
	b.until("the page's title has the focus", func() bool { return b.isAt("h1") })
	b.steersTo("#find-game")
	b.types("my are")
	b.pushes(padA)
	b.until("the search has ended", func() bool {
		return eval[bool](b, "home.state()?.find.asked > 0 && !home.state().find.running && home.table.rows.size === home.state().find.answered")
	})
	b.steersTo("#list", padDown, padDown, padA)
	b.sees("#questions", "Start My Arena now?")
	b.steersTo(`#questions [value="n"]`, padA)
	b.until("the answer counts", func() bool { return eval[int](b, "home.state().questions.length") == 0 })
	b.steersTo("#list", padB, padB)
	b.until("the focus has left the list", func() bool { return !b.isAt("#list") })
	b.reachesAll("the servers")
	for _, page := range []string{"#play", "#computer", "#settings"} {
		b.run(fmt.Sprintf("location.hash = %q", page))
		b.until("the page is there", func() bool { return b.isAt("h1") })
		b.reachesAll(page)
	}
}
