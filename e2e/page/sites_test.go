package page_test

import (
	"strings"
	"testing"
)

// TestSites checks that the organiser can enter places for a server of the group's own. The page
// names the places without their addresses, whatever their names are. If nothing suits, it shows
// how a server there would do, and lets everyone measure again.
func TestSites(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(4))
	b := browse(t, n.organisersLink(), phone)
	b.sees("#stage", "Waiting for 4 more players")
	b.unfold("#stage .more")
	b.sets("#stage textarea[name=places]", "Frankfurt, 192.0.2.71\n<b>London</b>, 192.0.2.72:443, tcp")
	b.until("the room has the places", func() bool { return strings.Contains(b.reads("#stage .more"), "Frankfurt and <b>London</b>") })
	if html := eval[string](b, "document.documentElement.outerHTML + JSON.stringify(muster.live.state)"); strings.Contains(html, "192.0.2.7") {
		t.Error("the page is told where the places are")
	}
	const found = `{ people, room: room("failed", { limits_ms: [150] }), choice: { ...choice, target: undefined, explain: [{ key: "why.nothing" }], selection: { ...selection, chosen: null, ranking: [], culled: { over_threshold: 1400 } } },
		sites: { better: true, waiting: ["dave"], answer: { key: "sites.suit", with: { would: { key: "sites.would", with: { n: 2, first: { key: "sites.gives", with: { place: "Frankfurt", ms: 48, worst: 62 } }, second: { key: "sites.gives-too", with: { place: "<b>London</b>", ms: 51, worst: 60 } } } }, now: { key: "sites.now-gives", with: { ms: 71, worst: 140 } } } }, now: { mean_ms: 71, max_ms: 140 },
			sites: [{ name: "Frankfurt", suits: true, mean_ms: 48, max_ms: 62, rtt_ms: { anna: 40, ben: 62, chong: 50, dave: 40 } }, { name: "<b>London</b>", suits: true, mean_ms: 51, max_ms: 60, rtt_ms: { anna: 60, ben: 51, chong: 50, dave: 43 } },
				{ name: "W".repeat(48), suits: false, mean_ms: 0, max_ms: 0, silent: ["ben"], rtt_ms: { anna: 120, chong: 250, dave: 93 } }] } }`
	b.tells(found)
	b.sees("#stage .places", "Frankfurt would give 48/62 ms (average/worst), <b>London</b> 51/60; the best existing server gives 71/140.")
	b.sees("#stage .places", "Still measuring: dave.")
	b.axe("places for a server of our own")
	b.shoot("sites", phone, desktop)
	b.run(`window.asked = []; window.fetch = async (url, { body }) => { asked.push(url.split("/").at(-1)); return new Response(null, { status: 204 }); }`)
	b.click("#stage .places [data-action=survey]")
	b.until("the room is asked to measure again", func() bool { return eval[string](b, "asked.join(' ')") == "survey" })
}
