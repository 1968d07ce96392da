package networks

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"net/netip"
	"slices"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/selection/memory"
)

const (
	// MaxCells is how many cells a memory has at most. With trials it takes up to 64 MB.
	MaxCells = 1_000_000
	// forgotten is the age at which a cell ends, in hours: two years.
	forgotten = 2 * 365 * 24
	// fresh is how old a cell may be, in hours, and need no confirmation: a week.
	fresh = 7 * 24
	// contradictedShare is the share of the cells in which an AS and its country may disagree, if the
	// country's other cells are to stand in for the AS.
	contradictedShare = 0.1
	// maxMS is the longest RTT that a cell can have, in ms.
	maxMS = math.MaxUint16 / ticks
	// ticks are the steps of a RTT in 1 ms.
	ticks = 10
)

// cell is what a memory knows of a part for players from one origin. Times are in ticks.
type cell struct {
	part
	ms, spread uint16
	seen       uint32 // in hours since 1970
	count      uint8
}

// row has the cells for one origin, in order.
type row []cell

func (r row) find(p part) (at int, is bool) {
	return slices.BinarySearchFunc(r, p, func(c cell, p part) int { return c.part.compare(p) })
}

// Memory is a host's memory. Any goroutine may use it. A nil one knows nothing and learns nothing.
type Memory struct {
	key [32]byte // of the hashes in trials

	mu     sync.Mutex // guards following
	rows   map[origin]row
	cells  int
	trials map[trialKey]trial
	// gone is the hour after the last [Memory.Forget]: nothing from before is left.
	gone uint32
	// version counts the changes of the document.
	version   int
	maxCells  int
	maxTrials int
}

// New returns an empty memory. The key is random and kept nowhere else: it makes the hashes of rooms
// and networks irreversible.
func New(key [32]byte) *Memory {
	return &Memory{key: key, rows: map[origin]row{}, trials: map[trialKey]trial{}, maxCells: MaxCells, maxTrials: maxTrials}
}

// hours returns a time in hours since 1970.
func hours(t time.Time) uint32 {
	return uint32(min(max(t.Unix()/3600, 0), math.MaxUint32))
}

func timeOf(hours uint32) time.Time { return time.Unix(int64(hours)*3600, 0).UTC() }

// Network is where a player comes from, by the host's tables: a country, and an AS or 0.
type Network struct {
	Country string
	ASN     uint32
}

// Learn takes what a room has measured for a player at an address of a network. Nothing is learnt
// without a country, or from an address that is not of the internet.
func (m *Memory) Learn(room string, from netip.Addr, of Network, cells []memory.Cell, now time.Time) {
	code, known := packedCountry(of.Country)
	if m == nil || !known || discovery.ReachOf(from) != discovery.InternetReach {
		return
	}
	by := voice{room: m.hash("room", room), network: m.hash("network", networkOf(from).String())}
	origins := []origin{{country: code}}
	if of.ASN != 0 {
		origins = append(origins, origin{of.ASN, code})
	}
	values := valuesOf(cells)
	m.mu.Lock()
	defer m.mu.Unlock()
	if hours(now) < m.gone { // the hour of a deletion is not over
		return
	}
	for _, v := range values {
		for _, o := range origins {
			m.hear(trialKey{o, v.part}, sample{by, v.ms, v.spread}, hours(now))
		}
	}
}

// hash returns a keyed hash of a room or a network.
func (m *Memory) hash(kind, text string) uint32 {
	sum := sha256.Sum256(append(append(m.key[:], kind...), text...))
	return binary.BigEndian.Uint32(sum[:])
}

// value is a room's value for a part, in ticks.
type value struct {
	part
	ms, spread uint16
}

// valuesOf returns the values of the parts that contain cells of /24s, in order. A part gets the
// mean of the parts right below it, so that a hoster with many servers does not stand for its
// country.
func valuesOf(cells []memory.Cell) (values []value) {
	var below []memory.Cell
	for _, c := range cells {
		if _, known := packedCountry(c.Country); known && c.MS > 0 && c.MS <= maxMS && c.Spread >= 0 && c.Prefix.IsValid() {
			c.Prefix = topology.Prefix16.Prefix(c.Prefix.Addr())
			below = append(below, c)
		}
	}
	for _, level := range []topology.Level{topology.Prefix16, topology.AS, topology.Country} {
		slices.SortFunc(below, func(a, b memory.Cell) int {
			return cmp.Or(cmp.Compare(a.Country, b.Country), cmp.Compare(a.ASN, b.ASN), a.Prefix.Compare(b.Prefix),
				cmp.Compare(a.MS, b.MS), cmp.Compare(a.Spread, b.Spread))
		})
		var above []memory.Cell
		for len(below) > 0 {
			n := 1
			for n < len(below) && below[n].Part == below[0].Part {
				n++
			}
			whole := meanOf(below[:n])
			if below = below[n:]; whole.Level() != level { // a country, of a /16 whose AS is unknown
				above = append(above, whole)
				continue
			}
			if small, is := packed(whole.Part); is {
				values = append(values, value{small, ticksOf(whole.MS), ticksOf(whole.Spread)})
			}
			whole.Part = partAbove(whole.Part)
			above = append(above, whole)
		}
		below = above
	}
	slices.SortFunc(values, func(a, b value) int { return a.part.compare(b.part) })
	return values
}

