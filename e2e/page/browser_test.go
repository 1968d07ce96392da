package page_test

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// browser is one person's browser: a headless Chromium with a profile of its own. Any message in
// its console, such as a violation of the page's policy, fails the test.
type browser struct {
	*testing.T
	ctx context.Context
	// deaf says that messages in the console are expected.
	deaf *atomic.Bool
	// asked holds the person's system preferences, by media feature.
	asked map[string]string
}

var everyScreen = flag.Bool("every-screen", false, "check each stage, door and language on every screen, not on a few")

// few returns the first n of some screens, or all if every screen is asked for.
func few(n int, screens ...screenSize) []screenSize {
	if *everyScreen || os.Getenv("MUSTER_SHOTS") != "" {
		return screens
	}
	return screens[:n]
}

type screenSize struct {
	name          string
	width, height int64
	scale         float64
	dark          bool
}

var (
	desktop = screenSize{"desktop", 1440, 900, 1, false}
	night4k = screenSize{"4k-dark", 3840, 2160, 1, true}
	laptop  = screenSize{"desktop-dark", 1440, 900, 1, true}
	phone   = screenSize{"phone", 360, 780, 2, false}
	reflow  = screenSize{"320", 320, 640, 2, false} // WCAG 2.2, 1.4.10: no scrolling to the side
	couch   = screenSize{"phone-dark", 360, 780, 2, true}
)

// shared is the Chromium that the tests of a process share. It starts with the first of them.
var shared struct {
	sync.Once
	ctx context.Context
	err error
	end func() error
}

// atNight leaves a test out where time is short: the gate (`go test -short`) takes the journeys alone.
func atNight(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs at night")
	}
}

func TestMain(m *testing.M) {
	os.Setenv("MUSTER_LOCAL", "1") // Home's look at this computer sends nothing off it
	code := m.Run()
	if shared.end != nil {
		_ = shared.end()
	}
	os.Exit(code)
}

// chromium starts a Chromium of its own with its first page, and returns what ends it.
func chromium(more ...chromedp.ExecAllocatorOption) (ctx context.Context, end func() error) {
	// Each window would draw suggestions for an address bar that nobody sees: two seconds of a processor.
	const unseen = "Translate,BlinkGenPropertyTrees,WebUIOmniboxPopup,WebUIOmniboxAimPopup"
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("force-color-profile", "srgb"),
		chromedp.Flag("disable-features", unseen))
	allocator, wait := chromedp.NewExecAllocator(context.Background(), append(options, more...)...)
	ctx, _ = chromedp.NewContext(allocator)
	return ctx, func() error {
		defer wait()
		return ends(ctx)
	}
}

// ends closes a page, and a person's browser with it. A traced one writes its account meanwhile.
func ends(ctx context.Context) error {
	closing, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	return chromedp.Cancel(closing)
}

// browse opens a page in the browser of a new person. With more options the browser is a process of
// its own; starting one takes a processor for a second.
func browse(t *testing.T, url string, size screenSize, more ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	var ctx context.Context
	var end func() error
	if len(more) > 0 {
		ctx, end = chromium(more...)
	} else {
		shared.Do(func() {
			shared.ctx, shared.end = chromium()
			shared.err = chromedp.Do(shared.ctx) // starts it
		})
		if shared.err != nil {
			t.Fatalf("no browser: %v", shared.err)
		}
		ctx, _ = chromedp.NewContext(shared.ctx, chromedp.WithNewBrowserContext())
		end = func() error { return ends(ctx) }
	}
	b := &browser{t, ctx, &atomic.Bool{}, map[string]string{}}
	messages := chromedp.Console(ctx)
	var listening sync.WaitGroup
	listening.Go(func() { b.listen(messages) })
	t.Cleanup(func() {
		if t.Failed() {
			state, err := tried[string](b, "JSON.stringify([muster.live.connection, muster.live.state?.you, "+
				"muster.live.shown !== '', localStorage.length, document.querySelector('#toast').textContent])")
			b.Logf("the page at %s: %s %v", url, state, err)
		}
		if err := end(); err != nil { // a killed browser would leave files behind
			b.Logf("the browser was killed: %v", err)
		}
		listening.Wait()
	})
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error { // each person looks at their own window
		_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
		return err
	}))
	b.resize(size)
	b.do(chromedp.Navigate(url))
	b.run("window.confirm = () => true")
	return b
}

func (b *browser) listen(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range messages {
		if err == nil && !b.deaf.Load() && (m.IsException() || m.Type == chromedp.ConsoleError && m.Source != "network") {
			b.Errorf("the browser complains: %s", m.Text)
		}
	}
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.Fatalf("the browser: %v", err)
	}
}

