package page_test

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// friends is a script with a room of the session of 2005. The tests add measurements, the choice,
// and what became of the way there.
const friends = phased + `
	const people = ["anna", "ben", "chong", "dave"].map((name, arrival) => ({ name, arrival, organiser: arrival === 0, peer: true, connected: true, page: true, probed: 300, answered: 280, done: true, able: true }));
	const addr = "192.0.2.7:27960";
	const ranked = { addr, score: 97, mean_ms: 97, max_ms: 247, stdev_ms: 104, rtt_ms: { anna: 88, ben: 9, chong: 247, dave: 44 } };
	const servers = { [addr]: { name: "pro-g InstaGib [CA] #1483", country: "CA", map: "q3dm7", players: 3, max_players: 16 } };
	const selection = { by: "mean", players: people.map(({ name }) => name), chosen: ranked, ranking: [ranked], culled: {} };
	const choice = { selection, explain: [{ key: "plain", with: { text: "It has the lowest average." } }], servers, target: addr };
	const says = (news) => {
		live.socket && (live.socket.onmessage = live.socket.onclose = null);
		live.watch = live.connect = () => {};
		musterTime.clearTimeout(live.watchdog);
		live.receive(JSON.stringify(phased({ type: "state", now: musterTime.now(), ...news }, live.state)));
	};
	const live = muster.live, inTime = (ms) => new Date(musterTime.now() + ms).toISOString();
	const room = (stage, more) => ({ ...live.state.room, stage, round: 1, listed: 2000, ...more });
`

// tells sends news of the room to the page, as a host would.
func (b *browser) tells(news string) { b.Helper(); b.run("{" + friends + "says(" + news + ")}") }

