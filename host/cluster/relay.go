package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Relay carries connections between the hosts of a cluster, any number of them over
// one subscription a host.
//
//	subject  PREFIX.relay.TO.FROM
//
//	┌────────────┬───────────┬──────┬────────────┬──────────┐
//	│ instance 8 │ number 8  │ kind │ connection │ data …   │
//	└────────────┴───────────┴──────┴────────────┴──────────┘
//
// Core NATS keeps the order of what one host says to another, and delivers it once or
// not at all. Frames are numbered by pair of hosts: when a number is missing all
// connections of the pair end, and those who need them make new ones. The instance is
// that of the program: a host that was started again has none of its connections.
//
// A host is dead when it says nothing for a while: as long as there are connections the
// two tell each other every second that they live. If nobody hears a host's subjects any
// more, NATS says so at once to who asks for an answer, which goes to PREFIX.relay.FROM.TO.
type Relay struct {
	conn         *nats.Conn
	prefix, node string
	instance     uint64
	beat         time.Duration
	heard        *nats.Subscription
	accepted     chan *relayed
	ctx          context.Context
	cancel       context.CancelFunc
	work         sync.WaitGroup

	mu        sync.Mutex // guards following
	links     map[string]*link
	last      uint64 // the newest connection dialled
	listening bool
	unheard   chan struct{} // closed when it listens no more
}

// link is all that goes on between this host and another.
type link struct {
	relay *Relay
	host  string

	// Guarded by the relay's mutex: the other host's program as we know it, 0 if we do
	// not, the number of its last frame, when that came, and the connections.
	instance uint64
	received uint64
	heard    time.Time
	conns    map[connection]*relayed

	out   sync.Mutex // guards following, and keeps the frames in their order
	sent  uint64
	frame []byte
}

// connection names one between two hosts: who dialled counts those of its own.
type connection struct {
	number uint64
	dialed bool // by this host
}

// The kinds of frames.
const (
	frameOpen   = iota // I would like a connection
	frameAccept        // it is made
	frameData
	frameCredit // so many bytes of the connection have been read, in all
	frameFin    // nothing more comes
	frameClose  // nothing more comes, nor is anything read
	frameReset  // there is no such connection any more
	frameLost   // something of yours was lost, and with it all connections
	frameBeat   // I live
	frameHere   // I live, too, though I have no connection with you
)

const (
	// frameHead is the length of what goes before a frame's data.
	frameHead = 8 + 8 + 1 + 8
	// dialedBit of a frame's connection says that its sender has dialled it.
	dialedBit = 1 << 63
	// relayChunk is how much data goes in one frame, under NATS's limit of 1 MB: a long
	// message of one connection is not to hold up the others.
	relayChunk = 32 << 10
	// relayWindow is how many bytes may be on their way that nobody has read yet, and so
	// what a connection takes of memory at most, either way: ample for a hundred megabytes
	// a second within a data centre.
	relayWindow = 128 << 10
	// relayBacklog is how many connections may wait for Accept.
	relayBacklog = 1024
	// relayBeat is how often hosts that have connections say that they live, and silentBeats
	// of them (2.5 s) go by unheard before a host counts as dead.
	relayBeat   = time.Second
	silentBeats = 2.5
)

// Why connections end that nobody has closed.
var (
	errGone   = errors.New("cluster: the other host has the connection no more")
	errLost   = errors.New("cluster: a message between the hosts was lost")
	errSilent = errors.New("cluster: the other host does not answer")
	errNobody = errors.New("cluster: no host of this name")
	errBusy   = errors.New("cluster: the other host takes no connections")
	errTooFar = errors.New("cluster: the other host sent more than it may")
)

// takeRelay begins to take other hosts' connections. They have a connection to NATS of
// their own: what is slow or long there is not to hold up the lease.
func (c *Cluster) takeRelay(ctx context.Context) error {
	quiet := c.config
	quiet.Logger = slog.New(slog.DiscardHandler) // the other connection says when NATS is away
	conn, err := connect(ctx, quiet, func() {})
	if err != nil {
		return err
	}
	if c.relay, err = newRelay(conn, c.config.Prefix, c.config.Node, relayBeat); err != nil {
		conn.Close()
	}
	return err
}

