package room

import (
	"errors"
	"slices"
	"testing"
	"time"

	"muster/host/wire"
	"muster/selection"
)

// inVoting is a room whose people agree on one of six servers; ann and bob
// play, zoe and yan have the page. By the mean, server 0 is the best, then 1 …
func inVoting(t *testing.T) *session {
	t.Helper()
	n := newSession(t, settings(2))
	n.room.settings.Agree, n.room.settings.GuestsVote = true, true
	for _, name := range []string{"zoe", "yan"} {
		if err := n.enters(name, ""); err != nil {
			t.Fatal(err)
		}
		n.step(PageOpened{name + "'s token"})
	}
	n.join("ann", "bob")
	n.listed(6)
	n.informs("ann", 12, 12, 12, 12, 12, 12)
	n.measures("ann", 10, 20, 30, 40, 50, 60)
	n.measures("bob", 20, 30, 40, 50, 60, 70)
	n.done("ann", "bob")
	n.verifies("ann")
	n.verifies("bob")
	n.inStage(wire.Chosen)
	if !n.room.isVoting() {
		t.Fatalf("nobody is asked; the log:\n%s", n.log())
	}
	return n
}

func (n *session) votes(name string, server int) error {
	return n.page(name, Vote{addr(server)})
}

func (n *session) vetoes(name string, veto selection.Veto) error {
	return n.page(name, Veto{veto.Server, veto.Map})
}

func (n *session) isReady(name string, ready bool) { n.page(name, Ready{ready}) }

// enters gives somebody with the page a nickname.
func (n *session) enters(name, secret string) error {
	return n.step(Order{Credential: secret, Action: Enter{Name: name, Token: name + "'s token"}})
}

func TestAgreeing(t *testing.T) {
	tests := []struct {
		name string
		say  func(*session)
		to   int // where everyone goes; -1: nowhere
		note string
	}{
		{"nobody says anything", func(*session) {}, -1, "server 0 (192.0.2.0:27960) is ahead: vote, veto, and say on the page when you are ready"},
		{"one is ready", func(n *session) { n.isReady("zoe", true) }, -1, "server 0 (192.0.2.0:27960) is ahead: vote, veto, and say on the page when you are ready"},
		{"all are", func(n *session) { n.isReady("zoe", true); n.isReady("yan", true) }, 0, "everyone is ready: the launch is in 5s"},
		{"the page of one is closed", func(n *session) { n.step(PageClosed{"yan's token"}); n.isReady("zoe", true) }, 0, "everyone is ready: the launch is in 5s"},
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
			n.page("zoe", Vote{})
			n.goes()
		}, 0, "the votes are for server 0 (192.0.2.0:27960)"},
		{"a veto", func(n *session) { n.vetoes("zoe", selection.Veto{Server: addr(0)}); n.goes() }, 1, "zoe vetoes server 0 (192.0.2.0:27960)"},
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
			if len(n.room.history) != 1 || n.room.history[0].Connect != addr(tt.to).String() {
				t.Errorf("the evening is %+v", n.room.history)
			}
		})
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
	if err := n.vetoes("zoe", selection.Veto{Server: addr(0)}); err != nil {
		t.Errorf("a veto is refused: %v", err)
	}
	if err := n.vetoes("zoe", selection.Veto{Server: addr(1)}); err == nil {
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
	if n.room.round.ballots["zoe"].vetoed || len(n.room.round.vetoes) > 0 {
		t.Error("the veto counts in the next round, too")
	}
}

// TestSuppose: a what-if changes nothing until the organiser applies it.
func TestSuppose(t *testing.T) {
	n := inVoting(t)
	if err := n.page("zoe", WhatIf(`{"by":"threshold","limits_ms":[25]}`)); err != nil {
		t.Fatal(err)
	}
	if got := n.room.round.whatIf.Selection; got.Chosen == nil || len(got.Ranking) != 1 || n.room.settings.By != selection.Mean {
		t.Errorf("with 25 ms: %+v, the room's rule %s", got.Ranking, n.room.settings.By)
	}
	if err := n.page("yan", WhatIf(`{"by":"luck"}`)); err == nil || n.room.round.whatIf == nil {
		t.Errorf("a what-if that makes no sense takes the last one back: %v", err)
	}
	if err := n.orders(Apply{}); err != nil {
		t.Fatal(err)
	}
	n.noted("the rule is now: lowest average, nobody over 25ms")
	if n.room.round.whatIf != nil || n.room.settings.By != selection.Threshold || len(n.room.round.selection.Ranking) != 1 {
		t.Errorf("applied, the room has %+v by %s", n.room.round.whatIf, n.room.settings.By)
	}
	if err := n.orders(Apply{}); err == nil {
		t.Error("nothing can be applied twice")
	}
}

// TestApplyAfterLaunch: another choice calls everyone back.
func TestApplyAfterLaunch(t *testing.T) {
	n := inVoting(t)
	n.goes()
	n.wait(countdownTime + time.Second)
	n.goesTo(0)
	n.page("zoe", WhatIf(`{"by":"fairness"}`))
	if err := n.orders(Apply{}); err != nil {
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
	if err := n.orders(Remove{"bob"}); err != nil {
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
	n.now = n.now.Add(guestGone + time.Second)
	n.step(Tick{})
	if n.room.guests.named("zoe") != nil || n.room.guests.named("yan") == nil {
		t.Errorf("the guests are %+v", n.room.guests)
	}
	n.join("ann")
	if n.room.round.player("ann").organiser {
		t.Error("the first player is the organiser, though there is one")
	}
}

// TestLocked: in a locked room are those who were there. Names are no keys to it.
func TestLocked(t *testing.T) {
	n := inVoting(t)
	n.orders(Lock{true})
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
	if err := n.enters("anna", n.room.keys.Secret); err != nil {
		t.Errorf("the organiser cannot open the page: %v", err)
	}
}
