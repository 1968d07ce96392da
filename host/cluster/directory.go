package cluster

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unique"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"muster/host/store"
	"muster/internal/clock"
)

// directory is this host's knowledge of all rooms and hosts, in memory. It learns of each write,
// and of each lease that is renewed or ends. It may be late, but it is never wrong about what it
// has seen.
type directory struct {
	self  owner // this host
	clock clock.Clock
	mu    sync.Mutex // guards following
	rooms map[string]entry
	codes map[string]string // by public id
	// claims are this host's own; busy counts the claims under way for each code.
	claims map[string]*claim
	busy   map[string]int
	hosts  map[string]neighbour
	// shifted is when a host last came, ended or began to adopt.
	shifted time.Time
	// ended is when the servers last said that a process has no lease.
	ended map[owner]time.Time
	// denied names for each room the servers that have led the stream and found no message of it.
	// stepped is when this host last asked one of them to let another lead.
	denied  map[string][]string
	stepped time.Time
	// isListing is set until the first listing is complete; until then this host owns nothing.
	isListing bool
	// isWhole is set while the rooms' watch has reported all rooms.
	isWhole bool
	// position is how far the rooms' watch has come; moved is closed when it advances.
	position uint64
	moved    chan struct{}
	// synced is the sequence of this host's newest buoy that the watch has passed. spoke is when the watch
	// last told anything, and tried when a buoy was last written because it told nothing.
	synced       uint64
	spoke, tried time.Time
	// changed is closed when there may be a room to adopt.
	changed chan struct{}
	// restart makes the watches begin again, because the connection is a new one, or because their
	// server lags behind. restarted is when it last did for that.
	restart   chan struct{}
	restarted time.Time
}

// entry is the directory's record of a room.
type entry struct {
	id    string
	owner unique.Handle[owner]
	// For a room without an owner, last is the node that had it last, and heir the node that may
	// take it first.
	last, heir unique.Handle[string]
	epoch      uint64
	seq        uint64
	over       bool
	newer      bool // of a version that this program does not know
}

// owner is a process of a node.
type owner struct{ node, life string }

// neighbour is a living host.
type neighbour struct {
	life
	heard time.Time // when its lease was last seen
}

func (d *directory) init(self owner, of clock.Clock) {
	d.self, d.clock = self, of
	d.rooms, d.codes, d.claims, d.busy, d.hosts = map[string]entry{}, map[string]string{}, map[string]*claim{},
		map[string]int{}, map[string]neighbour{}
	d.ended, d.denied = map[owner]time.Time{}, map[string][]string{}
	d.isListing = true
	d.moved, d.changed, d.restart = make(chan struct{}), make(chan struct{}), make(chan struct{})
}

// reconnected makes the watches begin again.
func (d *directory) reconnected() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.restart = wake(d.restart)
}

// lacks makes the watches begin again if they have not told a message that the leader has: their server
// lags behind. They get as long for it as a lease lasts.
func (d *directory) lacks(seq uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.position < seq && d.clock.Since(d.restarted) > leaseTime {
		d.restarted, d.restart = d.clock.Now(), wake(d.restart)
	}
}

// wake closes a channel that goroutines wait for, and returns the next one.
func wake(c chan struct{}) chan struct{} {
	close(c)
	return make(chan struct{})
}

// list fills the directory and keeps it up to date until the host ends.
func (c *Cluster) list(ctx context.Context) error {
	listed := make(chan struct{}, 2)
	done := func() { listed <- struct{}{} }
	d := &c.directory
	hosts := &watch{
		log:       c.log,
		directory: d,
		stream:    c.hosts,
		subject:   c.subject("host", "*"),
		listed:    sync.OnceFunc(done),
		whole:     func(bool) {},
		tell:      d.hearHost,
	}
	rooms := &watch{
		log:         c.log,
		directory:   d,
		stream:      c.rooms,
		subject:     c.subject("room", "*"),
		headersOnly: true,
		isAll:       true,
		mark:        func(ctx context.Context) (uint64, error) { return c.floatBuoy(ctx, buoy+c.config.Node) },
		listed:      sync.OnceFunc(done),
		whole:       d.setWhole,
		tell:        d.hearRoom,
		lost:        d.forget,
	}
	c.work.Go(func() { hosts.run(c.ctx) })
	c.work.Go(func() { rooms.run(c.ctx) })
	for range 2 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-listed:
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.isListing = false
	return nil
}

func (d *directory) setWhole(is bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.isWhole = is
}

