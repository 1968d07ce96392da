package prober

import (
	"net/netip"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
)

const (
	// keptQueries of each server are remembered; the reply to an older one is a stray.
	// The defaults send three, and one more to answer a challenge. Each takes 0.7 MB
	// for 30,000 servers under way.
	keptQueries = 5
	// maxChallenge is the longest challenge that is sent back; the protocols' own have
	// 4 bytes. It bounds what a forged reply can make us send.
	maxChallenge = 32
	// maxFarewell is the longest goodbye that is sent; Luanti's has 9 bytes.
	maxFarewell = 32
	// maxChallenges in a row are answered. A server may replace its challenge while the
	// answer to the last one is under way, but not for ever.
	maxChallenges = 3
	// maxUnpacked is how many packed replies of one server are unpacked in a run. An
	// honest server sends one; its challenge and a repeated query make it two.
	maxUnpacked = 3
	// maxLate is longer than any game server's answer takes, and lateness how much later than
	// others an answer may come on an ordinary line.
	maxLate  = 4 * time.Second
	lateness = time.Second / 8
	// slab is how many probes are allocated at once.
	slab = 128
)

// query is one datagram that was sent to a server.
type query struct {
	nonce      discovery.Nonce
	sent       time.Duration
	challenged bool // it carried a challenge
	answered   bool
}

// probe is one server under way: its queries and replies.
type probe struct {
	result discovery.Result // with Server, Order and Phase set
	target int              // index in the list, of the first entry with this address
	gen    uint32           // a new one for each use of the struct

	queries [keptQueries]query // a ring
	sent    int                // number of queries
	repeats int                // of them, after silence
	due     time.Duration      // when the silence has lasted too long; 0: waits for a repeat

	challenge    [maxChallenge]byte
	challengeLen uint8
	inARow       uint8 // challenges answered since the last silence

	heard        bool            // some reply counted
	replies      int             // that have come, wanted or not
	clean, rough time.Duration   // the best RTT of each kind, negative if none
	sure         bool            // asked once more, for a pair that is certain
	info         *discovery.Info // the info of a rough pair
	spared       uint8           // silences that may be the router's fault
	again        bool            // asked again because of the router
	unpacked     uint8           // replies that were unpacked

	parts *parts // of a reply in several datagrams
}

// pair rates the match of a reply with a query.
type pair uint8

