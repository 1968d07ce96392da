package page_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var (
	sideways = screenSize{"lying", 844, 390, 2, true}
	slate    = screenSize{"tablet", 768, 1024, 1, true}
)

// TestLobbyMap checks the lobby on all screens with two to sixteen people: no sign, name or place
// hides another.
func TestLobbyMap(t *testing.T) {
	atNight(t)
	t.Parallel()
	n := newSession(t, 20, friday(0))
	b := n.browse(n.organisersLink(), desktop)
	b.sees("#stage", "Waiting for the first player")
	b.until("the QR code is there", func() bool { return eval[bool](b, `muster.view.qr !== ""`) })
	tv := n.browse(strings.Replace(n.link(), "/#", "/?tv#", 1), wall)
	tv.until("the QR code is there", func() bool { return eval[bool](tv, `document.querySelector("#invite img")?.naturalWidth > 0`) })
	crowds := []int{16, 8, 5, 2}
	if os.Getenv("MUSTER_SHOTS") == "" {
		crowds = []int{16, 5}
	}
	for _, people := range crowds {
		for _, size := range few(4, desktop, pocket, sideways, slate, laptop, small, night4k) {
			b.resize(size)
			b.drawn("lobby", "lobby", people, 1)
			b.areOnMap()
			name := fmt.Sprintf("lobby-%d", people)
			b.fitsOn(name, size, "")
		}
		tv.resize(wall)
		tv.drawn("lobby", "lobby", people, -1)
		tv.areOnMap()
		tv.fitsOn(fmt.Sprintf("lobby-%d-tv", people), wall, "*")
	}
}

// areOnMap waits until everybody whose place is known stands on the map.
func (b *browser) areOnMap() {
	b.Helper()
	b.until("everybody stands on the map", func() bool {
		return eval[bool](b, `document.querySelectorAll(".flat canvas").length === 1 && document.querySelectorAll(".placed").length > 0 && !document.querySelector(".placed:not(.stands)")`)
	})
}

// TestSignMenu checks the menu of a sign by keyboard. Arrows move, Escape closes, and the focus
// returns. The organiser renames somebody, plays without them, and sends them out after a question.
func TestSignMenu(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(0))
	n.as["anna"] = n.secret
	n.plays(0)
	n.plays(1)
	b := n.browse(n.organisersLink(), desktop)
	b.sees("#stage", "2 players here")
	const ben, item = `.one[data-name="ben"] .face`, "#sign-menu [role=menuitem]"
	b.run(`window.confirm = () => { throw new Error("a menu asks in its own words") }`)
	b.tabsTo(ben, kb.ArrowDown)
	b.until("the first item has the focus", func() bool { return b.isAt(item + ":first-child") })
	b.axe("a sign's menu")
	b.types(kb.End)
	b.until("the last item has the focus", func() bool { return b.isAt(item + ":last-child") })
	b.types(kb.ArrowDown)
	b.until("the first item has it again", func() bool { return b.isAt(item + ":first-child") })
	b.types(kb.Escape)
	b.until("the sign has the focus", func() bool { return b.isAt(ben) })
	b.types(kb.Enter)
	b.until("the menu is open", func() bool { return b.isAt(item + ":first-child") })
	b.shoot("lobby-menu", desktop, laptop, pocket)
	b.types(kb.Enter)
	b.until("the name can be typed", func() bool { return b.isAt("#name-of") })
	b.types("benny" + kb.Enter)
	b.sees("#stage .here, #stage .room", "benny")

	const benny = `.one[data-name="benny"] .face`
	b.click(benny)
	b.click(`#sign-menu [data-action=without]`)
	b.sees(`.one[data-name="benny"]`, "comes along")
	b.click(benny)
	b.sees("#sign-menu", "Count benny again")
	b.click(`#sign-menu [data-action=without]`)
	b.until("benny counts", func() bool { return !strings.Contains(b.reads(`.one[data-name="benny"]`), "comes along") })
	zoe := n.browse(n.link(), pocket)
	zoe.enters("zoe")
	const guest = `.one[data-name="zoe"] .face`
	b.click(guest)
	b.click(`#sign-menu [data-action=menu-out]`)
	b.sees("#sign-menu", "Send zoe out of the room?")
	b.shoot("lobby-out", desktop, pocket)
	b.click(`#sign-menu [data-action=menu-close]`)
	b.until("the menu is closed", func() bool { return !eval[bool](b, `!!document.querySelector("#sign-menu")`) })
	b.click(guest)
	b.click(`#sign-menu [data-action=menu-out]`)
	b.click(`#sign-menu [data-action=remove]`)
	b.until("zoe is out", func() bool { return !eval[bool](b, `!!document.querySelector('.one[data-name="zoe"]')`) })
}

// lively is a script that puts a usual evening into the lobby: somebody has just come in, somebody
// has no program, and two send signs.
const lively = `
	const live = muster.live, at = new Date(live.now()).toISOString();
	const people = [["anna", "NL"], ["ben", "US"], ["chong", "MY"], ["dave", "US"], ["emil", "SE"], ["fatima", "NG"], ["gus", "BR"]].map(([name, country], arrival) => ({ name, country: arrival === 6 ? undefined : country, arrival, organiser: arrival === 0, guest: arrival === 6, peer: arrival < 6, connected: arrival < 6, page: true, probed: 0, answered: 0, able: true }));
	muster.view.met = new Map(people.slice(0, 5).map(({ name }) => [name, 0]).concat([["fatima", musterTime.now()], ["gus", 0]]));
	live.receive(JSON.stringify({ people, you: { ...live.state.you, name: "anna", organiser: true }, reactions: [{ name: "dave", sign: "drink", at }, { name: "chong", sign: "go", at }] }));
`

// TestLivelyLobby checks the lobby while signs rise and a menu is open.
func TestLivelyLobby(t *testing.T) {
	atNight(t)
	t.Parallel()
	n := newSession(t, 20, friday(0))
	b := n.browse(n.organisersLink(), desktop)
	b.sees("#stage", "Waiting for the first player")
	b.until("the QR code is there", func() bool { return eval[bool](b, `muster.view.qr !== ""`) })
	b.drawn("lobby", "lobby", 4, 0)
	for _, size := range []screenSize{laptop, desktop, pocket, sideways} {
		b.resize(size)
		b.run("{" + lively + "}")
		b.sees("#stage", "7 are in, 6 can play")
		b.areOnMap()
		b.click(`.one[data-name="emil"] .face`)
		b.until("the menu is open", func() bool { return eval[bool](b, `!!document.querySelector("#sign-menu")`) })
		if found := eval[[]string](b, `[...document.querySelectorAll("#sign-menu button")].map((e) => e.getBoundingClientRect()).filter(({ left, right, top, bottom }) => left < 0 || right > innerWidth || top < 0 || bottom > innerHeight).map(({ left, top }) => Math.round(left) + ", " + Math.round(top))`); len(found) > 0 {
			t.Errorf("on a %s the menu is beyond the screen: %q", size.name, found)
		}
		if os.Getenv("MUSTER_SHOTS") != "" {
			b.capture("lively-"+size.name+".png", chromedp.CaptureScreenshot())
		}
		b.types(kb.Escape)
	}
}
