package coordinate

import (
	"math"

	"muster/discovery"
)

// bitset is a set of servers.
type bitset []uint64

func newBitset(servers int) bitset { return make(bitset, (servers+63)/64) }

func (b bitset) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bitset) add(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) remove(i int)   { b[i/64] &^= 1 << (i % 64) }

// questions hold what each player was asked for, and the results.
type questions []asked

// asked holds the questions of one player.
type asked struct {
	// servers were asked for or measured. met are those that answered.
	servers, met bitset
	// waiting maps unanswered servers to the round of the question. heard is the newest round with
	// an answer.
	waiting map[int]int
	heard   int
	// late is how many rounds before heard still count as under way.
	late int
	// load is how many servers the player was asked for, and limit the most.
	load, limit int
	// checks counts those about ways that may have become shorter, and unchecked the ways that were worth
	// a question in the last round and got none.
	checks, unchecked int
}

func newQuestions(players, servers, late int) questions {
	q := make(questions, players)
	for player := range q {
		q[player] = asked{servers: newBitset(servers), met: newBitset(servers), waiting: map[int]int{}, late: late, limit: math.MaxInt}
	}
	return q
}

// ask records a question of a round.
func (a *asked) ask(server, round int) {
	a.servers.add(server)
	a.waiting[server] = round
	a.load++
}

// answered records a result, and reports whether it was waited for.
func (a *asked) answered(result discovery.Result) (waited bool) {
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

// underWay iterates over the servers whose answers are still likely to come.
func (a *asked) underWay(yield func(server int) bool) {
	for server, round := range a.waiting {
		if round >= a.heard-a.late && !yield(server) {
			return
		}
	}
}

// expected counts them.
func (a *asked) expected() int {
	n := 0
	for range a.underWay {
		n++
	}
	return n
}

// askedCount counts the players who were asked for a server or have measured it.
func (q questions) askedCount(server int) int {
	n := 0
	for player := range q {
		if q[player].servers.has(server) {
			n++
		}
	}
	return n
}

// longest returns the most questions that one player was asked.
func (q questions) longest() (most int) {
	for player := range q {
		most = max(most, q[player].load)
	}
	return most
}

// waiting counts the unanswered questions.
func (q questions) waiting() int {
	n := 0
	for player := range q {
		n += len(q[player].waiting)
	}
	return n
}

// spent reports whether nobody may be asked any more, whatever answers come.
func (q questions) spent(o Options) bool {
	for player := range q {
		if q[player].load < min(o.maxServers(player), q[player].limit) {
			return false
		}
	}
	return true
}

// awaited reports whether all players who have not measured a candidate have been asked
// for it.
func (q questions) awaited(c *candidate) bool {
	for player, ms := range c.rtts {
		if _, waits := q[player].waiting[c.server]; ms == 0 && !waits {
			return false
		}
	}
	return true
}

// quotas returns how many more servers each player may be asked for in a round, and how many
// players have a quota. Checks come on top of the budget, up to most questions in all.
func (q questions) quotas(o Options, most int) (quotas []int, players int) {
	for player := range q {
		inHand := max(0, q[player].expected()-o.Ahead)
		budget := min(o.Budget+min(q[player].checks+q[player].unchecked, mostChecks), most)
		quota := max(0, min(o.Batch-inHand, budget-q[player].load))
		if most, few := o.Few[player]; few {
			quota = max(0, min(most-q[player].load, (most+fewRounds-1)/fewRounds))
		}
		quota = min(quota, max(0, q[player].limit-q[player].load))
		quotas, players = append(quotas, quota), players+min(quota, 1)
	}
	return quotas, players
}
