// Package clustertest is a model of NATS servers with JetStream, as far as package cluster uses
// them. It runs inside the process of a test, and inside a bubble of testing/synctest:
//
//	host a ── nats.go ── Line ─┐  bytes of    ┌ n1 ┐           rooms: log 1 2 3 4 5
//	host b ── nats.go ── Line ─┼─ NATS' own ──┼ n2 ┼─ links ──   n1 ✓✓✓✓✓  leader
//	test   ── nats.go ── Line ─┘  protocol    └ n3 ┘             n2 ✓✓✓✓   n3 ✓✓✓✓✓
//
// The real client and the real package cluster run on it unchanged, because it speaks the client's
// protocol over connections in memory. Each stream has a log, and each of its servers knows a
// beginning of the log, from which it builds its copy. What most of the servers know is committed.
// A leader that is cut off believes in itself for [LostQuorum], and answers from its old copy
// meanwhile; the others elect the next one [Election] after they last heard it.
//
// # Order
//
// The model works in steps, a [Step] apart. What was written before a step is done in the step, in
// an order of its own: by time, then by connection, then by content. What clients get of it comes
// after the step, each message at a [Moment] of its own. The clock of a bubble stands until all
// goroutines wait, so the order of goroutines cannot change what the model does. Faults are told by
// methods, and hold at once; a test that repeats them tells them at round times, between two steps.
// The model draws nothing. In a bubble nobody may hold a lock while time passes: the clock stands as
// long as another goroutine waits for it.
//
// # What it leaves out
//
// Whatever package cluster does not use: it panics at such a request. JetStream's own group of
// leaders has an election and no log, so a server that lost its disk still knows which streams
// there are. A new server has caught up as soon as it hears the leader. A message expires at its
// time, and not up to a second later.
package clustertest

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	// Step is the time between two steps, and so about half of a round trip.
	Step = time.Millisecond
	// Election is how long servers do not hear a leader before they elect the next one. In
	// nats-server it is a random time from 4 to 9 seconds.
	Election = 5 * time.Second
	// LostQuorum is how long a leader believes in itself that does not hear most of the servers, as
	// in nats-server.
	LostQuorum = 10 * time.Second
)

// Model is some NATS servers, numbered from 0. Any goroutine may use it.
type Model struct {
	mu      sync.Mutex // guards following
	servers []server
	cut     [][]bool // by sender and receiver
	meta    *group
	streams []*stream // in the order of their making
	conns   []*conn
	nextID  int
	placed  int // how many consumers had a place chosen
	muteAck map[string]int
	// received counts what clients have published.
	received int
	out      []delivery // in order
	trace    io.Writer
	keeps    func(subject string, header []byte)

	poke chan struct{}
	done chan struct{}
	work sync.WaitGroup
}

type server struct {
	name      string
	at        string // the address that Line.Dial takes
	isRunning bool
	hasJS     bool
	isFull    bool  // no space is left on its disk
	isSlow    bool  // it takes part and does not apply what was committed
	isBlank   bool  // it copies what it has lost, and has nothing yet
	most      int64 // max_file_store in bytes, 0 for no limit
}

// New returns a model of so many servers that run. A single one is in no cluster.
//
// The client keeps timers in a pool for the whole process, and a bubble may not use another's. New
// empties the pool, so bubbles with models run one after the other.
func New(servers int) *Model {
	runtime.GC()
	runtime.GC() // a pool survives one
	m := &Model{
		cut:     make([][]bool, servers),
		muteAck: map[string]int{},
		poke:    make(chan struct{}, 1),
		done:    make(chan struct{}),
	}
	for i := range servers {
		m.servers = append(m.servers, server{name: fmt.Sprint("n", i+1), at: fmt.Sprintf("192.0.2.%d:4222", i+1), isRunning: true, hasJS: true})
		m.cut[i] = make([]bool, servers)
	}
	m.meta = m.newGroup(m.all(), 0)
	m.work.Go(m.run)
	return m
}

