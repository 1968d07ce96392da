// Package memory turns the RTTs of earlier sessions into forecasts for the next one.
//
//	results ─▶ Of ─▶ cells ─▶ After ─▶ a file, a message, a host's table
//	                            │
//	    the next list's tree ─▶ Forecasts ─▶ coordinate.Options.Remembered
//
// A cell tells how far a part of the internet was: a country, an AS in it, a /16 or a /24. It holds
// no address. A forecast is never a measurement: the search holds it against the session's own RTTs,
// and doubts it by how far it is off.
package memory

import (
	"cmp"
	"iter"
	"math"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/countries"
	"muster/discovery/plan/topology"
)

// Part is a part of the internet where servers stand. The deepest field that is set gives its
// level.
type Part struct {
	Country string       // ISO 3166-1 alpha-2, never empty
	ASN     uint32       // 0 for all of the country, or for an unknown AS
	Prefix  netip.Prefix // a /16 or a /24 (IPv6: /32 or /48), or none
}

// Level returns the level of the part in a tree.
func (p Part) Level() topology.Level {
	switch bits := p.Prefix.Bits(); {
	case bits < 0 && p.ASN == 0:
		return topology.Country
	case bits < 0:
		return topology.AS
	case p.Prefix == topology.Prefix16.Prefix(p.Prefix.Addr()):
		return topology.Prefix16
	}
	return topology.Prefix24
}

// Cell is what is known of the RTTs from somewhere to a part.
type Cell struct {
	Part
	// MS is the mean RTT in ms, and Spread the standard deviation of the addresses around it.
	MS, Spread float64
	// Count is how many addresses were measured.
	Count int
	// Seen is when.
	Seen time.Time
}

// longestMS and maxCounted bound the RTT and the addresses of a cell.
const longestMS, maxCounted = 60_000, 1 << 16

// IsSound reports whether a session can have left a cell: files and programs may say anything.
func (c Cell) IsSound() bool {
	isPart := len(c.Country) == 2 && c.Country[0]-'A' <= 'Z'-'A' && c.Country[1]-'A' <= 'Z'-'A'
	if at := c.Prefix; at != (netip.Prefix{}) {
		isPart = isPart && (at == topology.Prefix16.Prefix(at.Addr()) || at == topology.Prefix24.Prefix(at.Addr()))
	}
	isMeasured := c.MS > 0 && c.MS <= longestMS && c.Spread >= 0 && c.Spread <= longestMS && c.Count > 0 && c.Count <= maxCounted
	return isPart && isMeasured && !c.Seen.IsZero()
}

// partOf returns the part that a node stands for. Nodes of unknown countries stand for none, and
// neither do those of unknown ASes.
func partOf(tree *topology.Tree, node topology.Node) (Part, bool) {
	s, l := &tree.List()[tree.Servers(node)[0]], tree.Level(node)
	p := Part{Country: s.Country}
	if l < topology.Country || l > topology.Prefix24 || s.Country == "" || l == topology.AS && s.ASN == 0 {
		return Part{}, false
	}
	if l >= topology.AS {
		p.ASN = s.ASN
	}
	if l >= topology.Prefix16 {
		p.Prefix = l.Prefix(s.Addr.Addr())
	}
	return p, true
}

// Of returns the cells of a session's results: one for each /24 where a server answered.
func Of(tree *topology.Tree, results []discovery.Result, now time.Time) []Cell {
	lowest := make([]float64, tree.Nodes()) // by address, 0 if unknown
	for _, r := range results {
		if r.State == discovery.Answered {
			at, ms := tree.Of(r.Server), max(minMS, r.RTT.Seconds()*1000)
			if lowest[at] == 0 || ms < lowest[at] {
				lowest[at] = ms
			}
		}
	}
	var cells []Cell
	for network := range topology.Node(tree.Nodes()) {
		if tree.Level(network) != topology.Prefix24 {
			continue
		}
		var sum moments
		for _, ms := range lowest[network:tree.End(network)] {
			if ms > 0 {
				sum = sum.plus(ms)
			}
		}
		if part, known := partOf(tree, network); known && sum.n > 0 {
			cells = append(cells, Cell{part, sum.mean(), sum.deviation(), sum.n, now.UTC().Truncate(time.Hour)})
		}
	}
	slices.SortFunc(cells, newestFirst)
	return cells
}

