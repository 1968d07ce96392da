package decision

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"

	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/facts"
	"muster/host/room/people"
	"muster/selection"
)

// errNothingLeft refuses an order that would leave the group without a server.
var errNothingLeft = errors.New("nothing would be left to play on")

// Veto keeps a server or a map out of the choice. The caller has checked that the person has a say.
// It returns a note for people, and the choice for [Decision.Replace].
func (d *Decision) Veto(g facts.Facts, v selection.Veto) (note sentence.Sentence, other selection.Selection, err error) {
	if err := d.ballot.Veto(v); err != nil {
		return note, other, err
	}
	if other = g.Select(g.ChosenFor()); other.Chosen == nil {
		d.ballot.Withdraw(people.ID(v.Player), ballot.Veto)
		return note, other, errNothingLeft
	}
	return sentence.Of("room.vetoes", "player", v.Player, "what", cmp.Or(v.Map, g.Called(v.Server))), other, nil
}

// AfterHiding returns a note that the organiser has hidden a server. During a vote it also returns
// the choice without that server, for [Decision.Replace], or an error if no server is left.
func AfterHiding(g facts.Facts, addr netip.AddrPort, isVoting bool) (note sentence.Sentence, other *selection.Selection, err error) {
	key, absent := "room.hides", "room.hides-organiser"
	if isVoting {
		s := g.Select(g.ChosenFor())
		if s.Chosen == nil {
			return note, nil, errNothingLeft
		}
		key, absent, other = "room.hides-now", "room.hides-now-organiser", &s
	}
	if organiser := g.Organiser(); g.Person(organiser).IsSomebody() {
		return sentence.Of(key, "player", organiser, "server", g.Called(addr)), other, nil
	}
	return sentence.Of(absent, "server", g.Called(addr)), other, nil
}

// Vouch takes the organiser's word that a player's numbers are true. It returns changes of the
// active players, notes for people, and another choice for [Decision.Replace] if the numbers change
// it.
func (d *Decision) Vouch(g facts.Facts, player people.ID) (
	counting []attendance.Change, notes []sentence.Sentence, other *selection.Selection, err error,
) {
	v, hasChosen := d.trust.Vouch(player), g.Newest() != nil
	if !v.WasExcluded {
		if v.WasRaised && g.Mark(player).Out == "" && hasChosen {
			s := g.Select(g.ChosenFor())
			other = &s
		}
		return nil, v.Notes, other, nil
	}
	again := attendance.Change{Players: []people.ID{player}}
	if !hasChosen {
		return []attendance.Change{again}, v.Notes, nil, nil
	}
	s := g.Suppose(again).Select(append(g.ChosenFor(), player))
	if s.Chosen == nil {
		behind := attendance.Change{Out: attendance.Behind, Players: again.Players}
		return []attendance.Change{again, behind}, v.Notes, nil, fmt.Errorf(
			"%s has not measured what is left to choose from: the numbers count from the next round on", g.Names().Of(player))
	}
	return []attendance.Change{again}, v.Notes, &s, nil
}
