package room

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
)

// Order is what a page asks for. The error of its Step is a [*wire.Refusal], or
// says why it cannot be.
type Order struct {
	// Credential is a guest's token or the organiser's secret, or nothing.
	Credential string
	Action     Action
}

// Action is what an order wants done.
type Action interface {
	// organisers reports whether only the organiser may order this.
	organisers() bool
	do(r *Room, by caller) error
}

// caller is who gives an order: a guest, the holder of the secret, or nobody.
type caller struct {
	*guest
	organiser bool
}

// The actions of guests, whose JSON forms are what pages post.
type (
	// Enter gives a page a nickname; with one, the organiser's secret makes the
	// guest the organiser. Its answer has the name and the token.
	Enter struct {
		Name   string `json:"name"`
		Secret string `json:"secret"`
		// Token is for a new guest.
		Token string `json:"-"`
	}
	// WhatIf ranks what was measured by other settings, a patch; without a rule it
	// takes the last one back.
	WhatIf json.RawMessage
	// Vote is for one of the first few; none takes it back.
	Vote struct {
		Addr netip.AddrPort `json:"addr"`
	}
	// Veto is of a server or a map.
	Veto struct {
		Addr netip.AddrPort `json:"addr"`
		Map  string         `json:"map"`
	}
	// Ready says that a guest is ready, or is not.
	Ready struct {
		Ready bool `json:"ready"`
	}
	// Arrived says that a guest joined the game server by hand.
	Arrived struct{}
)

// The actions of the organiser.
type (
	// Go is [Proceed], meant for a stage: two people press at once, or one twice.
	Go struct {
		Stage wire.Stage `json:"stage"`
	}
	// Apply makes the what-if's settings the room's, and chooses by them.
	Apply struct{}
	// Change is for the settings that the patch names: all or none of them. They
	// count from the next decision on, the game only from the next list on.
	Change struct {
		Settings json.RawMessage `json:"settings"`
		// Games are those that the host has servers of.
		Games []string `json:"-"`
	}
	// HandOn makes someone else the organiser. The secret of before opens nothing
	// any more.
	HandOn struct {
		Name string `json:"name"`
		// Secret is the new one.
		Secret string `json:"-"`
	}
	// Remove sends a person away. A locked room is closed to them for good.
	Remove struct {
		Name string `json:"name"`
	}
	// Trust is the organiser's word that a player's numbers are true: they count from
	// now on, in this round too if a server is left that suits the player.
	Trust struct {
		Name string `json:"name"`
	}
	// Lock closes the room to new people, or opens it again. A name does not open
	// it: whoever was removed could come back under a friend's, who has the page but
	// no player in the room, or the other way round.
	Lock struct {
		Locked bool `json:"locked"`
	}
)

func (Enter) organisers() bool   { return false }
func (WhatIf) organisers() bool  { return false }
func (Vote) organisers() bool    { return false }
func (Veto) organisers() bool    { return false }
func (Ready) organisers() bool   { return false }
func (Arrived) organisers() bool { return false }
func (Go) organisers() bool      { return true }
func (Apply) organisers() bool   { return true }
func (Change) organisers() bool  { return true }
func (HandOn) organisers() bool  { return true }
func (Remove) organisers() bool  { return true }
func (Trust) organisers() bool   { return true }
func (Lock) organisers() bool    { return true }

var (
	errOrganiserOnly = &wire.Refusal{Reason: wire.ReasonSecret, Message: "only the organiser can do this"}
	errNickname      = &wire.Refusal{Reason: wire.ReasonName, Message: "choose a nickname first"}
)

func (o Order) step(r *Room) error {
	g := r.guests.with(o.Credential)
	by := caller{g, sameToken(r.secret, o.Credential) || g != nil && g.organiser}
	if o.Action.organisers() && !by.organiser {
		return errOrganiserOnly
	}
	return o.Action.do(r, by)
}

// do gives someone with the page a nickname. Who shows the organiser's secret is
// the organiser from then on.
func (a Enter) do(r *Room, by caller) error {
	name := playerName(a.Name)
	switch {
	case by.guest != nil:
		if sameToken(r.secret, a.Secret) {
			r.appoint(by.name)
		}
		r.do(Answer{map[string]string{"name": by.name, "token": by.token}})
		return nil
	case name == "":
		return &wire.Refusal{Reason: wire.ReasonName, Message: "a nickname is missing"}
	case r.guests.named(name) != nil:
		return &wire.Refusal{Reason: wire.ReasonNameTaken, Message: fmt.Sprintf("%s has the page open already", name), Hint: "choose another nickname"}
	case r.locked && !by.organiser:
		return lockedOut()
	case len(r.guests) >= maxGuests:
		return &wire.Refusal{Reason: wire.ReasonFull, Message: "the room is full"}
	}
	r.guests = append(r.guests, &guest{name: name, token: a.Token, seen: r.now})
	r.binds = true
	if by.organiser {
		r.appoint(name)
	}
	r.note("%s has the page open", name)
	r.do(Answer{map[string]string{"name": name, "token": a.Token}})
	return nil
}

