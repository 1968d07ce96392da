package room_test

import (
	"slices"
	"testing"

	"muster/host/room"
	"muster/host/wire"
)

// TestLookalikes checks that nobody comes in under a name that people would take for another's.
func TestLookalikes(t *testing.T) {
	n := newSession(t, settings(0))
	n.Join("ann")
	for _, tt := range []struct{ name, reason string }{
		{"\u0430nn", wire.ReasonNameTaken}, // a Cyrillic letter
		{"ａｎｎ", wire.ReasonNameTaken},
		{"ann\u3164", wire.ReasonNameTaken},
		{"a\u0335\u0336nn", wire.ReasonNameTaken},
		{"\u3164", wire.ReasonName},
		{"🎉", wire.ReasonName},
	} {
		if refusal := n.TryJoin(tt.name, "token of another"); refusal == nil || refusal.Reason != tt.reason {
			t.Errorf("a player comes as %q: %v, want %q", tt.name, refusal, tt.reason)
		}
		if err := n.Step(room.Order{Action: room.Enter{Name: tt.name, Token: "page of another"}}); reason(err) != tt.reason {
			t.Errorf("a guest comes as %q: %v, want %q", tt.name, err, tt.reason)
		}
	}
	n.Step(room.Order{Action: room.Enter{Name: "zoe", Token: "page of zoe"}})
	if err := n.Acts("page of zoe", room.Rename{Name: "Аnn"}); reason(err) != wire.ReasonNameTaken {
		t.Errorf("a guest takes a name that looks like ann's: %v", err)
	}
	n.Join("zоe") // the middle letter is Cyrillic: the guest gives way to a player
	var names []string
	for _, p := range n.View().People {
		names = append(names, p.Name)
	}
	if want := []string{"ann", "zоe", "zoe (guest)"}; !slices.Equal(names, want) {
		t.Errorf("the people are %q, want %q", names, want)
	}
}
