package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"maps"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/geo/ranges"
)

const torV4 = `# Generated: Thu, 25 Jun 2026 04:33:59 GMT
#
15726992,15726999,??
16777216,16777471,AU
16777472,16778239,UK
16778240,16779263,EU
`

const torV6 = `# Generated: Fri, 26 Jun 2026 04:33:59 GMT
2001:200::,2001:200:134:ffff:ffff:ffff:ffff:ffff,JP
2001:506:9::4,2001:506:9::5,BR
2001:506:a::4,2001:506:a:1:ffff:ffff:ffff:ffff,US
`

const dump = `#
# Location Database Export
#
# Generated: Sat, 29 Oct 2022 05:59:54 GMT

aut-num:                 AS1
name:                    LVLT-1

net:                     1.0.0.0/16
aut-num:                 174

net:                     1.0.0.0/24
country:                 AU
aut-num:                 13335
is-anycast:              yes

net:                     1.0.1.0/24
country:                 CN

net:                     2001:200::/32
country:                 JP
aut-num:                 2500
`

func key(addr string) uint64 {
	k, _ := ranges.Key(netip.MustParseAddr(addr))
	return k
}

func TestReadTor(t *testing.T) {
	countries, built, err := readTor(strings.NewReader(torV4 + torV6))
	if err != nil || !built.Equal(time.Date(2026, 6, 26, 4, 33, 59, 0, time.UTC)) {
		t.Fatal(built, err)
	}
	want := []span{
		{key("1.0.0.0"), key("1.0.0.255"), ranges.CountryNumber("AU")},
		{key("1.0.1.0"), key("1.0.3.255"), ranges.CountryNumber("GB")},
		{key("2001:200::"), key("2001:200:134:ffff::"), ranges.CountryNumber("JP")},
		// A range that begins inside a /64 does not include that /64.
		{key("2001:506:a:1::"), key("2001:506:a:1::"), ranges.CountryNumber("US")},
	}
	if !slices.Equal(countries, want) {
		t.Errorf("%x, want %x", countries, want)
	}
}

func TestReadDump(t *testing.T) {
	origins, built, err := readDump(strings.NewReader(dump))
	if err != nil || !built.Equal(time.Date(2022, 10, 29, 5, 59, 54, 0, time.UTC)) {
		t.Fatal(built, err)
	}
	want := []ranges.Step{
		{Start: key("1.0.0.0"), Number: 13335},
		{Start: key("1.0.1.0"), Number: 174}, // the /24 has no AS of its own
		{Start: key("1.1.0.0"), Number: 0},
		{Start: key("2001:200::"), Number: 2500},
		{Start: key("2001:201::"), Number: 0},
	}
	if got := flatten(origins); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}

