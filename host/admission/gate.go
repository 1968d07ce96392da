// Package admission decides which connections and pages a host keeps open when there are
// more than it can hold.
package admission

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/netip"
	"sync"

	"muster/host/access"
	"muster/host/pressure"
)

const (
	// maxStrangers bounds the open connections that have shown neither code nor token. A player's
	// connection counts here only until its hello.
	maxStrangers = 1024
	// maxOfOne is how many stranger connections one address may have: twenty browsers in a
	// household, with six idle connections each.
	maxOfOne = 128
)

// gate counts the connections of strangers, and cuts the oldest when there are too many. A player's
// program says hello at once and then is no stranger.
//
// An address over its share loses its own connections. When all connections are taken, the address
// with the most loses one. So a flood keeps nobody else out. If all connections come from one
// address, as through a tunnel, each still has the time in which maxStrangers others arrive.
//
// The gate keeps at most as many connections open as the bounds allow. Otherwise the host could
// accept none at all. At that bound, too, a stranger's connection gives way to the next one.
type gate struct {
	proxies []netip.Prefix
	bounds  Bounds

	mu        sync.Mutex // guards following
	open      int
	strangers int
	arrivals  int                       // since the start
	waiting   map[netip.Addr]*list.List // of *Caller, the oldest first
}

func newGate(proxies []netip.Prefix, b Bounds) *gate {
	return &gate{proxies: proxies, bounds: b, waiting: map[netip.Addr]*list.List{}}
}

// Caller is a connection that came through the gate. A nil Caller came through none.
type Caller struct {
	net.Conn
	gate *gate
	// from, number and place belong to the gate. A caller that came earlier has a smaller number.
	// The place is nil once the caller is known or gone.
	from   netip.Addr
	number int
	place  *list.Element
	closed bool
}

// Listen returns a listener that counts and bounds strangers. Many people may come from the address
// of a proxy.
func Listen(l net.Listener, proxies []netip.Prefix, b Bounds) net.Listener {
	return gated{l, newGate(proxies, b)}
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
	c := &Caller{Conn: conn, gate: l.gate}
	at, _ := netip.ParseAddrPort(conn.RemoteAddr().String()) // a test's pipe has none
	l.gate.mu.Lock()
	l.gate.open++
	shut := l.gate.put(c, access.Subscriber(at.Addr()))
	l.gate.mu.Unlock()
	shut.cut()
	return c, nil
}

// put counts a stranger at an address, and returns the connection to cut for it, or nil.
func (g *gate) put(c *Caller, from netip.Addr) (shut *Caller) {
	of := g.waiting[from]
	switch {
	case of != nil && of.Len() >= g.bounds.ofOne && !g.isShared(from):
		shut = of.Front().Value.(*Caller)
	case g.strangers >= g.bounds.strangers, g.bounds.all > 0 && g.open > g.bounds.all && g.strangers > 0:
		shut = g.first()
	}
	if shut != nil {
		g.bounds.bite(pressure.Connections, shut.from)
		g.drop(shut)
	}
	if g.waiting[from] == nil { // or no longer exists
		g.waiting[from] = list.New()
	}
	c.from, c.number, c.place = from, g.arrivals, g.waiting[from].PushBack(c)
	g.arrivals++
	g.strangers++
	return shut
}

// isShared reports whether many people may come from an address: a known proxy, or a tunnel's end
// on this machine.
func (g *gate) isShared(a netip.Addr) bool {
	return !a.IsValid() || a.IsLoopback() || access.IsIn(a, g.proxies)
}

// first returns the oldest stranger of the address with the most.
func (g *gate) first() (oldest *Caller) {
	most := 0
	for _, of := range g.waiting {
		if n, c := of.Len(), of.Front().Value.(*Caller); n > most || n == most && c.number < oldest.number {
			most, oldest = n, c
		}
	}
	return oldest
}

