package room

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room/attendance"
	"muster/host/room/search"
	"muster/host/wire"
	"muster/selection"
)

// stopped is a room of two whose players measured by plans of their own, each near servers
// of their own, of a thousand: none is known to both.
func stopped(t *testing.T) *session {
	t.Helper()
	s := settings(2)
	s.Strategy = string(discovery.Adaptive)
	n := newSession(t, s)
	n.as["ann"] = n.room.Keys().Secret
	n.join("ann", "bob")
	n.gets(far())
	for player, name := range []string{"ann", "bob"} {
		n.knows(player, name, 100+500*player, 200+500*player)
		n.done(name)
	}
	n.inStage(wire.Failed)
	n.took("ann")
	n.took("bob")
	return n
}

// knows has a player report some servers.
func (n *session) knows(player int, name string, from, to int) {
	n.Helper()
	infos, report := wire.Infos{Round: n.room.round.number}, wire.Report{Round: n.room.round.number}
	for server := from; server < to; server++ {
		infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{MaxPlayers: 16}})
		report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Answered, RTT: farRTT(player, server)})
	}
	n.says(name, infos)
	n.says(name, report)
}

// offered is how many servers more the room advises to ask, 0 if it does not.
func (n *session) offered() int {
	c := n.view().Choice
	if c == nil {
		return 0
	}
	for _, a := range c.Advice {
		if a.Action == "more" {
			return a.Argument.Servers
		}
	}
	return 0
}

// goesOn has two players answer what they are asked until the search is over, and
// returns how much that was of each.
func (n *session) goesOn(most time.Duration) (asked [2]int) {
	n.Helper()
	for end := n.now.Add(most); n.room.phase.stage() == wire.Refining && n.now.Before(end); {
		n.wait(200 * time.Millisecond)
		for player, name := range []string{"ann", "bob"} {
			asked[player] += n.answers(player, name)
		}
	}
	return asked
}

// TestMore: where players stopped by themselves and have no server in common, each asks at
// most 200 more, of which the first known to all is chosen, and the best of those.
func TestMore(t *testing.T) {
	n := stopped(t)
	if n.offered() != search.MostMore {
		t.Fatalf("%d more are offered", n.offered())
	}
	advice := n.view().Choice.Advice
	if last := advice[len(advice)-1]; last.Text != "ask 200 more servers" || last.Argument != (wire.Argument{Servers: 200}) {
		t.Errorf("the advice is %+v", last)
	}
	if err := n.acts(n.pageOf("bob"), More{200}); reason(err) != wire.ReasonSecret {
		t.Errorf("bob orders it: %v", err)
	}
	for _, servers := range []int{-1, 0, search.MostMore + 1} {
		if n.orders(More{servers}) == nil {
			t.Errorf("%d more are asked", servers)
		}
	}
	n.inStage(wire.Failed)
	if err := n.orders(More{200}); err != nil {
		t.Fatal(err)
	}
	n.inStage(wire.Refining)
	for _, name := range []string{"ann", "bob"} {
		measure, is := n.sent[name][0].(wire.Measure)
		if !is || measure.Strategy != wire.Coordinated {
			t.Errorf("%s, who has the list, is told %+v", name, n.sent[name][0])
		}
	}
	if err := n.orders(More{200}); err == nil {
		t.Error("it is ordered while it goes on")
	}
	asked := n.goesOn(time.Minute)
	for player, servers := range asked {
		if servers > 200 || servers < 100 {
			t.Errorf("player %d was asked for %d more", player, servers)
		}
	}
	n.noted("the organiser has everyone ask 200 more servers")
	n.inStage(wire.Chosen)
	if known := probedBy(n.room.round.player("ann")); known < 200 {
		t.Errorf("of what was known before %d are left", known)
	}
	n.lookAgain()
	n.inStage(wire.Launching)
	chosen := n.room.round.choice.Newest().Chosen
	for server := range n.room.round.servers.List {
		if mean := float64(farRTT(0, server)+farRTT(1, server)) / 2e6; mean < chosen.MeanMS-2 {
			t.Fatalf("chosen with %.1f ms, server %d has %.1f; the log:\n%s", chosen.MeanMS, server, mean, n.log())
		}
	}
}