func TestBrokenSourcesNameTheLine(t *testing.T) {
	for _, text := range []string{"# x\n1,2\n", "# x\n1,x,DE\n", "# x\n1,4294967296,DE\n", "#\n# Generated: today\n", "#\n::1,::x,DE\n"} {
		if _, _, err := readTor(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"\nnet: 1.0.0.0\n", "net: 1.0.0.0/8\naut-num: AS5\n"} {
		if _, _, err := readDump(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestFlatten(t *testing.T) {
	for name, c := range map[string]struct {
		spans []span
		want  []ranges.Step
	}{
		"nothing":                {nil, nil},
		"one":                    {[]span{{4, 7, 1}}, []ranges.Step{{Start: 4, Number: 1}, {Start: 8}}},
		"side by side, the same": {[]span{{8, 9, 1}, {4, 7, 1}}, []ranges.Step{{Start: 4, Number: 1}, {Start: 10}}},
		"inside, at the start":   {[]span{{4, 7, 1}, {4, 5, 2}}, []ranges.Step{{Start: 4, Number: 2}, {Start: 6, Number: 1}, {Start: 8}}},
		"inside, at the end":     {[]span{{4, 7, 1}, {6, 7, 2}}, []ranges.Step{{Start: 4, Number: 1}, {Start: 6, Number: 2}, {Start: 8}}},
		"inside, the same":       {[]span{{4, 7, 1}, {5, 6, 1}}, []ranges.Step{{Start: 4, Number: 1}, {Start: 8}}},
		"three deep": {[]span{{4, 7, 1}, {4, 5, 2}, {5, 5, 3}},
			[]ranges.Step{{Start: 4, Number: 2}, {Start: 5, Number: 3}, {Start: 6, Number: 1}, {Start: 8}}},
		"the same span twice": {[]span{{4, 7, 1}, {4, 7, 2}}, []ranges.Step{{Start: 4, Number: 2}, {Start: 8}}},
		"crossing":            {[]span{{4, 7, 1}, {6, 9, 2}}, []ranges.Step{{Start: 4, Number: 1}, {Start: 6, Number: 2}, {Start: 10}}},
		"crossing, around": {[]span{{2, 20, 9}, {4, 7, 1}, {6, 9, 2}},
			[]ranges.Step{{Start: 2, Number: 9}, {Start: 4, Number: 1}, {Start: 6, Number: 2}, {Start: 10, Number: 9}, {Start: 21}}},
		"a gap": {[]span{{4, 5, 1}, {8, 9, 1}}, []ranges.Step{{Start: 4, Number: 1}, {Start: 6}, {Start: 8, Number: 1}, {Start: 10}}},
	} {
		if got := flatten(c.spans); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestFlattenIsTheLongestMatch compares with the plain rule: the longest prefix around an address
// wins.
func TestFlattenIsTheLongestMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var spans []span
		for n := range 20 {
			size := uint64(1) << r.IntN(7)
			first := 64 + r.Uint64N(64)&^(size-1)
			spans = append(spans, span{first, first + size - 1, uint32(n%5 + 1)})
		}
		steps := flatten(slices.Clone(spans))
		for at := range uint64(200) {
			if got, want := stepAt(steps, at), longest(spans, at); got != want {
				t.Fatalf("%v: %d is %d, want %d", spans, at, got, want)
			}
		}
	}
}

func stepAt(steps []ranges.Step, at uint64) (number uint32) {
	for _, s := range steps {
		if s.Start <= at {
			number = s.Number
		}
	}
	return number
}

func longest(spans []span, at uint64) (number uint32) {
	width := ^uint64(0)
	for _, s := range spans {
		if s.first <= at && at <= s.last && s.last-s.first <= width {
			width, number = s.last-s.first, s.number
		}
	}
	return number
}

// written writes the files of a test, by name.
func written(t *testing.T, files map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

const commas = `1.0.0.0,1.0.0.255,13335,"Cloudflare, Inc."
1.0.4.0,1.0.7.255,38803,Gtelecom "Pty" Ltd
1.0.8.0,1.0.8.255,64512,private
2001:200::,2001:200:ffff:ffff:ffff:ffff:ffff:ffff,2500,WIDE Project
`

func TestReadOrigins(t *testing.T) {
	want := []ranges.Step{
		{Start: key("1.0.0.0"), Number: 13335}, {Start: key("1.0.1.0")},
		{Start: key("1.0.4.0"), Number: 38803}, {Start: key("1.0.8.0")},
		{Start: key("2001:200::"), Number: 2500}, {Start: key("2001:201::")},
	}
	var packed, table bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(strings.NewReplacer(",", "\t", `"Cloudflare\t Inc."`, "US\tCLOUDFLARENET").Replace(commas)))
	z.Close()
	made := time.Date(2026, 6, 17, 0, 0, 0, 0, time.UTC)
	if err := ranges.Encode(&table, ranges.Header{Name: tableOfASes, Built: made}, want); err != nil {
		t.Fatal(err)
	}
	numbers := strings.NewReplacer("1.0.0.0", "16777216", "1.0.0.255", "16777471").Replace(commas)
	for name, c := range map[string]struct {
		text  string
		built time.Time
	}{
		"commas": {commas, time.Time{}}, "numbers": {numbers, time.Time{}},
		"tabs, packed": {packed.String(), time.Time{}}, "a table of ours": {table.String(), made},
	} {
		names := make(map[uint32]string)
		spans, built, err := readOrigins(strings.NewReader(c.text), names)
		if got := flatten(spans); err != nil || !built.Equal(c.built) || !slices.Equal(got, want) {
			t.Errorf("%s: %v of %v, %v; want %v", name, got, built, err, want)
		}
		if got := names[2500]; name != "a table of ours" && (got != "WIDE Project" || len(names) != 3 || names[38803] != `Gtelecom "Pty" Ltd`) {
			t.Errorf("%s: %v", name, names)
		}
	}
	if spans, built, err := readOrigins(strings.NewReader(dump), nil); err != nil || len(spans) != 3 || built.Year() != 2022 {
		t.Errorf("a dump: %v of %v, %v", spans, built, err)
	}
	for _, broken := range []string{"1.0.0.0,1.0.0.255\n", "1.0.0.0,1.0.0.255,AS5\n", "1.0.0.9,1.0.0.0,5\n",
		"1.0.0.0,2001::,5\n", "x,1.0.0.0,5\n", "1.0.0.0,1.0.0.255,4294967296\n", packed.String()[:40], table.String()[:60]} {
		if _, _, err := readOrigins(strings.NewReader(broken), nil); err == nil {
			t.Errorf("%.30q was read", broken)
		}
	}
}

func TestIsOrigin(t *testing.T) {
	for asn, want := range map[uint32]bool{
		0: false, 1: true, 23455: true, 23456: false, 64495: true, 64496: false, 64512: false, 65535: false,
		65551: false, 131071: false, 131072: true, 4199999999: true, 4200000000: false, 4294967295: false,
	} {
		if isOrigin(asn) != want {
			t.Errorf("AS%d: %v", asn, !want)
		}
	}
}

// TestSettle checks one piece for each combination of two tables' numbers.
func TestSettle(t *testing.T) {
	de, fr := ranges.CountryNumber("DE"), ranges.CountryNumber("FR")
	home := ranges.Step{Start: 1000, Number: 5} // of AS 5, in Germany, so that it may have something there
	newest := []ranges.Step{home, {Start: 1900}, {Start: 2000, Number: 1}, {Start: 2100, Number: 2}, {Start: 2200},
		{Start: 2300, Number: 3}, {Start: 2400}, {Start: 3000, Number: 6}, {Start: 3001}}
	older := []ranges.Step{{Start: 2000, Number: 1}, {Start: 2100, Number: 9}, {Start: 2200, Number: 5}, {Start: 2300},
		{Start: 2500, Number: 5}, {Start: 2600, Number: 8}, {Start: 2700, Number: 6}, {Start: 2800}}
	countries := []ranges.Step{{Start: 900, Number: de}, {Start: 2500, Number: fr}, {Start: 2600, Number: de},
		{Start: 2700, Number: fr}, {Start: 2701}, {Start: 3000, Number: fr}, {Start: 3001}}
	got, fates := settle(newest, older, countries)
	want := []ranges.Step{
		home, {Start: 1900},
		{Start: 2000, Number: 1}, // both say it
		{Start: 2100, Number: 2}, // the newest says something else
		{Start: 2200, Number: 5}, // a gap in Germany, where AS 5 is at home
		{Start: 2300, Number: 3}, // only the newest
		{Start: 2400},            // nobody. From 2500 on a gap in France, where AS 5 has nothing. Then of AS 8, which has nothing left at all
		{Start: 2700, Number: 6}, // a gap in France, where AS 6 has everything it has
		{Start: 2701},            // the rest of it, in an unknown country
		{Start: 3000, Number: 6}, {Start: 3001},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for fate, keys := range map[string]uint64{agreed: 100, changed: 100, filled: 101, added: 1001, dropped: 299} {
		if fates.v4[fate] != keys {
			t.Errorf("%d addresses: %s; want %d", fates.v4[fate], fate, keys)
		}
	}
	later := []ranges.Step{home, {Start: 1900}, {Start: 2000, Number: 1}, {Start: 2100, Number: 9},
		{Start: 2150, Number: 2}, {Start: 2200, Number: 5}, {Start: 2300, Number: 7}, {Start: 2400}}
	for verdict, keys := range map[string]uint64{
		agreed + "; later the same": 100, changed + "; later what the older one said": 50,
		changed + "; later the same": 50, filled + "; later what the older one said": 100,
		filled + "; later nothing": 1, added + "; later another AS": 100, dropped + "; later nothing": 299,
	} {
		if got := judged(newest, older, got, later).v4[verdict]; got != keys {
			t.Errorf("%d addresses: %s; want %d", got, verdict, keys)
		}
	}
	// IPv6 is counted apart from IPv4, because one /32 has more networks than all of IPv4.
	v6 := func(steps ...ranges.Step) []ranges.Step { return steps }
	got, fates = settle(v6(ranges.Step{Start: 1 << 60, Number: 7}, ranges.Step{Start: 1<<60 + 8}),
		v6(ranges.Step{Start: 100, Number: 7}, ranges.Step{Start: 200}), v6(ranges.Step{Start: 1, Number: de}))
	if want := v6(ranges.Step{Start: 1 << 60, Number: 7}, ranges.Step{Start: 1<<60 + 8}); !slices.Equal(got, want) ||
		fates.v4[dropped] != 100 || fates.v6[added] != 8 {
		t.Errorf("%v, %v", got, fates)
	}
}

func TestLargest(t *testing.T) {
	origins := []ranges.Step{{Start: 10, Number: 1}, {Start: 20, Number: 2}, {Start: 40, Number: 3},
		{Start: 100, Number: 4}, {Start: 110}, {Start: 1 << 40, Number: 5}}
	got := largest(origins, map[uint32]string{1: "one", 2: "two", 4: "four", 5: "five"}, 2)
	if want := map[uint32]string{1: "one", 2: "two"}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v: the larger ones, of as large ones the first, and none without a name", got, want)
	}
}

func TestTooDifferent(t *testing.T) {
	table := func(first, second uint32) []ranges.Step {
		return []ranges.Step{{Start: 1000, Number: first}, {Start: 1090, Number: second}, {Start: 1100},
			{Start: 1 << 40, Number: 7}, {Start: 1<<40 + 100}}
	}
	for name, c := range map[string]struct {
		now     []ranges.Step
		refused string
	}{
		"the same":     {table(1, 2), ""},
		"a tenth":      {table(1, 3), ""},
		"all of IPv4":  {table(3, 3), "IPv4 100.0 %"},
		"lost":         {table(0, 2), "IPv4 90.0 %"},
		"more than it": {append(table(1, 2), ranges.Step{Start: 1 << 50, Number: 9}), ""},
		"without IPv6": {table(1, 2)[:3], "IPv6 100.0 %"},
		"nothing":      {nil, "IPv4 100.0 %"},
	} {
		err := tooDifferent(c.now, table(1, 2), 0.1)
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v, want %q", name, err, c.refused)
		}
	}
}

// TestGenerate checks that the same bytes come out again, and none if a source is broken.
func TestGenerate(t *testing.T) {
	in := written(t, map[string]string{"geoip": torV4, "geoip6": torV6, "asn.csv": commas, "older.dump": dump,
		"broken.csv": "1.0.0.0,1.0.0.255,7,x\n", "none.csv": ""})
	from := func(asn string) sources {
		return sources{
			countries: [2]string{filepath.Join(in, "geoip"), filepath.Join(in, "geoip6")},
			newest:    []string{filepath.Join(in, asn)}, older: []string{filepath.Join(in, "older.dump")},
			date: time.Date(2026, 6, 17, 0, 0, 0, 0, time.UTC), credit: "somebody",
		}
	}
	made := func(out, name string) []byte {
		table, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	one, two := t.TempDir(), t.TempDir()
	if err := errors.Join(from("asn.csv").generate(one, 0), from("asn.csv").generate(two, 0), from("asn.csv").generate(two, 0)); err != nil {
		t.Fatal(err)
	}
	for name, built := range map[string]time.Time{"country.gz": time.Date(2026, 6, 25, 4, 33, 59, 0, time.UTC),
		"asn.gz": time.Date(2026, 6, 17, 0, 0, 0, 0, time.UTC)} {
		if !bytes.Equal(made(one, name), made(two, name)) {
			t.Errorf("%s differs", name)
		}
		// The table of countries is as old as the older list.
		if h, err := ranges.ReadHeader(bytes.NewReader(made(one, name))); err != nil || !h.Built.Equal(built) || h.Source == "" {
			t.Errorf("%+v, %v", h, err)
		}
	}
	for broken, want := range map[string]string{"broken.csv": "is a source broken", "none.csv": "no ranges", "missing.csv": "no such file"} {
		if err := from(broken).generate(two, 0.5); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", broken, err, want)
		}
	}
	if !bytes.Equal(made(one, "asn.gz"), made(two, "asn.gz")) || !bytes.Equal(made(one, "country.gz"), made(two, "country.gz")) {
		t.Error("a broken source has changed a table")
	}
	undated := from("asn.csv")
	undated.date = time.Time{}
	if err := undated.generate(t.TempDir(), 1); err == nil || !strings.Contains(err.Error(), "no date") {
		t.Errorf("without a date: %v", err)
	}
}

// FuzzReadOrigins checks that any file is read or refused, and that the result is in order.
func FuzzReadOrigins(f *testing.F) {
	f.Add(commas)
	f.Add(dump)
	f.Add("1.0.0.0\t1.0.0.255\t13335\tUS\tCLOUDFLARENET\n1.0.0.128\t1.0.1.255\t7\n")
	f.Add("\x1f\x8b")
	f.Fuzz(func(t *testing.T, text string) {
		spans, _, err := readOrigins(strings.NewReader(text), map[uint32]string{})
		if err != nil {
			return
		}
		steps := flatten(spans)
		if !slices.IsSortedFunc(steps, func(a, b ranges.Step) int { return cmp.Compare(a.Start, b.Start) }) {
			t.Fatalf("out of order: %v", steps)
		}
	})
}
