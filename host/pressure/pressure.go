// Package pressure remembers which networks have lately run into which limit, for the operator.
package pressure

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"muster/host/access"
)

// Limit names a limit for strangers.
type Limit string

// These are the limits that know where a caller comes from.
const (
	Codes       Limit = "wrong codes"
	Requests    Limit = "requests"
	Rooms       Limit = "rooms"
	Openings    Limit = "rooms a minute"
	Connections Limit = "connections"
	Pages       Limit = "pages"
)

const (
	// keepFor is how long a network stays in the table after it last ran into a limit, and most how
	// many rows there are. Addresses are personal data, so the table forgets soon, and knows no
	// network smaller than a /24 or, of IPv6, a /48: those are networks that the limits count, too.
	keepFor   = time.Hour
	most      = 1024
	four, six = 24, 48
)

// Table counts how often networks ran into limits. Its zero value is ready, and a nil Table counts
// nothing. It is in memory alone.
type Table struct {
	mu   sync.Mutex // guards rows
	rows map[place]Row
}

// place is where a limit was hit.
type place struct {
	limit   Limit
	network netip.Prefix
}

// Row says how often a network ran into a limit between two times.
type Row struct {
	Network netip.Prefix `json:"network"`
	Limit   Limit        `json:"limit"`
	Times   int          `json:"times"`
	First   time.Time    `json:"first"`
	Last    time.Time    `json:"last"`
}

// Note counts a caller who ran into a limit. Callers without an address, such as those of a tunnel's
// end on this machine, do not count.
func (t *Table) Note(limit Limit, from netip.Addr, now time.Time) {
	from = from.Unmap().WithZone("")
	if t == nil || !from.IsValid() {
		return
	}
	at := place{limit, access.Network(from, four, six)}
	t.mu.Lock()
	defer t.mu.Unlock()
	row, known := t.rows[at]
	if !known || now.Sub(row.Last) > keepFor {
		row = Row{Network: at.network, Limit: limit, First: now}
	}
	row.Times++
	row.Last = now
	if t.rows == nil {
		t.rows = map[place]Row{}
	}
	if !known && len(t.rows) >= most {
		t.makeRoom(now)
	}
	t.rows[at] = row
}

// makeRoom forgets old rows or, if there are none, the row that was hit longest ago. The caller
// holds the mutex.
func (t *Table) makeRoom(now time.Time) {
	maps.DeleteFunc(t.rows, func(_ place, r Row) bool { return now.Sub(r.Last) > keepFor })
	if len(t.rows) < most {
		return
	}
	var oldest place
	for at, r := range t.rows {
		if first := t.rows[oldest].Last; first.IsZero() || r.Last.Before(first) {
			oldest = at
		}
	}
	delete(t.rows, oldest)
}

// Rows returns the networks of the last hour, those that were hit most often first.
func (t *Table) Rows(now time.Time) []Row {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	rows := slices.Collect(maps.Values(t.rows))
	t.mu.Unlock()
	rows = slices.DeleteFunc(rows, func(r Row) bool { return now.Sub(r.Last) > keepFor })
	Sort(rows)
	return rows
}

// Sort sorts rows, those with most hits first.
func Sort(rows []Row) {
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), a.Network.Addr().Compare(b.Network.Addr()), cmp.Compare(a.Limit, b.Limit))
	})
}

// Merge adds up the rows of several hosts.
func Merge(rows []Row) []Row {
	all := map[place]Row{}
	for _, r := range rows {
		at := place{r.Limit, r.Network}
		if sum, is := all[at]; is {
			r.Times += sum.Times
			if sum.First.Before(r.First) {
				r.First = sum.First
			}
			if sum.Last.After(r.Last) {
				r.Last = sum.Last
			}
		}
		all[at] = r
	}
	merged := slices.Collect(maps.Values(all))
	Sort(merged)
	return merged
}
