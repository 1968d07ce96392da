package page_test

import (
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
)

// tab opens another tab of the same person's browser.
func (b *browser) tab(url string) *browser {
	b.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.Cleanup(cancel)
	other := &browser{b.T, ctx, &atomic.Bool{}, map[string]string{}}
	if err := chromedp.Do(ctx); err != nil {
		b.Fatal(err)
	}
	other.do(chromedp.Navigate(url))
	return other
}

// TestTwoTabs checks that a browser is one person in all its tabs.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(0))
	first := browse(t, n.link(), desktop)
	second := first.tab(n.link())
	second.sees("#welcome", "Your nickname")
	first.enters("zoe")
	second.sees("#people .badge", "you")

	first.tab(n.organisersLink()).sees("#steer", "Lock the room")
	first.sees("#steer", "Lock the room")
	second.sees("#steer", "Lock the room")
}

// TestCutOff checks that a person who has only half of the organiser's link is told so.
func TestCutOff(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(0))
	link := n.organisersLink()
	b := browse(t, link[:len(link)-3], desktop)
	b.sees("#toast", "missing or out of date")
	b.enters("zoe")
	b.sees("#people", "zoe")
	if steering := b.reads("#steer button"); steering != "" {
		t.Errorf("half a secret steers: %s", steering)
	}
}

// TestBackground checks that a hidden tab shows news in its title.
func TestBackground(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(0))
	b := browse(t, n.link(), desktop)
	b.sees("#stage", "Waiting for the first player")
	b.run(`Object.defineProperty(document, "hidden", { value: true }); globalThis.requestAnimationFrame = () => 0`)
	n.plays(0, 100)
	b.until("the title is new", func() bool {
		return eval[string](b, "document.title") == "1 player here – Friday night – Muster"
	})
}

// TestOver checks that the page of a closed room says so, and sends no more requests, because each
// would count as a wrong code.
func TestOver(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(0))
	b := browse(t, n.link(), desktop)
	b.sees("#stage", "Waiting for the first player")
	n.rooms.CloseRoom(n.code)
	b.sees("#banner", "it’s over")
	b.until("the page rests", func() bool { return eval[bool](b, "muster.live.socket === null && muster.live.retry === 0") })
}

// TestCopying checks that the page says whether it copied, with a clipboard and without.
func TestCopying(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(0))
	b := browse(t, n.link(), desktop)
	for _, test := range []struct{ browser, says string }{
		{`navigator.clipboard.writeText = async () => {}`, "Copied."},
		{`navigator.clipboard.writeText = async () => { throw new Error("no") }; document.execCommand = () => true`, "Copied."},
		{`document.execCommand = () => false`, "copy it yourself"},
	} {
		b.sees("#invite", "muster join")
		b.run(test.browser)
		b.run(`document.querySelector("#toast").textContent = ""`)
		b.click("#invite [data-copy=join-line]")
		b.sees("#toast", test.says)
	}
}
