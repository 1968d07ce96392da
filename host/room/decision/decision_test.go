package decision_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/decision"
	"muster/host/room/facts/factstest"
	"muster/host/room/finals"
	"muster/host/room/people"
	"muster/host/room/probing"
	"muster/host/room/roomtime"
	"muster/host/room/trust"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
	"muster/selection/anomaly"
)

const (
	ms             = time.Millisecond
	lost, unprobed = factstest.Lost, factstest.Unprobed
)

// session is a group, in a test that drives its decisions.
type session struct {
	*factstest.Group
	d decision.Decision
	p probing.Probing
	// saw returns what a player sees of a server in a look, in ms; nil repeats the measurements.
	saw func(player people.ID, server int) int
	// told are the notes about looks.
	told []string
}

func newSession(t testing.TB, servers int, names ...string) *session {
	n := &session{Group: factstest.New(t, factstest.Settings(), servers, names...)}
	n.d, n.p = decision.New(&n.Choice, &n.Trust, &n.Ballot, &n.Bans), probing.New(&n.Evidence, &n.Heard)
	return n
}

// measured returns a group whose players have all measured so many servers. The first is the best
// for all.
func measured(t testing.TB, servers int, names ...string) *session {
	n := newSession(t, servers, names...)
	for i, name := range names {
		n.Measures(people.ID(name), factstest.Up(10+i, servers)...)
	}
	return n
}

// apart returns such a group with a list of servers in a network each.
func apart(t testing.TB, servers int, names ...string) *session {
	n := newSession(t, 10, names...)
	list := make([]discovery.Server, servers)
	for i := range list {
		list[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{20, byte(i), 0, 1}), 27960)
	}
	n.Gets(list)
	for server := range list {
		n.Hears("", server, factstest.Info())
	}
	return n
}

// The following methods apply what decisions return, as the room does.

func (n *session) choose(early bool) decision.ChooseResult {
	c := n.d.Choose(n.F, early, trust.Measured)
	n.Attendance.Apply(c.Changes, n.Now)
	return c
}

func (n *session) review() []sentence.Sentence {
	odd, notes := n.d.Review(n.F, n.Now)
	n.Attendance.Apply([]attendance.Change{odd}, n.Now)
	return notes
}

func (n *session) vouch(player people.ID) ([]sentence.Sentence, *selection.Selection, error) {
	counting, notes, other, err := n.d.Vouch(n.F, player)
	n.Attendance.Apply(counting, n.Now)
	return notes, other, err
}

func (n *session) readmits(player people.ID) bool {
	isBack := n.d.Readmit(n.F, player)
	if isBack {
		n.Attendance.Recall(player, n.Now)
	}
	return isBack
}

func (n *session) hear(player people.ID, v wire.Verified) {
	heard := n.d.Hear(n.F, player, v, n.facts())
	if heard.IsElsewhere {
		n.Origins.Part(player)
	}
	if heard.Counts {
		n.p.NoteLooks(n.F, player, heard.Seen, n.Now)
	}
}

func (n *session) acceptMisses() { n.p.NoteMisses(n.d.Looks.AcceptMisses(n.facts())) }

// settled is what the end of a look says. IsOver says that the newest choice is the result of the
// look. Otherwise Asks are the players' next looks, none if somebody is waited for.
type settled struct {
	Notes  []sentence.Sentence
	IsOver bool
	Asks   []finals.Ask
}

func (n *session) settle(f finals.Facts) (s settled) {
	o, isSettled := n.d.Looks.Settle(f)
	if !isSettled {
		return s
	}
	if n.p.NoteMisses(o.Lost); len(o.Asks) > 0 {
		return settled{Notes: []sentence.Sentence{o.Note}, Asks: o.Asks}
	}
	out, notes := n.d.Refine(n.F, o.LookedS)
	n.Attendance.Apply([]attendance.Change{out}, n.Now)
	return settled{Notes: notes, IsOver: true}
}

func (n *session) decide() decision.NextStep { return n.d.Decide(n.F, &n.p, true) }

func (n *session) facts() finals.Facts { return n.d.LookFacts(n.F, 0, n.Now) }