// Close ends all servers, and waits for the model's goroutines.
func (m *Model) Close() {
	m.mu.Lock()
	for _, c := range m.conns {
		c.close()
	}
	m.mu.Unlock()
	close(m.done)
	m.work.Wait()
}

// URL lists the servers' addresses for a client that dials through a [Line].
func (m *Model) URL() (urls string) {
	for i, s := range m.servers {
		if i > 0 {
			urls += ","
		}
		urls += "nats://" + s.at
	}
	return urls
}

// run makes the steps until the model is closed.
func (m *Model) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var last, next time.Time // steps
	for {
		select {
		case <-m.done:
			return
		case <-m.poke: // the next step may be an earlier one
		case <-timer.C:
		}
		m.mu.Lock()
		now := time.Now()
		m.hand(now)
		if !next.IsZero() && !now.Before(next) {
			last = now
			m.receive(last)
			m.settle(last)
		}
		next = m.next(last)
		wake := next
		if len(m.out) > 0 && (wake.IsZero() || m.out[0].at.Before(wake)) {
			wake = m.out[0].at
		}
		m.mu.Unlock()
		timer.Stop()
		if !wake.IsZero() {
			timer.Reset(time.Until(wake))
		}
	}
}

// Moment returns the first time from at on of those that belong to a number. Times of different numbers
// differ, and so do those of one number from timers that were set at them: apart is a prime.
func Moment(at time.Time, number int) time.Time {
	const apart = 8191 // ns
	late := (at.UnixNano() - int64(number)) % apart
	return at.Add(time.Duration((apart - late) % apart))
}

// stepAfter returns the first step after a time. Steps lie a nanosecond beside round times, at
// which tests and timers of hosts act.
func stepAfter(at time.Time) time.Time {
	step := at.Truncate(Step).Add(1)
	if !step.After(at) {
		step = step.Add(Step)
	}
	return step
}

// next returns the time of the first step after the last one at which something happens by itself,
// zero if nothing does; the caller holds mu. What was due at the last step and did not happen waits
// for a change.
func (m *Model) next(last time.Time) (next time.Time) {
	at := func(t time.Time) {
		if t = stepAfter(t); t.After(last) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, c := range m.conns {
		if len(c.in) > 0 && c.line.state != Frozen {
			at(c.in[0].at)
		}
	}
	for _, g := range m.groups() {
		for j := range m.servers {
			at(later(g.deaf[j], Election))
			at(later(g.doubt[j], LostQuorum))
		}
	}
	for _, s := range m.streams {
		if c := s.led(m); c != nil && m.hasQuorum(s.group, s.leader) {
			at(c.nextExpiry())
		}
		for _, c := range s.consumers {
			at(c.due())
		}
	}
	return next
}

// later returns a time after another, zero for zero.
func later(t time.Time, by time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(by)
}

// all returns the numbers of all servers.
func (m *Model) all() (servers []int) {
	for i := range m.servers {
		servers = append(servers, i)
	}
	return servers
}

// A Line is the network between one client and the servers.
type Line struct {
	m     *Model
	id    int
	state LineState
}

// LineState says what becomes of the bytes on a line.
type LineState int

// The states of a line.
const (
	Whole  LineState = iota
	Frozen           // bytes wait in both directions
	Deaf             // what servers send is lost
	Mute             // what the client sends is lost
)

// Line returns a new line. Lines count in the order in which they are made, and in the same step
// what comes on an earlier one is done first.
func (m *Model) Line() *Line {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.nextID++
	return &Line{m: m, id: m.nextID}
}

// Dial connects to the server with an address; see [Model.URL]. It fails at once on a line that is
// not whole, on which a real client waits until it is tired.
func (l *Line) Dial(_, address string) (net.Conn, error) {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	i := slices.IndexFunc(l.m.servers, func(s server) bool { return s.at == address })
	if i < 0 || !l.m.servers[i].isRunning {
		return nil, &net.OpError{Op: "dial", Net: "model", Err: syscall.ECONNREFUSED}
	}
	if l.state != Whole {
		return nil, &net.OpError{Op: "dial", Net: "model", Err: os.ErrDeadlineExceeded}
	}
	here, there := net.Pipe()
	l.m.attach(there, i, l)
	return here, nil
}

// Set changes the line's state. What waited on a frozen line goes on.
func (l *Line) Set(state LineState) {
	l.m.fault(func() {
		l.state = state
		for _, c := range l.m.conns {
			if c.line == l {
				for _, text := range c.held {
					c.send(text)
				}
				c.held = nil
				at := time.Now()
				for i, before := 0, (time.Time{}); i < len(c.in); i++ { // in this order, and together what came together
					if !c.in[i].at.Equal(before) {
						at = at.Add(1)
					}
					before, c.in[i].at = c.in[i].at, at
				}
			}
		}
	})
}

// Cut ends all connections on the line.
func (l *Line) Cut() {
	l.m.fault(func() {
		for _, c := range l.m.conns {
			if c.line == l {
				c.close()
			}
		}
	})
}

// Serve takes real connections for a server, until the listener is closed.
func (m *Model) Serve(listener net.Listener, server int) {
	line := m.Line()
	m.work.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			m.mu.Lock()
			if !m.servers[server].isRunning {
				conn.Close()
			} else {
				m.attach(conn, server, line)
			}
			m.mu.Unlock()
		}
	})
}

