//go:build e2e

package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"muster/host/wire"
)

// TestKeyboard is an organiser who has no mouse: everything on the way to the
// launch is reached with Tab, shown where it is, and stays there while the page
// changes around it.
func TestKeyboard(t *testing.T) {
	n := newNight(t, 80, friday(0))
	b := browse(t, n.organisersLink(), desktop)
	b.sees("#stage", "Waiting for the first player")
	b.tabsTo(".skip")
	b.types(kb.Enter)
	if !b.isAt("#stage") || "http://"+n.at+"/"+eval[string](b, "location.hash") != n.link() {
		t.Error("what skips to the head of the page leads elsewhere")
	}
	b.tabsTo("#nickname")
	b.types("anna" + kb.Enter)
	b.sees("#people .badge", "you")
	n.as["anna"] = n.secret
	n.plays(0, 200)
	n.plays(1, 200)
	b.sees("#stage", "2 players here")

	b.folds(false)
	b.tabsTo("#settings > summary")
	b.types(kb.Enter)
	b.tabsTo("#by")
	b.types(kb.ArrowDown)
	n.awaits("another rule", func(r wire.Document) bool { return r.By == "threshold" })
	b.tabsTo("#limits_ms")
	b.types("400" + kb.Tab)
	n.awaits("the limit", func(r wire.Document) bool { return r.MaxRTTMs == 400 })

	b.tabsTo("#stage [data-action=go]")
	b.types(kb.Enter)
	b.sees("#stage", "Where shall we play?")
	b.folds(false)
	b.tabsTo("#details > summary")
	b.types(kb.Enter)
	b.tabsTo("#ranking > summary")
	b.types(kb.Enter)
	b.tabsTo("#ranking [data-by=worst]")
	b.types(kb.Enter)
	b.until("the table is sorted by the worst RTT", func() bool {
		return eval[string](b, "document.querySelector('#ranking th[data-key=worst]').ariaSort ?? ''") == "ascending"
	})
	if !b.isAt("#ranking [data-by=worst]") {
		t.Error("the page took the focus away while it sorted")
	}
	b.tabsTo("#ranking tr:nth-child(2) [data-action=vote]")
	b.types(kb.Enter)
	b.until("the vote counts", func() bool { return b.isAt("#ranking tr.chosen [data-action=vote][aria-pressed=true]") })
	b.run(`for (const _ of "12") document.querySelector("#ranking [data-by=rank]").click()`)
	b.until("the table is upside down", func() bool {
		return eval[string](b, "document.querySelector('#ranking th[data-key=rank]').ariaSort ?? ''") == "descending"
	})
	if !b.isAt("#ranking tr.chosen [data-action=vote]") {
		t.Error("the focus did not go along with its row")
	}
	b.tabsTo("#stage .candidate:nth-child(1) .cast")
	b.types(" ")
	b.until("the card says so", func() bool { return b.isAt("#stage .candidate.leads.mine .cast[aria-pressed=true]") })
	b.tabsTo("#stage [data-ready=true]")
	b.types(" ")
	b.sees("#stage h1", "Off to")
	if !b.isAt("#stage h1") {
		t.Error("the focus is not at what the countdown says")
	}
	b.types(kb.Escape)
	b.sees("#stage h1", "Where shall we play?")
	b.tabsTo("#stage [data-ready=true]")
	b.types(" ")
	n.awaits("the launch", func(r wire.Document) bool { return r.Stage == wire.Launching })
}

// TestStillness: for who asked their system for less motion nothing turns, not
// even the wheel beside what is waited for.
func TestStillness(t *testing.T) {
	n := newNight(t, 20, friday(0))
	b := browse(t, n.link(), desktop)
	b.sees("#stage", "Waiting for the first player")
	b.run(`document.body.insertAdjacentHTML("beforeend", "<p class='wait'>waiting</p>")`)
	for motion, want := range map[string]int{"reduce": 0, "no-preference": 1} {
		b.prefers("prefers-reduced-motion", motion)
		turning := func() int { return eval[int](b, "document.getAnimations().length") }
		b.until(fmt.Sprintf("%d wheels turn with %s", want, motion), func() bool { return turning() == want })
	}
}

// TestPressedTwice: the second of two clicks is not for the button that came in
// the place of the first, and one that holds Enter stays in the section.
func TestPressedTwice(t *testing.T) {
	n := newNight(t, 400, friday(0))
	b := browse(t, n.organisersLink(), desktop)
	n.plays(0, 60)
	b.sees("#stage", "1 player here")
	b.run(`document.querySelector("#stage [data-action=go]").focus()`)
	b.click("#stage [data-action=go]")
	b.sees("#stage", "measuring")
	second := eval[int](b, `(() => {
		let asked = 0;
		globalThis.fetch = async () => { asked++; return new Response(null, { status: 204 }); };
		document.querySelector("#stage [data-action=go]").dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 2 }));
		return asked;
	})()`)
	if second != 0 {
		t.Error("the second click counted")
	}
	if !b.isAt("#stage h1") {
		t.Error("with its button the focus is gone")
	}
}

// types presses keys, one after the other.
func (b *browser) types(keys string) { b.Helper(); b.do(chromedp.KeyEvent(keys)) }

// tabsTo presses Tab until something has the focus, and can be seen to have it.
func (b *browser) tabsTo(selector string) {
	b.Helper()
	b.until(selector+" is there", func() bool {
		return eval[bool](b, fmt.Sprintf("!!document.querySelector(%q)?.checkVisibility()", selector))
	})
	for range 80 {
		b.types(kb.Tab)
		if b.isAt(selector) {
			if !eval[bool](b, "getComputedStyle(document.activeElement).outlineStyle !== 'none'") {
				b.Errorf("nobody can see that %s has the focus", selector)
			}
			return
		}
	}
	b.Fatalf("Tab never comes to %s", selector)
}

// isAt reports whether something has the focus.
func (b *browser) isAt(selector string) bool {
	b.Helper()
	return eval[bool](b, fmt.Sprintf("document.activeElement.matches(%q)", selector))
}
