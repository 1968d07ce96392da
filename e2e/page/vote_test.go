package page_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestVoteFits checks the vote on low screens: nothing of a card lies under the bar, the whole card is
// the button for its vote, and the veto lies on it. On a wall no ping loses a digit.
func TestVoteFits(t *testing.T) {
	t.Parallel()
	n := newSession(t, 10, friday(2))
	b, tv := n.browse(n.link(), desktop), n.browse(strings.Replace(n.link(), "/#", "/?tv#", 1), wall)
	for _, b := range []*browser{b, tv} {
		b.until("the page is open", func() bool { return eval[bool](b, "muster.view.firstState > 0") })
	}
	for _, size := range []screenSize{{"laptop", 1280, 800, 1, false}, {"low", 1280, 720, 1, true}, {"wide", 1920, 890, 1, false}} {
		b.resize(size)
		for _, people := range []int{4, 8, 16} {
			for choices := 2; choices <= 4; choices++ {
				b.drawn("vote", "vote", people, 0)
				b.run(fmt.Sprintf(`{ const { agreement, people } = muster.live.state, left = agreement.ballot.slice(0, %d); muster.live.receive(JSON.stringify({ type: "state",
					agreement: { ...agreement, ballot: left, choices: agreement.choices.slice(0, left.length) }, people: people.map((p) => ({ ...p, vote: left.includes(p.vote) ? p.vote : undefined })) })) }`, choices))
				b.until("that many cards stand there", func() bool {
					return eval[int](b, `document.querySelectorAll("#stage .candidate .cast").length`) == choices
				})
				for _, wrong := range eval[[]string](b, voteFaults) {
					t.Errorf("%d people and %d choices on a %s: %s", people, choices, size.name, wrong)
				}
			}
		}
	}
	for _, people := range []int{6, 8, 16} {
		tv.drawn("vote", "vote", people, -1)
		for _, wrong := range eval[[]string](tv, `[...document.querySelectorAll("#stage .everyone .ms")].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent)`) {
			t.Errorf("%d people on a wall: %q is cut", people, wrong)
		}
	}
}

// voteFaults is a script that finds what is wrong with the cards of a vote on a screen that has room for
// them.
const voteFaults = `(() => {
	scrollTo(0, 0);
	const wrong = [], bar = document.querySelector("#stage .ready").getBoundingClientRect();
	for (const card of document.querySelectorAll("#stage .candidate")) {
		const box = card.getBoundingClientRect(), name = card.querySelector(".no").textContent;
		if (bar.bottom > innerHeight + 1) wrong.push("the bar ends at " + bar.bottom);
		if (box.bottom > bar.top) wrong.push("card " + name + " ends " + Math.round(box.bottom - bar.top) + " px under the bar");
		const cast = card.querySelector(".cast"), veto = card.querySelector(".veto")?.getBoundingClientRect();
		const at = (x, y) => document.elementFromPoint(x, y)?.closest("button");
		for (const y of [box.top + 12, (box.top + box.bottom) / 2]) if (cast.ariaPressed === "false" && at((box.left + box.right) / 2, y) !== cast) wrong.push("card " + name + " is no button at " + y);
		if (veto && !at((veto.left + veto.right) / 2, (veto.top + veto.bottom) / 2)?.matches(".veto")) wrong.push("nobody can press the veto of card " + name);
	}
	return wrong;
})()`
