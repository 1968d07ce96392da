package page_test

import (
	"strings"
	"testing"
	"time"

	"muster/host/wire"
)

// TestSession plays a whole session in two browsers with four real peers: settings, live progress,
// what-if, veto, vote, a restart of the host, launch, and the next round.
func TestSession(t *testing.T) {
	t.Parallel()
	settings := friday(0)
	settings.GuestsVote = true
	n := newSession(t, 1200, settings)
	organiser := n.browse(n.organisersLink(), desktop)
	organiser.enters("anna")
	if hash := eval[string](organiser, "location.hash"); "http://"+n.at+"/"+hash != n.link() {
		t.Errorf("the organiser's secret stands in the address: %s", hash)
	}
	guest := n.browse(n.link(), phone)
	guest.sees("#invite", "muster join "+n.link())
	guest.shoot("gathering", phone, couch)
	guest.enters("zoe")
	organiser.sees("#people", "zoe")

	n.as["anna"] = n.secret
	n.plays(0)
	n.plays(1)
	n.plays(2)
	n.plays(3)
	organiser.sees("#stage", "5 are in, 4 can play")
	organiser.run(`{ window.orders = []; const sends = fetch; window.fetch = (url, how) => { if (how?.body) orders.push(how.body); return sends(url, how); } }`)
	organiser.sets("#by", "threshold")
	organiser.sets("#limits_ms", "280")
	// What was not changed may be older here than in the room.
	if orders, want := eval[string](organiser, "orders.join('\\n')"), `{"settings":{"by":"threshold"}}`+"\n"+`{"settings":{"limits_ms":[280]}}`; orders != want {
		t.Errorf("the organiser's page orders\n%s\nwant\n%s", orders, want)
	}
	guest.sees("#settings", "Average under a limit")
	guest.sees("#settings", "280 ms")
	organiser.shoot("gathering", desktop, laptop)

	organiser.click("#stage [data-action=go]")
	guest.sees("#stage", "Everyone is measuring")
	n.measures(0, 400)
	organiser.until("points are drawn", func() bool { return eval[int](organiser, "muster.live.clouds.of('ben').length") > 350 })
	organiser.shoot("measuring", desktop, laptop)
	guest.shoot("measuring", phone)

	n.close()
	organiser.until("the page has lost its host", func() bool { return eval[string](organiser, "muster.live.connection") == "lost" })
	n.pass(6 * time.Second)
	organiser.sees("#banner", "Lost the connection to the host")
	organiser.shoot("lost", desktop)
	n.open()
	n.pass(5 * time.Second)
	organiser.until("the page is back", func() bool { return organiser.reads("#banner") == "" })
	organiser.until("it has the points again", func() bool { return eval[int](organiser, "muster.live.clouds.of('ben').length") >= 150 })
	n.searched()

	organiser.sees("#stage h1", "Where shall we play?")
	guest.sees("#why", "average")
	before := organiser.reads("#stage .leads h2")

	guest.sets(`#whatif [value="minimax"]`, "true")
	organiser.sees("#whatif .outcome", "zoe tries “Kindest to the worst off”")
	organiser.shoot("whatif", desktop)
	organiser.click("#whatif [data-action=forget-whatif]")

	guest.click("#stage .candidate:nth-child(2) .cast")
	organiser.until("the vote counts", func() bool { return organiser.reads("#stage .leads h2") != before })
	guest.click("#ranking tr:nth-child(1) [data-action=veto]")
	guest.click("#ranking tr:nth-child(1) [data-action=veto]") // the first one asks
	organiser.sees("#log", "zoe vetoes")
	organiser.sees("#stage", "Where shall we play?")
	organiser.shoot("agreeing", desktop, laptop)
	guest.shoot("agreeing", phone, pocket)
	guest.votesInAPocket()

	guest.click("#stage [data-ready=true]")
	organiser.click("#stage [data-ready=true]")
	n.decides()
	n.pass(reveal)
	guest.begins("countdown", "Next stop")
	n.pass(countdown)
	room := n.awaitsStage(wire.Launching)
	guest.sees("#connect", room.Way.Connect)
	organiser.sees("#people", "couldn’t start: openarena: not found in PATH")
	if link := eval[string](guest, "document.querySelector('.way a').href"); link != "steam://connect/"+room.Way.Connect {
		t.Errorf("the way in is %q", link)
	}
	organiser.shoot("launching", desktop, laptop, night4k)
	guest.shoot("launching", phone, couch)
	sharedPicture(organiser)
	culledList(organiser)

	organiser.click("#stage .parting [data-sure=end]")
	organiser.sees("#stage .parting", "Shall we call it a night?")
	organiser.sees("#stage .same-time", "Same time ")
	organiser.shoot("closing", desktop, phone)
	organiser.click("#stage [data-action=go]")
	n.awaits("the next round", func(r wire.Snapshot) bool { return r.Room.Round == 2 })
	organiser.sees("#evening", "Round 1")

	n.searched()
	n.pass(8 * time.Second)
	organiser.until("nothing is told any more", func() bool { return organiser.reads("#toast") == "" })
	organiser.click("#steer [data-sure=end]")
	organiser.sees("#steer .sure", "Everyone will be told")
	organiser.click("#steer [data-action=end]")
	n.awaits("the end", func(r wire.Snapshot) bool { return !r.Room.Ended.IsZero() })
	n.pass(tick)
	for _, b := range []*browser{organiser, guest} {
		b.sees("#stage h1", "Good night")
		b.sees("#stage .awards", "Nearest")
		b.until("the poster is there", func() bool {
			return eval[int](b, `document.querySelector("#stage .poster img")?.naturalWidth ?? 0`) == 1080
		})
	}
	organiser.sees("#stage", "closed the room at")
	if toast := organiser.reads("#toast"); toast != "" {
		t.Errorf("the end is told as %q", toast)
	}
	organiser.shoot("night", desktop, laptop, night4k)
	guest.shoot("night", phone, couch)
	guest.until("nothing is looked for any more", func() bool {
		return guest.reads("#banner") == "" && eval[string](guest, "muster.live.connection") == "over"
	})
}

