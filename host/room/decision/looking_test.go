package decision_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/decision"
	"muster/host/room/facts/factstest"
	"muster/host/room/people"
	"muster/host/room/probing"
	"muster/host/room/seats"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
	"muster/selection/anomaly"
)

// voting returns a group that has looked at its best three and votes on them.
func voting(t testing.TB, names ...string) *session {
	n := measured(t, 10, names...)
	n.Settings.Agree = wire.Yes
	n.choose(false)
	n.looks(0, 1, 2)
	if f := n.decide(); !f.Votes || f.Look != nil {
		t.Fatalf("there is no vote: %+v", f)
	}
	if note := catalogue.InEnglish().Say(n.d.OpenVote(n.F)); note != "20.0.0.1:27960 is ahead: vote, veto, and say when you’re ready" {
		t.Fatalf("it says %q", note)
	}
	return n
}

// votes lets somebody vote for a server.
func (n *session) votes(person people.ID, server int) {
	n.Helper()
	if _, err := n.Ballot.Vote(person, n.Servers.List[server].Addr, n.d.Options(n.F)); err != nil {
		n.Fatal(err)
	}
}

var full = discovery.Info{Players: 16, MaxPlayers: 16}

// TestFavourite checks that people go where they agreed, if that still suits them, else to the next
// server that they have looked at.
func TestFavourite(t *testing.T) {
	for _, tt := range []struct {
		name   string
		does   func(n *session)
		server int
		notes  []string
	}{
		{"by the rule", func(*session) {}, 0, nil},
		{"by votes", func(n *session) { n.votes("ann", 2) }, 2, nil},
		{"the favourite has filled up", func(n *session) {
			n.votes("ann", 2)
			n.Hears("", 2, full)
		}, 0, []string{"22.0.2.1:27960 turned out to be full: 20.0.0.1:27960 takes its place"}},
		{"the best has filled up", func(n *session) {
			n.Hears("", 0, full)
		}, 1, []string{"20.0.0.1:27960 turned out to be full: 21.0.1.1:27960 takes its place"}},
		{"all that people have seen have filled up", func(n *session) {
			for server := range 3 {
				n.Hears("", server, full)
			}
		}, -1, []string{"20.0.0.1:27960 turned out to be full: 23.0.3.1:27960 takes its place"}},
		{"all have filled up", func(n *session) {
			for server := range 10 {
				n.Hears("", server, full)
			}
		}, -1, []string{"20.0.0.1:27960 turned out to be full, and there’s no other"}},
		{"the look that goes on finds it gone", func(n *session) {
			asks, _ := n.d.Look(n.F, &n.p, []int{0, 1, 2}, true, 0, n.Now)
			n.saw = func(_ people.ID, server int) int { return 20 * min(server, 1) }
			n.hears(asks)
		}, 1, []string{"20.0.0.1:27960 turned out to be unreachable: 21.0.1.1:27960 takes its place"}},
	} {
		n := voting(t, "ann", "bob")
		tt.does(n)
		n.acceptMisses()
		server, notes := n.d.Favourite(n.F)
		if server != tt.server {
			t.Errorf("%s: they go to %d", tt.name, server)
		}
		says(t, tt.name, notes, tt.notes...)
	}
}