// TestReveal checks how the choice is revealed: in its order while time passes, its map with a way for everybody,
// and as a last frame that stands for a person who prefers no motion. The picture to share has a map, too.
func TestReveal(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(4))
	b := n.browse(n.organisersLink(), laptop)
	b.sees("#stage", "Waiting for 4 more players")
	const you = `you: { ...live.state.you, name: "anna" }`
	const measuring = `{ people, ` + you + `, room: room("measuring") }`
	const chosen = `{ people, ` + you + `, choice, agreement: { open: true, vetoes: [], ballot: [addr], launch_at: inTime(60e3) }, room: room("chosen") }`
	seen := func(what string) float64 { // -1 while it is not there
		return eval[float64](b, `(() => { const there = document.querySelector("#stage `+what+
			`"); return there ? Number(getComputedStyle(there).opacity) : -1; })()`)
	}
	b.tells(measuring)
	b.until("the search stands there", func() bool { return eval[string](b, "muster.view.stage") == "search" })
	b.tells(chosen)
	b.until("the reveal begins", func() bool { return eval[string](b, "muster.view.stage") == "reveal" && seen(".place") >= 0 })
	if place := seen(".place"); place > 0 {
		t.Errorf("the country is seen at once, by %.2f", place)
	}
	b.until("the map is there", func() bool { return eval[bool](b, "!!document.querySelector('.turning .spoke')") })
	for _, then := range []string{".place", ".named", ".everybody"} {
		for range 60 { // tenths of a second, until it is seen
			if b.pass(100 * time.Millisecond); seen(then) == 1 {
				break
			}
			b.draws()
		}
		if opacity := seen(then); opacity != 1 {
			t.Fatalf("%s is seen by %.2f when its time is over", then, opacity)
		}
	}
	b.prefers("prefers-reduced-motion", "reduce")
	b.run(`muster.view.revealed = 0`)
	b.tells(measuring)
	b.until("the search stands there again", func() bool { return eval[string](b, "muster.view.stage") == "search" })
	b.tells(chosen)
	b.until("the last frame stands", func() bool {
		return seen(".named") == 1 && seen(".everybody") == 1 && eval[int](b, "document.getAnimations().length") == 0
	})
	b.shoot("reveal", laptop, desktop, screenSize{"small-phone-dark", 390, 700, 1, true}, night4k)
	b.tells(strings.Replace(chosen, " choice,",
		` choice: { ...choice, selection: { ...selection, by: "least-sacrifice", ranking: [{ ...ranked, extra_ms: { anna: 23.4, ben: 2, chong: 0, dave: 11 } }] } },`, 1))
	b.sees("#stage .figure-of", "88 ms for you · nobody gives up more than 23 ms of their own best")
	b.shoot("reveal-sacrifice", laptop, phone)
	b.resize(laptop)
	b.run(`muster.view.searched = 2`)
	b.tells(`{ ` + you + `, people: people.map((one, i) => ({ ...one, country: ["NL", "US", "MY"][i] })), choice, agreement: { open: true, vetoes: [], ballot: [addr], launch_at: inTime(60e3) }, way: null, room: { ...room("chosen"), round: 2 } }`)
	b.until("who is somewhere says so, on a dotted spoke", func() bool {
		return eval[string](b, `[...document.querySelectorAll(".turning .some")].map((e) => e.parentNode.textContent)`+".join(' ')") == "dave44 mssomewhere" &&
			eval[int](b, `document.querySelectorAll(".turning .spoke.lost").length`) == 1
	})
	if ways := eval[int](b, `document.querySelectorAll(".turning .spoke").length`); ways != 4 {
		t.Errorf("%d of 4 have a way on the map", ways)
	}
	b.tells(`{ agreement: { open: true, vetoes: [], ballot: [addr] } }`)
	maps := func() string {
		return eval[string](b, `[...document.querySelectorAll("#stage .around")].filter((e) => e.querySelectorAll(".spoke").length === 4 && e.querySelectorAll(".lost").length === 1).map((e) => e.checkVisibility()).join(" ")`)
	}
	b.until("the card has its map", func() bool { return eval[string](b, "muster.view.stage") == "vote" && maps() == "true" })
	b.run(`muster.view.revealed = 2`)
	b.tells(`{ room: { ...room("launching"), round: 2 }, agreement: { open: false, vetoes: [], ballot: [] }, way: { connect: addr, server: "pro-g" } }`)
	b.until("everybody is on the way, on the map", func() bool {
		return eval[string](b, "muster.view.stage") == "go" && eval[int](b, `document.querySelectorAll(".travelling .trail.is-half").length`) == 4
	})
	b.run(`import(new URL("share.js", document.baseURI)).then(async ({ picture }) => { window.shared = await picture(muster.live.state); })`)
	b.until("there is a picture to share", func() bool { return eval[bool](b, "Boolean(window.shared)") })
	shared := eval[string](b, "window.shared")
	if text, err := drawn(regexp.MustCompile(`<style>.*?</style>`).ReplaceAllString(shared, "")); err != nil ||
		!strings.Contains(text, "somewhere") || strings.Contains(text, "192.0.2.7") {
		t.Errorf("the picture to share says %q: %v", text, err)
	}
	if ways, land := strings.Count(shared, `stroke-linecap="round"`),
		regexp.MustCompile(`<path d="([^"]*)" fill="#243049"/>`).FindString(shared); ways != 3 || len(land) < 1000 ||
		strings.Contains(land, "NaN") {
		t.Errorf("the picture to share has %d ways and %.50q for land", ways, land)
	}
}

// drawn returns the text of an SVG picture, or an error if the picture has anything but shapes and
// text.
func drawn(picture string) (string, error) {
	var text strings.Builder
	decoder := xml.NewDecoder(strings.NewReader(picture))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return text.String(), nil
		}
		if err != nil {
			return "", err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if !slices.Contains([]string{"svg", "title", "rect", "circle", "path", "g", "text", "tspan", "defs", "radialGradient", "linearGradient", "stop"}, token.Name.Local) {
				return "", errors.New("an element " + token.Name.Local)
			}
			for _, a := range token.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || a.Name.Local == "style" {
					return "", errors.New("an attribute " + a.Name.Local)
				}
			}
		case xml.CharData:
			text.Write(token)
			text.WriteByte('\n')
		case xml.Comment, xml.ProcInst, xml.Directive:
			return "", errors.New("more than elements and text")
		}
	}
}
