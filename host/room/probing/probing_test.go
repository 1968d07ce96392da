package probing_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/ballot"
	"muster/host/room/facts/factstest"
	"muster/host/room/finals"
	"muster/host/room/nearby"
	"muster/host/room/origin"
	"muster/host/room/people"
	"muster/host/room/probing"
	"muster/host/room/search"
	"muster/host/wire"
	"muster/internal/catalogue"
)

const ms = time.Millisecond

// session is the measuring of a group, in a test that drives it.
type session struct {
	*factstest.Group
	probing.Probing
	// asked are the servers that each player's program was told to ask.
	asked map[people.ID]map[int]bool
	// rtt returns a player's ping to a server, in ms.
	rtt func(player people.ID, server int) int
}

// newSession returns a group that measures so many servers. Each player is asked for the budget and
// the finalists at most.
func newSession(t *testing.T, strategy string, servers, budget int, names ...string) *session {
	s := factstest.Settings()
	s.Strategy = strategy
	g := factstest.New(t, s, servers, names...)
	n := &session{Group: g, Probing: probing.New(&g.Evidence, &g.Heard), asked: map[people.ID]map[int]bool{}}
	n.Tuning.Budget = budget
	n.rtt = func(player people.ID, server int) int {
		country := server * 10 / servers
		return 20 + 15*((country+int(player[0]))%10) + server%7
	}
	return n
}

func (n *session) moment() probing.Moment { return probing.Moment{Clocks: factstest.ClocksAt(n.Now)} }

// told returns the messages that let a player's program measure.
func (n *session) told(player people.ID, strategy string) (wire.Measure, []wire.Message, []search.Ask) {
	n.Helper()
	told, asks := n.Measure(n.F, player, strategy, n.moment())
	return told[0].(wire.Measure), told[1:], asks
}

// notes keeps the questions, and fails if a player is asked for more than was told.
func (n *session) notes(asks []search.Ask) {
	n.Helper()
	for _, ask := range asks {
		if n.asked[ask.Player] == nil {
			n.asked[ask.Player] = map[int]bool{}
		}
		for _, server := range ask.Servers {
			n.asked[ask.Player][server] = true
		}
		if most := n.Evidence[ask.Player].Promised(); most > 0 && len(n.asked[ask.Player]) > most {
			n.Errorf("%s is asked for %d servers, and was told of %d", ask.Player, len(n.asked[ask.Player]), most)
		}
	}
}

// answers lets players report the servers that they are asked for, and plays what follows.
func (n *session) answers(asks []search.Ask) {
	n.Helper()
	for len(asks) > 0 {
		n.notes(asks[:1])
		player, report := asks[0].Player, wire.Report{Now: n.Now.Sub(n.Measuring)}
		for _, server := range asks[0].Servers {
			report.Results = append(report.Results, n.result(player, server))
		}
		more, _ := n.Report(n.F, player, report, false, n.moment())
		asks = append(asks[1:], more...)
	}
}

func (n *session) result(player people.ID, server int) discovery.Result {
	result := discovery.Result{Server: server, State: discovery.Lost}
	if rtt := n.rtt(player, server); rtt > 0 {
		result.State, result.RTT = discovery.Answered, time.Duration(rtt)*ms
	}
	return result
}

// asksMore asks everybody for more servers, as the room does.
func (n *session) asksMore() {
	n.AskMore()
	n.Choice = n.Choice.Forget()
	n.Attendance.Again(n.Now)
	n.Launches.Restart()
	n.Ballot.Withdraw("", ballot.Ready|ballot.ByHand)
}

// finishes notes who has measured the list together, and returns the notes for people.
func (n *session) finishes() []sentence.Sentence {
	finished, notes := n.FinishedShares(n.F)
	n.Attendance.Finish(n.Now, finished...)
	return notes
}

func to(player people.ID, from, to int) []search.Ask {
	ask := search.Ask{Player: player}
	for server := from; server < to; server++ {
		ask.Servers = append(ask.Servers, server)
	}
	return []search.Ask{ask}
}

func look(player people.ID, servers ...int) finals.Ask {
	return finals.Ask{Player: player, Finalists: wire.Finalists{Attempt: 1, Servers: servers}}
}