// TestChooseAgain checks that no vote is lost if the same server is the best for the rest of the
// facts.
func TestChooseAgain(t *testing.T) {
	for _, tt := range []struct {
		name  string
		does  func(n *session)
		note  string
		other int // -2 if it is the same
	}{
		{"the same", func(n *session) {
			s := *n.Choice.Newest()
			s.Doubts = []anomaly.Anomaly{{Player: "bob"}}
			n.Choice.Refine(s)
			n.Attendance.LeaveOut(attendance.Left, "cat")
		}, "Cat left. 20.0.0.1:27960 is still the best for two.", -2},
		{"another", func(n *session) {
			n.Hears("", 0, full)
			n.Attendance.LeaveOut(attendance.Left, "bob", "cat")
		}, "Cat left. Choosing again for ann.", 1},
		{"none", func(n *session) {
			for server := range 10 {
				n.Hears("", server, full)
			}
		}, "Cat left. Choosing again for three.", -1},
		{"one where there was none", func(n *session) {
			n.Choice.Take(selection.Selection{Players: []string{"ann", "bob"}})
		}, "Cat left. Choosing again for two.", 0},
	} {
		n := voting(t, "ann", "bob", "cat")
		n.votes("ann", 2)
		n.Ballot.Ready("bob")
		tt.does(n)
		note, other := n.d.ChooseAgain(n.F, sentence.Plain("Cat left."))
		if catalogue.InEnglish().Say(note) != tt.note || (other == nil) != (tt.other == -2) || other != nil && factstest.Chosen(other) != tt.other {
			t.Errorf("%s: %q, another is %+v", tt.name, note, other)
		}
		if other == nil {
			if why := n.Choice.Newest().Why; len(n.Choice.Newest().Players) != 2 ||
				len(n.Choice.Newest().Doubts) != 1 || why == nil || !n.Ballot.Paper("bob").Ready || n.Ballot.Paper("ann").Vote == nil {
				t.Errorf("%s: the choice is for %v, by %+v", tt.name, n.Choice.Newest().Players, why)
			}
			continue
		}
		n.d.Replace(*other)
		if n.chosen() != tt.other || n.Ballot.Paper("bob").Ready || n.Ballot.Paper("ann").Vote == nil {
			t.Errorf("%s: replaced it is %d, and bob has said %+v", tt.name, n.chosen(), n.Ballot.Paper("bob"))
		}
	}
}

// TestReadmit checks that a player who left the vote and comes back has a say again, if something
// suits all.
func TestReadmit(t *testing.T) {
	for _, tt := range []struct {
		name string
		does func(n *session)
		back bool
	}{
		{"one who has left", func(*session) {}, true},
		{"one who never left", func(n *session) { n.Attendance.Recall("cat", n.Now) }, false},
		{"one whose numbers do not count", func(n *session) { n.Attendance.LeaveOut(attendance.Odd, "cat") }, false},
		{"one for whom nothing suits", func(n *session) {
			for server := range 10 {
				n.Hears("", server, discovery.Info{Players: 14, MaxPlayers: 16})
			}
		}, false},
		{"one who has measured nothing", func(n *session) {
			for server := range 10 {
				n.Evidence["cat"].Forget(server)
			}
		}, false},
	} {
		n := voting(t, "ann", "bob", "cat")
		n.Attendance.Leave("cat", n.Now)
		n.Now = n.Now.Add(time.Minute)
		if left, _ := n.Attendance.GoOnWithout(n.F.ChosenFor(), 0, n.Now); len(left) != 1 {
			t.Fatalf("left have %v", left)
		}
		n.d.ChooseAgain(n.F, sentence.Sentence{})
		n.Attendance.Return("cat", attendance.Nothing, true, n.Now)
		out := n.Attendance.Of("cat").Out
		if tt.does(n); tt.name == "one who never left" || tt.name == "one whose numbers do not count" {
			out = n.Attendance.Of("cat").Out
		}
		if back := n.readmits("cat"); back != tt.back {
			t.Errorf("%s: back is %v", tt.name, back)
		}
		isIn := slices.Contains(n.Choice.Newest().Players, "cat")
		if now := n.Attendance.Of("cat").Out; tt.back && (now != "" || !isIn) || !tt.back && (now != out || isIn) {
			t.Errorf("%s: cat is out for %q, was for %q, chosen for are %v", tt.name, now, out, n.Choice.Newest().Players)
		}
	}
}

