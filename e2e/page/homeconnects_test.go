package page_test

import (
	"strings"
	"testing"

	"muster/internal/sim"
)

// TestHomeConnects checks that Home watches a full server, whatever its name is, and reports when
// somebody leaves. A person who connects to the server, by this report or from the list, is asked
// once. After the answer nothing else waits for a click. Beside the question there is no bar, no
// message that the game has started, no free seat reported for the server, and no question from the
// browser.
func TestHomeConnects(t *testing.T) {
	h := startHome(t, 12)
	b := h.findOne()
	b.sees("#list", "<img src=x")
	b.click(`[data-action="watch"]`)
	b.sees("#now", "Muster checks again")
	b.shootHome("home-watch")
	h.fleet.Update(0, func(s *sim.Server) { s.Info.Players = 3 })
	b.sees("#now", "has a free seat")
	b.until("the tab's title says so", func() bool { return strings.Contains(eval[string](b, "document.title"), "has a free seat") })
	b.shootHome("home-seat")
	if eval[bool](b, `!!document.querySelector("main img, #now img") || document.title === "owned"`) {
		t.Error("a server's name is markup")
	}
	b.run(`Object.defineProperty(Notification, "permission", { get: () => "default" }); window.allowed = 0; Notification.requestPermission = async () => { allowed++; return "denied"; }`)
	for _, way := range []struct{ button, answer string }{
		{`[data-action="go-there"]`, "n"}, {`#server [data-action="connect"]`, "n"}, {`#server [data-action="connect"]`, "y"},
	} {
		b.click(way.button)
		b.sees("#questions", "Start My Arena now?")
		b.sees("#questions", h.fleet.Servers()[0].Addr.String())
		b.hasOneQuestion()
		b.click(`#questions [value="` + way.answer + `"]`)
		b.until("the answer counts", func() bool { return eval[bool](b, "home.state().questions.length === 0 && !home.state().go.running") })
		b.until("nothing waits for a click", func() bool {
			return eval[bool](b, `document.querySelector("#now").hidden && document.querySelector("#questions").hidden`)
		})
	}
	b.until("the game has started", func() bool {
		return eval[bool](b, `home.state().go.launch === "launched" && home.state().go.lines.some((line) => line.includes("have fun"))`)
	})
	if n := eval[int](b, "allowed"); n != 0 {
		t.Errorf("the browser asked %d times whether Home may notify", n)
	}
	h.fleet.Update(0, func(s *sim.Server) { s.Info.Players = 4 })
	b.run(`window.before = home.state().find.id`)
	b.click(`[data-action="find-again"]`)
	b.until("the server is full", func() bool {
		return eval[bool](b, `home.state().find.id > before && !home.state().find.running && home.table.rows.size === 1`)
	})
	b.run(`document.querySelector("#list").focus()`)
	b.press("ArrowDown")
	b.click(`[data-action="watch"][data-goes]`)
	b.sees("#now", "Muster checks again")
	h.fleet.Update(0, func(s *sim.Server) { s.Info.Players = 3 })
	b.sees("#questions", "Start My Arena now?")
	b.hasOneQuestion()
	b.click(`#questions [value="y"]`)
	b.until("the game has started", func() bool {
		return eval[bool](b, `home.state().watch.launch === "launched" && !home.state().watch.running && document.querySelector("#now").hidden`)
	})
}

// TestHomeConnectsByHand checks that a player who starts games without Muster reads each time how
// to do it, until they have dismissed it.
func TestHomeConnectsByHand(t *testing.T) {
	atNight(t)
	h := startHomeSet(t, 12, "lan = \"off\"\nport_map = false\nrate = 2000\nname = \"ann\"\nlaunch = \"never\"\n")
	b := h.findOne()
	for range 2 {
		b.click(`#server [data-action="connect"]`)
		b.sees("#now", "start it yourself with the line above")
		b.sees("#now", "true +connect "+h.fleet.Servers()[0].Addr.String())
		b.click(`#now [data-action="forget"]`)
		b.until("it is read", func() bool { return eval[bool](b, `document.querySelector("#now").hidden`) })
	}
}

// findOne opens Home and looks at one server, which is full and has a hostile name.
func (h *home) findOne() *browser {
	h.Helper()
	const hostile = `<img src=x onerror="document.title='owned'">"'&`
	h.fleet.Update(0, func(s *sim.Server) {
		s.Silent, s.Refusing = false, false
		s.Info.Name, s.Info.MaxPlayers, s.Info.Players, s.Info.Bots = hostile, 4, 4, 0
	})
	b := browseHome(h.T, h, wide)
	b.run(`location.hash = "#find"`)
	b.sees("h1", "Find a server")
	b.run(`document.querySelector("details.own").open = true; document.querySelector("#own-servers").value = "` +
		h.fleet.Servers()[0].Addr.String() + `"`)
	b.click(`[data-game="myarena"]`)
	b.until("the server answers", func() bool { return eval[bool](b, "home.table.rows.size === 1 && !home.state().find.running") })
	b.run(`document.querySelector("#list").focus()`)
	b.press("ArrowDown")
	return b
}

// hasOneQuestion checks that exactly one thing on the page wants an answer.
func (b *browser) hasOneQuestion() {
	b.Helper()
	if now := strings.TrimSpace(b.reads("#now")); now != "" || eval[int](b, `document.querySelectorAll("#questions form").length`) != 1 {
		b.Errorf("beside the question stands %q; the questions are %q", now, b.reads("#questions"))
	}
}
