package room

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/topology"
	"muster/host/room/attendance"
	"muster/host/room/finals"
	"muster/host/room/search"
	"muster/host/wire"
	"muster/selection"
)

// far is a list of a thousand servers in ten countries. A server is as far from
// a player as its country says, and a little more by its number.
func far() []discovery.Server {
	servers := make([]discovery.Server, 1000)
	for i := range servers {
		country, host := i/100, i%100
		servers[i] = discovery.Server{
			Addr:    netip.AddrPortFrom(netip.AddrFrom4([4]byte{20, byte(country), byte(host), 1}), 27960),
			Country: fmt.Sprintf("%c%c", 'A'+country, 'A'+country), ASN: uint32(1 + country),
		}
	}
	return servers
}

func farRTT(player, server int) time.Duration {
	country, host := server/100, server%100
	return time.Duration(20+15*abs(country-3*player-2))*time.Millisecond + time.Duration(host*37%101)*200*time.Microsecond
}

func abs(n int) int { return max(n, -n) }

// answers has a member answer all it was asked since the last time.
func (n *session) answers(player int, name string) (asked int) {
	return n.answersAs(player, name, farRTT)
}

// answersBut has members answer all they were asked but one server, which is silent.
func (n *session) answersBut(silent int, names ...string) {
	for player, name := range names {
		messages := n.sent[name]
		for i, m := range messages {
			if ask, is := m.(wire.Ask); is {
				ask.Servers = slices.DeleteFunc(slices.Clone(ask.Servers), func(server int) bool { return server == silent })
				messages[i] = ask
			}
		}
		n.answers(player, name)
	}
}

// answersAs is the same with other RTTs.
func (n *session) answersAs(player int, name string, rtt func(player, server int) time.Duration) (asked int) {
	messages := n.sent[name]
	delete(n.sent, name)
	for _, m := range messages {
		ask, ok := m.(wire.Ask)
		if !ok {
			continue
		}
		var results []discovery.Result
		infos := wire.Infos{Round: n.room.round.number}
		for _, server := range ask.Servers {
			infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{MaxPlayers: 16}})
			results = append(results, discovery.Result{Server: server, State: discovery.Answered, RTT: rtt(player, server)})
		}
		asked += len(results)
		n.says(name, infos)
		n.says(name, wire.Report{Round: n.room.round.number, Results: results})
	}
	return asked
}

// coordinated is a room of two that has the long list.
func coordinated(t *testing.T) *session {
	s := settings(2)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	n.join("ann", "bob")
	n.gets(far())
	n.inStage(wire.Refining)
	return n
}

func TestRefining(t *testing.T) {
	n := coordinated(t)
	asked := 0
	for range 200 {
		n.wait(200 * time.Millisecond)
		asked += n.answers(0, "ann") + n.answers(1, "bob")
		if n.room.phase.stage() != wire.Refining {
			break
		}
	}
	n.inStage(wire.Chosen)
	if asked == 0 || asked > 1500 {
		t.Errorf("%d questions to two players about 1,000 servers", asked)
	}
	best := n.room.round.choice.Newest().Chosen
	for server := range n.room.round.servers.List {
		mean := float64(farRTT(0, server)+farRTT(1, server)) / 2e6
		if mean < best.MeanMS-2 {
			t.Fatalf("chosen with %.1f ms, server %d has %.1f", best.MeanMS, server, mean)
		}
	}
}

// TestRefiningSays: everyone is told how far the search is.
func TestRefiningSays(t *testing.T) {
	n := coordinated(t)
	var last *wire.Search
	for n.room.phase.stage() == wire.Refining {
		n.wait(200 * time.Millisecond)
		n.answers(0, "ann")
		n.answers(1, "bob")
		if search := n.view().Room.Search; search != nil {
			last = search
		}
	}
	if last == nil || !last.Found || last.GainMS == nil || last.Rounds < 5 {
		t.Fatalf("the last word of the search was %+v", last)
	}
	chosen := n.room.round.choice.Newest().Chosen
	if off := last.MeanMS - chosen.MeanMS; off < -0.1 || off > 1 {
		t.Errorf("%s, chosen with %.1f", last.Sentence(n.room.settings.By), chosen.MeanMS)
	}
	if n.view().Room.Search != nil {
		t.Error("the search goes on after the choice")
	}
}

