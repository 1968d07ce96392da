package main

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery/geo/internal/ranges"
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
aut-num:                 64496

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
		// Of what begins inside a /64, that /64 is not part.
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
		{Start: key("1.0.1.0"), Number: 64496}, // the /24 has no AS of its own
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
		"three deep":             {[]span{{4, 7, 1}, {4, 5, 2}, {5, 5, 3}}, []ranges.Step{{Start: 4, Number: 2}, {Start: 5, Number: 3}, {Start: 6, Number: 1}, {Start: 8}}},
		"the same span twice":    {[]span{{4, 7, 1}, {4, 7, 2}}, []ranges.Step{{Start: 4, Number: 2}, {Start: 8}}},
		"a gap":                  {[]span{{4, 5, 1}, {8, 9, 1}}, []ranges.Step{{Start: 4, Number: 1}, {Start: 6}, {Start: 8, Number: 1}, {Start: 10}}},
	} {
		if got := flatten(c.spans); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Against the plain rule: of the prefixes around an address the longest wins.
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

func TestGenerateGivesTheSameBytesAgain(t *testing.T) {
	in := t.TempDir()
	v4, v6 := filepath.Join(in, "geoip"), filepath.Join(in, "geoip6")
	for path, text := range map[string]string{v4: torV4, v6: torV6} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var made [2]map[string][]byte
	for i := range made {
		out := t.TempDir()
		if err := generate(v4, v6, strings.NewReader(dump), out); err != nil {
			t.Fatal(err)
		}
		made[i] = map[string][]byte{}
		for _, name := range []string{"country.gz", "asn.gz"} {
			made[i][name], _ = os.ReadFile(filepath.Join(out, name))
		}
	}
	for name, table := range made[0] {
		if len(table) == 0 || !bytes.Equal(table, made[1][name]) {
			t.Errorf("%s differs", name)
		}
	}
	h, err := ranges.ReadHeader(bytes.NewReader(made[0]["country.gz"]))
	if err != nil || !h.Built.Equal(time.Date(2026, 6, 25, 4, 33, 59, 0, time.UTC)) {
		t.Errorf("the table is not as old as the older list: %+v, %v", h, err)
	}
}
