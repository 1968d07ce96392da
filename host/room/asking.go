package room

import (
	"muster/discovery"
	"muster/host/room/search"
	"muster/host/wire"
)

// ask tells a player's program to measure servers. Of what the player told of them before
// that, answers count from now on.
func (r *Room) ask(p *player, servers []int) {
	servers, admitted := p.witness.Ask(servers, r.now)
	if len(servers) == 0 {
		return
	}
	r.send(p, wire.Ask{Round: r.round.number, Servers: servers})
	for _, server := range admitted {
		r.round.inform(server, r.round.hearsay.Weigh(server))
		if result := p.witness.At(server); result.State != discovery.Unprobed {
			r.heard(p, result)
		}
	}
}

// terms returns what the settings and the list say of how many servers a player is asked for.
func (r *Room) terms() search.Terms {
	t := search.Terms{Servers: r.tuning.Budget, Votes: r.settings.Agree != wire.No, Listed: len(r.round.servers.List)}
	if r.settings.Strategy != wire.Coordinated {
		t.Servers = -1
	}
	return t
}

// promise returns the number that a player is told with the next question, 0 for the whole
// list.
func (r *Room) promise(p *player) int {
	if p.shares {
		return p.witness.Promise(0)
	}
	return p.witness.Promise(r.round.budget.Most(r.terms()))
}

// mostTold returns the largest number that a player was or will be told, 0 for the whole list.
func (r *Room) mostTold() int {
	var promised []int
	for _, p := range r.round.players {
		promised = append(promised, p.witness.Promised())
	}
	return r.round.budget.MostTold(r.terms(), promised)
}
