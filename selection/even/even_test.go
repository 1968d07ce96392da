package even

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"muster/selection/rules"
)

// TestDelays checks the delays of small matches.
func TestDelays(t *testing.T) {
	const a, b, neither = rules.SideA, rules.SideB, rules.Neither
	for name, tt := range map[string]struct {
		players []Player
		want    []Delay
	}{
		"two sides":        {[]Player{{20, a}, {40, a}, {50, b}, {70, b}}, []Delay{{30, 50}, {30, 30}, {0, 20}, {0, 0}}},
		"b is faster":      {[]Player{{50, a}, {20, b}, {20.6, b}}, []Delay{{0, 0}, {30, 30}, {30, 29}}},
		"even":             {[]Player{{20, a}, {20, b}}, []Delay{{0, 0}, {0, 0}}},
		"one side alone":   {[]Player{{20, a}, {50, a}}, []Delay{{0, 30}, {0, 0}}},
		"a caster":         {[]Player{{20, a}, {30, b}, {200, neither}}, []Delay{{10, 10}, {0, 0}, {0, 0}}},
		"nobody":           {nil, []Delay{}},
		"sides of 3 and 1": {[]Player{{10, a}, {20, a}, {30, a}, {60, b}}, []Delay{{40, 50}, {40, 40}, {40, 30}, {0, 0}}},
	} {
		if got := Delays(tt.players); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// TestEven checks that the delays make random matches even, to a millisecond.
func TestEven(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		players := []Player{{5 + 300*dice.Float64(), rules.SideA}, {5 + 300*dice.Float64(), rules.SideB}}
		for range dice.IntN(8) {
			players = append(players, Player{5 + 300*dice.Float64(), []rules.Side{rules.SideA, rules.SideB}[dice.IntN(2)]})
		}
		var total, count [rules.SideB + 1]float64
		least, most, slowest := math.Inf(1), 0.0, 0.0
		for i, d := range Delays(players) {
			p := players[i]
			if d.Sides < 0 || d.All < 0 {
				t.Fatalf("%v of %v", d, p)
			}
			total[p.Side] += p.PingMS + float64(d.Sides)
			count[p.Side]++
			all := p.PingMS + float64(d.All)
			least, most, slowest = min(least, all), max(most, all), max(slowest, p.PingMS)
		}
		if apart := math.Abs(total[rules.SideA]/count[rules.SideA] - total[rules.SideB]/count[rules.SideB]); apart > 1 {
			t.Fatalf("%v: the sides are %v ms apart", players, apart)
		}
		if most-least > 1 || most > slowest+1 {
			t.Fatalf("%v: players are from %v to %v ms", players, least, most)
		}
	}
}

// TestCorrect checks single corrections.
func TestCorrect(t *testing.T) {
	const a, b, neither = rules.SideA, rules.SideB, rules.Neither
	for name, tt := range map[string]struct {
		players []Playing
		want    []int
	}{
		"it rises slowly":            {[]Playing{{a, 20, 40, true}, {b, 0, 90, false}}, []int{30, 0}},
		"it falls at once":           {[]Playing{{a, 80, 140, true}, {b, 0, 90, false}}, []int{30, 0}},
		"never below zero":           {[]Playing{{a, 20, 140, true}, {b, 0, 90, false}}, []int{0, 0}},
		"at most 150":                {[]Playing{{a, 145, 160, true}, {b, 0, 400, false}}, []int{150, 0}},
		"close enough":               {[]Playing{{a, 20, 88, true}, {b, 0, 90, false}}, []int{20, 0}},
		"averages":                   {[]Playing{{b, 20, 40, true}, {b, 10, 60, true}, {a, 0, 50, false}, {a, 0, 62, false}}, []int{26, 16, 0, 0}},
		"one is not told":            {[]Playing{{a, 20, 80, true}, {a, 25, 0, true}, {b, 0, 90, false}}, []int{30, 25, 0}},
		"a side is not told":         {[]Playing{{a, 20, 80, true}, {b, 0, 0, false}}, []int{20, 0}},
		"a caster":                   {[]Playing{{a, 20, 84, true}, {b, 0, 90, false}, {neither, 0, 300, true}}, []int{26, 0, 0}},
		"one has no way to add more": {[]Playing{{a, 0, 40, false}, {a, 20, 60, true}, {b, 0, 54, false}}, []int{0, 24, 0}},
	} {
		if got := Correct(tt.players); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// TestCorrectSettles corrects matches whose measured pings were wrong, by what a status with noise
// tells: within eight minutes the sides are even, and the delays stay in bounds.
func TestCorrectSettles(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 3))
	for match := range 300 {
		var game []float64 // the pings that the game tells without delays
		var players []Playing
		for i := range 10 {
			side, near := rules.SideA, i < 5
			if !near {
				side = rules.SideB
			}
			ms := 20 + 20*dice.Float64()
			if !near {
				ms += 10 + 60*dice.Float64()
			}
			game = append(game, ms+8+12*dice.Float64())
			players = append(players, Playing{Side: side, DelayMS: dice.IntN(60), CanAdd: near})
			if !near {
				players[i].DelayMS = 0
			}
		}
		apart := func() float64 {
			var mean [2]float64
			for i, p := range players {
				mean[i/5] += (game[i] + float64(p.DelayMS)) / 5
			}
			return math.Abs(mean[0] - mean[1])
		}
		for range 8 {
			for i := range players {
				players[i].StatusMS = whole(game[i] + float64(players[i].DelayMS) + 2*dice.NormFloat64())
			}
			for i, ms := range Correct(players) {
				if ms < 0 || ms > MaxAdded || ms > players[i].DelayMS+maxRise || !players[i].CanAdd && ms != 0 {
					t.Fatalf("match %d: player %d goes from %d to %d ms", match, i, players[i].DelayMS, ms)
				}
				players[i].DelayMS = ms
			}
		}
		if apart() > 5 {
			t.Errorf("match %d: the sides are %.1f ms apart", match, apart())
		}
	}
}