// TestPromise checks that no player's address goes to more servers than the player was told,
// whatever is asked. With the organiser's word it may, but only after the player was told.
func TestPromise(t *testing.T) {
	n := newSession(t, wire.Coordinated, 100, 20, "ann", "bob")
	g := n.F
	const most = 20 + wire.SearchFinalists
	if m, _, _ := n.told("ann", wire.Coordinated); m.Max != most || n.MaxTold(g) != most {
		t.Errorf("ann is told of %d servers, all of %d", m.Max, n.MaxTold(g))
	}
	if asks := n.Ask(g, to("ann", 0, 20), n.moment()); len(asks) != 1 || len(asks[0].Servers) != 20 {
		t.Errorf("asked are %v", asks)
	}
	n.answers(to("ann", 0, 20))
	shown, without := n.LimitLooks(g, []finals.Ask{look("ann", 0, 1, 20, 21), look("bob"), look("eve", 1)})
	if len(shown) != 2 || !slices.Equal(shown[0].Servers, []int{0, 1, 20, 21}) || without != nil {
		t.Errorf("shown are %+v, without are %v", shown, without)
	}
	if ask := shown[0]; ask.Round != 1 || ask.Game != n.Settings.Game || ask.Max != most || ask.Attempt != 1 {
		t.Errorf("ann is asked to look: %+v", ask)
	}
	if asks := n.Ask(g, to("ann", 22, 40), n.moment()); len(asks) != 1 || len(asks[0].Servers) != 6 {
		t.Errorf("more asked are %v", asks)
	}
	if asks := n.Ask(g, to("ann", 40, 50), n.moment()); asks != nil {
		t.Errorf("beyond what was told asked are %v", asks)
	}
	shown, without = n.LimitLooks(g, []finals.Ask{look("ann", 0, 60), look("ann", 60)})
	if len(shown) != 1 || !slices.Equal(shown[0].Servers, []int{0}) || !slices.Equal(without, []people.ID{"ann"}) {
		t.Errorf("beyond what was told shown are %+v, without are %v", shown, without)
	}
	n.told("bob", wire.Coordinated)
	n.answers(to("bob", 0, 20))
	n.Chooses()
	notes, servers, err := n.Grant(g, 10, false)
	if err != nil || servers != 10 || n.MaxTold(g) != most+10 || !slices.Equal(texts(notes), []string{
		"the organiser wants 10 more servers asked", "now " + catalogue.InEnglish().Say(discovery.ExposureNotice(most+10, 0, 100)),
	}) {
		t.Errorf("%q, %d servers of %d, %v", notes, servers, n.MaxTold(g), err)
	}
	if asks := n.Ask(g, to("ann", 40, 50), n.moment()); asks != nil {
		t.Errorf("before ann is told asked are %v", asks)
	}
	n.Launches.Heard("ann", wire.Launched{State: wire.LaunchStarted}, "")
	for _, player := range []people.ID{"ann", "bob"} {
		n.Ballot.Ready(player)
		n.Ballot.ByHand(player)
	}
	n.Evidence["bob"].Share(true)
	n.asksMore()
	if n.Choice.Newest() != nil || n.Ballot.Paper("ann").Ready || n.Ballot.Paper("bob").ByHand ||
		n.Attendance.Of("ann").Done || n.Launches.Progress("ann").State != "" || n.Evidence["bob"].IsSharing() {
		t.Errorf("chosen is %+v, ann has said %+v, is %+v, shares %v", n.Choice.Newest(), n.Ballot.Paper("ann"),
			n.Attendance.Of("ann"), n.Evidence["ann"].IsSharing())
	}
	if n.Evidence["ann"].AskedMore() != 0 {
		t.Errorf("more asked are %d", n.Evidence["ann"].AskedMore())
	}
	if m, _, _ := n.told("ann", wire.Coordinated); m.Max != most+10 {
		t.Errorf("then ann is told of %d", m.Max)
	}
	asks := n.Ask(g, to("ann", 40, 60), n.moment())
	if len(asks) != 1 || len(asks[0].Servers) != 10 || n.Evidence["ann"].AskedMore() != 10 {
		t.Errorf("then asked are %v", asks)
	}
	back := probing.New(&n.Evidence, &n.Heard)
	if *back.State() = *n.State(); back.MaxTold(g) != most+10 {
		t.Errorf("restored all are told of %d", back.MaxTold(g))
	}
	fresh := n.Probing.Next()
	if most := fresh.MaxTold(g); most != 20+wire.SearchFinalists+10 { // the number that ann was told in this one
		t.Errorf("in the next round all are told of %d", most)
	}
}

var (
	office = origin.Origin{Near: netip.MustParseAddr("10.9.0.2")}
	// hidden is a server in the office, which the host found.
	hidden = nearby.Server{
		Addr: netip.MustParseAddrPort("10.9.0.5:27960"), Networks: []netip.Prefix{netip.MustParsePrefix("10.9.0.0/24")},
		Info: discovery.Info{Name: "Hidden", MaxPlayers: 16},
	}
)

