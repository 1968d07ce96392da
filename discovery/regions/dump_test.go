package regions

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"muster/discovery"
)

// dump looks like the ones that players posted. Its values are made up.
const dump = `] tf_datacenter_ping_dump
[SDR Ping] Ping data is current as of Tue Oct 15 19:07:09 2024. Pending refresh: 0, Sent initial fix: 1
    ams: 0ms, status 2
   ams4: 107ms, status 1
    eze: 24ms, status 1
    lim: 61ms, status 1
`

// TestParseDump checks pasted texts, with whatever a console has around the dump.
func TestParseDump(t *testing.T) {
	all := map[string]time.Duration{"ams4": 107 * time.Millisecond, "eze": 24 * time.Millisecond, "lim": 61 * time.Millisecond}
	for _, c := range []struct {
		name, text string
		want       map[string]time.Duration // nil is an error
	}{
		{"a dump", dump, all},
		{"Windows' line ends", strings.ReplaceAll(dump, "\n", "\r\n"), all},
		{"chat between", strings.ReplaceAll(dump, "   ams4", "ann :  hi: there\n   ams4"), all},
		{"an older dump before", "fra: 9ms, status 1\nlim: 99ms, status 1\nfra: 0ms, status 2\n" + dump, all},
		{"status unknown", "fra: 9ms, status x\n" + dump, all},
		{"no number", "fra: -9ms, status 1\nfra: 9.5ms, status 1\nfra: 99999999999ms, status 1\n" + dump, all},
		{"too long a ping", "fra: 20000ms, status 1\n" + dump, all},
		{"no code", "FRA: 9ms, status 1\nf: 9ms, status 1\nfrankfurt1: 9ms, status 1\n" + dump, all},
		{"nothing", "", nil},
		{"another text", "hello: 12ms", nil},
		{"only failures", "ams: 0ms, status 2", nil},
		{"too long", strings.Repeat("x", MaxDump+1), nil},
		{"too many", many(maxRegions + 1), nil},
	} {
		got, err := ParseDump(c.text)
		if (err != nil) != (c.want == nil) || !maps.Equal(got, c.want) || err != nil && !errors.Is(err, discovery.ErrMalformed) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

// many returns a dump of this many regions.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "x%d: 9ms, status 1\n", i)
	}
	return b.String()
}

// FuzzParseDump checks that any text is an error or a few sound pings.
func FuzzParseDump(f *testing.F) {
	f.Add(dump)
	f.Add("fra: 1ms, status 1")
	f.Add(": ms, status \n\x00: 1ms, status 1")
	f.Fuzz(func(t *testing.T, text string) {
		pings, err := ParseDump(text)
		if (err == nil) != (len(pings) > 0) || len(pings) > maxRegions {
			t.Errorf("%d pings, %v", len(pings), err)
		}
		for code, ping := range pings {
			if !isCode(code) || ping <= 0 || ping > longestPing {
				t.Errorf("%q: %v", code, ping)
			}
		}
	})
}
