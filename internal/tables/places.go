package tables

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"muster/discovery/geo"
	"muster/internal/hint"
	"muster/internal/input"
	"muster/internal/term"
)

// Explain shows what the tables say of addresses, and which table says it. folder holds the downloaded tables.
func Explain(locator *geo.Locator, addrs []netip.Addr, folder string) *term.Table {
	t := &term.Table{Columns: []term.Column{term.Whole("ADDRESS"), term.Left("COUNTRY"), term.Left("AS"),
		term.Left("NAME"), term.Left("BY")}, Spare: []string{"BY", "NAME"}}
	for _, addr := range addrs {
		a := locator.Explain(addr)
		asn, by := term.None, says(a.CountryFrom, folder)
		if a.ASN != 0 {
			asn = fmt.Sprintf("AS%d", a.ASN)
		}
		if other := says(a.ASNFrom, folder); other != by {
			by = strings.Trim(by+"; "+other, "; ")
		}
		if a.Unrouted && by == "" {
			by = "an address that leads to no one place on the internet"
		}
		t.Add(addr, cmp.Or(a.Country, term.None), asn, a.Name, by)
	}
	return t
}

// says returns a source with its date for people. Only muster geo without arguments names its maker.
func says(s *geo.Source, folder string) string {
	switch {
	case s == nil:
		return ""
	case s.Built.IsZero():
		return s.Name
	case s.Path == "":
		return "Muster's table of " + s.Built.Format(time.DateOnly)
	case filepath.Dir(s.Path) == folder:
		return "the table fetched, of " + s.Built.Format(time.DateOnly)
	}
	return fmt.Sprintf("%s of %s", s.Name, s.Built.Format(time.DateOnly))
}

// List shows the usable tables.
func List(l *geo.Locator, now time.Time) *term.Table {
	t := &term.Table{Columns: []term.Column{term.Whole("TABLE"), term.Left("OF"), term.Left("AGE"), term.Left("BY"),
		term.Left("FILE")}, Spare: []string{"FILE", "BY"}}
	for _, s := range l.Sources() {
		t.Add(s.Field, s.Built.Format(time.DateOnly), s.Age(now), s.Name, cmp.Or(s.Path, "in this program"))
	}
	return t
}

// Addresses reads the addresses of a command line. A - stands for those on standard input.
func Addresses(args []string, in io.Reader) (addrs []netip.Addr, err error) {
	for _, text := range args {
		if text != input.Standard {
			addr, err := parseAddress(text)
			if err != nil {
				return nil, hint.With(hint.Usage(err), "names are not looked up: say the address")
			}
			addrs = append(addrs, addr)
			continue
		}
		lines := bufio.NewScanner(in)
		for n := 1; lines.Scan(); n++ {
			text := strings.TrimSpace(lines.Text())
			if text == "" || text[0] == '#' {
				continue
			}
			addr, err := parseAddress(text)
			if err != nil {
				return nil, hint.With(fmt.Errorf("line %d: %w", n, err), "a line is an address, or ADDRESS:PORT")
			}
			addrs = append(addrs, addr)
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("cannot read standard input: %w", hint.Reason(err))
		}
	}
	return addrs, nil
}

// parseAddress parses an address with or without a port.
func parseAddress(text string) (netip.Addr, error) {
	if addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")); err == nil {
		return addr.Unmap().WithZone(""), nil
	}
	addr, err := netip.ParseAddrPort(text)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("%q is no address such as 192.0.2.1 or 2001:db8::1", text)
	}
	return addr.Addr().Unmap().WithZone(""), nil
}

// placeEntry is an address in the output of muster geo --json.
type placeEntry struct {
	Addr    netip.Addr `json:"addr"`
	Country string     `json:"country,omitempty"`
	ASN     uint32     `json:"asn,omitempty"`
	ASName  string     `json:"as_name,omitempty"`
	// CountryBy and ASNBy are indexes in Tables of the table that says so. nil means the user's own overrides, or nothing.
	CountryBy *int `json:"country_by,omitempty"`
	ASNBy     *int `json:"asn_by,omitempty"`
	// Unrouted says that the internet does not route it to one place.
	Unrouted bool `json:"unrouted,omitempty"`
}

// tableEntry is a table in that output.
type tableEntry struct {
	Field geo.Field `json:"field"`
	Name  string    `json:"name"`
	Built time.Time `json:"built"`
	File  string    `json:"file,omitempty"`
}

// Document returns what the tables say of addresses, as programs read it.
func Document(l *geo.Locator, addrs []netip.Addr) any {
	document := struct {
		Format string       `json:"format"`
		Tables []tableEntry `json:"tables"`
		Places []placeEntry `json:"places"`
	}{Format: "muster.places/1", Places: []placeEntry{}}
	sources := l.Sources()
	for _, s := range sources {
		document.Tables = append(document.Tables, tableEntry{s.Field, s.Name, s.Built, s.Path})
	}
	by := func(s *geo.Source) *int {
		if s == nil {
			return nil
		}
		if i := slices.Index(sources, *s); i >= 0 {
			return &i
		}
		return nil
	}
	for _, addr := range addrs {
		a := l.Explain(addr)
		document.Places = append(document.Places, placeEntry{addr, a.Country, a.ASN, a.Name, by(a.CountryFrom), by(a.ASNFrom), a.Unrouted})
	}
	return document
}
