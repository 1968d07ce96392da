package coordinate

import (
	"iter"
	"math"
)

// asking is a round's questions while they are being handed out.
type asking struct {
	*Planner
	// quota is how many more servers each player may be asked for; those who
	// may be asked for none are left out.
	quota map[int]int
	asked [][]int
	// crowd counts who is asked for a server.
	crowd map[int]int
}

// At most leastCrowd players are asked for one server in a round, or half of a
// large group, which could not finish otherwise; the others' turn is in the next
// ones. Quake 3's servers answer ten at once and then ten a second, whoever asks.
const (
	leastCrowd = 5
	crowdShare = 2
)

// crowded tells that enough are asked for a server in this round.
func (a *asking) crowded(server int) bool {
	return a.crowd[server] >= max(leastCrowd, len(a.members)/crowdShare)
}

func (p *Planner) newAsking() *asking {
	a := &asking{Planner: p, quota: make(map[int]int), crowd: make(map[int]int), asked: make([][]int, len(p.members))}
	for player, m := range p.members {
		batch := p.options.Batch
		if p.round == 0 { // the first look takes what it takes
			batch = math.MaxInt
		}
		if quota := min(batch-m.expected(), p.options.Budget-m.load); quota > 0 && !m.absent {
			a.quota[player] = quota
		}
	}
	return a
}

// ask has a player asked for a server, unless they were before or have enough to
// do.
func (a *asking) ask(player, server int) bool {
	m := a.members[player]
	if a.quota[player] <= 0 || m.has(server) || a.crowded(server) {
		return false
	}
	a.crowd[server]++
	m.mark(server, true)
	m.waiting[server] = a.round
	m.load++
	a.quota[player]--
	a.row(a.tree.of[server]).waiting++
	a.asked[player] = append(a.asked[player], server)
	return true
}

// everybody has all measure a machine who have not, and tells whether there is
// one who may.
func (a *asking) everybody(at int32) (asked bool) {
	r := a.row(at)
	for player := range a.inTurn() {
		if !a.members[player].absent && r.rtts[player] == 0 {
			asked = a.ask(player, r.server) || asked
		}
	}
	return asked
}

// inTurn are the players, beginning with another one each time.
func (a *asking) inTurn() iter.Seq[int] {
	return func(yield func(int) bool) {
		n := len(a.members)
		first := a.rng.IntN(n)
		for i := range n {
			if !yield((first + i) % n) {
				return
			}
		}
	}
}

// verify has all measure a server itself who know only others on its machine.
func (a *asking) verify(server int) {
	for player := range a.inTurn() {
		a.ask(player, server)
	}
}

// scout has the one look at a server who was asked least. Where it may well not
// suit, so that nobody else will, it is one who knows nothing of its network: what
// several find of several machines tells of the network as well.
func (a *asking) scout(server int) bool {
	scout, nearest := -1, everything
	for player := range a.inTurn() {
		m := a.members[player]
		if a.quota[player] <= 0 || m.has(server) {
			continue
		}
		l := everything
		if a.unknown(server) {
			_, l, _ = a.relatives.nearest(player, a.tree.of[server])
			l = min(l, block)
		}
		if scout < 0 || l < nearest || l == nearest && m.load < a.members[scout].load {
			scout, nearest = player, l
		}
	}
	return scout >= 0 && a.ask(scout, server)
}

// fresh is how many new machines fit into the round, if as many of them as
// before turn out to be worth everybody's look in the next.
func (a *asking) fresh() int {
	left, n := 0, len(a.quota)
	for _, quota := range a.quota {
		left += min(max(0, quota), a.options.Batch)
	}
	share := (float64(a.passed) + 4) / (float64(a.reviewed) + 4)
	steady := float64(a.options.Batch*n) / (1 + float64(n-1)*share)
	return min(left, int(math.Ceil(steady)))
}

// batches are the questions by player, each in another order, so that no server
// is asked by everybody at once.
func (a *asking) batches() []Batch {
	var batches []Batch
	for player, servers := range a.asked {
		if len(servers) > 0 {
			a.rng.Shuffle(len(servers), func(i, j int) { servers[i], servers[j] = servers[j], servers[i] })
			batches = append(batches, Batch{player, servers})
		}
	}
	return batches
}
