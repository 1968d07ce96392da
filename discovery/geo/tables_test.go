package geo_test

import (
	"bytes"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/geo"
	"muster/discovery/geo/ranges"
)

var (
	future = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	past   = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// made returns tables that place 8.8.8.8 in Germany and in AS 7, named seven.
func made(t testing.TB, built time.Time) map[geo.Field][]byte {
	t.Helper()
	key, _ := ranges.Key(netip.MustParseAddr("8.0.0.0"))
	end, _ := ranges.Key(netip.MustParseAddr("9.0.0.0"))
	var country, asn, names bytes.Buffer
	header := func(f geo.Field) ranges.Header {
		return ranges.Header{Name: string(f), Source: "a test", Built: built}
	}
	if err := errors.Join(
		ranges.Encode(&country, header(geo.Country), []ranges.Step{{Start: key, Number: ranges.CountryNumber("DE")}, {Start: end}}),
		ranges.Encode(&asn, header(geo.ASN), []ranges.Step{{Start: key, Number: 7}, {Start: end}}),
		ranges.EncodeNames(&names, header(geo.Names), map[uint32]string{7: "seven"}),
	); err != nil {
		t.Fatal(err)
	}
	return map[geo.Field][]byte{geo.Country: country.Bytes(), geo.ASN: asn.Bytes(), geo.Names: names.Bytes()}
}

// folder writes tables to a new folder.
func folder(t testing.TB, tables map[geo.Field][]byte) string {
	t.Helper()
	at := t.TempDir()
	for f, table := range tables {
		if err := os.WriteFile(filepath.Join(at, geo.TableFile(f)), table, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return at
}

// TestNewerTablesServe checks that each newer table serves on its own, and that the
// carried one serves where there is none that is newer and whole.
func TestNewerTablesServe(t *testing.T) {
	addr := netip.MustParseAddr("8.8.8.8")
	newer, older := made(t, future), made(t, past)
	for name, c := range map[string]struct {
		change  func(map[geo.Field][]byte)
		want    geo.Place
		trouble string
	}{
		"all":      {func(map[geo.Field][]byte) {}, geo.Place{Country: "DE", ASN: 7}, ""},
		"one":      {func(m map[geo.Field][]byte) { delete(m, geo.ASN) }, geo.Place{Country: "DE", ASN: 15169}, ""},
		"older":    {func(m map[geo.Field][]byte) { m[geo.Country] = older[geo.Country] }, geo.Place{Country: "US", ASN: 7}, ""},
		"cut off":  {func(m map[geo.Field][]byte) { m[geo.ASN] = m[geo.ASN][:40] }, geo.Place{Country: "DE", ASN: 15169}, "asn.gz: "},
		"no table": {func(m map[geo.Field][]byte) { m[geo.ASN] = []byte("hello") }, geo.Place{Country: "DE", ASN: 15169}, "asn.gz: "},
		"of another": {func(m map[geo.Field][]byte) {
			m[geo.ASN] = m[geo.Country]
		}, geo.Place{Country: "DE", ASN: 15169}, `a table of "country", not of asn`},
		"far too large": {func(m map[geo.Field][]byte) {
			m[geo.ASN] = append(m[geo.ASN], make([]byte, geo.MaxTable)...)
		}, geo.Place{Country: "DE", ASN: 15169}, "more than 4 MB"},
		"empty": {func(m map[geo.Field][]byte) { m[geo.Country] = nil }, geo.Place{Country: "US", ASN: 7}, "country.gz: "},
	} {
		tables := map[geo.Field][]byte{geo.Country: newer[geo.Country], geo.ASN: slices.Clone(newer[geo.ASN]), geo.Names: newer[geo.Names]}
		c.change(tables)
		l := open(t, geo.Options{Tables: folder(t, tables)})
		if got := l.Locate(addr); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		var file *geo.FileError
		switch err := l.Trouble(); {
		case (err == nil) != (c.trouble == "") || err != nil && !strings.Contains(err.Error(), c.trouble):
			t.Errorf("%s: %v, want %q", name, err, c.trouble)
		case err != nil && (!errors.As(err, &file) || !strings.Contains(file.Hint(), "--update")):
			t.Errorf("%s: %v tells nobody what to do", name, err)
		}
	}
	l := open(t, geo.Options{Tables: folder(t, newer)})
	if s := l.Sources(); len(s) != 2 || !s[0].Built.Equal(future) || s[0].Name != "a test" || filepath.Base(s[1].Path) != "asn.gz" {
		t.Errorf("%+v", s)
	}
	if l := open(t, geo.Options{Tables: filepath.Join(t.TempDir(), "none")}); l.Trouble() != nil || l.Locate(addr).ASN != 15169 {
		t.Errorf("no such folder: %v", l.Trouble())
	}
}

func TestCheckTable(t *testing.T) {
	for f, table := range made(t, future) {
		if s, err := geo.CheckTable(table); err != nil || s.Field != f || !s.Built.Equal(future) {
			t.Errorf("%s: %+v, %v", f, s, err)
		}
		for n := range table {
			if _, err := geo.CheckTable(table[:n]); !errors.Is(err, discovery.ErrMalformed) {
				t.Fatalf("%d bytes of %s: %v", n, f, err)
			}
		}
	}
	var weather bytes.Buffer
	if err := ranges.Encode(&weather, ranges.Header{Name: "weather"}, []ranges.Step{{Start: 1, Number: 1}}); err != nil {
		t.Fatal(err)
	}
	if _, err := geo.CheckTable(weather.Bytes()); err == nil || !strings.Contains(err.Error(), `a table of "weather"`) {
		t.Error(err)
	}
	carried, err := geo.Carried()
	if err != nil || len(carried) != 3 || carried[2].Field != geo.Names || carried[2].Built.IsZero() {
		t.Errorf("%+v, %v", carried, err)
	}
}

// TestExplain checks that Explain gives Locate's answers with their sources.
func TestExplain(t *testing.T) {
	overrides := overridesFile(t, "1.0.0.1,,64499\n127.0.0.1,AU,\n")
	l := open(t, geo.Options{CountryDB: countryDB, ASDB: asDB, Overrides: overrides})
	for addr, want := range map[string]struct {
		name, country, asn string // the sources of the fields
		unrouted           bool
	}{
		"8.8.8.8":          {"Google LLC", "table", "table", false},
		"1.0.0.1":          {"", "table", "ours", false},
		"1.0.0.2":          {"Google Inc.", "table", "database", false}, // by the test database
		"202.196.224.1":    {"China Education and Research Network Center", "database", "table", false},
		"::ffff:127.0.0.1": {"", "ours", "", true},
		"10.0.0.1":         {"", "", "", true},
		"2fff::1":          {},
	} {
		ip := netip.MustParseAddr(addr)
		got := l.Explain(ip)
		who := func(s *geo.Source) string {
			switch {
			case s == nil:
				return ""
			case s.Path == overrides:
				return "ours"
			case s.Path != "":
				return "database"
			}
			return "table"
		}
		if got.Place != l.Locate(ip) || got.Name != want.name || who(got.CountryFrom) != want.country ||
			who(got.ASNFrom) != want.asn || got.Unrouted != want.unrouted {
			t.Errorf("%s: %+v from %q and %q, want %+v", addr, got, who(got.CountryFrom), who(got.ASNFrom), want)
		}
	}
	fetched := open(t, geo.Options{Tables: folder(t, made(t, future))})
	if got := fetched.Explain(netip.MustParseAddr("8.8.8.8")); got.Name != "seven" || got.ASNFrom.Path == "" {
		t.Errorf("%+v", got)
	}
}