// forget forgets all rooms, because the servers have lost some. The host keeps its own again.
func (d *directory) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.position = 0
	clear(d.rooms)
	clear(d.codes)
	clear(d.denied)
	d.keepAgain()
}

// keepAgain makes the host keep all of its rooms again; the caller holds d.mu.
func (d *directory) keepAgain() {
	for _, own := range d.claims {
		select {
		case <-own.unkept:
		default:
			close(own.unkept)
		}
	}
}

// hearRoom takes over what a room's newest message says.
func (d *directory) hearRoom(code string, header nats.Header, _ []byte, seq uint64) {
	r, err := parseRecord(header.Get(recordHeader))
	newer := errors.Is(err, store.ErrNewer)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.position, d.moved, d.spoke = seq, wake(d.moved), d.clock.Now()
	if node, is := strings.CutPrefix(code, buoy); is {
		if node == d.self.node {
			d.synced = seq
		}
		return
	}
	old, known := d.rooms[code]
	if seq < old.seq {
		return // the watch has begun again
	}
	delete(d.denied, code)
	if known && old.id != "" && d.codes[old.id] == code {
		delete(d.codes, old.id)
	}
	if err != nil && !newer { // a marker for an expired tombstone, or a message that is not ours
		delete(d.rooms, code)
		return
	}
	e := entry{
		id:    r.ID,
		owner: unique.Make(owner{r.Owner, r.Life}),
		last:  unique.Make(r.Last),
		heir:  unique.Make(r.Heir),
		epoch: r.Epoch,
		seq:   seq,
		over:  r.Over,
		newer: newer,
	}
	d.rooms[code] = e
	if e.id != "" && !e.over {
		d.codes[e.id] = code
	}
	if own := d.claims[code]; own != nil && e.epoch > own.epoch {
		own.fence()
		delete(d.claims, code)
	}
	if d.stateOf(code, e) == store.Orphaned {
		d.changed = wake(d.changed)
	}
}

// hearHost takes over a host's lease: the host lives, or has ended.
func (d *directory) hearHost(node string, _ nats.Header, data []byte, _ uint64) {
	l := parseLife(data)
	d.mu.Lock()
	defer d.mu.Unlock()
	if old := d.hosts[node]; old.life != l {
		d.changed = wake(d.changed)
		d.shifted = d.clock.Now()
	}
	if l.Life == "" {
		delete(d.hosts, node)
		return
	}
	d.hosts[node] = neighbour{l, d.clock.Now()}
}

// missing reads the leases of hosts that were silent for too long, because this host may have
// missed their end. If it does not even hear its own lease, which it has renewed, the server of its
// watch lags behind, and the watches begin again on another one.
func (c *Cluster) missing() {
	c.lease.mu.Lock()
	isNews := !c.lease.trusted || c.config.Clock.Since(c.lease.since) < renewEvery
	c.lease.mu.Unlock()
	if isNews {
		return // what was said during an outage is only coming in
	}
	d := &c.directory
	if d.mustSound() {
		c.work.Go(func() { c.floatBuoy(c.ctx, c.config.Node) }) // without an answer the next one comes later
	}
	var silent []string
	d.mu.Lock()
	for node, n := range d.hosts {
		switch isSilent := c.config.Clock.Since(n.heard) > leaseTime+renewEvery; {
		case isSilent && node == c.config.Node:
			n.heard = c.config.Clock.Now() // the new watch gets as long
			d.hosts[node] = n
			d.restarted, d.restart = n.heard, wake(d.restart)
		case isSilent:
			silent = append(silent, node)
		}
	}
	d.mu.Unlock()
	slices.Sort(silent)
	for _, node := range silent {
		ctx, cancel := context.WithTimeout(c.ctx, attemptTime)
		l, _, err := c.readLease(ctx, node)
		cancel()
		if err != nil {
			return // the servers are away, so no host is known to have ended
		}
		d.mu.Lock()
		if n := d.hosts[node]; c.config.Clock.Since(n.heard) > leaseTime {
			d.shifted = c.config.Clock.Now()
			if d.changed = wake(d.changed); l.Life == "" {
				delete(d.hosts, node)
			} else {
				d.hosts[node] = neighbour{l, c.config.Clock.Now()}
			}
		}
		d.mu.Unlock()
	}
}

// mustSound reports whether the host should write a buoy, because the rooms' watch has told nothing for a
// while. If the watch does not tell that either, its server lags behind, and the watches begin again on
// another one.
func (d *directory) mustSound() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.clock.Now()
	switch {
	case now.Sub(d.spoke) < soundEvery:
	case d.tried.Before(d.spoke), now.Sub(d.tried) > soundEvery:
		d.tried = now
		return true
	case now.Sub(d.tried) > leaseTime && now.Sub(d.restarted) > leaseTime:
		d.restarted, d.restart = now, wake(d.restart)
	}
	return false
}