// TestRefiningAlone: who drops out in the middle does not stop the others.
func TestRefiningAlone(t *testing.T) {
	n := coordinated(t)
	n.wait(200 * time.Millisecond)
	n.answers(0, "ann")
	n.answers(1, "bob")
	n.gone("bob")
	for range 300 {
		n.wait(200 * time.Millisecond)
		n.answers(0, "ann")
		if n.room.phase.stage() != wire.Refining {
			break
		}
	}
	n.inStage(wire.Chosen)
	if waited := n.now.Sub(eight); waited < attendance.GoneAfter {
		t.Errorf("chosen without bob after %v", waited)
	}
}

// TestRefiningGroup: whatever becomes of one of the players in the middle, the
// others have their server soon, and it is the best for those who are there.
func TestRefiningGroup(t *testing.T) {
	tests := []struct {
		name string
		// happens in the middle; bob answers as long as it says so.
		happens func(n *session) (bobAnswers bool)
		within  time.Duration
		players int
		noted   string
	}{
		{"back in a moment", func(n *session) bool {
			n.gone("bob")
			delete(n.sent, "bob")
			n.wait(5 * time.Second)
			n.join("bob")
			return true
		}, 30 * time.Second, 2, "bob is back"},
		{"never back", func(n *session) bool { n.gone("bob"); return false }, 60 * time.Second, 1, "going on without bob, who has been gone for 30s"},
		{"says nothing more", func(*session) bool { return false }, 60 * time.Second, 1, "going on without bob, who has reported nothing for 20s"},
		{"one more comes", func(n *session) bool { n.room.settings.Players = 0; n.join("cid"); return true }, 40 * time.Second, 3, "cid is here"},
		{"removed", func(n *session) bool {
			if err := n.orders(Remove{"bob"}); err != nil {
				n.Fatal(err)
			}
			return false
		}, 30 * time.Second, 1, "the organiser has removed bob"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n := coordinated(t)
			step := func(bobAnswers bool) {
				n.wait(200 * time.Millisecond)
				n.answers(0, "ann")
				if bobAnswers {
					n.answers(1, "bob")
				}
				n.answers(2, "cid")
			}
			for range 5 {
				step(true)
			}
			n.inStage(wire.Refining)
			answers := test.happens(n)
			for n.room.phase.stage() == wire.Refining && n.now.Sub(eight) < 2*time.Minute {
				step(answers)
			}
			n.inStage(wire.Chosen)
			n.noted(test.noted)
			if took := n.now.Sub(eight); took > test.within {
				t.Errorf("chosen after %v, want %v at most", took, test.within)
			}
			players := n.room.round.choice.Newest().Players
			if len(players) != test.players {
				t.Fatalf("chosen for %v, want %d players; the log:\n%s", players, test.players, n.log())
			}
			mean := func(server int) (ms float64) {
				for player := range players {
					ms += float64(farRTT(player, server)) / 1e6 / float64(len(players))
				}
				return ms
			}
			for server := range n.room.round.servers.List {
				if mean(server) < n.room.round.choice.Newest().Chosen.MeanMS-2 {
					t.Fatalf("chosen with %.1f ms, server %d has %.1f", n.room.round.choice.Newest().Chosen.MeanMS, server, mean(server))
				}
			}
		})
	}
}

// TestRefiningSlow: who takes ten times as long as the others has a say, and does
// not hold them up for long.
func TestRefiningSlow(t *testing.T) {
	n := coordinated(t)
	for step := 0; n.room.phase.stage() == wire.Refining && step < 600; step++ {
		n.wait(200 * time.Millisecond)
		n.answers(0, "ann")
		if step%10 == 9 {
			n.answers(1, "bob")
		}
	}
	n.inStage(wire.Chosen)
	if took := n.now.Sub(eight); took > search.Longest+time.Second || len(n.room.round.choice.Newest().Players) != 2 {
		t.Errorf("chosen for %v after %v", n.room.round.choice.Newest().Players, took)
	}
}

