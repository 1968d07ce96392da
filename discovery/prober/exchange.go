package prober

import (
	"bytes"
	"container/heap"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"muster/discovery"
)

// reason is why a query is sent.
type reason uint8

const (
	named     reason = iota // the plan named the server
	silence                 // the last query was not answered
	demanded                // the server demands its challenge
	certainty               // there is a reply, but no certain pair
)

// send asks a server, and sets the deadline for its reply.
func (r *run) send(p *probe, why reason) {
	nonce := discovery.Nonce(r.nonces.Uint64())
	r.packet = r.options.Protocol.AppendQuery(r.packet[:0], nonce, p.demanded())
	at, err := r.network.send(r.packet, r.targets.at[p.target])
	if err != nil {
		r.sendFailed(p, why, err)
		return
	}
	r.delivered++
	if crosses(r.targets.at[p.target].Addr()) && (p.sent == 0 || at-p.query(p.sent-1).sent >= forgets) {
		r.router.sent(at)
	}
	r.lastSent = at
	r.stats.PacketsSent++
	r.stats.BytesSent += len(r.packet)
	p.record(nonce, at)
	if p.sent == 1 {
		r.asked(p.result.Server)
	}
	switch why {
	case silence:
		p.repeats++
		p.inARow = 0
		r.parts.drop(p)
		r.stats.Retries++
	case demanded:
		r.stats.Challenges++
	}
	queue, delay := &r.ends, r.options.Timeout
	if p.repeats < r.retries(p) {
		queue, delay = &r.repeats, r.options.spacing()
	}
	p.due = at + delay
	queue.push(deadline{at: p.due, probe: p, gen: p.gen, target: int32(p.target), first: p.sent == 1})
}

// sendFailed handles a query that did not leave. If the machine has no room for it, the
// run slows down. Any other error ends the probe.
func (r *run) sendFailed(p *probe, why reason, err error) {
	r.stats.SendErrors++
	now := r.network.now()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return // the run's context has ended
	case errors.Is(err, net.ErrClosed):
		r.err = fmt.Errorf("prober: closed during a run: %w", err)
		return
	case noBuffers(err):
		if now >= r.held {
			r.traffic.cut(now)
		}
		r.held = now + noBufferPause
		p.due = 0
		r.overdue.push(deadline{probe: p, gen: p.gen, why: why})
		return
	case denied(err):
		r.denied++
		if r.delivered == 0 && r.denied == deniedForSure {
			r.err = r.verdict()
		}
	}
	if !r.tryNextAddress(p, r.targets.at[p.target]) {
		r.lose(p, err)
	}
}

// lose ends the probe of a server that cannot be reached.
func (r *run) lose(p *probe, err error) {
	r.stats.Unreachable++
	r.unsent = err
	r.finish(p, discovery.Lost, nil)
}

// handle judges one datagram and gives it back.
func (r *run) handle(d *datagram) {
	defer r.network.giveBack(d)
	if d.spoken != nil {
		r.stats.BytesReceived += d.spoken.bytes
	}
	if !d.refused {
		r.stats.PacketsReceived++
		r.stats.BytesReceived += len(d.body)
	}
	index, listed := r.whose(d.peer)
	if !listed {
		r.stats.Strays++
		return
	}
	state := r.targets.states[index]
	switch {
	case d.spoken != nil && d.spoken.err != nil:
		r.unspoken(state.probe, d.spoken)
	case state.probe != nil && !d.refused:
		r.answer(state.probe, d)
	case state.probe != nil && r.quotes(state.probe, d.body):
		if !r.tryNextAddress(state.probe, d.peer) {
			r.stats.Refused++ // one ICMP error is enough, because it leaves no doubt
			r.finish(state.probe, discovery.Refused, nil)
		}
	case state.done && !d.refused:
		if answered, isControl := r.controls[d.peer]; isControl && !answered {
			r.controls[d.peer] = true
			return
		}
		r.stats.Duplicates++
	default:
		r.stats.Strays++
	}
}

// unspoken handles a server without a connection, or without a conversation over it.
func (r *run) unspoken(p *probe, s *spoken) {
	switch {
	case errors.Is(s.err, discovery.ErrMalformed):
		r.stats.Malformed++
	case errors.Is(s.err, os.ErrDeadlineExceeded) || errors.Is(s.err, net.ErrClosed) || reset(s.err):
	case p != nil && p.query(p.sent-1).sent == s.sent:
		r.sendFailed(p, named, s.err)
	}
}