func (b *browser) resize(size screenSize) {
	b.Helper()
	scheme := "light"
	if size.dark {
		scheme = "dark"
	}
	b.do(chromedp.EmulateViewport(size.width, size.height, chromedp.EmulateScale(size.scale)))
	b.prefers("prefers-color-scheme", scheme)
	// The page learns about it later.
	for deadline := time.Now().Add(30 * time.Second); eval[int64](b, "innerWidth") != size.width; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("the screen stays %d wide", eval[int64](b, "innerWidth"))
		}
	}
}

// prefers sets one of the person's system preferences; earlier ones stay.
func (b *browser) prefers(feature, value string) {
	b.Helper()
	b.asked[feature] = value
	var media emulation.SetEmulatedMediaParams
	for name, value := range b.asked { // each call sets all of them
		media.Features = append(media.Features, &emulation.MediaFeature{Name: name, Value: value})
	}
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media)
		return err
	}))
}

// run runs a script for its effect.
func (b *browser) run(script string) { b.Helper(); eval[bool](b, script+"; true") }

// reads returns the text under a selector, after opening the details around it.
func (b *browser) reads(selector string) string {
	b.Helper()
	b.unfold(selector)
	return read[string](b, fmt.Sprintf("[...document.querySelectorAll(%q)].map((e) => e.innerText).join('\\n')", selector))
}

// passesDoors is a script that presses the entry button for watching. Tests use it unless they are
// about the entry buttons.
const passesDoors = `(() => {
	const door = document.querySelector("#stage .door[data-door=watch]:not(.open) button");
	if (globalThis.muster?.view?.door !== "" || !door) return false;
	door.click();
	return true;
})()`

// unfold opens the details that a selector names, and those around what it selects. A stranger
// watches, unless the selector is about the doors.
func (b *browser) unfold(selector string) {
	b.Helper()
	if !strings.Contains(selector, "door") && !strings.Contains(selector, "other-ways") && !strings.Contains(selector, "#way-in") && selector != "#getting" && selector != "#toast" && selector != "#banner" && read[bool](b, passesDoors) {
		b.until("the page is past the doors", func() bool {
			return read[bool](b, `(globalThis.musterTime?.pass(100), muster.view.door === "past")`)
		})
	}
	opened := read[bool](b, fmt.Sprintf(`(() => {
		const named = %[1]q.match(/#[\w-]+/g) ?? [], found = [...document.querySelectorAll(%[1]q)];
		const isMeant = (detail) => named.includes("#" + detail.id) || found.some((e) => detail.contains(e));
		const folded = [...document.querySelectorAll("#main details:not([hidden])")].filter((detail) => !detail.open && isMeant(detail));
		for (const detail of folded) detail.open = (detail.closest("#details, #settings") ?? detail).open = true;
		return folded.length > 0;
	})()`, selector))
	if opened {
		b.draws()
	}
}

// read returns the value of a script that changes nothing. If the page navigates meanwhile, it
// tries again on the next page.
func read[T any](b *browser, script string) T {
	b.Helper()
	result, err := tried[T](b, script)
	for again := 0; again < 5 && err != nil && strings.Contains(err.Error(), "navigated"); again++ {
		time.Sleep(100 * time.Millisecond)
		result, err = tried[T](b, script)
	}
	if err != nil {
		b.Fatalf("the browser: %s: %v", script, err)
	}
	return result
}

func eval[T any](b *browser, script string) T {
	b.Helper()
	result, err := tried[T](b, script)
	if err != nil {
		b.Fatalf("the browser: %s: %v", script, err)
	}
	return result
}

func tried[T any](b *browser, script string, how ...chromedp.EvaluateOption) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](script, how...))
}

// draws waits until the page has drawn what has just changed: it does so with the next frame, and what that
// changes is there with the one after. Where scripts are forbidden, nothing else draws.
func (b *browser) draws() {
	b.Helper()
	const frames = `!globalThis.muster || new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))`
	if _, err := tried[bool](b, frames, chromedp.EvalAwaitPromise); err != nil {
		b.Fatalf("the browser draws nothing: %v", err)
	}
}

// sees waits until a text is on the page.
func (b *browser) sees(selector, text string) {
	b.Helper()
	b.until(fmt.Sprintf("%s says %q", selector, text), func() bool { return strings.Contains(b.reads(selector), text) })
}