const (
	// stray: no query of ours asked for it.
	stray pair = iota
	// duplicate: its query is answered already.
	duplicate
	// rough means that it is unknown which of several queries the answer belongs to, or that it
	// comes too soon to be an answer to any.
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

// keptRange returns the range of queries that are remembered, oldest first.
func (p *probe) keptRange() (from, to int) { return max(0, p.sent-keptQueries), p.sent }

func (p *probe) query(i int) *query { return &p.queries[i%keptQueries] }

// match finds the query that a complete reply answers, and the RTT of the pair if there
// is one. First reports that it was the very first query. If a protocol returns so few
// bits of a nonce that several queries share them, the pair is rough. Its RTT then
// counts from the oldest of them.
func (p *probe) match(reply discovery.Reply, at arrival) (rtt time.Duration, kind pair, first bool) {
	if !reply.Echoed {
		return p.matchTime(reply.Challenge != nil, at)
	}
	kind = stray
	for i, to := p.keptRange(); i < to; i++ {
		q := p.query(i)
		switch {
		case !reply.Answers(q.nonce):
		case q.answered && kind == stray:
			kind = duplicate
		case kind == clean:
			q.answered, kind = true, rough
		case !q.answered && kind != rough:
			q.answered = true
			rtt, kind, first = at.since(q.sent), clean, i == 0
		}
	}
	return rtt, kind, first
}

// matchSent pairs the outcome of a connection with the query that began it. The pair is
// rough if something took longer than the connection.
func (p *probe) matchSent(s *spoken, at arrival) (rtt time.Duration, kind pair, first bool) {
	for i, to := p.keptRange(); i < to; i++ {
		if q := p.query(i); q.sent == s.sent {
			q.answered, kind = true, clean
			if s.late {
				kind = rough
			}
			return at.since(s.sent), kind, i == 0
		}
	}
	return 0, stray, false
}

// The RTT of an answer to a challenge is at least the fraction plausible of the challenge's RTT,
// less plausibleOff if it is small. A server may send its answer right after its challenge, without
// a question. The time of such an answer says nothing about the server's distance.
const (
	plausible    = 2.0 / 3
	plausibleOff = 2 * time.Millisecond
)

// matchTime pairs a reply that does not name its query. The candidates are the
// unanswered queries that had left when it arrived. Once a server has demanded a
// challenge, it describes itself only to queries that carry one.
//
// Several candidates make a rough pair (Karn's rule). It counts from the oldest of
// them, because a server may keep its answer until we repeat the question. All of them
// then count as answered. The server is no farther away than that, so a query that is
// much older is no candidate later.
func (p *probe) matchTime(isChallenge bool, at arrival) (time.Duration, pair, bool) {
	var oldest, last *query
	from, to := p.keptRange()
	for i := from; i < to; i++ {
		q := p.query(i)
		isTooOld := p.isUnsure() && at.kernel > p.settled(q)
		if q.answered || isTooOld || q.sent > at.kernel || !isChallenge && p.challengeLen > 0 && !q.challenged {
			continue
		}
		if oldest == nil {
			oldest = q
		}
		q.answered, last = true, q
	}
	switch {
	case at.kernel < p.query(from).sent:
		return 0, stray, false // meant for an earlier run
	case oldest == nil:
		return 0, duplicate, false
	}
	rtt, kind := at.since(oldest.sent), clean
	hasty := !isChallenge && last.challenged && float64(rtt+plausibleOff) < plausible*float64(p.clean)
	if oldest != last || hasty {
		kind = rough
	}
	return rtt, kind, p.repeats == 0
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

// settled returns when the answer to a query must have come: no later than what is known of the
// server's distance tells, and somewhat more. The longest lines have the longest queues, and
// delay packets most unevenly.
func (p *probe) settled(q *query) time.Duration {
	longest := maxLate
	if p.heard {
		longest = p.rtt()
	}
	return q.sent + longest + lateness + max(0, longest-minSpacing)/2
}

// worthUntil returns until when it is worth to wait for a certain pair: as long as the server may
// be nearer than the rough pair tells, because it answered a repeat, or must still describe itself.
func (p *probe) worthUntil() time.Duration {
	until := p.settled(p.query(p.sent - 1))
	if p.info != nil {
		until -= minSpacing
	}
	return until
}

// isUnsure reports whether the server has answered, and no pair is certain.
func (p *probe) isUnsure() bool { return p.clean < 0 && p.rough >= 0 }

// rtt returns the best known RTT: a clean pair's if there is one. A rough one is at
// least as long as the truth.
func (p *probe) rtt() time.Duration {
	if p.clean >= 0 {
		return p.clean
	}
	return max(0, p.rough)
}

// demanded returns the challenge that queries carry.
func (p *probe) demanded() []byte { return p.challenge[:p.challengeLen] }

// accept takes a challenge for the next query. It refuses one that was answered already
// (a duplicate) and a fourth in a row.
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

// A reply in several datagrams is kept until it is whole, within these bounds.
const (
	maxParts      = 64
	maxPartsBytes = 64 << 10
	// maxAllParts bounds the bytes that all servers together can make us keep.
	maxAllParts = 4 << 20
)

// parts are the datagrams of one server's incomplete reply.
type parts struct {
	first     arrival // arrival of the first: the RTT is that of a packet pair
	datagrams [][]byte
	bytes     int
}

// partsBudget is the size of all incomplete replies together.
type partsBudget struct{ bytes int }

// keep copies a datagram of an incomplete reply. It returns false at a bound. The reply
// then stays incomplete, and its probe ends like a silent one.
func (b *partsBudget) keep(p *probe, body []byte, at arrival) bool {
	if p.parts == nil {
		p.parts = &parts{first: at}
	}
	s := p.parts
	if len(s.datagrams) == maxParts || s.bytes+len(body) > maxPartsBytes || b.bytes+len(body) > maxAllParts {
		return false
	}
	s.datagrams = append(s.datagrams, append([]byte(nil), body...))
	s.bytes += len(body)
	b.bytes += len(body)
	return true
}

// drop forgets a server's incomplete reply.
func (b *partsBudget) drop(p *probe) {
	if p.parts != nil {
		b.bytes -= p.parts.bytes
		p.parts = nil
	}
}

// debt is an address that was asked, and has not answered every query. It may do so until then.
type debt struct {
	addr  netip.AddrPort
	until time.Duration
}

// debts are the debts of all runs of a prober that are not too old.
type debts struct{ fifo[debt] }

// note adds what a probe's address owes.
func (d *debts) note(p *probe, addr netip.AddrPort) {
	if p.sent == 0 || p.replies >= p.sent {
		return
	}
	last := p.query(p.sent - 1)
	for d.len() > 0 && d.first().until < last.sent {
		d.pop()
	}
	d.push(debt{addr, p.settled(last)})
}

// byAddr returns for each address the latest time at which its last answer may come.
func (d *debts) byAddr() map[netip.AddrPort]time.Duration {
	until := make(map[netip.AddrPort]time.Duration, d.len())
	for _, debt := range d.items[d.head:] {
		until[debt.addr] = max(until[debt.addr], debt.until)
	}
	return until
}

// targets are the listed servers by address, during a run.
type targets struct {
	keys    []netip.AddrPort       // what tells each from the others, by index in the list
	at      []netip.AddrPort       // where each is asked: there, or where its name leads
	first   map[netip.AddrPort]int // the first entry with this address
	states  []target               // by index of such first entries
	doubles map[int]*double        // addresses that are listed more than once
	free    []*probe
}

// target is the state of one address.
type target struct {
	probe *probe // nil: not under way yet, or no longer
	done  bool
}

// double is an address with several entries in the list. It is asked once. The outcome
// counts for all entries that the plan names.
type double struct {
	result  discovery.Result
	waiting []discovery.Result // entries named while it is under way
}

func newTargets(servers []discovery.Server, protocol discovery.Protocol) *targets {
	t := &targets{
		keys:    make([]netip.AddrPort, len(servers)),
		first:   make(map[netip.AddrPort]int, len(servers)),
		states:  make([]target, len(servers)),
		doubles: map[int]*double{},
	}
	for i, server := range servers {
		addr := discovery.Canonical(server.Addr)
		if !hostport.IsName(addr.Addr()) {
			addr = netip.AddrPortFrom(addr.Addr(), queryPort(protocol, addr.Port()))
		}
		t.keys[i] = addr
		if first, listed := t.first[addr]; listed {
			t.doubles[first] = &double{}
		} else {
			t.first[addr] = i
		}
	}
	t.at = t.keys
	return t
}

// queryPort returns the port to query for a server whose players use this one.
func queryPort(protocol discovery.Protocol, port uint16) uint16 {
	if aside, ok := protocol.(discovery.Aside); ok {
		return aside.QueryPort(port)
	}
	return port
}

// begin puts a server under way.
func (t *targets) begin(result discovery.Result, index int) *probe {
	if len(t.free) == 0 {
		probes := make([]probe, slab)
		for i := range probes {
			t.free = append(t.free, &probes[i])
		}
	}
	last := len(t.free) - 1
	p := t.free[last]
	t.free = t.free[:last]
	p.begin(result, index)
	t.states[index].probe = p
	return p
}

// end finishes a server's probe. The struct is used again: code that keeps a reference
// to it must compare its generation.
func (t *targets) end(p *probe) {
	t.states[p.target] = target{done: true}
	p.gen++
	t.free = append(t.free, p)
}
