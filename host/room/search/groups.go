package search

import (
	"slices"

	"muster/discovery"
	"muster/host/room/people"
	"muster/host/wire"
)

// Member holds the present facts about a player of a group.
type Member struct {
	ID people.ID
	// Spare is how many more servers the player may be asked for within the promised number.
	Spare int
	// Discreet is the most servers that the player lets a round ask for, 0 for no bound. Asked
	// counts the servers so far. More counts the servers since the organiser's last order.
	Discreet, Asked, More int
	// Lags says that the player answers slowly, and therefore is asked only for the finalists.
	Lags bool
}

// isAskedForFew reports whether the player is asked for few servers.
func (m Member) isAskedForFew() bool { return m.Discreet > 0 || m.Lags }

// mayAsk returns how many servers are left to ask of a player who is asked for few. A discreet
// player's bound also has to cover the finalists.
func (m Member) mayAsk() int {
	if m.Discreet == 0 {
		return m.Spare
	}
	return max(0, m.Discreet-wire.SearchFinalists-m.Asked)
}

// open returns the indexes of the members whom the search asks. It skips members who are asked for
// few servers, unless all are.
func open(members []Member) (of []int) {
	for i := range members {
		if !members[i].isAskedForFew() {
			of = append(of, i)
		}
	}
	if of == nil {
		for i := range members {
			of = append(of, i)
		}
	}
	return of
}

// fewLeft reports whether all members are asked for few servers. If so, it also returns how many more
// servers they may be asked for in all.
func fewLeft(members []Member) (most int, fewLeft bool) {
	for _, m := range members {
		if !m.isAskedForFew() {
			return 0, false
		}
		most += m.mayAsk()
	}
	return most, len(members) > 0
}

// left returns how many of an order's additional servers every group may still be asked for.
func left(more int, groups [][]Member) int {
	left := more
	for _, members := range groups {
		asked := 0
		for _, m := range members {
			asked += m.More
		}
		left = min(left, max(0, more-asked))
	}
	return left
}

// Ask is a question to a player's program about servers.
type Ask struct {
	Player  people.ID
	Servers []int
	// Only says that the program drops its earlier questions, unless it has asked them already.
	Only bool
}

// Groups are the NAT groups that measure. Players behind one address measure as one: one player
// asks a server, and another asks it only after a silence. Most groups have one player.
type Groups struct{ groups []*group }

type group struct {
	players []people.ID
	isFew   bool
	// lags says that all its players answer slowly.
	lags bool
	// isBroken says that a connection has ended, and the room must form the group again.
	isBroken bool
	// out has the open questions: the index of the player who was asked, by server.
	out map[int]int
}

// Form makes groups of players. The questions in out are still open.
func Form(groups [][]Member, out []Ask) *Groups {
	formed := &Groups{}
	for _, members := range groups {
		g := &group{out: map[int]int{}}
		_, g.isFew = fewLeft(members)
		g.lags = len(members) > 0 && !slices.ContainsFunc(members, func(m Member) bool { return !m.Lags })
		for i, m := range members {
			g.players = append(g.players, m.ID)
			for _, ask := range out {
				for _, server := range ask.Servers {
					if ask.Player == m.ID {
						g.out[server] = i
					}
				}
			}
		}
		formed.groups = append(formed.groups, g)
	}
	return formed
}

// Are reports whether the groups still have the same players.
func (g *Groups) Are(groups [][]people.ID) bool {
	return slices.EqualFunc(g.groups, groups, func(g *group, players []people.ID) bool { return !g.isBroken && slices.Equal(g.players, players) })
}

// Out returns the servers that players were asked for and have not reported.
func (g *Groups) Out() (out []Ask) {
	for _, g := range g.groups {
		asks := make([]Ask, len(g.players))
		for server, i := range g.out {
			asks[i].Servers = append(asks[i].Servers, server)
		}
		for i, ask := range asks {
			if ask.Player = g.players[i]; len(ask.Servers) > 0 {
				slices.Sort(ask.Servers)
				out = append(out, ask)
			}
		}
	}
	return out
}

// IsOut reports whether a player of a group was asked for a server and has not answered yet.
func (g *Groups) IsOut(at, server int) bool {
	_, isOut := g.groups[at].out[server]
	return isOut
}

