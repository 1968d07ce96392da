package page_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/png"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var (
	small = screenSize{"small", 360, 640, 2, true}
	wall  = screenSize{"wall", 1920, 1080, 1, true}
	wall4 = screenSize{"wall-4k", 3840, 2160, 1, false}
	// zoomed is a laptop's screen at 200 %.
	zoomed = screenSize{"zoomed", 720, 450, 2, false}
)

// TestLobby checks the lobby. On a phone everything important is above the fold. On a wall, where
// nobody presses anything, all of it can be read from the sofa. People who come in are noticed, and
// everybody reads what the organiser changes in place.
func TestLobby(t *testing.T) {
	t.Parallel()
	talking := friday(0)
	talking.Voice = "https://discord.gg/abc"
	n := newSession(t, 20, talking)
	n.as["anna"] = n.secret
	n.plays(0)
	n.plays(1)
	ann := n.browse(n.organisersLink(), pocket)
	ann.sees("#stage h1", "You’re in, anna")
	ann.sees("#stage", "2 players here")
	if bottom := eval[float64](ann, `document.querySelector("#stage [data-action=go]").getBoundingClientRect().bottom`); bottom > 668 {
		t.Errorf("on a phone the button ends at %.0f px", bottom)
	}
	ann.sees(".voice a", "Voice: Discord")
	if !eval[bool](ann, `(({ rel, href, target }) => rel.includes("noopener") && href === "https://discord.gg/abc" && target === "_blank")(document.querySelector(".voice a"))`) {
		t.Error("the way to where they talk opens the room's page to others, or leads elsewhere")
	}
	ann.shoot("lobby", pocket, small, zoomed, desktop, laptop, night4k)
	tv := n.browse(strings.Replace(n.link(), "/#", "/?tv#", 1), wall)
	tv.sees("#stage h1", "Who’s in tonight?")
	tv.sees("#stage", n.code)
	tv.until("the QR code is there", func() bool { return eval[bool](tv, `document.querySelector("#invite img")?.naturalWidth > 0`) })
	for _, size := range []screenSize{wall, wall4} {
		tv.resize(size)
		if side := eval[float64](tv, `document.querySelector("#invite img").getBoundingClientRect().width`); side < 0.27*float64(size.width) {
			t.Errorf("on a %s the QR code is %.0f px wide", size.name, side)
		}
	}
	tv.isFromTheSofa("the lobby", wall, wall4)

	ann.click("#settings > summary")
	ann.sets("#by", "threshold")
	ann.sets("#limits_ms", "120")
	tv.sees("#stage", "the lowest average ping, nobody over 120 ms, on any map")
	ann.sets("#voice", "mumble://voice.example/den")
	ann.sees(".voice a", "Voice: Mumble")
	ann.sets("#voice", "")
	ann.until("there is no voice channel", func() bool { return eval[bool](ann, `!document.querySelector(".voice")`) })
	ann.sets("#wait_ms", "30")
	ann.until("the room waits for seats for half an hour", func() bool {
		return eval[float64](ann, "muster.live.state.room.wait_ms ?? 0") == 30*60_000
	})
	n.joins("<b>Maximiliane-Charlotte</b>", 2)
	tv.sees(".one.new", "just came in")
	if eval[int](tv, `document.querySelectorAll(".one.new").length`) != 1 {
		t.Error("those who were here come in again")
	}
	zoe := n.browse(n.link(), pocket)
	zoe.enters("zoe")
	tv.sees("#stage", "watching, no Muster yet")
	zoe.shoot("lobby-guest", pocket, desktop)
	tv.shoot("lobby-tv", wall, wall4)
	tv.prefers("forced-colors", "active")
	if eval[bool](tv, `[...document.querySelectorAll(".sign .shape")].some((shape) => getComputedStyle(shape).stroke === getComputedStyle(shape).fill)`) {
		t.Error("with forced colours a sign has no outline")
	}

	tv.run(`muster.view.stirred -= 11 * 60_000; muster.view.changed()`)
	tv.until("the wall is dimmed", func() bool { return eval[bool](tv, `getComputedStyle(document.documentElement).filter !== "none"`) })

	log := n.browse(strings.Replace(n.link(), "/#", "/?show=log#", 1), desktop)
	log.until("the log is open", func() bool { return eval[bool](log, `document.querySelector("#log li")?.checkVisibility() === true`) })
	log.tabsTo("#log > summary")
	log.types(kb.Enter)
	log.tabsTo("#people > summary")
	log.types(kb.Enter)
	log.until("the link is that of what is open", func() bool { return eval[string](log, "location.search") == "?show=people" })
	log.until("the log is folded", func() bool { return !eval[bool](log, `document.querySelector("#log li").checkVisibility()`) })
}

