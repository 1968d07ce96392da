package excess_test

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"testing"
	"time"

	"muster/discovery"
	"muster/selection"
	"muster/selection/excess"
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
		for player, got := range excess.Find(list, table, lines, tt.at) {
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
		played map[string]float64
		want   map[string]float64
	}{
		{"as measured", map[string]float64{"ann": 82, "ben": 55, "cat": 90, "emil": 48, "zoe": 74}, nil},
		{"ann is nearer", map[string]float64{"ann": 52, "ben": 55, "cat": 90, "emil": 48, "zoe": 74}, map[string]float64{"ann": 32}},
		{"half are nearer", map[string]float64{"ann": 52, "ben": 25, "cat": 90, "emil": 48, "zoe": 74}, map[string]float64{"ann": 31, "ben": 28}},
		{"zoe lags", map[string]float64{"ann": 82, "ben": 55, "cat": 90, "emil": 48, "zoe": 300}, nil},
		{"a stranger, and nobody else's ping", map[string]float64{"ann": 52, "ben": 55, "cat": 90, "bot": 5, "zoe": 0}, nil},
	} {
		if got := excess.Below(measured, tt.played); !maps.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