// minMS is the lowest RTT of a cell, in ms: what rounds to nothing is no RTT.
const minMS = 0.05

// newestFirst orders cells by age, and those of one age by their parts.
func newestFirst(a, b Cell) int {
	return cmp.Or(b.Seen.Compare(a.Seen), cmp.Compare(a.Country, b.Country), cmp.Compare(a.ASN, b.ASN), a.Prefix.Compare(b.Prefix))
}

const (
	// Max is how many cells a memory keeps: six sessions' worth.
	Max = 4096
	// forgotten is the age at which a cell says less than the label of its network.
	forgotten = 2 * 365 * 24 * time.Hour
	// fades is the time in which a cell loses half of its weight against newer results.
	fades = 90 * 24 * time.Hour
	// maxCount bounds the weight of a cell, so that new results always count.
	maxCount = 8
	// moved is the ratio of two means that do not come from the same route.
	moved = 1.3
)

// After returns a memory after another session. A part that was measured again has the mean of
// both, and the newer one alone where the route has changed.
func After(before, session []Cell, now time.Time) []Cell {
	at := make(map[Part]int, len(session))
	after := slices.Clone(session)
	for i, c := range after {
		at[c.Part] = i
	}
	for _, old := range before {
		i, again := at[old.Part]
		switch {
		case age(old, now) >= forgotten:
		case !again:
			after = append(after, old)
		case max(old.MS, after[i].MS) <= moved*min(old.MS, after[i].MS):
			c := &after[i]
			w := float64(min(old.Count, maxCount)) * math.Exp2(-float64(age(old, now))/float64(fades))
			n := float64(c.Count)
			c.MS, c.Spread = (w*old.MS+n*c.MS)/(w+n), (w*old.Spread+n*c.Spread)/(w+n)
			c.Count = min(c.Count+old.Count, maxCount)
		}
	}
	slices.SortFunc(after, newestFirst)
	return after[:min(len(after), Max)]
}

// age returns a cell's age. A time in the future is as doubtful as one in the past.
func age(c Cell, now time.Time) time.Duration { return now.Sub(c.Seen).Abs() }

// moments sum values up.
type moments struct {
	n            int
	sum, squares float64
}

func (m moments) plus(x float64) moments { return moments{m.n + 1, m.sum + x, m.squares + x*x} }

func (m moments) mean() float64 { return m.sum / float64(m.n) }

func (m moments) deviation() float64 {
	return math.Sqrt(max(0, m.squares/float64(m.n)-m.mean()*m.mean()))
}

// Guess returns vague forecasts for a player in a country of whom nothing is remembered: for the countries of
// a list, in the order of the tree. They say what usually lies between two countries. Their errors are
// large, and their own. It is nil if the player's country is not known.
func Guess(tree *topology.Tree, country string) (forecasts []Forecast) {
	var nodes []topology.Node
	var to []string
	for node := topology.Root + 1; int(node) < tree.Nodes(); node = tree.End(node) {
		nodes, to = append(nodes, node), append(to, tree.List()[tree.Servers(node)[0]].Country)
	}
	for i, w := range countries.Ways(country, to) {
		if w.MS > 0 {
			forecasts = append(forecasts, Forecast{Node: nodes[i], MS: w.MS, SD: math.Hypot(w.Off, w.Spread), Error: w.Off, IsVague: true})
		}
	}
	return forecasts
}

// Parts yields the parts of a list down to a level, in the order of its tree.
func Parts(tree *topology.Tree, to topology.Level) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		for node := topology.Root + 1; int(node) < tree.Nodes(); node++ {
			if tree.Level(node) > to {
				continue
			}
			if part, known := partOf(tree, node); known && !yield(part) {
				return
			}
		}
	}
}