// Trace writes down what clients publish and get from now on. It names neither subscriptions nor
// inboxes nor watches, whose names are random.
func (m *Model) Trace(to io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trace = to
}

// Keeps makes the model tell each message that a stream keeps from now on, in order, once most of its
// servers have it. It must not call the model.
func (m *Model) Keeps(tell func(subject string, header []byte)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keeps = tell
}

// fault changes the model, and does what follows at once.
func (m *Model) fault(do func()) {
	m.mu.Lock()
	do()
	m.settle(time.Now())
	m.mu.Unlock()
	m.nudge()
}

// nudge makes run look again when the next step is.
func (m *Model) nudge() {
	select {
	case m.poke <- struct{}{}:
	default:
	}
}

// Stop stops a server at once, as a kill does. What it knows of streams stays on its disk.
func (m *Model) Stop(i int) {
	m.fault(func() {
		m.servers[i].isRunning = false
		m.forget(i)
		for _, c := range m.conns {
			if c.server == i {
				c.close()
			}
		}
	})
}

// Start starts a stopped server, or the JetStream of one that runs. What it could not read it gets from
// the others.
func (m *Model) Start(i int) {
	m.fault(func() {
		m.servers[i].isRunning, m.servers[i].hasJS = true, true
		for _, s := range m.streams {
			if c := s.copies[i]; c != nil && c.isDamaged && c.life == s.life {
				s.copies[i] = s.rebuilt(c.applied)
			}
		}
	})
}

// StopJetStream makes a server go on without JetStream, as nats-server does when its disk is full.
func (m *Model) StopJetStream(i int) { m.fault(func() { m.stopJetStream(i) }) }

func (m *Model) stopJetStream(i int) {
	m.servers[i].hasJS = false
	m.forget(i)
}

// Fill says whether a server's disk has no space left. At the next write the server stops its
// JetStream.
func (m *Model) Fill(i int, isFull bool) { m.fault(func() { m.servers[i].isFull = isFull }) }

// Limit sets a server's max_file_store in bytes, 0 for none.
func (m *Model) Limit(i int, most int64) { m.fault(func() { m.servers[i].most = most }) }

// Slow says whether a server lags behind: it takes part in elections and commits, and applies
// nothing to its copies.
func (m *Model) Slow(i int, isSlow bool) { m.fault(func() { m.servers[i].isSlow = isSlow }) }

