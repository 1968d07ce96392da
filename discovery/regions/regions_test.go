package regions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/discovery"
)

// measured returns a table of two regions, changed by a test.
func measured(change func(*Table)) Table {
	t := Table{How: "Choose {set}", List: []Region{
		{Name: "West Europe", Set: "westeurope", Country: "NL", Measure: "one.example.org:443"},
		{Name: "East US", Measure: "192.0.2.1:443"},
	}}
	change(&t)
	return t
}

// pasted returns a table of two regions that the game measures, changed by a test.
func pasted(change func(*Table)) Table {
	t := Table{How: "Choose {set}", Dump: SDR, Command: "dump", List: []Region{{Name: "Frankfurt", Code: "fra"}, {Name: "Lima", Code: "lim"}}}
	change(&t)
	return t
}

// TestCheck checks that tables that cannot work are refused, with the field at fault.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		table Table
		field string // empty if the table is right
	}{
		{"servers", Table{}, ""},
		{"measured", measured(func(*Table) {}), ""},
		{"pasted", pasted(func(*Table) {}), ""},
		{"no how", measured(func(t *Table) { t.How = "" }), "how"},
		{"a control character", measured(func(t *Table) { t.How = "a\x1b[2J" }), "how"},
		{"unknown dump", pasted(func(t *Table) { t.Dump = "x" }), "dump"},
		{"no command", pasted(func(t *Table) { t.Command = "" }), "command"},
		{"one region", measured(func(t *Table) { t.List = t.List[:1] }), "list"},
		{"too many regions", measured(func(t *Table) { t.List = make([]Region, maxRegions+1) }), "list"},
		{"no name", measured(func(t *Table) { t.List[0].Name = "" }), "list"},
		{"two lines", measured(func(t *Table) { t.List[0].Set = "a\nb" }), "list"},
		{"no country", measured(func(t *Table) { t.List[0].Country = "Netherlands" }), "list"},
		{"no endpoint", measured(func(t *Table) { t.List[0].Measure = "" }), "list"},
		{"no port", measured(func(t *Table) { t.List[0].Measure = "one.example.org" }), "list"},
		{"port 0", measured(func(t *Table) { t.List[0].Measure = "one.example.org:0" }), "list"},
		{"no host", measured(func(t *Table) { t.List[0].Measure = "a b.example:443" }), "list"},
		{"a code of a dump", measured(func(t *Table) { t.List[0].Code = "fra" }), "list"},
		{"a measure and a dump", pasted(func(t *Table) { t.List[0].Measure = "one.example.org:443" }), "list"},
		{"a wrong code", pasted(func(t *Table) { t.List[0].Code = "FRA!" }), "list"},
		{"the same name", measured(func(t *Table) { t.List[1].Name = "west europe" }), "list"},
		{"the same endpoint", measured(func(t *Table) { t.List[1].Measure = "ONE.example.org:443" }), "list"},
		{"the same code", pasted(func(t *Table) { t.List[1].Code = "fra" }), "list"},
	} {
		err := c.table.Check()
		wrong, is := err.(*Error)
		if (err != nil) != (c.field != "") || is && wrong.Field != c.field {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestFind checks that a region is found by its name and by the name of its entry in a room.
func TestFind(t *testing.T) {
	table := measured(func(t *Table) { t.List[1].Name = "East US (Virginia)" })
	for called, set := range map[string]string{
		"West Europe":                            "westeurope",
		"West Europe (192.0.2.7:443)":            "westeurope",
		"East US (Virginia)":                     "East US (Virginia)",
		"East US (Virginia) ([2001:db8::1]:443)": "East US (Virginia)",
		"East US":                                "",
		"":                                       "",
		" (x)":                                   "",
	} {
		if r, ok := table.Find(called); r.Set != set || ok != (set != "") {
			t.Errorf("%q is %+v, %v", called, r, ok)
		}
	}
	if _, ok := (Table{}).Find("West Europe"); ok {
		t.Error("a game with servers has a region")
	}
}

// TestKeys checks that each region without an endpoint has its own key in its own network, and that no machine is there.
func TestKeys(t *testing.T) {
	documentation, seen := netip.MustParsePrefix("2001:db8::/32"), map[netip.Prefix]string{}
	for _, code := range strings.Fields("ams ams4 atl bom bom2 dfw eat eze fra gru hel hkg iad jnb lax lhr lim maa mad ord par scl sea sgp sto syd tyo vie waw") {
		key := Region{Code: code}.Key()
		network := netip.PrefixFrom(key.Addr(), 64).Masked()
		if !documentation.Contains(key.Addr()) || seen[network] != "" || discovery.ReachOf(key.Addr()) != discovery.InternetReach {
			t.Errorf("%s: %v, like %q", code, key, seen[network])
		}
		seen[network] = code
	}
}

// inOrder is a plan that probes a list from its beginning.
type inOrder struct {
	servers, next int
	observed      []discovery.Result
}

func (p *inOrder) Next() (discovery.Probe, discovery.Verdict) {
	if p.next == p.servers {
		return discovery.Probe{}, discovery.Stop
	}
	p.next++
	return discovery.Probe{Server: p.next - 1, Phase: discovery.Refining}, discovery.Go
}

func (p *inOrder) Observe(r discovery.Result)     { p.observed = append(p.observed, r) }
func (p *inOrder) Summary() discovery.PlanSummary { return discovery.PlanSummary{} }

// TestPasted checks that the pasted pings answer a plan, and that a region without one is lost.
func TestPasted(t *testing.T) {
	table := pasted(func(*Table) {})
	p := NewPasted(table, map[string]time.Duration{"fra": 24 * time.Millisecond, "elsewhere": time.Millisecond})
	if p.Regions() != 1 {
		t.Errorf("%d regions have a ping", p.Regions())
	}
	servers := []discovery.Server{{Addr: table.List[1].Key()}, {Addr: table.List[0].Key()}}
	plan := &inOrder{servers: len(servers)}
	var seen []discovery.Result
	if err := p.Run(t.Context(), servers, plan, func(r discovery.Result) { seen = append(seen, r) }); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 2 || len(plan.observed) != 2 {
		t.Fatalf("seen %v, observed %v", seen, plan.observed)
	}
	lost, answered := seen[0], seen[1]
	if lost.State != discovery.Lost || lost.Server != 0 || answered.State != discovery.Answered || answered.RTT != 24*time.Millisecond ||
		answered.Server != 1 || answered.Phase != discovery.Refining || answered.Order != 2 || !answered.Info.Uncounted() {
		t.Errorf("%+v, %+v", lost, answered)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := p.Run(ctx, servers, &inOrder{servers: 2}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

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
