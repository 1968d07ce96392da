// Package geo finds where a server is: its country, and the AS that originates its
// prefix. The papers' plans cluster servers by these two.
//
//	          ┌ 1 ─────────┐   ┌ 2 ───────────────┐   ┌ 3 ──────────────────┐
//	address ─►│ the user's │──►│ the user's       │──►│ the tables that     │─► Place
//	          │ overrides  │   │ .mmdb databases  │   │ Muster carries, or  │
//	          └────────────┘   └──────────────────┘   │ newer fetched ones  │
//	                                                  └─────────────────────┘
//
// Country and AS are looked up separately, and the first source that knows one wins. A
// place is not a distance: places only order the probes, and in the end the RTT counts.
package geo

import (
	"cmp"
	_ "embed"
	"errors"
	"net/netip"
	"time"

	"muster/discovery"
	"muster/discovery/geo/ranges"
)

// The tables that Muster carries; data/README.md says what is in them.
var (
	//go:embed data/country.gz
	countryTable string
	//go:embed data/asn.gz
	asnTable string
	//go:embed data/names.gz
	namesTable string
)

// Place is where an address is. Unknown fields are zero.
type Place struct {
	// Country is an ISO 3166-1 alpha-2 code, or empty.
	Country string
	// ASN is the number of the AS that originates the address's prefix, or 0.
	ASN uint32
}

// fill copies from other the fields that are empty in p.
func (p *Place) fill(other Place) {
	p.Country = cmp.Or(p.Country, other.Country)
	p.ASN = cmp.Or(p.ASN, other.ASN)
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
	// Tables is a folder with tables like those that Muster carries. The newer of the
	// two serves. An incomplete table does not serve; see [Locator.Trouble]. The folder
	// need not exist.
	Tables string
}

// Locator finds places. It is safe for concurrent use, apart from [Locator.Close].
type Locator struct {
	overrides overrides
	countryDB *database // nil if the user gave none
	asDB      *database // nil if the user gave none
	countries func() (*ranges.Table[string], error)
	origins   func() (*ranges.Table[uint32], error)
	names     func() (map[uint32]string, error)
	sources   []Source
	ours      Source // the overrides
	trouble   error
}

// Open makes a Locator. The error for a file that cannot serve is a [FileError].
//
// A line of the overrides is a prefix or an address, a country and an AS number.
// Country and AS number may be empty: the field then comes from the next source. The
// longest prefix wins, separately for each field; a # begins a comment.
//
//	prefix,country,asn
//	192.0.2.0/24,DE,64496
//	2001:db8::/32,,AS64497
//
// Without files and newer tables Open returns at once: the first lookup decodes the
// tables that Muster carries.
func Open(o Options) (*Locator, error) {
	l := &Locator{ours: Source{Name: "your overrides", Path: o.Overrides}}
	for _, step := range []func(Options) error{l.readOverrides, l.openDatabases, l.openTables} {
		if err := step(o); err != nil {
			l.Close()
			return nil, err
		}
	}
	return l, nil
}

// Close closes the user's databases. No lookup may follow or be under way.
func (l *Locator) Close() error {
	return errors.Join(l.countryDB.close(), l.asDB.close())
}

// Locate finds where addr is. An address that the Internet does not route to one place
// (private, loopback, multicast, FakeIP and the like) has none, unless the user's
// overrides give it one.
func (l *Locator) Locate(addr netip.Addr) Place {
	addr = addr.Unmap().WithZone("")
	place := l.overrides.locate(addr)
	if !routed(addr) {
		return place
	}
	if place.Country == "" {
		place.Country = l.countryDB.country(addr)
	}
	if place.ASN == 0 {
		place.ASN = l.asDB.origin(addr)
	}
	if place.Country == "" {
		carried, _ := l.countries() // a nil table, if it is broken, knows nothing
		place.Country = carried.Lookup(addr)
	}
	if place.ASN == 0 {
		carried, _ := l.origins()
		place.ASN = carried.Lookup(addr)
	}
	return place
}

// Annotate fills in the country and AS that servers lack, and unwraps IPv4-mapped
// addresses. What a server list says stays, unless the user's overrides differ.
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

// Field is one of the two things that a source knows about an address.
type Field string

// The fields of a [Place], and the names of ASes.
const (
	Country Field = "country"
	ASN     Field = "asn"
	Names   Field = "names"
)

// Source is one of the databases that a Locator asks.
type Source struct {
	// Field is what the source knows.
	Field Field
	// Name is the database's own name, "GeoLite2-Country", or the origin of a table
	// that Muster carries.
	Name string
	// Path is the user's file or that of a fetched table. It is empty for a table that
	// Muster carries.
	Path string
	// Built is when the data was made. Places change: of 7,519 game servers a quarter
	// have another country in IPFire's data of 2026 than in that of 2022.
	Built time.Time

	table bool // not a database
}

// Sources lists what a Locator asks after the overrides, in that order. Names are not
// among them.
func (l *Locator) Sources() []Source { return l.sources }

// notRouted are the IPv4 blocks that the Internet does not route to one place (IANA
// IPv4 Special-Purpose Address Registry). Databases must not place them. Proxies hand
// out 198.18.0.0/15 as "FakeIP" for names that they resolve elsewhere.
var notRouted = [...]netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("10.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("224.0.0.0/3"), // multicast and reserved
}

// globalUnicast is all that IPv6 routes so far. documentation is a hole in it (RFC 4291
// §2.4, RFC 3849).
var (
	globalUnicast = netip.MustParsePrefix("2000::/3")
	documentation = netip.MustParsePrefix("2001:db8::/32")
)

// routed reports whether the Internet may route addr, so that it can have a place.
func routed(addr netip.Addr) bool {
	if addr.Is6() {
		return globalUnicast.Contains(addr) && !documentation.Contains(addr)
	}
	for _, block := range notRouted {
		if block.Contains(addr) {
			return false
		}
	}
	return addr.IsValid()
}
