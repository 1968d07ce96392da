package wire

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"muster/discovery"
)

// A report frame names the servers as runs of indexes, so that a whole list
// costs next to nothing, and then holds one number a server:
//
//	kind │ round │ runs │ gap,length … │ number … (uvarints)
//
//	0            lost
//	1            refused
//	2 + zigzag   answered: the difference to the RTT before, in steps of 0.1 ms
//
// Servers that stand together in the list are near each other, so most numbers
// take one byte.
const (
	codeLost     = 0
	codeRefused  = 1
	codeAnswered = 2

	// Tick is the resolution of an RTT on the wire: finer than any path's jitter.
	Tick = 100 * time.Microsecond
	// MaxRTT is the longest RTT on the wire: nothing that takes a minute is one.
	MaxRTT = time.Minute

	// maxRound bounds the number of a round: an evening has a few dozen.
	maxRound = 1 << 20
)

// RoundRTT is an RTT as it arrives at the other side. Rounding it again changes
// nothing.
func RoundRTT(rtt time.Duration) time.Duration { return rttOf(ticksOf(rtt)) }

// ticksOf rounds half a tick down, so that rttOf(0) stays what it is.
func ticksOf(rtt time.Duration) int64 {
	return int64((min(max(rtt, 0), MaxRTT) + Tick/2 - 1) / Tick)
}

func rttOf(ticks int64) time.Duration { return max(time.Duration(ticks)*Tick, Tick/2) }

// reportSize is about how many bytes a report takes.
func reportSize(r Report) int { return 16 + len(r.Results) + len(r.Results)/16 }

// AppendReport appends a report frame to b. Unprobed results are left out, and
// of results for one server the last counts. It allocates nothing if b has room
// and the results are in the order of the list.
func AppendReport(b []byte, r Report) []byte {
	results := inOrder(r.Results)
	b = append(b, kindReport)
	b = binary.AppendUvarint(b, uint64(r.Round))
	b = appendRuns(b, results)
	last := int64(0)
	for i := range results {
		var number uint64
		number, last = numberOf(results[i].State, results[i].RTT, last)
		b = binary.AppendUvarint(b, number)
	}
	return b
}

// inOrder sorts the results by server, drops what says nothing, and copies only
// if it must.
func inOrder(results []discovery.Result) []discovery.Result {
	if isInOrder(results) {
		return results
	}
	sorted := slices.DeleteFunc(slices.Clone(results), func(r discovery.Result) bool { return r.State == discovery.Unprobed })
	slices.Reverse(sorted)
	slices.SortStableFunc(sorted, func(a, b discovery.Result) int { return a.Server - b.Server })
	return slices.CompactFunc(sorted, func(a, b discovery.Result) bool { return a.Server == b.Server })
}

func isInOrder(results []discovery.Result) bool {
	for i := range results {
		if results[i].State == discovery.Unprobed || i > 0 && results[i].Server <= results[i-1].Server {
			return false
		}
	}
	return true
}

func appendRuns(b []byte, results []discovery.Result) []byte {
	b = binary.AppendUvarint(b, uint64(countRuns(results)))
	for start, next := 0, 0; start < len(results); {
		end := start + 1
		for end < len(results) && results[end].Server == results[end-1].Server+1 {
			end++
		}
		b = binary.AppendUvarint(b, uint64(results[start].Server-next))
		b = binary.AppendUvarint(b, uint64(end-start))
		next = results[end-1].Server + 1
		start = end
	}
	return b
}

func countRuns(results []discovery.Result) int {
	runs := 0
	for i := range results {
		if i == 0 || results[i].Server != results[i-1].Server+1 {
			runs++
		}
	}
	return runs
}

// numberOf is what came of asking a server, as one number. last is the RTT of the
// answer before, in ticks, and ticks the one for the number after.
func numberOf(state discovery.State, rtt time.Duration, last int64) (number uint64, ticks int64) {
	switch state {
	case discovery.Answered:
		ticks = ticksOf(rtt)
		return codeAnswered + zigzag(ticks-last), ticks
	case discovery.Refused:
		return codeRefused, last
	}
	return codeLost, last
}

// meant is what numberOf made a number of. One that no RTT has is an error of the
// frame.
func (r *reader) meant(number uint64, last int64) (state discovery.State, rtt time.Duration, ticks int64) {
	switch number {
	case codeLost:
		return discovery.Lost, 0, last
	case codeRefused:
		return discovery.Refused, 0, last
	}
	ticks = last + unzigzag(number-codeAnswered)
	if ticks < 0 || ticks > int64(MaxRTT/Tick) {
		r.fail("an RTT of %d ticks", ticks)
		return discovery.Unprobed, 0, 0
	}
	return discovery.Answered, rttOf(ticks), ticks
}

func zigzag(d int64) uint64   { return uint64(d<<1) ^ uint64(d>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

func parseReport(b []byte) (Message, error) {
	r := reader{b: b}
	report := Report{Round: int(r.upTo(maxRound))}
	report.Results = r.runs()
	last := int64(0)
	for i := range report.Results {
		result := &report.Results[i]
		result.State, result.RTT, last = r.meant(r.uvarint(), last)
	}
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("%w: report: %v", ErrMalformed, err)
	}
	return report, nil
}

// runs reads the runs of indexes into results without a state. What it
// allocates is bounded by the frame: each result still needs a byte of it.
func (r *reader) runs() []discovery.Result {
	runs := r.upTo(uint64(len(r.b) / 2))
	results := make([]discovery.Result, 0, min(len(r.b), discovery.MaxServers))
	next := uint64(0)
	for range runs {
		next += r.upTo(discovery.MaxServers)
		length := r.upTo(discovery.MaxServers)
		switch {
		case r.err != nil:
			return nil
		case length == 0 || next+length > discovery.MaxServers || len(results)+int(length) > cap(results):
			r.fail("a run of %d servers at %d", length, next)
			return nil
		}
		first := len(results)
		results = results[:first+int(length)]
		for i := range results[first:] {
			results[first+i].Server = int(next) + i
		}
		next += length
	}
	return results
}
