package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/discovery/geo/ranges"
)

// fates counts keys by their fate, separately for each piece of the address space. A key is an IPv4
// address or a /64 of IPv6.
type fates struct{ v4, v6 map[string]uint64 }

// These are the fates of a piece.
const (
	agreed  = "both tables say the same"
	changed = "another AS than in the older table: the newest counts"
	added   = "only the newest knows it"
	filled  = "a gap in the newest, filled from the older table"
	dropped = "a gap in the newest, left: the older table's AS has nothing else in that country"
	unknown = "neither knows it"
)

// settle returns the trustworthy origin ASes of two tables, given the countries. The newest counts
// wherever it has a number. In its gaps the older one counts, if the AS is at home in the country
// where the range is now. It is at home if the newest table has a hundredth of the AS's addresses
// there, in that family. A range that was sold or given back has moved to another country. One that
// was lost on the way into the table has not.
//
// bench/experiments/address-tables.md has the measurements.
func settle(newest, older, countries []ranges.Step) ([]ranges.Step, fates) {
	owned := make(map[holding]uint64)
	each(func(first, keys uint64, n [maxTables]uint32) {
		if n[0] != 0 {
			owned[holding{n[0], 0, isV6(first)}] += keys
			owned[holding{n[0], n[2], isV6(first)}] += keys
		}
	}, newest, older, countries)
	const share = 100 // a hundredth
	var p painter
	f := fates{make(map[string]uint64), make(map[string]uint64)}
	each(func(first, keys uint64, n [maxTables]uint32) {
		is, was, country := n[0], n[1], n[2]
		if here := owned[holding{was, country, isV6(first)}]; is == 0 && country != 0 && here > 0 &&
			here >= owned[holding{was, 0, isV6(first)}]/share {
			is = was
		}
		f.of(first)[fateOf(n[0], was, is)] += keys
		p.paint(first, is)
	}, newest, older, countries)
	return p.steps, f
}

// fateOf returns the fate of a piece from its number in the newest table, in the older one, and in
// the settled one.
func fateOf(newest, older, settled uint32) string {
	switch {
	case newest == 0 && older == 0:
		return unknown
	case newest == 0 && settled == 0:
		return dropped
	case newest == 0:
		return filled
	case older == 0:
		return added
	case newest != older:
		return changed
	}
	return agreed
}

// judged counts, for each fate, how a later table numbers the piece: as the newest does, as the
// older one does, differently, or not at all.
func judged(newest, older, settled, later []ranges.Step) fates {
	f := fates{make(map[string]uint64), make(map[string]uint64)}
	each(func(first, keys uint64, n [maxTables]uint32) {
		verdict := "another AS"
		switch n[3] {
		case 0:
			verdict = "nothing"
		case n[0]:
			verdict = "the same"
		case n[1]:
			verdict = "what the older one said"
		}
		if fate := fateOf(n[0], n[1], n[2]); fate != unknown {
			f.of(first)[fate+"; later "+verdict] += keys
		}
	}, newest, older, settled, later)
	return f
}

// holding is an AS's share of a country, or without a country its total.
type holding struct {
	asn, country uint32
	v6           bool
}

// isV6 reports whether a key is of IPv6.
func isV6(key uint64) bool { return key>>32 != 0 }

// maxTables is the most tables that are compared.
const maxTables = 4

// each calls do for every piece of the address space in which no table changes its number. It
// passes each table's number there. No piece has keys of both families.
func each(do func(first, keys uint64, numbers [maxTables]uint32), tables ...[]ranges.Step) {
	starts := []uint64{0, 1 << 32}
	for _, t := range tables {
		for _, s := range t {
			starts = append(starts, s.Start)
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	var at [maxTables]int
	var numbers [maxTables]uint32
	for i, first := range starts {
		for k, t := range tables {
			if at[k] < len(t) && t[at[k]].Start == first {
				numbers[k] = t[at[k]].Number
				at[k]++
			}
		}
		end := uint64(0) // wraps round: the last piece reaches to the last key
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		do(first, end-first, numbers)
	}
}

func (f fates) of(key uint64) map[string]uint64 {
	if isV6(key) {
		return f.v6
	}
	return f.v4
}

// String returns a line for each family and fate.
func (f fates) String() string {
	var b strings.Builder
	for _, family := range []struct {
		name, unit string
		fates      map[string]uint64
		keys       uint64 // in one of the unit
	}{{"IPv4", "/16s", f.v4, 1 << 16}, {"IPv6", "/32s", f.v6, 1 << 32}} {
		for _, fate := range slices.Sorted(maps.Keys(family.fates)) {
			if fate != unknown {
				fmt.Fprintf(&b, "%s: %9.1f %s: %s\n", family.name, float64(family.fates[fate])/float64(family.keys), family.unit, fate)
			}
		}
	}
	return b.String()
}

// largest returns the names of so many ASes, those with the most IPv4 addresses.
func largest(origins []ranges.Step, names map[uint32]string, most int) map[uint32]string {
	sizes := make(map[uint32]uint64)
	each(func(first, keys uint64, n [maxTables]uint32) {
		if n[0] != 0 && !isV6(first) && names[n[0]] != "" {
			sizes[n[0]] += keys
		}
	}, origins)
	ases := slices.SortedFunc(maps.Keys(sizes), func(a, b uint32) int { return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b)) })
	called := make(map[uint32]string)
	for _, asn := range ases[:min(most, len(ases))] {
		called[asn] = names[asn]
	}
	return called
}

// tooDifferent returns an error if a table differs so much from the last that its source must be
// broken: in more than this share of what the last knew of a family.
func tooDifferent(now, last []ranges.Step, most float64) error {
	var known, differ [2]uint64
	each(func(first, keys uint64, n [maxTables]uint32) {
		family := 0
		if isV6(first) {
			family = 1
		}
		if n[1] != 0 {
			known[family] += keys
			if n[0] != n[1] {
				differ[family] += keys
			}
		}
	}, now, last)
	for family, name := range [2]string{"IPv4", "IPv6"} {
		if share := float64(differ[family]) / float64(max(1, known[family])); share > most {
			return fmt.Errorf("of what the last table knows of %s %.1f %% are otherwise in this one, and %.1f "+
				"%% may be: is a source broken?", name, 100*share, 100*most)
		}
	}
	return nil
}
