package room

import (
	"errors"
	"fmt"
	"math"

	"muster/host/room/attendance"
	"muster/host/room/ballot"
	"muster/host/room/choice"
	"muster/host/room/decision"
	"muster/host/room/group"
	"muster/host/room/nickname"
)

// The organiser's ways out of a choice, from the measurements of this round. The room advises them
// if nothing suits everyone.
type (
	// Allow raises the limit of pings, in ms.
	Allow struct {
		LimitMS float64 `json:"limit_ms"`
	}
	// Without chooses without a player, who comes along without a say.
	Without struct {
		Name string `json:"name"`
	}
)

func (Allow) steers()   {}
func (Without) steers() {}

// errNoAdvice says why the organiser can change nothing now.
var errNoAdvice = errors.New("there is no choice now that this could change")

func (a Allow) do(r *Room, _ caller) error {
	if !mayDecideAgain(r.phase, &r.group) {
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
	case !mayDecideAgain(r.phase, &r.group):
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

// mayDecideAgain reports whether the room has chosen, or failed to, from the measurements of this
// round.
func mayDecideAgain(p phase, g *group.Group) bool {
	_, failed := p.(*Failed)
	return g.Choice.Newest() != nil && len(g.ChosenFor()) > 0 && (failed || isVoting(p))
}

// decideAgain chooses from the measurements for the players that count now, and tells people why.
func (r *Room) decideAgain(why string) {
	selected := r.group.Select(r.group.ChosenFor())
	if _, failed := r.phase.(*Failed); failed && selected.Chosen == nil {
		r.group.Choice.Refine(selected)
		r.out.note("%s: that is not enough, still no server suits everyone", why)
		return
	}
	r.out.note("%s: choosing again from what was measured", why)
	r.failures = 0
	r.decision.Retry() // looks in vain were for another choice
	r.rechoose(selected)
}

// More asks each player for more servers, those that could suit the group best by the results so
// far. Then the room chooses again.
type More struct {
	Servers int `json:"servers"`
}

func (More) steers() {}

func (a More) do(r *Room, _ caller) error {
	if !mayDecideAgain(r.phase, &r.group) {
		return errNoAdvice
	}
	g := &r.group
	notes, servers, err := r.probing.Grant(g, a.Servers, isVoting(r.phase))
	if err != nil {
		return err
	}
	r.out.tell(notes...)
	r.out.do(Publish{}) // people read the new number before anybody is asked
	r.probing.AskMore(g, r.now)
	r.enter(&Coordinating{More: servers})
	for _, player := range g.Attendance.Players() {
		r.out.brief(&r.group, player)
		r.measure(player)
	}
	return nil
}

// Count counts a guest in by an estimate of their pings, or no longer. The organiser may order
// both. A guest may end it, because the guest knows best that the address is a VPN's.
type Count struct {
	Name    string `json:"name"`
	Counted bool   `json:"counted"`
}

func (a Count) do(r *Room, by caller) error {
	g := r.group.Roster.Person(a.Name)
	switch {
	case !by.IsOrganiser && (a.Counted || g.Name == "" || g.Name != by.Name):
		return errOrganiserOnly
	case g.Name == "" || g.IsPlayer:
		return errors.New("nobody of that name has only the page")
	case r.group.Estimates.IsCounted(g.Name) == a.Counted:
		return nil
	}
	note, err := r.group.Count(g.Name, a.Counted)
	if err != nil {
		return err
	}
	r.out.note("%s", note)
	searchAnew(r.phase, &r.probing) // for the present group
	if isVoting(r.phase) {
		if other := decision.Recount(&r.group); other != nil {
			r.rechoose(*other)
		}
	}
	return nil
}
