package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"muster/host/wire"
)

// TestKeyboard plays a whole session as an organiser without a mouse, who listens to the page. Tab
// reaches everything, and the focus is visible and stays while the page changes around it. Each
// stage moves the focus to its title, and the announcements make sense.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	n := newSession(t, 80, friday(0))
	b := n.browse(n.organisersLink(), desktop)
	b.sees("#stage", "Waiting for the first player")
	b.run(ears)
	b.tabsTo(".skip", kb.Enter)
	if !b.isAt("#stage") || "http://"+n.at+"/"+eval[string](b, "location.hash") != n.link() {
		t.Error("what skips to the head of the page leads elsewhere")
	}
	b.tabsTo("#nickname", "anna"+kb.Enter)
	b.sees("#people .badge", "you")
	n.as["anna"] = n.secret
	n.plays(0)
	n.plays(1)
	b.sees("#stage", "2 players here")

	b.folds(false)
	b.tabsTo("#settings > summary", kb.Enter)
	b.tabsTo("#by", kb.ArrowDown)
	n.awaits("another rule", func(r wire.Snapshot) bool { return r.Room.By == "threshold" })
	b.tabsTo("#limits_ms", "400"+kb.Tab)
	n.awaits("the limit", func(r wire.Snapshot) bool { return r.Document().MaxRTTMs == 400 })

	b.tabsTo("#stage [data-action=go]", kb.Enter)
	n.measures(0, 40)
	b.begins("search", "Everyone is measuring", "table Roughly where the servers are", "list The best servers so far")
	n.searched()
	b.begins("vote", "Where shall we play?", "list The servers up for vote", "list Who’s ready")
	b.folds(false)
	b.tabsTo("#details > summary", kb.Enter)
	b.tabsTo("#ranking > summary", kb.Enter)
	b.tabsTo("#ranking [data-by=worst]", kb.Enter)
	b.until("the table is sorted by the worst RTT", func() bool {
		return eval[string](b, "document.querySelector('#ranking th[data-key=worst]').ariaSort ?? ''") == "ascending"
	})
	if !b.isAt("#ranking [data-by=worst]") {
		t.Error("the page took the focus away while it sorted")
	}
	b.tabsTo("#ranking tr:not(.chosen) [data-action=vote]", kb.Enter)
	b.until("the vote counts", func() bool { return b.isAt("#ranking tr.chosen [data-action=vote][aria-pressed=true]") })
	b.run(`for (const _ of "12") document.querySelector("#ranking [data-by=rank]").click()`)
	b.until("the table is upside down", func() bool {
		return eval[string](b, "document.querySelector('#ranking th[data-key=rank]').ariaSort ?? ''") == "descending"
	})
	if !b.isAt("#ranking tr.chosen [data-action=vote]") {
		t.Error("the focus did not go along with its row")
	}
	b.tabsTo("#stage .candidate:nth-child(1) .cast", " ")
	b.until("the card says so", func() bool { return b.isAt("#stage .candidate.leads.mine .cast[aria-pressed=true]") })
	b.tabsTo("#stage [data-ready=true]", " ")
	b.begins("reveal", "Tonight we meet in", "list Everyone’s ping")
	n.pass(reveal)
	b.begins("countdown", "Next stop", "status", "timer", "button Wait")
	b.types(kb.Escape)
	b.begins("vote", "Where shall we play?")
	b.tabsTo("#stage .candidate:nth-child(2) .veto", kb.Enter+kb.Enter)
	b.sees("#stage .gone", "vetoed by anna")
	b.tabsTo("#stage [data-ready=true]", " ")
	n.launches()
	b.begins("go", "You’re on the way", "list Who is on the way", "button Copy the address")
	isSaid := func() bool { return strings.Contains(strings.Join(b.heard(), "\n"), "You’re on the way") }
	for range 10 { // there is a pause between two announcements
		if !isSaid() {
			n.pass(time.Second)
		}
	}
	if !isSaid() {
		t.Errorf("it is said neither by the title nor after it: %q", b.heard())
	}

	b.tabsTo("#stage [data-action=go]", kb.Enter)
	b.begins("search", "")
	n.searched()
	b.begins("vote", "Where shall we play?")
	b.folds(false)
	b.tabsTo("#details > summary", kb.Enter)
	b.tabsTo("#steer > summary", kb.Enter)
	b.tabsTo("#steer [data-sure=end]", kb.Enter)
	b.sees("#steer .sure", "Everyone will be told")
	b.types(kb.Enter) // the focus is on the same button, which now is a yes
	b.until("the night is over", func() bool { return eval[bool](b, "!!muster.live.state.room.ended") })
	b.begins("night", "Good night", "list Awards")
	n.pass(5 * time.Second)
	b.hearsWell()
}

// begins waits until a stage is on the page and its title has the focus. It checks what a screen
// reader finds there: roles and names.
func (b *browser) begins(stage, title string, finds ...string) {
	b.Helper()
	b.until(stage+" begins", func() bool { return eval[string](b, "document.body.dataset.stage") == stage })
	b.until(fmt.Sprintf("the focus is at its title %q, and who hears the page finds %q", title, finds), func() bool {
		all, focus := b.tree()
		finds = slices.DeleteFunc(finds, func(want string) bool {
			return slices.ContainsFunc(all, func(node string) bool { return strings.HasPrefix(node, want) })
		})
		return strings.HasPrefix(focus, "heading "+title) && len(finds) == 0
	})
}

// heard returns what a screen reader has announced.
func (b *browser) heard() []string { b.Helper(); return eval[[]string](b, "heard") }

// anAddress matches text that nobody wants to hear.
var anAddress = regexp.MustCompile(`\d+\.\d+\.\d+\.\d+`)

