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
	other.holds(url)
	other.opens()
	return other
}

// TestTwoTabs checks that a browser is one person in all its tabs.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(0))
	first := n.browse(n.link(), desktop)
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
	b := n.browse(link[:len(link)-3], desktop)
	b.sees("#toast", "missing or out of date")
	b.enters("zoe")
	b.sees("#people", "zoe")
	if steering := b.reads("#steer button"); steering != "" {
		t.Errorf("half a secret steers: %s", steering)
	}
}
