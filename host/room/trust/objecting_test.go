package trust

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room/people"
	"muster/selection"
)

func TestFew(t *testing.T) {
	for players, want := range []int{0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3} {
		if got := maxDispensable(players); got != want {
			t.Errorf("%d players can do without %d, want %d", players, got, want)
		}
	}
}

// TestOutvote checks that a few players are left out if nothing suits them that suits all others.
func TestOutvote(t *testing.T) {
	eight := append([]people.ID{"eve", "fay", "gil", "hal"}, four...)
	answersOnly := func(server int) func(int) int {
		return func(other int) int {
			if other == server {
				return honest(dan, server)
			}
			return lost
		}
	}
	for _, of := range []struct {
		name    string
		players []people.ID
		limit   time.Duration
		rtt     func(player, server int) int
		leftOut []people.ID
	}{
		{"nothing answers dan", four, 0, but(func(int) int { return lost }), []people.ID{"dan"}},
		{"nothing answers the only other", []people.ID{"cat", "dan"}, 0, func(player, server int) int { return []int{10, lost}[player] }, nil},
		{"two of four", four, 0, func(player, server int) int {
			if player >= 2 {
				return lost
			}
			return honest(player, server)
		}, nil},
		{"two of eight", eight, 0, func(player, server int) int {
			if player == 0 || player == 7 {
				return lost
			}
			return honest(player, server)
		}, []people.ID{"eve", "dan"}},
		{"too far from everything", four, 100 * ms, but(func(server int) int { return 101 + server }), []people.ID{"dan"}},
		{"one answers dan, another all others", four, 0, func(player, server int) int {
			if player == dan {
				return answersOnly(0)(server)
			}
			return answersOnly(1)(server)
		}, []people.ID{"dan"}},
		{"the first stands in nobody's way", eight, 0, func(player, server int) int {
			// Ann blocks two servers, others one each.
			against := [][]people.ID{{"dan"}, {"ann", "eve"}, {"ann", "fay"}}
			if server >= len(against) || slices.Contains(against[server], eight[player]) {
				return lost
			}
			return honest(player, server)
		}, []people.ID{"dan"}},
		{"nobody has anything in common", four, 0, func(player, server int) int { return []int{lost, 10}[count(player == server%4)] }, nil},
	} {
		var d Doubts
		b := world(20, of.players, of.rtt)
		if of.limit > 0 {
			b.Criteria.By, b.Criteria.Limits = selection.Threshold, []time.Duration{of.limit}
		}
		v, others := d.Outvote(b)
		want := slices.DeleteFunc(slices.Clone(of.players), func(player people.ID) bool { return slices.Contains(of.leftOut, player) })
		if slices.Sort(others); !slices.Equal(v.LeftOut, of.leftOut) || !slices.Equal(others, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s: left out are %v, and not %v", of.name, v.LeftOut, others)
		}
		if len(of.leftOut) == 0 && len(v.Notes) == 0 {
			continue
		}
		if note := "some suit everyone except " + strings.Join(people.Texts(of.leftOut), " and ") +
			": they’re too far away, or didn’t answer"; len(v.Notes) != 1 || !strings.Contains(texts(v.Notes)[0], note) {
			t.Errorf("%s: %q", of.name, v.Notes)
		}
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// silentTo returns everybody's pings if some servers do not answer dan.
func silentTo(servers ...int) func(player, server int) int {
	return but(func(server int) int {
		if slices.Contains(servers, server) {
			return lost
		}
		return honest(dan, server)
	})
}

func chosen(server int) *selection.Selection {
	return &selection.Selection{Players: people.Texts(four), Chosen: &selection.Ranked{Server: server}}
}

// TestDisputed checks that everyone looks again at servers that would be better for all but the one
// player without an answer. The first server of each network comes before the others.
func TestDisputed(t *testing.T) {
	for _, of := range []struct {
		name    string
		rtt     func(player, server int) int
		chosen  int
		vouched bool
		o       Forecast
		seen    []int
		asn     map[int]uint32
		want    []int
	}{
		{"nothing", honest, 0, false, Forecast{}, nil, nil, nil},
		{"one", silentTo(0), 1, false, Forecast{}, nil, nil, []int{0}},
		{"some have been seen", silentTo(0, 1, 2), 3, false, Forecast{}, []int{1}, nil, []int{0, 2}},
		{"five at most", silentTo(0, 1, 2, 3, 4, 5), 6, false, Forecast{}, nil, nil, []int{0, 1, 2, 3, 4}},
		{"of two networks", silentTo(0, 1, 2, 3, 4, 5), 6, false, Forecast{}, nil,
			map[int]uint32{0: 1, 1: 1, 2: 1, 3: 1, 4: 2, 5: 2}, []int{0, 4, 1, 2, 3}},
		{"the organiser vouches", silentTo(0, 1), 2, true, Forecast{}, nil, nil, nil},
		{"it is no better", silentTo(5), 0, false, Forecast{}, nil, nil, nil},
		{"the most first", func(player, server int) int {
			switch {
			case player == dan && (server == 1 || server == 2), player == 0 && server == 0:
				return lost
			}
			return honest(player, server)
		}, 3, false, Forecast{}, nil, nil, []int{1, 2, 0}},
		{"half of the others and more asked it", func(player, server int) int {
			switch {
			case player == 0 && server < 3, player == 1 && server == 2:
				return unprobed
			}
			return silentTo(0, 1, 2)(player, server)
		}, 3, false, Forecast{
			Silent: map[people.ID][]int{"dan": {2, 1, 0}},
			RTTs:   map[people.ID]map[int]time.Duration{"ann": {0: 9 * ms, 1: 5 * ms, 2: 1 * ms}, "bob": {2: 1 * ms}},
		}, nil, nil, []int{0, 1}},
		{"a search expects it to be far", func(player, server int) int {
			if player == 0 && server == 0 {
				return unprobed
			}
			return silentTo(0)(player, server)
		}, 1, false, Forecast{Silent: map[people.ID][]int{"dan": {0}}, RTTs: map[people.ID]map[int]time.Duration{"ann": {0: 90 * ms}}}, nil, nil, nil},
		{"a search expects nothing", func(player, server int) int {
			if player == 0 && server == 0 {
				return unprobed
			}
			return silentTo(0)(player, server)
		}, 1, false, Forecast{Silent: map[people.ID][]int{"dan": {0}}}, nil, nil, nil},
	} {
		var d Doubts
		if of.vouched {
			d.Vouch("dan")
		}
		b := world(20, four, of.rtt)
		for server, asn := range of.asn {
			b.Servers.List[server].ASN = asn
		}
		if got := d.Disputed(b, chosen(of.chosen), of.o, of.seen); !slices.Equal(got, of.want) {
			t.Errorf("%s: %v, want %v", of.name, got, of.want)
		}
	}
	var d Doubts
	if got := d.Disputed(world(20, []people.ID{"cat", "dan"}, func(player, server int) int {
		return silentTo(0)(player+2, server)
	}), chosen(1), Forecast{}, nil); got != nil {
		t.Errorf("of two players %v is disputed", got)
	}
}

// TestOverrule checks that a player is left out if far more of the others' best servers stay silent
// than by chance, in several networks, and twice.
func TestOverrule(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}
	network := func(each int) (asn []uint32) {
		for server := range 20 {
			asn = append(asn, uint32(1+server/each))
		}
		return asn
	}
	for _, of := range []struct {
		name    string
		players []people.ID
		silent  []int
		seen    []int
		asn     []uint32
		vouched bool
		before  people.ID
		want    bool
	}{
		{"nine of nine", four, all[:9], all, network(1), false, "", true},
		{"nine of nine, of unknown networks", four, all[:9], all, nil, false, "", true},
		{"of three players", four[1:], all[:9], all, nil, false, "", true},
		{"of two players", four[2:], all[:9], all, nil, false, "", false},
		{"three networks that dan does not reach", four, all[:9], all, network(3), false, "", false},
		{"three networks that dan reaches elsewhere", four, []int{0, 1, 3, 4, 6, 7}, all, network(3), false, "", true},
		{"two", four, all[:2], all, nil, false, "", false},
		{"two were looked at again", four, all[:9], all[:2], nil, false, "", false},
		{"the organiser vouches", four, all[:9], all, nil, true, "", false},
		{"every other one everywhere", four, []int{0, 2, 4, 6, 8, 10, 12, 14, 16, 18}, all, nil, false, "", false},
		{"another was left out before", four, all[:9], all, nil, false, "eve", false},
	} {
		var d Doubts
		if of.vouched {
			d.Vouch("dan")
		}
		if of.before != "" {
			a := contradicts(string(of.before))
			d.state.set(of.before, doubt{Excluded: &a})
		}
		b := world(20, of.players, func(player, server int) int {
			return silentTo(of.silent...)(player+len(four)-len(of.players), server)
		})
		for server, asn := range of.asn {
			b.Servers.List[server].ASN = asn
		}
		answers := slices.IndexFunc(all, func(server int) bool { return server > slices.Max(of.silent) })
		v := d.Overrule(b, chosen(all[answers]), append([]people.ID{"eve"}, of.players...), of.seen)
		if slices.Contains(v.LeftOut, "dan") != of.want || len(v.LeftOut) > 1 || d.IsExcluded("dan") != of.want ||
			len(v.Notes) != len(v.LeftOut) {
			t.Errorf("%s: left out are %v: %q", of.name, v.LeftOut, v.Notes)
		}
		if of.want && !strings.HasSuffix(texts(v.Notes)[0],
			"servers that would be best for the others don’t answer: that doesn’t count in the choice") {
			t.Errorf("%s: %q", of.name, v.Notes)
		}
	}
}

// TestHardlyAccident checks that fewer servers need be silent again if no accident explains the
// silence of so many.
func TestHardlyAccident(t *testing.T) {
	for _, of := range []struct {
		silent, seen int
		want         bool
	}{{15, 2, true}, {15, 1, false}, {9, 2, false}, {9, 3, true}} {
		var silent, seen []int
		for server := range of.silent {
			silent = append(silent, server)
		}
		for server := range of.seen {
			seen = append(seen, server)
		}
		var d Doubts
		if v := d.Overrule(world(60, four, silentTo(silent...)), chosen(of.silent), four, seen); len(v.LeftOut) > 0 != of.want {
			t.Errorf("%d silent, %d of them again: left out are %v", of.silent, of.seen, v.LeftOut)
		}
	}
}

// TestApart checks that a network is an AS, or the block of addresses that a provider has in one
// place.
func TestApart(t *testing.T) {
	var list []discovery.Server
	for _, s := range []struct {
		addr string
		asn  uint32
	}{{"20.1.0.1", 0}, {"20.1.9.1", 0}, {"20.2.0.1", 0}, {"20.3.0.1", 7}, {"20.4.0.1", 7}, {"2001:db8::1", 0},
		{"2001:db8:9::1", 0}, {"2001:db9::1", 0}} {
		list = append(list, discovery.Server{Addr: addrOf(s.addr), ASN: s.asn})
	}
	if got := onePerNetwork(list, []int{7, 6, 5, 4, 3, 2, 1, 0}); !slices.Equal(got, []int{7, 6, 4, 2, 1}) {
		t.Errorf("the first of each network are %v", got)
	}
}

func TestAtLeast(t *testing.T) {
	for _, tt := range []struct {
		many, n int
		p, want float64
	}{
		{0, 3, 0.5, 1}, {1, 1, 0.1, 0.1}, {3, 3, 0.02, 8e-6}, {1, 2, 0.5, 0.75}, {2, 3, 0.5, 0.5},
		{2000, 3000, 0.667, 0.526}, {2900, 3000, 0.1, 0}, // neither overflows nor vanishes
	} {
		if got := atLeast(tt.many, tt.n, tt.p); math.Abs(got-tt.want) > 0.01*tt.want {
			t.Errorf("at least %d of %d at %v: %v, want %v", tt.many, tt.n, tt.p, got, tt.want)
		}
	}
}
