package geo_test

import (
	"encoding/csv"
	"flag"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/geo"
)

const (
	countryDB = "testdata/GeoLite2-Country-Test.mmdb"
	asDB      = "testdata/GeoLite2-ASN-Test.mmdb"
)

func open(t testing.TB, o geo.Options) *geo.Locator {
	t.Helper()
	l, err := geo.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func overridesFile(t testing.TB, text string) string {
	t.Helper()
	path := t.TempDir() + "/overrides.csv"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wants maps addresses to their expected places.
type wants map[string]geo.Place

func (w wants) check(t *testing.T, l *geo.Locator) {
	t.Helper()
	for addr, want := range w {
		if got := l.Locate(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %+v, want %+v", addr, got, want)
		}
	}
}

func TestKnownAddressesWithoutAnyFile(t *testing.T) {
	wants{
		"8.8.8.8":                   {"US", 15169},
		"::ffff:8.8.8.8":            {"US", 15169},
		"193.0.6.139":               {"NL", 3333}, // RIPE NCC
		"2001:67c:2e8:22::c100:68b": {"NL", 3333},
		"2001:4860:4860::8888":      {"US", 15169},
		"2001:4860:4860::8888%eth0": {"US", 15169},
		"2606:4700:4700::1111":      {"US", 13335},
		"3ffe::1":                   {}, // the former 6bone
		"2fff:ffff:ffff:ffff:1::1":  {}, // not assigned
	}.check(t, open(t, geo.Options{}))
}

// The sample was looked up with other programs than ours; see testdata/README.md.
func TestTheTablesSayWhatTheirSourcesSay(t *testing.T) {
	f, err := os.Open("testdata/sources.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 308 {
		t.Fatal(len(rows), err)
	}
	w := wants{}
	for _, row := range rows[1:] {
		asn, err := strconv.ParseUint(row[2], 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		w[row[0]] = geo.Place{Country: row[1], ASN: uint32(asn)}
	}
	w.check(t, open(t, geo.Options{}))
}

func TestWhatIsNotRoutedHasNoPlace(t *testing.T) {
	l := open(t, geo.Options{CountryDB: countryDB, ASDB: asDB})
	for _, addr := range []string{
		"0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "169.254.1.1", "172.31.255.255", "192.0.0.9", "192.0.2.1",
		"192.168.1.1", "198.18.0.7", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.251", "255.255.255.255",
		"::", "::1", "::8.8.8.8", "::ffff:10.0.0.1", "64:ff9b::808:808", "2001:db8::1", "fc00::1", "fe80::1%lo", "ff02::fb",
	} {
		if got := l.Locate(netip.MustParseAddr(addr)); got != (geo.Place{}) {
			t.Errorf("%s: %+v", addr, got)
		}
	}
	if got := l.Locate(netip.Addr{}); got != (geo.Place{}) {
		t.Errorf("no address: %+v", got)
	}
}

func TestTheUsersDatabaseWinsFieldByField(t *testing.T) {
	for name, c := range map[string]struct {
		options geo.Options
		want    wants
	}{
		"no file": {geo.Options{}, wants{
			"202.196.224.1": {"CN", 4538}, "1.0.0.1": {"AU", 13335}, "67.43.156.1": {"US", 35908}, "2a02:cf40::1": {"DK", 62121},
		}},
		"countries": {geo.Options{CountryDB: countryDB}, wants{
			"202.196.224.1": {"PH", 4538}, "1.0.0.1": {"AU", 13335}, "67.43.156.1": {"BT", 35908}, "2a02:cf40::1": {"NO", 62121},
		}},
		"ASes": {geo.Options{ASDB: asDB}, wants{
			"202.196.224.1": {"CN", 4538}, "1.0.0.1": {"AU", 15169}, "67.43.156.1": {"US", 35908}, "2a02:cf40::1": {"DK", 62121},
		}},
		"both": {geo.Options{CountryDB: countryDB, ASDB: asDB}, wants{
			"202.196.224.1": {"PH", 4538}, "1.0.0.1": {"AU", 15169}, "67.43.156.1": {"BT", 35908}, "2a02:cf40::1": {"NO", 62121},
			"193.0.6.139": {"NL", 3333}, // in neither of the user's databases
		}},
	} {
		t.Run(name, func(t *testing.T) { c.want.check(t, open(t, c.options)) })
	}
}

func TestOverridesWin(t *testing.T) {
	path := overridesFile(t,
		"prefix,country,asn\n8.8.8.0/24,de,\n8.0.0.0/8,FR,64496\n1.0.0.1,,64499\n127.0.0.0/8,AU,AS64497\n2001:4860::/32,,64498\n")
	wants{
		"8.8.8.8":              {"DE", 64496}, // country of the /24, AS of the /8
		"8.1.1.1":              {"FR", 64496},
		"::ffff:8.1.1.1":       {"FR", 64496},
		"127.1.2.3":            {"AU", 64497}, // also where the Internet has no place
		"2001:4860:4860::8888": {"US", 64498},
		"1.0.0.1":              {"AU", 64499},
		"1.0.0.2":              {"AU", 15169}, // the user's database
		"193.0.6.139":          {"NL", 3333},  // the carried tables
	}.check(t, open(t, geo.Options{CountryDB: countryDB, ASDB: asDB, Overrides: path}))
}

func TestAnnotateFillsWhatIsEmpty(t *testing.T) {
	servers := []discovery.Server{
		{Addr: netip.MustParseAddrPort("[::ffff:193.0.6.139]:27960")},
		{Addr: netip.MustParseAddrPort("193.0.6.139:27961"), Country: "ZZ"},
		{Addr: netip.MustParseAddrPort("193.0.6.139:27962"), ASN: 7},
		{Addr: netip.MustParseAddrPort("193.0.6.139:27963"), Country: "BR", ASN: 7},
		{Addr: netip.MustParseAddrPort("127.0.0.1:27960")},
		{},
	}
	open(t, geo.Options{}).Annotate(servers)
	want := []discovery.Server{
		{Addr: netip.MustParseAddrPort("193.0.6.139:27960"), Country: "NL", ASN: 3333},
		{Addr: netip.MustParseAddrPort("193.0.6.139:27961"), Country: "ZZ", ASN: 3333},
		{Addr: netip.MustParseAddrPort("193.0.6.139:27962"), Country: "NL", ASN: 7},
		{Addr: netip.MustParseAddrPort("193.0.6.139:27963"), Country: "BR", ASN: 7},
		{Addr: netip.MustParseAddrPort("127.0.0.1:27960")},
		{},
	}
	if !slices.Equal(servers, want) {
		t.Errorf("%+v", servers)
	}
}

// TestOverridesWinOverTheList checks that the user's overrides win over the places in a
// list. The user knows better than a list from elsewhere.
func TestOverridesWinOverTheList(t *testing.T) {
	servers := []discovery.Server{
		{Addr: netip.MustParseAddrPort("193.0.6.139:1"), Country: "BR", ASN: 7},
		{Addr: netip.MustParseAddrPort("10.0.0.1:1"), Country: "BR", ASN: 7},
		{Addr: netip.MustParseAddrPort("193.0.7.1:1"), Country: "BR", ASN: 7},
	}
	open(t, geo.Options{Overrides: overridesFile(t, "193.0.6.0/24,DE,\n10.0.0.0/8,,9\n")}).Annotate(servers)
	want := []geo.Place{{Country: "DE", ASN: 7}, {Country: "BR", ASN: 9}, {Country: "BR", ASN: 7}}
	for i, s := range servers {
		if got := (geo.Place{Country: s.Country, ASN: s.ASN}); got != want[i] {
			t.Errorf("%v: %+v, want %+v", s.Addr, got, want[i])
		}
	}
}

func TestSourcesTellTheirAge(t *testing.T) {
	got := open(t, geo.Options{CountryDB: countryDB, ASDB: asDB}).Sources()
	made := time.Date(2026, 2, 4, 22, 49, 29, 0, time.UTC)
	if len(got) != 4 ||
		got[0] != (geo.Source{Field: geo.Country, Name: "GeoLite2-Country", Path: countryDB, Built: made}) ||
		got[1].Field != geo.ASN || got[1].Name != "GeoLite2-ASN" || got[1].Path != asDB {
		t.Errorf("%+v", got)
	}
	carried := open(t, geo.Options{}).Sources()
	if !slices.Equal(carried, got[2:]) || carried[0].Field != geo.Country || carried[1].Field != geo.ASN {
		t.Errorf("%+v", carried)
	}
}

// The licence requires us to name the origin of the data, and the name must stay true.
func TestNoticeNamesWhatIsCarried(t *testing.T) {
	for _, path := range []string{"../../NOTICE", "data/README.md"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		words := []string{"IPFire Project", "creativecommons.org/licenses/by-sa/4.0", "tor-geoipdb", "ip-location-db",
			"creativecommons.org/licenses/by/4.0", "RouteViews", "https://db-ip.com/", "Number Resource"}
		for _, source := range open(t, geo.Options{}).Sources() {
			words = append(words, source.Built.Format(time.DateOnly))
		}
		for _, word := range words {
			if !strings.Contains(string(text), word) {
				t.Errorf("%s does not say %q", path, word)
			}
		}
	}
}

func TestFirstLookupsMayComeTogether(t *testing.T) {
	l := open(t, geo.Options{CountryDB: countryDB, ASDB: asDB})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := l.Locate(netip.MustParseAddr("193.0.6.139")); got != (geo.Place{Country: "NL", ASN: 3333}) {
				t.Errorf("%+v", got)
			}
		})
	}
	wg.Wait()
	if err := l.Load(); err != nil {
		t.Error(err)
	}
}

func TestLookupsDoNotAllocate(t *testing.T) {
	l := open(t, geo.Options{Overrides: overridesFile(t, "8.8.8.0/24,DE,\n2001:4860::/32,,64498\n")})
	v4, v6 := netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("2001:4860:4860::8888")
	if err := l.Load(); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { l.Locate(v4); l.Locate(v6) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var fresh = flag.Duration("fresh", 0, "how old the carried tables may be; 0 is any age")

// TestTablesAreFresh checks that a release carries no old tables. Other builds may.
func TestTablesAreFresh(t *testing.T) {
	if *fresh == 0 {
		t.Skip("asked for with -fresh")
	}
	for _, source := range open(t, geo.Options{}).Sources() {
		if age := time.Since(source.Built); age > *fresh {
			t.Errorf("the table of %s is of %s: run .ci/tables, or the workflow that does", source.Field, source.Built.Format(time.DateOnly))
		}
	}
}