// Idle returns the players who have reported everything that they were asked for.
func (g *Groups) Idle() (idle []people.ID) {
	for _, g := range g.groups {
		busy := make([]bool, len(g.players))
		for _, i := range g.out {
			busy[i] = true
		}
		for i, player := range g.players {
			if !busy[i] && !g.isBroken {
				idle = append(idle, player)
			}
		}
	}
	return idle
}

// Finished returns the players of each group that has reported everything.
func (g *Groups) Finished() (finished [][]people.ID) {
	for _, g := range g.groups {
		if len(g.out) == 0 && !g.isBroken {
			finished = append(finished, g.players)
		}
	}
	return finished
}

// Deal shares servers out among the players of a group. Neighbours in the network go to different
// players, so that each player measures a part of every cluster. Each share keeps the given order.
func (g *Groups) Deal(at int, members []Member, servers []int) (asks []Ask) {
	order := make([]int, len(servers)) // by place in the list, where neighbours are side by side
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return servers[i] - servers[j] })
	of := open(members)
	room := map[int]int{}
	for _, i := range of {
		room[i] = members[i].Spare
	}
	to := make([]int, len(servers))
	for n, i := range order {
		to[i] = of[n%len(of)]
		for next := range len(of) { // the server goes to the next player with room left
			if one := of[(n+next)%len(of)]; room[one] > 0 {
				to[i] = one
				room[one]--
				break
			}
		}
	}
	shares := make([][]int, len(members))
	for i, server := range servers {
		shares[to[i]] = append(shares[to[i]], server)
		g.groups[at].out[server] = to[i]
	}
	for i, share := range shares {
		for part := range slices.Chunk(share, wire.MaxAsked) {
			asks = append(asks, Ask{Player: members[i].ID, Servers: part})
		}
	}
	return asks
}

// find returns a player's group and its place, -1 for a player who measures alone.
func (g *Groups) find(player people.ID) (at, place int) {
	for at, g := range g.groups {
		if place := slices.Index(g.players, player); place >= 0 && !g.isBroken {
			return at, place
		}
	}
	return -1, -1
}

// NATMate is another player of a group, with their state for a server.
type NATMate struct {
	ID    people.ID
	State discovery.State
	// MayAsk says that the player can get to the server, and may be asked for more.
	MayAsk bool
}

// NATMates returns the players who may try a server, in turn, after a player's result. The player's
// own line may be the cause of a silence.
func (g *Groups) NATMates(player people.ID, result discovery.Result) []people.ID {
	at, place := g.find(player)
	if at < 0 || !isOpen(result.State) {
		return nil
	}
	players := g.groups[at].players
	return slices.Concat(players[place+1:], players[:place])
}

// Heard takes a player's result. It returns a question to a mate who may do better, or else the
// group whose result is settled, -1 for none.
func (g *Groups) Heard(player people.ID, result discovery.Result, mates []NATMate) (at int, instead []Ask) {
	at, place := g.find(player)
	if at < 0 {
		return -1, nil
	}
	out := g.groups[at].out
	if i, isOut := out[result.Server]; isOut && i == place {
		delete(out, result.Server)
	} else if isOut && isOpen(result.State) {
		return -1, nil // another player has this question by now
	}
	for _, mate := range mates {
		if mate.State == discovery.Answered {
			break
		}
		if mate.State == discovery.Unprobed && mate.MayAsk {
			out[result.Server] = slices.Index(g.groups[at].players, mate.ID)
			return -1, []Ask{{Player: mate.ID, Servers: []int{result.Server}}}
		}
	}
	return at, nil
}

// isOpen reports whether another player behind the same address may find out more about a server.
func isOpen(state discovery.State) bool {
	return state == discovery.Lost || state == discovery.Forbidden
}

// Release forgets the open questions to a player whose connection has ended. The room must form the
// player's group again.
func (g *Groups) Release(player people.ID) {
	for _, g := range g.groups {
		place := slices.Index(g.players, player)
		if place < 0 {
			continue
		}
		g.isBroken = true
		for server, i := range g.out {
			if i == place {
				delete(g.out, server)
			}
		}
	}
}
