package page_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adrg/xdg"
	"github.com/chromedp/chromedp/kb"

	"muster/internal/sim"
)

// TestHomeKeyboard checks every page of Home without a mouse. Tab reaches everything, the focus is
// visible, and keys operate it. A person who prefers less motion gets it.
func TestHomeKeyboard(t *testing.T) {
	h := startHome(t, 60)
	b := browseHome(t, h, wide)
	b.tabsTo(".skip", kb.Enter)
	b.until("the page is skipped to", func() bool { return b.isAt("#main") })
	b.prefers("prefers-reduced-motion", "reduce")
	b.until("nothing moves", func() bool {
		return eval[string](b, `getComputedStyle(document.querySelector(".door")).transitionDuration`) == "0s"
	})

	b.tabsTo(`.door[href="#find"]`, kb.Enter)
	b.until("the page's title has the focus", func() bool { return b.isAt("h1") })
	b.tabsTo("#find-game", "my are"+kb.Enter)
	b.until("the search has ended", func() bool {
		return eval[bool](b, "home.state()?.find.asked > 0 && !home.state().find.running && home.table.rows.size === home.state().find.answered")
	})
	b.tabsTo(`#heads [data-by="players"]`, kb.Enter)
	b.until("a title sorts, and keeps the focus", func() bool {
		return eval[string](b, "home.table.order.by") == "players" && b.isAt(`#heads [data-by="players"]`)
	})
	b.tabsTo("#filters [name=people]", " ")
	b.until("empty servers are left out", func() bool {
		return eval[bool](b, "home.table.filter.people && home.table.shown.length < home.table.rows.size")
	})
	b.tabsTo("#filters [name=text]", kb.Enter)
	b.until("the list has the focus", func() bool { return b.isAt("#list") })
	b.types(kb.ArrowDown + kb.ArrowDown + "f")
	b.until("the second is a favourite", func() bool {
		return eval[bool](b, "home.table.favourites.has(home.table.shown[1].addr)")
	})
	b.tabsTo(`#server [data-action="connect"]`, kb.Enter)
	b.sees("#questions", "Start My Arena now?")
	b.tabsTo(`#questions [value="n"]`, kb.Enter)
	b.until("the answer counts", func() bool { return eval[int](b, "home.state().questions.length") == 0 })
	b.run(`document.querySelector("#list").focus()`)
	b.types(kb.Escape)
	b.until("the server is closed", func() bool { return !eval[bool](b, `document.querySelector("#server").checkVisibility()`) })
	b.types("/")
	b.until("/ leads to the filter", func() bool { return b.isAt("#filters [name=text]") })

	b.tabsTo(`nav [href="#join"]`, kb.Enter)
	b.tabsTo("#link", "http://127.0.0.1:1/#BAKODI")
	b.run(`window.open = () => null`)
	b.tabsTo("#join-form .primary", kb.Enter)
	b.sees("#now", "No host answers at 127.0.0.1:1")
	b.tabsTo(`#now [data-what="room"]`, kb.Enter)

	b.tabsTo(`nav [href="#play"]`, kb.Enter)
	b.tabsTo("#play-game", "my are"+kb.Enter)
	b.until("the game is chosen", func() bool {
		return eval[bool](b, `document.querySelector("#play-game").value === "My Arena" && document.querySelector("#play-game-matches").hidden`)
	})
	b.tabsTo("#more > summary", kb.Enter)
	b.tabsTo("[name=by]:checked", kb.ArrowDown)
	b.until("another rule wants a limit", func() bool { return eval[string](b, `document.querySelector("#limits_ms").value`) == "150" })
	b.tabsTo("#play-form .primary")

	b.tabsTo(`nav [href="#computer"]`, kb.Enter)
	b.tabsTo("#set-name", "bob"+kb.Tab)
	b.sees("#set-name-said", "Saved")
	b.tabsTo("#set-lan")
}

// TestHomeHostile checks names that are long, hostile, or written from right to left. They stay text
// and in their place, also on a phone: in the list, among the favourites, in a watch.
func TestHomeHostile(t *testing.T) {
	h := startHome(t, 12)
	names := []string{
		strings.Repeat("WWWWWWWWWW", 20),
		"<script>document.title='owned'</script><img src=x onerror=document.title='owned'>",
		"\u202egnorts\u202c أهلا وسهلا بكم في خادمنا الطويل جدا جدا جدا",
		"Zażółć gęślą jaźń " + strings.Repeat("Ł", 60),
		"  ", strings.Repeat("👾", 40), "a\u0300\u0301\u0302\u0303\u0304" + strings.Repeat("\u0316", 60),
	}
	for i := range h.fleet.Servers() {
		h.fleet.Update(i, func(s *sim.Server) {
			s.Silent, s.Refusing = false, false
			s.Info.Name, s.Info.Map, s.Info.Mode = names[i%len(names)], strings.Repeat("longmap", 6), strings.Repeat("mode", 6)
			s.Info.MaxPlayers, s.Info.Players, s.Info.Bots = 8, 8, 0
		})
	}
	b := browseHome(t, h, narrow)
	b.run(`location.hash = "#find"`)
	b.sees("h1", "Find a server")
	b.click(`[data-game="myarena"]`)
	b.until("all have answered", func() bool { return eval[bool](b, "home.table.rows.size >= 7 && !home.state().find.running") })
	b.shootHome("home-hostile-list")
	b.run(`document.querySelector("#list").focus()`)
	for range names {
		b.press("ArrowDown")
		b.press("f")
	}
	b.until("they are favourites", func() bool { return eval[int](b, "home.table.favourites.size") >= 7 })
	b.click(`#server [data-action="watch"]`)
	b.sees("#now", "Muster checks again")
	b.shootHome("home-hostile")
	for _, size := range []screenSize{wide, narrow} {
		b.resize(size)
		if wider := b.settled(
			`["#server", "#list", "#now"].filter((of) => { const e = document.querySelector(of); return e.scrollWidth > e.clientWidth; })`); len(wider) > 0 {
			t.Errorf("on a %s %q is wider than its place", size.name, wider)
		}
	}
	if eval[bool](b, `!!document.querySelector("main img, main script, #now img, #now script") || document.title.includes("owned")`) {
		t.Error("a server's name is markup")
	}
}

// TestHomeTrouble checks that Home opens with damaged files, reports them and leaves them alone. A
// page whose Home has ended says so.
func TestHomeTrouble(t *testing.T) {
	atNight(t)
	h := startHomeSet(t, 5, "lan = \"off\"\nrate = \"many\nname = \"ann\"\n")
	b := browseHome(t, h, wide)
	b.sees("#banner", "config.toml:2")
	b.sees("#banner", "fix or delete that file")
	b.run(`location.hash = "#computer"`)
	b.sees("#settings", "config.toml:2")
	b.shootHome("home-trouble")
	if err := os.WriteFile(filepath.Join(xdg.ConfigHome, "muster", "config.toml"), []byte("lan = \"off\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.click(`[data-action="settings-again"]`)
	b.sets("#set-name", "bob")
	b.until("all is well", func() bool { return eval[bool](b, `document.querySelector("#banner").hidden`) })
	other := browseHome(t, h, wide)
	other.click("#quit")
	other.sees("#banner", "Muster has stopped")
	b.sees("#banner", "Muster doesn’t answer: it has stopped")
}
