package host

import (
	"net/netip"
	"testing"
	"time"

	"muster/host/wire"
	"muster/selection"
)

// agreeing is a room whose people agree on one of six servers; ann and bob
// play, zoe and yan have the page. By the mean, server 0 is the best, then 1 …
func agreeing(t *testing.T) *night {
	t.Helper()
	n := newNight(t, settings(2))
	n.room.Settings.Agree = true
	for _, name := range []string{"zoe", "yan"} {
		g, refusal := n.room.Enter(name, "", name+"'s token", n.now)
		if refusal != nil {
			t.Fatal(refusal)
		}
		n.room.pageOpened(g.Token, n.now)
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
	if n.room.Agreement == nil {
		t.Fatalf("nobody is asked; the log:\n%s", n.log())
	}
	return n
}

func (n *night) votes(name string, server int) error {
	return n.room.Vote(n.room.guest(name), addr(server), n.now)
}

func (n *night) vetoes(name string, veto selection.Veto) error {
	effects, err := n.room.Veto(n.room.guest(name), veto, n.now)
	n.perform(effects)
	return err
}

func (n *night) isReady(name string, ready bool) { n.room.Ready(n.room.guest(name), ready, n.now) }

func TestAgreeing(t *testing.T) {
	tests := []struct {
		name string
		say  func(*night)
		to   int // where everyone goes; -1: nowhere
		note string
	}{
		{"nobody says anything", func(*night) {}, -1, "server 0 (192.0.2.0:27960) is ahead: vote, veto, and say on the page when you are ready"},
		{"one is ready", func(n *night) { n.isReady("zoe", true) }, -1, "server 0 (192.0.2.0:27960) is ahead: vote, veto, and say on the page when you are ready"},
		{"all are", func(n *night) { n.isReady("zoe", true); n.isReady("yan", true) }, 0, "everyone is ready: the launch is in 5s"},
		{"the page of one is closed", func(n *night) { n.room.pageClosed("yan's token", n.now); n.isReady("zoe", true) }, 0, "everyone is ready: the launch is in 5s"},
		{"the organiser does not wait", func(n *night) { n.goes() }, 0, "the organiser says go: the launch is in 5s"},
		{"one is not, after all", func(n *night) {
			n.isReady("zoe", true)
			n.isReady("yan", true)
			n.wait(4 * time.Second)
			n.isReady("yan", false)
		}, -1, "the countdown is stopped"},
		{"a vote", func(n *night) { n.votes("zoe", 2); n.goes() }, 2, "the votes are for server 2 (192.0.2.2:27960)"},
		{"a draw goes to the better", func(n *night) { n.votes("zoe", 2); n.votes("yan", 1); n.goes() }, 1, "the votes are for server 1 (192.0.2.1:27960)"},
		{"a vote taken back", func(n *night) {
			n.votes("zoe", 2)
			n.room.Vote(n.room.guest("zoe"), netip.AddrPort{}, n.now)
			n.goes()
		}, 0, "the votes are for server 0 (192.0.2.0:27960)"},
		{"a veto", func(n *night) { n.vetoes("zoe", selection.Veto{Server: addr(0)}); n.goes() }, 1, "zoe vetoes server 0 (192.0.2.0:27960)"},
		{"a vote during the countdown", func(n *night) { n.goes(); n.votes("zoe", 3) }, -1, "the countdown is stopped"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := agreeing(t)
			tt.say(n)
			n.noted(tt.note)
			n.wait(countdown + time.Second)
			if tt.to < 0 {
				n.inStage(wire.Chosen)
				return
			}
			n.goesTo(tt.to)
			if len(n.room.Evening) != 1 || n.room.Evening[0].Connect != addr(tt.to).String() {
				t.Errorf("the evening is %+v", n.room.Evening)
			}
		})
	}
}

func TestVetoes(t *testing.T) {
	n := agreeing(t)
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
	n.wait(countdown + time.Second)
	n.goesTo(1)
	n.goes()
	if g := n.room.guest("zoe"); g.Vetoed || len(n.room.Vetoes) > 0 {
		t.Error("the veto counts in the next round, too")
	}
}

