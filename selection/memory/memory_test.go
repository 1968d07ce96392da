package memory_test

import (
	"bytes"
	"errors"
	"math"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/selection/memory"
)

var (
	now  = time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC)
	week = 7 * 24 * time.Hour
)

func part(country string, asn uint32, prefix string) memory.Part {
	p := memory.Part{Country: country, ASN: asn}
	if prefix != "" {
		p.Prefix = netip.MustParsePrefix(prefix)
	}
	return p
}

func cell(p memory.Part, ms, spread float64, count int, ago time.Duration) memory.Cell {
	return memory.Cell{Part: p, MS: ms, Spread: spread, Count: count, Seen: now.Add(-ago)}
}

// list has two servers on one machine in a /24 and two other machines in the same /24. It has one
// machine in another /24 of the /16, one in another AS, and servers of an unknown AS and of an
// unknown country.
var list = []discovery.Server{
	{Addr: netip.MustParseAddrPort("192.0.2.1:1"), Country: "DE", ASN: 7},
	{Addr: netip.MustParseAddrPort("192.0.2.1:2"), Country: "DE", ASN: 7},
	{Addr: netip.MustParseAddrPort("192.0.2.3:1"), Country: "DE", ASN: 7},
	{Addr: netip.MustParseAddrPort("192.0.2.4:1"), Country: "DE", ASN: 7},
	{Addr: netip.MustParseAddrPort("192.0.3.1:1"), Country: "DE", ASN: 7},
	{Addr: netip.MustParseAddrPort("198.51.100.1:1"), Country: "DE", ASN: 8},
	{Addr: netip.MustParseAddrPort("203.0.113.1:1"), Country: "DE"},
	{Addr: netip.MustParseAddrPort("203.0.113.2:1")},
}

