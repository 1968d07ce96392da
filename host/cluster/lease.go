package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"muster/internal/clock"
)

const (
	// leaseTime is how long the servers keep a lease that is not renewed. The servers count in
	// whole seconds.
	leaseTime = 3 * time.Second
	// renewEvery is how often a host renews its lease, and renewAgain how soon it retries after a
	// failure.
	renewEvery = time.Second
	renewAgain = 200 * time.Millisecond
	// trustTime is how long a host trusts its lease, counted from before it was renewed. The margin
	// allows for clocks that run at different speeds, and for messages that a goroutine sends just
	// after it has asked.
	trustTime = leaseTime - leaseTime/6
)

// lease says that this host lives. A host has one lease, whatever its number of rooms.
type lease struct {
	clock   clock.Clock
	mu      sync.Mutex // guards following
	seq     uint64     // of the lease's message
	until   time.Time  // when it may no longer be trusted
	trusted bool
	since   time.Time // when it became trusted or untrusted
	changed chan struct{}
	adopts  int // how many Adopts run
	renew   chan struct{}
	taken   bool // set once the log says that another process has the name
	// renewals and failures count the attempts to renew it, and ends how often the trust has ended.
	renewals, failures, ends uint64
}

// life is the content of a lease.
type life struct {
	Version int    `json:"v"`
	Life    string `json:"life"`
	// Adopts reports whether the host takes over rooms of those that end.
	Adopts bool `json:"adopts"`
	// Takes is the newest version of a saved room that the host reads, 0 if it does not say.
	Takes int `json:"takes,omitempty"`
	// Door says how other hosts reach it, in a form that this package does not know.
	Door string `json:"door,omitempty"`
}

// longestDoor is the length limit of a door, in bytes.
const longestDoor = 512

// parseLife reads a lease; the result is empty if the lease is malformed.
func parseLife(data []byte) life {
	var l life
	if json.Unmarshal(data, &l) != nil || l.Version < 1 || len(l.Life) > 64 || len(l.Door) > longestDoor {
		return life{}
	}
	return l
}

// Trust reports whether this host can be sure of its rooms: its lease cannot have ended, so no
// other host has claimed them. The channel is closed when the answer changes.
func (c *Cluster) Trust() (trusted bool, changed <-chan struct{}) {
	l := &c.lease
	l.mu.Lock()
	defer l.mu.Unlock()
	l.judge()
	return l.trusted, l.changed
}

// judge ends the trust in a lease that may have ended. A process that was stopped gets here before
// its timers fire.
func (l *lease) judge() {
	if l.trusted && l.mayBeOver() {
		l.set(false)
	}
}

// mayBeOver reports whether the lease may have ended, by the time since its renewal or by the date: while a
// machine is suspended only the date goes on.
func (l *lease) mayBeOver() bool {
	now := l.clock.Now()
	return !now.Before(l.until) || !now.Round(0).Before(l.until.Round(0))
}

