package podium

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/rules"
)

var eight = roomtime.Opening

// lost is the ping of a player who got no answer, and 0 that of one who has not asked.
const lost = -1

// measured returns a basis of pings in ms, a row for each player. Every second server is in
// Germany.
func measured(pings map[string][]int) selection.Basis {
	players := slices.Sorted(maps.Keys(pings))
	listed := 0
	for _, row := range pings {
		listed = max(listed, len(row))
	}
	b := selection.Basis{Table: selection.NewTable(players, listed), Criteria: wire.Settings{}.Criteria()}
	b.Servers.Infos = map[int]*discovery.Info{}
	for server := range listed {
		b.Servers.Infos[server] = &discovery.Info{MaxPlayers: 16}
		b.Servers.List = append(b.Servers.List, discovery.Server{
			Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{8, 8, 8, byte(server + 1)}), 27015), Country: []string{"DE", "SE"}[server%2],
		})
	}
	for column, player := range players {
		for server, ms := range pings[player] {
			switch {
			case ms == lost:
				b.Table.Set(column, server, discovery.Lost, 0)
			case ms > 0:
				b.Table.Set(column, server, discovery.Answered, time.Duration(ms)*time.Millisecond)
			}
		}
	}
	return b
}

// TestRank checks that the right servers lead in the right order, and that the servers that could
// still win are counted.
func TestRank(t *testing.T) {
	all := []people.ID{"ann", "bob"}
	for _, tt := range []struct {
		name    string
		pings   map[string][]int
		players []people.ID
		change  func(b *selection.Basis)
		leaders string
		places  string // country:listed/answered/open
	}{
		{"nobody has measured anything yet", map[string][]int{"ann": {0, 0}, "bob": {0, 0}}, all, nil, "", "DE:1/0/0 SE:1/0/0"},
		{"there is nobody yet", map[string][]int{}, all, nil, "", ""},
		{"three lead of four that all have measured", map[string][]int{"ann": {40, 30, 20, 10}, "bob": {40, 30, 20, 10}}, all, nil,
			"3 [10 10]; 2 [20 20]; 1 [30 30]", "DE:2/2/1 SE:2/2/2"},
		{"those that more have measured come first", map[string][]int{"ann": {10, 40}, "bob": {0, 50}, "cat": {0, 0}},
			[]people.ID{"ann", "bob", "cat"}, nil,
			"1 nearly [40 50]; 0 nearly [10]", "DE:1/1/1 SE:1/1/1"},
		{"while no leader is complete any server could win", map[string][]int{"ann": {10, 20, 30, 200}, "bob": {0, 0, 0, 0}}, all, nil,
			"0 nearly [10]; 1 nearly [20]; 2 nearly [30]", "DE:2/2/2 SE:2/2/2"},
		{"then those that most have measured", map[string][]int{"ann": {20, 10, 0, 5}, "bob": {20, 0, 30, 0}}, all, nil,
			"0 [20 20]; 3 nearly [5]; 1 nearly [10]", "DE:2/2/2 SE:2/2/2"},
		{"of servers that as many have measured the nearest",
			map[string][]int{"ann": {0, 20, 10}, "bob": {30, 0, 0}, "cat": {0, 0, 0}}, []people.ID{"ann", "bob", "cat"}, nil,
			"2 nearly [10]; 1 nearly [20]; 0 nearly [30]", "DE:2/2/2 SE:1/1/1"},
		{"one that is lost for somebody never leads", map[string][]int{"ann": {10, 20}, "bob": {lost, 0}}, all, nil,
			"1 nearly [20]", "DE:1/1/0 SE:1/1/1"},
		{"nor does one without seats for all", map[string][]int{"ann": {10, 20}, "bob": {0, 0}}, all, func(b *selection.Basis) {
			b.Servers.Infos[0] = &discovery.Info{MaxPlayers: 16, Players: 15}
		}, "1 nearly [20]", "DE:1/1/0 SE:1/1/1"},
		{"whoever has measured nothing needs a seat", map[string][]int{"ann": {10, 20}, "bob": {0, 0}},
			[]people.ID{"ann", "bob", "cat"}, func(b *selection.Basis) {
				b.Servers.Infos[0] = &discovery.Info{MaxPlayers: 16, Players: 14}
			}, "1 nearly [20]", "DE:1/1/0 SE:1/1/1"},
		{"two seats are enough for two", map[string][]int{"ann": {10, 20}, "bob": {0, 0}}, all, func(b *selection.Basis) {
			b.Servers.Infos[0] = &discovery.Info{MaxPlayers: 16, Players: 14}
		}, "0 nearly [10]; 1 nearly [20]", "DE:1/1/1 SE:1/1/1"},
		{"nor does one that the group does not want", map[string][]int{"ann": {10, 20}, "bob": {0, 0}}, all, func(b *selection.Basis) {
			b.Criteria.Blacklist = []netip.Prefix{netip.MustParsePrefix("8.8.8.1/32")}
		}, "1 nearly [20]", "DE:1/1/1 SE:1/1/1"},
		{"what is too far for one who measured it cannot win", map[string][]int{"ann": {10, 200}, "bob": {10, 0}}, all, nil,
			"0 [10 10]; 1 nearly [200]", "DE:1/1/1 SE:1/1/1"},
		{"behind three that all have measured it is no leader",
			map[string][]int{"ann": {10, 11, 12, 200, 5}, "bob": {10, 11, 12, 0, 0}}, all, nil,
			"0 [10 10]; 1 [11 11]; 2 [12 12]", "DE:3/3/3 SE:2/2/1"},
	} {
		b := measured(tt.pings)
		if tt.change != nil {
			tt.change(&b)
		}
		ranking := Rank(b, tt.players)
		var p Podium
		p.Show(ranking, nil, 0, eight)
		var leaders, places []string
		answered := 0
		for i, l := range p.View(1, nil).Leaders {
			text := fmt.Sprint(l.ID)
			if !l.Complete {
				text += " nearly"
			}
			var rtts []float64
			for _, player := range slices.Sorted(maps.Keys(l.RTT)) {
				rtts = append(rtts, l.RTT[player])
			}
			leaders = append(leaders, fmt.Sprint(text, " ", rtts))
			if ranking.Servers()[i] != l.ID {
				t.Errorf("%s: the servers are %v", tt.name, ranking.Servers())
			}
		}
		for _, place := range p.View(1, nil).Places {
			places = append(places, fmt.Sprintf("%s:%d/%d/%d", place.Country, place.Listed, place.Answered, place.Open))
			answered += place.Answered
		}
		if got := strings.Join(leaders, "; "); got != tt.leaders {
			t.Errorf("%s: %s lead, want %s", tt.name, got, tt.leaders)
		}
		if got := strings.Join(places, " "); got != tt.places || answered != p.View(1, nil).Answered {
			t.Errorf("%s: places %s, answered %d, want %s", tt.name, got, p.View(1, nil).Answered, tt.places)
		}
	}
}