// TestRecount checks that another server may be the best once other guests count.
func TestRecount(t *testing.T) {
	for _, tt := range []struct {
		name  string
		info  *discovery.Info
		other int // -2 if there is none
	}{
		{"the same", nil, -2}, {"another", &full, 1},
	} {
		n := voting(t, "ann", "bob")
		before := n.Choice.Newest()
		if tt.info != nil {
			n.Hears("", 0, *tt.info)
		}
		other := n.d.Recount(n.F)
		if (other == nil) != (tt.other == -2) || other != nil && other.Chosen.Server != tt.other {
			t.Errorf("%s: %+v", tt.name, other)
		}
		if taken := n.Choice.Newest() != before; taken != (other == nil) {
			t.Errorf("%s: the newest is another: %v", tt.name, taken)
		}
	}
	n := voting(t, "ann")
	for server := range 10 {
		n.Hears("", server, full)
	}
	before := n.Choice.Newest()
	if other := n.d.Recount(n.F); other != nil || n.Choice.Newest() != before {
		t.Errorf("where nothing suits, chosen is %+v", other)
	}
}

// TestSupposed checks that a what-if has the basis of the choice, with other settings.
func TestSupposed(t *testing.T) {
	n := voting(t, "ann", "bob")
	s := n.Settings
	s.By = selection.Minimax
	n.Measures("ann", factstest.Down(10, 10)...) // since the choice
	b := n.d.WhatIfBasis(n.F, s)
	if b.Criteria.By != selection.Minimax || n.Settings.By != selection.Mean {
		t.Errorf("it goes by %s", b.Criteria.By)
	}
	if _, rtt := b.Table.At(0, 0); rtt != 10*ms {
		t.Errorf("ann's ping is %v", rtt)
	}
	record := n.d.Record(n.F)
	if record == nil || n.d.Record(n.F) != record {
		t.Error("there is no record, or another each time")
	}
	n.Attendance.LeaveOut(attendance.Left, "ann")
	if b = n.d.WhatIfBasis(n.F, s); !slices.Equal(b.Table.Players(), []string{"bob"}) {
		t.Errorf("without ann it is for %v", b.Table.Players())
	}
	n.Choice = n.Choice.Forget()
	if record := n.d.Record(n.F); record != nil {
		t.Error("there is a record before there is a choice")
	}
	n.Choice.Refine(selection.Selection{Players: []string{"bob"}}) // as a restored choice
	if record := n.d.Record(n.F); record == nil || len(record.Culled()) != 0 {
		t.Errorf("of a choice that was restored the record is %+v", record)
	}
}

// TestFinalists checks that everyone also looks, but not for long, at servers that one ping may
// hide after the search of a short list.
func TestFinalists(t *testing.T) {
	for _, tt := range []struct {
		long    time.Duration
		more    bool
		samples int
	}{{0, true, 1}, {time.Minute, false, 1}} {
		n := newSession(t, 60, "ann", "bob")
		n.Settings.Strategy = wire.Coordinated
		n.Settings.LongLook = discovery.Millis(tt.long)
		for i, player := range []people.ID{"ann", "bob"} {
			far := factstest.Up(10+i, 60)
			far[30], far[31] = 3, 1+99*i // one of bob's packets was delayed
			n.Measures(player, far...)
		}
		n.p.Turn(n.F, 0, probing.Moment{Clocks: factstest.ClocksAt(n.Now)})
		n.choose(false)
		if tt.long > 0 {
			n.looks(20) // a long look
		}
		f := n.decide()
		if slices.Contains(f.Look, 31) != tt.more || !slices.Equal(f.Look[:5], []int{30, 0, 1, 2, 3}) {
			t.Errorf("after %v: everyone looks at %v", tt.long, f.Look)
		}
		asks, note := n.d.Look(n.F, &n.p, f.Look, false, 0, n.Now)
		if !note.IsZero() != (tt.long > 0) || tt.long == 0 && asks[0].Samples != tt.samples {
			t.Errorf("after %v: asked are %+v, %q", tt.long, asks, note)
		}
	}
}

