package host

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/netip"
	"sync"

	"muster/host/access"
)

const (
	// maxStrangers is how many connections may be open that nobody has vouched for
	// by a code or a token. A friend's is one only for the moment until hello.
	maxStrangers = 1024
	// maxOfOne is how many of them one address may have: a household of twenty
	// browsers with six idle connections each.
	maxOfOne = 128
)

// gate counts the connections of strangers, and shuts the oldest when there are
// too many: who comes in good faith says hello at once, and is none any more. An
// address that has taken its share loses its own; when all are taken, the address
// that has the most does. So nobody who floods the host keeps others out, and where
// all come from one address, as by a tunnel, each still has the time in which
// maxStrangers others arrive.
//
// No more connections are open than the bounds allow, or the host could accept none at
// all: then a stranger's gives way to the next, too.
type gate struct {
	proxies []netip.Prefix
	bounds  bounds

	mu        sync.Mutex // guards following
	open      int
	strangers int
	arrivals  int                       // ever
	waiting   map[netip.Addr]*list.List // of *caller, the oldest first
}

func newGate(proxies []netip.Prefix, b bounds) *gate {
	return &gate{proxies: proxies, bounds: b, waiting: map[netip.Addr]*list.List{}}
}

// caller is a connection that came by the gate.
type caller struct {
	net.Conn
	gate *gate
	// from, number and place are the gate's. The number is smaller of who came first,
	// the place nil once the caller is known or gone.
	from   netip.Addr
	number int
	place  *list.Element
	closed bool
}

// gated is a listener behind a gate.
type gated struct {
	net.Listener
	gate *gate
}

func (l gated) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &caller{Conn: conn, gate: l.gate}
	at, _ := netip.ParseAddrPort(conn.RemoteAddr().String()) // a test's pipe has none
	l.gate.mu.Lock()
	l.gate.open++
	shut := l.gate.put(c, access.Subscriber(at.Addr()))
	l.gate.mu.Unlock()
	shut.cut()
	return c, nil
}

// put counts a stranger at an address, and returns whose connection is to be cut
// for it, or nil.
func (g *gate) put(c *caller, from netip.Addr) (shut *caller) {
	of := g.waiting[from]
	switch {
	case of != nil && of.Len() >= g.bounds.ofOne && !g.isShared(from):
		shut = of.Front().Value.(*caller)
	case g.strangers >= g.bounds.strangers, g.bounds.all > 0 && g.open > g.bounds.all && g.strangers > 0:
		shut = g.first()
	}
	if shut != nil {
		g.drop(shut)
	}
	if g.waiting[from] == nil { // or no more
		g.waiting[from] = list.New()
	}
	c.from, c.number, c.place = from, g.arrivals, g.waiting[from].PushBack(c)
	g.arrivals++
	g.strangers++
	return shut
}

// isShared reports whether many people may come from an address: that of a proxy
// of ours, or of a tunnel's end on this machine.
func (g *gate) isShared(a netip.Addr) bool {
	return !a.IsValid() || a.IsLoopback() || isProxy(a, g.proxies)
}

// first is the oldest stranger of the address that has most.
func (g *gate) first() (oldest *caller) {
	most := 0
	for _, of := range g.waiting {
		if n, c := of.Len(), of.Front().Value.(*caller); n > most || n == most && c.number < oldest.number {
			most, oldest = n, c
		}
	}
	return oldest
}

// drop counts a stranger no more.
func (g *gate) drop(c *caller) {
	of := g.waiting[c.from]
	of.Remove(c.place)
	if of.Len() == 0 {
		delete(g.waiting, c.from)
	}
	c.place = nil
	g.strangers--
}

// callerOf is the caller at the end of a connection, or nil if it came by no gate.
func callerOf(conn net.Conn) *caller {
	if encrypted, is := conn.(*tls.Conn); is {
		conn = encrypted.NetConn()
	}
	c, _ := conn.(*caller)
	return c
}

// comesFrom counts a stranger at the address that its proxy or tunnel names.
func (c *caller) comesFrom(a netip.Addr) {
	if c == nil || !a.IsValid() {
		return
	}
	var shut *caller
	c.gate.mu.Lock()
	if a = access.Subscriber(a); c.place != nil && c.from != a {
		c.gate.drop(c)
		shut = c.gate.put(c, a)
	}
	c.gate.mu.Unlock()
	shut.cut()
}

// welcome takes somebody who has shown a code or a token out of the count.
func (c *caller) welcome() {
	if c == nil {
		return
	}
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	if c.place != nil {
		c.gate.drop(c)
	}
}

// cut ends a connection at once: TLS would say good-bye first.
func (c *caller) cut() {
	if c != nil {
		c.Conn.Close()
	}
}

func (c *caller) Close() error {
	c.welcome()
	c.gate.mu.Lock()
	if !c.closed {
		c.closed = true
		c.gate.open--
	}
	c.gate.mu.Unlock()
	return c.Conn.Close()
}

// isScarce reports whether those who were let in take all that strangers leave them.
func (c *caller) isScarce() bool {
	if c == nil || c.gate.bounds.all == 0 {
		return false
	}
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	return c.gate.open-c.gate.strangers >= c.gate.bounds.all-c.gate.bounds.strangers
}
