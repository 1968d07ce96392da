package room_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room"
	"muster/host/room/roomtest"
	"muster/host/wire"
)

// essence returns everything that a room keeps and shows.
func essence(t *testing.T, r *room.Room) string {
	t.Helper()
	saved := roomtest.Saved(t, r)
	shown, err := json.MarshalIndent(r.Snapshot(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(saved) + string(shown)
}

// TestStaleMessages checks that a message of another round, attempt or stage is ignored as late,
// and not refused as wrong.
func TestStaleMessages(t *testing.T) {
	n := choosing(t, 3)
	before := essence(t, n.Room)
	for _, m := range []wire.Message{
		wire.Verified{Round: 1, Attempt: 2, Servers: []wire.Finalist{{Server: 0, State: discovery.Lost}}},
		wire.Verified{Round: 2, Attempt: 1, Servers: []wire.Finalist{{Server: 0, State: discovery.Lost}}},
		wire.Report{Round: 1, Results: []discovery.Result{{Server: 0, State: discovery.Lost}}},
		wire.Report{Round: 2, Results: []discovery.Result{{Server: 99, State: discovery.Lost}}},
		wire.Infos{Round: 2, Servers: []wire.ServerInfo{{Server: 99}}},
		wire.Done{Round: 1}, wire.Done{Round: 2}, wire.Rests{Round: 1, For: discovery.Millis(20 * time.Second)},
		wire.Launched{Round: 1, State: wire.LaunchStarted},
	} {
		n.Says("ann", m)
		if after := essence(t, n.Room); after != before {
			t.Fatalf("%+v changed the room from\n%s\nto\n%s", m, before, after)
		}
	}
	n = measuring(t, 3, "ann", "bob")
	before = essence(t, n.Room)
	n.Says("ann", wire.Rests{Round: 2, For: discovery.Millis(20 * time.Second)})
	if after := essence(t, n.Room); after != before {
		t.Errorf("a rest in another round changed the room from\n%s\nto\n%s", before, after)
	}
}

// TestNonsense checks that a program that makes no sense is told so, and does no harm.
func TestNonsense(t *testing.T) {
	tests := []struct {
		name    string
		message wire.Message
		stage   wire.Stage
	}{
		{"a server beyond the list", wire.Report{Round: 1, Results: []discovery.Result{{Server: 3, State: discovery.Lost}}}, wire.Measuring},
		{"what a server beyond the list says", wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: 3}}}, wire.Measuring},
		{"no finalist", wire.Verified{Round: 1, Attempt: 1, Servers: []wire.Finalist{{Server: 7}}}, wire.Chosen},
		{"a negative finalist", wire.Verified{Round: 1, Attempt: 1, Servers: []wire.Finalist{{Server: -1}}}, wire.Chosen},
		{"a host's message", wire.Measure{Round: 1}, wire.Measuring},
		{"a second hello", wire.Hello{Version: wire.Version, Name: "ann"}, wire.Measuring},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := measuring(t, 3, "ann", "bob")
			if tt.stage == wire.Chosen {
				n = choosing(t, 3)
			}
			if err := n.Step(room.Hear{Player: "ann", Message: tt.message}); err == nil {
				t.Errorf("%+v is fine", tt.message)
			}
			n.InStage(tt.stage)
		})
	}
	n := measuring(t, 3, "ann", "bob")
	if err := n.Step(room.Hear{Player: "eve", Message: wire.Done{Round: 1}}); err == nil {
		t.Error("a stranger's word counts")
	}
}

// TestAbsurdValues checks that a room with absurd values from a program can be saved and read back,
// and that they win nothing.
func TestAbsurdValues(t *testing.T) {
	absurd := []discovery.Info{
		{Players: -1 << 40, MaxPlayers: 1 << 40, Bots: math.MaxInt64},
		{Map: strings.Repeat("x", 1000), Name: "\x1b[2J", MinPing: -time.Hour, MaxPing: math.MaxInt64},
		{Players: math.MaxInt64, MaxPlayers: math.MinInt64},
	}
	for i, info := range absurd {
		for _, rtt := range []float64{0, 1e-300, 59_999, math.MaxFloat64, math.Inf(1), -5, math.NaN()} {
			t.Run(fmt.Sprint(i, rtt), func(t *testing.T) {
				n := choosing(t, 2)
				n.Says("ann", wire.Verified{
					Round:   1,
					Attempt: 1,
					Servers: []wire.Finalist{{Server: 0, State: discovery.Answered, RTTs: []float64{rtt}, Sent: 3, Info: &info}},
				})
				same(t, n.Room, restored(t, n.Room))
				n.Verifies("bob")
				for _, ranked := range n.Choice().Ranking {
					if ms := ranked.RTT["ann"]; !(ms >= 0 && ms <= discovery.MS(wire.MaxRTT)) {
						t.Errorf("ann's ping is %v ms", ms)
					}
				}
			})
		}
	}
}

