package prober

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"sync"
	"time"

	"muster/discovery"
)

const (
	// turnSends is how many packets leave before the inbox is looked at again.
	turnSends = 64
	// noBufferPause is how long the machine gets to empty its own queue.
	noBufferPause = 10 * time.Millisecond
	// deniedForSure denied packets, and none that passed, mean a firewall.
	deniedForSure = 16
	// minNap is the shortest sleep between packets: at 20,000 a second two leave at
	// each waking, which saves a quarter of processor time.
	minNap = 100 * time.Microsecond
	never  = time.Duration(math.MaxInt64)
)

// errIdlePlan: nothing could ever wake such a plan.
var errIdlePlan = errors.New("prober: the plan waits although no probe is under way")

// intent is the plan's last known answer.
type intent uint8

const (
	mayAsk intent = iota
	waits         // until a result is observed
	stopped
)

// deadline is when the silence after a query has lasted too long.
type deadline struct {
	at    time.Duration
	probe *probe
	gen   uint32
	first bool // the query was the first one: its fate counts
	// target is the probe's at that time
	target int32
	// why the probe is asked, if it waits for that
	why reason
}

// run is one execution of a plan. All of it is owned by the goroutine of loop.
type run struct {
	*Prober
	plan    discovery.Plan
	seen    func(discovery.Result)
	targets *targets
	sought  *sought         // the servers listed by name; nil if there are none
	seeking context.Context // ends lookups
	lookups sync.WaitGroup
	nap     func(time.Duration) // sleeps exactly; nil: timers are exact enough
	woken   <-chan struct{}     // the plan wants more; nil: it never does unasked
	asked   func(server int)    // the plan wants to know who was asked

	intent   intent
	order    int
	underWay int
	// Deadlines come in the order in which they were set, because each queue has one
	// delay: the spacing for repeats, the timeout for ends.
	repeats, ends     fifo[deadline]
	overdue           fifo[deadline] // probes that are due a repeat
	waiting           schedule       // for the allowance of their address
	held              time.Duration  // when packets may leave again: the machine has no room
	lastSent          time.Duration
	answerers         []int                   // the last of the targets behind the router
	controls          map[netip.AddrPort]bool // servers asked again, and whether they answered
	parts             partsBudget
	delivered         int // packets that the machine let out
	denied            int // packets that it denied
	unreachableBefore int // servers without any packet sent, in earlier runs
	forbiddenBefore   int // servers that were not asked, in earlier runs
	unsent            error

	// lateUntil says until when replies to earlier runs may come.
	lateUntil map[netip.AddrPort]time.Duration

	packet []byte
	bodies [][]byte // argument of Parse, reused
	err    error
}

func newRun(p *Prober, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) *run {
	if seen == nil {
		seen = func(discovery.Result) {}
	}
	r := &run{
		Prober:            p,
		plan:              plan,
		seen:              seen,
		targets:           newTargets(servers, p.options.Protocol),
		lateUntil:         p.debts.byAddr(),
		unreachableBefore: p.stats.Unreachable,
		forbiddenBefore:   p.stats.Forbidden,
	}
	_, isStream := p.options.Protocol.(discovery.Stream)
	if r.sought = newSought(r.targets.keys, p.resolver(), isStream); r.sought != nil {
		r.targets.at = slices.Clone(r.targets.keys)
	}
	if w, ok := plan.(discovery.Waker); ok {
		r.woken = w.Woken()
	}
	r.asked = func(int) {}
	if w, ok := plan.(discovery.SendObserver); ok {
		r.asked = w.Asked
	}
	return r
}

// loop is the whole run: take replies, give up what is overdue, send what is owed,
// sleep until there is something to do.
func (r *run) loop(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer r.lookups.Wait()
	var end context.CancelFunc
	r.seeking, end = context.WithCancel(ctx)
	defer end()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		for range len(r.network.received()) {
			r.handle(<-r.network.received())
		}
		select {
		case f := <-r.findings():
			r.find(f)
		default:
		}
		now := r.network.now()
		r.expire(now)
		r.expireBusy(now)
		r.watchRouter(now)
		r.repeat()
		r.ask()
		for _, d := range r.network.takeRefused() {
			r.handle(d)
		}
		before := r.traffic.cap
		r.traffic.sent(r.underWay)
		r.traffic.review(now)
		if r.traffic.cap < before {
			r.options.Logger.Info("replies get lost: asking fewer servers at once", "from", before, "to", r.traffic.cap)
		}
		r.publish(r.underWay)
		if r.err != nil {
			return r.err
		}
		if r.intent == stopped && r.underWay == 0 {
			return r.verdict()
		}
		r.sleep(ctx, timer)
	}
}

