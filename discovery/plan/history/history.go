// Package history keeps a player's measurements for the next visit: how far the
// networks were, as a file and as priors of a plan.
package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// Memory is what earlier visits measured: how far the networks were. A network has one
// entry, its newest.
type Memory []Network

// Network is a /24, or an IPv6 /48, and how far it was.
type Network struct {
	Prefix netip.Prefix `json:"prefix"`
	// RTT is the median of the network's servers, the lower of two.
	RTT  discovery.Millis `json:"rtt_ms"`
	Seen time.Time        `json:"seen"`
}

// Bounds of a memory's size and age.
const (
	// maxMemory networks are as many as a full probe of 30,000 servers finds within an
	// ordinary limit; they take 600 kB as JSON.
	maxMemory = 8192
	// A memory loses half of its certainty in halfLife. It is forgotten once it is
	// useless.
	halfLife  = 7 * 24 * time.Hour
	forgotten = 5 * halfLife
)

// Priors returns the memories that are still worth something.
func (m Memory) Priors(now time.Time) []discovery.Prior {
	var priors []discovery.Prior
	for _, n := range m {
		if age := n.age(now); age < forgotten {
			certainty := math.Exp2(-float64(age) / float64(halfLife))
			priors = append(priors, discovery.Prior{Prefix: n.Prefix, RTT: time.Duration(n.RTT), Certainty: certainty})
		}
	}
	return priors
}

// age returns the time since the network was seen. A time in the future is as doubtful
// as one in the past.
func (n Network) age(now time.Time) time.Duration { return now.Sub(n.Seen).Abs() }

// Newest returns the time of the last visit, or zero.
func (m Memory) Newest() (newest time.Time) {
	for _, n := range m {
		if n.Seen.After(newest) {
			newest = n.Seen
		}
	}
	return newest
}

// After returns the memory after another visit. The visit's measurements replace the
// memories of the same networks. If they contradict the memory, nothing of it is kept.
func (m Memory) After(servers []discovery.Server, results []discovery.Result, now time.Time) Memory {
	fresh := make(map[netip.Prefix][]time.Duration)
	for _, r := range results {
		if r.State == discovery.Answered {
			at := networkOf(servers[r.Server])
			fresh[at] = append(fresh[at], max(r.RTT, time.Microsecond))
		}
	}
	after := make(Memory, 0, len(fresh)+len(m))
	for prefix, rtts := range fresh {
		slices.Sort(rtts)
		lowerMedian := discovery.Millis(rtts[(len(rtts)-1)/2])
		after = append(after, Network{prefix, lowerMedian, now.UTC().Truncate(time.Second)})
	}
	if !m.OutdatedBy(servers, results) {
		for _, n := range m {
			if _, again := fresh[n.Prefix]; !again && n.age(now) < forgotten {
				after = append(after, n)
			}
		}
	}
	slices.SortFunc(after, func(a, b Network) int {
		return cmp.Or(b.Seen.Compare(a.Seen), cmp.Compare(a.RTT, b.RTT), a.Prefix.Compare(b.Prefix))
	})
	return after[:min(len(after), maxMemory)]
}

// OutdatedBy reports whether results contradict most of the memory: the player is
// elsewhere. A changed route moves the servers of an AS in a country together, so those
// count once.
func (m Memory) OutdatedBy(servers []discovery.Server, results []discovery.Result) bool {
	if len(m) == 0 {
		return false
	}
	known := make(map[netip.Prefix]time.Duration, len(m))
	for _, n := range m {
		known[n.Prefix] = time.Duration(n.RTT)
	}
	tree := topology.New(servers)
	var trial Trial[topology.Node]
	for _, r := range results {
		rtt, remembered := known[networkOf(servers[r.Server])]
		if remembered && r.State == discovery.Answered {
			trial.Note(tree.Above(tree.Of(r.Server), topology.AS), Agree(rtt, r.RTT))
		}
	}
	return trial.Refuted()
}

// networkOf returns the /24 of a server, or the IPv6 /48.
func networkOf(s discovery.Server) netip.Prefix { return topology.Prefix24.Prefix(s.Addr.Addr()) }

// Format is the format of the memories that this package reads and writes.
const Format = "muster.memory/1"

// maxFile is the largest file, in bytes, that is read.
const maxFile = 256 * maxMemory

// document is a memory as a document:
//
//	{"format":"muster.memory/1","networks":[
//	 {"prefix":"192.0.2.0/24","rtt_ms":12.345,"seen":"2008-05-28T20:00:00Z"},…]}
type document struct {
	Format   string `json:"format"`
	Networks Memory `json:"networks"`
}

// WriteJSON writes the memory as one line of JSON.
func (m Memory) WriteJSON(w io.Writer) error {
	return json.NewEncoder(w).Encode(document{Format, m})
}

// Read reads a memory. The error for content that no visit can produce wraps
// [discovery.ErrMalformed].
func Read(r io.Reader) (Memory, error) {
	var file document
	malformed := func(format string, args ...any) (Memory, error) {
		return nil, fmt.Errorf("history: %w: "+format, append([]any{discovery.ErrMalformed}, args...)...)
	}
	if err := json.NewDecoder(io.LimitReader(r, maxFile)).Decode(&file); err != nil {
		return malformed("%w", err)
	}
	if file.Format != Format {
		return malformed("the format is %q", discovery.CleanText(file.Format))
	}
	if len(file.Networks) > maxMemory {
		return malformed("over %d networks", maxMemory)
	}
	for i, n := range file.Networks {
		if !n.Prefix.IsValid() || n.Prefix != topology.Prefix24.Prefix(n.Prefix.Addr()) || n.RTT == 0 || n.Seen.IsZero() {
			return malformed("network %d (%v)", i+1, n.Prefix)
		}
	}
	return file.Networks, nil
}