// drop no longer counts a stranger.
func (g *gate) drop(c *Caller) {
	of := g.waiting[c.from]
	of.Remove(c.place)
	if of.Len() == 0 {
		delete(g.waiting, c.from)
	}
	c.place = nil
	g.strangers--
}

// CallerOf returns the caller of a connection, nil if it came through no gate.
func CallerOf(conn net.Conn) *Caller {
	if encrypted, is := conn.(*tls.Conn); is {
		conn = encrypted.NetConn()
	}
	c, _ := conn.(*Caller)
	return c
}

// ComesFrom moves a stranger to the address that its proxy or tunnel names.
func (c *Caller) ComesFrom(a netip.Addr) {
	if c == nil || !a.IsValid() {
		return
	}
	var shut *Caller
	c.gate.mu.Lock()
	if a = access.Subscriber(a); c.place != nil && c.from != a {
		c.gate.drop(c)
		shut = c.gate.put(c, a)
	}
	c.gate.mu.Unlock()
	shut.cut()
}

// Welcome stops counting a caller as a stranger, because it has shown a code or a token.
func (c *Caller) Welcome() {
	if c == nil {
		return
	}
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	if c.place != nil {
		c.gate.drop(c)
	}
}

// cut closes a connection at once, without TLS's closing message.
func (c *Caller) cut() {
	if c != nil {
		c.Conn.Close()
	}
}

// Close closes the connection and removes it from the count.
func (c *Caller) Close() error {
	c.Welcome()
	c.gate.mu.Lock()
	if !c.closed {
		c.closed = true
		c.gate.open--
	}
	c.gate.mu.Unlock()
	return c.Conn.Close()
}

// IsScarce reports whether the admitted callers use up everything that is not reserved for
// strangers.
func (c *Caller) IsScarce() bool {
	if c == nil || c.gate.bounds.all == 0 {
		return false
	}
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	return c.gate.open-c.gate.strangers >= c.gate.bounds.all-c.gate.bounds.strangers
}

// Bounds are how many connections a host keeps open. They are needed because a page costs 18 kB and
// a descriptor. On a public host anybody can open a room, and then a page from each of many
// addresses.
type Bounds struct {
	// all is how many connections may be open, 0 for any number. The gate uses the other two:
	// strangers bounds all strangers, ofOne those from one address.
	all, strangers, ofOne int
	// pages bounds all pages of the host; onlookers the pages of one room without a seat; ofPerson
	// the pages that one person opened with one credential; ofNetwork the pages without a seat from
	// one network, a /24 or an IPv6 /48.
	pages, onlookers, ofPerson, ofNetwork int
	// Bit is called with the address of each connection or page that gives way, and must not wait; it
	// may be nil.
	Bit func(limit pressure.Limit, from netip.Addr)
}

func (b Bounds) bite(limit pressure.Limit, from netip.Addr) {
	if b.Bit != nil {
		b.Bit(limit, from)
	}
}

// Connections returns how many connections the host keeps open, 0 for any number.
func (b Bounds) Connections() int { return b.all }

const (
	// Connections leave some descriptors to the store, server lists, downloads and the log: one in
	// reservedShare, and at least fewestReserved.
	fewestReserved, reservedShare = 48, 16
	// fewestConnections is how many connections the host keeps in any case.
	fewestConnections = 16
)

// BoundsOf returns the bounds of a host that may open this many files, 0 for any number. A quarter
// of the connections is for strangers, so that the host always answers newcomers and /healthz.
// Pages get at most half, and players' programs the rest.
func BoundsOf(files int) Bounds {
	b := Bounds{strangers: maxStrangers, ofOne: maxOfOne, pages: 10_000, onlookers: 1000, ofPerson: 8, ofNetwork: 512}
	if files > 0 {
		b.all = max(fewestConnections, files-max(fewestReserved, files/reservedShare))
		b.strangers = min(b.strangers, b.all/4)
		b.ofOne = min(b.ofOne, b.strangers/2)
		b.pages = min(b.pages, b.all/2)
	}
	return b
}
