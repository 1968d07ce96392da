package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// maxQuery is more than any query has that a server understands.
const maxQuery = 2048

// maxFailures is how often in a row reading may fail. Windows tells in this way
// that somebody who asked has gone.
const maxFailures = 1000

// run reads and answers until ctx ends, and then until everyone has stopped.
func (f *Fleet) run(ctx context.Context) {
	var workers sync.WaitGroup
	for _, s := range f.sockets {
		workers.Go(func() { f.receive(s) })
	}
	workers.Go(f.send)
	workers.Go(f.serveMaster)
	<-ctx.Done()
	if err := f.closeSockets(); err != nil {
		f.log.Warn("fleet: closing sockets", "err", err)
	}
	f.line.close()
	workers.Wait()
	if err := f.line.alarm.close(); err != nil {
		f.log.Warn("fleet: closing the alarm", "err", err)
	}
	close(f.done)
}

func (f *Fleet) receive(s *socket) {
	buf := make([]byte, maxQuery)
	f.untilClosed(fmt.Sprintf("port %d", s.port), func() error {
		q, err := s.read(buf)
		if err == nil {
			f.answer(s, q)
		}
		return err
	})
}

// untilClosed serves one query after the other until the socket is closed.
func (f *Fleet) untilClosed(who string, serve func() error) {
	for failures := 0; failures < maxFailures; {
		switch err := serve(); {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			failures++
			f.log.Debug("fleet: receive", "at", who, "err", err)
		default:
			failures = 0
		}
	}
	f.log.Error("fleet: answers no more", "at", who)
}

// query is a datagram that came in.
type query struct {
	payload  []byte
	from     netip.AddrPort
	to       netip.Addr // which of our addresses was asked
	received time.Time  // by the kernel, where it says so
}

// answer hands the reply to a query to the delay line, if there is one.
func (f *Fleet) answer(s *socket, q query) {
	f.mu.Lock()
	r := f.compose(s, q)
	f.mu.Unlock()
	if r != nil {
		f.line.push(r)
	}
}

func (f *Fleet) compose(s *socket, q query) *reply {
	server, ok := f.asked(s, q.to)
	if !ok {
		f.stats.strays.Add(1)
		return nil
	}
	f.stats.queries.Add(1)
	place, arrived := f.seats.placeOf(q.from), q.received.Sub(f.started)
	rtt, lost := f.sample(pair{place, server})
	if lost {
		f.stats.lost.Add(1)
		return nil
	}
	host := &f.world.Servers[server]
	if host.Limited && !f.limits.allow(server, q.from.Addr(), arrived) {
		f.stats.limited.Add(1)
		return nil
	}
	datagrams := f.speaks.answer(speech{server: server, info: &host.Info, from: q.from, request: q.payload})
	if datagrams == nil {
		f.stats.malformed.Add(1)
		return nil
	}
	return &reply{
		Exchange: Exchange{Server: server, Place: place, Source: q.from, RTT: rtt},
		due:      arrived + rtt, socket: s, from: q.to, datagrams: datagrams,
	}
}

// asked is the server behind an address of a socket.
func (f *Fleet) asked(s *socket, to netip.Addr) (server int, ok bool) {
	if s.only != everyServer {
		return s.only, true
	}
	server, ok = f.byAddr[netip.AddrPortFrom(to, s.port)]
	return server, ok
}

// sample is the next packet pair of a place and a server.
func (f *Fleet) sample(p pair) (rtt time.Duration, lost bool) {
	n := f.sampled[p]
	f.sampled[p] = n + 1
	return f.world.Sample(p.place, p.server, n)
}

// send sends every reply when it is due.
func (f *Fleet) send() {
	for {
		r, wait, over := f.line.pop(time.Since(f.started))
		switch {
		case over:
			return
		case r == nil:
			f.line.alarm.sleep(wait)
		default:
			f.deliver(r)
		}
	}
}

func (f *Fleet) deliver(r *reply) {
	late := time.Since(f.started) - r.due
	for _, datagram := range r.datagrams {
		if err := r.socket.write(datagram, r.from, r.Source); err != nil {
			f.log.Debug("fleet: send", "to", r.Source, "err", err)
			return
		}
	}
	f.stats.replies.Add(1)
	f.stats.late.add(late)
	if f.options.Sent != nil {
		r.Held = r.RTT + late
		f.options.Sent(r.Exchange)
	}
}
