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

// maxQuery is longer than any query that a server understands.
const maxQuery = 2048

// maxFailures is how often in a row reading may fail. On Windows it fails when an asker has gone.
const maxFailures = 1000

// run reads and answers until ctx ends, and then waits until everyone has stopped.
func (f *Fleet) run(ctx context.Context) {
	var workers sync.WaitGroup
	for _, s := range f.sockets {
		workers.Go(func() { f.receive(s) })
		if s.listener != nil {
			workers.Go(func() { f.accept(ctx, s, &workers) })
		}
	}
	workers.Go(f.send)
	workers.Go(f.serveMaster)
	<-ctx.Done()
	if err := f.closeSockets(); err != nil {
		f.log.Warn("fleet: closing sockets", "err", err)
	}
	f.line.close()
	workers.Wait()
	if err := f.line.alarm.Close(); err != nil {
		f.log.Warn("fleet: closing the alarm", "err", err)
	}
	close(f.done)
}

func (f *Fleet) receive(s *socket) {
	buf := make([]byte, maxQuery)
	f.untilClosed(fmt.Sprintf("port %d", s.port), func() error {
		q, err := s.read(buf)
		if err != nil {
			return err
		}
		if r := f.compose(s, q); r != nil {
			f.line.push(r)
		}
		return nil
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
	to       netip.Addr // the address that was queried
	received time.Time  // by the kernel, where it says so
}

// compose returns the reply to a query, or nil.
func (f *Fleet) compose(s *socket, q query) *reply {
	f.mu.Lock()
	defer f.mu.Unlock()
	server, ok := s.only, true
	if server == everyServer {
		server, ok = f.byAddr[netip.AddrPortFrom(q.to, s.port)]
	}
	if !ok {
		f.counts.strays++
		return nil
	}
	f.counts.queries++
	place, arrived := f.seats.placeOf(q.from), q.received.Sub(f.started)
	p := pair{place, server}
	rtt, lost := f.world.Sample(place, server, f.sampled[p])
	f.sampled[p]++
	if lost {
		f.counts.lost++
		return nil
	}
	host := &f.world.Servers[server]
	if host.Limited && !f.limits.allow(server, q.from.Addr(), arrived) || !f.gaps.allow(server, q.from.Addr(), arrived) {
		f.counts.limited++
		return nil
	}
	datagrams := f.speaks.answer(speech{server: server, info: &host.Info, from: q.from, request: q.payload})
	if datagrams == nil {
		f.counts.malformed++
		return nil
	}
	return &reply{
		Exchange: Exchange{Server: server, Place: place, Source: q.from, RTT: rtt},
		due:      arrived + rtt, socket: s, from: q.to, datagrams: datagrams,
	}
}

// send sends every reply when it is due.
func (f *Fleet) send() {
	for {
		r, wait, over := f.line.pop(time.Since(f.started))
		switch {
		case over:
			return
		case r == nil:
			f.line.alarm.Sleep(wait)
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
	f.mu.Lock()
	f.counts.replies++
	f.mu.Unlock()
	if f.options.Sent != nil {
		r.Held = r.RTT + late
		f.options.Sent(r.Exchange)
	}
}
