package fleet

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/protocol/frostbite"
	"muster/discovery/protocol/minecraft"
	"muster/discovery/protocol/openttd"
)

// These kinds of servers use TCP.
const (
	Frostbite Kind = "frostbite"
	Minecraft Kind = "minecraft"
	OpenTTD   Kind = "openttd"
	TCP       Kind = "tcp"
)

// streamSpeaker returns what a server says to all that it heard on a connection, without what it
// said before.
type streamSpeaker func(heard []byte, before int, info discovery.Info) []byte

// stream returns the speaker of a TCP kind, or nil for other kinds. Loopback takes connections at
// once, whatever the world's distances. Only the words are delayed. So only Minecraft's servers,
// which echo a ping, look as far away as they are.
func (k Kind) stream() streamSpeaker {
	switch k {
	case Frostbite:
		return frostbite.Answer
	case Minecraft:
		return minecraft.Answer
	case OpenTTD:
		return openttd.Answer
	case TCP:
		return func([]byte, int, discovery.Info) []byte { return nil }
	}
	return nil
}

// listenTries is how many ports in a row are tried if UDP's is free and TCP's is taken.
const listenTries = 8

// listenStream also opens a socket's port for TCP connections.
func (s *socket) listenStream(ctx context.Context, addr string) (err error) {
	config := net.ListenConfig{Control: prepareListener}
	s.listener, err = config.Listen(ctx, "tcp4", fmt.Sprintf("%s:%d", addr, s.port))
	return err
}

// accept takes connections until the socket is closed.
func (f *Fleet) accept(ctx context.Context, s *socket, workers *sync.WaitGroup) {
	f.untilClosed(fmt.Sprintf("port %d, TCP", s.port), func() error {
		conn, err := s.listener.Accept()
		if err != nil {
			return err
		}
		workers.Go(func() {
			defer conn.Close()
			defer context.AfterFunc(ctx, func() { conn.Close() })()
			f.talk(ctx, s, conn)
		})
		return nil
	})
}

// talk answers on a connection, each time a round trip after the last words. A packet that the
// world has lost makes the server mute.
func (f *Fleet) talk(ctx context.Context, s *socket, conn net.Conn) {
	from, to := discovery.Canonical(conn.RemoteAddr().(*net.TCPAddr).AddrPort()),
		discovery.Canonical(conn.LocalAddr().(*net.TCPAddr).AddrPort())
	speak := f.options.Kind.stream()
	heard, said := make([]byte, 0, maxQuery), 0
	for len(heard) < cap(heard) {
		n, err := conn.Read(heard[len(heard):cap(heard)])
		if err != nil {
			return
		}
		heard = heard[:len(heard)+n]
		arrived := time.Now()
		exchange, info, ok := f.sample(s, from, to)
		answer := speak(heard, said, info)
		if !ok || len(answer) == 0 {
			continue
		}
		select {
		case <-time.After(time.Until(arrived.Add(exchange.RTT))):
		case <-ctx.Done():
			return
		}
		if _, err := conn.Write(answer); err != nil {
			return
		}
		said += len(answer)
		f.mu.Lock()
		f.counts.replies++
		f.mu.Unlock()
		if f.options.Sent != nil {
			exchange.Held = time.Since(arrived)
			f.options.Sent(exchange)
		}
	}
}

// sample draws the result of a question to a server.
func (f *Fleet) sample(s *socket, from, to netip.AddrPort) (e Exchange, info discovery.Info, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	server, ok := s.only, true
	if server == everyServer {
		server, ok = f.byAddr[to]
	}
	if !ok {
		f.counts.strays++
		return e, info, false
	}
	f.counts.queries++
	e = Exchange{Server: server, Place: f.seats.placeOf(from), Source: from}
	p := pair{e.Place, server}
	rtt, lost := f.world.Sample(e.Place, server, f.sampled[p])
	f.sampled[p]++
	if lost {
		f.counts.lost++
	}
	e.RTT = rtt
	return e, f.world.Servers[server].Info, !lost
}
