package admission

import (
	"net/netip"
	"slices"
	"sync"

	"muster/host/access"
	"muster/host/pressure"
)

// Pages are the open pages of a host. When there are too many, the oldest page without a seat in
// its room gives way. The organiser's page has a seat; so have a player's page and a named guest's.
type Pages struct {
	bounds Bounds

	mu      sync.Mutex // guards following
	open    int
	arrived int // since the start
	// rooms holds the onlookers of each room. persons holds the seated pages of each person.
	// onlookers and seated hold the pages of each kind by their origin.
	rooms             queues[string]
	persons           queues[seat]
	onlookers, seated queues[origin]
}

// Page is an open page.
type Page struct {
	// Room is the room's code; it is empty for a room on another host, which counts it. Person is
	// the credential that gives the page a seat, empty without one.
	Room, Person string
	// Network is where the page comes from, the zero value if many people share the address.
	Network netip.Prefix
	// Yield ends the page and returns at once.
	Yield func()

	number int // smaller for a page that came earlier
	isOpen bool
}

// A seat is one person's in a room. An origin is where pages come from: a network, or a room if
// many people share one address.
type (
	seat   struct{ room, person string }
	origin struct {
		network netip.Prefix
		room    string
	}
)

func (p *Page) seat() seat { return seat{p.Room, p.Person} }

func (p *Page) origin() origin {
	if p.Network.IsValid() {
		return origin{network: p.Network}
	}
	return origin{room: p.Room}
}

// PageNetwork returns the network that a page's address counts for.
func PageNetwork(a netip.Addr) netip.Prefix { return access.Network(a, 24, 48) }

// NewPages returns an empty set of pages with these bounds.
func NewPages(b Bounds) *Pages {
	return &Pages{bounds: b, rooms: queues[string]{}, persons: queues[seat]{}, onlookers: queues[origin]{}, seated: queues[origin]{}}
}

// Add counts a page. If there are too many, it ends another one. scarce says that the host has few
// descriptors left.
func (o *Pages) Add(p *Page, scarce bool) {
	o.mu.Lock()
	p.number, p.isOpen = o.arrived, true
	o.arrived++
	o.open++
	if p.Person != "" {
		o.persons.put(p.seat(), p)
		o.seated.put(p.origin(), p)
	} else {
		o.rooms.put(p.Room, p)
		o.onlookers.put(p.origin(), p)
	}
	old := o.tooMany(p, scarce)
	if old != nil {
		o.bounds.bite(pressure.Pages, old.Network.Addr())
	}
	o.drop(old)
	o.mu.Unlock()
	old.end()
}

// tooMany returns the page that gives way to a new one, nil if all may stay.
func (o *Pages) tooMany(p *Page, scarce bool) *Page {
	switch {
	case p.Person != "" && len(o.persons[p.seat()]) > o.bounds.ofPerson:
		return o.persons[p.seat()][0]
	case p.Person == "" && p.Room != "" && len(o.rooms[p.Room]) > o.bounds.onlookers:
		return o.rooms[p.Room][0]
	case p.Person == "" && p.Network.IsValid() && len(o.onlookers[p.origin()]) > o.bounds.ofNetwork:
		return o.onlookers[p.origin()][0]
	case !scarce && o.open <= o.bounds.pages:
		return nil
	case len(o.onlookers) > 0:
		return o.onlookers.oldest()
	}
	return o.seated.oldest()
}

// Spare ends a page without a seat in favour of a player's program, and reports whether it found
// one.
func (o *Pages) Spare() bool {
	o.mu.Lock()
	old := o.onlookers.oldest()
	o.drop(old)
	o.mu.Unlock()
	old.end()
	return old != nil
}

// Remove removes a page from the count, unless it gave way already.
func (o *Pages) Remove(p *Page) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.drop(p)
}

func (o *Pages) drop(p *Page) {
	if p == nil || !p.isOpen {
		return
	}
	p.isOpen = false
	o.open--
	if p.Person != "" {
		o.persons.drop(p.seat(), p)
		o.seated.drop(p.origin(), p)
	} else {
		o.rooms.drop(p.Room, p)
		o.onlookers.drop(p.origin(), p)
	}
}

func (p *Page) end() {
	if p != nil {
		p.Yield()
	}
}

// queues hold pages in the order of their arrival, by a common key.
type queues[K comparable] map[K][]*Page

func (q queues[K]) put(of K, p *Page) { q[of] = append(q[of], p) }

func (q queues[K]) drop(of K, p *Page) {
	left := slices.DeleteFunc(q[of], func(other *Page) bool { return other == p })
	if q[of] = left; len(left) == 0 {
		delete(q, of)
	}
}

// oldest returns the first page of the longest queue, nil if there is none.
func (q queues[K]) oldest() (first *Page) {
	longest := 0
	for _, of := range q {
		if n := len(of); n > longest || n == longest && of[0].number < first.number {
			longest, first = n, of[0]
		}
	}
	return first
}
