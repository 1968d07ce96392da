package page_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"muster/internal/catalogue"
	"muster/internal/catalogue/languages"
)

// in returns a page's link for a reader of a language.
func in(tag, link string) string { return strings.Replace(link, "/#", "/?lang="+tag+"#", 1) }

// TestLanguages checks each stage on phones, desks and walls in languages that are longer than English, have
// other letters and other line breaks, or run from right to left. Nothing is cut, is beyond the side,
// or covers anything else.
func TestLanguages(t *testing.T) {
	t.Parallel()
	tags := []string{catalogue.Mirrored, "de", "ru", "ja"}
	if testing.Short() { // the longest words, and letters from right to left; the others at night
		tags = tags[:2]
	}
	if os.Getenv("MUSTER_SHOTS") != "" { // for reading, too
		tags = languages.Tags()
	}
	for _, tag := range tags {
		t.Run(tag, func(t *testing.T) {
			n := newSession(t, 20, friday(0))
			b := n.browse(in(tag, n.organisersLink()), desktop)
			speaks := func() bool {
				return eval[bool](b, fmt.Sprintf(`document.documentElement.lang === %q && document.querySelector("#steps")?.innerText !== ""`, tag))
			}
			b.until("the page speaks "+tag, speaks)
			dir, want := eval[string](b, "getComputedStyle(document.querySelector('#stage')).direction"), "ltr"
			if tag == catalogue.Mirrored {
				want = "rtl"
			}
			if dir != want {
				t.Errorf("text runs %s, want %s", dir, want)
			}
			tv := n.browse(strings.Replace(in(tag, n.link()), "?", "?tv&", 1), wall)
			tv.until("the QR code is there", func() bool { return eval[bool](tv, `document.querySelector("#invite img")?.naturalWidth > 0`) })
			const people = 5
			for _, s := range everyStage {
				name := s.name + "-" + tag
				b.resize(desktop)
				b.drawn(s.name, s.stage, people, 1)
				for _, size := range few(2, pocket, desktop, small) {
					above := ""
					if size == pocket && tag != catalogue.Mirrored { // which is in brackets, and longer than any language
						above = s.above
					}
					b.fitsOn(name, size, above)
					b.cutsNothing(s.name)
				}
				tv.drawn(s.name, s.stage, people, -1)
				for _, size := range few(1, wall, wall4) {
					tv.fitsOn(name+"-tv", size, "")
					tv.cutsNothing(s.name)
				}
			}
		})
	}
}

// TestLanguageSwitch checks that a reader changes the language by keyboard. The page keeps it, and
// stays in its room.
func TestLanguageSwitch(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(0))
	b := n.browse(in(catalogue.Accented, n.organisersLink()), phone)
	b.sees("#steps", "[")
	b.tabsTo("#language", "D"+kb.Enter)
	b.sees("#stage", "Warten auf")
	if got := eval[string](b, "document.documentElement.lang + location.hash"); got != fmt.Sprintf("%s%s", "de", n.link()[strings.Index(n.link(), "#"):]) {
		t.Errorf("the page is %s", got)
	}
	if !eval[bool](b, "muster.live.state.you.organiser") {
		t.Error("the organiser is one no more")
	}
}