// quotes reports whether the bytes begin one of the server's queries. ICMP errors may
// quote less of it, down to nothing (RFC 792), and may pad it (RFC 4884).
func (r *run) quotes(p *probe, quoted []byte) bool {
	for i, to := p.keptRange(); i < to; i++ {
		var challenge []byte
		if p.query(i).challenged {
			challenge = p.demanded()
		}
		r.packet = r.options.Protocol.AppendQuery(r.packet[:0], p.query(i).nonce, challenge)
		n := min(len(quoted), len(r.packet))
		if bytes.Equal(quoted[:n], r.packet[:n]) {
			return true
		}
	}
	return false
}

// answer judges a datagram from a server under way, and acts on a reply that counts.
func (r *run) answer(p *probe, d *datagram) {
	reply, at, err := r.parse(p, d)
	switch {
	case err != nil || len(reply.Challenge) > maxChallenge:
		r.stats.Malformed++
		return
	case reply.Incomplete:
		if !r.parts.keep(p, d.body, d.at) {
			r.stats.Malformed++
		}
		return
	}
	r.names = r.names || reply.Echoed
	p.replies++
	switch {
	case reply.Info == nil && p.repeatsChallenge(reply.Challenge):
		r.stats.Duplicates++
		return
	}
	r.parts.drop(p)
	rtt, kind, first := p.match(reply, at)
	if d.spoken != nil {
		rtt, kind, first = p.matchSent(d.spoken, at)
	}
	if kind != stray && len(reply.Farewell) > 0 {
		r.farewell(p, reply.Farewell)
	}
	switch {
	case kind == stray:
		r.stats.Strays++
		return
	case kind == duplicate && (reply.Info == nil || p.clean < 0):
		r.stats.Duplicates++
		return
	case kind != duplicate:
		if !p.heard && !first {
			r.traffic.repeatAnswered()
		}
		r.hears(p, d.peer)
		p.learn(rtt, kind)
	}
	isChallenge := reply.Info == nil && len(reply.Challenge) > 0
	accepted := isChallenge && p.accept(reply.Challenge)
	switch {
	case p.clean < 0 && !p.sure:
		p.sure, p.info = true, reply.Info
		r.makeSure(p, certainty, minSpacing)
	case !isChallenge:
		r.finish(p, discovery.Answered, reply.Info)
	case accepted:
		r.request(p, demanded)
	}
}

// farewell says goodbye to a server that waits for it, if its address may get a packet
// at once. Without a goodbye the server forgets us after a while anyway.
func (r *run) farewell(p *probe, packet []byte) {
	to := r.targets.at[p.target]
	if wait, ok := r.options.Allowance.spend(to.Addr()); !ok || wait > 0 || len(packet) > maxFarewell {
		return
	}
	if _, err := r.network.send(packet, to); err == nil {
		r.stats.PacketsSent++
		r.stats.BytesSent += len(packet)
	}
}

// makeSure asks a server without a certain pair once more: at a moment up to unforeseen after
// the spacing, and not before the answers to all earlier queries must have come. Otherwise one
// of them would pass for the answer to this query.
func (r *run) makeSure(p *probe, why reason, spacing time.Duration) {
	wait, ok := r.options.Allowance.spend(r.targets.at[p.target].Addr())
	if !ok {
		r.finish(p, discovery.Answered, p.info)
		return
	}
	soonest := r.network.now() + max(spacing, wait)
	from := max(soonest, p.settled(p.query(p.sent-1)))
	window := max(unforeseen-(from-soonest), unforeseen/2)
	p.due = 0
	heap.Push(&r.waiting, deadline{at: from + time.Duration(r.nonces.Uint64()%uint64(window)), probe: p, gen: p.gen, why: why})
}

// parse reads a datagram together with the earlier ones, and returns the arrival of the
// reply's first one. If they make no sense together, the datagram may do so alone.
func (r *run) parse(p *probe, d *datagram) (discovery.Reply, arrival, error) {
	if d.spoken != nil {
		return discovery.Reply{Info: d.spoken.reply.Info}, d.at, nil
	}
	if p.parts != nil {
		r.bodies = append(append(r.bodies[:0], p.parts.datagrams...), d.body)
		if reply, err := r.read(p); err == nil {
			return reply, p.parts.first, nil
		}
	}
	r.bodies = append(r.bodies[:0], d.body)
	reply, err := r.read(p)
	return reply, d.at, err
}

// read parses the bodies that came from a probe's server. It refuses if the server has
// already sent too much that needs unpacking.
func (r *run) read(p *probe) (discovery.Reply, error) {
	if packed, ok := r.options.Protocol.(discovery.Packed); ok && packed.Unpacks(r.bodies) {
		if p.unpacked == maxUnpacked {
			return discovery.Reply{}, errUnpacked
		}
		p.unpacked++
	}
	return r.options.Protocol.Parse(r.bodies)
}

var errUnpacked = fmt.Errorf("prober: %w: one more packed reply from a server", discovery.ErrMalformed)
