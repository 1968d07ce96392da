package ballot

import (
	"net/netip"

	"muster/host/wire"
)

// Electorate is everybody in the room.
type Electorate struct {
	People []Person
	// GuestsVote says that the organiser lets guests vote.
	GuestsVote bool
}

// Person is somebody in the room.
type Person struct {
	Name      string
	Organiser bool
	// Guest says that the person has only the page. Guests watch, unless the organiser lets them
	// vote.
	Guest bool
	// Counted says that the organiser counts the guest in by an estimate.
	Counted bool
	// From is the guest's address, the zero value if many people share it.
	From netip.Addr
	// LeftOut says that the choice leaves the player out.
	LeftOut bool
	// Page says that the person has a page open. Asked says that the person's program asks for an
	// answer at a terminal.
	Page, Asked bool
}

// Refusal returns why a person has no say, or nil.
func (b *Box) Refusal(name string, e Electorate) error {
	for _, p := range e.People {
		if p.Name == name {
			if why := b.refusal(p, e); why != nil {
				return why
			}
		}
	}
	return nil
}

func (b *Box) refusal(p Person, e Electorate) *wire.Refusal {
	switch {
	case !p.Guest && p.LeftOut:
		return wire.Refuse(wire.ReasonAction, "refused.left-out").Advising("refused.left-out-hint")
	case !p.Guest, p.Counted, e.GuestsVote && p.Organiser:
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

// isSpokenFor reports whether another guest on the same network has said something of the choice.
// One person can open many pages, so each network's guests have one say. Guests without a known
// address count as one network.
func (b *Box) isSpokenFor(guest Person, e Electorate) bool {
	for _, p := range e.People {
		if p.Guest && !p.Counted && !p.Organiser && p.From == guest.From && b.hasSpoken(p.Name) {
			return p.Name != guest.Name
		}
	}
	return false
}

// hasSpoken reports whether a person has said something of the choice.
func (b *Box) hasSpoken(name string) bool {
	p := b.state.Papers[name]
	return p.Vote != nil || p.Ready || b.hasVetoed(name)
}

// IsReady reports whether all people whose word is awaited are ready, and at least one is. A
// person's word is awaited if the person has a say and is asked for it, by an open page or at the
// terminal.
func (b *Box) IsReady(e Electorate) bool {
	some := false
	for _, p := range e.People {
		isReady, hasSay := b.state.Papers[p.Name].Ready, b.refusal(p, e) == nil
		if hasSay && !isReady && (p.Page || p.Asked) {
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
		if !p.Guest && p.Page {
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
