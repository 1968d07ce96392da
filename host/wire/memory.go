package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"time"

	"muster/discovery/plan/topology"
	"muster/selection/memory"
)

// Memory is what a player's program remembers of earlier sessions: how far parts of the internet
// were. It holds no address and no name. The peer sends it after each [Welcome].
type Memory struct{ Cells []memory.Cell }

func (Memory) kind() string { return "memory" }

// A memory frame holds the newest cells first, at most [memory.Max]:
//
//	kind │ count │ (country[2] │ AS │ level[1] │ prefix │ mean │ spread │ addresses │ day) …
//
// Level is that of the part in the topology of a list, and 128 more for IPv6. A /16 has two bytes of
// its address, a /24 three, of IPv6 a /32 four and a /48 six. Mean and spread are in steps of
// 0.1 ms. The day counts from 1970.
const (
	ofIPv6 = 0x80
	// minCell is the smallest size of a cell, in bytes.
	minCell = 8
	// maxCounted bounds the addresses of a cell, and lastDay its day.
	maxCounted, lastDay = 1 << 16, 1 << 16
	day                 = 24 * time.Hour
)

// AppendMemory appends a memory frame to b.
func AppendMemory(b []byte, m Memory) []byte {
	cells := m.Cells[:min(len(m.Cells), memory.Max)]
	b = binary.AppendUvarint(append(b, kindMemory), uint64(len(cells)))
	for _, c := range cells {
		b = append(b, c.Country...)
		b = binary.AppendUvarint(b, uint64(c.ASN))
		level := byte(c.Level())
		if c.Prefix.Addr().Is6() {
			level |= ofIPv6
		}
		b = append(b, level)
		if c.Prefix.IsValid() {
			b = append(b, c.Prefix.Addr().AsSlice()[:c.Prefix.Bits()/8]...)
		}
		b = binary.AppendUvarint(b, uint64(ticksOf(ofMS(c.MS))))
		b = binary.AppendUvarint(b, uint64(ticksOf(ofMS(c.Spread))))
		b = binary.AppendUvarint(b, uint64(min(max(c.Count, 1), maxCounted)))
		b = binary.AppendUvarint(b, uint64(min(max(c.Seen.Unix()/int64(day/time.Second), 0), lastDay)))
	}
	return b
}

func ofMS(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// inMS returns ticks in ms, without the noise of a binary fraction.
func inMS(ticks uint64) float64 { return math.Round(float64(ticks)*Tick.Seconds()*1e4) / 10 }

func parseMemory(b []byte) (Message, error) {
	r := reader{b: b}
	m := Memory{Cells: make([]memory.Cell, r.upTo(min(memory.Max, uint64(len(b)/minCell))))}
	for i := range m.Cells {
		c := &m.Cells[i]
		c.Country = string([]byte{r.byte(), r.byte()})
		c.ASN = uint32(r.upTo(math.MaxUint32))
		c.Prefix = r.prefix(c.ASN)
		most := uint64(MaxRTT / Tick)
		c.MS, c.Spread = inMS(r.upTo(most)), inMS(r.upTo(most))
		c.Count = int(r.upTo(maxCounted))
		c.Seen = time.Unix(0, 0).UTC().Add(time.Duration(r.upTo(lastDay)) * day)
		if r.err == nil && !c.IsSound() {
			r.fail("a cell that no session leaves: %+v", *c)
		}
	}
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("%w: memory: %v", ErrMalformed, err)
	}
	return m, nil
}

// prefix reads a level and the prefix that belongs to it.
func (r *reader) prefix(asn uint32) netip.Prefix {
	code := r.byte()
	level, bits := topology.Level(code&^ofIPv6), 0
	switch {
	case level == topology.Prefix16:
		bits = 16
	case level == topology.Prefix24:
		bits = 24
	case level == topology.AS && asn != 0 && code&ofIPv6 == 0, level == topology.Country && asn == 0 && code&ofIPv6 == 0:
		return netip.Prefix{}
	default:
		r.fail("level %d", code)
		return netip.Prefix{}
	}
	addr := make([]byte, 4)
	if code&ofIPv6 != 0 {
		addr, bits = make([]byte, 16), 2*bits
	}
	for i := range bits / 8 {
		addr[i] = r.byte()
	}
	ip, _ := netip.AddrFromSlice(addr)
	prefix := netip.PrefixFrom(ip, bits)
	return prefix
}
