// Package delayed passes a game's packets on after a delay.
//
//	game ⇄ 127.0.0.1, a port for this server ⇄ Line ⇄ server
//	                          ──▶ half ──▶
//	                          ◀── half ◀──
//
// A packet is sent on as it came, in the order in which it came. If the program ends, the game loses
// its line as if a cable were cut; the server's own address works at once.
//
// # The local address
//
// A server always gets the same port while it is free, and no other server does: DarkPlaces keeps a
// server's key by address and port, and refuses another server there. The number 127.0.0.1 is right
// for all: to ioquake3 “localhost” is the server inside the game itself. ioquake3 takes every address
// of this machine for a LAN, and sends a packet with every frame there; so the game is started with
// cl_lanForcePackets 0, and cl_maxpackets counts as it does without the line.
package delayed

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/internal/alarm"
)

const (
	// firstPort is the first of the local ports, above those that Linux gives to other sockets.
	firstPort = 61000
	ports     = 1<<16 - firstPort
	// tries bounds the ports that are tried if other programs have the first.
	tries = 20
	// quiet is how long a game must be silent before another may have its line. A connected game
	// sends several packets a second, even while it loads a map.
	quiet = 5 * time.Second
	// tellGap is the least time between two sentences of one kind.
	tellGap = time.Minute
	// maxDatagram is the longest that UDP carries.
	maxDatagram = 1<<16 - 1
	forever     = time.Duration(math.MaxInt64)
)

// Line is the way of one game to one server.
type Line struct {
	server         netip.AddrPort
	local, outside *net.UDPConn
	alarm          *alarm.Alarm
	tell           func(sentence.Sentence)
	opened         time.Time
	work           sync.WaitGroup

	mu               sync.Mutex // guards the fields below
	held             time.Duration
	toServer, toGame queue
	game             netip.AddrPort
	heard            time.Duration // when the game last sent
	told             map[string]time.Duration
	closed           bool
}

// Open opens a line to a server, at first without a delay. It tells in sentences what it passes
// nowhere; tell must not block.
func Open(server netip.AddrPort, tell func(sentence.Sentence)) (*Line, error) {
	l := &Line{server: discovery.Canonical(server), tell: tell, opened: time.Now(), told: map[string]time.Duration{}}
	var err error
	defer func() {
		if err != nil {
			l.closeSockets()
		}
	}()
	if l.outside, err = openOutside(l.server.Addr().Is6()); err != nil {
		return nil, fmt.Errorf("delayed: %w", err)
	}
	if l.local, err = openLocal(l.server); err != nil {
		return nil, fmt.Errorf("delayed: %w", err)
	}
	if l.alarm, err = alarm.New(); err != nil {
		return nil, fmt.Errorf("delayed: %w", err)
	}
	l.work.Go(func() { l.read(l.local, l.fromGame) })
	l.work.Go(func() { l.read(l.outside, l.fromServer) })
	l.work.Go(l.send)
	return l, nil
}

// openOutside opens the socket towards the server.
func openOutside(isIPv6 bool) (*net.UDPConn, error) {
	family := "udp4"
	if isIPv6 {
		family = "udp6"
	}
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		return errors.Join(c.Control(func(fd uintptr) { err = keepWhole(fd, isIPv6) }), err)
	}}
	conn, err := config.ListenPacket(context.Background(), family, ":0")
	if err != nil {
		return nil, err
	}
	return conn.(*net.UDPConn), nil
}

// openLocal opens a server's local port, or the next one that is free.
func openLocal(server netip.AddrPort) (conn *net.UDPConn, err error) {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(server.String()))
	for i := range uint32(tries) {
		port := firstPort + (sum.Sum32()+i)%ports
		if conn, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(port)}); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// Addr returns the local address, to which the game connects in place of the server's.
func (l *Line) Addr() netip.AddrPort { return l.local.LocalAddr().(*net.UDPAddr).AddrPort() }

// SetDelay changes the time that the line adds to a round trip. It counts for packets that the line
// already holds, too.
func (l *Line) SetDelay(d time.Duration) {
	l.mu.Lock()
	l.held = max(0, d) / 2
	l.mu.Unlock()
	l.alarm.Ring()
}

// Close ends the line. Packets that it holds are lost.
func (l *Line) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.mu.Unlock()
	l.alarm.Ring()
	err := l.closeSockets()
	l.work.Wait()
	return errors.Join(err, l.alarm.Close())
}

func (l *Line) closeSockets() (err error) {
	for _, conn := range []*net.UDPConn{l.local, l.outside} {
		if conn != nil {
			err = errors.Join(err, conn.Close())
		}
	}
	return err
}

// read takes a socket's packets until the line is closed. Other errors are those of packets sent
// before, such as a closed port.
func (l *Line) read(conn *net.UDPConn, take func(came time.Duration, from netip.AddrPort, data []byte)) {
	b := make([]byte, maxDatagram)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(b)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err == nil:
			take(time.Since(l.opened), discovery.Canonical(from), b[:n])
		}
	}
}

// fromGame queues a packet of the game, which is the first that sends or the first after a long
// silence.
func (l *Line) fromGame(came time.Duration, from netip.AddrPort, data []byte) {
	l.mu.Lock()
	if from != l.game && (!l.game.IsValid() || came-l.heard > quiet) {
		l.game = from
	}
	isGame := from == l.game
	if isGame {
		l.heard = came
	}
	l.mu.Unlock()
	if !isGame {
		l.say(came, "even.second-game")
		return
	}
	l.add(&l.toServer, came, data)
}

func (l *Line) fromServer(came time.Duration, from netip.AddrPort, data []byte) {
	if from != l.server {
		l.say(came, "even.elsewhere", "from", from.String(), "server", l.server.String())
		return
	}
	l.add(&l.toGame, came, data)
}

// add queues a packet, and wakes the sender if it waits for nothing earlier.
func (l *Line) add(q *queue, came time.Duration, data []byte) {
	l.mu.Lock()
	isFirst := len(l.toServer.packets)+len(l.toGame.packets) == 0
	isIn := q.add(came, data)
	l.mu.Unlock()
	if isFirst {
		l.alarm.Ring()
	}
	if !isIn {
		l.say(came, "even.full")
	}
}

// send sends packets on when they are due.
func (l *Line) send() {
	for {
		out, in, game, wait, isOver := l.due(time.Since(l.opened))
		if isOver {
			return
		}
		if out != nil {
			if _, err := l.outside.WriteToUDPAddrPort(out, l.server); err != nil {
				l.say(time.Since(l.opened), "even.unsent", "bytes", len(out), "error", err.Error())
			}
		}
		if in != nil && game.IsValid() {
			_, _ = l.local.WriteToUDPAddrPort(in, game) // a game that has ended reads nothing
		}
		if out == nil && in == nil {
			l.alarm.Sleep(wait)
		}
	}
}

// due returns what is due now in each direction, nil for nothing, or the time until something is.
func (l *Line) due(now time.Duration) (out, in []byte, game netip.AddrPort, wait time.Duration, isOver bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out, sooner := l.toServer.take(l.held, now)
	in, wait = l.toGame.take(l.held, now)
	return out, in, l.game, min(sooner, wait), l.closed
}

// say tells a trouble, if it was not told lately.
func (l *Line) say(now time.Duration, key string, pairs ...any) {
	l.mu.Lock()
	before, isTold := l.told[key]
	isNew := !isTold || now-before >= tellGap
	if isNew {
		l.told[key] = now
	}
	l.mu.Unlock()
	if isNew {
		l.tell(sentence.Of(key, pairs...))
	}
}
