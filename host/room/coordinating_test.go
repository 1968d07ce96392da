package room_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
)

func TestRefining(t *testing.T) {
	n := coordinated(t)
	n.searchesOn("ann", "bob")
	n.InStage(wire.Chosen)
	if asked := len(n.Asked["ann"]) + len(n.Asked["bob"]); asked == 0 || asked > 1500 {
		t.Errorf("%d questions to two players about 1,000 servers", asked)
	}
	n.isBestFor(2)
}

// TestRefiningSays checks that everyone is told how far the search is.
func TestRefiningSays(t *testing.T) {
	n := coordinated(t)
	var last *wire.Search
	for n.isSearching() {
		n.Wait(200 * time.Millisecond)
		n.answers(0, "ann")
		n.answers(1, "bob")
		if search := n.View().Room.Search; search != nil {
			last = search
		}
	}
	if last == nil || !last.Found || last.GainMS == nil || last.Rounds < 5 {
		t.Fatalf("the last word of the search was %+v", last)
	}
	if off := last.MeanMS - n.Chosen().MeanMS; off < -0.1 || off > 1 {
		t.Errorf("%v, chosen with %.1f", last.Sentence(n.Room.Settings().By), n.Chosen().MeanMS)
	}
	if n.View().Room.Search != nil {
		t.Error("the search goes on after the choice")
	}
}

// TestRefiningGroup checks that the others soon have the best server for those who are there,
// whatever becomes of one player in the middle of a search.
func TestRefiningGroup(t *testing.T) {
	tests := []struct {
		name string
		// wanted is the number of players that the organiser waits for, 0 for a go.
		wanted int
		// happens runs in the middle of the search, and reports whether bob still answers.
		happens func(n *session) (bobAnswers bool)
		within  time.Duration
		players int
		noted   string
	}{
		{"back in a moment", 2, func(n *session) bool {
			n.Gone("bob")
			delete(n.Sent, "bob")
			n.Wait(5 * time.Second)
			n.Join("bob")
			return true
		}, 30 * time.Second, 2, "bob is back"},
		{"never back", 2, func(n *session) bool {
			n.Gone("bob")
			return false
		}, 60 * time.Second, 1, "going on without bob, gone for 30 seconds"},
		{"says nothing more", 2, func(*session) bool {
			return false
		}, 60 * time.Second, 1, "going on without bob: nothing heard for 20 seconds"},
		{"one more comes", 0, func(n *session) bool { n.Join("cid"); return true }, 40 * time.Second, 3, "cid is here"},
		{"removed", 2, func(n *session) bool {
			if err := n.Orders(room.Remove{Name: "bob"}); err != nil {
				n.Fatal(err)
			}
			return false
		}, 30 * time.Second, 1, "the organiser removed bob"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n := searchingFor(t, room.Tuning{}, settings(test.wanted), "ann", "bob")
			step := func(bobAnswers bool) {
				n.Wait(200 * time.Millisecond)
				n.answers(0, "ann")
				if bobAnswers {
					n.answers(1, "bob")
				}
				n.answers(2, "cid")
			}
			for range 5 {
				step(true)
			}
			n.InStage(wire.Refining)
			answers := test.happens(n)
			for n.isSearching() && n.Now.Sub(eight) < 2*time.Minute {
				step(answers)
			}
			n.InStage(wire.Chosen)
			n.Noted(test.noted)
			if took := n.Now.Sub(eight); took > test.within {
				t.Errorf("chosen after %v, want %v at most", took, test.within)
			}
			if players := n.Choice().Players; len(players) != test.players {
				t.Fatalf("chosen for %v, want %d players; the log:\n%s", players, test.players, n.Story())
			}
			n.isBestFor(test.players)
		})
	}
}

// TestRefiningChanged checks that the organiser's new rule counts from the next question on.
func TestRefiningChanged(t *testing.T) {
	n := coordinated(t)
	for range 5 {
		n.Wait(200 * time.Millisecond)
		n.answers(0, "ann")
		n.answers(1, "bob")
	}
	if err := n.Orders(room.Change{Settings: []byte(`{"by":"minimax"}`)}); err != nil {
		t.Fatal(err)
	}
	n.searchesOn("ann", "bob")
	n.InStage(wire.Chosen)
	for server := range far() {
		worst := discovery.MS(max(farRTT(0, server), farRTT(1, server)))
		if worst < n.Chosen().MaxMS-2 {
			t.Fatalf("chosen with %.1f ms for the worst off, server %d has %.1f", n.Chosen().MaxMS, server, worst)
		}
	}
}

// TestShortList checks that a short list is searched too, and nobody waits for its silent servers.
func TestShortList(t *testing.T) {
	for _, servers := range []int{1, 3, 10, 50} {
		s := settings(2)
		s.Strategy = wire.Coordinated
		n := newSession(t, s)
		n.Join("ann", "bob")
		n.Gets(far()[:servers+1])
		n.InStage(wire.Refining)
		began := n.Now
		for n.isSearching() && n.Now.Sub(began) < 5*time.Second {
			n.Wait(100 * time.Millisecond)
			for player, name := range []string{"ann", "bob"} {
				n.answersBut(player, name, farRTT, func(server int) bool { return server == servers })
			}
		}
		n.InStage(wire.Chosen)
		if took := n.Now.Sub(began); took > time.Second {
			t.Errorf("%d servers and a silent one: chosen after %v; the log:\n%s", servers, took, n.Story())
		}
		n.Chosen()
		if want := fmt.Sprintf("everyone was asked to measure all %d servers", servers+1); !strings.Contains(n.Story(), want) {
			t.Errorf("%d servers and a silent one: nobody said that %s; the log:\n%s", servers, want, n.Story())
		}
	}
}

// TestRefiningInfosLate checks that a search does not end on results of servers whose facts have
// not arrived yet.
func TestRefiningInfosLate(t *testing.T) {
	n := coordinated(t)
	n.Wait(200 * time.Millisecond)
	infos := map[string]wire.Infos{}
	for player, name := range []string{"ann", "bob"} {
		late, report := wire.Infos{Round: 1}, wire.Report{Round: 1}
		for _, ask := range n.takes(name) {
			for _, server := range ask.Servers {
				late.Servers = append(late.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{MaxPlayers: 16}})
				report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Answered, RTT: farRTT(player, server)})
			}
		}
		infos[name] = late
		n.Says(name, report)
	}
	n.Wait(600 * time.Millisecond)
	n.InStage(wire.Refining)
	n.Says("ann", infos["ann"])
	n.Says("bob", infos["bob"])
	n.searchesOn("ann", "bob")
	n.InStage(wire.Chosen)
	n.Chosen()
	if probed := n.Person("ann").Probed; probed < 100 {
		t.Errorf("ann was asked for %d servers; the log:\n%s", probed, n.Story())
	}
}

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
