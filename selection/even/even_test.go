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
