package regions

import (
	"net/netip"
	"strings"
	"testing"

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
