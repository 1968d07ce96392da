package ballot

import (
	"muster/host/room/people"
	"muster/host/wire"
)

// Electorate is everybody in the room. A player whose program is away is not asked.
type Electorate struct {
	People []people.Person
	// GuestsVote says that the organiser lets guests vote. Otherwise they watch.
	GuestsVote bool
}

// Refusal returns why a person has no say, or nil.
func (b *Box) Refusal(person people.ID, e Electorate) error {
	for _, p := range e.People {
		if p.ID == person {
			if why := b.refusal(p, e); why != nil {
				return why
			}
		}
	}
	return nil
}

func (b *Box) refusal(p people.Person, e Electorate) *wire.Refusal {
	switch {
	case p.IsPlayer && p.IsLeftOut:
		return wire.Refuse(wire.ReasonAction, "refused.left-out").Advising("refused.left-out-hint")
	case p.IsPlayer, p.IsCounted, e.GuestsVote && p.IsOrganiser:
		return nil
	case !e.GuestsVote:
		return ErrGuest
	case b.isSpokenFor(p, e):
		return wire.Refuse(wire.ReasonAction, "refused.network-voted").Advising("refused.network-voted-hint")
	}
	return nil
}

// ErrGuest tells guests that they may only watch.
var ErrGuest = wire.Refuse(wire.ReasonAction, "refused.guest").Advising("refused.guest-hint")

// isSpokenFor reports whether another guest on the same network has used the network's say. One
// person can open many pages, so each network's guests have one say. Guests without a known address
// count as one network.
func (b *Box) isSpokenFor(guest people.Person, e Electorate) bool {
	for _, p := range e.People {
		if !p.IsPlayer && !p.IsCounted && !p.IsOrganiser && p.From == guest.From && b.hasSpoken(p.ID) {
			return p.ID != guest.ID
		}
	}
	return false
}

// hasSpoken reports whether a person has voted, vetoed or got ready.
func (b *Box) hasSpoken(person people.ID) bool {
	p := b.state.Papers[person]
	return p.Vote != nil || p.Ready || b.hasVetoed(person)
}

// IsReady reports whether everybody that the room waits for is ready, and at least one person is.
// The room waits for people who have a say and are asked for it, by an open page or at the
// terminal.
func (b *Box) IsReady(e Electorate) bool {
	some := false
	for _, p := range e.People {
		isReady, hasSay := b.state.Papers[p.ID].Ready, b.refusal(p, e) == nil
		if hasSay && !isReady && (p.HasPage || p.IsAsked) {
			return false
		}
		some = some || isReady && hasSay
	}
	return some
}

// IsWanted reports whether people vote before the launch: the organiser has decided it, or enough
// players have a page open. A vote that has begun goes on even if pages close.
func (b *Box) IsWanted(agree wire.Decision, e Electorate) bool {
	if agree != wire.Undecided {
		return agree == wire.Yes
	}
	pages := 0
	for _, p := range e.People {
		if p.IsPlayer && p.HasPage {
			pages++
		}
	}
	return b.state.Opened || pages >= enoughPages
}

// IsNeedless reports whether a vote would be about nothing, because one server is the best in every
// way. People vote nevertheless if the organiser wants that, or if they have begun to.
func (b *Box) IsNeedless(agree wire.Decision, o Options) bool {
	return agree == wire.Undecided && !b.state.Opened && o.IsSettled()
}