// inOffice returns a group whose player olga alone reaches the last server of the list.
func inOffice(t *testing.T, strategy string) *session {
	n := newSession(t, strategy, 10, 0, "ann")
	n.JoinFrom("olga", office)
	n.Gets(append(factstest.List(10), discovery.Server{Addr: hidden.Addr}), hidden)
	return n
}

// TestMeasure checks that a player's program gets the right messages to begin measuring.
func TestMeasure(t *testing.T) {
	const server = 10
	n := inOffice(t, wire.Coordinated)
	n.Settings.Limits = []time.Duration{50 * ms, 90 * ms}
	n.Tuning.Seed = 7
	m, more, asks := n.told("olga", wire.Coordinated)
	if m.Round != 1 || m.Game != n.Settings.Game || m.Known != 0 || time.Duration(m.MaxRTT) != 90*ms || m.Seed != 7+1+1<<32 || len(more) > 0 {
		t.Errorf("olga is told %+v, and %+v", m, more)
	}
	factstest.Same(t, "olga is asked at once for", asks, []search.Ask{{Player: "olga", Servers: []int{server}}})
	n.answers(asks)
	n.answers(n.Ask(n.F, to("olga", 3, 4), n.moment()))
	m, more, asks = n.told("olga", wire.Coordinated)
	if m.Known != 2 || len(more) != 1 || asks != nil {
		t.Errorf("back again olga is told %+v, and %+v, asked for %v", m, more, asks)
	}
	factstest.Same(t, "olga knows", more[0], wire.Report{Round: 1, Results: []discovery.Result{
		{Server: server, State: discovery.Answered, RTT: n.result("olga", server).RTT},
		{Server: 3, State: discovery.Answered, RTT: n.result("olga", 3).RTT},
	}})
	m, more, asks = n.told("ann", wire.Coordinated)
	factstest.Same(t, "ann knows", more, []wire.Message{wire.Report{
		Round:   1,
		Results: []discovery.Result{{Server: server, State: discovery.Lost}},
	}})
	if m.Known != 1 || m.Seed != 7+1 || asks != nil {
		t.Errorf("ann is told %+v, asked for %v", m, asks)
	}
	n = inOffice(t, string(discovery.Conventional))
	if m, _, asks = n.told("olga", n.Settings.Strategy); asks != nil || m.MaxRTT != 0 {
		t.Errorf("alone olga is told %+v, asked for %v", m, asks)
	}
}

// TestReport checks that the right parts of a player's results count.
func TestReport(t *testing.T) {
	answered := func(server int, rtt time.Duration) discovery.Result {
		return discovery.Result{Server: server, State: discovery.Answered, RTT: rtt, At: 2 * time.Second}
	}
	for _, tt := range []struct {
		name     string
		by       people.ID
		result   discovery.Result
		isChosen bool
		isNews   bool
		at       time.Duration // by our clock
		counts   time.Duration // the RTT that counts
		kept     bool
	}{
		{"asked for", "ann", answered(0, 10*ms), false, true, 7 * time.Second, 10 * ms, true},
		{"asked for by nobody", "ann", answered(5, 10*ms), false, false, 7 * time.Second, 0, true},
		{"known already", "ann", answered(1, 10*ms), false, false, 0, 10 * ms, true},
		{"known already, after the choice", "ann", answered(1, 10*ms), true, false, 0, 20 * ms, true},
		{"late, after the choice", "ann", answered(0, 10*ms), true, true, 7 * time.Second, 10 * ms, true},
		{"hidden", "ann", answered(10, 10*ms), false, false, 0, 0, false},
		{"of the own network", "olga", answered(10, 10*ms), false, true, 7 * time.Second, 10 * ms, true},
	} {
		n := inOffice(t, wire.Coordinated)
		g := n.F
		n.Ask(g, []search.Ask{{Player: "ann", Servers: []int{0, 1, 10}}, {Player: "olga", Servers: []int{10}}}, n.moment())
		n.Report(g, "ann", wire.Report{Results: []discovery.Result{answered(1, 20*ms)}}, false, n.moment())
		n.Now = n.Now.Add(10 * time.Second)
		asks, isNews := n.Report(g, tt.by, wire.Report{Now: 5 * time.Second, Results: []discovery.Result{tt.result}}, tt.isChosen, n.moment())
		w := n.Evidence[tt.by]
		probe, kept := w.Probe(tt.result.Server)
		if asks != nil || isNews != tt.isNews || kept != tt.kept || probe.At != tt.at || w.At(tt.result.Server).RTT != tt.counts {
			t.Errorf("%s: news %v, kept %v at %v, counts as %v; asked are %v", tt.name, isNews, kept, probe.At, w.At(tt.result.Server).RTT, asks)
		}
	}
}

