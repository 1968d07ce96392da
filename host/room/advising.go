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
	s, err := choice.Allow(r.group.Settings, a.LimitMS)
	if err != nil {
		return err
	}
	r.group.Settings = s
	r.decideAgain(fmt.Sprintf("the organiser allows %.0f ms", math.Ceil(a.LimitMS)))
	return nil
}

func (a Without) do(r *Room, _ caller) error {
	g := &r.group
	player := g.Attendance.Find(a.Name)
	switch {
	case !r.mayDecideAgain():
		return errNoAdvice
	case player == "" || g.Attendance.Of(player).Out != "":
		return fmt.Errorf("%s does not count in this choice", nickname.Clean(a.Name))
	case len(g.ChosenFor()) < 2:
		return errors.New("nobody would be left to choose for")
	}
	g.Attendance.LeaveOut(attendance.Unwanted, player)
	g.Ballot.Withdraw(player, ballot.Vote|ballot.Ready)
	r.decideAgain(fmt.Sprintf("the organiser goes without %s, who comes along without a say", player))
	return nil
}

// mayDecideAgain reports whether there is a choice, or none, from what was measured.
func (r *Room) mayDecideAgain() bool {
	_, failed := r.phase.(*Failed)
	return r.group.Choice.Newest() != nil && len(r.group.ChosenFor()) > 0 && (failed || r.isVoting())
}

// decideAgain chooses for whoever counts now, from what was measured, and says why.
func (r *Room) decideAgain(why string) {
	selected := r.group.Select(r.group.ChosenFor())
	if _, failed := r.phase.(*Failed); failed && selected.Chosen == nil {
		r.group.Choice.Refine(selected)
		r.note("%s: that is not enough, still no server suits everyone", why)
		return
	}
	r.note("%s: choosing again from what was measured", why)
	r.failures = 0
	r.decision.Retry() // what was looked at in vain was for another choice
	r.rechoose(selected)
}
