package room

import (
	"cmp"
	"math"
	"slices"

	"muster/host/wire"
)

// Before a player's program asks anybody it tells the player how many servers will see the
// player's address at most. The room keeps to that number for the whole round: search, vote,
// looks and waits for seats. Only the organiser raises it, and the player is told first.

// exposed is how far a player's address has gone in a round.
type exposed struct {
	// promised is how many servers may see the address, as the player was told; 0 is all of
	// the list, or that nothing was said yet.
	promised int
	// shown are the servers that the player's program was asked to ask.
	shown serverSet
}

// mostShown returns how many servers of the list each player is asked for in the round at
// most, 0 for the whole list.
func (r *Room) mostShown() int {
	search := cmp.Or(r.tuning.Budget, budget)
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
// list. It never shrinks.
func (r *Room) promise(p *player) int {
	most := r.mostShown()
	if most == 0 || p.asked.all || p.shares {
		p.asked.promised = 0
		return 0
	}
	if p.asked.promised == 0 { // what was asked before, such as by a host of an older version, counts
		p.asked.shown = slices.Clone(p.asked.servers)
	}
	p.asked.promised = max(p.asked.promised, most)
	return p.asked.promised
}

// left returns how many more servers may see a player's address.
func (r *Room) left(p *player) int {
	if p.asked.promised == 0 {
		return math.MaxInt / maxPlayers // which a group can add up
	}
	return max(0, p.asked.promised-p.asked.shown.size()-p.asked.own)
}

// spare returns how many of those the search may use: the looks have places of their own, and
// so has the search that goes on while people vote.
func (r *Room) spare(p *player) int {
	spare := r.left(p) - wire.SearchFinalists
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
		most = max(most, p.asked.promised)
	}
	if listed > 0 && most >= listed {
		return 0
	}
	return most
}

// shows notes which of some servers a player's program is asked to ask, as far as the
// player's number lets it, and returns them.
func (r *Room) shows(p *player, servers []int) []int {
	if p.asked.promised == 0 {
		return servers
	}
	shown := make([]int, 0, len(servers))
	for _, server := range servers {
		if p.asked.shown.has(server) || r.left(p) > 0 {
			p.asked.shown.add(server)
			shown = append(shown, server)
		}
	}
	return shown
}

// canShow reports whether a player's program may be asked to ask a server.
func (r *Room) canShow(p *player, server int) bool {
	return p.asked.shown.has(server) || r.left(p) > 0
}
