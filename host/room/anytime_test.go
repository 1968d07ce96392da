package room

import (
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// searchingOn is a room of two that has searched a long list and now votes.
func searchingOn(t *testing.T) *session {
	n := coordinated(t)
	n.room.settings.Agree = wire.Yes
	n.searches()
	n.inStage(wire.Chosen)
	n.verifies("ann")
	n.verifies("bob")
	if !n.room.isVoting() {
		t.Fatalf("no vote; the log:\n%s", n.log())
	}
	return n
}

// searches has ann and bob answer until the search is over.
func (n *session) searches() {
	n.Helper()
	for range 400 {
		if n.room.phase.stage() != wire.Refining {
			return
		}
		n.wait(200 * time.Millisecond)
		n.answers(0, "ann")
		n.answers(1, "bob")
	}
	n.Fatalf("the search does not end; the log:\n%s", n.log())
}

// TestAnytime: while people vote the search goes on, slowly, with each player's
// own discovery, and comes to an end.
func TestAnytime(t *testing.T) {
	n := searchingOn(t)
	before := n.room.round.choice.Newest().Chosen.Addr
	asked, own, most := 0, 0, 0
	for range 180 {
		n.wait(time.Second)
		for _, m := range n.sent["ann"] {
			if ask, ok := m.(wire.Ask); ok {
				own += ask.Own
			}
		}
		now := n.answers(0, "ann")
		n.answers(1, "bob")
		asked, most = asked+now, max(most, now)
	}
	if asked == 0 || asked > wire.SearchBudget || most > 100 || own == 0 || own > wire.VoteBudget/2 {
		t.Errorf("ann was asked for %d servers, %d at once, and allowed %d of her own", asked, most, own)
	}
	if !n.room.isVoting() || n.room.round.choice.Newest().Chosen.Addr != before {
		t.Errorf("the choice changed for nothing; the log:\n%s", n.log())
	}
	if n.answers(0, "ann"); len(n.sent["ann"]) > 0 {
		t.Errorf("ann is still asked for %v", n.sent["ann"])
	}
}

// TestAnytimeBetter: a server that turns up while people vote takes the place of
// the one ahead if it is worth it, after everyone has looked at it.
func TestAnytimeBetter(t *testing.T) {
	for _, test := range []struct {
		name   string
		better time.Duration
		moves  bool
	}{{"hardly better", 1500 * time.Microsecond, false}, {"much better", 9 * time.Millisecond, true}} {
		t.Run(test.name, func(t *testing.T) {
			n := searchingOn(t)
			for ownFinds(n, "ann") == 0 || ownFinds(n, "bob") == 0 {
				n.wait(tick)
			}
			ahead := n.room.round.indexOf(n.room.round.choice.Newest().Chosen.Addr)
			found := 0
			for n.room.round.player("ann").witness.At(found).State != discovery.Unprobed || n.room.round.player("bob").witness.At(found).State != discovery.Unprobed {
				found++
			}
			for player, name := range []string{"ann", "bob"} {
				rtt := n.room.round.player(name).witness.At(ahead).RTT - test.better
				n.says(name, wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: found, Info: discovery.Info{MaxPlayers: 16}}}})
				n.says(name, wire.Report{Round: 1, Results: []discovery.Result{{Server: found, State: discovery.Answered, RTT: rtt}}})
				n.answers(player, name)
			}
			n.wait(3 * time.Second)
			if moves := !n.room.isVoting(); moves != test.moves {
				t.Fatalf("everyone looks at it: %v, want %v; the log:\n%s", moves, test.moves, n.log())
			}
			if !test.moves {
				return
			}
			n.verifies("ann")
			n.verifies("bob")
			if !n.room.isVoting() || n.room.round.choice.Newest().Chosen.Addr != n.room.round.servers.List[found].Addr {
				t.Errorf("%v is ahead; the log:\n%s", n.room.round.choice.Newest().Chosen.Addr, n.log())
			}
		})
	}
}

// TestAnytimeEnds: nobody is asked while the countdown runs.
func TestAnytimeEnds(t *testing.T) {
	n := searchingOn(t)
	n.goes()
	delete(n.sent, "ann")
	n.wait(countdownTime - time.Second)
	if asked := n.answers(0, "ann"); asked > 0 {
		t.Errorf("ann is asked for %d servers while the countdown runs", asked)
	}
}
