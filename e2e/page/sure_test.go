package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestSure checks that the page itself asks before it does what cannot be taken back. The first
// press brings a question, the second press is a yes, and "No" takes the question away. A double
// click is one press.
func TestSure(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(4))
	b := browse(t, n.organisersLink(), desktop)
	b.sees("#stage", "Waiting for 4 more players")
	b.run(`window.confirm = () => { throw new Error("the page asks in its own words") };
		window.asked = [];
		const elsewhere = window.fetch;
		window.fetch = (url, how) => how?.method === "POST" ? (asked.push(url.split("/").at(-1) + how.body), Promise.resolve(new Response("{}"))) : elsewhere(url, how)`)
	b.tells(`{ people, you: { ...live.state.you, name: "anna", organiser: true }, choice, agreement: { open: false }, room: room("launching"),
		meeting: { every: "fri 20:00 UTC", who: [{ name: "<b>\u202eeve</b>" }], evenings: 0 } }`)
	for _, c := range []struct{ within, key, question, asks string }{
		{"#me", "leave", "You give up your place", "leave"},
		{"#steer", "renew", "The old one stops working", "renew"},
		{"#ranking", "hide-here", "The room won’t go there", `hide{"addr":"192.0.2.7:27960","hidden":true}`},
		{"#people", "forget", "Forget <b>eve</b>? They lose their place", "forget{\"name\":\"<b>\u202eeve</b>\"}"},
	} {
		button := fmt.Sprintf(`%s [data-sure^=%q]`, c.within, c.key)
		b.click(button)
		b.sees(c.within+" .sure", c.question)
		b.axe("the question of " + c.key)
		b.shoot("sure-"+c.key, pocket)
		b.click(c.within + " [data-action=unsure]")
		b.until("nothing asks any more", func() bool { return eval[bool](b, `!document.querySelector(".sure")`) })
		b.unfold(button)
		b.run(fmt.Sprintf(`{ const e = document.querySelector(%q); e.focus(); for (const detail of [1, 2]) e.dispatchEvent(new MouseEvent("click", { bubbles: true, detail })); }`, button))
		b.sees(c.within+" .sure", c.question)
		if !b.isAt(button) || eval[int](b, "asked.length") > 0 {
			t.Errorf("%s: the focus is on %s, or a double click is a yes: %s", c.key, eval[string](b, "document.activeElement.outerHTML.slice(0, 200)"), eval[string](b, "asked.join(' ')"))
		}
		b.types(kb.Enter)
		b.until("the room is asked", func() bool {
			return strings.HasPrefix(eval[string](b, "asked[0] ?? ''"), c.asks)
		})
		b.until("nothing asks any more", func() bool { return eval[bool](b, `!document.querySelector(".sure")`) })
		b.run("asked.length = 0")
	}
}
