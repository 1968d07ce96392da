package room_test

import (
	"encoding/json"
	"testing"
	"time"

	"muster/discovery"
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
