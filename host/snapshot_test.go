package host

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestPageState holds the page's state to a golden file: what the page reads
// has one witness.
func TestPageState(t *testing.T) {
	n := agreeing(t)
	n.room.Settings.Limits = []time.Duration{150 * time.Millisecond}
	n.votes("zoe", 1)
	n.goes()
	n.wait(countdown + time.Second)
	n.says("ann", wire.Launched{Round: 1, State: wire.LaunchStarted})
	config := &Config{
		Games:       []Choice{{"openarena", "OpenArena"}},
		ConnectLink: func(_, address string) string { return "steam://connect/" + address },
	}
	s, err := n.room.snapshotOf(&snapshot{}, config)
	if err != nil {
		t.Fatal(err)
	}
	v := viewer{token: "zoe's token", link: "http://192.0.2.1:7777/#BAKODI"}
	var got bytes.Buffer
	if err := json.Indent(&got, v.state(s), "", "  "); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/state.json"
	if *update {
		if err := os.WriteFile(file, withoutNow(got.Bytes()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(withoutNow(got.Bytes()), want) {
		t.Errorf("the page's state differs from %s; go test ./host -run PageState -update shows how:\n%s", file, got.String())
	}
	for _, private := range []string{"zoe's token", "secret", n.room.member("ann").Token} {
		if private != "" && bytes.Contains(got.Bytes(), []byte(private)) {
			t.Errorf("the page is told %q", private)
		}
	}
}

// withoutNow takes out the host's clock.
func withoutNow(state []byte) []byte {
	head, rest, _ := bytes.Cut(state, []byte(`"now": `))
	_, tail, _ := bytes.Cut(rest, []byte(",\n  "))
	return append(append(bytes.Clone(head), tail...), '\n')
}

// TestSections: what did not change is not sent again.
func TestSections(t *testing.T) {
	n := newNight(t, settings(2))
	first, err := n.room.snapshotOf(&snapshot{}, &Config{})
	if err != nil {
		t.Fatal(err)
	}
	same, err := n.room.snapshotOf(first, &Config{})
	if err != nil || same.tells(first) {
		t.Errorf("an unchanged room is shown again, %v", err)
	}
	n.join("ann")
	second, err := n.room.snapshotOf(first, &Config{})
	if err != nil || !second.tells(first) {
		t.Errorf("a new player is not shown, %v", err)
	}
	v := viewer{seen: *first}
	var state map[string]json.RawMessage
	if err := json.Unmarshal(v.state(second), &state); err != nil {
		t.Fatal(err)
	}
	if state["people"] == nil || state["log"] == nil || state["room"] != nil || state["choice"] != nil {
		t.Errorf("the page is sent %s", v.state(second))
	}
}

// TestTrace: what is said again after a lost connection counts once, and times
// are the host's.
func TestTrace(t *testing.T) {
	n := measuring(t, 4, "ann", "bob")
	probe := func(at int) discovery.Result {
		return discovery.Result{At: time.Duration(at) * time.Millisecond, State: discovery.Answered, RTT: time.Millisecond}
	}
	n.wait(2 * time.Second)
	n.says("ann", wire.Report{Round: 1, Now: 500 * time.Millisecond, Results: []discovery.Result{probe(100), probe(400)}})
	n.says("ann", wire.Report{Round: 1, Now: 700 * time.Millisecond, Results: []discovery.Result{probe(100), probe(400), probe(600)}})
	n.says("ann", wire.Report{Round: 1, First: 9, Now: 700 * time.Millisecond, Results: []discovery.Result{probe(650)}})
	n.says("ann", wire.Report{Round: 2, Now: 700 * time.Millisecond, Results: []discovery.Result{probe(650)}})
	var got []time.Duration
	for _, p := range n.room.member("ann").Probes {
		got = append(got, p.At)
	}
	want := []time.Duration{1600 * time.Millisecond, 1900 * time.Millisecond, 1900 * time.Millisecond}
	if len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("ann's probes are at %v, want %v", got, want)
	}
	data, err := n.room.Save()
	if err != nil {
		t.Fatal(err)
	}
	restored, err := Restore(data)
	if err != nil || len(restored.member("ann").Probes) != 3 {
		t.Errorf("the trace does not survive a restart: %v", err)
	}
}