func (b *browser) until(what string, is func() bool) {
	b.Helper()
	pause := time.Millisecond
	for deadline := time.Now().Add(60 * time.Second); !is(); time.Sleep(pause) {
		pause = min(2*pause, 32*time.Millisecond)
		if time.Now().After(deadline) {
			b.shoot("stuck")
			b.Fatalf("never: %s\nthe page says:\n%s", what, b.reads("body"))
		}
	}
}

// settled returns what a script still finds wrong after the page has had time to lay itself out and to
// load its maps: on a busy machine, half a minute. An empty result at the first look is enough.
func (b *browser) settled(script string) (wrong []string) {
	b.Helper()
	pause := time.Millisecond
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(pause) {
		pause = min(2*pause, 64*time.Millisecond)
		if wrong = eval[[]string](b, script); len(wrong) == 0 || time.Now().After(deadline) {
			return wrong
		}
	}
}

func (b *browser) click(selector string) {
	b.Helper()
	b.until(selector+" is there", func() bool {
		b.unfold(selector)
		return eval[bool](b, fmt.Sprintf("!!document.querySelector(%q)", selector))
	})
	b.run(fmt.Sprintf("document.querySelector(%q).click()", selector))
}

func (b *browser) enters(name string) {
	b.Helper()
	b.until("the page asks for a nickname", func() bool {
		b.unfold("#nickname")
		return eval[bool](b, "!!document.querySelector('#nickname')")
	})
	b.run(fmt.Sprintf("document.querySelector('#nickname').value = %q; document.querySelector('#welcome form').requestSubmit()", name))
	b.sees("#people .badge", "you")
}

// sets changes a field of a form as a person would.
func (b *browser) sets(selector, value string) {
	b.Helper()
	b.until(selector+" is there", func() bool {
		b.unfold(selector)
		return eval[bool](b, fmt.Sprintf("!!document.querySelector(%q)", selector))
	})
	b.run(fmt.Sprintf(`{
		const field = document.querySelector(%q);
		if (field.type === "checkbox" || field.type === "radio") field.checked = %[2]q === "true"; else field.value = %[2]q;
		field.dispatchEvent(new Event("change", { bubbles: true }));
	}`, selector, value))
}

// shoot checks the page on screens of these sizes for everything that people need. If $MUSTER_SHOTS
// is set, it keeps a picture of each.
func (b *browser) shoot(name string, sizes ...screenSize) {
	b.Helper()
	if len(sizes) == 0 {
		sizes = []screenSize{desktop}
	}
	for _, size := range sizes {
		b.resize(size)
		b.until("no reveal plays", func() bool {
			return eval[bool](b, `[...document.querySelectorAll("#stage .everybody")].every((all) => getComputedStyle(all).opacity === "1")`)
		})
		b.fits(size)
		b.folds(true)
		b.fits(size)
		b.isNamed()
		b.showsNames()
		b.isReadable(name, size)
		b.isLargeEnough(name, size)
		b.folds(false)
		if os.Getenv("MUSTER_SHOTS") == "" {
			continue
		}
		time.Sleep(400 * time.Millisecond) // the plots follow
		b.capture(name+"-"+size.name+".png", chromedp.CaptureScreenshot())
		b.capture(name+"-"+size.name+"-whole.png", chromedp.FullScreenshot(100))
		b.capture(name+"-"+size.name+".webp", webp)
	}
	b.resize(desktop)
}

// folds opens or closes all details.
func (b *browser) folds(open bool) {
	b.Helper()
	b.run(fmt.Sprintf(`for (const detail of document.querySelectorAll("#details, #details > details, #settings")) detail.open = %t`, open))
	b.draws()
}

func (b *browser) capture(name string, take chromedp.Action[[]byte]) {
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	picture, err := chromedp.Run(ctx, take)
	if err == nil {
		err = os.WriteFile(filepath.Join(os.Getenv("MUSTER_SHOTS"), name), picture, 0o644)
	}
	if err != nil {
		b.Error(err)
	}
}

// webp returns a picture small enough for a document.
func webp(ctx context.Context, t *chromedp.Target) ([]byte, error) {
	quality := int64(82)
	shot, err := cdp.Call(ctx, t, page.CaptureScreenshot,
		page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatWebp, Quality: &quality})
	return shot.Data, err
}

// arrived is a script that finishes animations: people who come in are pale until then, and sliding
// steps reach beyond the edge.
const arrived = `for (const a of document.getAnimations()) if (a.effect.getComputedTiming().endTime < 5000) a.finish(); `

