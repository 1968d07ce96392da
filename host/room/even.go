package room

import (
	"time"

	"muster/discovery"
	"muster/host/room/decision"
	"muster/host/room/people"
	"muster/host/wire"
)

// EvenPings is a captain's agreement to even pings in the game, before the launch. Afterwards any player of
// the match ends them for all.
type EvenPings struct {
	On bool `json:"on"`
}

func (a EvenPings) do(r *Room, by caller) error {
	g := &r.parts
	switch {
	case !g.Settings.IsMatch():
		return errNoMatch
	case r.phase.launch() == nil:
		note, err := g.Evened.Agree(by.ID, g.Captains(), a.On, r.facts.CanDelay())
		r.out.say(note)
		return err
	case a.On:
		return wire.Refuse(wire.ReasonAction, "refused.even-late")
	}
	freed, note, err := g.Evened.End(by, g.Sides.Of(by.ID))
	r.out.say(note)
	for _, player := range freed {
		r.out.send(player, wire.Delay{Round: g.Number})
	}
	return err
}

// beginEven begins even pings at the server where everyone is sent, if the captains have agreed, and the
// questions about pings in the game.
func (l *Launching) beginEven(r *Room) {
	g, measured := &r.parts, map[people.ID]int{}
	for player, delays := range decision.EvenDelays(r.facts, l.Server) {
		measured[player] = delays.SidesMS
	}
	g.Evened.Begin(g.Captains(), measured, g.Holds)
	if g.Settings.IsMatch() {
		g.InGame.Begin(r.now)
	}
}

// tellDelay tells a player's program how long to hold the game's packets, if it does.
func tellDelay(r *Room, player people.ID) {
	if ms, holds := r.parts.Evened.Added(player); holds {
		r.out.send(player, wire.Delay{Round: r.parts.Number, By: discovery.Millis(ms) * discovery.Millis(time.Millisecond)})
	}
}

// askStatus has a program ask the game's server for its status, when that is due.
func (l *Launching) askStatus(r *Room) {
	g := &r.parts
	if by := g.InGame.Ask(r.facts.Present(), g.Evened.Holds(), r.now); by != "" {
		r.out.send(by, wire.Status{Round: g.Number})
	}
}

// pings corrects the delays by the pings of the game's status, and writes down what they were. People have
// their names of the room there, or they do not count.
func (in Hear) pings(r *Room, m wire.Pings) {
	g := &r.parts
	told, pings, sides := map[string]float64{}, map[people.ID]float64{}, map[people.ID]wire.Side{}
	for _, one := range m.Pings {
		told[one.Name] = one.MS
	}
	for p := range g.Roster.People() {
		if side := g.Sides.Of(p.ID); side != "" {
			pings[p.ID], sides[p.ID] = told[p.Name], side
		}
	}
	if m.Round != g.Number || !g.InGame.Heard(in.Player, pings, g.Evened.Added) {
		return
	}
	r.out.mustSave = true
	r.calendar.Told(g.Number, people.Named(g.InGame.Pings(), g.Roster.Names()))
	for _, player := range g.Evened.Correct(pings, sides) {
		tellDelay(r, player)
	}
}