func TestOf(t *testing.T) {
	ms := []float64{10, 12, 14, 0, 20, 40, 50, 60}
	var results []discovery.Result
	for server, ms := range ms {
		r := discovery.Result{Server: server, State: discovery.Answered, RTT: time.Duration(ms * 1e6)}
		if ms == 0 {
			r = discovery.Result{Server: server, State: discovery.Lost}
		}
		results = append(results, r)
	}
	got := memory.Of(topology.New(list), results, now.Add(7*time.Minute))
	want := []memory.Cell{ // an address counts once, with its lowest RTT
		cell(part("DE", 0, "203.0.113.0/24"), 50, 0, 1, 0),
		cell(part("DE", 7, "192.0.2.0/24"), 12, 2, 2, 0),
		cell(part("DE", 7, "192.0.3.0/24"), 20, 0, 1, 0),
		cell(part("DE", 8, "198.51.100.0/24"), 40, 0, 1, 0),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestAfter(t *testing.T) {
	a, b, c := part("DE", 7, "192.0.2.0/24"), part("DE", 8, "198.51.100.0/24"), part("SE", 9, "203.0.113.0/24")
	for name, tt := range map[string]struct{ before, session, want []memory.Cell }{
		"the first session":   {nil, []memory.Cell{cell(a, 10, 1, 2, 0)}, []memory.Cell{cell(a, 10, 1, 2, 0)}},
		"another part":        {[]memory.Cell{cell(b, 30, 1, 1, week)}, []memory.Cell{cell(a, 10, 1, 2, 0)}, []memory.Cell{cell(a, 10, 1, 2, 0), cell(b, 30, 1, 1, week)}},
		"the same on one day": {[]memory.Cell{cell(a, 12, 3, 2, 0)}, []memory.Cell{cell(a, 10, 1, 2, 0)}, []memory.Cell{cell(a, 11, 2, 4, 0)}},
		"after three months, when the old one counts half": {[]memory.Cell{cell(a, 13, 1, 2, 90*24*time.Hour)}, []memory.Cell{cell(a, 10, 1, 2, 0)},
			[]memory.Cell{cell(a, 11, 1, 4, 0)}},
		"another route": {[]memory.Cell{cell(a, 20, 1, 8, week)}, []memory.Cell{cell(a, 10, 1, 1, 0)}, []memory.Cell{cell(a, 10, 1, 1, 0)}},
		"too old":       {[]memory.Cell{cell(c, 30, 1, 1, 3*365*24*time.Hour)}, nil, nil},
	} {
		got := memory.After(tt.before, tt.session, now)
		if len(got) != len(tt.want) || len(got) > 0 && !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v\nwant %+v", name, got, tt.want)
		}
	}
	var many []memory.Cell
	for i := range 2 * memory.Max {
		many = append(many, cell(part("DE", uint32(1+i), ""), 10, 1, 1, time.Duration(i)*time.Second))
	}
	if got := memory.After(many, nil, now); len(got) != memory.Max || got[0].ASN != 1 {
		t.Errorf("%d cells, the newest is of AS %d", len(got), got[0].ASN)
	}
}

// TestForecasts checks that the deepest part with a cell tells, and a part without one has the mean
// of the parts below it.
func TestForecasts(t *testing.T) {
	tree := topology.New(list)
	near := func(x, y float64) bool { return math.Abs(x-y) < .01 }
	forecast := func(of ...[]memory.Cell) map[string]memory.Forecast {
		named := map[string]memory.Forecast{}
		last := topology.Node(-1)
		for _, f := range memory.Forecasts(tree, now, of...) {
			if f.Node <= last {
				t.Errorf("node %d after %d", f.Node, last)
			}
			last = f.Node
			s := tree.List()[tree.Servers(f.Node)[0]]
			named[map[topology.Level]string{
				topology.Country: "country", topology.AS: "AS", topology.Prefix16: "/16", topology.Prefix24: "/24",
			}[tree.Level(f.Node)]+" of "+s.Addr.Addr().String()] = f
		}
		return named
	}
	if got := forecast(nil); len(got) != 0 {
		t.Errorf("nothing forecasts %v", got)
	}
	got := forecast([]memory.Cell{
		cell(part("DE", 7, "192.0.2.0/24"), 10, 0, 1, 0), cell(part("DE", 7, "192.0.3.0/24"), 20, 0, 1, 0), cell(part("DE", 8, ""), 45, 0, 1, 0),
	})
	for name, want := range map[string]float64{
		"/24 of 192.0.2.1": 10, "/24 of 192.0.3.1": 20, "/16 of 192.0.2.1": 15, "AS of 192.0.2.1": 15, "AS of 198.51.100.1": 45,
		"country of 203.0.113.1": 30,
	} {
		if f := got[name]; !near(f.MS, want) || f.SD <= 0 || f.Error <= 0 {
			t.Errorf("%s: %v, want %v ms", name, f, want)
		}
	}
	if len(got) != 6 {
		t.Errorf("%d forecasts: %v", len(got), got)
	}
	if a, b := got["/24 of 192.0.2.1"].SD, got["AS of 192.0.2.1"].SD; a >= b {
		t.Errorf("a /24 is known to %v ms, an AS to %v", a, b)
	}
	at := part("DE", 7, "192.0.2.0/24")
	fresh, old := forecast([]memory.Cell{cell(at, 100, 0, 1, 0)}), forecast([]memory.Cell{cell(at, 100, 0, 1, 600*24*time.Hour)})
	if a, b := fresh["/24 of 192.0.2.1"].SD, old["/24 of 192.0.2.1"].SD; b < 2*a {
		t.Errorf("known to %v ms, and 20 months later to %v", a, b)
	}
	both := forecast([]memory.Cell{cell(at, 100, 0, 1, 0)}, []memory.Cell{cell(at, 50, 0, 1, 0)})
	if f := both["/24 of 192.0.2.1"]; f.MS != 50 {
		t.Errorf("the later memory does not count: %v", f)
	}
	if forgotten := forecast([]memory.Cell{cell(at, 100, 0, 1, 3*365*24*time.Hour)}); len(forgotten) != 0 {
		t.Errorf("after three years %v", forgotten)
	}
}

// TestGuess checks that each country of a list whose place is known gets a vague forecast, nearer ones a lower
// one, and that a player from nowhere gets none.
func TestGuess(t *testing.T) {
	at := func(addr, country string) discovery.Server {
		return discovery.Server{Addr: netip.MustParseAddrPort(addr), Country: country}
	}
	tree := topology.New([]discovery.Server{at("192.0.2.1:1", "NZ"), at("192.0.2.2:1", "FR"), at("192.0.2.3:1", "XX"), at("192.0.2.4:1", "")})
	ms := map[string]float64{}
	for _, f := range memory.Guess(tree, "DE") {
		ms[tree.List()[tree.Servers(f.Node)[0]].Country] = f.MS
		if !f.IsVague || tree.Level(f.Node) != topology.Country || f.Error < 5 || f.SD < f.Error {
			t.Errorf("%+v", f)
		}
	}
	if len(ms) != 2 || ms["FR"] > 40 || ms["NZ"] < 200 {
		t.Errorf("from Germany: %v", ms)
	}
	if got := memory.Guess(tree, ""); got != nil {
		t.Errorf("from nowhere: %v", got)
	}
}

func TestFile(t *testing.T) {
	cells := []memory.Cell{
		cell(part("DE", 3320, "192.0.2.0/24"), 12.3, .4, 2, week), cell(part("SE", 1257, "2001:db8::/32"), 31, 2, 3, week),
		cell(part("SE", 1257, ""), 31, 2, 3, 0), cell(part("US", 0, ""), 104.5, 21, 9, 0),
	}
	var file bytes.Buffer
	if err := memory.Write(&file, cells); err != nil {
		t.Fatal(err)
	}
	if got, err := memory.Read(&file); err != nil || !reflect.DeepEqual(got, cells) {
		t.Errorf("%+v, %v\nwant %+v", got, err, cells)
	}
	for name, text := range map[string]string{
		"nothing":            "",
		"another format":     `{"format":"muster.memory/1"}`,
		"no country":         `{"format":"muster.rtts/1","parts":[{"country":"","rtt_ms":1,"count":1,"seen":"2026-11-27T20:00:00Z"}]}`,
		"an address":         `{"format":"muster.rtts/1","parts":[{"country":"DE","prefix":"192.0.2.1/32","rtt_ms":1,"count":1,"seen":"2026-11-27T20:00:00Z"}]}`,
		"no RTT":             `{"format":"muster.rtts/1","parts":[{"country":"DE","rtt_ms":0,"count":1,"seen":"2026-11-27T20:00:00Z"}]}`,
		"an RTT of an hour":  `{"format":"muster.rtts/1","parts":[{"country":"DE","rtt_ms":3600000,"count":1,"seen":"2026-11-27T20:00:00Z"}]}`,
		"measured at nobody": `{"format":"muster.rtts/1","parts":[{"country":"DE","rtt_ms":1,"count":0,"seen":"2026-11-27T20:00:00Z"}]}`,
		"at no time":         `{"format":"muster.rtts/1","parts":[{"country":"DE","rtt_ms":1,"count":1}]}`,
		"too many":           `{"format":"muster.rtts/1","parts":[` + strings.Repeat(`{},`, memory.Max) + `{}]}`,
	} {
		if got, err := memory.Read(strings.NewReader(text)); !errors.Is(err, discovery.ErrMalformed) || got != nil {
			t.Errorf("%s reads %v, %v", name, got, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"format":"muster.rtts/1","parts":[{"country":"DE","asn":7,"prefix":"192.0.2.0/24","rtt_ms":1,"spread_ms":1,"count":1,"seen":"2026-11-27T20:00:00Z"}]}`))
	tree := topology.New(list)
	f.Fuzz(func(t *testing.T, text []byte) {
		cells, err := memory.Read(bytes.NewReader(text))
		if err != nil && !errors.Is(err, discovery.ErrMalformed) {
			t.Fatal(err)
		}
		for _, f := range memory.Forecasts(tree, now, memory.After(cells, nil, now)) {
			if !(f.MS > 0 && f.SD > 0) || math.IsInf(f.MS+f.SD, 0) {
				t.Errorf("%+v of %s", f, text)
			}
		}
	})
}