// fits checks that the page is no wider than its screen.
func (b *browser) fits(size screenSize) {
	b.Helper()
	over := b.settled(arrived + fmt.Sprintf(`document.documentElement.scrollWidth <= %d ? [] :
		["the page is " + document.documentElement.scrollWidth + " wide", ...[...document.querySelectorAll("body *")]
			.filter((e) => e.getBoundingClientRect().right > innerWidth && !e.closest(".unseen"))
			.map((e) => e.outerHTML.slice(0, 120))]`, size.width))
	if len(over) > 0 {
		b.Errorf("on a %s, %d wide: %q", size.name, size.width, over)
	}
}

// isNamed checks that every control has a name that can be read out.
func (b *browser) isNamed() {
	b.Helper()
	nameless := b.settled(`[...document.querySelectorAll("button, input, select, a, summary, [role=img], progress, img")]
		.filter((e) => e.checkVisibility() && !(e.innerText || e.ariaLabel || e.alt || e.labels?.length))
		.map((e) => e.outerHTML.slice(0, 120))`)
	for _, element := range nameless {
		b.Errorf("nobody can say what this is: %s", element)
	}
}

// showsNames checks that every person's name has room on the screen.
func (b *browser) showsNames() {
	b.Helper()
	squeezed := b.settled(`[...document.querySelectorAll(".person .who bdi, .bars .who, .one .name")]
		.filter((e) => e.checkVisibility() && e.getBoundingClientRect().width < 8)
		.map((e) => e.innerText)`)
	for _, name := range squeezed {
		b.Errorf("there is no room for the name of %s", name)
	}
}

// isReadable checks every text for the contrast of WCAG 2.2, 1.4.3 (AA): 4.5 to 1, and 3 to 1 for
// large text. A gradient counts with its first colour.
func (b *browser) isReadable(name string, size screenSize) {
	b.Helper()
	for _, text := range b.settled(arrived + `(() => {
		const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
		const kept = new Map(), known = new Map(); // asking for a pixel or a style takes long
		const rgba = (colour) => kept.get(colour) ?? (kept.set(colour, drawn(colour)), kept.get(colour));
		const drawn = (colour) => {
			canvas.clearRect(0, 0, 1, 1);
			canvas.fillStyle = colour;
			canvas.fillRect(0, 0, 1, 1);
			const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
			return [r, g, b, a / 255];
		};
		const linear = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
		const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
		const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
		const seen = (e) => { // what is behind the texts in an element, and how much of them is seen
			if (!e) return { below: [255, 255, 255, 1], opacity: 1 };
			if (!known.has(e)) {
				const { backgroundColor, backgroundImage, opacity } = getComputedStyle(e), up = seen(e.parentElement);
				const tops = [backgroundColor, backgroundImage.match(/rgba?\([^)]*\)/)?.[0]].filter(Boolean).map(rgba);
				known.set(e, { below: tops.reduce((below, top) => over(top, below), up.below), opacity: up.opacity * opacity });
			}
			return known.get(e);
		};
		const found = [];
		const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		while (texts.nextNode()) {
			const e = texts.currentNode.parentElement;
			if (!texts.currentNode.data.trim() || !e.checkVisibility() || e.closest(".unseen, .skip, :disabled")) continue;
			const style = getComputedStyle(e);
			const { below, opacity } = seen(e), [r, g, b, alpha] = rgba(style.color);
			const ink = [r, g, b, alpha * opacity];
			const [dark, bright] = [light(over(ink, below)), light(below)].sort((x, y) => x - y);
			const large = parseFloat(style.fontSize) >= (style.fontWeight >= 700 ? 18.66 : 24);
			const ratio = (bright + 0.05) / (dark + 0.05);
			if (ratio < (large ? 3 : 4.5)) found.push(ratio.toFixed(2) + ": " + texts.currentNode.data.trim().slice(0, 60));
		}
		return found;
	})()`) {
		b.Errorf("%s on a %s is hard to read, contrast %s", name, size.name, text)
	}
}

// isLargeEnough checks that every control has the size of WCAG 2.2, 2.5.8: 24 px, and the main
// controls 44.
func (b *browser) isLargeEnough(name string, size screenSize) {
	b.Helper()
	for _, control := range b.settled(`[...document.querySelectorAll("button, input, select, a, summary")]
		.filter((e) => e.checkVisibility() && !e.closest(".skip"))
		.map((e) => [e, (e.closest("label") ?? e).getBoundingClientRect()])
		.filter(([e, { width, height }]) => Math.min(width, height) < (e.matches(".primary") ? 44 : 24))
		.map(([e, { width, height }]) => Math.round(width) + " × " + Math.round(height) + " px: " + (e.ariaLabel || e.innerText || e.id))`) {
		b.Errorf("%s on a %s is hard to press, %s", name, size.name, control)
	}
}
