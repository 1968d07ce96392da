package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestMatch plays a match of two sides through its pages. One captain uses the keyboard and listens
// to the page, the other came by their side's link and presses. Until the server is decided, nobody's
// page knows another player's ping.
func TestMatch(t *testing.T) {
	t.Parallel()
	settings := friday(0)
	settings.Match, settings.Maps, settings.SideA = "bo3", "dm6, dm17, ztn", "Nightjars"
	n := newSession(t, 80, settings)
	anna := n.browse(n.organisersLink(), desktop)
	anna.sees("#stage", "Nightjars – Side B")
	anna.run(ears)
	anna.tabsTo("#nickname", "anna"+kb.Enter)
	anna.sees("#people .badge", "you")
	n.as["anna"] = n.secret
	n.plays(0)
	n.plays(1)
	anna.sees("#stage .neither", "ben")
	anna.folds(false)

	ben := n.browse(strings.Replace(n.personal("ben"), "/#", "/?side=b#", 1), pocket)
	ben.sees("#stage .own-side", "You are here") // the link has led there
	anna.tabsTo("[data-key=team-a] .join-side", kb.Enter)
	anna.sees("#stage .own-side", "captain")
	anna.sets("[name=side_b]", "Tin Foxes")
	ben.sees("#stage .own-side h2", "Tin Foxes")

	anna.tabsTo("#stage [data-action=go]", kb.Enter)
	anna.begins("search", "Everyone is measuring")
	n.searched()
	anna.begins("ban", "Your ban", "timer", "radio", "list", "button Choose what to ban")
	anna.sees("#steps", "Ban")
	ben.sees("#stage h1", "anna bans")
	for _, b := range []*browser{anna, ben} {
		b.knowsNobodysPing()
	}
	anna.isRefused()
	for moves := 0; ; moves++ {
		at := fmt.Sprintf("!!muster.live.state.match.decided || (muster.live.state.match.turn?.number ?? 0) > %d", moves)
		anna.until("the next turn comes", func() bool { return eval[bool](anna, at) })
		ben.until("the next turn comes", func() bool { return eval[bool](ben, at) })
		if eval[bool](anna, "!!muster.live.state.match.decided") {
			break
		}
		isAnnas := eval[string](anna, "muster.live.state.match.turn.captain") == "anna"
		if moves > 0 { // the form for the turn before may still be there
			captain := ben
			if isAnnas {
				captain = anna
			}
			captain.until("there is a new form", func() bool {
				return eval[bool](captain, "!!document.querySelector('#stage .move:disabled') && !document.querySelector('#stage input[name=nominee]:checked')")
			})
		}
		if isAnnas {
			anna.tabsTo("#stage input[name=nominee]", " ")
			anna.tabsTo("#stage .move", kb.Enter)
		} else {
			ben.click("#stage input[name=nominee]")
			ben.click("#stage .move:not(:disabled)")
		}
	}
	n.launches()
	anna.begins("go", "You’re on the way", "list Maps in their order")
	anna.sees("#stage .match-story", "dm6")
	ben.sees("#stage .side-head", "Tin Foxes")
	if plays := eval[int](ben, "document.querySelectorAll('#stage .series li').length"); plays != 3 {
		t.Errorf("the match has %d maps", plays)
	}
	anna.run(`{ const { match, way } = muster.live.state; muster.live.receive(JSON.stringify({ type: "state",
		match: { ...match, even: { anna: { sides_ms: 12, all_ms: 200 } } },
		way: { ...way, delay: { command: "cl_delay_packet {ms}", most_ms: 150, program: "ezQuake" } } })) }`)
	anna.sees("#stage .match-story", "In ezQuake’s console, before the match:")
	if typed := eval[[]string](anna, "[...document.querySelectorAll('#stage .match-story code')].map((e) => e.textContent)"); len(typed) != 1 ||
		typed[0] != "cl_delay_packet 12" {
		t.Errorf("anna would type %q", typed)
	}
}

// knowsNobodysPing checks that the page has no ping but the reader's own.
func (b *browser) knowsNobodysPing() {
	b.Helper()
	for _, found := range eval[[]string](b, `(() => {
		const found = [], walk = (value, path) => {
			if (!value || typeof value !== "object") return;
			for (const [key, inner] of Object.entries(value)) {
				if (key === "rtt_ms" && Object.keys(inner ?? {}).length > 0) found.push(path + "." + key);
				walk(inner, path + "." + key);
			}
		};
		const { own, evening, ...others } = muster.live.state;
		walk(others, "state");
		return found;
	})()`) {
		b.Errorf("the page knows %s", found)
	}
}

// isRefused checks that a refused move says so, that the captain can try again, and that it does
// not stop the clock.
func (b *browser) isRefused() {
	b.Helper()
	b.run(`globalThis.asks = globalThis.fetch; globalThis.fetch = async () => new Response(JSON.stringify({ message: "too late" }), { status: 409 })`)
	b.tabsTo("#stage input[name=nominee]", " ")
	b.sees("#stage .move", "Ban ")
	if gold := eval[int](b, `document.querySelectorAll("#stage .primary").length`); gold != 1 {
		b.Errorf("%d buttons are gold", gold)
	}
	b.tabsTo("#stage .move", kb.Enter)
	b.sees("#stage [role=alert]", "That move did not count. too late")
	b.run(`globalThis.fetch = globalThis.asks`)
}
