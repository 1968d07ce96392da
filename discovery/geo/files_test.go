package geo_test

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"strings"
	"testing"

	"muster/discovery/geo"
)

func TestAFileThatCannotServeSaysWhy(t *testing.T) {
	text := overridesFile(t, "hello\n")
	for name, c := range map[string]struct {
		options    geo.Options
		want, hint string
	}{
		"ASes for countries":    {geo.Options{CountryDB: asDB}, `"GeoLite2-ASN" tells no country`, "--as-db"},
		"countries for ASes":    {geo.Options{ASDB: countryDB}, `"GeoLite2-Country" tells no asn`, "--country-db"},
		"a missing country DB":  {geo.Options{CountryDB: "testdata/none.mmdb"}, "geo: testdata/none.mmdb: ", ""},
		"a missing AS DB":       {geo.Options{ASDB: "testdata/none.mmdb"}, "geo: testdata/none.mmdb: ", ""},
		"text for a country DB": {geo.Options{CountryDB: text}, "overrides.csv: ", ".mmdb"},
		"text for an AS DB":     {geo.Options{CountryDB: countryDB, ASDB: text}, "overrides.csv: ", ".mmdb"},
		"missing overrides":     {geo.Options{Overrides: "testdata/none.csv"}, "geo: testdata/none.csv: ", ""},
		"malformed overrides":   {geo.Options{Overrides: text}, "overrides.csv: line 1: 1 fields, not 3", "192.0.2.0/24,DE,64496"},
	} {
		l, err := geo.Open(c.options)
		var file *geo.FileError
		switch {
		case l != nil || !errors.As(err, &file):
			t.Errorf("%s: %v", name, err)
		case !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %q does not say %q", name, err, c.want)
		case (c.hint == "") != (file.Hint() == "") || !strings.Contains(file.Hint(), c.hint):
			t.Errorf("%s: hint %q does not say %q", name, file.Hint(), c.hint)
		case strings.Contains(name, "missing") && !errors.Is(err, fs.ErrNotExist):
			t.Errorf("%s: %v is not fs.ErrNotExist", name, err)
		}
	}
}

// The database holds its type as plain text. Another text of the same length turns a good database
// into an unknown one.
func TestADatabaseOfUnknownType(t *testing.T) {
	b, err := os.ReadFile(countryDB)
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/x.mmdb"
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(b), "GeoLite2-Country", "Weather-Forecast")), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = geo.Open(geo.Options{CountryDB: path})
	if err == nil || !strings.Contains(err.Error(), `"Weather-Forecast" tells no country`) {
		t.Error(err)
	}
}

func TestOverridesAreWrittenFreely(t *testing.T) {
	for name, text := range map[string]string{
		"without a header": "8.8.8.8,DE,7\n",
		"an address":       "prefix,country,asn\n8.8.8.8,DE,7\n",
		"mapped":           "::ffff:8.8.8.8,DE,7\n",
		"host bits":        "8.8.8.200/24,DE,7\n",
		"small letters":    "8.8.8.0/24,de,as7\n",
		"blanks, comments": "# ours\n\n  8.8.8.0/24 , DE , AS7 \n",
		"a mark":           "\ufeffprefix,country,asn\n8.8.8.0/24,DE,7\n",
		"CRLF, no end":     "prefix,country,asn\r\n8.8.8.0/24,DE,7",
		"two lines":        "8.0.0.0/8,DE,1\n8.8.8.0/30,,2\n8.8.8.0/24,,7\n",
	} {
		l := open(t, geo.Options{Overrides: overridesFile(t, text)})
		if got := l.Locate(netip.MustParseAddr("8.8.8.8")); got != (geo.Place{Country: "DE", ASN: 7}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAMalformedOverrideNamesItsLine(t *testing.T) {
	const head = "prefix,country,asn\n# two\n8.8.8.0/24,DE,7\n"
	for line, want := range map[string]string{
		"8.8.8.0/33,DE,7":            `line 4: "8.8.8.0/33" is no prefix`,
		"::ffff:8.8.8.0/120,DE,7":    `line 4: "::ffff:8.8.8.0/120" is no prefix`,
		"example.org,DE,7":           `line 4: "example.org" is no prefix`,
		",DE,7":                      `line 4: "" is no prefix`,
		"9.0.0.0/8,DEU,7":            `line 4: "DEU" is no country code`,
		"9.0.0.0/8,D1,7":             `line 4: "D1" is no country code`,
		"9.0.0.0/8,ZZ,7":             `line 4: "ZZ" is no country code`,
		"9.0.0.0/8,DE,0":             `line 4: "0" is no AS number`,
		"9.0.0.0/8,DE,-1":            `line 4: "-1" is no AS number`,
		"9.0.0.0/8,DE,4294967296":    `line 4: "4294967296" is no AS number`,
		"9.0.0.0/8,DE":               "line 4: 2 fields, not 3",
		"9.0.0.0/8,DE,7,x":           "line 4: 4 fields, not 3",
		`9.0.0.0/8,"DE,7`:            "line 4: ",
		"8.8.8.7/24,FR,":             "line 4: 8.8.8.0/24 for the second time",
		"9.0.0.0/8,DE,7\n\n9/8,DE,7": `line 6: "9/8" is no prefix`,
	} {
		_, err := geo.Open(geo.Options{Overrides: overridesFile(t, head+line+"\n")})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", line, err, want)
		}
	}
}
