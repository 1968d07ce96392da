package coordinate

import (
	"math"

	"muster/discovery"
)

// questions are who was asked for what, and what came of it.
type questions struct{ players []asked }

// asked are the questions of one player.
type asked struct {
	// servers were asked for or measured, met ones answered.
	servers, met bitset
	// waiting are those asked for and not yet answered, with the round of it, and
	// heard is the newest round of which anything was answered.
	waiting map[int]int
	heard   int
	// load is how many servers the player was asked for.
	load int
}

// bitset is a set of servers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bitset) add(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) remove(i int)   { b[i/64] &^= 1 << (i % 64) }

func newQuestions(players, servers int) *questions {
	q := &questions{players: make([]asked, players)}
	for player := range q.players {
		q.players[player] = asked{servers: newBitset(servers), met: newBitset(servers), waiting: map[int]int{}}
	}
	return q
}

// ask notes a question of a round.
func (a *asked) ask(server, round int) {
	a.servers.add(server)
	a.waiting[server] = round
	a.load++
}

// answered notes a result, and reports whether it was waited for.
func (q *questions) answered(player int, result discovery.Result) (waited bool) {
	a := &q.players[player]
	round, waited := a.waiting[result.Server]
	if waited {
		a.heard = max(a.heard, round)
		delete(a.waiting, result.Server)
	}
	if result.State == discovery.Answered {
		a.met.add(result.Server)
	}
	if result.State != discovery.Unprobed {
		a.servers.add(result.Server)
	}
	return waited
}

// expected is how many answers are likely to come yet.
func (a *asked) expected() int {
	n := 0
	for _, round := range a.waiting {
		if round >= a.heard {
			n++
		}
	}
	return n
}

// by counts who was asked for a server or has measured it.
func (q *questions) by(server int) int {
	n := 0
	for player := range q.players {
		if q.players[player].servers.has(server) {
			n++
		}
	}
	return n
}

// busy reports whether anybody has a question to answer.
func (q *questions) busy() bool {
	for player := range q.players {
		if len(q.players[player].waiting) > 0 {
			return true
		}
	}
	return false
}

// quotas are how many more servers each player may be asked for in a round, and
// for how many players that is any. The first look takes what it takes.
func (q *questions) quotas(o Options, round int) (quotas []int, players int) {
	batch := o.Batch
	if round == 0 {
		batch = math.MaxInt
	}
	for player := range q.players {
		a := &q.players[player]
		quota := max(0, min(batch-a.expected(), o.Budget-a.load))
		quotas, players = append(quotas, quota), players+min(quota, 1)
	}
	return quotas, players
}
