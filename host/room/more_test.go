package room_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/room/search"
	"muster/host/wire"
	"muster/selection"
)

// stopped returns a room of two whose players measured by plans of their own. Each knows servers
// near to them, of a thousand, and no server is known to both.
func stopped(t *testing.T) *session {
	t.Helper()
	return stoppedIn(t, settings(2), far())
}

// stoppedIn returns a stopped session with other settings and another list.
func stoppedIn(t *testing.T, s wire.Settings, list []discovery.Server) *session {
	t.Helper()
	s.Strategy = string(discovery.Adaptive)
	n := newSession(t, s)
	n.As["ann"] = n.Room.Keys().Secret
	n.Join("ann", "bob")
	n.Gets(list)
	n.stops()
	return n
}

// stops ends the plans of both, when each knows a hundred servers of their own.
func (n *session) stops() {
	n.Helper()
	for player, name := range []string{"ann", "bob"} {
		n.knows(player, name, 100+500*player, 200+500*player)
		n.Done(name)
	}
	n.InStage(wire.Failed)
	n.Took("ann")
	n.Took("bob")
}

// knows reports some servers for a player.
func (n *session) knows(player int, name string, from, to int) {
	n.Helper()
	infos, report := wire.Infos{Round: n.Round()}, wire.Report{Round: n.Round()}
	for server := from; server < to; server++ {
		infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{MaxPlayers: 16}})
		report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Answered, RTT: farRTT(player, server)})
	}
	n.Says(name, infos)
	n.Says(name, report)
}

// offered returns the number of servers more that the room advises to ask, 0 without advice.
func (n *session) offered() int {
	c := n.View().Choice
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

// goesOn lets two players answer what they are asked until the search is over, and returns how much
// that was of each.
func (n *session) goesOn(most time.Duration) (asked [2]int) {
	n.Helper()
	for end := n.Now.Add(most); n.isSearching() && n.Now.Before(end); {
		n.Wait(200 * time.Millisecond)
		for player, name := range []string{"ann", "bob"} {
			asked[player] += n.answers(player, name)
		}
	}
	return asked
}

// TestMore checks that players who stopped by themselves without a common server each ask at most
// 200 more, and that the room chooses the best of those that both then know.
func TestMore(t *testing.T) {
	n := stopped(t)
	if n.offered() != search.MaxMore {
		t.Fatalf("%d more are offered", n.offered())
	}
	advice := n.View().Choice.Advice
	if last := advice[len(advice)-1]; last.Action != "more" || last.Max != 0 || last.Argument != (wire.Argument{Servers: 200}) {
		t.Errorf("the advice is %+v", last)
	}
	if err := n.Acts(n.PageOf("bob"), room.More{Servers: 200}); reason(err) != wire.ReasonSecret {
		t.Errorf("bob orders it: %v", err)
	}
	for _, servers := range []int{-1, 0, search.MaxMore + 1} {
		if n.Orders(room.More{Servers: servers}) == nil {
			t.Errorf("%d more are asked", servers)
		}
	}
	n.InStage(wire.Failed)
	if err := n.Orders(room.More{Servers: 200}); err != nil {
		t.Fatal(err)
	}
	n.InStage(wire.Refining)
	for _, name := range []string{"ann", "bob"} {
		measure, is := n.Sent[name][0].(wire.Measure)
		if !is || measure.Strategy != wire.Coordinated {
			t.Errorf("%s, who has the list, is told %+v", name, n.Sent[name][0])
		}
	}
	if err := n.Orders(room.More{Servers: 200}); err == nil {
		t.Error("it is ordered while it goes on")
	}
	asked := n.goesOn(time.Minute)
	for player, servers := range asked {
		if servers > 200 || servers < 100 {
			t.Errorf("player %d was asked for %d more", player, servers)
		}
	}
	n.Noted("the organiser wants 200 more servers asked")
	n.InStage(wire.Chosen)
	if known := n.Person("ann").Probed; known < 200 {
		t.Errorf("of what was known before %d are left", known)
	}
	n.LookAgain()
	n.InStage(wire.Launching)
	n.isBestFor(2)
}

// TestMoreCoordinated checks that a search that has spent its budget goes on from there, even over
// a restart of the host, and asks nobody for more than was wanted.
func TestMoreCoordinated(t *testing.T) {
	for _, restarts := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(restarts, " restarts"), func(t *testing.T) {
			s := settings(2)
			s.Strategy, s.By, s.Limits = wire.Coordinated, selection.Threshold, wire.Limits{30 * time.Millisecond}
			n := tuned(t, room.Tuning{Budget: 100}, s)
			n.As["ann"] = n.Room.Keys().Secret
			n.Join("ann", "bob")
			n.Gets(far())
			n.goesOn(time.Minute)
			n.InStage(wire.Failed)
			known := [2]int{n.Person("ann").Probed, n.Person("bob").Probed}
			if n.offered() != search.MaxMore {
				t.Fatalf("%d more are offered", n.offered())
			}
			before := [2]int{len(n.Asked["ann"]), len(n.Asked["bob"])}
			if err := n.Orders(room.More{Servers: 200}); err != nil {
				t.Fatal(err)
			}
			for range restarts {
				n.goesOn(time.Second)
				n.InStage(wire.Refining)
				n.Restarts(0)
				n.Took("ann") // questions under way are lost, and count as asked
				n.Took("bob")
				n.Join("ann", "bob")
			}
			n.goesOn(time.Minute)
			n.InStage(wire.Failed)
			for i, name := range []string{"ann", "bob"} {
				slices.Sort(n.Asked[name][before[i]:]) // a restarted room asks for some again
				asked, knows := len(slices.Compact(n.Asked[name][before[i]:])), n.Person(name).Probed
				if asked > 200 || asked < 150 || knows > known[i]+200 {
					t.Errorf("%s was asked for %d more, and knows %d instead of %d", name, asked, knows, known[i])
				}
			}
			if n.offered() != search.MaxMore {
				t.Errorf("then %d more are offered", n.offered())
			}
		})
	}
}

