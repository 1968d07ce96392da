package player

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"muster/host/wire"
)

// TestDelay checks what a host's delays and its questions for a status come to.
func TestDelay(t *testing.T) {
	s := newScript(t, Options{})
	servers := serversOf(2)
	to := wire.Launch{Round: 1, Game: "openarena", Address: servers[0].Addr.String()}
	asked := func(n int) {
		t.Helper()
		found := 0
		for _, o := range s.others {
			if ask, is := o.(AskStatus); is && ask.Launch == to {
				found++
			}
		}
		if found != n {
			t.Errorf("%d questions, want %d, in %v", found, n, s.others)
		}
		s.others = nil
	}
	s.hears(wire.Status{Round: 1}) // nobody is sent anywhere
	asked(0)
	s.hears(wire.List{Round: 1, Servers: servers}, wire.Delay{Round: 1, By: 30}, to)
	if !slices.Contains(s.others, Output(Hold{30})) { // nanoseconds
		t.Errorf("it does %v", s.others)
	}
	s.hears(wire.Status{Round: 2}) // another round
	asked(0)
	s.hears(wire.Status{Round: 1}, wire.Status{Round: 1})
	asked(1)
	s.said = nil
	s.step(StatusTold{Task: s.player.launch.status, Pings: map[string]time.Duration{"zoe": 40 * ms, "anna": 31 * ms}})
	want := wire.Pings{Round: 1, Pings: []wire.NamedPing{{Name: "anna", MS: 31}, {Name: "zoe", MS: 40}}}
	if len(s.said) != 1 || !reflect.DeepEqual(s.said[0], want) {
		t.Errorf("it says %v", s.said)
	}
	s.hears(wire.Status{Round: 1}) // too soon
	asked(0)
	s.passes(statusGap)
	s.others = nil
	s.hears(wire.Status{Round: 1})
	asked(1)
	s.step(StatusTold{Task: s.player.launch.status})
	s.hears(wire.List{Round: 2, Servers: servers}, wire.Launch{Round: 2, Game: "openarena", Address: "10.0.0.1:27960"})
	if !slices.Contains(s.others, Output(Hold{})) {
		t.Errorf("in another round it does %v", s.others)
	}
	s.passes(statusGap)
	s.hears(wire.Status{Round: 2}) // a host on the internet has no program ask a private address
	asked(0)
}
