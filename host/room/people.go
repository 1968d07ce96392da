package room

import (
	"net/netip"
	"slices"

	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/room/roster"
	"muster/host/wire"
)

// caller is the giver of an order.
type caller = people.Person

var errOrganiserOnly, errNickname = roster.ErrOrganiserOnly, roster.ErrNickname

// apply carries out changes of the people in the room.
func (r *Room) apply(events []roster.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case roster.Note:
			r.out.say(e.Says)
		case roster.Left:
			r.out.revision++
		}
		r.out.mustSave = r.parts.ApplyEvent(e) || r.out.mustSave
	}
}

// freePlace frees a player's place. If stays, the person becomes a guest.
func (r *Room) freePlace(player people.ID, stays bool) {
	r.parts.Drop(player)
	r.homes.Leave(player)
	r.parts.Candidates.Leave(player)
	r.out.mustSave = true
	r.apply(r.parts.Roster.Unseat(player, stays, r.now))
}

// Enter makes a page a new guest's, or that of the person whose credential was in its link. Its
// answer has the name, and the token for later orders.
type Enter struct {
	Name string `json:"name"`
	// Secret is the credential in the page's link: the organiser's secret, or a person's.
	Secret string `json:"secret"`
	// Was is an earlier token of somebody whom the room no longer knows.
	Was string `json:"was"`
	// Token is the token for a new guest. From is the page's address.
	Token  string     `json:"-"`
	From   netip.Addr `json:"-"`
	Origin Origin     `json:"-"`
}

func (a Enter) do(r *Room, by caller) error {
	visit := roster.Visit{
		Name: a.Name, Secret: a.Secret, Was: a.Was,
		Token: a.Token, From: a.From,
	}
	entry, events, err := r.parts.Roster.Enter(visit, by, r.now)
	if err != nil {
		return err
	}
	r.apply(events)
	if entry.IsNew {
		r.parts.Origins.Enter(entry.ID, a.Origin)
	}
	r.out.emit(Answer{map[string]string{"name": entry.Name, "token": entry.Token}})
	return nil
}

// Rename gives another name to the caller, or to the person whom the organiser names.
type Rename struct {
	Name string `json:"name"`
	Of   string `json:"of"`
}

func (a Rename) do(r *Room, by caller) error {
	one, err := r.parts.Roster.Target(by, a.Of)
	if err != nil {
		return err
	}
	events, err := r.parts.Roster.Rename(one, a.Name, r.now)
	r.apply(events)
	return err
}

// Quit takes the caller out of the room, and frees the place at once. An organiser stays as a
// guest, because somebody must be able to steer.
type Quit struct{}

func (Quit) do(r *Room, by caller) error {
	if !by.IsPlayer {
		events, err := r.parts.Roster.Quit(by)
		r.apply(events)
		return err
	}
	if !r.phase.traits().isVoting { // else the note on the next choice says it
		r.out.say(sentence.Of("room.left", "player", by.ID))
	}
	r.sendAway(by.ID, *wire.Refuse(wire.ReasonLeft, "refused.left"))
	return nil
}

// sendAway takes a player out of the room. An organiser stays as a guest, because the right to
// steer does not depend on the player's program.
func (r *Room) sendAway(player people.ID, why wire.Refusal) {
	r.probing.Release(player)
	wasChosenFor := r.phase.traits().isVoting && slices.Contains(r.facts.ChosenFor(), player)
	r.freePlace(player, false)
	r.out.emit(Dismiss{player, why})
	r.withoutLook(player)
	if wasChosenFor && len(r.facts.ChosenFor()) > 0 {
		gone := sentence.Of("room.players-left", "players", []string{string(player)})
		if why.Reason == wire.ReasonRemoved {
			gone = sentence.Of("room.player-removed", "player", player)
		}
		r.chooseAgain(gone)
	}
	r.countDownIfReady()
}

// readmit lets a player who is back count again in the vote, if possible, and reports whether it
// did. Other players who are away get time to come back, too.
func (r *Room) readmit(player people.ID) bool {
	attends := &r.parts.Attendance
	attends.Follow(player, r.facts.ChosenFor(), r.now)
	isBack := r.decision.Readmit(r.facts, player)
	if isBack {
		attends.Recall(player, r.now)
	}
	return isBack
}

// PageOpened and PageClosed say that a page with a credential has opened, or closed.
type (
	PageOpened struct{ Token string }
	PageClosed struct{ Token string }
)

func (in PageOpened) step(r *Room) error {
	r.parts.Roster.OpenPage(in.Token, r.now)
	return nil
}

func (in PageClosed) step(r *Room) error {
	r.parts.Roster.ClosePage(in.Token, r.now)
	return nil
}