// TestOwn checks that a server from a player's own discovery counts, with the facts about it, as
// often as allowed.
func TestOwn(t *testing.T) {
	n := newSession(t, wire.Coordinated, 100, 20, "ann")
	n.Gets(factstest.List(100))
	n.told("ann", wire.Coordinated)
	n.Evidence["ann"].Allow(1)
	for server := range 2 {
		n.Hears("ann", server, factstest.Info())
	}
	n.RefreshFacts()
	for server := range 2 {
		n.Report(n.F, "ann", wire.Report{Results: []discovery.Result{n.result("ann", server)}}, true,
			probing.Moment{Clocks: factstest.ClocksAt(n.Now), IsVoting: true})
	}
	if n.Evidence["ann"].IsUnprobed(0) || !n.Evidence["ann"].IsUnprobed(1) || n.Servers.Info(0) == nil || n.Servers.Info(1) != nil {
		t.Errorf("of the first is known %+v, %+v, of the second %+v, %+v", n.Evidence["ann"].At(0), n.Servers.Info(0),
			n.Evidence["ann"].At(1), n.Servers.Info(1))
	}
}

// TestLooked checks that second looks count, with what the servers said, and those that nobody
// answered.
func TestLooked(t *testing.T) {
	n := newSession(t, wire.Coordinated, 10, 0, "ann", "bob")
	n.Gets(factstest.List(10))
	n.RefreshFacts()
	n.Now = n.Now.Add(time.Second)
	info := discovery.Info{Name: "Den", MaxPlayers: 16, AsListed: true}
	saw := finals.Look{Result: discovery.Result{Server: 3, State: discovery.Answered, RTT: 30 * ms}}
	n.Hears("ann", 4, factstest.Info())
	n.NoteLooks(n.F, "ann", []finals.Seen{{Server: 3, Info: &info, Look: &saw}, {Server: 4}}, n.Now)
	w := n.Evidence["ann"]
	if word := n.F.HeardInfo("ann", 3); word.Name != "Den" || word.AsListed {
		t.Errorf("ann has heard %+v", word)
	}
	if w.At(3) != saw.Result || n.Servers.Info(3) == nil || !w.IsAsked(4) || n.Servers.Info(4) == nil || !w.IsUnprobed(4) {
		t.Errorf("ann knows %+v, %+v; of the servers is known %+v, %+v", w.At(3), w.At(4), n.Servers.Info(3), n.Servers.Info(4))
	}
	saw.State = discovery.Lost
	n.NoteMisses([]finals.Missed{{Player: "bob", Look: saw}, {Player: "eve", Look: saw}})
	if n.Evidence["bob"].At(3).State != discovery.Lost || w.At(3).State != discovery.Answered || n.Evidence["eve"] != nil {
		t.Errorf("bob knows %+v, ann %+v", n.Evidence["bob"].At(3), w.At(3))
	}
}

// sharing returns a group that measures the list whole. Ann and abe, behind one address, measure
// their parts of it.
func sharing(t *testing.T) *session {
	n := newSession(t, string(discovery.Conventional), 10, 0, "ann", "bob")
	n.JoinFrom("abe", n.Origins.Of("ann"))
	for _, player := range []people.ID{"ann", "abe"} {
		n.Evidence[player].Share(true)
	}
	return n
}

func (n *session) share() []search.Ask { return n.Share(n.F, n.moment()) }

