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
)

// directory is what this host knows of all rooms and hosts, in memory. It is told of
// each write, and of each lease that is renewed or ends; it may be late, never wrong
// about what it has seen.
type directory struct {
	self  owner      // this host
	mu    sync.Mutex // guards following
	rooms map[string]entry
	codes map[string]string // by public id
	// claims are this host's own; busy are the codes that it is claiming.
	claims map[string]*claim
	busy   map[string]int
	hosts  map[string]neighbour
	// shifted is when a host came, ended, or began to adopt.
	shifted time.Time
	// ended is when the servers said last that a process has no lease.
	ended map[owner]time.Time
	// isListing is set until all was listed for the first time: nothing is owned before.
	isListing bool
	// position is how far the rooms' watch has come; moved is closed when it goes on.
	position uint64
	moved    chan struct{}
	// synced is the sequence of this host's newest buoy that the watch has come by.
	synced uint64
	// changed is closed when there may be something to adopt.
	changed chan struct{}
	// restart has the watches begin again, since the connection is another.
	restart chan struct{}
}

// entry is a room as the directory has it.
type entry struct {
	id    string
	owner unique.Handle[owner]
	// last is the node that had it last, and heir the one that is to take it first, where
	// it has no owner.
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
	heard time.Time // when it was heard of last
}

func (d *directory) init(self owner) {
	d.self = self
	d.rooms, d.codes, d.claims, d.busy, d.hosts = map[string]entry{}, map[string]string{}, map[string]*claim{},
		map[string]int{}, map[string]neighbour{}
	d.ended = map[owner]time.Time{}
	d.isListing = true
	d.moved, d.changed, d.restart = make(chan struct{}), make(chan struct{}), make(chan struct{})
}

// reconnected has the watches begin again.
func (d *directory) reconnected() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.restart = wake(d.restart)
}

// wake closes a channel that others wait for, and returns the next.
func wake(c chan struct{}) chan struct{} {
	close(c)
	return make(chan struct{})
}

// list fills the directory, and keeps it up to date until the host ends.
func (c *Cluster) list(ctx context.Context) error {
	listed := make(chan struct{}, 2)
	done := func() { listed <- struct{}{} }
	d := &c.directory
	hosts := &watch{log: c.log, directory: d, stream: c.hosts, subject: c.subject("host", "*"), listed: sync.OnceFunc(done), tell: d.hearHost}
	rooms := &watch{
		log:         c.log,
		directory:   d,
		stream:      c.rooms,
		subject:     c.subject("room", "*"),
		headersOnly: true,
		listed:      sync.OnceFunc(done),
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

// forget forgets all rooms: the servers have lost some.
func (d *directory) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.position = 0
	clear(d.rooms)
	clear(d.codes)
}

// hearRoom takes over what a room's newest message says.
func (d *directory) hearRoom(code string, header nats.Header, _ []byte, seq uint64) {
	r, err := parseRecord(header.Get(recordHeader))
	newer := errors.Is(err, store.ErrNewer)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.position, d.moved = seq, wake(d.moved)
	if node, is := strings.CutPrefix(code, buoy); is {
		if node == d.self.node {
			d.synced = seq
		}
		return
	}
	old, known := d.rooms[code]
	if known && old.id != "" && d.codes[old.id] == code {
		delete(d.codes, old.id)
	}
	if err != nil && !newer { // a marker: the tombstone's time is up; or nothing of ours
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

// hearHost takes over what a host's lease says: that it lives, or nothing any more.
func (d *directory) hearHost(node string, _ nats.Header, data []byte, _ uint64) {
	l := parseLife(data)
	d.mu.Lock()
	defer d.mu.Unlock()
	if old := d.hosts[node]; old.life != l {
		d.changed = wake(d.changed)
		d.shifted = time.Now()
	}
	if l.Life == "" {
		delete(d.hosts, node)
		return
	}
	d.hosts[node] = neighbour{l, time.Now()}
}

// missing looks for the leases of hosts that were not heard of for too long: their end
// may have been missed.
func (c *Cluster) missing() {
	d := &c.directory
	var silent []string
	d.mu.Lock()
	for node, n := range d.hosts {
		if time.Since(n.heard) > leaseTime+renewEvery && node != c.config.Node {
			silent = append(silent, node)
		}
	}
	d.mu.Unlock()
	for _, node := range silent {
		ctx, cancel := context.WithTimeout(c.ctx, attemptTime)
		l, _, err := c.readLease(ctx, node)
		cancel()
		if err != nil {
			return // the servers are away: nobody is known to have ended
		}
		d.mu.Lock()
		if n := d.hosts[node]; time.Since(n.heard) > leaseTime {
			d.shifted = time.Now()
			if d.changed = wake(d.changed); l.Life == "" {
				delete(d.hosts, node)
			} else {
				d.hosts[node] = neighbour{l, time.Now()}
			}
		}
		d.mu.Unlock()
	}
}

// buoy begins the name by which a host writes something among the rooms to read it
// again; no code begins so. buoyLife is how long it stays there.
const (
	buoy     = "_"
	buoyLife = 10 * time.Second
)

// catchUp reports whether the directory has all that was written before, for which it
// waits a while: it throws out a buoy, and looks whether the watch comes by it. What a
// server says of its newest message would not do: it may lag behind, and the watch may
// have seen what the servers then lost.
func (c *Cluster) catchUp(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	d := &c.directory
	d.mu.Lock()
	isFree := d.isListing || len(d.claims) == 0
	d.mu.Unlock()
	if isFree {
		return true // nothing of this host's can have become another's
	}
	ack, err := c.js.PublishMsg(ctx, &nats.Msg{Subject: c.subject("room", buoy+c.config.Node)},
		jetstream.WithRetryAttempts(0), jetstream.WithMsgTTL(buoyLife))
	if err != nil {
		return false
	}
	for {
		d.mu.Lock()
		synced, moved := d.synced, d.moved
		d.mu.Unlock()
		if synced == ack.Sequence {
			return true
		}
		select {
		case <-ctx.Done():
			d.reconnected() // the watch is beyond what the servers have, or they tell it nothing
			return false
		case <-moved:
		}
	}
}

// stateOf says where the room of an entry is; d.mu is held.
func (d *directory) stateOf(code string, e entry) store.State {
	own := d.claims[code]
	of := e.owner.Value()
	switch {
	case e.over:
		return store.Over
	case own != nil:
		return store.Here
	case of.node == "", of == d.self: // released, or claimed, but this host never knew
		return store.Orphaned
	case d.hosts[of.node].Life == of.life:
		return store.Elsewhere
	}
	return store.Orphaned
}

// Find says where a room is, as the directory has it.
func (c *Cluster) Find(code string) store.Place {
	d := &c.directory
	d.mu.Lock()
	defer d.mu.Unlock()
	if own := d.claims[code]; own != nil {
		return store.Place{State: store.Here, Host: c.config.Node, Epoch: own.epoch}
	}
	e, known := d.rooms[code]
	if !known {
		return store.Place{}
	}
	return store.Place{State: d.stateOf(code, e), Host: cmp.Or(e.owner.Value().node, e.last.Value()), Epoch: e.epoch}
}

// FindID is the code of the room with a public id.
func (c *Cluster) FindID(id string) string {
	d := &c.directory
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.codes[id]
}

// Hosts are the living hosts' names, in order.
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

// Doors returns how the living hosts are reached, by their names.
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

// Loads returns this host's name, how many rooms each living host has that takes over
// rooms and can read those that this one has saved, and for how long these hosts have been
// the same.
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
	return c.config.Node, rooms, time.Since(d.shifted)
}