// TestRefiningChanged: the organiser's new rule counts from the next question on.
func TestRefiningChanged(t *testing.T) {
	n := coordinated(t)
	for range 5 {
		n.wait(200 * time.Millisecond)
		n.answers(0, "ann")
		n.answers(1, "bob")
	}
	if err := n.orders(Change{Settings: []byte(`{"by":"minimax"}`)}); err != nil {
		t.Fatal(err)
	}
	n.searches()
	n.inStage(wire.Chosen)
	for server := range n.room.round.servers.List {
		worst := float64(max(farRTT(0, server), farRTT(1, server))) / 1e6
		if worst < n.room.round.choice.Newest().Chosen.MaxMS-2 {
			t.Fatalf("chosen with %.1f ms for the worst off, server %d has %.1f", n.room.round.choice.Newest().Chosen.MaxMS, server, worst)
		}
	}
}

// TestRefiningResumed: a room that is saved and restored goes on searching.
func TestRefiningResumed(t *testing.T) {
	n := coordinated(t)
	n.wait(200 * time.Millisecond)
	n.answers(0, "ann")
	data, err := n.room.Save()
	if err != nil {
		t.Fatal(err)
	}
	if n.room, err = Restore(data, topology.New); err != nil {
		t.Fatal(err)
	}
	n.step(Resume{})
	n.join("ann", "bob")
	for range 300 {
		n.wait(200 * time.Millisecond)
		n.answers(0, "ann")
		n.answers(1, "bob")
		if n.room.phase.stage() != wire.Refining {
			break
		}
	}
	n.inStage(wire.Chosen)
}

// TestShortList: a short list is searched, too, and nobody waits for its silent servers.
func TestShortList(t *testing.T) {
	for _, servers := range []int{1, 3, 10, 50} {
		s := settings(2)
		s.Strategy = wire.Coordinated
		n := newSession(t, s)
		n.join("ann", "bob")
		n.gets(far()[:servers+1])
		n.inStage(wire.Refining)
		began := n.now
		for n.room.phase.stage() == wire.Refining && n.now.Sub(began) < 5*time.Second {
			n.wait(100 * time.Millisecond)
			n.answersBut(servers, "ann", "bob")
		}
		n.inStage(wire.Chosen)
		if took := n.now.Sub(began); took > time.Second {
			t.Errorf("%d servers and a silent one: chosen after %v; the log:\n%s", servers, took, n.log())
		}
		if chosen := n.room.round.choice.Newest().Chosen; chosen == nil {
			t.Errorf("of %d servers none was chosen; the log:\n%s", servers, n.log())
		}
		if want := fmt.Sprintf("everyone was asked for all %d servers", servers+1); !strings.Contains(n.log(), want) {
			t.Errorf("%d servers and a silent one: nobody said that %s; the log:\n%s", servers, want, n.log())
		}
	}
}

// TestShortListSilent: where nobody answers, the room waits until players have given up.
func TestShortListSilent(t *testing.T) {
	s := settings(1)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	n.join("ann")
	n.gets(far()[:1])
	n.wait(3 * time.Second)
	n.inStage(wire.Refining)
	n.says("ann", wire.Report{Round: 1, Results: []discovery.Result{{Server: 0, State: discovery.Lost}}})
	n.wait(200 * time.Millisecond)
	n.inStage(wire.Failed)
	if culled := n.room.round.choice.Newest(); culled == nil || culled.Culled.Unreachable != 1 {
		t.Errorf("the choice says %+v; the log:\n%s", culled, n.log())
	}
}

// TestRefiningStall: if nobody answers for a few seconds the search is not over.
func TestRefiningStall(t *testing.T) {
	n := coordinated(t)
	n.wait(15 * time.Second)
	n.inStage(wire.Refining)
	n.searches()
	n.inStage(wire.Chosen)
	if probed, _ := n.room.round.player("ann").witness.Progress(); probed < 100 {
		t.Errorf("ann was asked for %d servers; the log:\n%s", probed, n.log())
	}
}

