package decision

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"

	"muster/discovery/sentence"
	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/group"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/selection"
)

// errNothingLeft refuses an order that would leave the group without a server.
var errNothingLeft = errors.New("nothing would be left to play on")

// Veto keeps a server or a map out of the choice, for somebody who has a say. It returns a note for
// people, and the choice for [Replace].
func Veto(g *group.Group, v selection.Veto) (note sentence.Sentence, other selection.Selection, err error) {
	if err := g.Ballot.Veto(v); err != nil {
		return note, other, err
	}
	if other = g.Select(g.ChosenFor()); other.Chosen == nil {
		g.Ballot.Withdraw(people.ID(v.Player), ballot.Veto)
		return note, other, errNothingLeft
	}
	return sentence.Of("room.vetoes", "player", v.Player, "what", cmp.Or(v.Map, g.Called(v.Server))), other, nil
}

// Hide keeps the group from a server, or lets it go there again, on the organiser's order. It
// returns a note for people, empty if nothing changes. While people vote there is another choice
// for [Replace].
func Hide(g *group.Group, addr netip.AddrPort, isHidden, isVoting bool) (note sentence.Sentence, other *selection.Selection, err error) {
	before := g.Lists
	what, title := g.Called(addr), ""
	if g.IndexOf(addr) >= 0 {
		title = what
	}
	switch {
	case !addr.IsValid():
		return note, nil, errors.New("which server is to be hidden is missing")
	case !isHidden && !g.Lists.Drop(addr):
		return note, nil, nil
	case !isHidden:
		return sentence.Of("room.hides-no-more", "server", what), nil, nil
	}
	if err := g.Lists.Hide(addr, title, g.Organiser()); err != nil {
		return note, nil, err
	}
	if !isVoting {
		return hides("room.hides", "room.hides-organiser", g, what), nil, nil
	}
	s := g.Select(g.ChosenFor())
	if s.Chosen == nil {
		g.Lists = before
		return note, nil, errNothingLeft
	}
	return hides("room.hides-now", "room.hides-now-organiser", g, what), &s, nil
}

// hides tells people that the organiser hides a server, by the key for one without a name if need be.
func hides(key, nameless string, g *group.Group, server string) sentence.Sentence {
	if player := g.Roster.Organiser(); player != "" {
		return sentence.Of(key, "player", player, "server", server)
	}
	return sentence.Of(nameless, "server", server)
}

// Vouch takes the organiser's word that a player's numbers are true. It returns notes for people,
// and another choice for [Replace] if the numbers change it.
func Vouch(g *group.Group, player people.ID, now roomtime.Time) (notes []sentence.Sentence, other *selection.Selection, err error) {
	v, hasChosen := g.Trust.Vouch(player), g.Choice.Newest() != nil
	if !v.WasExcluded {
		if v.WasRaised && g.Attendance.Of(player).Out == "" && hasChosen {
			s := g.Select(g.ChosenFor())
			other = &s
		}
		return v.Notes, other, nil
	}
	g.Attendance.Recall(player, now)
	if !hasChosen {
		return v.Notes, nil, nil
	}
	s := g.Select(append(g.ChosenFor(), player))
	if s.Chosen == nil {
		g.Attendance.LeaveOut(attendance.Behind, player)
		return v.Notes, nil, fmt.Errorf("%s has not measured what is left to choose from: the numbers count from the next round on", g.Roster.Names().Of(player))
	}
	return v.Notes, &s, nil
}