// TestMoreEnds checks that an organiser can let players ask five times as many in a round, and no
// more, and that the next round remembers nothing of it.
func TestMoreEnds(t *testing.T) {
	s := settings(2)
	s.By, s.Limits = selection.Threshold, wire.Limits{time.Millisecond}
	n := stoppedIn(t, s, farIn(20))
	const maxInAll = 5 * search.MaxMore
	before, granted := len(n.Asked["ann"]), 0
	for granted < maxInAll {
		want := min(search.MaxMore, maxInAll-granted)
		if got := n.offered(); got != want {
			t.Fatalf("after %d more %d are offered; the log:\n%s", granted, got, n.Story())
		}
		servers := search.MaxMore
		if granted == 0 {
			servers -= 50
		}
		if err := n.Orders(room.More{Servers: servers}); err != nil {
			t.Fatal(err)
		}
		granted += min(servers, want)
		n.goesOn(time.Minute)
		n.InStage(wire.Failed)
	}
	if asked := len(n.Asked["ann"]) - before; asked > maxInAll || asked < maxInAll-100 {
		t.Errorf("ann was asked for %d more", asked)
	}
	if err := n.Orders(room.More{Servers: 1}); err == nil || n.offered() != 0 {
		t.Errorf("after %d still more are asked: %v", granted, err)
	}
	n.Goes()
	n.Gets(farIn(20))
	n.stops()
	if n.offered() != search.MaxMore {
		t.Errorf("the next round remembers it, and offers %d", n.offered())
	}
}

// TestMoreForecast checks that more servers are worth asking during the vote only once the
// coordinated search is over, and expects to win something.
func TestMoreForecast(t *testing.T) {
	rough := func(player, server int) time.Duration { // neighbours tell little of each other
		return farRTT(player, server) + time.Duration(server*7919%1000)*100*time.Microsecond
	}
	for _, tt := range []struct {
		budget  int
		seed    uint64 // some seeds leave the planner in doubt
		rtt     func(player, server int) time.Duration
		isWorth bool
	}{{60, 0, rough, true}, {0, 300, farRTT, false}} {
		s := settings(2)
		s.Agree = wire.Yes
		n := searchingFor(t, room.Tuning{Budget: tt.budget, Seed: tt.seed}, s, "ann", "bob")
		answer := func() {
			n.Wait(200 * time.Millisecond)
			n.answersAs(0, "ann", tt.rtt)
			n.answersAs(1, "bob", tt.rtt)
			n.LookAgain()
		}
		for end := n.Now.Add(time.Minute); !n.IsVoting() && n.Now.Before(end); {
			answer()
		}
		n.InStage(wire.Chosen)
		if n.offered() != 0 || !n.IsVoting() {
			t.Error("the search goes on while people vote")
		}
		for range 300 {
			answer()
		}
		p, _ := n.Room.Progress()
		if isOffered := n.offered() > 0; !p.Done || isOffered != tt.isWorth {
			t.Errorf("of a budget of %d, %d more are offered after %+v", tt.budget, n.offered(), p)
		}
	}
}
