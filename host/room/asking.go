package room

import (
	"cmp"

	"muster/discovery"
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
		r.round.weigh(server)
		if result := p.witness.At(server); result.State != discovery.Unprobed {
			r.heard(p, result)
		}
	}
}

// mostShown returns how many servers of the list each player is asked for in the round at
// most, 0 for the whole list.
func (r *Room) mostShown() int {
	search := cmp.Or(r.tuning.Budget, wire.SearchBudget)
	if r.settings.Strategy != wire.Coordinated || search < 0 {
		return 0
	}
	most := search + wire.SearchFinalists + r.round.more.Servers
	if r.settings.Agree != wire.No {
		most += wire.VoteBudget
	}
	if listed := len(r.round.servers.List); listed > 0 && most >= listed {
		return 0
	}
	return most
}

// promise returns the number that a player is told with the next question, 0 for the whole
// list.
func (r *Room) promise(p *player) int {
	if p.shares {
		return p.witness.Promise(0)
	}
	return p.witness.Promise(r.mostShown())
}

// spare returns how many of those the search may use: the looks have places of their own, and
// so has the search that goes on while people vote.
func (r *Room) spare(p *player) int {
	spare := p.witness.Left() - wire.SearchFinalists
	if r.settings.Agree != wire.No && !r.isVoting() {
		spare -= wire.VoteBudget
	}
	return max(0, spare)
}

// mostTold returns the largest number that a player was or will be told, 0 for the whole list.
func (r *Room) mostTold() int {
	most, listed := r.mostShown(), len(r.round.servers.List)
	if most == 0 {
		return 0
	}
	for _, p := range r.round.players {
		most = max(most, p.witness.Promised())
	}
	if listed > 0 && most >= listed {
		return 0
	}
	return most
}