// TestRefiningInfosLate: results of servers that have not yet been heard of
// otherwise do not end the search.
func TestRefiningInfosLate(t *testing.T) {
	n := coordinated(t)
	n.wait(200 * time.Millisecond)
	infos := map[string]wire.Infos{}
	for player, name := range []string{"ann", "bob"} {
		asked := n.sent[name]
		delete(n.sent, name)
		late, report := wire.Infos{Round: 1}, wire.Report{Round: 1}
		for _, m := range asked {
			if ask, ok := m.(wire.Ask); ok {
				for _, server := range ask.Servers {
					late.Servers = append(late.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{MaxPlayers: 16}})
					report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Answered, RTT: farRTT(player, server)})
				}
			}
		}
		infos[name] = late
		n.says(name, report)
	}
	n.wait(600 * time.Millisecond)
	n.inStage(wire.Refining)
	n.says("ann", infos["ann"])
	n.says("bob", infos["bob"])
	n.searches()
	n.inStage(wire.Chosen)
	if probed, _ := n.room.round.player("ann").witness.Progress(); n.room.round.choice.Newest().Chosen == nil || probed < 100 {
		t.Errorf("ann was asked for %d servers; the log:\n%s", probed, n.log())
	}
}

// TestRoundsOverlap: in the beginning players are asked on while answers are on their way;
// later most answers are waited for.
func TestRoundsOverlap(t *testing.T) {
	n := coordinated(t)
	rounds := func() int {
		progress, _ := n.room.Progress()
		return progress.Rounds
	}
	round := func(after time.Duration, want int) {
		t.Helper()
		if n.wait(after); rounds() != want {
			t.Fatalf("%d rounds, want %d; the log:\n%s", rounds(), want, n.log())
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
		n.wait(200 * time.Millisecond)
	}
	last := rounds()
	n.answers(0, "ann")
	round(200*time.Millisecond, last)
	n.answers(1, "bob")
	round(200*time.Millisecond, last+1)
}

// TestEndsWithoutTheSilent: once everybody was asked all they may be, nobody waits any
// longer for servers that are silent and could not win.
func TestEndsWithoutTheSilent(t *testing.T) {
	s := settings(2)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	n.room.tuning = Tuning{Budget: 100, Enough: -1}
	n.join("ann", "bob")
	n.gets(far())
	isSilent := func(server int) bool { return server/100 >= 8 } // as bob finds
	var asked time.Time
	missing := 0
	for n.room.phase.stage() == wire.Refining && n.now.Sub(eight) < search.Longest {
		n.answers(0, "ann")
		for i, m := range n.sent["bob"] {
			if ask, is := m.(wire.Ask); is {
				answered := slices.DeleteFunc(slices.Clone(ask.Servers), isSilent)
				asked, missing = n.now, missing+len(ask.Servers)-len(answered)
				ask.Servers = answered
				n.sent["bob"][i] = ask
			}
		}
		n.answers(1, "bob")
		n.wait(tick)
	}
	n.inStage(wire.Chosen)
	if took := n.now.Sub(asked); missing == 0 || took < 400*time.Millisecond || took >= 1500*time.Millisecond {
		t.Errorf("chosen %v after the last questions, without %d answers; the log:\n%s", took, missing, n.log())
	}
}

// TestUnluckySample: who measured the best server when a queue was full does not
// keep it from its second look.
func TestUnluckySample(t *testing.T) {
	n := coordinated(t)
	best := 0
	for server := range far() {
		if farRTT(0, server)+farRTT(1, server) < farRTT(0, best)+farRTT(1, best) {
			best = server
		}
	}
	unlucky := func(player, server int) time.Duration {
		if server != best {
			return farRTT(player, server)
		}
		return []time.Duration{farRTT(0, best) - 15*time.Millisecond, farRTT(1, best) + 80*time.Millisecond}[player]
	}
	for n.room.phase.stage() == wire.Refining {
		n.wait(200 * time.Millisecond)
		n.answersAs(0, "ann", unlucky)
		n.answersAs(1, "bob", unlucky)
	}
	n.inStage(wire.Chosen)
	for _, ranked := range n.room.round.choice.Newest().Ranking[:finalists] {
		if n.room.round.indexOf(ranked.Addr) == best {
			t.Fatalf("server %d is among the first %d by what was measured: the test says nothing", best, finalists)
		}
	}
	if !slices.Contains(n.room.round.looks.Servers(), best) {
		t.Errorf("server %d is not looked at again, but %v", best, n.room.round.looks.Servers())
	}
	samples := func() int {
		ask, _ := n.room.round.looks.Ask("ann", n.room.lookFacts())
		return ask.Samples
	}
	if got := samples(); got != 1 {
		t.Errorf("right after the search everybody takes %d samples", got)
	}
	n.room.settings.By = selection.FairThreshold
	servers := n.room.round.looks.Servers()
	n.room.round.looks = finals.Looks{}
	n.room.lookAt(servers, false)
	if got := samples(); got != 2 {
		t.Errorf("to find who is fair everybody takes %d samples", got)
	}
	n.room.round.search.Behind(n.now) // minutes later, while people vote
	n.room.lookAt(servers, false)
	if got := samples(); got != 3 {
		t.Errorf("while people vote everybody takes %d samples", got)
	}
}

// TestSingleSample: right after a search one sample of each finalist is enough, unless the
// one that leads has one in doubt.
func TestSingleSample(t *testing.T) {
	answered := func(by time.Duration) func(before time.Duration) (discovery.State, []float64) {
		return func(before time.Duration) (discovery.State, []float64) {
			return discovery.Answered, []float64{discovery.MS(before + by)}
		}
	}
	tests := []struct {
		name string
		// sees is what ann sees of the server that leads, whose RTT was that before.
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
			n.searches()
			servers := n.room.round.looks.Servers()
			odd := n.room.round.choice.Newest().Chosen.Server
			if tt.other {
				odd = servers[finalists-1]
			}
			look := func(state discovery.State) {
				for _, name := range []string{"ann", "bob"} {
					v := wire.Verified{Round: 1, Attempt: n.room.round.looks.Save().Attempt}
					for _, server := range n.room.round.looks.Servers() {
						before := n.room.round.player(name).witness.At(server)
						seen := wire.Finalist{Server: server, State: state, Sent: n.room.round.looks.Save().Samples}
						if seen.State == discovery.Answered {
							seen.RTTs = slices.Repeat([]float64{discovery.MS(before.RTT)}, seen.Sent)
						}
						if name == "ann" && server == odd && v.Attempt == 1 {
							seen.State, seen.RTTs = tt.sees(before.RTT)
						}
						v.Servers = append(v.Servers, seen)
					}
					n.says(name, v)
				}
			}
			look(discovery.Answered)
			if again := n.room.phase.stage() == wire.Chosen; again != tt.again {
				t.Fatalf("looked at again: %v; the log:\n%s", again, n.log())
			}
			if !tt.again {
				return
			}
			if l := n.room.round.looks.Save(); l.Samples != 2 || !slices.Contains(l.Servers, odd) {
				t.Errorf("everybody takes %d samples of %v the second time", l.Samples, l.Servers)
			}
			look(discovery.Answered)
			if n.room.phase.stage() == wire.Chosen {
				t.Errorf("looked at a third time; the log:\n%s", n.log())
			}
		})
	}
}