func meanOf(cells []memory.Cell) memory.Cell {
	n, sum, squares, within := float64(len(cells)), 0.0, 0.0, 0.0
	for _, c := range cells {
		sum, squares, within = sum+c.MS, squares+c.MS*c.MS, within+c.Spread*c.Spread
	}
	mean := sum / n
	return memory.Cell{Part: cells[0].Part, MS: mean, Spread: math.Sqrt(max(0, squares/n-mean*mean) + within/n)}
}

func ticksOf(ms float64) uint16 { return uint16(math.Round(min(max(ms, 0), maxMS) * ticks)) }

func inMS(t uint16) float64 { return float64(t) / ticks }

// Known returns the distances from some networks to the parts of a list, for forecasts. A network has
// at most [memory.Max] cells: large parts come first, then near ones. If the AS has no cell for a
// part, the country's stands in, unless the two disagree elsewhere. Equal networks share their cells.
func (m *Memory) Known(of []Network, tree *topology.Tree, now time.Time) [][]memory.Cell {
	known := make([][]memory.Cell, len(of))
	if m == nil || tree == nil {
		return known
	}
	at := hours(now)
	m.mu.Lock()
	defer m.mu.Unlock()
	var parts []part // of the list, made when the first network needs them
	var whole []memory.Part
	for i, n := range of {
		if same := slices.Index(of[:i], n); same >= 0 {
			known[i] = known[same]
			continue
		}
		code, is := packedCountry(n.Country)
		rows := [2]row{m.rows[origin{n.ASN, code}], m.rows[origin{country: code}]}
		if !is || len(rows[0])+len(rows[1]) == 0 {
			continue
		}
		if parts == nil {
			for p := range memory.Parts(tree, topology.Prefix16) {
				small, _ := packed(p)
				parts, whole = append(parts, small), append(whole, p)
			}
		}
		all := find(parts, rows, at)
		known[i] = make([]memory.Cell, len(all))
		for j, f := range all {
			known[i][j] = f.whole(whole[f.index])
		}
	}
	return known
}

// found is a cell of a part of a list, by the part's index.
type found struct {
	*cell
	index int
	// standsIn says that it is the country's.
	standsIn bool
}

// find returns the cells of parts from the row of an AS, and from that of its country where the AS has
// none. Where both have cells and these disagree, the country is not like the AS: its other players
// are elsewhere, or lie. Then its cells do not stand in. Parts and rows are in order.
func find(parts []part, rows [2]row, now uint32) []found {
	most := min(len(parts), len(rows[0])+len(rows[1]))
	all, both, contradicted := make([]found, 0, most), 0, 0
	for i, p := range parts {
		var of [2]*cell
		for n, r := range rows {
			for len(r) > 0 && r[0].part.compare(p) < 0 {
				r = r[1:]
			}
			if rows[n] = r; len(r) > 0 && r[0].part == p && !isPast(r[0].seen, now, forgotten) {
				of[n] = &r[0]
			}
		}
		if c := cmp.Or(of[0], of[1]); c != nil {
			all = append(all, found{c, i, of[0] == nil})
		}
		if of[0] != nil && of[1] != nil {
			if both++; !p.kind.agree(of[1].ms, of[0].ms) {
				contradicted++
			}
		}
	}
	if float64(contradicted) > contradictedShare*float64(both) {
		all = slices.DeleteFunc(all, func(f found) bool { return f.standsIn })
	}
	return mostUseful(all)
}

