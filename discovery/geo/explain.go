package geo

import (
	"fmt"
	"net/netip"
	"time"

	"muster/discovery"
)

// Answer is what is known about an address, and the source of it.
type Answer struct {
	Place
	// Name is the name of the AS, or empty.
	Name string
	// CountryFrom and ASNFrom are the sources of the fields; nil if there is none.
	CountryFrom, ASNFrom *Source
	// Unrouted reports that the Internet does not route the address to one place.
	Unrouted bool
}

// Explain is [Locator.Locate] for people: it names the source of each answer.
func (l *Locator) Explain(addr netip.Addr) Answer {
	addr = addr.Unmap().WithZone("")
	a := Answer{Place: l.Locate(addr), Unrouted: !routed(addr)}
	ours := l.overrides.locate(addr)
	ask := func(f Field, overridden, inDatabase bool) *Source {
		if overridden {
			return &l.ours
		}
		for i := range l.sources { // the user's database comes before the table
			if s := &l.sources[i]; s.Field == f && (inDatabase || s.table) {
				return s
			}
		}
		return nil
	}
	if a.Country != "" {
		a.CountryFrom = ask(Country, ours.Country != "", l.countryDB.country(addr) != "")
	}
	if a.ASN != 0 {
		name := ""
		if l.asDB.origin(addr) == a.ASN {
			name = l.asDB.name(addr)
		}
		if name == "" {
			names, _ := l.names() // a broken table has no names
			name = names[a.ASN]
		}
		a.Name = discovery.CleanText(name)
		a.ASNFrom = ask(ASN, ours.ASN != 0, l.asDB.origin(addr) != 0)
	}
	return a
}

// Age returns the rough age of the table in words.
func (s Source) Age(now time.Time) string {
	const day, month = 24 * time.Hour, 365 * 24 * time.Hour / 12
	d := now.Sub(s.Built)
	n, unit := int(d/day), "day"
	switch {
	case d < day:
		return "less than a day"
	case d >= 24*month:
		n, unit = int(d/(12*month)), "year"
	case d >= 2*month:
		n, unit = int(d/month), "month"
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}
