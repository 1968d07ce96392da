package page_test

import (
	"strings"
	"testing"

	"muster/host/wire"
)

// TestListsOnThePage checks that the organiser brings servers, sees who brought which, and removes
// them. Players' own servers are marked in the ranking, where one can be hidden. During a long look
// at the finalists the page shows interim results, and the organiser can end it.
func TestListsOnThePage(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(4))
	b := browse(t, n.organisersLink(), laptop)
	b.sees("#stage", "Waiting for 4 more players")
	b.unfold("#lists")
	b.unfold("#lists .own")
	b.sets("#brought", "192.0.2.1:27960 <b>Ann's</b> # old\nnot an address\n[2001:db8::1]:27961")
	b.click("#lists form button")
	b.sees("#lists .brought", "<b>Ann's</b>")
	b.sees("#lists .brought", "[2001:db8::1]:27961")
	n.awaits("both are in the room", func(d wire.Document) bool { return d.Lists != nil && len(d.Lists.Favourites) == 2 })
	b.click("#lists [data-action=strike]")
	n.awaits("one is struck off", func(d wire.Document) bool { return len(d.Lists.Favourites) == 1 })
	b.axe("our own servers")
	b.shoot("lists", laptop, phone)
	b.resize(laptop)
	b.run(`window.asked = []; window.fetch = async (url, { body }) => { asked.push(url.split("/").at(-1) + body); return new Response(null, { status: 204 }); }`)
	line := `{ sent: 12, rtt_ms: 44.2, loss: 0, jitter_ms: 1.24, worst_ms: 47.9 }`
	b.tells(`{ people, choice: { ...choice, selection: { ...selection, ranking: [{ ...ranked, ours: true }] } }, agreement: { open: false }, room: room("chosen", { long_look_ms: 30000 }),
		look: { until: new Date(Date.now() + 17500).toISOString(), finalists: [
			{ addr, name: servers[addr].name, lines: { anna: ` + line + `, ben: { ...` + line +
		`, loss: .25 } } }, { addr: "192.0.2.8:27960", name: "\u202e<i>x</i>", lines: {} }] } }`)
	b.sees("#stage .long-look", "s to go")
	b.sees("#stage .long-look", "25 % lost")
	b.sees("#stage .long-look", "95 of 100: 48 ms")
	b.sees("#stage .long-look", "<i>x</i>")
	b.shoot("long-look", laptop, phone, night4k)
	b.resize(laptop)
	b.click("#stage [data-action=go]")
	b.unfold("#ranking")
	b.sees("#ranking tbody", "♥")
	b.click("#ranking [data-sure=hide-here]")
	b.click("#ranking [data-action=hide-here]")
	b.until("the room is asked for both", func() bool {
		asked := eval[string](b, "asked.join(' ')")
		return strings.Contains(asked, `go{"stage":"chosen"}`) && strings.Contains(asked, `hide{"addr":"192.0.2.7:27960","hidden":true}`)
	})
}