// seen returns a player's result for a server in a look.
func (n *session) seen(player people.ID, server, samples int) wire.Finalist {
	rtt := int(n.F.Knowledge(player).At(server).RTT / ms)
	if n.saw != nil {
		rtt = n.saw(player, server)
	}
	if rtt <= 0 {
		return wire.Finalist{Server: server, State: discovery.Lost, Sent: max(2, samples)}
	}
	return wire.Finalist{Server: server, State: discovery.Answered, Sent: samples, RTTs: slices.Repeat([]float64{float64(rtt)}, samples)}
}

// hears lets players answer a look.
func (n *session) hears(asks []finals.Ask) {
	n.Helper()
	for _, ask := range asks {
		v := wire.Verified{Attempt: ask.Attempt}
		for _, server := range ask.Servers {
			v.Servers = append(v.Servers, n.seen(ask.Player, server, ask.Samples))
		}
		n.hear(ask.Player, v)
	}
}

// looks lets everyone look at servers, to the end.
func (n *session) looks(servers ...int) settled {
	n.Helper()
	asks, note := n.d.Look(n.F, &n.p, servers, false, 0, n.Now)
	n.told = append(n.told, texts([]sentence.Sentence{note})...)
	for range 3 {
		n.hears(asks)
		s := n.settle(n.facts())
		if n.told = append(n.told, texts(s.Notes)...); s.IsOver {
			return s
		}
		asks = s.Asks
	}
	n.Fatal("the look does not end")
	return settled{}
}

func (n *session) chosen() int { return factstest.Chosen(n.Choice.Newest()) }

