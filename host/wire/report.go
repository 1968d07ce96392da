package wire

import (
	"encoding/binary"
	"fmt"
	"time"

	"muster/discovery"
)

// A report frame holds the probes in the order of their ends:
//
//	kind │ round │ first │ now │ count │ (time × 3 + phase │ server │ number) …
//
// Time is how long after the previous probe this one ended, in ms. Server is the zigzag difference
// to the previous one. The number is the result:
//
//	0            lost
//	1            refused
//	2            forbidden
//	3 + zigzag   answered: the difference to the RTT before, in steps of 0.1 ms
const (
	codeLost      = 0
	codeRefused   = 1
	codeForbidden = 2
	codeAnswered  = 3

	// Tick is the resolution of an RTT on the wire. Any path's jitter is coarser.
	Tick = 100 * time.Microsecond
	// MaxRTT is the longest RTT on the wire; an answer after more than a minute counts as none.
	MaxRTT = time.Minute

	// MaxRound bounds the number of a round. A session has a few dozen rounds.
	MaxRound = 1 << 20
	// LongestTime bounds the clock of a report, which stops after a day.
	LongestTime = 24 * time.Hour
	// maxClock is LongestTime in ms.
	maxClock = uint64(LongestTime / time.Millisecond)
	// phases is the number of phases.
	phases = uint64(discovery.Refining) + 1
	// minProbe is the smallest size of a probe, in bytes.
	minProbe = 3
)

// RoundRTT returns an RTT as it arrives at the other side. Rounding twice changes nothing.
func RoundRTT(rtt time.Duration) time.Duration { return rttOf(ticksOf(rtt)) }

// ticksOf rounds half a tick down, so that rttOf(0) keeps its value.
func ticksOf(rtt time.Duration) int64 {
	return int64((min(max(rtt, 0), MaxRTT) + Tick/2 - 1) / Tick)
}

func rttOf(ticks int64) time.Duration { return max(time.Duration(ticks)*Tick, Tick/2) }

// AppendReport appends a report frame to b. It leaves out unprobed results.
func AppendReport(b []byte, r Report) []byte {
	count := 0
	for i := range r.Results {
		if r.Results[i].State != discovery.Unprobed {
			count++
		}
	}
	b = append(b, kindReport)
	for _, head := range []uint64{uint64(r.Round), uint64(r.First), clockOf(r.Now), uint64(count)} {
		b = binary.AppendUvarint(b, head)
	}
	at, server, ticks := uint64(0), 0, int64(0)
	for i := range r.Results {
		result := &r.Results[i]
		if result.State == discovery.Unprobed {
			continue
		}
		next := max(at, clockOf(result.At))
		b = binary.AppendUvarint(b, (next-at)*phases+uint64(result.Phase))
		b = binary.AppendUvarint(b, zigzag(int64(result.Server-server)))
		at, server = next, result.Server
		number := uint64(codeLost)
		switch result.State {
		case discovery.Refused:
			number = codeRefused
		case discovery.Forbidden:
			number = codeForbidden
		case discovery.Answered:
			next := ticksOf(result.RTT)
			number = codeAnswered + zigzag(next-ticks)
			ticks = next
		}
		b = binary.AppendUvarint(b, number)
	}
	return b
}

// clockOf returns a reading of a report's clock, in ms.
func clockOf(d time.Duration) uint64 { return min(uint64(max(0, d.Milliseconds())), maxClock) }

func zigzag(d int64) uint64   { return uint64(d<<1) ^ uint64(d>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

func parseReport(b []byte) (Message, error) {
	r := reader{b: b}
	report := Report{
		Round: int(r.upTo(MaxRound)),
		First: int(r.upTo(discovery.MaxServers)),
		Now:   time.Duration(r.upTo(maxClock)) * time.Millisecond,
	}
	report.Results = make([]discovery.Result, r.upTo(uint64(len(r.b)/minProbe)))
	at, server, ticks := time.Duration(0), int64(0), int64(0)
	for i := range report.Results {
		result := &report.Results[i]
		timing := r.upTo(maxClock*phases + phases - 1)
		result.Phase = discovery.Phase(timing % phases)
		at = min(at+time.Duration(timing/phases)*time.Millisecond, time.Duration(maxClock)*time.Millisecond)
		server = r.server(server)
		result.At, result.Server = at, int(server)
		switch number := r.uvarint(); number {
		case codeLost:
			result.State = discovery.Lost
		case codeRefused:
			result.State = discovery.Refused
		case codeForbidden:
			result.State = discovery.Forbidden
		default:
			if ticks += unzigzag(number - codeAnswered); ticks < 0 || ticks > int64(MaxRTT/Tick) {
				r.fail("an RTT of %d ticks", ticks)
			}
			result.State, result.RTT = discovery.Answered, rttOf(ticks)
		}
		if r.err != nil {
			return nil, fmt.Errorf("%w: report: probe %d of %d: %v", ErrMalformed, i+1, len(report.Results), r.err)
		}
	}
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("%w: report: %v", ErrMalformed, err)
	}
	return report, nil
}