// TestShare checks that players behind one address measure the list together, each server once, and
// that another of them asks a server that stays silent.
func TestShare(t *testing.T) {
	n := sharing(t)
	g := n.F
	asks := n.share()
	for _, ask := range asks {
		n.notes([]search.Ask{ask})
	}
	if len(n.asked["ann"]) != 5 || len(n.asked["abe"]) != 5 || len(n.asked) != 2 || n.asked["ann"][0] == n.asked["abe"][0] {
		t.Errorf("asked are %v", asks)
	}
	if again := n.share(); again != nil {
		t.Errorf("asked again are %v", again)
	}
	factstest.Same(t, "idle are", n.Idle([]people.ID{"all"}), []people.ID{})
	if notes := n.finishes(); notes != nil {
		t.Errorf("before they have measured it is said %q", notes)
	}
	first := asks[0].Servers[0]
	n.rtt = func(player people.ID, server int) int {
		if server == first {
			return factstest.Lost
		}
		return 20
	}
	asked := []int{}
	n.Now = n.Now.Add(time.Minute) // before that nobody could give a server up
	for _, ask := range asks {
		var results []discovery.Result
		for _, server := range ask.Servers {
			results = append(results, n.result(ask.Player, server))
		}
		more, isNews := n.Report(g, ask.Player, wire.Report{Results: results}, false, n.moment())
		if !isNews {
			t.Errorf("%s has no news", ask.Player)
		}
		for _, instead := range more {
			if instead.Player == ask.Player {
				t.Errorf("%s is asked again", ask.Player)
			}
			asked = append(asked, instead.Servers...)
			if notes := n.finishes(); notes != nil {
				t.Errorf("while one is asked it is said %q", notes)
			}
		}
	}
	factstest.Same(t, "instead asked are", asked, []int{first})
	other := asks[1].Player
	n.Now = n.Now.Add(time.Minute)
	n.Report(g, other, wire.Report{Results: []discovery.Result{n.result(other, first)}}, false, n.moment())
	factstest.Same(t, "idle are", n.Idle(nil), []people.ID{"ann", "abe"})
	factstest.Same(t, "it is said", texts(n.finishes()),
		[]string{"2 players behind one address have measured 10 servers together, 9 answered"})
	if notes := n.finishes(); notes != nil || !n.Attendance.Of("abe").Done || n.Attendance.Of("bob").Done {
		t.Errorf("once more it is said %q", notes)
	}
	n.Disband()
	factstest.Same(t, "without the group idle are", n.Idle([]people.ID{"all"}), []people.ID{"all"})
	if notes := n.finishes(); notes != nil {
		t.Errorf("without the group it is said %q", notes)
	}
}

// TestShareAnew checks that the others measure the rest if one of them leaves. Nobody is asked for
// a server that one of them cannot reach, or that any of them knows.
func TestShareAnew(t *testing.T) {
	n := sharing(t)
	asks := n.share()
	n.answers(asks[:1])
	gone, stays := asks[1], asks[0].Player
	n.Attendance.Leave(gone.Player, n.Now)
	n.Release(gone.Player)
	again := n.share()
	if len(again) != 1 || again[0].Player != stays || !slices.Equal(again[0].Servers, gone.Servers) {
		t.Errorf("after %s has left, asked are %v, want %v", gone.Player, again, gone.Servers)
	}
	n.Attendance.Return(gone.Player, 0, true, n.Now)
	if more := n.share(); more != nil {
		t.Errorf("after %s is back, asked are %v besides", gone.Player, more)
	}
	n.Drop(stays)
	n.Release(stays)
	if notes := n.finishes(); notes != nil {
		t.Errorf("of a group that is broken it is said %q", notes)
	}
	n = inOffice(t, string(discovery.Conventional))
	n.JoinFrom("abe", n.Origins.Of("ann"))
	n.Measures("abe", 10, 10)
	for _, player := range []people.ID{"ann", "abe"} {
		n.Evidence[player].Share(true)
	}
	var all []int
	for _, ask := range n.share() {
		all = append(all, ask.Servers...)
	}
	slices.Sort(all)
	factstest.Same(t, "asked are", all, []int{2, 3, 4, 5, 6, 7, 8, 9})
	n = newSession(t, string(discovery.Conventional), 10, 0, "ann")
	if asks := n.share(); asks != nil {
		t.Errorf("nobody shares, and asked are %v", asks)
	}
	n.Release("ann")
	factstest.Same(t, "idle are", n.Idle([]people.ID{"all"}), []people.ID{"all"})
}

// goes lets the search go on until it is over, and returns the notes for people.
func (n *session) goes(more int) string {
	n.Helper()
	g := n.F
	for range 1000 {
		if n.IsSearchDue(g, n.Now) {
			asks, outcome, isOver := n.Turn(g, more, n.moment())
			if n.answers(asks); isOver {
				return catalogue.InEnglish().Say(outcome)
			}
		}
		n.Now = n.Now.Add(100 * ms)
	}
	n.Fatal("the search does not end")
	return ""
}

// searched returns a group that has searched a list of a thousand servers, and chosen.
func searched(t *testing.T, agree wire.Decision) *session {
	n := newSession(t, wire.Coordinated, 1000, 0, "ann", "bob")
	n.Settings.Agree = agree
	n.JoinFrom("abe", n.Origins.Of("ann"))
	for _, player := range n.Attendance.Players() {
		n.told(player, wire.Coordinated)
	}
	if n.Search(n.F) != nil {
		t.Error("there is a search before the first turn")
	}
	if outcome := n.goes(0); outcome == "" {
		t.Error("nobody is told what came of the search")
	}
	n.Chooses()
	return n
}

