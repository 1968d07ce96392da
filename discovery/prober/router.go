package prober

import (
	"encoding/binary"
	"net/netip"
	"time"

	"muster/discovery"
)

const (
	// After forgets without a packet a router has forgotten a server: 30 s for Linux
	// and most others, and some reserve.
	forgets = 32 * time.Second
	// The router is suspected after recent first queries with at most recentAnswers
	// answers, in recentBlocks blocks of addresses or more, because a provider's
	// servers may all be down. At least usualShare of all queries before were answered.
	recent        = 32
	recentAnswers = 1
	recentBlocks  = 12
	usualShare    = 0.3
	// controls is how many servers that answered are asked again. A router that is full still knows
	// them. Half of them answer within controlWait.
	controls    = 6
	controlWait = 1500 * time.Millisecond
	// After sparedFrom silences in a row, a silent server may not be lost. The run then waits up to
	// maxSpared times longer for its answer.
	sparedFrom = 8
	maxSpared  = 3
	// Of the servers asked again, confirmed answers prove that it was the router, and
	// refuted silences that it was not.
	confirmed = 8
	refuted   = 24
	// capacityShare is the fraction of the router's capacity that is used from then on, because
	// others in the house need the rest. At least minRoom servers are asked in half a minute.
	capacityShare = 0.7
	minCapacity   = 16
	// atOnce is the fraction of these servers that is asked at full speed. The others are asked one
	// by one. A player that asks all at once is silent for half a minute afterwards, and a group
	// goes on without silent players.
	atOnce = 0.4
)

// routerPhase is how far the suspicion has come that the router's table is full.
type routerPhase uint8

const (
	watching   routerPhase = iota
	checking               // servers that answered are asked again, all others wait
	draining               // nobody is asked until the router has forgotten all
	confirming             // silent servers are asked again
	limited                // it was the router: only so many in half a minute
	unlimited              // it was not
)

// router notices a router whose table holds few connections, and that drops packets to further
// servers. The loss depends on the number of servers asked, not on the rate. It ends only when the
// router forgets the first servers. The struct sees neither clock nor socket.
type router struct {
	phase routerPhase
	until time.Duration // when checking and draining are over
	opens time.Duration // when packets may leave again

	// The fates of first queries, in the order of sending.
	fates    int
	answered int
	ring     [recent]firstFate
	silent   int // in a row, so far
	// silentBlocks are the blocks of those silent servers, up to the number that matters,
	// because neighbours may be asked one after the other. fatesBefore is how many fates there
	// were in the half minute before the first of them.
	silentBlocks map[uint32]bool
	fatesBefore  int
	// seconds are how many fates there were at the beginning of each of the last.
	seconds fifo[mark]

	capacity          int // servers that it can know at a time, by our estimate
	asked             fifo[time.Duration]
	proved, disproved int
	left              int // servers to be asked again
}

type firstFate struct {
	answered bool
	block    uint32
	before   int // fates in the half minute before it
}

type mark struct {
	at    time.Duration
	fates int
}

// crosses reports whether packets to an address go through a router's table.
func crosses(addr netip.Addr) bool { return discovery.ReachOf(addr) == discovery.InternetReach }

// block returns the first bits of an address. Few providers share such a block.
func block(addr netip.Addr) uint32 {
	bytes := addr.As16()
	if addr.Is4() {
		return uint32(binary.BigEndian.Uint16(bytes[12:]))
	}
	return binary.BigEndian.Uint32(bytes[:])
}

// fate notes whether a first query that left at a time was answered.
func (r *router) fate(sent time.Duration, addr netip.Addr, answered bool) {
	if r.phase != watching || !crosses(addr) {
		return
	}
	for r.seconds.len() > 0 && r.seconds.first().at < sent-forgets {
		r.seconds.pop()
	}
	if r.seconds.len() == 0 || sent-r.seconds.items[len(r.seconds.items)-1].at >= time.Second {
		r.seconds.push(mark{sent, r.fates})
	}
	before := r.fates - r.seconds.first().fates
	r.ring[r.fates%recent] = firstFate{answered, block(addr), before}
	r.fates++
	if answered {
		r.answered++
		r.silent = 0
		return
	}
	if r.silent == 0 {
		r.silentBlocks, r.fatesBefore = make(map[uint32]bool, recentBlocks), before
	}
	if r.silent++; len(r.silentBlocks) < recentBlocks {
		r.silentBlocks[block(addr)] = true
	}
}

// suspects reports whether the last servers were silent as if the router's table was full. It also
// estimates how many entries the table had.
func (r *router) suspects() bool {
	if r.phase != watching || r.silent < recent/2 || r.fates < 2*recent {
		return false
	}
	answers := 0
	for _, f := range r.ring {
		if f.answered {
			answers++
		}
	}
	if answers > recentAnswers || float64(r.answered-answers) < usualShare*float64(r.fates-recent) {
		return false
	}
	blocks := make(map[uint32]bool, recent)
	for _, f := range r.ring {
		blocks[f.block] = true
	}
	switch {
	case len(blocks) >= recentBlocks:
		r.capacity = r.ring[r.fates%recent].before // the oldest of them
	case len(r.silentBlocks) >= recentBlocks:
		r.capacity = r.fatesBefore
	default:
		return false
	}
	return true
}

// forget resets everything.
func (r *router) forget() { *r = router{} }

// wait pauses all questions until a time that ends a phase.
func (r *router) wait(phase routerPhase, until time.Duration) {
	r.phase, r.until, r.opens = phase, until, until
}

func (r *router) isOver(now time.Duration) bool {
	return (r.phase == checking || r.phase == draining) && now >= r.until
}

// spares reports whether a silent server may be silent because of the router.
func (r *router) spares(p *probe, addr netip.Addr) bool {
	return r.phase == watching && r.silent >= sparedFrom && r.fates >= 2*sparedFrom && p.spared < maxSpared && crosses(addr)
}

// isPaused reports whether no new server may be asked for now.
func (r *router) isPaused() bool {
	return r.phase == checking || r.phase == draining || r.phase == confirming
}

// sent notes a packet to a server that needs a new entry in the router.
func (r *router) sent(at time.Duration) {
	if r.phase != confirming && r.phase != limited {
		return
	}
	for r.asked.len() > 0 && r.asked.first() <= at-forgets {
		r.asked.pop()
	}
	r.asked.push(at)
	switch most, asked := max(minCapacity, int(capacityShare*float64(r.capacity))), r.asked.len(); {
	case asked >= most:
		r.opens = r.asked.first() + forgets
	case float64(asked) >= atOnce*float64(most):
		r.opens = at + forgets/time.Duration(most)
	}
}

// noteRecheck notes whether a server that was asked again answered. It reports whether it is
// certain now that the router has no room.
func (r *router) noteRecheck(answered bool) (certain bool) {
	r.left--
	if r.phase != confirming {
		return false
	}
	if answered {
		r.proved++
	} else {
		r.disproved++
	}
	switch {
	case r.proved >= confirmed || r.left == 0 && r.proved > r.disproved:
		r.phase = limited
		return true
	case r.disproved >= refuted || r.left == 0:
		r.phase, r.opens = unlimited, 0
	}
	return false
}