// TestMoreCoordinated: a search that has spent what it may goes on from there, also where
// the host is started again in the middle, and asks nobody for more than was wanted.
func TestMoreCoordinated(t *testing.T) {
	for _, restarts := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(restarts, " restarts"), func(t *testing.T) {
			s := settings(2)
			s.Strategy, s.By, s.Limits = wire.Coordinated, selection.Threshold, wire.Limits{30 * time.Millisecond}
			n := newSession(t, s)
			n.as["ann"] = n.room.Keys().Secret
			n.room.tuning.Budget = 100
			n.join("ann", "bob")
			n.gets(far())
			n.goesOn(time.Minute)
			n.inStage(wire.Failed)
			known := [2]int{probedBy(n.room.round.player("ann")), probedBy(n.room.round.player("bob"))}
			if n.offered() != search.MostMore {
				t.Fatalf("%d more are offered", n.offered())
			}
			if err := n.orders(More{200}); err != nil {
				t.Fatal(err)
			}
			for range restarts {
				n.goesOn(time.Second)
				n.inStage(wire.Refining)
				n.room = restored(t, n.room)
				n.step(Resume{})
				n.took("ann") // what was under way is lost, and counts as asked
				n.took("bob")
				n.join("ann", "bob")
			}
			n.goesOn(time.Minute)
			n.inStage(wire.Failed)
			for i, name := range []string{"ann", "bob"} {
				p := n.room.round.player(name)
				if asked := p.witness.AskedMore(); asked > 200 || asked < 150 || probedBy(p) > known[i]+200 {
					t.Errorf("%s was asked for %d more, and knows %d instead of %d", name, asked, probedBy(p), known[i])
				}
			}
			if n.offered() != search.MostMore {
				t.Errorf("then %d more are offered", n.offered())
			}
		})
	}
}

// TestMoreEnds: an organiser has players ask five times as many in a round, and no more.
func TestMoreEnds(t *testing.T) {
	n := stopped(t)
	n.room.settings.By, n.room.settings.Limits = selection.Threshold, wire.Limits{time.Millisecond}
	const mostInAll = 5 * search.MostMore
	n.room.round.budget, _ = search.RestoreBudget(search.SavedBudget{Servers: mostInAll - 50})
	if n.offered() != 50 {
		t.Errorf("%d more are offered", n.offered())
	}
	if err := n.orders(More{200}); err != nil {
		t.Fatal(err)
	}
	n.goesOn(time.Minute)
	n.inStage(wire.Failed)
	if err := n.orders(More{1}); err == nil || n.room.round.budget.Save().Servers != mostInAll || n.offered() != 0 {
		t.Errorf("after %d still more are asked: %v", n.room.round.budget.Save().Servers, err)
	}
	n.goes()
	if n.room.round.budget != (search.Budget{}) {
		t.Error("the next round remembers it")
	}
}

// TestMoreNotOffered: nobody is advised to ask more where that would help nobody.
func TestMoreNotOffered(t *testing.T) {
	if n := tooFar(t); n.offered() != 0 {
		t.Error("all have measured the whole list")
	} else if n.orders(More{200}) == nil {
		t.Error("it is done all the same")
	}
	n := stopped(t)
	n.room.round.budget.Close(true)
	if n.offered() != 0 {
		t.Error("there was nothing more to ask")
	}
}