// sharedPicture checks that the picture of the result is saved if the browser cannot share.
func sharedPicture(b *browser) {
	b.Helper()
	b.run(`window.made = []; const make = URL.createObjectURL; URL.createObjectURL = (blob) => { made.push(blob); return make.call(URL, blob); }`)
	b.click("#stage [data-action=share]")
	b.sees("#toast", "saved as game-night.png")
	const drawn = 10_000 // bytes; an empty picture has few
	if made := eval[int](b, `made.findLast((blob) => blob.type === "image/png")?.size ?? 0`); made < drawn {
		b.Errorf("the picture has %d bytes", made)
	}
}

// culledList checks that each list of the culled servers is one click away.
func culledList(b *browser) {
	b.Helper()
	b.click("#culled [data-cause=unreachable], #culled [data-cause=full]")
	b.sees("dialog[open] h2", "server")
	b.shoot("culled", desktop)
	b.click("dialog[open] form button")
}

// TestOneself checks that people can change their name, find their own link, and leave.
func TestOneself(t *testing.T) {
	t.Parallel()
	n := newSession(t, 50, friday(0))
	n.plays(1)
	guest := n.browse(n.link(), phone)
	guest.enters("zoe")
	guest.sees("#people .badge", "guest")
	guest.reads("#me")
	guest.run(`document.querySelector("#me details").open = true`)
	guest.shoot("oneself", phone, couch)
	own := eval[string](guest, `document.querySelector("#own-link").textContent`)
	guest.run(`document.querySelector("#new-name").value = "zoë\u202e<b>"; document.querySelector("#me form").requestSubmit()`)
	guest.sees("#people", "zoë<b>")
	other := n.browse(own, desktop)
	other.sees("#people .badge", "you")
	other.sees("#people", "zoë<b>")
	guest.click("#me [data-sure=leave]")
	guest.click("#me [data-action=leave]")
	guest.sees("#welcome", "Your nickname")
	other.sees("#toast", "missing or out of date")

	player := n.browse(n.personal("ben"), desktop)
	player.sees("#people .badge", "you")
	if got := player.reads("#people"); strings.Contains(got, "guest") || player.reads("#welcome") != "" {
		t.Errorf("by the personal link ben is %s", got)
	}
	organiser := n.browse(n.organisersLink(), desktop)
	organiser.click("#steer [data-sure=renew]")
	organiser.click("#steer [data-action=renew]")
	organiser.sees("#toast", "The organiser’s link has changed")
	organiser.sees("#steer", "Lock the room")
	n.browse(n.organisersLink(), desktop).sees("#toast", "missing or out of date")
}

// votesInAPocket checks the vote on a small phone. Three candidates and the button for being ready
// are above the fold, controls are large enough, and no veto happens by mistake.
func (b *browser) votesInAPocket() {
	b.Helper()
	b.resize(pocket)
	if wrong := b.settled(`(() => {
		const box = (e) => e.getBoundingClientRect(), wrong = [];
		const ready = box(document.querySelector("#stage .ready"));
		const seen = [...document.querySelectorAll(".candidate")].filter((e) => e.checkVisibility() && box(e).bottom <= ready.top);
		if (seen.length < Math.min(3, document.querySelectorAll(".candidate").length)) wrong.push(seen.length + " candidates above " + ready.top);
		if (ready.bottom > innerHeight) wrong.push("who is ready at " + ready.bottom);
		for (const e of seen.filter((e) => e.matches(".open"))) {
			const cast = box(e.querySelector(".cast")), veto = e.querySelector(".veto");
			if (cast.height < 48) wrong.push("a button " + cast.height + " px high");
			if (veto && box(veto).left - cast.right < 12) wrong.push("a veto " + (box(veto).left - cast.right) + " px from the vote");
		}
		return wrong;
	})()`); len(wrong) > 0 {
		b.Errorf("the vote in a pocket: %s", wrong)
	}
	b.resize(desktop)
}
