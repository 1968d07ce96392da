package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// essence is everything that counts of a room, as JSON; who is connected does
// not outlive the host.
func essence(t testing.TB, r *Room) []byte {
	t.Helper()
	copied := *r
	copied.Members = nil
	results := map[string][]discovery.Result{}
	for _, m := range r.Members {
		member := *m
		member.Connected = false
		copied.Members = append(copied.Members, &member)
		results[m.Name] = m.Results
	}
	data, err := json.MarshalIndent(map[string]any{"room": copied, "servers": append([]discovery.Server{}, r.Servers...),
		"infos": append([]*discovery.Info{}, r.Infos...), "results": results}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func same(t testing.TB, a, b *Room) {
	t.Helper()
	if x, y := string(essence(t, a)), string(essence(t, b)); x != y {
		x, y, _ = differ(x, y)
		t.Errorf("the rooms differ: %s\n%s", x, y)
	}
}

// differ returns the first lines that differ.
func differ(x, y string) (string, string, bool) {
	xs, ys := strings.Split(x, "\n"), strings.Split(y, "\n")
	for i := range min(len(xs), len(ys)) {
		if xs[i] != ys[i] {
			return xs[i], ys[i], true
		}
	}
	return fmt.Sprint(len(xs), " lines"), fmt.Sprint(len(ys), " lines"), false
}

func restored(t testing.TB, r *Room) *Room {
	t.Helper()
	data, err := r.Save()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Restore(data)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// TestRestart stops the host in every stage: the room comes back as it was, and
// the night goes on when the peers are back.
func TestRestart(t *testing.T) {
	tests := []struct {
		name  string
		until func(n *night)
		// sent is what ann is sent when she is back.
		stage wire.Stage
		sent  string
		then  func(n *night)
	}{
		{"gathering, one is missing", func(n *night) { n.join("ann") }, wire.Gathering, "welcome", func(n *night) {
			n.join("bob")
			n.inStage(wire.Listing)
		}},
		{"listing", func(n *night) { n.join("ann", "bob") }, wire.Listing, "welcome", func(n *night) {
			if n.fetches != 2 {
				n.Errorf("%d lists were asked for, want another one", n.fetches)
			}
			n.join("bob")
			n.listed(2)
			n.inStage(wire.Measuring)
		}},
		{"measuring", func(n *night) {
			n.join("ann", "bob")
			n.listed(2)
			n.informs("bob", 12, 12)
			n.measures("ann", 10, lost)
			n.measures("bob", 30, 20)
			n.done("bob")
		}, wire.Measuring, "welcome list measure report", func(n *night) {
			n.join("bob")
			n.done("ann", "bob")
			n.inStage(wire.Chosen)
		}},
		{"measuring, and nobody comes back", func(n *night) {
			n.join("ann", "bob")
			n.listed(2)
		}, wire.Measuring, "welcome list measure", func(n *night) {
			n.gone("ann")
			n.wait(31 * time.Second)
			n.inStage(wire.Failed)
		}},
		{"chosen", func(n *night) {
			toChosen(n)
			n.verifies("bob")
		}, wire.Chosen, "welcome list finalists", func(n *night) {
			n.verifies("ann")
			n.goesTo(0)
		}},
		{"chosen, and nobody looks", toChosen, wire.Chosen, "welcome list finalists", func(n *night) {
			n.wait(16 * time.Second)
			n.goesTo(0)
		}},
		{"launching", func(n *night) {
			toChosen(n)
			n.verifies("ann")
			n.verifies("bob")
			n.says("bob", wire.Launched{Round: 1, State: wire.LaunchStarted})
		}, wire.Launching, "welcome launch", func(n *night) {
			n.says("ann", wire.Launched{Round: 1, State: wire.LaunchByHand})
			n.noted("bob is on the way", "the host was restarted", "ann is back", "ann joins by hand")
			n.goes()
			n.inStage(wire.Listing)
		}},
		{"failed", func(n *night) {
			n.join("ann", "bob")
			n.perform(n.room.Listed(nil, errors.New("no master answers"), n.now))
		}, wire.Failed, "welcome", func(n *night) {
			n.goes()
			n.inStage(wire.Listing)
		}},
		{"the second round", func(n *night) {
			toChosen(n)
			n.verifies("ann")
			n.verifies("bob")
			n.goes()
			n.listed(3)
			n.measures("ann", 10, 20, 30)
		}, wire.Measuring, "welcome list measure report", func(n *night) {
			n.join("bob")
			n.informs("bob", 12, 12, 12)
			n.measures("bob", 30, 20, 11)
			n.done("ann", "bob")
			n.verifies("ann")
			n.verifies("bob")
			n.goesTo(0)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNight(t, settings(2))
			tt.until(n)
			n.inStage(tt.stage)
			before := n.room
			n.room = restored(t, before)
			same(t, before, n.room)
			n.now = n.now.Add(time.Hour)
			n.perform(n.room.Returned(n.now))
			n.inStage(tt.stage)
			n.took("ann")
			n.join("ann")
			if got := n.took("ann"); got != tt.sent {
				t.Errorf("ann is sent %q, want %q", got, tt.sent)
			}
			tt.then(n)
		})
	}
}

func toChosen(n *night) {
	n.join("ann", "bob")
	n.listed(2)
	n.informs("bob", 12, 12)
	n.measures("ann", 10, 20)
	n.measures("bob", 10, 20)
	n.done("ann", "bob")
}

// TestSavedNames: what a second look found is not lost with the host.
func TestSavedNames(t *testing.T) {
	n := newNight(t, settings(2))
	toChosen(n)
	n.verifies("bob")
	if got := restored(t, n.room).serverName(0); got != "server 0 (192.0.2.0:27960)" {
		t.Errorf("the restored room calls it %q", got)
	}
}

func TestRestoreRefuses(t *testing.T) {
	whole, err := choosing(t, 2).room.Save()
	if err != nil {
		t.Fatal(err)
	}
	without := func(field string) string {
		var document map[string]any
		if err := json.Unmarshal(whole, &document); err != nil {
			t.Fatal(err)
		}
		delete(document, field)
		delete(document["room"].(map[string]any), field)
		data, _ := json.Marshal(document)
		return string(data)
	}
	for _, data := range []string{"", "{}", `{"room":null}`, string(whole[:len(whole)/2]), without("list"), without("infos"), without("reports"), without("final"), without("selection")} {
		if room, err := Restore([]byte(data)); err == nil {
			t.Errorf("%.60q restores %+v", data, room)
		}
	}
}

func TestOver(t *testing.T) {
	n := newNight(t, settings(2))
	day := 24 * time.Hour
	if n.room.Over(eight.Add(day)) || !n.room.Over(eight.Add(day+time.Second)) {
		t.Error("an empty room is kept for a day")
	}
	n.join("ann")
	if n.room.Over(eight.Add(30 * day)) {
		t.Error("a room with someone in it is over")
	}
	n.now = eight.Add(day)
	n.gone("ann")
	if n.room.Over(eight.Add(2*day)) || !n.room.Over(eight.Add(2*day+time.Second)) {
		t.Error("a room is kept for a day after the last has left")
	}
}