func (a WhatIf) do(r *Room, by caller) error {
	name := "the organiser"
	switch {
	case by.guest != nil:
		name = by.name
	case !by.organiser:
		return errNickname
	}
	var given struct{ By string }
	json.Unmarshal(a, &given) // a patch that is none is told so below
	if r.round.whatIf = nil; given.By == "" {
		return nil
	}
	s, err := r.settings.Patched(a, wire.Supposed)
	switch {
	case err != nil:
		return err
	case r.round.selection == nil:
		return errNothingMeasured
	}
	group := r.round.chosenFor()
	criteria := r.criteria(s, group)
	criteria.Reasons = -1
	r.round.whatIf = &whatIf{name, json.RawMessage(a), selection.Select(r.round.servers, r.round.table(group), criteria)}
	return nil
}

func (a Vote) do(r *Room, by caller) error {
	server, some := r.round.indexOf(a.Addr), a.Addr.IsValid()
	isServer := func(ranked selection.Ranked) bool { return ranked.Server == server }
	switch {
	case by.guest == nil:
		return errNickname
	case !r.isVoting():
		return errNoVote
	case some && !slices.ContainsFunc(r.round.candidates(), isServer):
		return fmt.Errorf("only the first %d can be voted for", finalists)
	}
	before := r.round.favourite().Server
	r.round.say(by.guest, func(b *ballot) { b.voted, b.vote = some, server })
	if after := r.round.favourite(); after.Server != before {
		r.note("the votes are for %s", r.round.serverName(after.Server))
		r.stopCountdown()
	}
	return nil
}

func (a Veto) do(r *Room, by caller) error {
	veto := selection.Veto{Server: a.Addr, Map: discovery.CleanText(a.Map)}
	switch {
	case by.guest == nil:
		return errNickname
	case !r.isVoting():
		return errNoVote
	case r.round.ballots[by.name].vetoed:
		return errors.New("one veto a round")
	case !veto.Server.IsValid() && veto.Map == "":
		return errors.New("a veto is of a server or of a map")
	}
	veto.Player = by.name
	r.round.vetoes = append(r.round.vetoes, veto)
	selected := r.selectFor(r.round.chosenFor())
	if selected.Chosen == nil {
		r.round.vetoes = r.round.vetoes[:len(r.round.vetoes)-1]
		return errors.New("nothing would be left to play on")
	}
	r.round.say(by.guest, func(b *ballot) { b.vetoed = true })
	r.note("%s vetoes %s", by.name, cmp.Or(veto.Map, r.round.vetoedName(veto.Server)))
	r.rechoose(selected)
	return nil
}

// do counts down when all who have the page open are ready; who has only the
// program is asked by it.
func (a Ready) do(r *Room, by caller) error {
	if by.guest == nil {
		return errNickname
	}
	r.round.say(by.guest, func(b *ballot) { b.ready = a.Ready })
	if !a.Ready {
		r.stopCountdown()
		return nil
	}
	isMissing := func(g *guest) bool { return g.pages > 0 && !r.round.ballots[g.name].ready }
	if v, voting := r.phase.(*Voting); voting && !slices.ContainsFunc(r.guests, isMissing) {
		v.countDown(r, "everyone is ready")
	}
	return nil
}

func (Arrived) do(r *Room, by caller) error {
	if by.guest == nil {
		return errNickname
	}
	if _, launching := r.phase.(*Launching); !launching {
		return errNoVote
	}
	r.round.say(by.guest, func(b *ballot) { b.byHand = true })
	return nil
}

func (a Go) do(r *Room, _ caller) error {
	if a.Stage == "" || a.Stage == r.phase.stage() {
		r.phase.proceed(r)
	}
	return nil
}

func (Apply) do(r *Room, _ caller) error {
	if r.round.whatIf == nil || r.round.selection == nil {
		return errNothingMeasured
	}
	s, err := r.settings.Patched(r.round.whatIf.Patch, wire.Supposed)
	if err != nil {
		return err
	}
	r.settings = s
	r.note("the rule is now: %s", r.settings.Rule())
	r.rechoose(r.selectFor(r.round.chosenFor()))
	return nil
}