// TestFigures checks that a leader has the figures of those who have measured it, and its card.
func TestFigures(t *testing.T) {
	b := measured(map[string][]int{"ann": {10, 40, 0}, "bob": {30, 20, 50}, "cat": {20, 30, 70}})
	b.Criteria.By = rules.LeastSacrifice
	b.Servers.Infos[0] = &discovery.Info{Name: "Alpha", Map: "dust", MaxPlayers: 16}
	var p Podium
	p.Show(Rank(b, []people.ID{"ann", "bob", "cat"}), nil, 0, eight)
	leaders := p.View(7, nil).Leaders
	first, last := leaders[0], leaders[2]
	if first.Name != "Alpha" || first.Map != "dust" || first.Country != "DE" || first.MeanMS != 20 ||
		first.MaxMS != 30 || first.StdevMS == 0 || first.ExtraMS == nil || *first.ExtraMS != 10 {
		t.Errorf("it leads as %+v", first)
	}
	if last.MeanMS != 60 || last.MaxMS != 70 || last.ExtraMS != nil || last.Complete {
		t.Errorf("one that not all have measured is shown as %+v", last)
	}
	if p.View(7, nil).Round != 7 {
		t.Errorf("it is of round %d", p.View(7, nil).Round)
	}
}

// TestSidesLead checks that leaders have the means of two sides, and that a server counts as one that
// could still win while a missing ping may make it even.
func TestSidesLead(t *testing.T) {
	all := []people.ID{"ann", "bob", "cat"}
	for _, tt := range []struct {
		name  string
		last  []int // the pings of a server that cat has not measured
		sides map[string]selection.Side
		open  int
	}{
		{"cat may make it even", []int{20, 45}, map[string]selection.Side{"ann": selection.SideA, "bob": selection.SideB, "cat": selection.SideB}, 4},
		{"whatever cat has, b is too far", []int{20, 170}, map[string]selection.Side{"ann": selection.SideA, "bob": selection.SideB, "cat": selection.SideB}, 3},
		{"cat is on neither side", []int{20, 70}, map[string]selection.Side{"ann": selection.SideA, "bob": selection.SideB}, 3},
		{"one side is empty", []int{20, 70}, map[string]selection.Side{"ann": selection.SideA}, 4},
	} {
		b := measured(map[string][]int{"ann": {30, 40, 35, tt.last[0]}, "bob": {50, 60, 55, tt.last[1]}, "cat": {30, 30, 30, 0}})
		b.Criteria.By, b.Criteria.Sides = rules.EvenSides, tt.sides
		var p Podium
		p.Show(Rank(b, all), nil, 0, eight)
		open := 0
		for _, place := range p.View(1, nil).Places {
			open += place.Open
		}
		if open != tt.open {
			t.Errorf("%s: %d could win, want %d", tt.name, open, tt.open)
		}
	}
}

