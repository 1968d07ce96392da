package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"slices"
	"time"

	"muster/host/store"
)

const (
	// adoptAfter is how long a host waits, once its lease is trusted, before it adopts. After an
	// outage of NATS, when all leases have ended, the other hosts are about to renew theirs and
	// still hold their rooms.
	adoptAfter = time.Second
	// adoptNext is how long an orphaned room waits before the next host in its order takes it.
	// offerAgain is how long Adopt waits before it yields the same room again: until a claim has ended
	// that no server answered, or else the host would find it still under way.
	adoptNext  = 3 * time.Second
	offerAgain = saveTime + 10*retryPause
)

// Adopt yields the codes of orphaned rooms for which this host is first in order; see
// [store.Store].
func (c *Cluster) Adopt(ctx context.Context) iter.Seq[string] {
	return func(yield func(string) bool) {
		if ctx.Err() == nil { // otherwise it takes only what is there
			c.adopting(1)
			defer c.adopting(-1)
		}
		orphans := map[string]orphan{}
		for {
			d := &c.directory
			d.mu.Lock()
			changed := d.changed
			d.mu.Unlock()
			codes, again := c.orphaned(orphans, c.config.Clock.Now())
			for _, code := range codes {
				if c.Find(code).State != store.Orphaned {
					continue // another host has it by now
				}
				if !yield(code) {
					return
				}
				if ctx.Err() != nil {
					break
				}
			}
			wait := c.config.Clock.NewTimer(again)
			if again == 0 {
				wait.Stop()
			}
			select {
			case <-ctx.Done():
			case <-c.ctx.Done():
			case <-changed:
			case <-wait.C:
			}
			wait.Stop()
			if ctx.Err() != nil || c.ctx.Err() != nil {
				return
			}
		}
	}
}

// adopting counts the running Adopts, and renews the lease so that it says whether there are any.
func (c *Cluster) adopting(by int) {
	c.lease.mu.Lock()
	c.lease.adopts += by
	c.lease.mu.Unlock()
	select {
	case c.lease.renew <- struct{}{}:
	default:
	}
}

// orphan is a room without an owner, as an Adopt has seen it.
type orphan struct {
	since   time.Time
	offered time.Time
}

// orphaned returns the rooms that this host should adopt now, and how long until it should look
// again. again is 0 if only a change can make a difference.
func (c *Cluster) orphaned(orphans map[string]orphan, now time.Time) (codes []string, again time.Duration) {
	trusted, _ := c.Trust()
	c.lease.mu.Lock()
	rest := adoptAfter - now.Sub(c.lease.since)
	c.lease.mu.Unlock()
	if !trusted {
		return nil, renewEvery
	}
	return c.directory.orphaned(orphans, rest, now)
}

// orphaned does the work for a host with a trusted lease. During the given rest it leaves others'
// rooms alone.
func (d *directory) orphaned(orphans map[string]orphan, rest time.Duration, now time.Time) (codes []string, again time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := []string{d.self.node}
	for name, n := range d.hosts {
		if n.Adopts && name != d.self.node {
			names = append(names, name)
		}
	}
	look := func(in time.Duration) {
		if again == 0 || in < again {
			again = max(in, time.Millisecond)
		}
	}
	seen := 0
	for code, e := range d.rooms {
		if e.newer || d.busy[code] > 0 || d.stateOf(code, e) != store.Orphaned {
			continue
		}
		if rest > 0 && e.owner.Value().node != d.self.node {
			look(rest)
			continue
		}
		seen++
		o, known := orphans[code]
		if !known {
			o.since = now
		}
		before := rank(code, d.self.node, names)
		switch heir := e.heir.Value(); {
		case heir == d.self.node:
			before = 0
		case slices.Contains(names, heir):
			before++
		}
		due := o.since.Add(time.Duration(before) * adoptNext)
		if again := o.offered.Add(offerAgain); !o.offered.IsZero() && again.After(due) {
			due = again
		}
		if due.After(now) {
			look(due.Sub(now))
		} else {
			o.offered = now
			codes = append(codes, code)
			look(offerAgain)
		}
		orphans[code] = o
	}
	if len(orphans) > seen {
		for code := range orphans {
			if e, known := d.rooms[code]; !known || d.stateOf(code, e) != store.Orphaned {
				delete(orphans, code)
			}
		}
	}
	slices.Sort(codes)
	return codes, again
}

// rank returns how many nodes come before this one in a room's order. The order is by a hash of
// both (rendezvous hashing), so it differs between rooms and is the same on all hosts.
func rank(code, node string, nodes []string) (before int) {
	score := func(n string) uint64 {
		sum := sha256.Sum256([]byte(code + "\x00" + n))
		return binary.BigEndian.Uint64(sum[:])
	}
	own := score(node)
	for _, n := range nodes {
		if n != node && score(n) > own {
			before++
		}
	}
	return before
}
