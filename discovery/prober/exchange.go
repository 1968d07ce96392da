package prober

import (
	"bytes"
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
	named    reason = iota // the plan named the server
	silence                // the last query was not answered
	demanded               // the server wants its challenge back
)

// send sends a server a query and sets the deadline for its reply.
func (r *run) send(p *probe, why reason) {
	nonce := discovery.Nonce(r.nonces.Uint64())
	r.packet = r.options.Protocol.AppendQuery(r.packet[:0], nonce, p.demanded())
	at, err := r.network.send(r.packet, r.targets.at[p.target])
	if err != nil {
		r.sendFailed(p, err)
		return
	}
	r.delivered++
	r.counts.packetsSent.Add(1)
	r.counts.bytesSent.Add(int64(len(r.packet)))
	p.record(nonce, at)
	switch why {
	case silence:
		p.repeats++
		p.inARow = 0
		r.parts.drop(p)
		r.counts.retries.Add(1)
	case demanded:
		r.counts.challenges.Add(1)
	}
	r.setDeadline(p)
}

// setDeadline counts from the query that was just sent.
func (r *run) setDeadline(p *probe) {
	queue, delay := &r.ends, r.options.Timeout
	if p.repeats < r.options.Retries {
		queue, delay = &r.repeats, r.options.spacing()
	}
	p.due = p.query(p.sent-1).sent + delay
	queue.push(deadline{at: p.due, probe: p, gen: p.gen, first: p.sent == 1})
}

// sendFailed looks after a probe whose query did not leave. A machine without
// room for it is a reason to slow down; anything else is the end of the probe.
func (r *run) sendFailed(p *probe, err error) {
	r.counts.sendErrors.Add(1)
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
		r.overdue.push(deadline{probe: p, gen: p.gen})
		return
	case denied(err):
		r.denied++
		if r.delivered == 0 && r.denied == deniedForSure {
			r.err = r.verdict()
		}
	}
	r.counts.unreachable.Add(1)
	r.unreachable++
	r.unsent = err
	r.finish(p, discovery.Lost, nil)
}

// handle judges one datagram and gives it back.
func (r *run) handle(d *datagram) {
	defer r.network.giveBack(d)
	if !d.refused {
		r.counts.packetsReceived.Add(1)
		r.counts.bytesReceived.Add(int64(len(d.body)))
	}
	index, listed := r.targets.first[d.peer]
	if !listed {
		r.counts.strays.Add(1)
		return
	}
	state := r.targets.states[index]
	switch {
	case state.probe != nil && d.refused:
		r.refuse(state.probe, d.body)
	case state.probe != nil:
		r.answer(state.probe, d)
	case state.done && !d.refused:
		r.counts.duplicates.Add(1)
	default:
		r.counts.strays.Add(1)
	}
}

// refuse ends a probe because of an ICMP error. One is enough, it leaves no
// doubt; but what it quotes must be a query of ours.
func (r *run) refuse(p *probe, quoted []byte) {
	if !r.quotes(p, quoted) {
		r.counts.strays.Add(1)
		return
	}
	r.counts.refused.Add(1)
	r.finish(p, discovery.Refused, nil)
}

// quotes reports whether the bytes begin one of the server's queries. ICMP errors
// may quote less of it, down to nothing (RFC 792), and may pad it (RFC 4884).
func (r *run) quotes(p *probe, quoted []byte) bool {
	for i, to := p.kept(); i < to; i++ {
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

// answer judges a datagram from a server under way.
func (r *run) answer(p *probe, d *datagram) {
	reply, at, err := r.parse(p, d)
	switch {
	case err != nil || len(reply.Challenge) > maxChallenge:
		r.counts.malformed.Add(1)
		return
	case reply.Incomplete:
		if !r.parts.keep(p, d.body, d.at) {
			r.counts.malformed.Add(1)
		}
		return
	case reply.Info == nil && p.repeatsChallenge(reply.Challenge):
		r.counts.duplicates.Add(1)
		return
	}
	r.parts.drop(p)
	rtt, kind, first := p.match(reply, at)
	switch {
	case kind == stray:
		r.counts.strays.Add(1)
		return
	case kind == duplicate && (reply.Info == nil || !p.heard):
		r.counts.duplicates.Add(1)
		return
	case kind != duplicate:
		r.learn(p, rtt, kind, first)
	}
	r.proceed(p, reply)
}

// learn takes a pair's RTT, and what it says of the line.
func (r *run) learn(p *probe, rtt time.Duration, kind pair, first bool) {
	if !p.heard && !first {
		r.traffic.repeatAnswered()
	}
	p.learn(rtt, kind)
}

// proceed does what a reply that counts calls for.
func (r *run) proceed(p *probe, reply discovery.Reply) {
	if reply.Info != nil || len(reply.Challenge) == 0 {
		r.finish(p, discovery.Answered, reply.Info)
		return
	}
	if p.accept(reply.Challenge) {
		r.send(p, demanded)
	}
}

// parse reads a datagram together with those that came before it, and says when
// the reply's first one arrived. If they make no sense together, the datagram
// may do so alone.
func (r *run) parse(p *probe, d *datagram) (discovery.Reply, arrival, error) {
	if p.parts != nil {
		r.bodies = append(append(r.bodies[:0], p.parts.datagrams...), d.body)
		if reply, err := r.options.Protocol.Parse(r.bodies); err == nil {
			return reply, p.parts.first, nil
		}
	}
	r.bodies = append(r.bodies[:0], d.body)
	reply, err := r.options.Protocol.Parse(r.bodies)
	return reply, d.at, err
}
