package room_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/plan/topology"
	"muster/host/room"
	"muster/host/wire"
	"muster/selection"
)

func (n *session) vetoes(name string, veto selection.Veto) error {
	return n.page(name, room.Veto{Addr: veto.Server, Map: veto.Map})
}

func (n *session) isReady(name string, ready bool) error {
	return n.page(name, room.Ready{Ready: ready})
}

func TestAgreeing(t *testing.T) {
	tests := []struct {
		name string
		say  func(*session)
		to   int // where everyone goes; -1: nowhere
		note string
	}{
		{"nobody says anything", func(*session) {}, -1, "server 0 (192.0.2.0:27960) is ahead: vote, veto, and say when you are ready"},
		{"one is ready", func(n *session) { n.isReady("zoe", true) }, -1, "server 0 (192.0.2.0:27960) is ahead: vote, veto, and say when you are ready"},
		{"all are", func(n *session) { n.isReady("zoe", true); n.isReady("yan", true) }, 0, "everyone is ready: the launch is in 5s"},
		{"the page of one is closed", func(n *session) { n.step(room.PageClosed{Token: "yan's token"}); n.isReady("zoe", true) }, 0, "everyone is ready: the launch is in 5s"},
		{"the organiser does not wait", func(n *session) { n.goes() }, 0, "the organiser says go: the launch is in 5s"},
		{"one is not, after all", func(n *session) {
			n.isReady("zoe", true)
			n.isReady("yan", true)
			n.wait(4 * time.Second)
			n.isReady("yan", false)
		}, -1, "the countdown is stopped"},
		{"a vote", func(n *session) { n.votes("zoe", 2); n.goes() }, 2, "the votes are for server 2 (192.0.2.2:27960)"},
		{"a draw goes to the better", func(n *session) { n.votes("zoe", 2); n.votes("yan", 1); n.goes() }, 1, "the votes are for server 1 (192.0.2.1:27960)"},
		{"a vote taken back", func(n *session) {
			n.votes("zoe", 2)
			n.page("zoe", room.Vote{})
			n.goes()
		}, 0, "the votes are for server 0 (192.0.2.0:27960)"},
		{"a veto", func(n *session) { n.vetoes("zoe", selection.Veto{Server: addrOf(0)}); n.goes() }, 1, "zoe vetoes server 0 (192.0.2.0:27960)"},
		{"a vote during the countdown", func(n *session) { n.goes(); n.votes("zoe", 3) }, -1, "the countdown is stopped"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := inVoting(t)
			tt.say(n)
			n.noted(tt.note)
			n.wait(countdownTime + time.Second)
			if tt.to < 0 {
				n.inStage(wire.Chosen)
				return
			}
			n.goesTo(tt.to)
			if len(n.view().History) != 1 || n.view().History[0].Connect != addrOf(tt.to).String() {
				t.Errorf("the evening is %+v", n.view().History)
			}
		})
	}
}

// TestVotesByItself: unless somebody has decided it, people vote once two players have
// the page open, and go on then.
func TestVotesByItself(t *testing.T) {
	for _, tt := range []struct {
		name  string
		agree wire.Decision
		pages []string
		votes bool
	}{
		{"nobody has the page", wire.Undecided, nil, false},
		{"one player and a guest have", wire.Undecided, []string{"page of ann", "zoe's token"}, false},
		{"two players have", wire.Undecided, []string{"page of ann", "page of bob"}, true},
		{"two, in a room that goes straight there", wire.No, []string{"page of ann", "page of bob"}, false},
		{"nobody, in a room that votes", wire.Yes, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := settings(2)
			s.Agree = tt.agree
			n := newSession(t, s)
			n.enters("zoe", "")
			n.join("ann", "bob")
			for i, token := range tt.pages {
				if name, isPlayer := strings.CutPrefix(token, "page of "); isPlayer {
					tt.pages[i] = n.pageOf(name)
				}
				n.step(room.PageOpened{Token: tt.pages[i]})
			}
			n.listed(4)
			n.informs("ann", 12, 12, 12, 12)
			n.measures("ann", 10, 20, 30, 40)
			n.measures("bob", 20, 30, 40, 50)
			n.done("ann", "bob")
			n.verifies("ann")
			n.verifies("bob")
			if n.isVoting() != tt.votes {
				t.Fatalf("people vote: %v; the log:\n%s", !tt.votes, n.log())
			}
			if !tt.votes || tt.agree == wire.Yes {
				return
			}
			for _, token := range tt.pages {
				n.step(room.PageClosed{Token: token})
			}
			n.step(room.Order{Credential: tt.pages[0], Action: room.Veto{Addr: addrOf(0)}})
			if !n.isVoting() {
				t.Errorf("with the pages the vote ends; the log:\n%s", n.log())
			}
		})
	}
}

