package room_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/room/attendance"
	"muster/host/room/search"
	"muster/host/wire"
	"muster/selection"
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

// TestRefiningAlone checks that the others go on without a player who drops out in the middle.
func TestRefiningAlone(t *testing.T) {
	n := coordinated(t)
	n.Wait(200 * time.Millisecond)
	n.answers(0, "ann")
	n.answers(1, "bob")
	n.Gone("bob")
	n.searchesOn("ann")
	n.InStage(wire.Chosen)
	if waited := n.Now.Sub(eight); waited < attendance.GoneAfter {
		t.Errorf("chosen without bob after %v", waited)
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

// TestRefiningSlow checks that a player who takes ten times as long as the others has a say, and
// does not hold them up for long.
func TestRefiningSlow(t *testing.T) {
	n := coordinated(t)
	for step := 0; n.isSearching() && step < 600; step++ {
		n.Wait(200 * time.Millisecond)
		n.answers(0, "ann")
		if step%10 == 9 {
			n.answers(1, "bob")
		}
	}
	n.InStage(wire.Chosen)
	if took := n.Now.Sub(eight); took > search.Longest+time.Second || len(n.Choice().Players) != 2 {
		t.Errorf("chosen for %v after %v", n.Choice().Players, took)
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

// TestRefiningResumed checks that a restored room goes on searching.
func TestRefiningResumed(t *testing.T) {
	n := coordinated(t)
	n.Wait(200 * time.Millisecond)
	n.answers(0, "ann")
	n.Restarts(0)
	n.Join("ann", "bob")
	n.searchesOn("ann", "bob")
	n.InStage(wire.Chosen)
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

// TestShortListSilent checks that the room waits until players have given up if no server answers.
func TestShortListSilent(t *testing.T) {
	s := settings(1)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	n.Join("ann")
	n.Gets(far()[:1])
	n.Wait(3 * time.Second)
	n.InStage(wire.Refining)
	n.Says("ann", wire.Report{Round: 1, Results: []discovery.Result{{Server: 0, State: discovery.Lost}}})
	n.Wait(200 * time.Millisecond)
	n.InStage(wire.Failed)
	if culled := n.Choice().Culled; culled.Unreachable != 1 {
		t.Errorf("the choice says %+v; the log:\n%s", culled, n.Story())
	}
}

// TestRefiningStall checks that a search does not end because nobody answers for a few seconds.
func TestRefiningStall(t *testing.T) {
	n := coordinated(t)
	n.Wait(15 * time.Second)
	n.InStage(wire.Refining)
	n.searchesOn("ann", "bob")
	n.InStage(wire.Chosen)
	if probed := n.Person("ann").Probed; probed < 100 {
		t.Errorf("ann was asked for %d servers; the log:\n%s", probed, n.Story())
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

// TestRoundsOverlap checks that players get new questions while answers are on their way in the
// beginning, and that later rounds wait for most answers.
func TestRoundsOverlap(t *testing.T) {
	n := coordinated(t)
	rounds := func() int {
		progress, _ := n.Room.Progress()
		return progress.Rounds
	}
	round := func(after time.Duration, want int) {
		t.Helper()
		if n.Wait(after); rounds() != want {
			t.Fatalf("%d rounds, want %d; the log:\n%s", rounds(), want, n.Story())
		}
	}
	round(200*time.Millisecond, 1)
	n.answers(0, "ann")
	round(120*time.Millisecond, 1)
	n.answers(1, "bob")
	round(0, 2)
	round(200*time.Millisecond, 3) // nobody has answered the second
	for rounds() < 8 {
		n.answers(0, "ann")
		n.answers(1, "bob")
		n.Wait(200 * time.Millisecond)
	}
	last := rounds()
	n.answers(0, "ann")
	round(200*time.Millisecond, last)
	n.answers(1, "bob")
	round(200*time.Millisecond, last+1)
}

// TestEndsWithoutTheSilent checks that nobody waits for silent servers that could not win, once
// every player has used up the budget.
func TestEndsWithoutTheSilent(t *testing.T) {
	n := searchingFor(t, room.Tuning{Budget: 100, Enough: -1}, settings(2), "ann", "bob")
	isSilent := func(server int) bool { return server/100 >= 8 } // as bob finds out
	var asked time.Time
	for n.isSearching() && n.Now.Sub(eight) < search.Longest {
		n.answers(0, "ann")
		if _, is := newestOf[wire.Ask](n, "bob"); is {
			asked = n.Now
		}
		n.answersBut(1, "bob", farRTT, isSilent)
		n.Wait(tick)
	}
	n.InStage(wire.Chosen)
	missing := 0
	for _, server := range n.Asked["bob"] {
		missing += count(isSilent(server))
	}
	if took := n.Now.Sub(asked); missing == 0 || took < 400*time.Millisecond || took >= 1500*time.Millisecond {
		t.Errorf("chosen %v after the last questions, without %d answers; the log:\n%s", took, missing, n.Story())
	}
}

// TestUnluckySample checks that the room looks again at a server that a player measured while a
// queue was full, if it would otherwise be the best.
func TestUnluckySample(t *testing.T) {
	n := coordinated(t)
	best := 0
	for server := range far() {
		if meanFor(2, server) < meanFor(2, best) {
			best = server
		}
	}
	unlucky := func(player, server int) time.Duration {
		if server != best {
			return farRTT(player, server)
		}
		return []time.Duration{farRTT(0, best) - 15*time.Millisecond, farRTT(1, best) + 80*time.Millisecond}[player]
	}
	for n.isSearching() {
		n.Wait(200 * time.Millisecond)
		n.answersAs(0, "ann", unlucky)
		n.answersAs(1, "bob", unlucky)
	}
	n.InStage(wire.Chosen)
	for _, ranked := range n.Choice().Ranking[:finalists] {
		if ranked.Server == best {
			t.Fatalf("server %d is among the first %d by what was measured: the test says nothing", best, finalists)
		}
	}
	if !slices.Contains(n.Looks["ann"].Servers, best) {
		t.Errorf("server %d is not looked at again, but %v", best, n.Looks["ann"].Servers)
	}
}

// TestSamples checks that one sample of each finalist is enough right after a search, and two are
// taken to find what is fair. [TestAnytimeBetter] has the look after a search while people vote.
func TestSamples(t *testing.T) {
	for by, want := range map[selection.Rule]int{selection.Mean: 1, selection.FairThreshold: 2} {
		s := settings(2)
		if s.By = by; by == selection.FairThreshold {
			s.Limits = wire.Limits{150 * time.Millisecond}
		}
		n := searchingFor(t, room.Tuning{}, s, "ann", "bob")
		n.searchesOn("ann", "bob")
		n.InStage(wire.Chosen)
		if got := n.Looks["ann"].Samples; got != want {
			t.Errorf("by %s everybody takes %d samples, want %d", by, got, want)
		}
	}
}

// TestSingleSample checks that one sample of each finalist is enough right after a search, unless
// the sample of the leading server is in doubt.
func TestSingleSample(t *testing.T) {
	answered := func(by time.Duration) func(before time.Duration) (discovery.State, []float64) {
		return func(before time.Duration) (discovery.State, []float64) {
			return discovery.Answered, []float64{discovery.MS(before + by)}
		}
	}
	tests := []struct {
		name string
		// sees returns what ann sees of the leading server; before is its earlier RTT.
		sees  func(before time.Duration) (discovery.State, []float64)
		other bool // she sees it of the last finalist instead
		again bool
	}{
		{"as before", answered(0), false, false},
		{"a little more", answered(4 * time.Millisecond), false, false},
		{"held up", answered(80 * time.Millisecond), false, true},
		{"much less than before", answered(-15 * time.Millisecond), false, true},
		{"one packet is lost", func(time.Duration) (discovery.State, []float64) { return discovery.Lost, nil }, false, false},
		{"another was held up", answered(80 * time.Millisecond), true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := coordinated(t)
			n.searchesOn("ann", "bob")
			odd := n.Chosen().Server
			if tt.other {
				odd = n.Looks["ann"].Servers[finalists-1]
			}
			look := func() {
				for player, name := range []string{"ann", "bob"} {
					asked := n.Looks[name]
					v := wire.Verified{Round: 1, Attempt: asked.Attempt}
					for _, server := range asked.Servers {
						before := farRTT(player, server)
						seen := wire.Finalist{Server: server, State: discovery.Answered, Sent: asked.Samples}
						seen.RTTs = slices.Repeat([]float64{discovery.MS(before)}, seen.Sent)
						if name == "ann" && server == odd && asked.Attempt == 1 {
							seen.State, seen.RTTs = tt.sees(before)
						}
						v.Servers = append(v.Servers, seen)
					}
					n.Says(name, v)
				}
			}
			look()
			if again := n.Room.Stage() == wire.Chosen; again != tt.again {
				t.Fatalf("looked at again: %v; the log:\n%s", again, n.Story())
			}
			if !tt.again {
				return
			}
			if asked := n.Looks["ann"]; asked.Samples != 2 || !slices.Contains(asked.Servers, odd) {
				t.Errorf("everybody takes %d samples of %v the second time", asked.Samples, asked.Servers)
			}
			look()
			if n.Room.Stage() == wire.Chosen {
				t.Errorf("looked at a third time; the log:\n%s", n.Story())
			}
		})
	}
}

// TestNoTurn checks that a room without processor time for its search goes on otherwise, blames
// nobody, and says what it waits for. It still runs a few rounds in the end, however late it is.
func TestNoTurn(t *testing.T) {
	s := settings(3)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	n.Busy = true
	n.Join("ann", "bob", "cat")
	n.Gets(far())
	turn := func() {
		t.Helper()
		if !n.Waits {
			t.Fatal("the room asks for no turn")
		}
		n.Waits = false
		n.Step(room.Turn{})
	}
	n.Wait(search.Longest / 2)
	n.InStage(wire.Refining)
	n.Gone("cat")
	n.Join("cat") // news from a player while the room waits
	for range 2 * search.Longest / time.Second {
		n.Wait(time.Second)
	}
	n.InStage(wire.Refining)
	for _, name := range n.Players() {
		if n.IsOut(name) || n.View().Room.Paused {
			t.Errorf("%s is blamed: %v", name, n.View().Log)
		}
	}
	if notes := strings.Count(n.Story(), "for many rooms"); notes != 1 {
		t.Errorf("people are told %d times what they wait for", notes)
	}
	for rounds := 0; n.isSearching(); rounds++ {
		turn()
		n.Wait(200 * time.Millisecond)
		n.answers(0, "ann")
		n.answers(1, "bob")
		n.answers(2, "cat")
		if n.Wait(200 * time.Millisecond); rounds > 7 {
			t.Fatal("the room is late, and searches on")
		}
	}
	n.InStage(wire.Chosen)
	if chosen := n.Chosen(); chosen.MeanMS > 60 {
		t.Errorf("chosen is %+v", chosen)
	}
	n.Step(room.Turn{}) // nobody waits for this any more
	n.InStage(wire.Chosen)
}
