package facts_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/evidence"
	"muster/host/room/facts"
	"muster/host/room/facts/factstest"
	"muster/host/room/nearby"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
	"muster/selection/anomaly"
)

// TestBegin checks that a group measures the right list, and is told of the servers around players.
func TestBegin(t *testing.T) {
	den := wire.NearServer{Addr: netip.MustParseAddrPort("192.168.1.5:27960"), Info: discovery.Info{Name: "Den", MaxPlayers: 16}}
	nothing := errors.New("no master answers")
	for _, tt := range []struct {
		name       string
		lookAround bool
		failure    error
		local      []nearby.Server
		listed     int
		found      []string
		note, err  string
	}{
		{"a list", false, nil, nil, 10, nil, "", ""},
		{"a list, and what bob found", true, nil, nil, 11, []string{"1 of them on the network of bob"}, "", ""},
		{"a list, and what the host found", false, nil, []nearby.Server{hidden}, 11,
			[]string{"1 of them on the local network", "Hidden (10.9.0.5:27960) is on a local network that bob can’t reach"}, "", ""},
		{"no list, and what bob found", true, nothing, nil, 1, []string{"1 of them on the network of bob"},
			"only servers on players’ own networks are listed: no master answers", ""},
		{"no list", false, nothing, nil, 10, nil, "", "no server list: no master answers"},
	} {
		g := factstest.New(t, factstest.Settings(), 10, "bob")
		g.Settings.LookAround = tt.lookAround
		g.Round = g.Next(g.Now)
		g.Nearby.Move("bob", nearby.Place{Public: netip.MustParseAddr("203.0.113.1")})
		g.Nearby.Ask("bob", g.Settings.Game, g.Now)
		g.Nearby.Hear("bob", wire.Near{Game: g.Settings.Game, Servers: []wire.NearServer{den}}, g.Now)
		began := g.Now.Add(time.Minute)
		in := facts.List{Err: tt.failure, Local: tt.local, Gap: time.Second}
		list := factstest.List(10)
		in.Said = discovery.Said{At: g.Clocks().Wall, Infos: map[netip.AddrPort]*discovery.Info{list[0].Addr: {Name: "First", AsListed: true}}}
		for _, s := range tt.local {
			list = append(list, discovery.Server{Addr: s.Addr})
		}
		if in.Tree = topology.New(list); tt.failure != nil {
			in.Tree = nil
		}
		found, note, err := g.Begin(in, factstest.ClocksAt(began))
		if tt.err != "" {
			if err == nil || err.Error() != tt.err || len(g.Servers.List) != 0 {
				t.Errorf("%s: %v, %d servers", tt.name, err, len(g.Servers.List))
			}
			continue
		}
		if err != nil || catalogue.InEnglish().Say(note) != tt.note || !slices.Equal(said(found), tt.found) || len(g.Servers.List) != tt.listed {
			t.Errorf("%s: %d servers, %q, %q, %v", tt.name, len(g.Servers.List), found, note, err)
		}
		if g.Measuring != began || g.Gap != time.Second || g.List.Tree() == nil {
			t.Errorf("%s: it begins at %v, with a gap of %v", tt.name, g.Measuring, g.Gap)
		}
		if first := g.F.IndexOf(list[0].Addr); tt.failure == nil && g.Servers.Info(first).Name != "First" {
			t.Errorf("%s: the list's word is %+v", tt.name, g.Servers.Info(first))
		}
		if local := g.F.IndexOf(hidden.Addr); len(tt.local) > 0 && g.Servers.Info(local).MaxPlayers != 16 {
			t.Errorf("%s: the local server says %+v", tt.name, g.Servers.Info(local))
		}
		if own, others := len(g.F.ListFor("bob").Servers), len(g.Servers.List); own != others || g.F.ListFor("bob").Round != 2 {
			t.Errorf("%s: bob gets %d servers of %d, of round %d", tt.name, own, others, g.F.ListFor("bob").Round)
		}
	}
}

// TestNext checks that a new round keeps the people, their origins and the organiser's word on
// them, and forgets measurements, votes and the choice.
func TestNext(t *testing.T) {
	g := busy(t)
	g.Measures("ann", 10, 20)
	g.Measures("cat", 10, 20)
	g.Evidence["ann"].LimitProbes(30)
	g.Evidence["ann"].Share(true)
	g.Chooses()
	g.Attendance.LeaveOut(attendance.Odd, "cat")
	g.Trust.Discredit([]anomaly.Anomaly{{Player: "cat", Sign: anomaly.Contradicts}}, []people.ID{"ann", "bob", "cat"},
		[]people.ID{"ann", "bob", "cat"})
	g.IsBroken, g.Gap = true, time.Second
	chosen := g.Servers.List[g.Choice.Newest().Chosen.Server].Addr
	next := g.Next(g.Now.Add(time.Hour))
	if next.Number != 2 || len(next.Servers.List) != 0 || next.List.Tree() != nil || !next.Measuring.IsZero() ||
		next.Gap != 0 || next.IsBroken {
		t.Errorf("the next round is number %d, of %d servers since %v, with a gap of %v, broken %v", next.Number,
			len(next.Servers.List), next.Measuring, next.Gap, next.IsBroken)
	}
	factstest.Same(t, "players are", next.Attendance.Players(), g.Attendance.Players())
	factstest.Same(t, "all count", next.Attendance.Active(), []people.ID{"ann", "bob", "cat"})
	factstest.Same(t, "heard last", next.Attendance.LastHeard(), g.Now.Add(time.Hour))
	for player, w := range next.Evidence {
		if probed, _ := w.Progress(); probed > 0 || w.IsSharing() || w == g.Evidence[player] || w.Asked() > 0 {
			t.Errorf("%s has measured %d, shares: %v", player, probed, w.IsSharing())
		}
	}
	if len(next.Evidence) != 3 || next.Evidence["ann"].ProbeLimit() != 30 {
		t.Errorf("there are %d players, ann asks %d", len(next.Evidence), next.Evidence["ann"].ProbeLimit())
	}
	if next.Choice.Newest() != nil || next.Choice.Previous() != chosen {
		t.Errorf("chosen is %+v, after %v", next.Choice.Newest(), next.Choice.Previous())
	}
	if !next.Trust.IsBelieved("cat") || len(next.Trust.State().Players) != 1 {
		t.Errorf("doubts are %+v", next.Trust.State())
	}
	if paper := next.Ballot.Paper("bob"); paper != (ballot.Paper{}) {
		t.Errorf("bob has said %+v", paper)
	}
	if next.Origins.Of("ann") != g.Origins.Of("ann") || next.Nearby.State().Players["bob"].Game == "" || next.Launches.Progress("bob").State != "" {
		t.Errorf("ann is at %+v, found is %+v, bob's way %+v", next.Origins.Of("ann"), next.Nearby.State(), next.Launches.Progress("bob"))
	}
	if _, isKnown := next.Launches.Can("bob", g.Settings.Game); !isKnown {
		t.Error("what starts at bob's is forgotten")
	}
}