// TestVotesAtTerminal: a player without a page says the same at the terminal, and the room waits
// for it.
func TestVotesAtTerminal(t *testing.T) {
	n := inVoting(t)
	n.gone("ann")
	hello := wire.Hello{Version: wire.Version, Code: "BAKODI", Name: "ann", Token: n.tokens["ann"], Asks: true}
	if err := n.step(room.Join{Hello: hello}); err != nil {
		t.Fatal(err)
	}
	n.isReady("zoe", true)
	n.isReady("yan", true)
	if n.isCounting() {
		t.Fatal("nobody waits for ann, who is asked at the terminal")
	}
	n.took("ann")
	for _, tt := range []struct {
		say    wire.Say
		answer string
	}{
		{wire.Say{Round: 1, What: wire.SayVote, Addr: addrOf(3)}, ""},
		{wire.Say{Round: 1, What: wire.SayVeto, Addr: addrOf(1)}, ""},
		{wire.Say{Round: 1, What: wire.SayVeto, Addr: addrOf(2)}, "one veto a round"},
		{wire.Say{Round: 1, What: wire.SayVote, Addr: addrOf(1)}, "only what is on the ballot can be voted for"},
		{wire.Say{Round: 2, What: wire.SayVote, Addr: addrOf(2)}, ""},
		{wire.Say{Round: 1, What: wire.SayReady}, ""},
		{wire.Say{Round: 1, What: wire.SayWait}, ""},
		{wire.Say{Round: 1, What: wire.SayReady}, ""},
	} {
		n.says("ann", tt.say)
		answer := ""
		for _, m := range n.sent["ann"] {
			if a, is := m.(wire.Answer); is {
				answer = a.Message
			}
		}
		n.took("ann")
		if answer != tt.answer {
			t.Errorf("%+v is answered %q, want %q", tt.say, answer, tt.answer)
		}
	}
	n.isReady("zoe", true) // a veto makes it another choice
	n.isReady("yan", true)
	n.wait(countdownTime + time.Second)
	n.goesTo(3)
	n.says("ann", wire.Say{Round: 1, What: wire.SayWait})
	if got := n.took("ann"); !strings.HasSuffix(got, "launch answer") {
		t.Errorf("after the launch ann is sent %q", got)
	}
}

// TestBallot: people vote on three to five servers, if so many suit them, and a vote
// outlives somebody's veto of another server.
func TestBallot(t *testing.T) {
	s := settings(1)
	s.Agree, s.GuestsVote = wire.Yes, true
	n := newSession(t, s)
	n.join("ann")
	n.listed(9)
	n.informs("ann", 12, 12, 12, 12, 12, 12, 12, 12, 12)
	n.measures("ann", 10, 20, 30, 40, 50, 60, 70, 80, 90)
	n.done("ann")
	n.verifies("ann", 0, 1, 2, 3)
	n.noted("everyone looks at 4 servers more, for a vote")
	n.verifies("ann")
	ballot := func(want ...int) {
		t.Helper()
		var addrs []string
		for _, server := range want {
			addrs = append(addrs, addrOf(server).String())
		}
		if v := n.view().Voting; !v.Open || !slices.Equal(v.Ballot, addrs) || v.Rule != wire.MostVotes {
			t.Errorf("people vote on %+v, want %v; the log:\n%s", v, addrs, n.log())
		}
	}
	ballot(4, 5, 6, 7, 8)
	n.enters("zoe", "")
	n.votes("zoe", 6)
	n.step(room.Order{Credential: n.pageOf("ann"), Action: room.Veto{Addr: addrOf(4)}})
	ballot(5, 6, 7, 8)
	if n.leads() != addrOf(6).String() {
		t.Errorf("with a veto of another server zoe's vote is gone: %+v", n.person("zoe"))
	}
	n.vetoes("zoe", selection.Veto{Server: addrOf(6)})
	ballot(5, 7, 8)
	if n.leads() != addrOf(5).String() {
		t.Errorf("the vote for what was vetoed counts: %+v", n.person("zoe"))
	}
}

