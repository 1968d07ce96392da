package page_test

import (
	"strings"
	"testing"
	"time"

	"muster/host/room"
	"muster/host/wire"
)

// TestStanding checks that a standing room shows the next date by the reader's clock, and who
// comes. When its session ends it sleeps, with the page open, over a restart of the host. Then one
// of its people opens it again. Only they can see the history.
func TestStanding(t *testing.T) {
	t.Parallel()
	settings := friday(0)
	settings.Every, settings.Agree = "fri 20:00 Asia/Tokyo", wire.No
	n := newSession(t, 20, settings)
	n.as["anna"] = n.secret
	n.plays(0)
	n.plays(1)
	ann := n.browse(n.organisersLink(), pocket)
	ann.sees("#stage .meeting", "Next: ")
	at := eval[float64](ann, `Date.parse(document.querySelector(".meeting time").dateTime)`)
	if next := time.UnixMilli(int64(at)).UTC(); next.Weekday() != time.Friday || next.Hour() != 11 {
		t.Errorf("the next date is %v", next)
	}
	ann.click(`[data-action=come][data-value="true"]`)
	ann.sees("#stage .meeting", "Coming: anna")
	ann.axe("the lobby of a room that stays")
	tv := n.browse(strings.Replace(n.organisersLink(), "/#", "/?tv#", 1), wall)
	tv.sees("#stage .meeting", "Coming: anna")
	tv.isFromTheSofa("the lobby of a room that stays", wall, wall4)
	ann.shoot("standing-lobby", pocket, desktop)
	ann.click("#stage [data-action=go]")
	n.searched()
	n.awaitsStage(wire.Launching)
	ben := n.browse(n.personal("ben"), desktop)
	stranger := n.browse(n.link(), laptop)
	n.rooms.Steer(n.code, room.End{})
	ben.sees("#stage h1", "Good night")
	ben.sees("#stage", "The room sleeps until somebody comes")
	ben.click(`[data-action=like][data-value="true"]`)
	ben.sees("#stage .meeting", "liked by 1 of 1")
	ben.click(`[data-action=come][data-value="false"]`)
	ben.sees("#stage .meeting", "Not coming: ben")
	if said := eval[string](ben,
		`[...document.querySelectorAll(".meeting [aria-pressed=true]")].map((e) => e.textContent).join(", ")`); said != "Can’t make it, Good" {
		t.Errorf("pressed is %q", said)
	}
	ben.axe("the night of a room that stays")
	ben.shoot("standing-night", pocket, desktop)
	ben.click("[data-action=evenings]")
	ben.sees("#dialog", "anna")
	ben.axe("the evenings")
	ben.click("#dialog [data-sure=forget]")
	ben.sees("#dialog .sure", "You lose your place here")
	ben.axe("the evenings, with a question")
	ben.click("#dialog [data-action=unsure]")
	ben.until("nothing asks any more", func() bool { return eval[bool](ben, `!document.querySelector("#dialog .sure")`) })
	ben.resize(pocket)
	ben.until("the evenings fit a phone", func() bool {
		return eval[bool](ben, `(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth <= clientWidth)(document.querySelector("#dialog .scroll"))`)
	})
	ben.axe("the evenings on a phone")
	ben.shoot("standing-evenings", pocket, desktop)
	ben.click("#dialog form[method=dialog] button")
	stranger.sees("#stage h1", "Good night")
	tv.sees("#stage .meeting", "Last time: ")
	tv.isFromTheSofa("the night of a room that stays", wall, wall4)
	if shown := stranger.reads("#stage"); strings.Contains(shown, "Open the room") || strings.Contains(shown, "History") {
		t.Errorf("who has but the link is offered %q", shown)
	}

	n.close()
	n.open()
	n.pass(5 * time.Second)
	ben.until("the page is back", func() bool { return eval[bool](ben, `muster.live.shownAs() === "live"`) })
	ben.sees("#stage .meeting", "liked by 1 of 1")
	ben.click("[data-action=wake]")
	ben.sees("#stage h1", "Who’s in tonight?")
	ben.sees("#stage .meeting", "Last time: ")
	ann.sees("#stage .meeting", "Coming: anna")
}

// TestHomeStanding checks that Home shows a closed standing room, and that one button reopens it.
func TestHomeStanding(t *testing.T) {
	atNight(t)
	h := startHome(t, 20)
	b := browseHome(t, h, wide)
	b.opensRoom(func() {
		b.run(`document.querySelector("#name").value = "Friday"; document.querySelector("#every").value = "fri 20:00 Asia/Tokyo"`)
	})
	b.until("the program has seen the room", func() bool {
		return eval[bool](b, `home.state().room.lines.some((line) => line.includes("is open for"))`)
	})
	b.closesRoom()
	b.run(`location.hash = ""`)
	b.sees("#standing-rooms", "Friday")
	b.sees("#standing-rooms", "next Fri")
	b.shootHome("home-standing")
	b.click("#standing-rooms [data-action=again]")
	b.sees("#now", "You’re in a room")
	b.until("it is the same room", func() bool {
		return eval[bool](b, `home.state().room.lines.some((line) => line.includes("going on with room"))`)
	})
	b.closesRoom()
}