// TestSuppose: a what-if changes nothing until the organiser applies it.
func TestSuppose(t *testing.T) {
	n := agreeing(t)
	if err := n.room.Suppose("zoe", selection.Threshold, []time.Duration{25 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if got := n.room.WhatIf.Selection; got.Chosen == nil || len(got.Ranking) != 1 || n.room.Settings.By != selection.Mean {
		t.Errorf("with 25 ms: %+v, the room's rule %s", got.Ranking, n.room.Settings.By)
	}
	effects, err := n.room.Apply(n.now)
	if err != nil {
		t.Fatal(err)
	}
	n.perform(effects)
	n.noted("the rule is now threshold with nobody over 25ms")
	if n.room.WhatIf != nil || n.room.Settings.By != selection.Threshold || len(n.room.Selection.Ranking) != 1 {
		t.Errorf("applied, the room has %+v by %s", n.room.WhatIf, n.room.Settings.By)
	}
	if _, err := n.room.Apply(n.now); err == nil {
		t.Error("nothing can be applied twice")
	}
}

// TestApplyAfterLaunch: another choice calls everyone back.
func TestApplyAfterLaunch(t *testing.T) {
	n := agreeing(t)
	n.goes()
	n.wait(countdown + time.Second)
	n.goesTo(0)
	n.room.Suppose("zoe", selection.Fairness, nil)
	effects, err := n.room.Apply(n.now)
	if err != nil {
		t.Fatal(err)
	}
	n.perform(effects)
	n.inStage(wire.Chosen)
	if n.room.Launch != nil {
		t.Error("everyone is still sent to the server of before")
	}
}

func TestRemoved(t *testing.T) {
	n := newNight(t, settings(2))
	n.join("ann", "bob")
	n.listed(2)
	n.informs("ann", 12, 12)
	n.measures("ann", 10, 20)
	n.measures("bob", 20, 30)
	n.done("ann", "bob")
	n.verifies("ann")
	effects, err := n.room.Remove("bob", n.now)
	if err != nil {
		t.Fatal(err)
	}
	n.perform(effects)
	n.goesTo(0)
	if dismissed, ok := effects[0].(dismiss); !ok || dismissed.name != "bob" {
		t.Errorf("%+v is done to bob", effects)
	}
}

// TestGuests: a nickname is kept for a while, an organiser's for good.
func TestGuests(t *testing.T) {
	n := newNight(t, settings(3))
	for name, secret := range map[string]string{"zoe": "", "yan": "secret"} {
		if _, refusal := n.room.Enter(name, secret, name, n.now); refusal != nil {
			t.Fatal(refusal)
		}
	}
	n.now = n.now.Add(guestGone + time.Second)
	n.perform(n.room.Tick(n.now))
	if n.room.guest("zoe") != nil || n.room.guest("yan") == nil {
		t.Errorf("the guests are %+v", n.room.Guests)
	}
	n.join("ann")
	if n.room.member("ann").Organiser {
		t.Error("the first player is the organiser, though there is one")
	}
}

// TestLocked: in a locked room are those who were there. Names are no keys to it.
func TestLocked(t *testing.T) {
	n := agreeing(t)
	n.room.Lock(true, n.now)
	if refusal := n.tryJoin("zoe", ""); refusal == nil || refusal.Reason != wire.ReasonLocked {
		t.Errorf("a player comes in by the name of a page: %v", refusal)
	}
	if _, refusal := n.room.Enter("ann", "", "a token", n.now); refusal == nil || refusal.Reason != wire.ReasonLocked {
		t.Errorf("a page comes in by the name of a player: %v", refusal)
	}
	n.gone("ann")
	if refusal := n.tryJoin("ann", n.tokens["ann"]); refusal != nil {
		t.Errorf("ann cannot come back: %v", refusal)
	}
	if _, refusal := n.room.Enter("ann", n.room.Secret, "a token", n.now); refusal != nil {
		t.Errorf("the organiser cannot open the page: %v", refusal)
	}
}