// inOrder matches what is said in two rounds. The game may open before the page says where everyone
// goes: then the title says it first.
var inOrder = regexp.MustCompile(`(?s)# Where shall we play\?.*# Next stop:.*` +
	`(Everyone to.*You’re on the way|# You’re on the way.*Everyone to).*# Where shall we play\?.*# Good night`)

// hearsWell checks the announcements of a session: each stage once, nothing twice in a row, no
// running figures, no addresses. The focus was never lost.
func (b *browser) hearsWell() {
	b.Helper()
	heard := b.heard()
	b.Logf("heard:\n%s", strings.Join(heard, "\n"))
	for i, said := range heard {
		title, isTitle := strings.CutPrefix(said, "# ")
		if strings.TrimSpace(title) == "" || anAddress.MatchString(title) || !regexp.MustCompile(`\pL{2}`).MatchString(title) {
			b.Errorf("it says %q", said)
		}
		if i > 0 && !isTitle && strings.TrimPrefix(heard[i-1], "# ") == title {
			b.Errorf("it says %q twice", title)
		}
	}
	all := strings.Join(heard, "\n")
	for words, most := range map[string]int{"Everyone is measuring": 2, "We play on": 2, "Where shall we play?": 4,
		"Next stop:": 2, "Escape stops it": 2, "Everyone to": 1, "You’re on the way": 1, "Good night": 2} {
		if n := strings.Count(all, words); n > most { // in two rounds, with a countdown that was stopped, and a veto
			b.Errorf("%q is said %d times", words, n)
		}
	}
	if !inOrder.MatchString(all) {
		b.Errorf("it is not said in the order %s", inOrder)
	}
	if lost := eval[[]string](b, "lost"); len(lost) > 0 {
		b.Errorf("while time passed the focus was nowhere: %q", lost)
	}
}

// TestStillness checks that nothing turns for a person who prefers less motion, not even the wheel
// of the waiting indicator.
func TestStillness(t *testing.T) {
	atNight(t)
	t.Parallel()
	n := newSession(t, 20, friday(0))
	b := n.browse(n.link(), desktop)
	b.sees("#stage", "Waiting for the first player")
	b.run(`document.body.insertAdjacentHTML("beforeend", "<p class='wait'>waiting</p>")`)
	for motion, want := range map[string]int{"reduce": 0, "no-preference": 1} {
		b.prefers("prefers-reduced-motion", motion)
		turning := func() int { return eval[int](b, "document.getAnimations().length") }
		b.until(fmt.Sprintf("%d wheels turn with %s", want, motion), func() bool { return turning() == want })
	}
}

// types presses keys, one after the other.
func (b *browser) types(keys string) { b.Helper(); b.do(chromedp.KeyEvent(keys)) }

// tabsTo presses Tab until an element has the focus visibly, and then presses the keys in then.
func (b *browser) tabsTo(selector string, then ...string) {
	b.Helper()
	b.until(selector+" is there", func() bool {
		return eval[bool](b, fmt.Sprintf("!!document.querySelector(%q)?.checkVisibility()", selector))
	})
	for range 80 {
		b.types(kb.Tab)
		if b.isAt(selector) {
			if !eval[bool](b, "getComputedStyle(document.activeElement).outlineStyle !== 'none'") {
				b.Errorf("nobody can see that %s has the focus", selector)
			}
			for _, keys := range then {
				b.types(keys)
			}
			return
		}
	}
	b.Fatalf("Tab never comes to %s", selector)
}

// isAt reports whether an element has the focus.
func (b *browser) isAt(selector string) bool {
	b.Helper()
	return eval[bool](b, fmt.Sprintf("document.activeElement.matches(%q)", selector))
}

// ears is a script that records in heard what a screen reader announces. It records each text of
// the polite region. It records each title that gets the focus as "# Title". lost are the stages at
// which, after the first focus, no element had the focus for a second of the page's time.
const ears = `
	globalThis.heard = [], globalThis.lost = [];
	new MutationObserver(() => heard.push(document.querySelector("#status").textContent)).observe(document.querySelector("#status"), { childList: true, characterData: true, subtree: true });
	document.addEventListener("focusin", ({ target }) => target.matches("h1") && heard.push("# " + target.innerText.replace(/\s+/g, " ")));
	let had = false, without = 0;
	musterTime.setInterval(() => {
		const has = document.activeElement !== document.body;
		had ||= has;
		without = has || !had ? 0 : without + 1;
		if (without > 2) lost.push(document.body.dataset.stage);
	}, 500);
`

// tree returns the page as a screen reader sees it: the role and name of each node in order, and
// the node with the focus.
func (b *browser) tree() (all []string, focus string) {
	b.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		tree, err := chromedp.Call(ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			return err
		}
		byID := map[accessibility.NodeID]*accessibility.Node{}
		for _, node := range tree.Nodes {
			byID[node.NodeID] = node
		}
		var walk func(node *accessibility.Node)
		walk = func(node *accessibility.Node) {
			if node == nil {
				return
			}
			said := strings.TrimSpace(text(node.Role) + " " + text(node.Name))
			if !node.Ignored && !slices.Contains([]string{"InlineTextBox", "generic", "none"}, text(node.Role)) {
				all = append(all, said)
			}
			for _, p := range node.Properties {
				if p.Name == accessibility.PropertyNameFocused && string(p.Value.Value) == "true" {
					focus = said
				}
			}
			for _, id := range node.ChildIDs {
				walk(byID[id])
			}
		}
		walk(tree.Nodes[0])
		return nil
	}))
	return all, focus
}

func text(v *accessibility.Value) (s string) {
	if v != nil {
		json.Unmarshal([]byte(v.Value), &s)
	}
	return s
}
