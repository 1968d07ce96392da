package room_test

import (
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// TestDoubtedWhileRefining checks that the search goes on without a player who makes numbers up.
func TestDoubtedWhileRefining(t *testing.T) {
	s := settings(4)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	n.Join("ann", "bob", "cat", "dan")
	n.Gets(far())
	for back := false; n.Now.Sub(eight) < time.Minute; {
		if !back && !n.Person("dan").Doubt.IsZero() { // he leaves and comes back
			n.Gone("dan")
			n.Join("dan")
			back = true
		}
		n.Wait(200 * time.Millisecond)
		for i, name := range []string{"ann", "bob", "cat"} {
			n.answers(i, name)
		}
		n.lies("dan")
		if !n.isSearching() {
			break
		}
	}
	n.InStage(wire.Chosen)
	if told := strings.Count(n.Story(), "doesn’t count"); told != 1 {
		t.Errorf("told %d times: %s", told, n.Story())
	}
	if dan := n.Person("dan"); dan.Doubt.IsZero() || !dan.LeftOut || dan.Probed > 200 {
		t.Errorf("dan's doubt is %q after %d servers", dan.Doubt, dan.Probed)
	}
}

// lies answers 9999 ms for all that a player was asked, and sends it unasked too.
func (n *session) lies(name string) {
	asked := []int{0}
	for _, ask := range n.takes(name) {
		asked = append(asked, ask.Servers...)
	}
	n.Finds(name, discovery.Answered, 9999*time.Millisecond, asked...)
}