// TestUntried checks that everyone looks, along with the finalists, at servers that are likely
// better but that a discreet player has not measured, within her number.
func TestUntried(t *testing.T) {
	const country, near = 500, 10
	for _, tt := range []struct {
		name           string
		most, measured int
		looks          bool
	}{
		{"few", 20, 6, true},
		{"for all that may be seen", 20, 20, false},
		{"of many", 100, 12, true},
		{"who does not mind", 0, 12, false},
	} {
		n := newSession(t, 1000, "ann", "dora")
		n.Settings.Strategy = wire.Coordinated
		n.Evidence["dora"].LimitProbes(tt.most)
		for i := range 1000 {
			server := (i*100 + i/10 + 50) % 1000
			ann, dora := 100, 100
			if server >= country && server < country+near {
				ann = 20
			}
			if server/100 == country/100 {
				dora = 40
			}
			if n.tells("ann", server, ann); i < tt.measured {
				n.tells("dora", server, dora)
			}
		}
		n.p.Turn(n.F, 0, probing.Moment{Clocks: factstest.ClocksAt(n.Now)})
		n.choose(false)
		f := n.d.Decide(n.F, &n.p, true)
		isNear := func(server int) bool { return server >= country && server < country+near }
		if looks := slices.ContainsFunc(f.Look, isNear); looks != tt.looks {
			t.Errorf("%s: everyone looks at %v", tt.name, f.Look)
		}
		if told := strings.Contains(strings.Join(texts(f.Why), "\n"), "no ping there yet from dora"); told != tt.looks {
			t.Errorf("%s: it says %q", tt.name, f.Why)
		}
		own := 0
		for _, server := range f.Look {
			if !n.Evidence["dora"].IsAsked(server) {
				own++
			}
		}
		if tt.looks && own > tt.most-tt.measured {
			t.Errorf("%s: dora shows her address to %d servers more", tt.name, own)
		}
		n.looks(20)
		if f = n.d.Decide(n.F, &n.p, true); strings.Contains(strings.Join(texts(f.Notes), "\n"), "not known yet") {
			t.Errorf("%s: in the second try it says %q", tt.name, f.Notes)
		}
	}
}

// TestNames checks that people read the names of the time.
func TestNames(t *testing.T) {
	names := map[people.ID]string{"ann": "ann", "bob": "bob", "cat": "cat"}
	renames := func(n *session) {
		for player, name := range names {
			if one := n.F.Person(player); one.IsSomebody() && one.Name != name {
				if _, err := n.Roster.Rename(one, name, n.Now); err != nil {
					n.Fatal(err)
				}
			}
		}
	}
	far := newSession(t, 20, "ann", "bob", "cat")
	far.Settings.By, far.Settings.Limits = selection.Threshold, wire.Limits{60 * ms}
	far.Measures("ann", factstest.Up(10, 20)...)
	far.Measures("bob", factstest.Up(10, 20)...)
	far.Measures("cat", factstest.Down(10, 20)...)
	far.choose(false)
	if _, err := far.Roster.HandOn("ann", "secret"); err != nil {
		t.Fatal(err)
	}
	far.Roster.OpenPage(far.Roster.PageOf("ann"), far.Now)

	missed := measured(t, 20, "ann", "bob")
	missed.Settings.By, missed.Settings.Limits = selection.Threshold, wire.Limits{5 * ms}
	missed.Choice.Take(missed.F.Select([]people.ID{"ann", "bob"}))

	vetoed := voting(t, "ann", "bob")
	if _, _, err := vetoed.d.Veto(vetoed.F, selection.Veto{Player: "ann", Server: vetoed.Servers.List[1].Addr}); err != nil {
		t.Fatal(err)
	}
	vetoed.d.Replace(vetoed.F.Select(vetoed.F.ChosenFor()))
	vetoed.Ballot.Offer(vetoed.d.Options(vetoed.F))
	vetoed.Choice.Suppose("bob", []byte("{}"), vetoed.d.WhatIfBasis(vetoed.F, vetoed.Settings))

	looked := measured(t, 10, "ann")
	looked.Settings.LongLook = discovery.Millis(time.Minute)
	looked.choose(false)
	asks, _ := looked.d.Look(looked.F, &looked.p, []int{0}, false, 0, looked.Now)
	looked.hears(asks)

	open := decision.Showing{IsOpen: true, Target: -1}
	for range 2 {
		for _, n := range []*session{far, missed, vetoed, looked} {
			renames(n)
		}
		ann, bob, cat := names["ann"], names["bob"], names["cat"]
		view, _ := far.d.View(far.F, &far.p, open)
		factstest.Same(t, "over the limit are", view.Over.RTT, map[string]float64{cat: 200})
		if n := len(view.Advice); n == 0 || view.Advice[n-1].Action != "without" || view.Advice[n-1].Argument.Name != cat {
			t.Errorf("of %s's ping it advises %+v", cat, view.Advice)
		}
		factstest.Same(t, "it is for", view.Selection.Players, []string{ann, bob})

		view, _ = missed.d.View(missed.F, &missed.p, open)
		factstest.Same(t, "the nearest misses", view.Miss.RTT, map[string]float64{ann: 10, bob: 11})

		vote := vetoed.d.ViewVote(vetoed.F, true)
		at := slices.IndexFunc(vote.Choices, func(o wire.Option) bool { return o.Gone })
		if at < 0 || vote.Choices[at].By != ann || !slices.Equal(vote.Vetoes, []string{ann + ": 21.0.1.1:27960"}) {
			t.Errorf("the vote is %+v", vote)
		}
		_, whatIf := vetoed.d.View(vetoed.F, &vetoed.p, open)
		factstest.Same(t, "the what-if is by", whatIf.Player, bob)

		lines := looked.d.ViewLook(looked.F, 0, factstest.ClocksAt(looked.Now)).Finalists[0].Lines
		if _, is := lines[ann]; !is || len(lines) != 1 {
			t.Errorf("the look shows %+v", lines)
		}
		names = map[people.ID]string{"ann": "amy", "bob": "ben", "cat": "kit"}
	}
}

