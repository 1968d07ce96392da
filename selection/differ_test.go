package selection_test

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/selection"
)

// serverAddr is the address of a server of these tests.
func serverAddr(server int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(server)}), 27960)
}

// rankedOf returns a server with pings of ann, ben, cat, and so on. Its number is its index, and the
// end of its address.
func rankedOf(server int, pings ...float64) selection.Ranked {
	r := selection.Ranked{Server: server, Addr: hostport.At(serverAddr(server)), RTT: map[string]float64{}}
	for i, ms := range pings {
		r.RTT[[]string{"ann", "ben", "cat", "dan"}[i]] = ms
		r.MeanMS += ms / float64(len(pings))
		r.MaxMS = math.Max(r.MaxMS, ms)
	}
	r.Score = r.MeanMS
	return r
}

func ours(r selection.Ranked) selection.Ranked { r.Ours = true; return r }

// TestAlternatives checks which servers are worth a vote, what each is named for, and what it costs whom.
func TestAlternatives(t *testing.T) {
	for _, tt := range []struct {
		name    string
		by      selection.Rule
		ranking []selection.Ranked // the pick first
		want    string
	}{
		{"one server", selection.Mean, []selection.Ranked{rankedOf(0, 20, 30)}, "0 average 25"},
		{"one player", selection.Mean, []selection.Ranked{rankedOf(0, 20), rankedOf(1, 40)}, "0 average 20"},
		{"the best in every way", selection.Mean, []selection.Ranked{rankedOf(0, 20, 30), rankedOf(1, 40, 60)}, "0 average 25"},
		{"fair by gaining nobody anything", selection.Mean, []selection.Ranked{rankedOf(0, 20, 30), rankedOf(1, 24, 27)}, "0 average 25"},
		{"kinder by 5 ms, and fairer", selection.Mean, []selection.Ranked{rankedOf(0, 10, 60), rankedOf(1, 30, 55)},
			"0 average 35 ben pays 5, 1 fairest 25 ann pays 20"},
		{"kinder by 4.9 ms is not, and fairer helps nobody", selection.Mean, []selection.Ranked{rankedOf(0, 10, 60), rankedOf(1, 30, 55.1)},
			"0 average 35"},
		{"fair by being bad for all is nothing", selection.Mean, []selection.Ranked{rankedOf(0, 10, 60), rankedOf(1, 280, 281)}, "0 average 35"},
		{"fairest and kindest are two", selection.Mean, []selection.Ranked{rankedOf(0, 10, 100, 10), rankedOf(1, 5, 60, 70), rankedOf(2, 80, 85, 90)},
			"0 average 40 ben pays 40, 2 fairest 10 cat pays 80, 1 kindest 70 cat pays 60"},
		{"the fairest is hardly fairer than the kindest", selection.Mean,
			[]selection.Ranked{rankedOf(0, 10, 100, 10), rankedOf(1, 50, 60, 64), rankedOf(2, 80, 85, 90)},
			"0 average 40 ben pays 15, 2 fairest 10 cat pays 80"},
		{"the best for most", selection.Mean, []selection.Ranked{rankedOf(0, 30, 30, 30), rankedOf(1, 10, 10, 90)},
			"0 average 30 ann pays 20, 1 for-most of 2 cat pays 60"},
		{"for half is not for most", selection.Mean, []selection.Ranked{rankedOf(0, 30, 30, 30, 30), rankedOf(1, 10, 10, 90, 90)}, "0 average 30"},
		{"hardly the best for most", selection.Mean, []selection.Ranked{rankedOf(0, 14, 14, 30), rankedOf(1, 10, 10, 90)}, "0 average 19.3"},
		{"one of ours", selection.Mean, []selection.Ranked{rankedOf(0, 10, 30), ours(rankedOf(1, 20, 40)), ours(rankedOf(2, 21, 41))},
			"0 average 20, 1 ours ann pays 10"},
		{"ours is the pick", selection.Mean, []selection.Ranked{ours(rankedOf(0, 10, 30)), ours(rankedOf(1, 20, 40))}, "0 average 20"},
		{"ours is the fairest", selection.Mean, []selection.Ranked{rankedOf(0, 10, 30), ours(rankedOf(1, 20, 20))},
			"0 average 20 ben pays 10, 1 fairest 0 ann pays 10"},
		{"the pick is not the lowest average", selection.Mean, []selection.Ranked{ours(rankedOf(0, 30, 40)), rankedOf(1, 20, 30)},
			"0 ours ann pays 10, 1 average 25"},
		{"the kindest is the pick", selection.Minimax, []selection.Ranked{rankedOf(0, 50, 50), rankedOf(1, 5, 60)},
			"0 kindest 50 ann pays 45, 1 average 32.5 ben pays 10"},
		{"the fairest is the pick", selection.Fairness, []selection.Ranked{rankedOf(0, 50, 50), rankedOf(1, 5, 40)},
			"0 fairest 0 ann pays 45, 1 average 22.5"},
		{"another rule", selection.LeastSacrifice, []selection.Ranked{rankedOf(0, 30, 40), rankedOf(1, 10, 50)},
			"0 rule ann pays 20, 1 average 30 ben pays 10"},
		{"at most four", selection.Minimax, []selection.Ranked{rankedOf(0, 74, 60, 74), rankedOf(1, 10, 10, 110), rankedOf(2, 69, 70, 70),
			rankedOf(3, 1, 1, 170), ours(rankedOf(4, 65, 65, 75))},
			"0 kindest 74 ann pays 73, 1 average 43.3 cat pays 36, 2 fairest 1 ben pays 10, 3 for-most of 2 cat pays 96"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 5 { // whatever the order of the maps
				var got []string
				for _, a := range selection.Alternatives(tt.by, tt.ranking[0], tt.ranking) {
					text := fmt.Sprint(a.Server, " ", a.Kind)
					if a.GainMS > 0 || a.Kind == selection.Fairest {
						text += fmt.Sprint(" ", a.GainMS)
					}
					if a.Players > 0 {
						text += fmt.Sprint(" of ", a.Players)
					}
					if a.Payer != "" {
						text += fmt.Sprint(" ", a.Payer, " pays ", a.CostMS)
					}
					if got = append(got, text); a.Addr.AddrPort != serverAddr(a.Server) {
						t.Errorf("server %d is at %v", a.Server, a.Addr)
					}
				}
				if text := strings.Join(got, ", "); text != tt.want {
					t.Fatalf("the choices are\n%s, want\n%s", text, tt.want)
				}
			}
		})
	}
}

