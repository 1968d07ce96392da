// Package geo tells where a server is: its country, and the AS that originates
// its prefix. The papers' plans cluster servers by them.
//
//	          ┌ 1 ─────────┐   ┌ 2 ───────────────┐   ┌ 3 ──────────────┐
//	address ─►│ the user's │──►│ the user's       │──►│ the tables that │─► Place
//	          │ overrides  │   │ .mmdb databases  │   │ Muster carries  │
//	          └────────────┘   └──────────────────┘   └─────────────────┘
//
// Country and AS are looked up each for itself, and the first that knows one
// wins. Where is not how far: places only order the probes, and what counts in
// the end is the RTT.
package geo

import (
	"errors"
	"net/netip"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/geo/internal/ranges"
)

//go:generate sh -c "location dump - | go run ./internal/gen -out data"

// Place is where an address is, as far as it is known.
type Place struct {
	// Country is an ISO 3166-1 alpha-2 code, or empty.
	Country string
	// ASN is the number of the AS that originates the address's prefix, or 0.
	ASN uint32
}

// fill takes from other what p lacks.
func (p *Place) fill(other Place) {
	if p.Country == "" {
		p.Country = other.Country
	}
	if p.ASN == 0 {
		p.ASN = other.ASN
	}
}

// Options name the user's own files; each may be empty.
type Options struct {
	// CountryDB is a MaxMind-format database of countries or cities: GeoLite2,
	// GeoIP2 or DB-IP.
	CountryDB string
	// ASDB is a MaxMind-format database of ASes: GeoLite2, GeoIP2-ISP or DB-IP.
	ASDB string
	// Overrides is a CSV file of prefix, country and AS number; see [Open].
	Overrides string
}

// Locator finds places. It is safe for concurrent use, [Locator.Close] apart.
type Locator struct {
	overrides overrides
	countryDB *database // nil if the user gave none
	asDB      *database // nil if the user gave none
	countries func() (*ranges.Table[string], error)
	origins   func() (*ranges.Table[uint32], error)
	sources   []Source
}

// Open makes a Locator. Files that cannot serve are a [FileError].
//
// A line of the overrides is a prefix or an address, a country and an AS number,
// of which the last two may be empty: that field is then told by others. The
// longest prefix wins, each field for itself; a # begins a comment.
//
//	prefix,country,asn
//	192.0.2.0/24,DE,64496
//	2001:db8::/32,,AS64497
//
// Without files it is done at once: the tables that Muster carries are decoded by
// the first lookup that needs them, or by [Locator.Load].
func Open(o Options) (*Locator, error) {
	l := &Locator{countries: sync.OnceValues(decodeCountries), origins: sync.OnceValues(decodeOrigins)}
	for _, step := range []func(Options) error{l.readOverrides, l.openDatabases, l.addCarried} {
		if err := step(o); err != nil {
			l.Close()
			return nil, err
		}
	}
	return l, nil
}

// Close gives the user's databases back. No lookup may follow or be under way.
func (l *Locator) Close() error {
	return errors.Join(l.countryDB.close(), l.asDB.close())
}

// Load decodes the tables that Muster carries, so that no lookup has to wait for
// it. It may be called while lookups are under way. Its error means that this
// program was built wrongly; lookups then know only what the user's files tell.
func (l *Locator) Load() error {
	if _, err := l.countries(); err != nil {
		return err
	}
	_, err := l.origins()
	return err
}

// Locate tells where addr is. An address that the Internet does not route to one
// place (private, loopback, multicast, FakeIP and the like) has none, unless the
// user's overrides give it one.
func (l *Locator) Locate(addr netip.Addr) Place {
	addr = addr.Unmap().WithZone("")
	place := l.overrides.locate(addr)
	if !routed(addr) {
		return place
	}
	if place.Country == "" {
		place.Country = l.country(addr)
	}
	if place.ASN == 0 {
		place.ASN = l.origin(addr)
	}
	return place
}

func (l *Locator) country(addr netip.Addr) string {
	if code := l.countryDB.country(addr); code != "" {
		return code
	}
	carried, _ := l.countries() // Load returns the error
	return carried.Lookup(addr)
}

func (l *Locator) origin(addr netip.Addr) uint32 {
	if asn := l.asDB.origin(addr); asn != 0 {
		return asn
	}
	carried, _ := l.origins() // Load returns the error
	return carried.Lookup(addr)
}

// Annotate gives the servers what they lack of country and AS, and unwraps
// IPv4-mapped addresses. What a server list says of itself stays, unless the user's
// overrides say other.
func (l *Locator) Annotate(servers []discovery.Server) {
	for i := range servers {
		s := &servers[i]
		s.Addr = discovery.Canonical(s.Addr)
		place := l.overrides.locate(s.Addr.Addr())
		place.fill(Place{s.Country, s.ASN})
		if place.Country == "" || place.ASN == 0 {
			place.fill(l.Locate(s.Addr.Addr()))
		}
		s.Country, s.ASN = place.Country, place.ASN
	}
}

// Field is one of the two things that a source knows of an address.
type Field string

// The fields of a [Place].
const (
	Country Field = "country"
	ASN     Field = "asn"
)

// Source is one of the databases that a Locator asks.
type Source struct {
	// Field is what the source knows.
	Field Field
	// Name is the database's own: "GeoLite2-Country", or where a table that
	// Muster carries comes from.
	Name string
	// Path is the user's file, or empty for a table that Muster carries.
	Path string
	// Built is when the data was made. Places change: of 7,519 game servers a
	// quarter have another country in IPFire's data of 2026 than in that of 2022.
	Built time.Time
}

// Sources lists what a Locator asks after the overrides, in that order.
func (l *Locator) Sources() []Source { return l.sources }
