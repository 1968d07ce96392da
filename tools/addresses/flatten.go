package main

import (
	"cmp"
	"net/netip"
	"slices"

	"muster/discovery/geo/ranges"
)

// span is a block of addresses with a source's number. The spans of one source lie apart or inside
// each other, as prefixes do.
type span struct {
	first, last uint64 // keys, inclusive
	number      uint32
}

// spanOf returns the span from first to last. It is empty, and not ok, if it holds no key. A /64 is
// keyed by its first address, so a range that begins and ends inside one /64 does not count.
func spanOf(first, last netip.Addr, number uint32) (s span, ok bool) {
	from, ok1 := ranges.Key(first)
	to, ok2 := ranges.Key(last)
	if tail := first.As16(); first.Is6() && [8]byte(tail[8:]) != [8]byte{} {
		from++
	}
	return span{from, to, number}, ok1 && ok2 && from <= to
}

// lastOf returns the last address of a prefix.
func lastOf(prefix netip.Prefix) netip.Addr {
	a := prefix.Addr().AsSlice()
	for bit := prefix.Bits(); bit < len(a)*8; bit++ {
		a[bit/8] |= 0x80 >> (bit % 8)
	}
	last, _ := netip.AddrFromSlice(a)
	return last
}

// flatten turns nested spans into steps. The innermost span rules, and the later one of two that
// are equal, or that cross.
func flatten(spans []span) []ranges.Step {
	slices.SortStableFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(b.last, a.last))
	})
	var p painter
	for _, s := range spans {
		p.closeBefore(s.first)
		p.open = append(p.open, s)
		p.paint(s.first, s.number)
	}
	p.closeBefore(^uint64(0))
	return p.steps
}

// painter walks over sorted spans and keeps those still open, the innermost last.
type painter struct {
	open  []span
	steps []ranges.Step
}

// closeBefore ends the open spans that do not reach the key. The spans under them show again.
func (p *painter) closeBefore(key uint64) {
	for len(p.open) > 0 {
		inner := p.open[len(p.open)-1]
		if inner.last >= key {
			return
		}
		p.open = p.open[:len(p.open)-1]
		// If two cross, which is a fault of their source, the later one covers the rest of the
		// earlier one.
		for len(p.open) > 0 && p.open[len(p.open)-1].last <= inner.last {
			p.open = p.open[:len(p.open)-1]
		}
		below := uint32(0)
		if len(p.open) > 0 {
			below = p.open[len(p.open)-1].number
		}
		p.paint(inner.last+1, below)
	}
}

// paint lets number rule from start on. It replaces a step that begins there.
func (p *painter) paint(start uint64, number uint32) {
	if n := len(p.steps); n > 0 && p.steps[n-1].Start == start {
		p.steps = p.steps[:n-1]
	}
	before := uint32(0)
	if n := len(p.steps); n > 0 {
		before = p.steps[n-1].Number
	}
	if number != before {
		p.steps = append(p.steps, ranges.Step{Start: start, Number: number})
	}
}
