package room

import (
	"encoding/json"
	"fmt"
	"slices"

	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/brought"
	"muster/host/room/nickname"
	"muster/host/room/terms"
	"muster/host/wire"
)

// The actions of the organiser, and of nobody else.
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
		// Games are those that the host has servers of, MostPlaces how many candidate
		// places it lets a room have, and Public whether none of them may be private.
		Games      []string `json:"-"`
		MostPlaces int      `json:"-"`
		Public     bool     `json:"-"`
		// Posts: the host posts by webhooks.
		Posts bool `json:"-"`
	}
	// HandOn makes a player the organiser: those have shown who they are. The secret of
	// before opens nothing any more.
	HandOn struct {
		Name string `json:"name"`
		// Secret is the new one.
		Secret string `json:"-"`
	}
	// Renew makes the organiser's link another: who else had it is no organiser any
	// more.
	Renew struct {
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
	// End ends the night: everyone is told, their programs end, and so does the room, unless
	// it is a standing one.
	End struct{}
	// Lock closes the room to new people, or opens it again. A name does not open
	// it: whoever was removed could come back under a friend's, who has the page but
	// no player in the room, or the other way round.
	Lock struct {
		Locked bool `json:"locked"`
	}
)

func (Go) steers()     {}
func (Apply) steers()  {}
func (Change) steers() {}
func (HandOn) steers() {}
func (Remove) steers() {}
func (Renew) steers()  {}
func (Trust) steers()  {}
func (End) steers()    {}
func (Lock) steers()   {}

func (a Go) do(r *Room, _ caller) error {
	if a.Stage == "" || a.Stage == r.phase.stage() {
		r.phase.proceed(r)
	}
	return nil
}

func (Apply) do(r *Room, _ caller) error {
	if r.round.choice.Supposed() == nil || r.round.choice.Newest() == nil {
		return errNothingMeasured
	}
	s, err := r.settings.Patched(r.round.choice.Supposed(), wire.Supposed)
	if err != nil {
		return err
	}
	r.settings = s
	r.note("the rule is now: %s", r.settings.Rule())
	r.rechoose(r.selectFor(r.round.chosenFor()))
	return nil
}

func (a Change) do(r *Room, _ caller) error {
	s, err := terms.Change(r.settings, a.Settings, terms.Facts{
		Now: r.now, Stage: r.phase.stage(), Players: len(r.round.players),
		Games: a.Games, MostPlaces: a.MostPlaces, IsPublic: a.Public, Posts: a.Posts,
	})
	if err == nil {
		r.resettle(s)
	}
	return err
}

// Resettle gives a room other settings, of the same game, as open as before, and
// for no fewer players than are here: a host that was started again with other
// flags.
type Resettle struct{ Settings wire.Settings }

func (in Resettle) step(r *Room) error {
	r.resettle(terms.Resettle(r.settings, in.Settings, len(r.round.players)))
	return nil
}

// resettle makes settings the room's.
func (r *Room) resettle(s wire.Settings) {
	if note := r.source.Change(r.settings, s); note != "" {
		r.note("%s", note)
	}
	if s.Webhook != r.settings.Webhook {
		r.calendar.ForgetPosts()
	}
	if s.Game != r.settings.Game {
		r.lists = brought.Lists{} // which are another game's
	}
	changes := s.Changes(r.settings)
	isElsewhere := !slices.Equal(s.Places, r.settings.Places)
	if r.settings = s; isElsewhere {
		r.surveys(r.survey.Change(r.placesScene(), r.now))
	}
	for p := range r.roster.People() { // a guest may have no say any more
		if !p.IsPlayer && r.round.ballot.Refusal(p.Name, r.electorate()) != nil {
			r.round.ballot.Withdraw(p.Name, ballot.Vote|ballot.Ready)
		}
	}
	if _, coordinating := r.phase.(*Coordinating); coordinating {
		r.round.search = nil // it looked for something else
	}
	for _, change := range changes {
		r.note("%s", change)
	}
}

func (a HandOn) do(r *Room, _ caller) error {
	events, err := r.roster.HandOn(a.Name, a.Secret)
	r.apply(events)
	return err
}

func (a Renew) do(r *Room, by caller) error {
	r.apply(r.roster.Renew(by, a.Secret))
	r.do(Answer{map[string]string{"secret": a.Secret}})
	return nil
}

func (a Remove) do(r *Room, _ caller) error {
	events, err := r.roster.Remove(a.Name)
	r.apply(events)
	if p := r.round.player(a.Name); p != nil {
		r.sendAway(p, wire.Refusal{Reason: wire.ReasonRemoved, Message: "the organiser has removed you from the room"})
	}
	return err
}

func (a Trust) do(r *Room, _ caller) error {
	p := r.round.player(a.Name)
	if p == nil {
		return fmt.Errorf("%s is not here", nickname.Clean(a.Name))
	}
	v := r.round.trust.Vouch(p.name)
	r.noteAll(v.Notes)
	if !v.WasExcluded {
		if v.WasRaised && r.round.mark(p).Out == "" && r.round.choice.Newest() != nil {
			r.rechoose(r.selectFor(r.round.chosenFor()))
		}
		return nil
	}
	r.round.attendance.Recall(p.name, r.now)
	if r.round.choice.Newest() == nil {
		return nil
	}
	selected := r.selectFor(append(r.round.chosenFor(), p))
	if selected.Chosen == nil {
		r.round.attendance.LeaveOut(attendance.Behind, p.name)
		return fmt.Errorf("%s has not measured what is left to choose from: the numbers count from the next round on", p.name)
	}
	r.rechoose(selected)
	return nil
}

func (End) do(r *Room, by caller) error {
	end, err := r.calendar.End(by.Title(), r.facts(r.now))
	if err != nil {
		return err
	}
	here := names(r.round.players)
	if r.settings.Every == "" {
		r.note("%s", end.Why)
		r.closed = true
	} else {
		r.follow(end)
	}
	why := wire.Refusal{Reason: wire.ReasonEnded, Message: end.Why}
	r.do(Publish{})
	for _, name := range here {
		r.do(Dismiss{name, why})
	}
	return nil
}

func (a Lock) do(r *Room, _ caller) error {
	r.apply(r.roster.Lock(a.Locked))
	return nil
}
