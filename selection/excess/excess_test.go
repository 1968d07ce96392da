package excess_test

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/selection"
	"muster/selection/excess"
	"muster/selection/memory"
)

// TestFind checks whose pings exceed what their lines suggest. Eight players ask servers of seven
// networks. The host stands in the first, and only the second is as far from most players.
func TestFind(t *testing.T) {
	const players, ases, each = 8, 7, 3
	host := excess.Place{Country: "DE", ASN: 1}
	way := func(player, as int) float64 { // in ms
		if as <= 1 {
			return 80 + float64(player*37%140)
		}
		return 20 + float64((player*37+as*53+player*as*29)%140)
	}
	plus := func(ms float64) func(float64) float64 { return func(x float64) float64 { return x + ms } }
	times := func(f float64) func(float64) float64 { return func(x float64) float64 { return f * x } }
	for _, tt := range []struct {
		name string
		// told changes what the first few players tell of their pings. Their lines are so many ms longer.
		first int
		told  func(ms float64) float64
		line  float64
		// without is the network that nobody measures, and home is a player whose line tells nothing.
		without int
		home    int
		at      excess.Place
		want    selection.Excess // of those
	}{
		{"nobody", 0, plus(0), 0, -1, -1, host, selection.Excess{}},
		{"30 ms", 1, plus(30), 0, -1, -1, host, selection.Excess{MS: 30}},
		{"30 ms, in an unknown place", 1, plus(30), 0, -1, -1, excess.Place{}, selection.Excess{MS: 30}},
		{"30 ms of one side", 4, plus(30), 0, -1, -1, host, selection.Excess{MS: 30}},
		{"less than anybody would name", 1, plus(9), 0, -1, -1, host, selection.Excess{}},
		{"a longer line", 3, plus(30), 30, -1, -1, host, selection.Excess{}},
		{"three times", 1, times(3), 0, -1, -1, host, selection.Excess{Times: 3}},
		{"the line tells nothing", 1, plus(30), 0, -1, 0, host, selection.Excess{}},
		{"the host's own player", 1, plus(30), 0, -1, 7, host, selection.Excess{MS: 30}},
		{"beside the host", 1, plus(30), 0, 0, -1, host, selection.Excess{MS: 30}},
	} {
		table := selection.NewTable(make([]string, players), ases*each)
		var list []discovery.Server
		for server := range ases * each {
			as := server / each
			addr := netip.MustParseAddrPort("192.0." + strconv.Itoa(as) + "." + strconv.Itoa(server+1) + ":1")
			list = append(list, discovery.Server{Addr: addr, Country: "DE", ASN: uint32(as + 1)})
			for player := range players {
				ms := way(player, as) + float64(server%each)
				if player < tt.first {
					ms = tt.told(ms)
				}
				if as != tt.without {
					table.Set(player, server, discovery.Answered, time.Duration(ms*float64(time.Millisecond)))
				}
			}
		}
		lines := make([]time.Duration, players)
		for player := range players {
			ms := way(player, 0) + 5
			if player < tt.first {
				ms += tt.line
			}
			if player != tt.home {
				lines[player] = time.Duration(ms * float64(time.Millisecond))
			}
		}
		for player, got := range excess.Find(list, table, lines, nil, tt.at) {
			want := selection.Excess{}
			if player < tt.first {
				want = tt.want
			}
			if got != want {
				t.Errorf("%s: player %d has %v, want %v", tt.name, player, got, want)
			}
		}
	}
}