// TestSeats checks that a wait for seats gets the right facts, and that a server with seats is
// checked once more.
func TestSeats(t *testing.T) {
	n := measured(t, 10, "ann", "bob", "cat")
	n.Hears("", 0, full)
	n.choose(false)
	worth := decision.WorthWaiting(n.F)
	if len(worth) != 1 || worth[0].Server != 0 || len(decision.Suitable(n.F)) != 10 {
		t.Fatalf("worth waiting for are %v of %d", worth, len(decision.Suitable(n.F)))
	}
	n.Attendance.Leave("bob", n.Now)
	n.Evidence["cat"].Promise(1)
	n.Evidence["cat"].Show([]int{5})
	n.Trust.Vouch("ann")
	w := seats.Begin(worth, n.Choice.Newest().Ranking[:1], n.Servers, 0, n.Now)
	f := decision.SeatFacts(n.F, w)
	if f.Need != 3 || f.Present != 2 || len(f.Servers) != 2 {
		t.Errorf("a watch knows %+v", f)
	}
	fact := f.Servers[0]
	if lookers := fact.Lookers; fact.Name != "20.0.0.1:27960" || !slices.Contains(lookers, "ann") || slices.Contains(lookers, "bob") {
		t.Errorf("of the first it knows %+v", fact)
	}
	for _, player := range []people.ID{"bob", "cat"} {
		n.Hears(player, 0, full) // before
	}
	n.Hears("ann", 0, factstest.Info())
	for _, tt := range []struct {
		name string
		does func()
		why  string
	}{
		{"free", func() {}, ""},
		{"vetoed", func() { _ = n.Ballot.Veto(selection.Veto{Player: "ann", Server: n.Servers.List[0].Addr}) }, "it doesn’t suit us any more (vetoed)"},
	} {
		tt.does()
		n.Heard.Keep(0, []people.ID{"ann"}) // as the room does
		why, suits := n.d.ChooseServer(n.F, 0)
		if catalogue.InEnglish().Say(why) != tt.why || suits != (tt.why == "") || suits && n.chosen() != 0 {
			t.Errorf("%s: %q, chosen is %d", tt.name, why, n.chosen())
		}
	}
}