func TestVetoes(t *testing.T) {
	n := inVoting(t)
	if err := n.vetoes("zoe", selection.Veto{Map: "oa_dm1"}); err == nil {
		t.Error("a veto of the only map leaves nothing, and is taken")
	}
	if err := n.vetoes("zoe", selection.Veto{}); err == nil {
		t.Error("a veto of nothing is taken")
	}
	if err := n.vetoes("zoe", selection.Veto{Server: addrOf(0)}); err != nil {
		t.Errorf("a veto is refused: %v", err)
	}
	if err := n.vetoes("zoe", selection.Veto{Server: addrOf(1)}); err == nil {
		t.Error("a second veto is taken")
	}
	if err := n.votes("yan", 0); err == nil {
		t.Error("a vote for what was vetoed is taken")
	}
	if err := n.votes("yan", 5); err == nil {
		t.Error("a vote for a server that had no second look is taken")
	}
	n.goes()
	n.wait(countdownTime + time.Second)
	n.goesTo(1)
	n.goes()
	if n.person("zoe").Vetoed || len(n.view().Voting.Vetoes) > 0 {
		t.Error("the veto counts in the next round, too")
	}
}

// TestVetoesOfOneWhoComesAgain: a guest who leaves takes the veto along, and has no other by
// coming again under another name.
func TestVetoesOfOneWhoComesAgain(t *testing.T) {
	n := inVoting(t)
	if err := n.vetoes("zoe", selection.Veto{Server: addrOf(0)}); err != nil {
		t.Fatal(err)
	}
	if err := n.page("zoe", room.Rename{Name: "zora"}); err != nil {
		t.Fatal(err)
	}
	for server := range 5 {
		name := fmt.Sprint("mal", server)
		n.enters(name, "")
		if err := n.vetoes(name, selection.Veto{Server: addrOf(1)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		n.page(name, room.Quit{})
	}
	if got := n.view().Voting.Vetoes; !slices.Equal(got, []string{"zora: server 0 (192.0.2.0:27960)"}) {
		t.Errorf("the vetoes are %+v", got)
	}
	n.page("zoe", room.Quit{})
	if got := n.view().Voting.Vetoes; len(got) != 0 {
		t.Errorf("without zora the vetoes are %+v", got)
	}
}

// TestSuppose: a what-if changes nothing until the organiser applies it.
func TestSuppose(t *testing.T) {
	n := inVoting(t)
	if err := n.page("zoe", room.WhatIf(`{"by":"threshold","limits_ms":[25]}`)); err != nil {
		t.Fatal(err)
	}
	if got := n.view().WhatIf.Selection; got.Chosen == nil || len(got.Ranking) != 1 || n.room.Settings().By != selection.Mean {
		t.Errorf("with 25 ms: %+v, the room's rule %s", got.Ranking, n.room.Settings().By)
	}
	if err := n.page("yan", room.WhatIf(`{"by":"luck"}`)); err == nil || n.view().WhatIf == nil {
		t.Errorf("a what-if that makes no sense takes the last one back: %v", err)
	}
	if err := n.orders(room.Apply{}); err != nil {
		t.Fatal(err)
	}
	n.noted("the rule is now: lowest average, nobody over 25ms")
	if n.view().WhatIf != nil || n.room.Settings().By != selection.Threshold || len(n.choice().Ranking) != 1 {
		t.Errorf("applied, the room has %+v by %s", n.view().WhatIf, n.room.Settings().By)
	}
	if err := n.orders(room.Apply{}); err == nil {
		t.Error("nothing can be applied twice")
	}
}

// TestApplyAfterLaunch: another choice calls everyone back.
func TestApplyAfterLaunch(t *testing.T) {
	n := inVoting(t)
	n.goes()
	n.wait(countdownTime + time.Second)
	n.goesTo(0)
	n.page("zoe", room.WhatIf(`{"by":"fairness"}`))
	if err := n.orders(room.Apply{}); err != nil {
		t.Fatal(err)
	}
	n.inStage(wire.Chosen)
}

func TestRemoved(t *testing.T) {
	n := newSession(t, settings(2))
	n.join("ann", "bob")
	n.listed(2)
	n.informs("ann", 12, 12)
	n.measures("ann", 10, 20)
	n.measures("bob", 20, 30)
	n.done("ann", "bob")
	n.verifies("ann")
	if err := n.orders(room.Remove{Name: "bob"}); err != nil {
		t.Fatal(err)
	}
	n.goesTo(0)
	if !slices.Equal(n.dismissed, []string{"bob"}) {
		t.Errorf("%v are sent away", n.dismissed)
	}
}

// TestGuests: a nickname is kept for a while, an organiser's for good.
func TestGuests(t *testing.T) {
	n := newSession(t, settings(3))
	for name, secret := range map[string]string{"zoe": "", "yan": "secret"} {
		if err := n.enters(name, secret); err != nil {
			t.Fatal(err)
		}
	}
	n.now = n.now.Add(guestStays + time.Second)
	n.step(room.Tick{})
	if n.hasGuest("zoe") || !n.hasGuest("yan") {
		t.Errorf("the guests are %+v", n.guests())
	}
	n.join("ann")
	if n.person("ann").Organiser {
		t.Error("the first player is the organiser, though there is one")
	}
}

// TestLocked: only those who were there can come back to a locked room. Names are no keys to it.
func TestLocked(t *testing.T) {
	n := inVoting(t)
	n.orders(room.Lock{Locked: true})
	if refusal := n.tryJoin("zoe", ""); refusal == nil || refusal.Reason != wire.ReasonLocked {
		t.Errorf("a player comes in by the name of a page: %v", refusal)
	}
	var refusal *wire.Refusal
	if err := n.enters("ann", ""); !errors.As(err, &refusal) || refusal.Reason != wire.ReasonLocked {
		t.Errorf("a page comes in by the name of a player: %v", err)
	}
	n.gone("ann")
	if refusal := n.tryJoin("ann", n.tokens["ann"]); refusal != nil {
		t.Errorf("ann cannot come back: %v", refusal)
	}
	if err := n.enters("anna", n.room.Keys().Secret); err != nil {
		t.Errorf("the organiser cannot open the page: %v", err)
	}
}

// TestWhatDecided: the reasons say what decided, and stay true as people vote: the server
// that they go to is the one that the headline speaks of.
func TestWhatDecided(t *testing.T) {
	const rule, vote = "server 0 (192.0.2.0:27960) has the lowest average: 15.0 ms; bob is worst off with 20.0 ms.",
		"By the rule it would be server 0 (192.0.2.0:27960): 15.0 ms, not 35.0 ms, on average."
	tests := []struct {
		name  string
		say   func(*session)
		by    selection.Decision
		lines []string
	}{
		{"nobody has voted", func(*session) {}, selection.ByRule, []string{rule}},
		{"the votes are for another", func(n *session) { n.votes("zoe", 2) }, selection.ByVote, []string{"server 2 (192.0.2.2:27960) leads the vote, with the only vote: 35.0 ms on average; bob is worst off with 40.0 ms.", vote}},
		{"a draw goes to the rule's", func(n *session) { n.votes("zoe", 2); n.votes("yan", 0) }, selection.ByVote, []string{"server 0 (192.0.2.0:27960) leads the vote, with 1 of 2 votes: 15.0 ms on average; bob is worst off with 20.0 ms."}},
		{"a vote taken back", func(n *session) { n.votes("zoe", 2); n.page("zoe", room.Vote{}) }, selection.ByRule, []string{rule}},
		{"they go there", func(n *session) { n.votes("zoe", 2); n.goes(); n.wait(countdownTime + time.Second) }, selection.ByVote, []string{"server 2 (192.0.2.2:27960) was chosen by vote, with the only vote: 35.0 ms on average; bob is worst off with 40.0 ms.", vote}},
		{"they go where the rule says", func(n *session) { n.goes(); n.wait(countdownTime + time.Second) }, selection.ByRule, []string{rule}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := inVoting(t)
			tt.say(n)
			choice := n.view().Choice
			if choice.Decided.By != tt.by || len(choice.Explain) < len(tt.lines) || !slices.Equal(choice.Explain[:len(tt.lines)], tt.lines) {
				t.Errorf("decided %+v, for\n%s", choice.Decided, strings.Join(choice.Explain, "\n"))
			}
			if !strings.Contains(choice.Explain[0], choice.Target) {
				t.Errorf("people go to %s, and are told %s", choice.Target, choice.Explain[0])
			}
			if outlook := n.view().Room.Outlook; strings.Contains(outlook, "best so far") {
				t.Errorf("the choice stands, and the room says: %s", outlook)
			}
		})
	}
}

// TestOneSayANetwork: the guests of one network have one say, however many pages one of
// them opens, and nobody waits for the others.
func TestOneSayANetwork(t *testing.T) {
	for _, tt := range []struct {
		name string
		from netip.Addr
	}{
		{"an address", netip.MustParseAddr("198.51.100.77")},
		{"no address", netip.Addr{}},
	} {
		n := inVoting(t)
		for _, name := range []string{"mia", "max"} {
			if err := n.entersFrom(name, "", tt.from); err != nil {
				t.Fatal(err)
			}
			n.step(room.PageOpened{Token: name + "'s token"})
		}
		if err := n.votes("max", 2); err != nil {
			t.Fatalf("%s: the first guest's vote: %v", tt.name, err)
		}
		for _, err := range []error{n.votes("mia", 2), n.vetoes("mia", selection.Veto{Server: addrOf(1)}), n.isReady("mia", true)} {
			if err == nil || !strings.Contains(err.Error(), "somebody on your network has voted already") {
				t.Errorf("%s: a second guest speaks: %v", tt.name, err)
			}
		}
		if err := n.votes("max", 1); err != nil {
			t.Errorf("%s: the first guest thinks better of it: %v", tt.name, err)
		}
		if err := n.votes("zoe", 2); err != nil {
			t.Errorf("%s: a guest elsewhere votes: %v", tt.name, err)
		}
		if !n.person("mia").NoSay || n.person("max").NoSay || n.person("zoe").NoSay {
			t.Errorf("%s: the page shows others without a say", tt.name)
		}
		n.isReady("max", true)
		n.isReady("zoe", true)
		n.isReady("yan", true)
		if !n.isCounting() {
			t.Errorf("%s: the room waits for a guest who has no say", tt.name)
		}
		n.page("max", room.Quit{})
		if err := n.votes("mia", 2); err != nil {
			t.Errorf("%s: the first guest has left, and the second says: %v", tt.name, err)
		}
	}
}

// TestNumbersStay: a candidate keeps its number when another is vetoed, for whoever reads
// the ballot late, and when the host starts again; a new one gets the next.
func TestNumbersStay(t *testing.T) {
	n := inVoting(t)
	shown := func(r *room.Room) string {
		v := r.Snapshot().Voting
		text := ""
		for i, a := range v.Ballot {
			text += fmt.Sprintf("%d:%s ", v.Number(i), strings.TrimSuffix(strings.TrimPrefix(a, "192.0.2."), ":27960"))
		}
		return text
	}
	if got := shown(n.room); got != "1:0 2:1 3:2 4:3 5:4 " {
		t.Fatalf("the ballot is %s", got)
	}
	n.vetoes("zoe", selection.Veto{Server: addrOf(1)})
	n.lookAgain()
	const want = "1:0 3:2 4:3 5:4 "
	if got := shown(n.room); got != want {
		t.Errorf("after a veto the ballot is %s, want %s", got, want)
	}
	n.votes("zoe", 3)
	n.votes("yan", 2)
	if favourite := n.leads(); favourite != addrOf(2).String() {
		t.Errorf("of two with a vote each server %s leads, want the lower number", favourite)
	}
	data, err := n.room.Save()
	if err != nil {
		t.Fatal(err)
	}
	back, err := room.Restore(data, topology.New)
	if err != nil {
		t.Fatal(err)
	}
	if got := shown(back); got != want {
		t.Errorf("after a restart the ballot is %s, want %s", got, want)
	}
}