// TestAsked checks that the list's facts are kept for servers that somebody measured or looked at.
func TestAsked(t *testing.T) {
	g := factstest.New(t, factstest.Settings(), 10, "ann", "bob")
	said := discovery.Said{At: g.Clocks().Wall, Infos: map[netip.AddrPort]*discovery.Info{}}
	for _, s := range g.Servers.List {
		said.Infos[s.Addr] = &discovery.Info{Name: "as listed", AsListed: true}
	}
	if _, _, err := g.Begin(facts.List{Tree: g.List.Tree(), Said: said}, factstest.ClocksAt(g.Now)); err != nil {
		t.Fatal(err)
	}
	g.Measures("ann", unprobed, 10)
	g.Evidence["ann"].Report(discovery.Result{Server: 7, State: discovery.Answered, RTT: ms}, 0, g.Now) // without a question
	g.Measures("bob", unprobed, 10, 20)
	g.Evidence["bob"].Look(evidence.Look{Result: discovery.Result{Server: 5, State: discovery.Lost}})
	all := map[int]bool{}
	for server := range g.F.Asked {
		all[server] = true
	}
	factstest.Same(t, "asked are", all, map[int]bool{1: true, 2: true, 5: true, 7: true})
	for most := range 6 { // a caller that has enough gets no more
		n := 0
		for range g.F.Asked {
			if n++; n > most {
				break
			}
		}
	}
	g.Choice.Take(selection.Selection{})
	g.ForgetSaid()
	var kept []int
	for server := range g.Servers.List {
		if g.Servers.Info(server) != nil {
			kept = append(kept, server)
		}
	}
	factstest.Same(t, "kept is the word on", kept, []int{1, 2, 5, 7})
}

// TestChosenFor checks that the newest choice is for those of its players who still count.
func TestChosenFor(t *testing.T) {
	g := factstest.New(t, factstest.Settings(), 10, "ann", "bob", "cat")
	g.Choice.Take(selection.Selection{Players: []string{"bob", "cat", "zoe"}})
	g.Attendance.LeaveOut(attendance.Left, "cat")
	factstest.Same(t, "it is for", g.F.ChosenFor(), []people.ID{"bob"})
}

// TestSuppose checks that supposed changes count for everything that follows from who counts, and
// for nobody else until they are made.
func TestSuppose(t *testing.T) {
	g := germans(t, factstest.Settings())
	for _, player := range []people.ID{"ann", "bob", "cat"} {
		g.Measures(player, 10)
	}
	g.Attendance.LeaveOut(attendance.Odd, "cat")
	g.Choice.Take(selection.Selection{Players: []string{"ann", "bob", "cat"}})
	counts(g, "zoe")
	without := attendance.Change{Out: attendance.Left, Players: []people.ID{"ann"}} // zoe's neighbour
	again := attendance.Change{Players: []people.ID{"cat"}}
	state := func(f facts.Facts) string {
		return fmt.Sprint(f.Active(), f.ChosenFor(), f.Measured(), f.Counted().Guests())
	}
	before := state(g.F)
	for _, tt := range []struct {
		changes []attendance.Change
		want    string
	}{
		{nil, "[ann bob] [ann bob] [ann bob] [zoe]"},
		{[]attendance.Change{without}, "[bob] [bob] [bob] []"},
		{[]attendance.Change{without, again}, "[bob cat] [bob cat] [bob cat] []"},
	} {
		f := g.F
		for _, c := range tt.changes {
			f = f.Suppose(c)
		}
		factstest.Same(t, "one after the other", state(f), tt.want)
		factstest.Same(t, "at once", state(g.F.Suppose(tt.changes...)), tt.want)
		factstest.Same(t, "still", state(g.F), before)
	}
	supposed := state(g.F.Suppose(without, again))
	g.Attendance.Apply([]attendance.Change{without, again}, g.Now)
	factstest.Same(t, "once they are made", state(g.F), supposed)
}

func said(sentences []sentence.Sentence) []string { return catalogue.InEnglish().SayAll(sentences) }