// TestNoTurn: while the host has no processor time for a room's search, the room goes on
// otherwise, blames nobody, says what it waits for, and has a few rounds in the end,
// however late it is.
func TestNoTurn(t *testing.T) {
	s := settings(3)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	n.busy = true
	n.join("ann", "bob", "cat")
	n.gets(far())
	turn := func() {
		t.Helper()
		if !n.waits {
			t.Fatal("the room asks for no turn")
		}
		n.waits = false
		n.step(Turn{})
	}
	n.wait(search.Longest / 2)
	n.inStage(wire.Refining)
	n.gone("cat")
	n.join("cat") // somebody is heard while the room waits
	for range 2 * search.Longest / time.Second {
		n.wait(time.Second)
	}
	n.inStage(wire.Refining)
	for _, p := range n.room.round.players {
		if n.isOut(p.name) || n.view().Room.Paused {
			t.Errorf("%s is blamed: %v", p.name, n.view().Log)
		}
	}
	if notes := strings.Count(n.log(), "for many rooms"); notes != 1 {
		t.Errorf("people are told %d times what they wait for", notes)
	}
	for rounds := 0; n.room.phase.stage() == wire.Refining; rounds++ {
		turn()
		n.wait(200 * time.Millisecond)
		n.answers(0, "ann")
		n.answers(1, "bob")
		n.answers(2, "cat")
		if n.wait(200 * time.Millisecond); rounds > 7 {
			t.Fatal("the room is late, and searches on")
		}
	}
	n.inStage(wire.Chosen)
	if chosen := n.room.round.choice.Newest().Chosen; chosen == nil || chosen.MeanMS > 60 {
		t.Errorf("chosen is %+v", chosen)
	}
	n.step(Turn{}) // which nobody waits for any more
	n.inStage(wire.Chosen)
}