// mostUseful returns the first [memory.Max] cells by rank. It keeps the order of all.
func mostUseful(all []found) []found {
	if len(all) <= memory.Max {
		return all
	}
	ranks := make([]uint32, len(all))
	for i, f := range all {
		ranks[i] = f.rank()
	}
	slices.Sort(ranks)
	last, left := ranks[memory.Max-1], memory.Max
	all = slices.DeleteFunc(all, func(f found) bool { return f.rank() > last })
	for _, f := range all {
		if f.rank() < last {
			left--
		}
	}
	return slices.DeleteFunc(all, func(f found) bool {
		if f.rank() == last {
			left--
			return left < 0
		}
		return false
	})
}

// rank orders cells by their use for a search: those of large parts first, then near ones.
func (c *cell) rank() uint32 { return uint32(c.kind.level())<<16 | uint32(c.ms) }

// isPast reports whether something is too old. A time in the future is as doubtful as one in the
// past.
func isPast(then, now, most uint32) bool { return max(now, then)-min(now, then) >= most }

// whole returns a cell as forecasts take it.
func (c cell) whole(p memory.Part) memory.Cell {
	return memory.Cell{Part: p, MS: inMS(c.ms), Spread: inMS(c.spread), Count: int(c.count), Seen: timeOf(c.seen)}
}

// put makes a cell part of the memory, in place of an earlier one.
func (m *Memory) put(o origin, c cell) {
	m.version++
	r := m.rows[o]
	at, is := r.find(c.part)
	if is {
		r[at] = c
		return
	}
	if len(r) == cap(r) { // append would double it
		r = append(make(row, 0, len(r)+len(r)/8+4), r...)
	}
	m.rows[o] = slices.Insert(r, at, c)
	if m.cells++; m.cells > m.maxCells {
		m.evict()
	}
}

// evict drops the oldest sixteenth of the cells, and of one hour first those of small parts. Of
// equal ones those go that are first in order.
func (m *Memory) evict() {
	rank := func(c cell) uint64 { return uint64(c.seen)<<8 | uint64(^uint8(c.kind)) }
	ranks := make([]uint64, 0, m.cells)
	for _, r := range m.rows {
		for _, c := range r {
			ranks = append(ranks, rank(c))
		}
	}
	slices.Sort(ranks)
	many := max(1, len(ranks)/16)
	last := ranks[many-1]
	ties := many // how many of the last rank go
	for ties > 0 && ranks[many-ties] != last {
		ties--
	}
	m.drop(func(c cell) bool {
		if rank(c) == last && ties > 0 {
			ties--
			return true
		}
		return rank(c) < last
	})
}

// drop drops the cells that fulfil a condition, in order.
func (m *Memory) drop(is func(cell) bool) {
	for _, o := range m.origins() {
		before := len(m.rows[o])
		r := slices.DeleteFunc(m.rows[o], is)
		if m.cells -= before - len(r); len(r) == 0 {
			delete(m.rows, o)
			continue
		}
		if len(r) < before {
			m.rows[o] = slices.Clone(r) // in less memory
		}
	}
	m.version++
}

// origins returns the origins that have cells, in order.
func (m *Memory) origins() []origin {
	all := make([]origin, 0, len(m.rows))
	for o := range m.rows {
		all = append(all, o)
	}
	slices.SortFunc(all, origin.compare)
	return all
}

// Version changes whenever a document of the memory may have changed.
func (m *Memory) Version() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.version
}

// Forget forgets everything that this host, or another one, has learnt up to the end of the hour.
// Documents that are merged later do not bring it back.
func (m *Memory) Forget(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(hours(now) + 1)
}

// forget forgets what was learnt before an hour, and all trials.
func (m *Memory) forget(before uint32) {
	if before <= m.gone {
		return
	}
	m.gone = before
	clear(m.trials)
	m.drop(func(c cell) bool { return c.seen < before })
}

// Summary tells what a memory has.
type Summary struct {
	// Cells is how many cells there are, and Networks how many origins of players.
	Cells, Networks int
	// Oldest and Newest are the hours of the cells, zero without any.
	Oldest, Newest time.Time
	// Forgot is when everything before was forgotten on demand, or zero.
	Forgot time.Time
}

// Summary returns what the memory has.
func (m *Memory) Summary() (s Summary) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.Cells, s.Networks = m.cells, len(m.rows)
	oldest, newest := uint32(math.MaxUint32), uint32(0)
	for _, r := range m.rows {
		for _, c := range r {
			oldest, newest = min(oldest, c.seen), max(newest, c.seen)
		}
	}
	if m.cells > 0 {
		s.Oldest, s.Newest = timeOf(oldest), timeOf(newest)
	}
	if m.gone > 0 {
		s.Forgot = timeOf(m.gone)
	}
	return s
}