// TestEarlier checks whose pings exceed those of earlier evenings, whatever the connection is like today.
func TestEarlier(t *testing.T) {
	earlier := []float64{20, 30, 40, 60, 90, 120, 150, 200}
	for _, tt := range []struct {
		name  string
		today []float64
		want  selection.Excess
	}{
		{"as ever", []float64{21, 30, 39, 61, 92, 118, 150, 203}, selection.Excess{}},
		{"30 ms more", []float64{50, 60, 70, 90, 120, 150, 180, 230}, selection.Excess{MS: 30}},
		{"half more", []float64{30, 45, 60, 90, 135, 180, 225, 300}, selection.Excess{Times: 1.5}},
		{"9 ms more", []float64{29, 39, 49, 69, 99, 129, 159, 209}, selection.Excess{}},
		{"less", []float64{5, 10, 10, 30, 60, 90, 120, 170}, selection.Excess{}},
		{"other routes to half of them", []float64{20, 30, 40, 60, 120, 150, 180, 230}, selection.Excess{}},
		{"another route to one", []float64{50, 60, 70, 90, 120, 150, 180, 200}, selection.Excess{MS: 30}},
		{"five parts", []float64{50, 60, 70, 90, 120}, selection.Excess{}},
	} {
		table := selection.NewTable([]string{"ann", "ben"}, len(earlier))
		var list []discovery.Server
		var cells []memory.Cell
		for server, ms := range earlier {
			addr := netip.AddrFrom4([4]byte{192, 0, byte(server), 1})
			list = append(list, discovery.Server{Addr: netip.AddrPortFrom(addr, 1), Country: "DE"})
			part := memory.Part{Country: "DE", Prefix: topology.Prefix24.Prefix(addr)}
			cells = append(cells, memory.Cell{Part: part, MS: ms, Count: 1, Seen: time.Unix(1e9, 0)})
		}
		cells = append(cells, memory.Cell{Part: memory.Part{Country: "DE"}, MS: 1, Count: 1})
		for server, ms := range tt.today {
			for player := range 2 { // nothing is remembered of ben
				table.Set(player, server, discovery.Answered, time.Duration(ms*float64(time.Millisecond)))
			}
		}
		found := excess.Find(list, table, make([]time.Duration, 2), [][]memory.Cell{cells}, excess.Place{})
		if want := []selection.Excess{tt.want, {}}; !slices.Equal(found, want) {
			t.Errorf("%s: %v, want %v", tt.name, found, want)
		}
	}
}

// TestNear checks which servers everybody measures: half of them in the host's AS, the others in as many
// others of the country.
func TestNear(t *testing.T) {
	var list []discovery.Server
	for i, asn := range []uint32{7, 8, 7, 7, 8, 9, 0, 7} {
		addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, byte(i), 2, 1}), 1)
		list = append(list, discovery.Server{Addr: addr, Country: "DE", ASN: asn})
	}
	list[5].Country = "FR"
	for _, tt := range []struct {
		at   excess.Place
		n    int
		want []int
	}{
		{excess.Place{Country: "DE", ASN: 7}, 4, []int{0, 2, 1, 6}},
		{excess.Place{Country: "DE", ASN: 7}, 8, []int{0, 2, 3, 7, 1, 6}},
		{excess.Place{Country: "FR"}, 4, []int{5}},
		{excess.Place{}, 4, nil},
	} {
		if got := excess.Near(list, tt.at, tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.at, got, tt.want)
		}
	}
}

// TestBelow checks who plays below their claim. Game pings are longer for everybody, and not by the same.
func TestBelow(t *testing.T) {
	measured := map[string]float64{"ann": 70, "ben": 40, "cat": 80, "emil": 35, "zoe": 60}
	for _, tt := range []struct {
		name   string
		over   map[string]float64
		played map[string]float64
		want   map[string]float64
	}{
		{"as measured", nil, map[string]float64{"ann": 82, "ben": 55, "cat": 90, "emil": 48, "zoe": 74}, nil},
		{"ann is nearer", nil, map[string]float64{"ann": 52, "ben": 55, "cat": 90, "emil": 48, "zoe": 74}, map[string]float64{"ann": 32}},
		{"half are nearer", nil, map[string]float64{"ann": 52, "ben": 25, "cat": 90, "emil": 48, "zoe": 74}, map[string]float64{"ann": 31, "ben": 28}},
		{"zoe lags", nil, map[string]float64{"ann": 82, "ben": 55, "cat": 90, "emil": 48, "zoe": 300}, nil},
		{"a stranger, and nobody else's ping", nil, map[string]float64{"ann": 52, "ben": 55, "cat": 90, "bot": 5, "zoe": 0}, nil},
		{"ann is a little nearer", nil, map[string]float64{"ann": 74, "ben": 55, "cat": 90, "emil": 48, "zoe": 74}, nil},
		{"which was doubted", map[string]float64{"ann": 20}, map[string]float64{"ann": 74, "ben": 55, "cat": 90, "emil": 48, "zoe": 74}, map[string]float64{"ann": 11}},
		{"as measured, although doubted", map[string]float64{"ann": 20}, map[string]float64{"ann": 82, "ben": 55, "cat": 90, "emil": 48, "zoe": 74}, nil},
	} {
		if got := excess.Below(measured, tt.over, tt.played); !maps.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