// TestTurn checks that a search asks for some of the list, within the told numbers, and finds the
// best server. It starts again for another group, and forgets the questions to players who left.
func TestTurn(t *testing.T) {
	n := searched(t, wire.No)
	g := n.F
	for player, asked := range n.asked {
		if len(asked) > wire.SearchBudget || len(asked) < 20 {
			t.Errorf("%s was asked for %d servers", player, len(asked))
		}
	}
	score := func(server int) int {
		return 2*n.rtt("ann", server) + n.rtt("bob", server)
	}
	best, chosen := 0, factstest.Chosen(n.Choice.Newest())
	for server := range n.Servers.List {
		if score(server) < score(best) {
			best = server
		}
	}
	if score(chosen) > score(best)+20 {
		t.Errorf("chosen is %d, and %d is better: %d, %d", chosen, best, score(chosen), score(best))
	}
	s := n.Search(g)
	if n.IsTimeUp(search.Longest+1, n.Now) != true || n.IsTimeUp(search.Longest, n.Now) {
		t.Error("the time is up at another time")
	}
	if n.Turn(g, 0, n.moment()); n.Search(g) != s {
		t.Error("the same group searches anew")
	}
	n.Release("bob")
	if n.Turn(g, 0, n.moment()); n.Search(g) == s {
		t.Error("the search is that of a group that was broken up")
	}
	n.EndMainSearch()
	if n.Search(g) != nil {
		t.Error("the search for the best is not forgotten")
	}
	n.EndMainSearch()
	n.Turn(g, 0, n.moment())
	if n.EndSearch(); n.Search(g) != nil {
		t.Error("the search is not forgotten")
	}
	n.Turn(g, 0, n.moment())
	fresh := n.Probing.Next()
	if fresh.Search(g) != nil || fresh.View(g) != nil {
		t.Error("the next round searches already")
	}
}

// TestFilledUp checks that a search takes new facts about servers while it goes on.
func TestFilledUp(t *testing.T) {
	n := searched(t, wire.No)
	g := n.F
	best := n.Search(g).Progress().Best
	n.Hears("", best, discovery.Info{Players: 16, MaxPlayers: 16})
	if again := n.Search(g).Progress().Best; again == best {
		t.Error("the best is full, and the search does not know")
	}
}

// TestMate checks that another player behind the address asks a silent server in a search, unless
// that player may ask for no more or knows it.
func TestMate(t *testing.T) {
	for _, tt := range []struct {
		name string
		does func(n *session, mate people.ID, server int)
		asks bool
	}{
		{"another", func(*session, people.ID, int) {}, true},
		{"another who knows it", func(n *session, mate people.ID, server int) {
			n.Evidence[mate].Admit(server)
			n.Evidence[mate].Report(discovery.Result{Server: server, State: discovery.Lost}, 0, n.Now)
		}, false},
		{"another who has seen enough", func(n *session, mate people.ID, _ int) {
			n.Ask(n.F, to(mate, 0, 1000), n.moment())
		}, false},
	} {
		n := newSession(t, wire.Coordinated, 1000, 0, "bob", "ann")
		n.JoinFrom("abe", n.Origins.Of("ann"))
		for _, player := range n.Attendance.Players() {
			n.told(player, wire.Coordinated)
		}
		g := n.F
		asks, _, _ := n.Turn(g, 0, n.moment())
		var first search.Ask
		for _, ask := range asks {
			if ask.Player != "bob" {
				first = ask
			}
		}
		mate, server := people.ID("ann"), first.Servers[0]
		if first.Player == mate {
			mate = "abe"
		}
		tt.does(n, mate, server)
		more, _ := n.Report(g, first.Player, wire.Report{Results: []discovery.Result{{Server: server, State: discovery.Lost}}}, false, n.moment())
		if asked := len(more) > 0; asked != tt.asks || asked && (more[0].Player != mate || !slices.Equal(more[0].Servers, []int{server})) {
			t.Errorf("%s: asked are %v", tt.name, more)
		}
	}
}

// turnsUp lets everybody measure an unknown server that is better than the chosen one by so many
// ms.
func (n *session) turnsUp(by float64) {
	n.Helper()
	isKnown := func(server int) bool {
		for _, w := range n.Evidence {
			if !w.IsUnprobed(server) {
				return true
			}
		}
		return false
	}
	other := len(n.Servers.List) - 1
	for isKnown(other) {
		other--
	}
	for player, w := range n.Evidence {
		rtt := time.Duration((n.Choice.Newest().Chosen.RTT[string(player)] - by) * float64(ms))
		w.Admit(other)
		w.Report(discovery.Result{Server: other, State: discovery.Answered, RTT: rtt}, time.Minute, n.Now)
	}
}