// Blank says whether a server has lost its copies and has not yet got them from the others, as after a
// start with a torn file. Leaders know nothing of that.
func (m *Model) Blank(i int, isBlank bool) {
	m.fault(func() {
		m.servers[i].isBlank = isBlank
		for _, s := range m.streams {
			s.copies[i] = nil
		}
	})
}

// Cut says whether a server's messages to another one are lost. Everybody still counts on both.
func (m *Model) Cut(from, to int, isCut bool) { m.fault(func() { m.cut[from][to] = isCut }) }

// LoseTail takes the newest writes of each stream off a stopped server's disk.
func (m *Model) LoseTail(i, writes int) {
	m.fault(func() {
		if m.servers[i].isRunning {
			panic("clustertest: LoseTail of a server that runs")
		}
		for _, s := range m.streams {
			s.got[i] = max(0, s.got[i]-writes)
			if s.copies[i] != nil {
				s.copies[i] = s.rebuilt(min(s.copies[i].applied, s.got[i]))
			}
		}
	})
}

// Rot makes a server unable to read the newest message of a subject, as a bit that turns over on its
// disk does. The server says that there is none. It sends none to watches, and counts it as pending at first.
// If that message is to be replaced, the server's JetStream stops; nats-server's stops for this stream only.
func (m *Model) Rot(i int, subject string) {
	m.damage(i, subject, func(_ *storage, newest *message) { newest.isRotten = true })
}

// Lose makes a server lack the newest message of a subject, and not know it.
func (m *Model) Lose(i int, subject string) { m.damage(i, subject, (*storage).remove) }

func (m *Model) damage(i int, subject string, do func(*storage, *message)) {
	m.fault(func() {
		if c := m.streamFor(subject).copies[i]; c != nil && len(c.subjects[subject]) > 0 {
			c.isDamaged = true
			do(c, c.messages[c.lastOf(subject)])
		}
	})
}

// LoseAcks makes a stream's next acknowledgements be lost after the write; name is the stream's.
func (m *Model) LoseAcks(name string, acks int) { m.fault(func() { m.muteAck[name] = acks }) }

// Lead makes a server the leader of a stream, or of all JetStream if the name is empty, as an
// orderly change of leaders does. It reports whether most of the servers follow it.
func (m *Model) Lead(name string, i int) (leads bool) {
	m.fault(func() {
		g := m.groupOf(name)
		if leads = m.isOn(i) && slices.Contains(g.peers, i) && m.hasQuorum(g, i) && g.got[i] == len(g.log); leads {
			clear(g.believes)
			g.elect(i)
		}
	})
	return leads
}

// StepDown makes a stream, or all JetStream if the name is empty, have no leader until the next
// election.
func (m *Model) StepDown(name string) {
	m.fault(func() {
		g := m.groupOf(name)
		clear(g.believes)
		g.leader = -1
		for j := range g.deaf {
			g.deaf[j] = time.Time{}
		}
	})
}

// Leader returns the number of a stream's leader, or of JetStream's if the name is empty; -1 for
// none.
func (m *Model) Leader(name string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.groupOf(name).leader
}

// Received returns how many messages clients have published, requests included.
func (m *Model) Received() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.received
}

func (m *Model) groupOf(name string) *group {
	if name == "" {
		return m.meta
	}
	if s := m.stream(name); s != nil {
		return s.group
	}
	panic("clustertest: no stream " + name)
}

func (m *Model) stream(name string) *stream {
	i := slices.IndexFunc(m.streams, func(s *stream) bool { return s.config.Name == name })
	if i < 0 {
		return nil
	}
	return m.streams[i]
}

// fewest returns the servers that keep fewest streams first, out of those that run JetStream.
func (m *Model) fewest() []int {
	kept := make([]int, len(m.servers))
	for _, s := range m.streams {
		for _, i := range s.peers {
			kept[i]++
		}
	}
	on := slices.DeleteFunc(m.all(), func(i int) bool { return !m.isOn(i) })
	slices.SortStableFunc(on, func(a, b int) int { return cmp.Compare(kept[a], kept[b]) })
	return on
}