func (a Change) do(r *Room, _ caller) error {
	if len(a.Settings) == 0 {
		return errors.New("no settings")
	}
	s, err := r.settings.Patched(a.Settings, wire.OnPage)
	between := false // no list is in use
	switch r.phase.(type) {
	case *Gathering, *Launching, *Failed:
		between = true
	}
	switch {
	case err != nil:
		return err
	case s.Game != r.settings.Game && !slices.Contains(a.Games, s.Game):
		return fmt.Errorf("the host has no servers of %q", s.Game)
	case s.Game != r.settings.Game && !between:
		return fmt.Errorf("everyone is on the servers of %s already: change the game after this round", r.settings.Game)
	case s.Players < 0 || s.Players > maxPlayers:
		return fmt.Errorf("a room is for at most %d players", maxPlayers)
	case s.Players > 0 && s.Players < len(r.round.players):
		return fmt.Errorf("%d players are here already", len(r.round.players))
	}
	r.resettle(s)
	return nil
}

// Resettle gives a room other settings, of the same game, as open as before, and
// for no fewer players than are here: a host that was started again with other
// flags.
type Resettle struct{ Settings wire.Settings }

func (in Resettle) step(r *Room) error {
	s := in.Settings
	s.Game, s.Open = r.settings.Game, r.settings.Open
	if s.Players > 0 {
		s.Players = max(s.Players, len(r.round.players))
	}
	r.resettle(s)
	return nil
}

// resettle makes settings the room's.
func (r *Room) resettle(s wire.Settings) {
	r.settings = s
	if _, coordinating := r.phase.(*Coordinating); coordinating {
		r.round.search = nil // it looked for something else
	}
	r.note("the organiser wants %s", s)
}

func (a HandOn) do(r *Room, _ caller) error {
	g := r.guests.named(a.Name)
	if g == nil {
		return fmt.Errorf("%s has no page open to steer the room with", playerName(a.Name))
	}
	r.secret = a.Secret
	r.appoint(g.name)
	r.note("%s is the organiser now", g.name)
	return nil
}

func (a Remove) do(r *Room, _ caller) error {
	p, g := r.round.player(a.Name), r.guests.named(a.Name)
	if p == nil && g == nil {
		return fmt.Errorf("%s is not here", playerName(a.Name))
	}
	if g != nil && g.organiser {
		return fmt.Errorf("%s is the organiser: hand that on first", g.name)
	}
	r.note("the organiser has removed %s", playerName(a.Name))
	r.forgetGuests(func(other *guest) bool { return other == g })
	if p == nil {
		return nil
	}
	r.release(p)
	r.round.players = slices.DeleteFunc(r.round.players, func(other *player) bool { return other == p })
	r.do(Dismiss{p.name, wire.Refusal{Reason: wire.ReasonRemoved, Message: "the organiser has removed you from the room"}})
	r.withoutWaiting(p.name)
	return nil
}

// forgetGuests drops guests, and what they said.
func (r *Room) forgetGuests(which func(*guest) bool) {
	r.guests = slices.DeleteFunc(r.guests, func(g *guest) bool {
		gone := which(g)
		if gone {
			delete(r.round.ballots, g.name)
			r.revision++
		}
		return gone
	})
}

func (a Trust) do(r *Room, _ caller) error {
	p := r.round.player(a.Name)
	if p == nil {
		return fmt.Errorf("%s is not here", playerName(a.Name))
	}
	p.trusted = true
	if p.anomaly == nil {
		return nil
	}
	p.anomaly, p.leftOut, p.heard = nil, false, r.now
	r.note("the organiser vouches for %s", p.name)
	if r.round.selection == nil {
		return nil
	}
	selected := r.selectFor(append(r.round.chosenFor(), p))
	if selected.Chosen == nil {
		p.leftOut = true
		return fmt.Errorf("%s has not measured what is left to choose from: the numbers count from the next round on", p.name)
	}
	r.rechoose(selected)
	return nil
}

func (a Lock) do(r *Room, _ caller) error {
	if r.locked == a.Locked {
		return nil
	}
	r.locked = a.Locked
	if r.locked {
		r.note("the room is locked")
	} else {
		r.note("the room is open again")
	}
	return nil
}

// PageOpened and PageClosed say that a page opened, or closed, with a guest's
// token.
type (
	PageOpened struct{ Token string }
	PageClosed struct{ Token string }
)

func (in PageOpened) step(r *Room) error {
	if g := r.guests.with(in.Token); g != nil {
		g.pages, g.seen = g.pages+1, r.now
	}
	return nil
}

func (in PageClosed) step(r *Room) error {
	if g := r.guests.with(in.Token); g != nil {
		g.pages, g.seen = max(0, g.pages-1), r.now
	}
	return nil
}