// verdict returns the run's error at its end.
func (r *run) verdict() error {
	if r.stats.Unreachable > r.unreachableBefore {
		r.options.Logger.Warn("some servers cannot be reached from this machine and count as lost",
			"servers", r.stats.Unreachable-r.unreachableBefore, "of", r.order, "err", r.unsent)
	}
	if n := r.stats.Forbidden - r.forbiddenBefore; n > 0 {
		r.options.Logger.Warn("some servers were not asked: their addresses have been sent enough", "servers", n, "of", r.order)
	}
	if r.denied > 0 && r.delivered == 0 {
		over := "UDP"
		if _, isStream := r.options.Protocol.(discovery.Stream); isStream {
			over = "TCP"
		}
		return fmt.Errorf("%w: all %d packets were denied; allow muster to send %s", ErrBlocked, r.denied, over)
	}
	return nil
}

// expire handles the deadlines that have passed. A server that answered with a
// challenge is there, even if it was silent to the query that carried the challenge.
func (r *run) expire(now time.Duration) {
	for r.repeats.len() > 0 && r.repeats.first().at <= now {
		switch d := r.repeats.pop(); {
		case !r.holds(d):
		case d.probe.isUnsure():
			r.makeSure(d.probe, silence, 0)
		default:
			r.doubt(d.probe)
			r.request(d.probe, silence)
		}
	}
	for len(r.waiting) > 0 && r.waiting[0].at <= now {
		r.overdue.push(heap.Pop(&r.waiting).(deadline))
	}
	for r.ends.len() > 0 && r.ends.first().at <= now {
		if d := r.ends.pop(); r.holds(d) {
			state := discovery.Lost
			switch p := d.probe; {
			case p.isUnsure() && now < p.worthUntil():
				r.wait(p)
				continue
			case p.heard:
				state = discovery.Answered
			case r.doubt(p):
				r.request(p, silence)
				continue
			case r.router.spares(p, r.targets.at[p.target].Addr()):
				p.spared++
				r.wait(p)
				continue
			}
			r.finish(d.probe, state, d.probe.info)
		}
	}
}

// wait gives a silent server more time.
func (r *run) wait(p *probe) {
	p.due = r.network.now() + r.options.Timeout
	r.ends.push(deadline{at: p.due, probe: p, gen: p.gen, target: int32(p.target)})
}

// doubt asks a silent server again if the router may be at fault.
func (r *run) doubt(p *probe) bool {
	waits := r.router.phase == checking || r.router.phase == draining
	if !waits || p.heard || !crosses(r.targets.at[p.target].Addr()) {
		return false
	}
	if !p.again {
		p.again = true
		r.router.left++
	}
	p.repeats = 0
	return true
}

// watchRouter notices that the router has no room, makes sure, and reports it.
func (r *run) watchRouter(now time.Duration) {
	switch {
	case r.router.suspects():
		r.controls = make(map[netip.AddrPort]bool)
		for _, index := range r.answerers {
			addr := r.targets.at[index]
			if wait, ok := r.options.Allowance.spend(addr.Addr()); !ok || wait > 0 {
				continue
			}
			r.packet = r.options.Protocol.AppendQuery(r.packet[:0], discovery.Nonce(r.nonces.Uint64()), nil)
			if at, err := r.network.send(r.packet, addr); err == nil {
				r.controls[addr], r.lastSent = false, at
				r.stats.PacketsSent++
				r.stats.BytesSent += len(r.packet)
			}
		}
		r.router.wait(checking, now+controlWait)
	case !r.router.isOver(now):
	case r.router.phase == checking:
		answered := 0
		for _, did := range r.controls {
			if did {
				answered++
			}
		}
		if answered == 0 || 2*answered < len(r.controls) {
			r.router.forget() // the whole line is down
			return
		}
		r.router.wait(draining, r.lastSent+forgets)
		if r.options.Rests != nil {
			r.options.Rests(r.router.until - now)
		}
		r.options.Logger.Warn("new servers are silent all at once while the others still answer, as if your " +
			"router had no room for more: waiting half a minute, then asking again")
	case r.router.left == 0:
		r.router.forget()
	default:
		r.router.phase = confirming
	}
}

