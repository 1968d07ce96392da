package room

import (
	"cmp"
	"encoding/json"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/ballot"
	"muster/host/wire"
	"muster/selection"
)

// Order is a page's order to the room. The error of its Step is a [*wire.Refusal], or says why the
// room cannot obey.
type Order struct {
	// Credential is the credential of a person's pages, the organiser's secret, or empty.
	Credential string
	Action     Action
}

// Action is the action that somebody orders.
type Action interface {
	do(r *Room, by caller) error
}

// steering is an action that only the organiser may order.
type steering interface{ steers() }

// voting is an action of people who have a say in the choice, while they vote.
type voting interface{ votes() }

// passing is an action that need not be saved.
type passing interface{ passes() }

func (WhatIf) passes() {}
func (React) passes()  {}

func (Vote) votes()  {}
func (Veto) votes()  {}
func (Ready) votes() {}

// The actions of people. Pages post their JSON forms.
type (
	// WhatIf ranks the measurements by other settings. It is a patch of the settings. A patch
	// without a rule ends the what-if.
	WhatIf json.RawMessage
	// Vote is a vote for a candidate; no address takes it back.
	Vote struct {
		Addr hostport.AddrPort `json:"addr"`
	}
	// Veto keeps a server or a map out of the choice.
	Veto struct {
		Addr hostport.AddrPort `json:"addr"`
		Map  string            `json:"map"`
	}
	// Ready says that a person is ready, or is not.
	Ready struct {
		Ready bool `json:"ready"`
	}
	// React shows everybody one of the signs of package reactions, and is not saved.
	React struct {
		Sign string `json:"sign"`
	}
	// Arrived says that a guest joined the game server by hand.
	Arrived struct{}
	// Somewhere hides a person's country from the others, or shows it again.
	Somewhere struct {
		Somewhere bool `json:"somewhere"`
	}
)

func (o Order) step(r *Room) error {
	by := r.facts.Caller(o.Credential)
	if _, steers := o.Action.(steering); steers && !by.IsOrganiser {
		return errOrganiserOnly
	}
	if _, votes := o.Action.(voting); votes {
		if r.parts.Settings.IsMatch() {
			return errCaptainsDecide
		}
		if err := r.facts.Refusal(by, r.phase.traits().isChosen()); err != nil {
			return err
		}
		if !r.phase.traits().isVoting {
			return errNoVote
		}
	}
	if err := r.refuseFoul(o.Action, by); err != nil {
		return err
	}
	err := o.Action.do(r, by)
	if _, passes := o.Action.(passing); err == nil && !passes {
		r.out.mustSave = true // no crash may undo what people have been told
	}
	return err
}

func (a WhatIf) do(r *Room, by caller) error {
	if !by.IsSomebody() && !by.IsOrganiser {
		return errNickname
	}
	if err := r.facts.Refusal(by, r.phase.traits().isChosen()); err != nil && !by.IsOrganiser {
		return err
	}
	var given struct{ By string }
	json.Unmarshal(a, &given) // the patch is checked below
	if given.By == "" {
		r.parts.Choice.ClearWhatIf()
		return nil
	}
	s, err := r.parts.Settings.Patched(a, wire.Supposed)
	switch {
	case err != nil:
		return err
	case r.parts.Settings.IsMatch(): // each try would reveal more of the others' pings
		return wire.Refuse(wire.ReasonAction, "refused.match-whatif")
	case r.parts.Choice.Newest() == nil:
		return errNothingMeasured
	}
	r.parts.Choice.Suppose(cmp.Or(by.ID, r.facts.Organiser()), json.RawMessage(a), r.decision.WhatIfBasis(r.facts, s))
	return nil
}

func (a Vote) do(r *Room, by caller) error {
	g, options := &r.parts, r.decision.Options(r.facts)
	turned, err := g.Ballot.Vote(by.ID, a.Addr.AddrPort, options)
	if turned {
		r.out.say(sentence.Of("room.votes-for", "server", g.Servers.Called(g.Ballot.Favourite(options))))
		r.phase.mindChanged(r)
	}
	return err
}

func (a Veto) do(r *Room, by caller) error {
	veto := selection.Veto{Player: string(by.ID), Server: a.Addr.AddrPort, Map: discovery.CleanText(a.Map)}
	note, other, err := r.decision.Veto(r.facts, veto)
	if err != nil {
		return err
	}
	r.out.say(note)
	r.rechoose(other)
	return nil
}

// do begins the countdown once everyone whose word is awaited is ready.
func (a Ready) do(r *Room, by caller) error {
	if !a.Ready {
		r.parts.Ballot.Withdraw(by.ID, ballot.Ready)
		r.phase.mindChanged(r)
		return nil
	}
	r.parts.Ballot.Ready(by.ID)
	r.countDownIfReady()
	return nil
}

func (a Somewhere) do(r *Room, by caller) error {
	return r.parts.Roster.Hide(by, a.Somewhere)
}

func (a React) do(r *Room, by caller) error {
	if !by.IsSomebody() {
		return errNickname
	}
	return r.parts.Reactions.React(by.ID, a.Sign, r.clocks())
}

// Has states the caller's version of the room's game. It counts from the next decision on.
type Has struct {
	// Version is the version, or empty to take the last word back.
	Version string `json:"version"`
	// Editions is that version for each game that the host knows better; see [wire.Hello].
	Editions map[string]discovery.Edition `json:"-"`
}

func (a Has) do(r *Room, by caller) error {
	if !by.IsPlayer {
		return ballot.ErrGuest
	}
	if a.Version = discovery.CleanText(a.Version); a.Editions == nil {
		a.Editions = map[string]discovery.Edition{"": {Version: a.Version}}
	}
	r.parts.Editions.Say(by.ID, r.parts.Settings.Game, a.Editions)
	r.probing.EndMainSearch() // the search looked for servers of other versions
	return nil
}

func (Arrived) do(r *Room, by caller) error {
	if !by.IsSomebody() {
		return errNickname
	}
	if !r.phase.traits().isSent {
		return errNoVote
	}
	r.parts.Ballot.ByHand(by.ID)
	return nil
}
