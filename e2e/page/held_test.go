package page_test

import (
	"context"
	_ "embed"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"muster/host"
	"muster/internal/clock/clocktest"
	"muster/web"
)

//go:embed held.js
var heldTime string

// browseHeld is [browse], and the page's time stands still until [browser.pass].
func browseHeld(t *testing.T, url string, size screenSize) *browser {
	t.Helper()
	b := browse(t, "about:blank", size)
	b.holds(url)
	return b
}

// holds opens a page whose time stands still.
func (b *browser) holds(url string) {
	b.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: heldTime})
		return err
	}), chromedp.Navigate(url))
}

// opens waits until a held page has drawn something, and lets it load what the first screen does not need.
func (b *browser) opens() {
	b.Helper()
	b.until("the page is open", func() bool {
		return read[bool](b, `!!globalThis.muster?.view && (muster.view.firstState > 0 || muster.view.front === "shown" || muster.live.connection === "gone")`)
	})
	b.pass(time.Second)
}

// pass lets time pass on a page whose time is held.
func (b *browser) pass(d time.Duration) {
	b.Helper()
	b.run(fmt.Sprintf("musterTime.pass(%d)", d.Milliseconds()))
}

// plays lets time pass on a page that draws ten times a second meanwhile.
func (b *browser) plays(d time.Duration) {
	b.Helper()
	for ; d > 0; d -= 100 * time.Millisecond {
		b.pass(100 * time.Millisecond)
		b.draws()
	}
}

// TestHeldTime holds the time of a host and of a page. While neither passes, the page stays at a countdown, and
// when only the page's passes it misses the host's beats.
func TestHeldTime(t *testing.T) {
	t.Parallel()
	held := clocktest.Hold(time.Now())
	rooms, err := host.New(host.Config{Page: web.Handler(), Clock: held.Clock()})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(rooms.Handler())
	t.Cleanup(func() { server.Close(); rooms.Close() })
	code, _, err := rooms.Open(friday(4))
	if err != nil {
		t.Fatal(err)
	}
	b := browseHeld(t, server.URL+"/#"+code+"_"+rooms.Keys(code).Link, desktop)
	b.until("the door opens", func() bool { return eval[bool](b, passesDoors) })
	b.pass(2 * time.Second) // until it is open, and what the first screen does not need has been asked for
	b.sees("#stage h1", "Who")
	for range 30 { // a minute of beats, to which nothing must be silent
		before := eval[float64](b, "muster.live.state.now")
		held.Advance(2 * time.Second)
		b.pass(2 * time.Second)
		b.until("a beat is heard", func() bool { return eval[float64](b, "muster.live.state.now") > before })
	}
	if at := eval[string](b, "muster.live.connection"); at != "live" {
		t.Errorf("after a minute of beats the page is %s", at)
	}
	b.pass(6999 * time.Millisecond)
	if at := eval[string](b, "muster.live.connection"); at != "live" {
		t.Errorf("after not quite 7 s of silence the page is %s", at)
	}
	b.pass(time.Millisecond)
	if at := eval[string](b, "muster.live.connection"); at != "lost" {
		t.Errorf("after 7 s of silence the page is %s", at)
	}
	b.pass(time.Second) // it comes back
	b.until("the page is back", func() bool { return eval[string](b, "muster.live.connection") == "live" })

	b.tells(`{ people, choice, agreement: { open: true, vetoes: [], ballot: [addr], launch_at: inTime(5000) }, room: room("chosen") }`)
	for left := 5; left > 0; left-- {
		b.sees("#stage .left", fmt.Sprint(left))
		b.pass(time.Second)
	}
	b.sees("#stage .left", "0")
}