// narrowRouter keeps the room that was found, and tells the player how to help.
func (r *run) narrowRouter() {
	r.stats.RouterCapacity = r.router.capacity
	r.options.Logger.Warn("your router forgets connections: it has room for few at a time, and servers beyond "+
		"that seemed lost. They are asked again, slowly. "+
		"To be faster raise the limit of connections (sessions, NAT table) in its settings or shorten its UDP timeout", "room", r.router.capacity)
}

// holds reports whether the deadline is still the server's, and notes the fate of a
// first query.
func (r *run) holds(d deadline) bool {
	same := d.probe.gen == d.gen
	if d.first {
		r.traffic.fate(!same || d.probe.heard)
		r.router.fate(d.at-r.traffic.delay, r.targets.at[d.target].Addr(), !same || d.probe.heard)
	}
	return same && d.probe.due == d.at
}

// request asks a server as soon as its address may be asked. If the wait is too long,
// the probe ends with the present knowledge.
func (r *run) request(p *probe, why reason) {
	p.due = 0
	if why == silence {
		r.useNextAddress(p)
	}
	if r.seeks(p) || !r.claims(p, why) {
		return
	}
	to := r.targets.at[p.target].Addr()
	wait, ok := time.Duration(0), !discovery.IsPlaceholder(to) // nobody is there
	if ok {
		wait, ok = r.options.Allowance.spend(to)
	}
	if p.sent == 0 && !r.names {
		wait = max(wait, r.lateUntil[r.targets.at[p.target]]-r.network.now())
	}
	d := deadline{probe: p, gen: p.gen, why: why}
	switch {
	case !ok && p.heard:
		r.finish(p, discovery.Answered, nil)
	case !ok:
		r.stats.Forbidden++
		r.finish(p, discovery.Forbidden, nil)
	case wait > 0:
		d.at = r.network.now() + wait
		heap.Push(&r.waiting, d)
	case why == silence:
		r.overdue.push(d)
	default:
		r.send(p, why)
	}
}

// owed reports whether the bucket has a packet and the machine room for it. It reads
// the clock for each packet: after a stall between two of them, an older reading would
// make two bursts out of one.
func (r *run) owed(b *bucket) bool {
	now := r.network.now()
	return now >= max(r.held, r.router.opens) && b.ready(now)
}

// repeat asks silent servers again, and servers that had to wait, within the rate.
func (r *run) repeat() {
	for range turnSends {
		if r.overdue.len() == 0 {
			r.again.rest()
			return
		}
		if !r.owed(&r.again) {
			return
		}
		d := r.overdue.pop()
		if d.probe.gen != d.gen || d.probe.due != 0 {
			continue // it has answered meanwhile
		}
		r.send(d.probe, d.why)
		r.again.take()
	}
}

// ask starts new probes, within plan, rate and cap.
func (r *run) ask() {
	for range turnSends {
		if !r.mayAsk() {
			r.fresh.rest()
			return
		}
		if !r.owed(&r.fresh) {
			return
		}
		switch probe, verdict := r.plan.Next(); verdict {
		case discovery.Go:
			r.fresh.take()
			r.start(probe)
		case discovery.Wait:
			r.intent = waits
			if r.underWay == 0 {
				r.err = errIdlePlan
			}
		default:
			r.intent = stopped
		}
	}
}

// mayAsk reports whether a new probe may start. Probes that wait for their address
// delay no others.
func (r *run) mayAsk() bool {
	return r.err == nil && r.intent == mayAsk && !r.router.isPaused() && r.underWay-len(r.waiting) < r.traffic.cap
}

// start asks a server that the plan named, unless the outcome of its address is known
// already.
func (r *run) start(wanted discovery.Probe) {
	if wanted.Server < 0 || wanted.Server >= len(r.targets.at) {
		r.err = fmt.Errorf("prober: the plan names server %d of %d", wanted.Server, len(r.targets.at))
		return
	}
	r.order++
	result := discovery.Result{Server: wanted.Server, Order: r.order, Phase: wanted.Phase}
	index := r.targets.first[r.targets.keys[wanted.Server]]
	state, double := &r.targets.states[index], r.targets.doubles[index]
	switch {
	case state.probe == nil && !state.done:
		r.underWay++
		r.request(r.targets.begin(result, index), named)
	case double == nil:
		r.err = fmt.Errorf("prober: the plan names server %d twice", wanted.Server)
	case state.done:
		r.deliver(result, double.result)
	default:
		double.waiting = append(double.waiting, result)
	}
}

