package host

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// TestStaleMessages: what belongs to another round, attempt or stage is too
// late, not wrong.
func TestStaleMessages(t *testing.T) {
	n := choosing(t, 3)
	before := string(essence(t, n.room))
	for _, m := range []wire.Message{
		wire.Verified{Round: 1, Attempt: 2, Servers: []wire.Finalist{{Server: 0, State: discovery.Lost}}},
		wire.Verified{Round: 2, Attempt: 1, Servers: []wire.Finalist{{Server: 0, State: discovery.Lost}}},
		wire.Report{Round: 1, Results: []discovery.Result{{Server: 0, State: discovery.Lost}}},
		wire.Report{Round: 2, Results: []discovery.Result{{Server: 99, State: discovery.Lost}}},
		wire.Infos{Round: 2, Servers: []wire.ServerInfo{{Server: 99}}},
		wire.Done{Round: 1}, wire.Done{Round: 2},
		wire.Launched{Round: 1, State: wire.LaunchStarted},
	} {
		n.says("ann", m)
		if after := string(essence(t, n.room)); after != before {
			t.Fatalf("%+v changed the room from\n%s\nto\n%s", m, before, after)
		}
	}
}

// TestNonsense: a program that makes no sense is told so, and does no harm.
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
			if _, err := n.room.Receive("ann", tt.message, n.now); err == nil {
				t.Errorf("%+v is fine", tt.message)
			}
			n.inStage(tt.stage)
		})
	}
	n := measuring(t, 3, "ann", "bob")
	if _, err := n.room.Receive("eve", wire.Done{Round: 1}, n.now); err == nil {
		t.Error("a stranger's word counts")
	}
}

// TestAbsurdValues: whatever a peer claims, the room can be saved and read back,
// and what is absurd wins nothing.
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
				n.says("ann", wire.Verified{Round: 1, Attempt: 1, Servers: []wire.Finalist{{Server: 0, State: discovery.Answered, RTTs: []float64{rtt}, Sent: 3, Info: &info}}})
				same(t, n.room, restored(t, n.room))
				if rtt := n.room.member("ann").Results[0].RTT; rtt < 0 || rtt > wire.MaxRTT {
					t.Errorf("ann's RTT is %v", rtt)
				}
			})
		}
	}
}

// TestLogIsBounded: neither log nor state grows at a stranger's will.
func TestLogIsBounded(t *testing.T) {
	n := choosing(t, 2)
	n.verifies("ann")
	n.verifies("bob")
	notes := len(n.room.Log)
	for range 1000 {
		n.says("ann", wire.Launched{Round: 1, State: wire.LaunchStarted})
	}
	if got := len(n.room.Log); got != notes+1 {
		t.Errorf("repeating a launch 1000 times made %d notes", got-notes)
	}
	for i := range 1000 {
		n.says("ann", wire.Launched{Round: 1, State: wire.LaunchFailed, Detail: fmt.Sprint(i)})
		n.gone("bob")
		n.join("bob")
	}
	if got := len(n.room.Log); got > maxLog {
		t.Errorf("%d notes", got)
	}
}

// TestAbsurdClock: whatever a peer's clock says, its trace lies between the
// measuring's beginning and now, and the room can be saved and read back.
func TestAbsurdClock(t *testing.T) {
	const day = 24 * time.Hour
	for _, clock := range []struct{ now, at time.Duration }{{0, day}, {day, 0}, {day, day}, {0, 0}} {
		n := measuring(t, 4, "ann", "bob")
		n.wait(2 * time.Second)
		probes := []discovery.Result{{At: clock.at, State: discovery.Lost}, {At: clock.at, State: discovery.Lost}}
		n.says("ann", wire.Report{Round: 1, Now: clock.now, Results: probes})
		for _, p := range restored(t, n.room).member("ann").Probes {
			if p.At < 0 || p.At > 2*time.Second {
				t.Errorf("a probe of %v by a clock of %v was at %v, two seconds after the beginning", clock.at, clock.now, p.At)
			}
		}
	}
}

// TestLongEvening: a room whose measuring began days ago can be saved and read
// back.
func TestLongEvening(t *testing.T) {
	n := measuring(t, 4, "ann", "bob")
	n.room.Measuring = n.now.Add(-72 * time.Hour)
	n.says("ann", wire.Report{Round: 1, Now: time.Second, Results: []discovery.Result{{At: time.Second, State: discovery.Lost}}})
	restored(t, n.room)
}

// TestLongTrace: a trace has so many probes as the list has servers, and some.
func TestLongTrace(t *testing.T) {
	n := measuring(t, 4, "ann", "bob")
	lost := discovery.Result{State: discovery.Lost}
	for first := range 1000 {
		n.says("ann", wire.Report{Round: 1, First: first, Results: []discovery.Result{lost, lost, lost}})
	}
	if got := len(n.room.member("ann").Probes); got != 8 {
		t.Errorf("%d probes are kept of a list of 4 servers, want 8", got)
	}
}