// TestPredicted checks that pages see the search's forecast for players who have not asked a
// leader.
func TestPredicted(t *testing.T) {
	b := measured(map[string][]int{"ann": {10}, "bob": {0}})
	ms := time.Millisecond
	forecast := map[people.ID]time.Duration{"ann": 12 * ms, "bob": 21600 * time.Microsecond, "cat": ms / 10, "dan": 40 * ms}
	for _, tt := range []struct {
		name     string
		players  []people.ID
		forecast map[people.ID]time.Duration
		want     string
	}{
		{"in whole ms", []people.ID{"ann", "bob"}, forecast, "map[bob:22]"},
		{"at least one, for a player who has measured nothing", []people.ID{"ann", "bob", "cat"}, forecast, "map[bob:22 cat:1]"},
		{"not of one whom the round goes on without", []people.ID{"ann"}, forecast, "map[]"},
		{"of nobody whom the search knows nothing of", []people.ID{"ann", "bob"}, map[people.ID]time.Duration{}, "map[]"},
		{"without a search", []people.ID{"ann", "bob"}, nil, "map[]"},
	} {
		var p Podium
		p.Show(Rank(b, tt.players), map[int]map[people.ID]time.Duration{0: tt.forecast}, 0, eight)
		if got := fmt.Sprint(p.View(1, nil).Leaders[0].Predicted); got != tt.want {
			t.Errorf("%s: %s is predicted, want %s", tt.name, got, tt.want)
		}
	}
	b = measured(map[string][]int{"ann": {10}, "bob": {lost}})
	if got := Rank(b, []people.ID{"ann", "bob"}).predict(0, forecast); len(got) != 0 {
		t.Errorf("of a player who asked in vain %v is predicted", got)
	}
}

// TestView checks that pages see names, and that the next look has them again.
func TestView(t *testing.T) {
	var p Podium
	forecasts := map[int]map[people.ID]time.Duration{0: {"2": 20 * time.Millisecond}}
	p.Show(Rank(measured(map[string][]int{"1": {10}, "2": {0}}), []people.ID{"1", "2"}), forecasts, 0, eight)
	for _, ann := range []string{"ann", "anna"} {
		leader := p.View(1, people.NewNames(map[people.ID]string{"1": ann, "2": "bob"})).Leaders[0]
		if leader.RTT[ann] != 10 || len(leader.RTT) != 1 || leader.Predicted["bob"] != 20 || len(leader.Predicted) != 1 {
			t.Errorf("it leads as %+v", leader)
		}
	}
}

// TestNames checks that players are asked for the name of a leader that has none, and again after a
// while.
func TestNames(t *testing.T) {
	b := measured(map[string][]int{"ann": {10, 20, 30}, "bob": {0, 0, 0}})
	b.Servers.Infos[1] = &discovery.Info{Name: "Beta", MaxPlayers: 16}
	delete(b.Servers.Infos, 2) // nobody has reported its facts
	ranking := Rank(b, []people.ID{"ann"})
	var p Podium
	for _, tt := range []struct {
		after time.Duration
		want  string
	}{{0, "[0 2]"}, {nameAgain - 1, "[]"}, {nameAgain, "[0 2]"}, {nameAgain + time.Second, "[]"}} {
		if got := fmt.Sprint(p.Show(ranking, nil, 0, eight.Add(tt.after))); got != tt.want {
			t.Errorf("after %v names are asked for of %s, want %s", tt.after, got, tt.want)
		}
	}
}

// TestDue checks that rankings become rarer as there is more to rank.
func TestDue(t *testing.T) {
	var p Podium
	if !p.IsDue(eight) || p.View(1, nil) != nil {
		t.Error("the first look is not due, or something is seen before it")
	}
	for _, tt := range []struct {
		results int
		rest    time.Duration
	}{{0, every}, {1000, every}, {1_000_000, 4 * time.Second}} {
		p.Show(Rank(measured(nil), nil), nil, tt.results, eight)
		if p.IsDue(eight.Add(tt.rest-1)) || !p.IsDue(eight.Add(tt.rest)) {
			t.Errorf("a look at %d results is not due again after %v", tt.results, tt.rest)
		}
	}
}
