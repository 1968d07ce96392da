package fleet

import (
	"sync/atomic"
	"time"
)

// Stats is what a fleet has done so far.
type Stats struct {
	// Queries are datagrams that came to one of the servers.
	Queries uint64 `json:"queries"`
	// Replies were sent; each may be several datagrams.
	Replies uint64 `json:"replies"`
	// Lost queries have no reply in the world: a lost packet or a silent server.
	Lost uint64 `json:"lost"`
	// Limited queries came too often.
	Limited uint64 `json:"limited"`
	// Malformed queries are none that the servers understand.
	Malformed uint64 `json:"malformed"`
	// Strays came to an address where no server is.
	Strays uint64 `json:"strays"`
	// Lists is how often the master was asked.
	Lists uint64 `json:"lists"`
	// Late is by how much replies left later than the world would have it; an
	// eighth too high at most, but for the maximum, which is exact.
	Late Lateness `json:"late"`
}

// Lateness is the distribution of delays, in nanoseconds.
type Lateness struct {
	P50 time.Duration `json:"p50"`
	P99 time.Duration `json:"p99"`
	Max time.Duration `json:"max"`
}

// Stats is what the fleet has done so far.
func (f *Fleet) Stats() Stats {
	t := &f.stats
	return Stats{
		Queries: t.queries.Load(), Replies: t.replies.Load(), Lost: t.lost.Load(), Limited: t.limited.Load(),
		Malformed: t.malformed.Load(), Strays: t.strays.Load(), Lists: t.lists.Load(),
		Late: Lateness{P50: t.late.quantile(0.5), P99: t.late.quantile(0.99), Max: t.late.longest()},
	}
}

// tally counts.
type tally struct {
	queries, replies, lost, limited, malformed, strays, lists atomic.Uint64

	late histogram
}
