package room

import (
	"muster/host/room/nearby"
	"muster/host/room/places"
	"muster/host/wire"
)

// LocalServer is that of [nearby.Server].
type LocalServer = nearby.Server

// lookAround asks a player's program what is around it, unless that is known.
func (r *Room) lookAround(player string) {
	g := &r.group
	if g.Settings.LookAround && g.Attendance.Of(player).Here && g.Nearby.Ask(player, g.Settings.Game, r.now) {
		r.send(player, wire.Look{Game: g.Settings.Game})
	}
}

// looked goes on with what a player's program has found, or has not.
func (r *Room) looked(player string) {
	switch phase := r.phase.(type) {
	case *Listing:
		phase.goOn(r)
	case *Measuring, *Coordinating:
		if r.group.Attendance.Of(player).Here {
			r.catchUp(player) // it came late, and has waited for that
		}
	}
}

// Survey asks everyone to measure the candidate places, once more if they have.
type Survey struct{}

func (Survey) steers() {}

func (Survey) do(r *Room, _ caller) error {
	news, err := r.survey.Begin(r.group.SurveyScene(), r.now)
	r.surveys(news)
	return err
}

// surveys does what the survey of places wants.
func (r *Room) surveys(n places.News) {
	r.tell(n.Notes...)
	for _, ask := range n.Asks {
		r.send(ask.To, ask.Survey)
	}
}
