//go:build e2e

package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"muster/internal/catalogue"
)

// in returns a page's link for a reader of a language.
func in(tag, link string) string { return strings.Replace(link, "/#", "/?lang="+tag+"#", 1) }

// TestMirrored checks each stage where text runs from right to left, and is longer than English.
// Nothing is cut, is beyond the side, or covers anything else.
func TestMirrored(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(0))
	b := browse(t, in(catalogue.Mirrored, n.organisersLink()), desktop)
	b.sees("#steps", "[")
	if dir := eval[string](b, "getComputedStyle(document.querySelector('#stage')).direction"); dir != "rtl" {
		t.Errorf("text runs %s", dir)
	}
	tv := browse(t, strings.Replace(in(catalogue.Mirrored, n.link()), "?", "?tv&", 1), wall)
	tv.until("the QR code is there", func() bool { return eval[bool](tv, `document.querySelector("#invite img")?.naturalWidth > 0`) })
	const people = 5
	for _, s := range everyStage {
		b.resize(desktop)
		b.drawn(s.name, s.stage, people, 1)
		for _, size := range []screenSize{desktop, pocket} {
			b.fitsOn(s.name+"-mirrored", size, "")
			b.cutsNothing(s.name)
		}
		tv.drawn(s.name, s.stage, people, -1)
		tv.fitsOn(s.name+"-mirrored-tv", wall, "")
	}
}

// TestLanguageSwitch checks that a reader changes the language by keyboard. The page keeps it, and
// stays in its room.
func TestLanguageSwitch(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(0))
	b := browse(t, in(catalogue.Accented, n.organisersLink()), phone)
	b.sees("#steps", "[")
	b.tabsTo("#language", "English"[:1]+kb.Enter)
	b.sees("#stage", "Waiting for the first player")
	if got := eval[string](b, "document.documentElement.lang + location.hash"); got != fmt.Sprintf("%s%s", catalogue.English, n.link()[strings.Index(n.link(), "#"):]) {
		t.Errorf("the page is %s", got)
	}
	if !eval[bool](b, "muster.live.state.you.organiser") {
		t.Error("the organiser is one no more")
	}
}
