// Package admission decides which connections and pages a host keeps open when there are
// more than it can hold.
package admission

// Bounds are how many connections a host keeps open. A page costs 18 kB and a descriptor,
// and anybody can open a room on a public host, and then a page from each of many addresses.
type Bounds struct {
	// all is how many connections may be open, 0 for any number. strangers and ofOne are the
	// gate's: all that are strangers, and those from one address.
	all, strangers, ofOne int
	// pages are all pages of the host; onlookers the pages of one room without a seat;
	// ofPerson the pages that one person opened by one credential; ofNetwork the pages from
	// one network, a /24 or an IPv6 /48, without a seat.
	pages, onlookers, ofPerson, ofNetwork int
}

const (
	// Connections leave some descriptors to the store, lists of servers, downloads and the
	// log: one of reservedShare, and no fewer than fewestReserved.
	fewestReserved, reservedShare = 48, 16
	// fewestConnections are kept in any case.
	fewestConnections = 16
)

// BoundsOf returns the bounds of a host that may open so many files, 0 for any number. A
// quarter of the connections is for strangers, so that the host always answers /healthz and
// newcomers. Pages have half at most, and players' programs the rest.
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
