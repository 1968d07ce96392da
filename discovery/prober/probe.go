package prober

import (
	"time"

	"muster/discovery"
)

const (
	// keptQueries are remembered of each server; the reply to an older one is a
	// stray. The defaults send three, and one more to answer a challenge; memory
	// for 30,000 servers under way grows by 0.7 MB with each.
	keptQueries = 5
	// maxChallenge is the longest challenge that is sent back; the protocols'
	// own have 4 bytes. It bounds what a forged reply can make us send.
	maxChallenge = 32
	// maxChallenges in a row are answered: a server may replace its challenge
	// while the answer to the last one is under way, but not for ever.
	maxChallenges = 3
)

// query is one datagram that was sent to a server.
type query struct {
	nonce      discovery.Nonce
	sent       time.Duration
	challenged bool // it carried a challenge
	answered   bool
}

// probe is one server under way: what it was asked and what came back.
type probe struct {
	result discovery.Result // with Server, Order and Phase set
	target int              // index in the list, of the first entry with this address
	gen    uint32           // tells this use of the struct from the next one

	queries [keptQueries]query // a ring
	sent    int                // queries in all
	repeats int                // of them, after silence
	due     time.Duration      // when the silence has lasted too long; 0: waits for a repeat

	challenge    [maxChallenge]byte
	challengeLen uint8
	inARow       uint8 // challenges answered since the last silence

	heard        bool          // some reply counted
	clean, rough time.Duration // the best RTT of each kind, negative if none

	parts *parts // of a reply in several datagrams
}

// pair is what a reply makes, together with a query.
type pair uint8

const (
	// stray: no query of ours asked for it.
	stray pair = iota
	// duplicate: the query it belongs to is answered already.
	duplicate
	// rough: it answers one of several queries, nobody knows which.
	rough
	// clean: it answers this query and no other.
	clean
)

func (p *probe) begin(result discovery.Result, target int) {
	*p = probe{result: result, target: target, gen: p.gen, clean: -1, rough: -1}
}

// record notes that a query left.
func (p *probe) record(nonce discovery.Nonce, at time.Duration) {
	p.queries[p.sent%keptQueries] = query{nonce: nonce, sent: at, challenged: p.challengeLen > 0}
	p.sent++
}

// kept is the range of queries that are remembered, oldest first.
func (p *probe) kept() (from, to int) { return max(0, p.sent-keptQueries), p.sent }

func (p *probe) query(i int) *query { return &p.queries[i%keptQueries] }

// match finds the query that a complete reply answers, and the RTT of the pair
// if there is one. First says that it was the very first query.
func (p *probe) match(reply discovery.Reply, at arrival) (rtt time.Duration, kind pair, first bool) {
	if reply.Echoed {
		return p.matchNonce(reply.Nonce, at)
	}
	return p.matchTime(reply.Challenge != nil, at)
}

func (p *probe) matchNonce(nonce discovery.Nonce, at arrival) (time.Duration, pair, bool) {
	for i, to := p.kept(); i < to; i++ {
		q := p.query(i)
		switch {
		case q.nonce != nonce:
			continue
		case q.answered:
			return 0, duplicate, false
		}
		q.answered = true
		return at.since(q.sent), clean, i == 0
	}
	return 0, stray, false
}

// matchTime pairs a reply that does not tell its query. The candidates are the
// unanswered queries that had left when it arrived; once a server has demanded
// a challenge, it describes itself only to those that carry one. Several
// candidates make a rough pair: the time counts from the last, which after a
// second's silence is nearly always right, and the oldest one is taken as
// answered, so that the others' replies are not mistaken for later ones'.
func (p *probe) matchTime(isChallenge bool, at arrival) (time.Duration, pair, bool) {
	var oldest, last *query
	from, to := p.kept()
	for i := from; i < to; i++ {
		q := p.query(i)
		if q.answered || q.sent > at.kernel || !isChallenge && p.challengeLen > 0 && !q.challenged {
			continue
		}
		if oldest == nil {
			oldest = q
		}
		last = q
	}
	switch {
	case at.kernel < p.query(from).sent:
		return 0, stray, false // meant for an earlier run
	case oldest == nil:
		return 0, duplicate, false
	}
	kind := rough
	if oldest == last {
		kind = clean
	}
	oldest.answered = true
	return at.since(last.sent), kind, p.repeats == 0
}

// learn takes the RTT of a pair; the lowest of each kind is kept.
func (p *probe) learn(rtt time.Duration, kind pair) {
	p.heard = true
	best := &p.rough
	if kind == clean {
		best = &p.clean
	}
	if *best < 0 || rtt < *best {
		*best = rtt
	}
}

// rtt is the best that is known: a clean pair's if there is one.
func (p *probe) rtt() time.Duration {
	if p.clean >= 0 {
		return p.clean
	}
	return max(0, p.rough)
}

// demanded is the challenge that queries carry.
func (p *probe) demanded() []byte { return p.challenge[:p.challengeLen] }

// accept takes a challenge that the next query shall carry. It refuses one that
// was answered already (a duplicate) and a fourth in a row.
func (p *probe) accept(challenge []byte) bool {
	if p.inARow == maxChallenges || p.repeatsChallenge(challenge) {
		return false
	}
	p.challengeLen = uint8(copy(p.challenge[:], challenge))
	p.inARow++
	return true
}

// repeatsChallenge reports whether the challenge is the one that was sent back.
func (p *probe) repeatsChallenge(challenge []byte) bool {
	return p.challengeLen > 0 && string(challenge) == string(p.demanded())
}
