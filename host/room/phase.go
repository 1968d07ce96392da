package room

import (
	"muster/discovery"
	"muster/host/room/attendance"
	"muster/host/room/probing"
	"muster/host/wire"
)

// phase is a phase of a room, with the state that no other phase needs. The package documentation
// has a drawing of them.
type phase interface {
	stage() wire.Stage
	// tick lets time pass: it gives up on players who take too long.
	tick(r *Room)
	// proceed is the organiser's go.
	proceed(r *Room)
}

// phases returns an empty value of each phase, by its name in the saved form.
func phases() map[string]phase {
	return map[string]phase{
		"gathering": &Gathering{}, "listing": &Listing{}, "measuring": &Measuring{}, "coordinating": &Coordinating{},
		"verifying": &Verifying{}, "voting": &Voting{}, "countdown": &Countdown{}, "launching": &Launching{}, "waiting": &Waiting{}, "failed": &Failed{},
	}
}

// duty returns the duty of players in a phase.
func duty(p phase) attendance.Duty {
	switch p.(type) {
	case *Measuring, *Coordinating:
		return attendance.Measure
	case *Gathering, *Verifying, *Countdown:
		return attendance.Stay
	}
	return attendance.Nothing
}

// isMeasuring reports whether players measure, each on its own or as the host asks.
func isMeasuring(p phase) bool { return duty(p) == attendance.Measure }

// isVoting reports whether people may still change their minds.
func isVoting(p phase) bool {
	switch p.(type) {
	case *Voting, *Countdown:
		return true
	}
	return false
}

// searchAnew ends a phase's search for something that the room no longer wants.
func searchAnew(p phase, search *probing.Probing) {
	if _, coordinating := p.(*Coordinating); coordinating {
		search.Forget()
	}
}

// asksMore reports whether players measure more servers by the organiser's order. The choice counts
// the same players as the last one.
func asksMore(p phase) bool {
	c, coordinating := p.(*Coordinating)
	return coordinating && c.More > 0
}

// strategy returns how the players measure this round's list in a phase, if the settings name a
// strategy. A saved room may still measure a short list whole: rooms did not search those before.
func strategy(p phase, named string) string {
	switch p.(type) {
	case *Coordinating: // also where the organiser wants more servers asked
		return wire.Coordinated
	case *Measuring:
		if named == wire.Coordinated {
			return string(discovery.Conventional)
		}
	}
	return named
}

// enter begins a phase.
func (r *Room) enter(p phase) {
	r.phase, r.since = p, r.now
	r.probing.Disband() // only a list that players measure whole is shared
	if _, verifying := p.(*Verifying); verifying {
		r.out.surveys(r.survey.BeginOnce(r.group.SurveyScene(), r.now))
	}
}