func (l *lease) set(trusted bool) {
	if l.trusted == trusted {
		return
	}
	l.trusted, l.since = trusted, l.clock.Now()
	if !trusted {
		l.ends++
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// renewed notes that the message sent at a time renewed the lease. A lease that had ended is
// trusted again once the host knows what others claimed meanwhile.
func (l *lease) renewed(seq uint64, sent time.Time, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq, l.until, l.taken = seq, sent.Add(trustTime), false
	l.set((l.trusted || known) && !l.mayBeOver())
}

// writeLease renews the lease, over the message with the given sequence.
func (c *Cluster) writeLease(ctx context.Context, over uint64) error {
	c.lease.mu.Lock()
	data, err := json.Marshal(life{Version: 1, Life: c.life, Adopts: c.lease.adopts > 0, Takes: c.config.Takes, Door: c.door})
	c.lease.mu.Unlock()
	if err != nil {
		return err
	}
	sent := c.config.Clock.Now()
	seq, err := c.publish(ctx, &nats.Msg{Subject: c.subject("host", c.config.Node), Data: data}, over, leaseTime)
	if err != nil {
		return err
	}
	trusted, _ := c.Trust()
	c.lease.renewed(seq, sent, !trusted && c.catchUp(ctx))
	return nil
}

// readLease returns a node's lease as the servers have it. If there is none, it is empty, with the
// sequence that a new lease must name.
func (c *Cluster) readLease(ctx context.Context, node string) (life, uint64, error) {
	m, err := c.hosts.GetLastMsgForSubject(ctx, c.subject("host", node))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return life{}, 0, nil
	case err != nil:
		return life{}, 0, err
	}
	return parseLife(m.Data), m.Sequence, nil // empty for a marker
}

// takeLease takes the lease at the start. An existing lease is either a predecessor's, which ends,
// or another living host's, which is renewed meanwhile.
func (c *Cluster) takeLease(ctx context.Context) error {
	taken := &Error{ErrNodeTaken, fmt.Sprintf("another host of the name %s is in the cluster", c.config.Node),
		"give each host a --node of its own"}
	var found life
	var at uint64
	var until time.Time // when the lease that was found should end: without a leader none does
	for {
		there, seq, err := c.readLease(ctx, c.config.Node)
		switch {
		case err != nil:
		case there.Life == "":
			if err = c.writeLease(ctx, seq); err == nil {
				return nil
			}
		case found.Life == there.Life && seq != at:
			return taken
		case found.Life != there.Life && found.Life != "":
			return taken // a third host was faster
		default:
			if found.Life == "" {
				until = c.config.Clock.Now().Add(electionTime)
			}
			found, at = there, seq
		}
		switch {
		case err != nil && !isWrongSequence(err):
			until = c.config.Clock.Now().Add(electionTime)
			c.tellWaiting(err)
		case found.Life != "" && c.config.Clock.Now().After(until):
			return taken
		}
		if !pause(ctx, renewAgain) {
			return ctx.Err()
		}
	}
}

// keepLease renews the lease until the host ends, and notices in time if it cannot.
func (c *Cluster) keepLease() {
	l := &c.lease
	next := c.config.Clock.NewTimer(renewEvery)
	defer next.Stop()
	doubt := c.config.Clock.AfterFunc(trustTime, func() { c.Trust() })
	defer doubt.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-next.C:
			select {
			case <-l.renew: // this renewal says it, too
			default:
			}
		case <-l.renew:
			select {
			case <-next.C:
			default:
				if !pause(c.ctx, retryPause) { // a host that ends says so by the end of its lease
					return
				}
			}
		}
		began := c.config.Clock.Now()
		err := c.renewLease()
		c.tellOutage(err)
		l.mu.Lock()
		if err == nil {
			l.renewals++
		} else {
			l.failures++
		}
		doubt.Reset(c.config.Clock.Until(l.until))
		l.mu.Unlock()
		wait := renewEvery
		if err != nil {
			wait = renewAgain
		}
		next.Reset(max(0, wait-c.config.Clock.Since(began)))
		c.missing()
	}
}

// renewLease renews the lease, or takes a new one after it has ended. The host then still has every
// room that no other host has claimed.
func (c *Cluster) renewLease() error {
	l := &c.lease
	l.mu.Lock()
	over := l.seq
	l.mu.Unlock()
	err := c.writeLease(c.ctx, over)
	if !isWrongSequence(err) {
		return err
	}
	there, seq, err := c.readLease(c.ctx, c.config.Node)
	switch {
	case err != nil:
		return err
	case there.Life == "" || there.Life == c.life: // ended, or renewed without an acknowledgement
		return c.writeLease(c.ctx, seq)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = c.config.Clock.Now()
	l.judge()
	if !l.taken {
		l.taken = true
		c.log.Error("another host has this one's name, and its rooms", "node", c.config.Node)
	}
	return errNameTaken
}

// errNameTaken says that another host has this one's name.
var errNameTaken = errors.New("another host has this one's name")

// endLease gives the lease up, so that others need not wait for its end.
func (c *Cluster) endLease() {
	c.lease.mu.Lock()
	over, trusted := c.lease.seq, c.lease.trusted
	c.lease.until = c.config.Clock.Now()
	c.lease.judge()
	c.lease.mu.Unlock()
	if !trusted {
		return // it has ended, or no server answers
	}
	ctx, cancel := context.WithTimeout(context.Background(), attemptTime)
	defer cancel()
	c.publish(ctx, &nats.Msg{Subject: c.subject("host", c.config.Node)}, over, leaseTime)
}