// TestTurnBehind checks that the search goes on while people vote, and reports a server that is
// sufficiently better.
func TestTurnBehind(t *testing.T) {
	for _, tt := range []struct {
		name     string
		by       float64 // in ms
		hasOther bool
	}{
		{"nothing better", 0, false},
		{"hardly better", 1.9, false},
		{"better by enough", 2, true},
	} {
		n := searched(t, wire.Yes)
		g := n.F
		n.EndMainSearch()
		m := probing.Moment{Clocks: factstest.ClocksAt(n.Now), IsVoting: true}
		if !n.IsSearchDue(g, n.Now) {
			t.Errorf("%s: nobody searches on", tt.name)
		}
		chosen := *n.Choice.Newest().Chosen
		if tt.by > 0 {
			n.turnsUp(tt.by)
		}
		note, other, asks, own := n.TurnBehind(g, m)
		if n.notes(asks); (other != nil) != tt.hasOther || note.IsZero() == tt.hasOther || (own == nil) != tt.hasOther {
			t.Errorf("%s: it says %q, asks %d, own are %v", tt.name, note, len(asks), own)
		}
		if tt.hasOther && (!strings.HasSuffix(catalogue.InEnglish().Say(note),
			"has turned up, and beats "+n.Servers.Called(chosen.Server)) || other.Chosen.Server == chosen.Server) {
			t.Errorf("%s: it says %q of %+v", tt.name, note, other.Chosen)
		}
		left := n.Evidence["ann"].Left() + n.Evidence["abe"].Left()
		for _, own := range own {
			isOwn := false
			for server := range n.Servers.List {
				if w := n.Evidence[own.Player]; !w.IsAsked(server) {
					_, isOwn = w.Report(n.result(own.Player, server), time.Minute, n.Now)
					break
				}
			}
			if own.Servers <= 0 || own.Player == "abe" || !isOwn {
				t.Errorf("%s: %+v, whose own discovery counts: %v", tt.name, own, isOwn)
			}
		}
		if !tt.hasOther && left == 0 {
			t.Errorf("%s: nothing is left to look at", tt.name)
		}
		s := n.Search(g)
		if n.EndMainSearch(); !s.IsBehind() || n.Search(g) != s {
			t.Errorf("%s: the search behind the vote is forgotten", tt.name)
		}
		if n.IsSearchDue(g, n.Now) || !n.IsSearchDue(g, n.Now.Add(10*time.Second)) {
			t.Errorf("%s: the search is due at another time", tt.name)
		}
	}
}

// TestFalls checks that another server has to beat the choice's score as of now.
func TestFalls(t *testing.T) {
	n := searched(t, wire.Yes)
	g := n.F
	s := *n.Choice.Newest()
	chosen := *s.Chosen
	chosen.Score += 50 // its score at the time of the choice
	s.Chosen = &chosen
	n.turnsUp(1.9)
	n.Choice.Take(s)
	if note, other, _, _ := n.TurnBehind(g, probing.Moment{Clocks: factstest.ClocksAt(n.Now), IsVoting: true}); other != nil {
		t.Errorf("it says %q", note)
	}
}

// TestGrant checks that the organiser can let players ask more at the right times, and reads so.
func TestGrant(t *testing.T) {
	for _, tt := range []struct {
		name     string
		strategy string
		servers  int
		does     func(n *session)
		isVoting bool
		worth    int
		most     int // the servers that will see an address then
	}{
		{"each has measured some alone", string(discovery.Conventional), 50, func(*session) {}, false, 30, 0},
		{"all have measured all", string(discovery.Conventional), 20, func(*session) {}, false, 0, 0},
		{"of many", wire.Coordinated, 900, func(*session) {}, false, search.MaxMore,
			228},
		{"while a search goes on behind the vote", wire.Coordinated, 900, func(*session) {}, true, 0, 0},
		{"while people vote on what each measured", string(discovery.Conventional), 50, func(*session) {}, true, 30, 0},
		{"a player cannot get to one", string(discovery.Conventional), 20, func(n *session) {
			n.Gets(append(factstest.List(20), discovery.Server{Addr: hidden.Addr}), hidden)
		}, false, 0, 0},
	} {
		n := newSession(t, tt.strategy, tt.servers, 20, "ann", "bob")
		tt.does(n)
		for _, player := range n.Attendance.Players() {
			n.Measures(player, factstest.Up(10, 20)...)
		}
		n.Chooses()
		g := n.F
		offer := n.Offer(g, tt.isVoting)
		if tt.worth == 0 {
			if _, _, err := n.Grant(g, 10, tt.isVoting); offer != nil || err == nil {
				t.Errorf("%s: the organiser reads %+v, %v", tt.name, offer, err)
			}
			continue
		}
		if len(offer) != 1 || offer[0].Max != tt.most || offer[0].Action != "more" || offer[0].Argument != (wire.Argument{Servers: tt.worth}) {
			t.Errorf("%s: the organiser reads %+v", tt.name, offer)
		}
		if notes, servers, err := n.Grant(g, search.MaxMore, tt.isVoting); err != nil || servers != tt.worth ||
			(len(notes) == 2) != (tt.strategy == wire.Coordinated) {
			t.Errorf("%s: %q, %d servers, %v", tt.name, notes, servers, err)
		}
	}
}