// TestDescribe checks what a server costs that is named for nothing any more.
func TestDescribe(t *testing.T) {
	a := selection.AlternativeOf(rankedOf(1, 30, 55), rankedOf(0, 10, 60))
	if want := (selection.Alternative{Addr: hostport.At(serverAddr(1)), Kind: selection.Also, Payer: "ann", CostMS: 20, Server: 1}); a != want {
		t.Errorf("it is %+v, want %+v", a, want)
	}
}

// TestDifferingRanking checks that the ranking has the best server of each kind, however short it
// is, if the criteria want them.
func TestDifferingRanking(t *testing.T) {
	table := selection.NewTable([]string{"ann", "ben"}, 40)
	servers := selection.Servers{Infos: map[int]*discovery.Info{}}
	for server := range 40 {
		ann, ben := 10+server/8, 60+server/8
		if server == 33 {
			ann, ben = 40, 55
		}
		if server == 35 {
			ann, ben = 54, 55
		}
		table.Set(0, server, discovery.Answered, time.Duration(ann)*time.Millisecond)
		table.Set(1, server, discovery.Answered, time.Duration(ben)*time.Millisecond)
		servers.List = append(servers.List, discovery.Server{Addr: hostport.At(serverAddr(server)).AddrPort})
		servers.Infos[server] = &discovery.Info{MaxPlayers: 16}
	}
	for _, tt := range []struct {
		criteria selection.Criteria
		want     []int
	}{
		{selection.Criteria{Top: 3}, []int{0, 1, 2}},
		{selection.Criteria{Top: 1, Differing: true}, []int{0}},
		{selection.Criteria{Top: 3, Differing: true}, []int{0, 1, 2, 33, 35}},
		{selection.Criteria{Top: 3, Differing: true, Limits: []time.Duration{9 * time.Millisecond}}, nil},
	} {
		var got []int
		for _, r := range selection.Select(servers, table, tt.criteria).Ranking {
			got = append(got, r.Server)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%+v ranks %v, want %v", tt.criteria, got, tt.want)
		}
	}
}
