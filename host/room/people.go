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

// apply follows changes of the people in the room.
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

// freePlace takes a player's place away. The person may stay as a guest.
func (r *Room) freePlace(player people.ID, stays bool) {
	r.parts.Drop(player)
	r.survey.Leave(player)
	r.out.mustSave = true
	r.apply(r.parts.Roster.Unseat(player, stays, r.now))
}

// Enter gives a page a nickname, or the person whose credential stood in its link. Its answer has
// the name, and the token for later orders.
type Enter struct {
	Name string `json:"name"`
	// Secret stood in the page's link. It is the organiser's secret, or a person's.
	Secret string `json:"secret"`
	// Was is an earlier token of somebody whom the room no longer knows.
	Was string `json:"was"`
	// Token is for a new guest, and From where the page is.
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

// Rename gives the caller another name, or the person that the organiser means.
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

// Quit takes the caller out of the room: the place is free at once. An organiser stays as a guest,
// because somebody must be able to steer.
type Quit struct{}

func (Quit) do(r *Room, by caller) error {
	if !by.IsPlayer {
		events, err := r.parts.Roster.Quit(by)
		r.apply(events)
		return err
	}
	if !r.phase.traits().isVoting { // else the next choice says it
		r.out.say(sentence.Of("room.left", "player", by.ID))
	}
	r.sendAway(by.ID, *wire.Refuse(wire.ReasonLeft, "refused.left"))
	return nil
}

// sendAway takes a player out of the room. The organiser stays on the page: neither the room nor
// the right to steer depends on the program that plays.
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

// readmit reports whether a player who is back counts again in the vote. The others get time, too.
func (r *Room) readmit(player people.ID) bool {
	attends := &r.parts.Attendance
	attends.Follow(player, r.facts.ChosenFor(), r.now)
	isBack := r.decision.Readmit(r.facts, player)
	if isBack {
		attends.Recall(player, r.now)
	}
	return isBack
}

// PageOpened and PageClosed say that a page opened, or closed, with a credential.
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
