package host

import (
	"errors"
	"net/netip"
	"slices"
	"sync"

	"muster/host/wire"
)

// bounds are how many connections a host keeps open. Pages cost 18 kB each, and a
// descriptor; anybody can open a room here, and then as many pages of it as there are
// addresses to come from.
type bounds struct {
	// all is how many connections there may be, 0 for any number. strangers and ofOne are
	// those of [gate].
	all, strangers, ofOne int
	// pages are the pages of the host. onlookers are those of one room without a seat, and
	// ofPerson those that one person opened by one credential; ofNetwork are the pages that
	// came from one network, a /24 or an IPv6 /48, without a seat.
	pages, onlookers, ofPerson, ofNetwork int
}

const (
	// fewestReserved and reservedShare are the descriptors that connections leave to the
	// store, lists of servers, downloads and the log: a share, and no fewer than this.
	fewestReserved, reservedShare = 48, 16
	// fewestConnections are kept in any case.
	fewestConnections = 16
)

// boundsOf are the bounds of a host that may open so many files, 0 for any number. A
// quarter of the connections is for strangers, so that /healthz and who comes to play are
// always answered. Pages have half at most, and players' programs what is left.
func boundsOf(files int) bounds {
	b := bounds{strangers: maxStrangers, ofOne: maxOfOne, pages: 10_000, onlookers: 1000, ofPerson: 8, ofNetwork: 512}
	if files > 0 {
		b.all = max(fewestConnections, files-max(fewestReserved, files/reservedShare))
		b.strangers = min(b.strangers, b.all/4)
		b.ofOne = min(b.ofOne, b.strangers/2)
		b.pages = min(b.pages, b.all/2)
	}
	return b
}

// openPages are the pages that are open. Where there are too many, the oldest without a
// seat in its room gives way: one that is no organiser's, no player's and no guest's with a
// name.
type openPages struct {
	bounds bounds

	mu      sync.Mutex // guards following
	open    int
	arrived int // ever
	// rooms and persons hold onlookers by their room and seated pages by their person.
	// onlookers and seated hold the pages of each kind by where they come from.
	rooms             queues[string]
	persons           queues[seat]
	onlookers, seated queues[origin]
}

// openPage is a page that is open.
type openPage struct {
	// room is its room's code, empty for a page of a room that another host has, which
	// counts it itself. person is the credential that gives it a seat, empty without one.
	room, person string
	// network is where it comes from, the zero value if many people come from there.
	network netip.Prefix
	// yield ends the page, and waits for nothing.
	yield func()

	number int // smaller for who came first
	isOpen bool
}

// seat is a person's in a room, origin where pages come from: a network, or a room where
// many people come from one address.
type (
	seat   struct{ room, person string }
	origin struct {
		network netip.Prefix
		room    string
	}
)

func (p *openPage) seat() seat { return seat{p.room, p.person} }

func (p *openPage) origin() origin {
	if p.network.IsValid() {
		return origin{network: p.network}
	}
	return origin{room: p.room}
}

// pageNetwork is the network by which pages are counted.
func pageNetwork(a netip.Addr) netip.Prefix { return openerLevel{four: 24, six: 48}.network(a) }

func newOpenPages(b bounds) *openPages {
	return &openPages{bounds: b, rooms: queues[string]{}, persons: queues[seat]{}, onlookers: queues[origin]{}, seated: queues[origin]{}}
}

// add counts a page, and ends another for it if there are too many. Scarce: the host has
// few descriptors left.
func (o *openPages) add(p *openPage, scarce bool) {
	o.mu.Lock()
	p.number, p.isOpen = o.arrived, true
	o.arrived++
	o.open++
	if p.person != "" {
		o.persons.put(p.seat(), p)
		o.seated.put(p.origin(), p)
	} else {
		o.rooms.put(p.room, p)
		o.onlookers.put(p.origin(), p)
	}
	old := o.tooMany(p, scarce)
	o.drop(old)
	o.mu.Unlock()
	old.end()
}

// tooMany is the page that gives way to a new one, nil if there is room for all.
func (o *openPages) tooMany(p *openPage, scarce bool) *openPage {
	switch {
	case p.person != "" && len(o.persons[p.seat()]) > o.bounds.ofPerson:
		return o.persons[p.seat()][0]
	case p.person == "" && p.room != "" && len(o.rooms[p.room]) > o.bounds.onlookers:
		return o.rooms[p.room][0]
	case p.person == "" && p.network.IsValid() && len(o.onlookers[p.origin()]) > o.bounds.ofNetwork:
		return o.onlookers[p.origin()][0]
	case !scarce && o.open <= o.bounds.pages:
		return nil
	case len(o.onlookers) > 0:
		return o.onlookers.oldest()
	}
	return o.seated.oldest()
}

// spare ends a page without a seat for a player's program, and reports whether there was
// one.
func (o *openPages) spare() bool {
	o.mu.Lock()
	old := o.onlookers.oldest()
	o.drop(old)
	o.mu.Unlock()
	old.end()
	return old != nil
}

// remove takes a page out of the count, unless it gave way.
func (o *openPages) remove(p *openPage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.drop(p)
}

func (o *openPages) drop(p *openPage) {
	if p == nil || !p.isOpen {
		return
	}
	p.isOpen = false
	o.open--
	if p.person != "" {
		o.persons.drop(p.seat(), p)
		o.seated.drop(p.origin(), p)
	} else {
		o.rooms.drop(p.room, p)
		o.onlookers.drop(p.origin(), p)
	}
}

func (p *openPage) end() {
	if p != nil {
		p.yield()
	}
}

// queues are pages in the order in which they came, by something that they share.
type queues[K comparable] map[K][]*openPage

func (q queues[K]) put(of K, p *openPage) { q[of] = append(q[of], p) }

func (q queues[K]) drop(of K, p *openPage) {
	left := slices.DeleteFunc(q[of], func(other *openPage) bool { return other == p })
	if q[of] = left; len(left) == 0 {
		delete(q, of)
	}
}

// oldest is the first page of the longest queue, nil if there is none.
func (q queues[K]) oldest() (first *openPage) {
	longest := 0
	for _, of := range q {
		if n := len(of); n > longest || n == longest && of[0].number < first.number {
			longest, first = n, of[0]
		}
	}
	return first
}

// errGaveWay ends a page for another one.
var errGaveWay = errors.New("host: the page gave way")

// crowded is what such a page is told.
func crowded() *wire.Refusal {
	return &wire.Refusal{Reason: wire.ReasonCrowded, Message: "many people watch here, and this page gave way to a newer one", Hint: "take a nickname or join: then your page stays"}
}
