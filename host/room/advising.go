package room

import (
	"errors"
	"fmt"
	"math"

	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/choice"
	"muster/host/room/nickname"
)

// The organiser's ways out of a choice, which the room advises where nothing suits
// everyone: from what was measured in this round.
type (
	// Allow lets people be as far away as that, in ms.
	Allow struct {
		LimitMS float64 `json:"limit_ms"`
	}
	// Without has the choice be made without a player, who comes along without a say.
	Without struct {
		Name string `json:"name"`
	}
)

func (Allow) steers()   {}
func (Without) steers() {}

// errNoAdvice is why there is nothing to be advised.
var errNoAdvice = errors.New("there is no choice now that this could change")

func (a Allow) do(r *Room, _ caller) error {
	if !r.mayDecideAgain() {
		return errNoAdvice
	}
	s, err := choice.Allow(r.settings, a.LimitMS)
	if err != nil {
		return err
	}
	r.settings = s
	r.decideAgain(fmt.Sprintf("the organiser allows %.0f ms", math.Ceil(a.LimitMS)))
	return nil
}

func (a Without) do(r *Room, _ caller) error {
	p := r.round.player(a.Name)
	switch {
	case !r.mayDecideAgain():
		return errNoAdvice
	case p == nil || r.round.mark(p).Out != "":
		return fmt.Errorf("%s does not count in this choice", nickname.Clean(a.Name))
	case len(r.round.chosenFor()) < 2:
		return errors.New("nobody would be left to choose for")
	}
	r.round.attendance.LeaveOut(attendance.Unwanted, p.name)
	r.round.ballot.Withdraw(p.name, ballot.Vote|ballot.Ready)
	r.decideAgain(fmt.Sprintf("the organiser goes without %s, who comes along without a say", p.name))
	return nil
}

// mayDecideAgain reports whether there is a choice, or none, from what was measured.
func (r *Room) mayDecideAgain() bool {
	_, failed := r.phase.(*Failed)
	return r.round.choice.Newest() != nil && len(r.round.chosenFor()) > 0 && (failed || r.isVoting())
}

// decideAgain chooses for whoever counts now, from what was measured, and says why.
func (r *Room) decideAgain(why string) {
	selected := r.selectFor(r.round.chosenFor())
	if _, failed := r.phase.(*Failed); failed && selected.Chosen == nil {
		r.round.choice.Refine(selected)
		r.note("%s: that is not enough, still no server suits everyone", why)
		return
	}
	r.note("%s: choosing again from what was measured", why)
	r.failures = 0
	r.round.looks.Retry() // what was looked at in vain was for another choice
	r.rechoose(selected)
}
