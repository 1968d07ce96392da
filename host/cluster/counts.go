package cluster

import (
	"time"

	"muster/host/store"
)

// Counts are what operators watch of a cluster, as this host sees it.
type Counts struct {
	// Trusted says that this host can be sure of its rooms, and Lease for how long without another
	// renewal.
	Trusted bool
	Lease   time.Duration
	// Renewed and Unrenewed count the renewals of the lease that succeeded and failed. Ends counts how
	// often the trust in it has ended.
	Renewed, Unrenewed, Ends uint64
	// Hosts is how many hosts have a lease, this one included, and Orphaned how many rooms no living host
	// has.
	Hosts, Orphaned int
	// Connected says that a NATS server answers this host.
	Connected bool
	// Replicas says how many servers keep each of the streams: rooms, hosts, and what is large.
	Replicas map[string]Replicas
}

// Counts returns the counts of this moment. It looks at each room.
func (c *Cluster) Counts() Counts {
	n := Counts{Connected: c.conn.IsConnected(), Replicas: c.replicas.count()}
	l := &c.lease
	l.mu.Lock()
	l.judge()
	n.Trusted, n.Lease = l.trusted, max(0, c.config.Clock.Until(l.until))
	n.Renewed, n.Unrenewed, n.Ends = l.renewals, l.failures, l.ends
	l.mu.Unlock()
	d := &c.directory
	d.mu.Lock()
	defer d.mu.Unlock()
	n.Hosts = len(d.hosts)
	for code, e := range d.rooms {
		if !e.newer && d.busy[code] == 0 && d.stateOf(code, e) == store.Orphaned {
			n.Orphaned++
		}
	}
	return n
}
