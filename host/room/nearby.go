package room

import (
	"muster/host/room/nearby"
	"muster/host/wire"
)

// LocalServer is that of [nearby.Server].
type LocalServer = nearby.Server

// placeOf returns the place in whose network a player's program looks around.
func placeOf(o Origin) nearby.Place {
	return nearby.Place{Public: o.Addr, AtHost: o.Home, Near: o.Near}
}

// lookAround asks a player's program what is around it, unless that is known.
func (r *Room) lookAround(p *player) {
	if r.settings.LookAround && r.round.mark(p).Here && r.round.nearby.Ask(p.name, r.settings.Game, r.now) {
		r.send(p, wire.Look{Game: r.settings.Game})
	}
}

// near takes what a player's program found.
func (in Hear) near(r *Room, p *player, m wire.Near) {
	if r.round.nearby.Hear(p.name, m, r.now) {
		r.looked(p)
	}
}

// looked goes on with what a player's program has found, or has not.
func (r *Room) looked(p *player) {
	switch phase := r.phase.(type) {
	case *Listing:
		phase.goOn(r)
	case *Measuring, *Coordinating:
		if r.round.mark(p).Here {
			r.catchUp(p) // it came late, and has waited for that
		}
	}
}

// listFor is the list with the addresses that are right for a player.
func (r *round) listFor(p *player) wire.List {
	return wire.List{Round: r.number, Servers: r.nearby.ListFor(p.name, r.servers.List)}
}
