package room_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
)

// TestWithoutSlow checks that a player who answers a server a second forgets the queue and is named,
// that the choice comes in seconds, and that the organiser may go without the player meanwhile.
func TestWithoutSlow(t *testing.T) {
	for _, isLeftOut := range []bool{false, true} {
		n := coordinated(t)
		var queue []int
		forgets := false
		answer := func() { // one server
			if len(queue) > 0 {
				n.Says("bob", wire.Report{Round: 1, Results: []discovery.Result{{
					Server: queue[0], State: discovery.Answered, RTT: farRTT(1, queue[0]),
				}}})
				queue = queue[1:]
			}
		}
		for i := 0; n.isSearching(); i++ {
			n.Wait(100 * time.Millisecond)
			n.answers(0, "ann")
			for _, ask := range n.takes("bob") {
				if ask.Only {
					queue, forgets = nil, true
				}
				queue = append(queue, ask.Servers...)
			}
			if i%10 == 2 {
				answer()
			}
			if isLeftOut && i == 30 {
				if err := n.Orders(room.Without{Name: "bob"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		n.InStage(wire.Chosen)
		players := n.View().Choice.Selection.Players
		if waited := n.Now.Sub(eight); waited > 9*time.Second || !forgets || slices.Contains(players, "bob") == isLeftOut {
			t.Errorf("left out %v: chosen for %q after %v, bob forgets the queue: %v; the log:\n%s", isLeftOut, players, waited, forgets, n.Story())
		}
		if named := strings.Contains(n.Story(), "bob answers slowly, 1 server a second"); named == isLeftOut {
			t.Errorf("left out %v, named %v; the log:\n%s", isLeftOut, named, n.Story())
		}
	}
}
