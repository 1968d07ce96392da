//go:build e2e

package web_test

import (
	"encoding/json"
	"os/exec"
	"testing"
)

// TestStageOf: which stage of the evening stands on a page, by the room's state and by what
// the page has seen of the round: who saw the search is shown where it leads.
func TestStageOf(t *testing.T) {
	const (
		off    = `"agreement": {"open": false}`
		voting = `"agreement": {"open": true}`
		going  = `"agreement": {"open": true, "launch_at": "2026-01-01T00:00:00Z"}`
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
		{"chosen", "{}", off, saw, "search"}, // everyone looks at the best again
		{"chosen", "{}", voting, saw, "reveal"},
		{"chosen", "{}", voting, knows, "vote"},
		{"chosen", "{}", voting, unseen, "vote"}, // who comes later sees no reveal
		{"chosen", "{}", going, knows, "countdown"},
		{"launching", "{}", off, saw, "reveal"},
		{"launching", "{}", off, knows, "go"},
		{"launching", "{}", off, unseen, "go"},
		{"launching", "null", off, saw, "go"}, // after a restart of the host
		{"failed", "null", off, saw, "failed"},
	} {
		cases = append(cases, json.RawMessage(`[{"room": {"stage": "`+c.stage+`", "round": 3}, "choice": `+c.choice+`, `+c.agreement+`}, `+c.seen+`]`))
		want = append(want, c.want)
	}
	cases = append(cases, json.RawMessage(`[{"room": {"stage": "launching", "round": 3, "ended": "2026-01-01T00:00:00Z"}, "choice": {}, `+off+`}, `+saw+`]`))
	want = append(want, "night")
	asked, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	const script = `globalThis.location = { hash: "" };
		const { stageOf } = await import("./static/stages/stages.js");
		console.log(JSON.stringify(JSON.parse(process.argv[1]).map(([state, seen]) => stageOf(state, seen))))`
	out, err := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", script, string(asked)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got []string
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s is %s, not %s", cases[i], got[i], want[i])
		}
	}
}
