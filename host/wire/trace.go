package wire

import (
	"encoding/binary"
	"fmt"
	"time"

	"muster/discovery"
)

// Trace is how a player's discovery went, probe by probe in the order in which
// they came to an end: what the picture of RTT against probe time is drawn from
// (NOSSDAV 2008, Figure 5). A report says what was found and is kept; a trace
// only tells the story, and a host that has none goes without.
type Trace struct {
	Round int
	// First is the place of the first probe in the player's whole trace, so that
	// what is said again after a lost connection counts once.
	First int
	// Now is the sender's clock, of which the probes' At are earlier readings.
	Now    time.Duration
	Probes []Probe
}

// Probe is one server asked.
type Probe struct {
	At    time.Duration
	State discovery.State
	Phase discovery.Phase
	// RTT is 0 unless State is Answered.
	RTT time.Duration
}

const (
	// maxClock bounds the clock of a trace, in ms: after a day it stands still.
	maxClock = uint64(24 * time.Hour / time.Millisecond)
	// phases is how many there are.
	phases = uint64(discovery.Refining) + 1
	// minProbe is the fewest bytes that a probe takes.
	minProbe = 2
)

// AppendTrace appends a trace frame to b:
//
//	kind │ round │ first │ now │ count │ (time │ number × 3 + phase) …
//
// Times are milliseconds since the probe before, the numbers those of a report.
func AppendTrace(b []byte, t Trace) []byte {
	b = append(b, kindTrace)
	b = binary.AppendUvarint(b, uint64(t.Round))
	b = binary.AppendUvarint(b, uint64(t.First))
	b = binary.AppendUvarint(b, clockOf(t.Now))
	b = binary.AppendUvarint(b, uint64(len(t.Probes)))
	at, ticks := uint64(0), int64(0)
	for i := range t.Probes {
		p := &t.Probes[i]
		next := max(at, clockOf(p.At))
		b = binary.AppendUvarint(b, next-at)
		at = next
		var number uint64
		number, ticks = numberOf(p.State, p.RTT, ticks)
		b = binary.AppendUvarint(b, number*phases+uint64(p.Phase))
	}
	return b
}

// clockOf is a reading of a trace's clock, in ms.
func clockOf(d time.Duration) uint64 { return min(uint64(max(0, d.Milliseconds())), maxClock) }

func parseTrace(b []byte) (Message, error) {
	r := reader{b: b}
	t := Trace{Round: int(r.upTo(maxRound)), First: int(r.upTo(discovery.MaxServers))}
	t.Now = time.Duration(r.upTo(maxClock)) * time.Millisecond
	t.Probes = make([]Probe, r.upTo(uint64(len(r.b)/minProbe)))
	at, ticks := uint64(0), int64(0)
	for i := range t.Probes {
		at += r.upTo(maxClock)
		p := &t.Probes[i]
		p.At = time.Duration(min(at, maxClock)) * time.Millisecond
		number := r.uvarint()
		p.Phase = discovery.Phase(number % phases)
		p.State, p.RTT, ticks = r.meant(number/phases, ticks)
	}
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("%w: trace: %v", ErrMalformed, err)
	}
	return t, nil
}
