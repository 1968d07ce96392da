package scout

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkNext takes the largest room, whose players have measured two thirds of what they may.
func BenchmarkNext(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	places := make([]Place, 96)
	for i := range places {
		places[i] = Place{rng.Float64()*120 - 60, rng.Float64()*360 - 180}
	}
	players := make([]Player, 64)
	for i := range players {
		players[i].Pings = make([]float64, len(places))
		for range 16 {
			players[i].Pings[rng.IntN(len(places))] = 20 + 200*rng.Float64()
		}
	}
	for b.Loop() {
		Next(places, players, nil, 8)
	}
}
