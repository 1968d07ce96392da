package page_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"muster/internal/catalogue"
)

// TestStageOf checks which stage a page shows. That depends on the room's state and on what the
// page has seen of the round: a page that showed the search also shows its outcome.
func TestStageOf(t *testing.T) {
	t.Parallel()
	const (
		off    = `"agreement": {"open": false}`
		voting = `"agreement": {"open": true}`
		soon   = `"agreement": {"open": true, "launch_at": "2026-01-01T00:00:11Z"}`
		going  = `"agreement": {"open": true, "launch_at": "2026-01-01T00:00:05Z"}`
		unseen = `{"searched": 0, "revealed": 0}`
		saw    = `{"searched": 3, "revealed": 2}`
		knows  = `{"searched": 3, "revealed": 3}`
	)
	var cases []json.RawMessage
	var want []string
	for _, c := range []struct{ stage, choice, agreement, seen, want string }{
		{"gathering", "null", off, unseen, "lobby"},
		{"listing", "null", off, unseen, "search"},
		{"measuring", "null", off, saw, "search"},
		{"refining", "null", off, saw, "search"},
		{"chosen", "{}", off, saw, "search"},  // everyone measures the best again
		{"chosen", "{}", voting, saw, "vote"}, // nothing is revealed before it is decided
		{"chosen", "{}", voting, unseen, "vote"},
		{"chosen", "{}", soon, saw, "reveal"},
		{"chosen", "{}", soon, knows, "countdown"},
		{"chosen", "{}", soon, unseen, "countdown"}, // a person who comes later sees no reveal
		{"chosen", "{}", going, saw, "countdown"},   // the countdown waits for nobody
		{"launching", "{}", off, saw, "reveal"},
		{"launching", "{}", off, knows, "go"},
		{"launching", "{}", off, unseen, "go"},
		{"launching", "null", off, saw, "go"}, // after a restart of the host
		{"failed", "null", off, saw, "failed"},
		{"waiting", "{}", off + `, "seats": {"need": 5}`, saw, "seats"},
		{"waiting", "{}", off + `, "seats": {"need": 5, "launch_at": "2026-01-01T00:00:00Z"}`, saw, "countdown"},
	} {
		cases = append(cases, json.RawMessage(
			`[{"room": {"stage": "`+c.stage+`", "round": 3}, "choice": `+c.choice+`, `+c.agreement+`}, `+c.seen+`]`))
		want = append(want, c.want)
	}
	cases = append(cases, json.RawMessage(
		`[{"room": {"stage": "launching", "round": 3, "ended": "2026-01-01T00:00:00Z"}, "choice": {}, `+off+`}, `+saw+`]`))
	want = append(want, "night")
	cases = append(cases, json.RawMessage( // its organiser is about to end it
		`[{"room": {"stage": "launching", "round": 3}, "choice": {}, `+off+`}, {"searched": 3, "revealed": 2, "ending": true}]`))
	want = append(want, "night")
	asked, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	inNode(t, &got, `globalThis.location = { hash: "" };
		const { stageOf } = await import("../../web/static/stages/stages.js");
		console.log(JSON.stringify(JSON.parse(process.argv[1]).map(([state, seen]) => stageOf({ now: Date.parse("2026-01-01"), heard: Date.now(), ...state }, seen))))`, string(asked))
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s is %s, not %s", cases[i], got[i], want[i])
		}
	}
}

// likePage gives Node what the page's modules find in a browser: a location, and the sentences of
// the language that LANG names.
const likePage = `import { readFileSync } from "node:fs";
	const tag = process.env.LANG;
	globalThis.location = { hash: "", search: "?lang=" + tag };
	globalThis.navigator = { languages: [] };
	globalThis.Node = class {};
	globalThis.document = { documentElement: { dataset: { languages: "en " + tag } } };
	globalThis.fetch = async (url) => ({ ok: true, json: () => JSON.parse(readFileSync("../../internal/catalogue/" + url.pathname.split("/").at(-1))) });
	`

// inNode runs a script with the page's modules in Node, and decodes its output.
func inNode(t *testing.T, result any, script string, arguments ...string) {
	t.Helper()
	inNodeAs(t, catalogue.English, result, script, arguments...)
}

// inNodeAs is inNode for a reader of another language.
func inNodeAs(t *testing.T, tag string, result any, script string, arguments ...string) {
	t.Helper()
	node := exec.CommandContext(t.Context(), "node", append([]string{"--input-type=module", "-e", likePage + script}, arguments...)...)
	node.Env = append(os.Environ(), "LANG="+tag)
	out, err := node.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := json.Unmarshal(out, result); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestPace checks that places on the podium change at most once a second and all together, except
// that an empty place is filled at once. A
// figure counts from its old value to the new one.
func TestPace(t *testing.T) {
	t.Parallel()
	var got struct{ Podium, Counted []string }
	inNode(t, &got, `const { podium, counted } = await import("../../web/static/stages/pace.js");
		let on = { round: 0, leaders: [], since: 0 };
		const Podium = [[1, "ab", 5000], [1, "abc", 5100], [1, "bac", 5200], [1, "cab", 5900], [1, "cab", 6000], [1, "bca", 6900], [1, "cba", 7000], [2, "d", 7100], [2, "", 7200], [2, "", 8100]]
			.map(([round, ids, now]) => (on = podium(on, round, [...ids].map((id) => ({ id, now })), now)).leaders.map(({ id, now }) => id + now).join(" "));
		console.log(JSON.stringify({ Podium, Counted: [0, 140, 280, 900].map((ms) => String(counted(97, 47, ms))) }))`)
	for _, c := range []struct {
		what, want string
		got        []string
	}{
		{"the podium", "a5000 b5000; a5100 b5100 c5100; a5100 b5100 c5100; a5100 b5100 c5100; c6000 a6000 " +
			"b6000; c6000 a6000 b6000; c7000 b7000 a7000; d7100; d7100; ", got.Podium},
		{"a figure", "97; 53; 47; 47", got.Counted},
	} {
		if is := strings.Join(c.got, "; "); is != c.want {
			t.Errorf("%s: %s, not %s", c.what, is, c.want)
		}
	}
}

// TestUnheardSentences checks that an announcement leaves out what was just announced.
func TestUnheardSentences(t *testing.T) {
	t.Parallel()
	cases := [][]string{ // a text, what was announced, and what is left
		{"Good night", "", "Good night"},
		{"Everyone is measuring", "Everyone is measuring", ""},
		{"Where shall we play? No votes yet. 0 of 2 are ready.", "Where shall we play?", "No votes yet. 0 of 2 are ready."},
		{"Where shall we play? No votes yet. 1 of 2 is ready.", "Where shall we play? No votes yet. 0 of 2 are ready.", "1 of 2 is ready."},
		{"Tonight’s spot: Canada. We play on q3.example: 9 ms for you.",
			"Tonight’s spot: Canada \U0001F1E8\U0001F1E6", "We play on q3.example: 9 ms for you."},
		{"どこで遊ぶ？まだ投票はありません。2人中1人が準備完了です。", "どこで遊ぶ？", "まだ投票はありません。2人中1人が準備完了です。"},
	}
	asked, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	inNode(t, &got, `globalThis.location = { hash: "" };
		const { unheard } = await import("../../web/static/stages/stages.js");
		console.log(JSON.stringify(JSON.parse(process.argv[1]).map(([text, heard]) => unheard(text, [heard]))))`, string(asked))
	for i, c := range cases {
		if got[i] != c[2] {
			t.Errorf("%q is left of %q, not %q", got[i], c[0], c[2])
		}
	}
}