// TestDry checks that a search for more that runs out of servers ends the offer.
func TestDry(t *testing.T) {
	n := newSession(t, wire.Coordinated, 30, 20, "ann", "bob")
	for _, player := range n.Attendance.Players() {
		n.Measures(player, factstest.Up(10, 20)...)
	}
	n.Chooses()
	g := n.F
	if _, servers, err := n.Grant(g, 10, false); err != nil || servers != 10 {
		t.Fatalf("%d servers, %v", servers, err)
	}
	n.asksMore()
	for _, player := range n.Attendance.Players() {
		n.told(player, wire.Coordinated)
	}
	if outcome := n.goes(100); !strings.Contains(outcome, "more servers each") {
		t.Errorf("it says %q", outcome)
	}
	n.Chooses()
	if !n.State().Dry || n.Offer(g, false) != nil {
		t.Errorf("the organiser reads %+v", n.Offer(g, false))
	}
}

// TestLeaders checks that pages show the leaders while one is open, and that programs are asked for
// the names that they may have heard.
func TestLeaders(t *testing.T) {
	n := newSession(t, wire.Coordinated, 100, 0, "ann", "bob")
	g := n.F
	n.Measures("ann", factstest.Up(10, 5)...)
	n.Measures("bob", 10, 20, factstest.Unprobed, factstest.Lost)
	if _, isShown := n.Leaders(g, n.Now); isShown || n.View(g) != nil {
		t.Error("leaders are shown without a page")
	}
	n.Roster.OpenPage("", n.Now)
	asks, isShown := n.Leaders(g, n.Now)
	if !isShown || n.View(g).Round != 1 {
		t.Errorf("with a page shown is %+v", n.View(g))
	}
	var leaders []int
	for _, leader := range n.View(g).Leaders {
		leaders = append(leaders, leader.ID)
	}
	factstest.Same(t, "leaders are", leaders, []int{0, 1, 2})
	factstest.Same(t, "asked for names are", asks,
		[]search.Ask{{Player: "ann", Servers: []int{0, 1, 2}}, {Player: "bob", Servers: []int{0, 1}}})
	if _, isShown := n.Leaders(g, n.Now.Add(time.Millisecond)); isShown {
		t.Error("a moment later they are shown again")
	}
	n.Turn(g, 0, n.moment())
	if _, isShown := n.Leaders(g, n.Now.Add(time.Second)); !isShown {
		t.Error("a second later they are not shown again")
	}
	if _, err := n.Roster.Rename(n.Roster.Called("bob"), "rob", n.Now); err != nil {
		t.Fatal(err)
	}
	if predicted := n.View(g).Leaders[2].Predicted; predicted["rob"] == 0 || len(predicted) != 1 {
		t.Errorf("of the third expected is %v", predicted)
	}
}

// TestTurns checks that the wait for processor time belongs to the measuring, and goes on in the
// next round.
func TestTurns(t *testing.T) {
	n := newSession(t, wire.Coordinated, 100, 0, "ann")
	if isNew, note := n.AwaitTurn(false, n.Now); !isNew || !note.IsZero() {
		t.Errorf("a new wait: %v, %q", isNew, note)
	}
	next := n.Probing.Next()
	if isNew, _ := next.AwaitTurn(false, n.Now); isNew {
		t.Error("the next round asks for another turn")
	}
	if isNew, note := n.AwaitTurn(false, n.Now.Add(6*time.Second)); isNew || !strings.Contains(catalogue.InEnglish().Say(note), "in the queue") {
		t.Errorf("after five seconds: %v, %q", isNew, note)
	}
	n.TakeTurn(n.Now.Add(10 * time.Second))
	late := search.Longest + 10*time.Second
	if n.IsTimeUp(late, n.Now) || !n.IsTimeUp(late+1, n.Now) {
		t.Error("the wait counts as searching")
	}
	if isNew, _ := n.AwaitTurn(true, n.Now); !isNew {
		t.Error("after a turn nobody has to ask for another")
	}
}

func texts(sentences []sentence.Sentence) []string { return catalogue.InEnglish().SayAll(sentences) }