// TestLogIsBounded checks that a stranger cannot make the log or the state grow.
func TestLogIsBounded(t *testing.T) {
	n := choosing(t, 2)
	n.Verifies("ann")
	n.Verifies("bob")
	notes := len(n.View().Log)
	for range 1000 {
		n.Says("ann", wire.Launched{Round: 1, State: wire.LaunchStarted})
	}
	if got := len(n.View().Log); got != notes+1 {
		t.Errorf("repeating a launch 1000 times made %d notes", got-notes)
	}
	for i := range 1000 {
		n.Says("ann", wire.Launched{Round: 1, State: wire.LaunchFailed, Detail: sentence.Plain(fmt.Sprint(i))})
		n.Gone("bob")
		n.Join("bob")
	}
	if got := len(n.View().Log); got > 200 {
		t.Errorf("%d notes", got)
	}
}

// TestAbsurdClock checks that a trace lies between the beginning of the measuring and now, whatever
// a program's clock says, and that the room can be saved and read back.
func TestAbsurdClock(t *testing.T) {
	const day = 24 * time.Hour
	for _, clock := range []struct{ now, at time.Duration }{{0, day}, {day, 0}, {day, day}, {0, 0}} {
		n := measuring(t, 4, "ann", "bob")
		n.Wait(2 * time.Second)
		probes := []discovery.Result{{Server: 1, At: clock.at, State: discovery.Lost}, {Server: 3, At: clock.at, State: discovery.Lost}}
		n.Says("ann", wire.Report{Round: 1, Now: clock.now, Results: probes})
		for _, p := range traceOf(restored(t, n.Room), "ann") {
			if p.At < 0 || p.At > 2*time.Second {
				t.Errorf("a probe of %v by a clock of %v was at %v, two seconds after the beginning", clock.at, clock.now, p.At)
			}
		}
	}
}

// TestLongMeasuring checks that a room whose measuring began days ago can be saved and read back.
func TestLongMeasuring(t *testing.T) {
	n := measuring(t, 4, "ann", "bob")
	n.Now = n.Now.Add(72 * time.Hour)
	n.Says("ann", wire.Report{Round: 1, Now: time.Second, Results: []discovery.Result{{At: time.Second, State: discovery.Lost}}})
	restored(t, n.Room)
}

// TestLongTrace checks that a trace has no more probes than the list has servers.
func TestLongTrace(t *testing.T) {
	n := measuring(t, 4, "ann", "bob")
	for first := range 1000 {
		n.Says("ann", wire.Report{
			Round:   1,
			First:   first,
			Results: []discovery.Result{{Server: first % 4, State: discovery.Lost}, {Server: 2, State: discovery.Answered}},
		})
	}
	if got := len(probesOf(n.Room, "ann")); got != 4 {
		t.Errorf("%d probes are kept of a list of 4 servers, want 4", got)
	}
}

// TestTrace checks that results that are repeated after a lost connection count once, with the
// host's times.
func TestTrace(t *testing.T) {
	n := measuring(t, 4, "ann", "bob")
	probe := func(server, at int) discovery.Result {
		return discovery.Result{Server: server, At: time.Duration(at) * time.Millisecond, State: discovery.Answered, RTT: time.Millisecond}
	}
	n.Wait(2 * time.Second)
	n.Says("ann", wire.Report{Round: 1, Now: 500 * time.Millisecond, Results: []discovery.Result{probe(2, 100), probe(0, 400)}})
	n.Says("ann", wire.Report{Round: 1, Now: 700 * time.Millisecond, Results: []discovery.Result{probe(2, 100), probe(0, 400), probe(1, 600)}})
	n.Says("ann", wire.Report{Round: 2, Now: 700 * time.Millisecond, Results: []discovery.Result{probe(3, 650)}})
	for _, r := range []*room.Room{n.Room, restored(t, n.Room)} {
		got := probesOf(r, "ann")
		want := []discovery.Result{probe(2, 1600), probe(0, 1900), probe(1, 1900)}
		if !slices.Equal(got, want) {
			t.Errorf("ann's probes are %v, want %v", got, want)
		}
	}
}