// says checks that notes are the wanted ones.
func says(t testing.TB, what string, notes []sentence.Sentence, want ...string) {
	t.Helper()
	if got := texts(notes); !slices.Equal(got, want) {
		t.Errorf("%s: it says\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (n *session) tells(player people.ID, server, rtt int) {
	n.Evidence[player].Admit(server)
	n.Evidence[player].Report(discovery.Result{Server: server, State: discovery.Answered, RTT: time.Duration(rtt) * ms}, time.Minute, n.Now)
}

// TestChoose checks that a choice counts the right players, and that the notes about the others are
// right.
func TestChoose(t *testing.T) {
	const goOn = "the organiser says go, but no server suits everyone so far: measuring goes on"
	silent := slices.Repeat([]int{lost}, 20)
	for _, tt := range []struct {
		name    string
		does    func(n *session)
		early   bool
		isMade  bool
		failure string
		chosen  int
		players string
		out     map[people.ID]attendance.Why
		notes   []string
	}{
		{"all", func(n *session) {
			for _, player := range []people.ID{"ann", "bob", "cat"} {
				n.Measures(player, factstest.Up(10, 20)...)
			}
		}, false, true, "", 0, "[ann bob cat]", nil, nil},
		{"early", func(n *session) {
			for _, player := range []people.ID{"ann", "bob", "cat"} {
				n.tells(player, 3, 10)
			}
		}, true, true, "", 3, "[ann bob cat]", nil, []string{"the organiser says go: choosing from what has been measured"}},
		{"early, and nothing suits", func(n *session) {
			n.Measures("ann", factstest.Up(10, 20)...)
			n.Measures("bob", silent...)
		}, true, false, "", -1, "", nil, []string{goOn}},
		{"early, and nothing is measured", func(*session) {}, true, false, "", -1, "", nil, []string{goOn}},
		{"nothing is measured", func(*session) {}, false, false, "nobody has measured anything yet", -1, "", nil, nil},
		{"nothing suits two", func(n *session) {
			n.Measures("ann", 10)
			n.Measures("bob", lost)
		}, false, true, "", -1, "[ann bob]", map[people.ID]attendance.Why{"cat": attendance.Behind},
			[]string{"choosing without cat, who has measured 0 of 20 servers"}},
		{"one has finished nothing that suits", func(n *session) {
			n.Measures("ann", append(factstest.Up(10, 3), lost)...)
			n.Measures("bob", append(factstest.Up(10, 3), lost)...)
			n.tells("cat", 3, 10)
		}, false, true, "", 0, "[ann bob]", map[people.ID]attendance.Why{"cat": attendance.Behind},
			[]string{"choosing without cat, who has measured 1 of 20 servers"}},
		{"one is too far away", func(n *session) {
			n.Settings.By, n.Settings.Limits = selection.Threshold, wire.Limits{60 * ms}
			n.Measures("ann", factstest.Up(10, 20)...)
			n.Measures("bob", factstest.Up(10, 20)...)
			n.Measures("cat", factstest.Down(10, 20)...)
		}, false, true, "", 0, "[ann bob]", map[people.ID]attendance.Why{"cat": attendance.Outvoted}, []string{
			"no server suits everyone, but some suit everyone except cat: they’re too far away, or didn’t " +
				"answer. Choosing without; the organiser can start another round",
		}},
		{"one is too far away, early", func(n *session) {
			n.Settings.By, n.Settings.Limits = selection.Threshold, wire.Limits{60 * ms}
			n.Measures("ann", factstest.Up(10, 20)...)
			n.Measures("bob", factstest.Up(10, 20)...)
			n.Measures("cat", factstest.Down(10, 20)...)
		}, true, false, "", -1, "", nil, []string{goOn}},
		{"one makes numbers up", func(n *session) {
			for _, player := range []people.ID{"ann", "bob"} {
				n.Measures(player, factstest.Up(10, 20)...)
			}
			n.Measures("cat", slices.Repeat([]int{1}, 20)...)
		}, false, true, "", 0, "[ann bob]", map[people.ID]attendance.Why{"cat": attendance.Odd}, []string{
			"cat reports the same ping for 20 of 20 servers: that doesn’t count in the choice",
		}},
		{"one has another version", func(n *session) {
			for _, player := range []people.ID{"ann", "bob", "cat"} {
				n.Measures(player, factstest.Up(10, 20)...)
			}
			n.Editions.Say("bob", n.Settings.Game, map[string]discovery.Edition{"": {Version: "2", Protocol: 70}})
			n.Hears("", 0, discovery.Info{MaxPlayers: 16, Protocol: 71})
		}, false, true, "", 1, "[ann bob cat]", nil, []string{"bob has version 2, which doesn’t get into 1 server (protocol 71): left out"}},
	} {
		n := newSession(t, 20, "ann", "bob", "cat")
		*n.d.Looks.State() = finals.State{Attempt: 1, Seen: []int{9}}
		tt.does(n)
		c := n.choose(tt.early)
		if c.IsMade != tt.isMade || catalogue.InEnglish().Say(c.Failure) != tt.failure || n.chosen() != tt.chosen && tt.isMade {
			t.Errorf("%s: made %v, %q, chosen is %d: %q", tt.name, c.IsMade, c.Failure, n.chosen(), c.Notes)
		}
		if tt.isMade && fmt.Sprint(n.Choice.Newest().Players) != tt.players {
			t.Errorf("%s: it is for %v", tt.name, n.Choice.Newest().Players)
		}
		for _, player := range n.Attendance.Players() {
			if out := n.Attendance.Of(player).Out; out != tt.out[player] {
				t.Errorf("%s: %s is out for %q", tt.name, player, out)
			}
		}
		text := strings.Join(texts(c.Notes), "\n")
		for _, note := range tt.notes {
			if !strings.Contains(text, note) {
				t.Errorf("%s: it says %q, want %q", tt.name, c.Notes, note)
			}
		}
		if len(tt.notes) == 0 && len(c.Notes) > 0 {
			t.Errorf("%s: it says %q", tt.name, c.Notes)
		}
		if isSeen := slices.Contains(n.d.Looks.State().Seen, 9); isSeen == tt.isMade {
			t.Errorf("%s: what was seen before is forgotten: %v", tt.name, !isSeen)
		}
	}
}

// TestReview checks that a running search judges the players who have reported enough, and those
// who contradict the others.
func TestReview(t *testing.T) {
	for _, tt := range []struct {
		told int // cat's results
		out  attendance.Why
	}{{15, ""}, {16, attendance.Odd}} {
		n := newSession(t, 40, "ann", "bob", "cat")
		for _, player := range []people.ID{"ann", "bob"} {
			n.Measures(player, factstest.Up(10, 40)...)
		}
		n.Measures("cat", slices.Repeat([]int{1}, tt.told)...)
		notes := n.review()
		if out := n.Attendance.Of("cat").Out; out != tt.out || (len(notes) > 0) != (tt.out != "") {
			t.Errorf("of %d servers: cat is out for %q: %q", tt.told, out, notes)
		}
	}
	n := measured(t, 10, "ann", "bob", "cat")
	n.Gets(factstest.List(10))
	for server := range 8 {
		for i, player := range []people.ID{"ann", "bob", "cat"} {
			n.Hears(player, server, discovery.Info{Name: "Den", Version: fmt.Sprint(i / 2), MaxPlayers: 16})
		}
	}
	notes := n.review()
	if n.Trust.IsBelieved("cat") || len(notes) != 1 || !strings.HasPrefix(texts(notes)[0], "cat describes 8 of 8 servers differently") {
		t.Errorf("cat is believed: %v; %q", n.Trust.IsBelieved("cat"), notes)
	}
	if n.RefreshFacts(); n.Servers.Info(0).Version != "0" {
		t.Errorf("of the first server counts %+v", n.Servers.Info(0))
	}
}

// TestDecide checks that the decision takes each way on from a choice.
func TestDecide(t *testing.T) {
	full := discovery.Info{Players: 16, MaxPlayers: 16}
	fill := func(n *session, by people.ID, servers int) {
		for server := range servers {
			n.Hears(by, server, full)
		}
	}
	tires := func(n *session) {
		for range 4 {
			n.looks(9)
		}
	}
	for _, tt := range []struct {
		name   string
		before func(n *session)
		after  func(n *session) // follows the choice
		look   []int
		wait   int // the number of servers
		fails  string
		votes  bool
		server int
		notes  []string
	}{
		{"a second look", nil, nil, []int{0, 1, 2, 3, 4}, 0, "", false, 0, []string{"everyone takes another look at the best 5"}},
		{"a launch", nil, func(n *session) { n.looks(0, 1, 2) }, nil, 0, "", false, 0, nil},
		{"a vote", func(n *session) { n.Settings.Agree = wire.Yes }, func(n *session) { n.looks(0, 1, 2) }, nil, 0, "", true, 0, nil},
		{"a look for a vote", func(n *session) {
			n.Settings.Agree = wire.Yes
		}, func(n *session) { n.looks(0, 1) }, []int{2, 3, 4, 5, 6}, 0, "", true, 0, []string{"everyone looks at 5 more servers, for a vote"}},
		{"a vote, after looks enough", func(n *session) { n.Settings.Agree = wire.Yes }, func(n *session) {
			n.looks(0)
			tires(n)
		}, nil, 0, "", true, 0, nil},
		{"a launch, after looks enough", nil, tires, nil, 0, "", false, 0,
			[]string{"the best servers keep changing: taking 20.0.0.1:27960 without another check"}},
		{"a vote, unverified", func(n *session) {
			n.Settings.Agree = wire.Yes
		}, tires, nil, 0, "", true, 0, []string{"the best servers keep changing: the rule takes 20.0.0.1:27960 without another check"}},
		{"all are full", func(n *session) {
			fill(n, "", 10)
		}, nil, nil, 0, "no server suits everyone: 10 without enough free seats", false, 0, nil},
		{"all are full, and the room waits", func(n *session) {
			fill(n, "", 10)
			n.Settings.Wait = discovery.Millis(time.Minute)
		}, nil, nil, 3, "no server suits everyone: 10 without enough free seats", false, 0, nil},
		{"all are full, and nobody is left", func(n *session) {
			fill(n, "", 10)
			n.Settings.Wait = discovery.Millis(time.Minute)
		}, func(n *session) {
			n.Attendance.LeaveOut(attendance.Left, "ann", "bob", "cat")
		}, nil, 0, "no server suits everyone: 10 without enough free seats", false, 0, nil},
		{"one says that all are full", func(n *session) {
			n.Gets(factstest.List(10))
			fill(n, "ann", 10)
		}, nil, []int{0, 1, 2}, 0, "", false, 0,
			[]string{"no server suits everyone, if each player’s own report is right: everyone looks at 3 servers"}},
		{"one says that all are full, after looks enough", func(n *session) {
			n.Gets(factstest.List(10))
			fill(n, "ann", 10)
		}, tires, nil, 0, "no server suits everyone: 10 without enough free seats", false, 0, nil},
		{"one says that some are full", func(n *session) {
			n.Gets(factstest.List(10))
			fill(n, "ann", 2)
			for server := 2; server < 10; server++ {
				n.Hears("", server, factstest.Info())
			}
		}, nil, []int{2, 3, 4, 5, 6, 0, 1}, 0, "", false, 2,
			[]string{"everyone takes another look at the best 5", "and at 2 servers that only one player found unsuitable"}},
		{"one did not reach the best", func(n *session) {
			n.Measures("cat", lost, lost)
		}, nil, []int{2, 3, 4, 5, 6, 0, 1}, 0, "", false, 2, []string{
			"everyone takes another look at the best 5", "and at 2 servers that are better for everyone but one of you, whom they didn’t answer",
		}},
	} {
		n := measured(t, 10, "ann", "bob", "cat")
		if tt.before != nil {
			tt.before(n)
		}
		if c := n.choose(false); !c.IsMade {
			t.Fatalf("%s: no choice is made", tt.name)
		}
		if tt.after != nil {
			tt.after(n)
		}
		f := n.decide()
		if !slices.Equal(f.Look, tt.look) || len(f.Wait) != tt.wait || catalogue.InEnglish().Say(f.Failure) != tt.fails || f.Votes != tt.votes || f.Server != tt.server {
			t.Errorf("%s: it follows to look at %v, wait for %d, %q, vote %v on %d", tt.name, f.Look, len(f.Wait), f.Failure, f.Votes, f.Server)
		}
		says(t, tt.name, slices.Concat(f.Notes, f.Why), tt.notes...)
	}
}

// TestTryAlone checks that no server is chosen for a ping that only one player has, against all
// measurements near that server.
func TestTryAlone(t *testing.T) {
	const favourite = 39
	at := map[people.ID]int{"ann": 250, "bob": 300, "cat": 350, "eve": 300, "dan": 0}
	n := apart(t, 60, "ann", "bob", "cat", "eve", "dan")
	for player, place := range at {
		far := make([]int, 60)
		for server := range far {
			far[server] = 5 + max(place-10*server, 10*server-place)
		}
		if player == "dan" {
			far[favourite] = 1
		}
		n.Measures(player, far...)
	}
	n.choose(false)
	if n.chosen() != favourite {
		t.Fatalf("chosen is %d", n.chosen())
	}
	f := n.decide()
	if n.chosen() != 30 || len(f.Notes) == 0 || !strings.HasSuffix(texts(f.Notes)[0], "It counts as 385 ms, not as 1") {
		t.Errorf("chosen is %d: %q", n.chosen(), f.Notes)
	}
	if doubts := n.Choice.Newest().Doubts; len(doubts) != 1 || doubts[0].Sign != anomaly.Nearer || doubts[0].Of != 60 {
		t.Errorf("doubts are %+v", doubts)
	}
	notes, other, err := n.vouch("dan")
	if err != nil || len(notes) == 0 || other == nil || factstest.Chosen(other) != favourite {
		t.Errorf("dan is vouched for: %q, %+v, %v", notes, other, err)
	}
}

// TestSettle checks that a look leaves the right choice, or the right questions.
func TestSettle(t *testing.T) {
	begin := func() (*session, []finals.Ask) {
		n := measured(t, 10, "ann", "bob", "cat")
		n.choose(false)
		asks, note := n.d.Look(n.F, &n.p, []int{0, 1, 2}, false, 0, n.Now)
		if len(asks) != 3 || !note.IsZero() || asks[0].Samples != 3 {
			t.Fatalf("asked are %+v, %q", asks, note)
		}
		return n, asks
	}
	n, asks := begin()
	n.hears(asks[:2])
	if s := n.settle(n.facts()); s.IsOver || s.Asks != nil || s.Notes != nil {
		t.Errorf("while cat is waited for it settles: %+v", s)
	}
	n.hears(asks[2:])
	if s := n.settle(n.facts()); !s.IsOver || s.Notes != nil || n.chosen() != 0 || n.Choice.Newest().LookedS != 0 {
		t.Errorf("it settles: %+v, chosen is %d", s, n.chosen())
	}

	n, asks = begin()
	n.saw = func(player people.ID, server int) int {
		if server == 0 {
			return lost
		}
		return 20
	}
	n.hears(asks)
	s := n.settle(n.facts())
	says(t, "the best is silent", s.Notes, "20.0.0.1:27960 turned out to be unreachable: 21.0.1.1:27960 takes its place")
	if !s.IsOver || n.chosen() != 1 || n.Evidence["ann"].At(0).State != discovery.Lost {
		t.Errorf("the best is silent: chosen is %d, ann knows %+v", n.chosen(), n.Evidence["ann"].At(0))
	}

	n, asks = begin()
	n.saw = func(player people.ID, server int) int {
		if server == 0 && player == "bob" {
			return lost
		}
		return 20
	}
	n.hears(asks)
	s = n.settle(n.facts())
	says(t, "bob alone does not reach it", s.Notes, "1 server answered others, but not bob: bob looks again")
	if s.IsOver || len(s.Asks) != 1 || s.Asks[0].Player != "bob" || !slices.Equal(s.Asks[0].Servers, []int{0}) {
		t.Errorf("bob alone does not reach it: %+v", s)
	}

	n, asks = begin()
	n.saw = func(player people.ID, server int) int {
		return map[people.ID]int{"ann": 90, "bob": 100, "cat": 110}[player]
	}
	n.Hears("", 0, discovery.Info{Players: 14, MaxPlayers: 16})
	n.hears(asks)
	s = n.settle(n.facts())
	says(t, "the best fills up", s.Notes, "20.0.0.1:27960 turned out to be full: 21.0.1.1:27960 takes its place")

	n, asks = begin()
	n.Measures("cat", slices.Repeat([]int{lost}, 10)...)
	n.Settings.By, n.Settings.Limits = selection.Threshold, wire.Limits{15 * ms}
	n.saw = func(player people.ID, server int) int {
		return map[people.ID]int{"ann": 12, "bob": 13, "cat": 90}[player]
	}
	n.hears(asks)
	s = n.settle(n.facts())
	if !s.IsOver || n.chosen() != 0 || n.Attendance.Of("cat").Out != attendance.Outvoted || len(s.Notes) != 2 ||
		catalogue.InEnglish().Say(s.Notes[1]) != "cat has 90 ms to 20.0.0.1:27960, 75 ms over the limit of 15 ms: "+
			"the choice is for the others, and cat comes along" {
		t.Errorf("cat is too far away: %+v, chosen is %d, cat is out for %q", s, n.chosen(), n.Attendance.Of("cat").Out)
	}

	n, asks = begin()
	n.saw = func(people.ID, int) int { return lost }
	n.Settings.By, n.Settings.Limits = selection.Threshold, wire.Limits{25 * ms}
	n.hears(asks)
	if s = n.settle(n.facts()); !s.IsOver || s.Notes != nil || n.chosen() != 0 {
		t.Errorf("nobody hears any server for the first time: %+v, chosen is %d", s, n.chosen())
	}
	asks, _ = n.d.Look(n.F, &n.p, []int{0, 1, 2}, false, 0, n.Now)
	n.hears(asks)
	s = n.settle(n.facts())
	says(t, "nothing is left", s.Notes, "20.0.0.1:27960 turned out to be unreachable, and there’s no other")
	if !s.IsOver || n.chosen() != -1 {
		t.Errorf("nothing is left, and chosen is %d", n.chosen())
	}
}

func texts(sentences []sentence.Sentence) (all []string) {
	for _, s := range sentences {
		if !s.IsZero() {
			all = append(all, catalogue.InEnglish().Say(s))
		}
	}
	return all
}

// inMatch returns a match of ann and ben against emil, whose captains ban two of three servers.
func inMatch(t *testing.T) *session {
	n := newSession(t, 3, "ann", "ben", "emil")
	s := factstest.Settings()
	s.Match, s.Order, s.SideA = "bo1", "ban ban", "Nightjars"
	n.Settings = s
	for name, side := range map[people.ID]wire.Side{"ann": wire.SideA, "emil": wire.SideB} {
		n.Sides.Join(name, side)
	}
	n.SettleSides()
	n.Sides.Join("ben", wire.SideA)
	n.Measures("ann", 10, 20, 30)
	n.Measures("ben", 20, 30, 40)
	n.Measures("emil", 31, 21, 11)
	n.Chooses()
	n.d.BeginBans(n.F, n.Now)
	return n
}

// ticks lets time pass. A side whose captain has left gets another, as in the room. It returns what
// people read.
func (n *session) ticks(now roomtime.Time) string {
	notes, left := n.d.TickBans(n.F, factstest.ClocksAt(now))
	if left != "" {
		notes = n.F.SideNotes(n.Sides.Replace(left, decision.Captainable(n.F)))
	}
	return strings.Join(catalogue.InEnglish().SayAll(notes), "; ")
}

// TestAway checks that the next of the side replaces a captain who is not there at their own turn,
// and that a captain on the page is there.
func TestAway(t *testing.T) {
	n := inMatch(t)
	n.Attendance.Leave("ann", n.Now)
	n.Roster.OpenPage(n.Roster.PageOf("ann"), n.Now)
	if n.d.IsCaptainAway(n.F) {
		t.Error("ann has the page open, and is away")
	}
	n.Roster.ClosePage(n.Roster.PageOf("ann"), n.Now)
	if said := n.ticks(n.Now.Add(time.Second)); said != "" || !n.d.IsCaptainAway(n.F) {
		t.Errorf("at once: %q", said)
	}
	if said := n.ticks(n.Now.Add(15 * time.Second)); said != "ben is captain of Nightjars" || !slices.Contains(decision.Captainable(n.F), "ben") {
		t.Errorf("then: %q", said)
	}
}

// TestHidden checks that the organiser can hide servers while a server is left to vote on.
func TestHidden(t *testing.T) {
	n := measured(t, 2, "ann", "bob")
	n.choose(false)
	for _, tt := range []struct {
		name      string
		server    int
		isVoting  bool
		note, err string
		chosen    int // -2 if there is no other choice
	}{
		{"one", 0, false, "the organiser hides 20.0.0.1:27960: it won’t be chosen any more", "<nil>", -2},
		{"one, in a vote", 0, true, "the organiser hides 20.0.0.1:27960", "<nil>", 1},
		{"the last, in a vote", 1, true, "", "nothing would be left to play on", -2},
		{"the last", 1, false, "the organiser hides 25.0.1.1:27960: it won’t be chosen any more", "<nil>", -2},
	} {
		addr := n.Servers.List[tt.server].Addr
		if err := n.Lists.Hide(addr, "", n.F.Organiser()); err != nil {
			t.Fatal(err)
		}
		note, other, err := decision.AfterHiding(n.F, addr, tt.isVoting)
		chosen := -2
		if other != nil {
			chosen = factstest.Chosen(other)
		}
		if catalogue.InEnglish().Say(note) != tt.note || fmt.Sprint(err) != tt.err || chosen != tt.chosen {
			t.Errorf("%s: %q, %d is chosen, %v", tt.name, note, chosen, err)
		}
	}
}

// TestVouch checks that a player's unusual numbers count once the organiser confirms them. They
// count in this round too if a server is left that suits the player.
func TestVouch(t *testing.T) {
	odd := func(rtt int) *session {
		n := newSession(t, 20, "ann", "bob", "cat")
		for _, player := range []people.ID{"ann", "bob"} {
			n.Measures(player, factstest.Up(10, 20)...)
		}
		n.Measures("cat", slices.Repeat([]int{rtt}, 20)...)
		if n.choose(false); n.Attendance.Of("cat").Out != attendance.Odd {
			t.Fatalf("cat is out for %q", n.Attendance.Of("cat").Out)
		}
		return n
	}
	n := odd(1)
	notes, other, err := n.vouch("cat")
	if err != nil || other == nil || !slices.Contains(other.Players, "cat") || n.Attendance.Of("cat").Out != "" {
		t.Errorf("cat is vouched for: %q, %+v, %v", notes, other, err)
	}
	if notes, other, err = n.vouch("ann"); other != nil || err != nil {
		t.Errorf("ann is vouched for: %q, %+v, %v", notes, other, err)
	}

	n = odd(1)
	n.Evidence["cat"] = n.Evidence["cat"].Next()
	if _, err := n.Roster.Rename(n.F.Person("cat"), "kit", n.Now); err != nil {
		t.Fatal(err)
	}
	_, other, err = n.vouch("cat")
	if err == nil || !strings.HasPrefix(err.Error(), "kit has not measured") || other != nil ||
		n.Attendance.Of("cat").Out != attendance.Behind {
		t.Errorf("cat has measured nothing: %+v, out for %q, %v", other, n.Attendance.Of("cat").Out, err)
	}

	n = odd(1)
	n.Choice = n.Choice.Forget()
	if _, other, err = n.vouch("cat"); other != nil || err != nil || n.Attendance.Of("cat").Out != "" {
		t.Errorf("there is no choice: %+v, out for %q, %v", other, n.Attendance.Of("cat").Out, err)
	}
}