// isFromTheSofa checks a wall's page: all of it is on the screen, there is nothing to press, and no
// text is smaller than 24 px of 1920 × 1080.
func (b *browser) isFromTheSofa(what string, sizes ...screenSize) {
	b.Helper()
	for _, size := range sizes {
		b.resize(size)
		found := b.settled(fmt.Sprintf(`(() => {
			const { scrollHeight } = document.documentElement, high = scrollHeight > innerHeight ? ["the page, " + scrollHeight + " px high"] : [];
			const controls = [...document.querySelectorAll("button, input, select, summary")].filter((e) => e.checkVisibility());
			const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), small = [];
			while (texts.nextNode()) {
				const e = texts.currentNode.parentElement;
				if (!texts.currentNode.data.trim() || !e.checkVisibility() || e.closest(".unseen, noscript, svg")) continue;
				if (parseFloat(getComputedStyle(e).fontSize) < %g) small.push(e);
			}
			return [...high, ...[...controls, ...small].map((e) => e.outerHTML.slice(0, 120))];
		})()`, 23.9*float64(size.width)/1920))
		for _, element := range found {
			b.Errorf("%s on a %s does not fit, or has what nobody can press or read: %s", what, size.name, element)
		}
	}
}

// visions are normal sight, and sight with fewer colours or none.
var visions = []emulation.SetEmulatedVisionDeficiencyType{
	emulation.SetEmulatedVisionDeficiencyTypeNone, emulation.SetEmulatedVisionDeficiencyTypeProtanopia,
	emulation.SetEmulatedVisionDeficiencyTypeDeuteranopia,
	emulation.SetEmulatedVisionDeficiencyTypeTritanopia, emulation.SetEmulatedVisionDeficiencyTypeAchromatopsia,
}

// tellsSignsApart checks that the shapes of the signs differ by at least a twelfth of their area,
// without initials and for all visions. A pixel counts if it has the contrast to the background
// that WCAG 2.2, 1.4.11, requires of graphics: 3 to 1.
func (b *browser) tellsSignsApart(selector string) {
	b.Helper()
	const apart, contrast = 1. / 12, 3
	b.prefers("prefers-reduced-motion", "reduce")
	b.run(`for (const e of document.querySelectorAll(".sign text, .sign .can")) e.style.visibility = "hidden"`)
	for _, dark := range []bool{false, true} {
		scheme := "light"
		if dark {
			scheme = "dark"
		}
		b.prefers("prefers-color-scheme", scheme)
		for _, vision := range visions {
			b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
				_, err := chromedp.Call(ctx, emulation.SetEmulatedVisionDeficiency, emulation.SetEmulatedVisionDeficiencyParams{Type: vision})
				return err
			}))
			boxes := eval[[][4]float64](b,
				fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.getBoundingClientRect()).map(({ x, y, width, height }) => [x, y, width, height])`, selector))
			shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
			if err != nil {
				b.Fatal(err)
			}
			screen, _, err := image.Decode(bytes.NewReader(shot))
			if err != nil {
				b.Fatal(err)
			}
			var shapes [][]bool
			for _, box := range boxes {
				shapes = append(shapes, shapeIn(screen, box, contrast))
			}
			if len(shapes) < 16 {
				b.Fatalf("%d signs", len(shapes))
			}
			for i, one := range shapes {
				for j, other := range shapes[:i] {
					if difference := differ(one, other); difference < apart {
						b.Errorf("to %s in the %s, signs %d and %d differ by %.3f of their area", vision, scheme, j, i, difference)
					}
				}
			}
		}
	}
}

// shapeIn returns which points of a box contrast with its corner.
func shapeIn(screen image.Image, box [4]float64, contrast float64) []bool {
	const side = 64
	light := func(x, y float64) float64 {
		r, g, b, _ := screen.At(int(box[0]+x*box[2]), int(box[1]+y*box[3])).RGBA()
		linear := func(v uint32) float64 {
			if s := float64(v) / 0xffff; s > 0.03928 {
				return math.Pow((s+0.055)/1.055, 2.4)
			} else {
				return s / 12.92
			}
		}
		return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
	}
	ground := light(0.01, 0.01)
	var shape []bool
	for y := range side {
		for x := range side {
			point := light((float64(x)+0.5)/side, (float64(y)+0.5)/side)
			shape = append(shape, (max(point, ground)+0.05)/(min(point, ground)+0.05) >= contrast)
		}
	}
	return shape
}

// differ returns the share of the area of two shapes that is in only one of them.
func differ(one, other []bool) float64 {
	both, either := 0, 0
	for i := range one {
		if one[i] && other[i] {
			both++
		}
		if one[i] || other[i] {
			either++
		}
	}
	if either == 0 || !slices.Contains(one, true) || !slices.Contains(other, true) {
		return 0
	}
	return float64(either-both) / float64(either)
}
