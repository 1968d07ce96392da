// Package admission decides which connections and pages a host keeps open when there are
// more than it can hold.
package admission

import (
	"net/netip"

	"muster/host/pressure"
)

// Bounds are how many connections a host keeps open. They are needed because a page costs 18 kB and
// a descriptor. On a public host anybody can open a room, and then a page from each of many
// addresses.
type Bounds struct {
	// all is how many connections may be open, 0 for any number. The gate uses the other two:
	// strangers bounds all strangers, ofOne those from one address.
	all, strangers, ofOne int
	// pages bounds all pages of the host; onlookers the pages of one room without a seat; ofPerson
	// the pages that one person opened with one credential; ofNetwork the pages without a seat from
	// one network, a /24 or an IPv6 /48.
	pages, onlookers, ofPerson, ofNetwork int
	// Bit is called with the address of each connection or page that gives way, and must not wait; it
	// may be nil.
	Bit func(limit pressure.Limit, from netip.Addr)
}

func (b Bounds) bite(limit pressure.Limit, from netip.Addr) {
	if b.Bit != nil {
		b.Bit(limit, from)
	}
}

// Connections returns how many connections the host keeps open, 0 for any number.
func (b Bounds) Connections() int { return b.all }

const (
	// Connections leave some descriptors to the store, server lists, downloads and the log: one in
	// reservedShare, and at least fewestReserved.
	fewestReserved, reservedShare = 48, 16
	// fewestConnections is how many connections the host keeps in any case.
	fewestConnections = 16
)

// BoundsOf returns the bounds of a host that may open this many files, 0 for any number. A quarter
// of the connections is for strangers, so that the host always answers newcomers and /healthz.
// Pages get at most half, and players' programs the rest.
func BoundsOf(files int) Bounds {
	b := Bounds{strangers: maxStrangers, ofOne: maxOfOne, pages: 10_000, onlookers: 1000, ofPerson: 8, ofNetwork: 512}
	if files > 0 {
		b.all = max(fewestConnections, files-max(fewestReserved, files/reservedShare))
		b.strangers = min(b.strangers, b.all/4)
		b.ofOne = min(b.ofOne, b.strangers/2)
		b.pages = min(b.pages, b.all/2)
	}
	return b
}
