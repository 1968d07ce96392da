package room_test

import (
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
)

// searchingOn returns a room of two that has searched a long list and now votes.
func searchingOn(t *testing.T) *session {
	t.Helper()
	s := settings(2)
	s.Agree = wire.Yes
	n := searchingFor(t, room.Tuning{}, s, "ann", "bob")
	n.searchesOn("ann", "bob")
	n.InStage(wire.Chosen)
	n.Verifies("ann")
	n.Verifies("bob")
	if !n.IsVoting() {
		t.Fatalf("no vote; the log:\n%s", n.Story())
	}
	return n
}

// TestAnytime checks that the search goes on slowly while people vote, with each player's own
// discovery, and comes to an end.
func TestAnytime(t *testing.T) {
	n := searchingOn(t)
	before := n.Chosen().Addr
	asked, own, most := 0, 0, 0
	for range 180 {
		n.Wait(time.Second)
		own += ownFinds(n, "ann")
		now := n.answers(0, "ann")
		n.answers(1, "bob")
		asked, most = asked+now, max(most, now)
	}
	if asked == 0 || asked > wire.SearchBudget || most > 100 || own == 0 || own > wire.VoteBudget/2 {
		t.Errorf("ann was asked for %d servers, %d at once, and allowed %d of her own", asked, most, own)
	}
	if !n.IsVoting() || n.Chosen().Addr != before {
		t.Errorf("the choice changed for nothing; the log:\n%s", n.Story())
	}
	if n.answers(0, "ann"); len(n.Sent["ann"]) > 0 {
		t.Errorf("ann is still asked for %v", n.Sent["ann"])
	}
}

// TestAnytimeBetter checks that a server that turns up while people vote replaces the one ahead if
// it is enough better and everyone has looked at it.
func TestAnytimeBetter(t *testing.T) {
	for _, test := range []struct {
		name   string
		better time.Duration
		moves  bool
	}{{"hardly better", 1500 * time.Microsecond, false}, {"much better", 9 * time.Millisecond, true}} {
		t.Run(test.name, func(t *testing.T) {
			n := searchingOn(t)
			for ownFinds(n, "ann") == 0 || ownFinds(n, "bob") == 0 {
				n.Wait(tick)
			}
			ahead, found := n.Chosen().Server, n.unasked("ann", "bob")
			for player, name := range []string{"ann", "bob"} {
				n.Says(name, wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: found, Info: discovery.Info{MaxPlayers: 16}}}})
				n.Finds(name, discovery.Answered, n.Saw(name, ahead).RTT-test.better, found)
				n.answers(player, name)
			}
			n.Wait(3 * time.Second)
			if moves := !n.IsVoting(); moves != test.moves {
				t.Fatalf("everyone looks at it: %v, want %v; the log:\n%s", moves, test.moves, n.Story())
			}
			if !test.moves {
				return
			}
			if got := n.Looks["ann"].Samples; got != 3 {
				t.Errorf("while people vote everybody takes %d samples", got)
			}
			n.Verifies("ann")
			n.Verifies("bob")
			if !n.IsVoting() || n.Chosen().Server != found {
				t.Errorf("%v is ahead; the log:\n%s", n.Chosen().Addr, n.Story())
			}
		})
	}
}

// TestAnytimeEnds checks that the room asks nobody while the countdown runs.
func TestAnytimeEnds(t *testing.T) {
	n := searchingOn(t)
	n.Goes()
	delete(n.Sent, "ann")
	n.Wait(countdownTime - time.Second)
	if asked := n.answers(0, "ann"); asked > 0 {
		t.Errorf("ann is asked for %d servers while the countdown runs", asked)
	}
}