// Dial connects to another host of the cluster, or to this one, by its name.
func (c *Cluster) Dial(ctx context.Context, host string) (net.Conn, error) {
	return c.relay.Dial(ctx, host)
}

// Listener is where connections of other hosts come in.
func (c *Cluster) Listener() net.Listener { return c.relay.Listener() }

// newRelay takes connections for a node, and makes them. The connection to NATS ends with
// it.
func newRelay(conn *nats.Conn, prefix, node string, beat time.Duration) (*Relay, error) {
	r := &Relay{
		conn: conn, prefix: prefix, node: node, instance: rand.Uint64() | 1, beat: beat,
		accepted: make(chan *relayed, relayBacklog), links: map[string]*link{}, listening: true, unheard: make(chan struct{}),
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	var err error
	if r.heard, err = conn.Subscribe(r.subject(node, "*"), r.receive); err == nil {
		err = conn.Flush() // whoever dials us from now on is heard
	}
	if err != nil {
		r.cancel()
		return nil, fmt.Errorf("cluster: no connections from other hosts: %w", err)
	}
	r.work.Go(r.beats)
	return r, nil
}

func (r *Relay) subject(to, from string) string { return r.prefix + ".relay." + to + "." + from }

// Dial connects to a host by its name.
func (r *Relay) Dial(ctx context.Context, host string) (net.Conn, error) {
	r.mu.Lock()
	if r.ctx.Err() != nil {
		r.mu.Unlock()
		return nil, net.ErrClosed
	}
	l := r.linkTo(host)
	r.last++
	c := l.add(connection{r.last, true})
	r.mu.Unlock()
	err := l.send(frameOpen, c.name, nil)
	if err != nil {
		c.fail(err)
	}
	select {
	case <-c.settled:
	case <-ctx.Done():
		c.Close()
		return nil, ctx.Err()
	}
	if err := c.error(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Listener is where connections of other hosts come in.
func (r *Relay) Listener() net.Listener { return relayListener{r} }

type relayListener struct{ *Relay }

func (l relayListener) Addr() net.Addr { return hostAddr(l.node) }

func (l relayListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.unheard:
		return nil, net.ErrClosed
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close takes no connections any more; those that were made stay.
func (l relayListener) Close() error {
	l.mu.Lock()
	if l.listening {
		l.listening = false
		close(l.unheard)
	}
	l.mu.Unlock()
	for {
		select {
		case c := <-l.accepted:
			c.Close()
		default:
			return nil
		}
	}
}

// Close ends all connections, which the other hosts hear, and that to NATS.
func (r *Relay) Close() error {
	r.mu.Lock()
	var conns []*relayed
	for _, l := range r.links {
		for _, c := range l.conns {
			conns = append(conns, c)
		}
	}
	r.mu.Unlock()
	for _, c := range conns {
		c.Close()
	}
	r.cancel()
	r.work.Wait()
	r.heard.Unsubscribe() // fails only if the connection is closed
	r.conn.FlushTimeout(r.beat)
	r.conn.Close()
	return nil
}

// hostAddr is a host as an end of a connection.
type hostAddr string

func (hostAddr) Network() string  { return "relay" }
func (a hostAddr) String() string { return string(a) }

// linkTo is the link with a host. The mutex is held.
func (r *Relay) linkTo(host string) *link {
	l := r.links[host]
	if l == nil {
		l = &link{relay: r, host: host, conns: map[connection]*relayed{}}
		r.links[host] = l
	}
	return l
}

// add begins a connection. The mutex is held.
func (l *link) add(name connection) *relayed {
	if len(l.conns) == 0 {
		l.heard = time.Now() // nothing was to be heard
	}
	c := newRelayed(l, name)
	l.conns[name] = c
	return c
}

// forget ends what is known of a connection.
func (l *link) forget(name connection) {
	l.relay.mu.Lock()
	delete(l.conns, name)
	l.relay.mu.Unlock()
}

// end ends all connections with a host. The mutex is held.
func (l *link) end(why error) {
	for _, c := range l.conns {
		c.fail(why)
	}
	clear(l.conns)
}

// send says something to the other host.
func (l *link) send(kind byte, name connection, data []byte) error {
	l.out.Lock()
	defer l.out.Unlock()
	number := name.number
	if name.dialed {
		number |= dialedBit
	}
	f := binary.BigEndian.AppendUint64(l.frame[:0], l.relay.instance)
	f = binary.BigEndian.AppendUint64(f, l.sent+1)
	f = append(f, kind)
	f = binary.BigEndian.AppendUint64(f, number)
	f = append(f, data...)
	l.frame = f[:0]
	if cap(f) > relayChunk/8 {
		l.frame = nil // most hosts have little to say to each other most of the time
	}
	r := l.relay
	var err error
	if kind == frameOpen || kind == frameBeat { // NATS answers if nobody hears it
		err = r.conn.PublishRequest(r.subject(l.host, r.node), r.subject(r.node, l.host), f)
	} else {
		err = r.conn.Publish(r.subject(l.host, r.node), f)
	}
	if err == nil {
		l.sent++
	}
	return err
}

// beats says that we live, and sees who does not.
func (r *Relay) beats() {
	ticker := time.NewTicker(r.beat)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-r.ctx.Done():
			return
		}
		var living []*link
		r.mu.Lock()
		for _, l := range r.links {
			if float64(time.Since(l.heard)) > silentBeats*float64(r.beat) {
				l.end(errSilent)
			}
			if len(l.conns) > 0 {
				living = append(living, l)
			}
		}
		r.mu.Unlock()
		for _, l := range living {
			l.send(frameBeat, connection{}, nil) // if it fails, the other's silence will end what has to
		}
	}
}

// noResponders is the status by which NATS says that nobody hears a subject.
const noResponders = "503"

// receive takes what another host, or NATS, says. It never waits for a reader.
func (r *Relay) receive(m *nats.Msg) {
	host := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.linkTo(host)
	if len(m.Data) < frameHead {
		if m.Header.Get("Status") == noResponders {
			l.end(errNobody)
		}
		return
	}
	instance, number := binary.BigEndian.Uint64(m.Data), binary.BigEndian.Uint64(m.Data[8:])
	kind, data := m.Data[16], m.Data[frameHead:]
	name := connection{number: binary.BigEndian.Uint64(m.Data[17:])}
	if name.dialed = name.number&dialedBit == 0; !name.dialed {
		name.number &^= dialedBit
	}
	switch {
	case instance != l.instance:
		if l.instance != 0 {
			l.end(errGone)
		}
		l.instance = instance
	case number != l.received+1:
		l.end(errLost)
		l.send(frameLost, connection{}, nil)
	}
	l.received, l.heard = number, time.Now()
	c := l.conns[name]
	switch kind {
	case frameOpen:
		r.open(l, name)
	case frameLost:
		l.end(errLost)
	case frameBeat:
		if len(l.conns) == 0 {
			l.send(frameHere, connection{}, nil)
		}
	case frameReset:
		if c != nil {
			delete(l.conns, name)
			c.fail(errGone)
		}
	case frameAccept, frameData, frameCredit, frameFin, frameClose:
		switch {
		case c == nil && kind == frameData || c == nil && kind == frameAccept:
			l.send(frameReset, name, nil)
		case c != nil && !c.take(kind, data):
			delete(l.conns, name)
			c.fail(errTooFar)
			l.send(frameReset, name, nil)
		}
	}
}

// open makes a connection that another host asks for. The mutex is held.
func (r *Relay) open(l *link, name connection) {
	if !r.listening || r.ctx.Err() != nil || len(r.accepted) == cap(r.accepted) {
		l.send(frameReset, name, nil)
		return
	}
	c := l.add(name)
	c.take(frameAccept, nil)
	if l.send(frameAccept, name, nil) != nil {
		delete(l.conns, name)
		return
	}
	r.accepted <- c // only we put something there, and there is room
}