// TestMoreOutlook: while people vote a coordinated search goes on, and more are worth asking
// once that is over and leaves something to be won.
func TestMoreOutlook(t *testing.T) {
	rough := func(player, server int) time.Duration { // of which neighbours tell little
		return farRTT(player, server) + time.Duration(server*7919%1000)*100*time.Microsecond
	}
	for _, tt := range []struct {
		budget  int
		seed    uint64 // with some the planner ends in doubt
		rtt     func(player, server int) time.Duration
		isWorth bool
	}{{60, 0, rough, true}, {0, 300, farRTT, false}} {
		s := settings(2)
		s.Strategy, s.Agree = wire.Coordinated, wire.Yes
		n := newSession(t, s)
		n.room.tuning.Budget, n.room.tuning.Seed = tt.budget, tt.seed
		n.join("ann", "bob")
		n.gets(far())
		answer := func() {
			n.wait(200 * time.Millisecond)
			n.answersAs(0, "ann", tt.rtt)
			n.answersAs(1, "bob", tt.rtt)
			n.lookAgain()
		}
		for end := n.now.Add(time.Minute); !n.room.isVoting() && n.now.Before(end); {
			answer()
		}
		n.inStage(wire.Chosen)
		if n.offered() != 0 || !n.room.isVoting() {
			t.Error("the search goes on while people vote")
		}
		for range 300 {
			answer()
		}
		p, _ := n.room.Progress()
		if isOffered := n.offered() > 0; !p.Done || isOffered != tt.isWorth {
			t.Errorf("of a budget of %d, %d more are offered after %+v", tt.budget, n.offered(), p)
		}
	}
}

// TestMoreWhileVoting: the vote waits for what turns up, and goes on; nobody is ready for
// what is new.
func TestMoreWhileVoting(t *testing.T) {
	s := settings(2)
	s.Strategy, s.Agree = string(discovery.Adaptive), wire.Yes
	n := newSession(t, s)
	n.as["ann"] = n.room.Keys().Secret
	n.join("ann", "bob")
	n.gets(far())
	for player, name := range []string{"ann", "bob"} {
		n.knows(player, name, 700, 720) // none of which is near
		n.done(name)
	}
	n.lookAgain()
	if n.offered() != search.MostMore || !n.room.isVoting() {
		t.Fatalf("%d more are offered in %T", n.offered(), n.room.phase)
	}
	before := n.room.round.choice.Newest().Chosen.MeanMS
	n.step(PageOpened{n.pageOf("ann")})
	if err := n.acts(n.pageOf("ann"), Ready{true}); err != nil {
		t.Fatal(err)
	}
	attempt := n.room.round.looks.Save().Attempt
	if err := n.orders(More{200}); err != nil {
		t.Fatal(err)
	}
	n.goesOn(time.Minute)
	if n.room.round.looks.Save().Attempt <= attempt {
		t.Error("peers take the next look for one that they have had")
	}
	n.lookAgain()
	if !n.room.isVoting() || n.person("ann").Ready {
		t.Fatalf("in %T, ann is %+v; the log:\n%s", n.room.phase, n.person("ann"), n.log())
	}
	if after := n.room.round.choice.Newest().Chosen.MeanMS; after > before-10 {
		t.Errorf("%.0f ms before, %.0f after", before, after)
	}
}

// TestMoreFor: who was left out stays so, who comes is too late, and who comes back gets
// the list.
func TestMoreFor(t *testing.T) {
	n := stopped(t)
	n.room.settings.Players = 0
	n.room.round.attendance.LeaveOut(attendance.Left, "bob")
	n.gone("ann")
	n.join("ann")
	n.took("ann")
	n.orders(More{200})
	if kinds := n.took("ann"); kinds != "list measure report" {
		t.Errorf("ann's new connection is sent %q", kinds)
	}
	n.knows(1, "bob", 700, 720)
	n.gone("bob")
	n.join("bob", "cat")
	for _, name := range []string{"bob", "cat"} {
		if !n.isOut(name) {
			t.Errorf("%s counts", name)
		}
	}
	if !slices.Equal(names(n.room.round.active()), []string{"ann"}) {
		t.Errorf("it is for %v", names(n.room.round.active()))
	}
}