// finish ends a probe, and the probes of the same address that wait for it.
func (r *run) finish(p *probe, state discovery.State, info *discovery.Info) {
	outcome := discovery.Result{State: state, Info: info}
	if state == discovery.Answered {
		outcome.RTT = p.rtt()
	}
	r.parts.drop(p)
	result, index := p.result, p.target
	r.noteDebt(p)
	r.leaves(p)
	if addr := r.targets.at[index].Addr(); crosses(addr) && state == discovery.Answered {
		if len(r.answerers) == controls {
			r.answerers = slices.Delete(r.answerers, 0, 1)
		}
		r.answerers = append(r.answerers, index)
	}
	if p.again && r.router.noteRecheck(state == discovery.Answered) {
		r.narrowRouter()
	}
	r.targets.end(p)
	r.underWay--
	r.deliver(result, outcome)
	if double := r.targets.doubles[index]; double != nil {
		double.result = outcome
		for _, other := range double.waiting {
			r.deliver(other, outcome)
		}
		double.waiting = nil
	}
}

// noteDebt notes what a server owes at the end of its probe or of the run.
func (r *run) noteDebt(p *probe) {
	if !r.names {
		r.debts.note(p, r.targets.at[p.target])
	}
}

// deliver passes on the outcome of a probe that the plan named.
func (r *run) deliver(result, outcome discovery.Result) {
	result.State, result.RTT, result.Info = outcome.State, outcome.RTT, outcome.Info
	r.plan.Observe(result)
	if r.intent == waits {
		r.intent = mayAsk
	}
	r.seen(result)
}

// sleep waits until there is something to do. Timers may be a millisecond late, which
// is too late at a high rate.
func (r *run) sleep(ctx context.Context, timer *time.Timer) {
	wake := never
	if r.repeats.len() > 0 {
		wake = r.repeats.first().at
	}
	if r.ends.len() > 0 {
		wake = min(wake, r.ends.first().at)
	}
	if len(r.waiting) > 0 {
		wake = min(wake, r.waiting[0].at)
	}
	if r.sought != nil && r.sought.busy.len() > 0 {
		wake = min(wake, r.sought.busy.first().at)
	}
	if r.overdue.len() > 0 {
		wake = min(wake, max(r.held, r.router.opens, r.again.nextDue()))
	}
	if r.mayAsk() {
		wake = min(wake, max(r.held, r.router.opens, r.fresh.nextDue()))
	}
	if r.router.phase == checking || r.router.phase == draining {
		wake = min(wake, r.router.until)
	}
	left := wake - r.network.now()
	switch {
	case left <= 0:
		return
	case r.nap != nil && left <= time.Millisecond:
		r.nap(max(left, minNap))
		return
	}
	timer.Reset(left)
	select {
	case d := <-r.network.received():
		r.handle(d)
	case f := <-r.findings():
		r.find(f)
	case <-r.woken:
		r.intent = mayAsk
	case <-timer.C:
	case <-ctx.Done():
	}
}

// schedule is a heap of deadlines, the next on top.
type schedule []deadline

func (s schedule) Len() int           { return len(s) }
func (s schedule) Less(i, j int) bool { return s[i].at < s[j].at }
func (s schedule) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *schedule) Push(d any)        { *s = append(*s, d.(deadline)) }
func (s *schedule) Pop() any {
	last := len(*s) - 1
	d := (*s)[last]
	*s = (*s)[:last]
	return d
}

// fifo is a queue that allocates only while it grows.
type fifo[T any] struct {
	items []T
	head  int
}

func (q *fifo[T]) len() int { return len(q.items) - q.head }

func (q *fifo[T]) push(item T) {
	if len(q.items) == cap(q.items) && q.head > len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, item)
}

// first returns the oldest item; there must be one.
func (q *fifo[T]) first() T { return q.items[q.head] }

func (q *fifo[T]) pop() T {
	item := q.items[q.head]
	q.head++
	return item
}