// soundEvery is how long the rooms' watch may tell nothing until a buoy shows whether it still would.
const soundEvery = 8 * time.Second

// buoy begins the subject under which a host writes a message among the rooms and reads it back; no
// code begins like this. A second one stands in the subject of the watch's own buoys. buoyLife is how
// long the servers keep the message.
const (
	buoy     = "_"
	buoyLife = 10 * time.Second
)

// floatBuoy writes a buoy, and returns its sequence.
func (c *Cluster) floatBuoy(ctx context.Context, name string) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	ack, err := c.js.PublishMsg(ctx, &nats.Msg{Subject: c.subject("room", buoy+name)}, jetstream.WithRetryAttempts(0), jetstream.WithMsgTTL(buoyLife))
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// catchUp waits a while, and reports whether the directory has every earlier write. It writes a
// buoy, and checks whether the watch passes it. A server's word on its newest message is not
// enough: the server may lag behind, and the watch may have seen messages that the servers then
// lost.
func (c *Cluster) catchUp(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	d := &c.directory
	d.mu.Lock()
	isFree := d.isListing || len(d.claims) == 0
	d.mu.Unlock()
	if isFree {
		return true // no other host can have taken a room of this one
	}
	seq, err := c.floatBuoy(ctx, c.config.Node)
	if err != nil {
		return false
	}
	for {
		d.mu.Lock()
		synced, moved := d.synced, d.moved
		d.mu.Unlock()
		if synced == seq {
			return true
		}
		select {
		case <-ctx.Done():
			d.reconnected() // the watch is ahead of the servers, or they send it nothing
			return false
		case <-moved:
		}
	}
}

// stateOf says where an entry's room is; the caller holds d.mu.
func (d *directory) stateOf(code string, e entry) store.State {
	own := d.claims[code]
	of := e.owner.Value()
	switch {
	case e.over:
		return store.Over
	case own != nil:
		return store.Here
	case of.node == "", of == d.self: // released, or claimed by this process without its knowledge
		return store.Orphaned
	case d.hosts[of.node].Life == of.life:
		return store.Elsewhere
	}
	return store.Orphaned
}

// Find says where a room is, according to the directory.
func (c *Cluster) Find(code string) store.Place {
	trusted, _ := c.Trust()
	d := &c.directory
	d.mu.Lock()
	defer d.mu.Unlock()
	if own := d.claims[code]; own != nil {
		return store.Place{State: store.Here, Host: c.config.Node, Epoch: own.epoch}
	}
	e, known := d.rooms[code]
	if !known {
		return store.Place{Unsure: !trusted || !d.isWhole}
	}
	of := e.owner.Value().node
	return store.Place{State: d.stateOf(code, e), Host: cmp.Or(of, e.last.Value()), Epoch: e.epoch, Released: of == "" && !e.over}
}

// FindID returns the code of the room with a public id.
func (c *Cluster) FindID(id string) string {
	d := &c.directory
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.codes[id]
}

// Hosts returns the living hosts' names, in order.
func (c *Cluster) Hosts() (names []string) {
	d := &c.directory
	d.mu.Lock()
	defer d.mu.Unlock()
	for name := range d.hosts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Doors returns how to reach each living host, by name.
func (c *Cluster) Doors() map[string]string {
	d := &c.directory
	d.mu.Lock()
	defer d.mu.Unlock()
	doors := make(map[string]string, len(d.hosts))
	for name, n := range d.hosts {
		doors[name] = n.Door
	}
	return doors
}

// Loads counts the rooms of each living host that adopts rooms and can read those that this host
// has saved. It also returns this host's name, and for how long the set of hosts has been the same.
func (c *Cluster) Loads() (own string, rooms map[string]int, settled time.Duration) {
	trusted, _ := c.Trust()
	d := &c.directory
	d.mu.Lock()
	defer d.mu.Unlock()
	if !trusted || d.isListing {
		return c.config.Node, nil, 0
	}
	rooms = map[string]int{}
	for name, n := range d.hosts {
		if n.Adopts && n.Takes >= c.config.Takes {
			rooms[name] = 0
		}
	}
	for _, e := range d.rooms {
		of := e.owner.Value()
		if _, counts := rooms[of.node]; counts && !e.over && d.hosts[of.node].Life == of.life {
			rooms[of.node]++
		}
	}
	return c.config.Node, rooms, c.config.Clock.Since(d.shifted)
}
