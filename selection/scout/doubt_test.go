package scout_test

import (
	"slices"
	"testing"

	. "muster/selection/scout"
)

func TestDoubts(t *testing.T) {
	honest := map[int]float64{lisbon: 48, paris: 22, frankfurt: 14, warsaw: 16, helsinki: 30, newYork: 95, tokyo: 240, sydney: 290}
	but := func(known map[int]float64, more map[int]float64) Player {
		all := pings(known)
		for at, ping := range more {
			all[at] = ping
		}
		return Player{Pings: all}
	}
	tokyos := map[int]float64{frankfurt: 240, warsaw: 250, newYork: 170, seattle: 100, losAngeles: 105, singapore: 75, tokyo: 4, sydney: 115}
	// What a transparent proxy in Australia told a program that timed connections to a cloud's regions.
	proxied := map[int]float64{}
	for at := range cities {
		proxied[at] = 5
	}
	for _, test := range []struct {
		name    string
		players []Player
		want    []Doubt
	}{
		{"nobody", nil, nil},
		{"honest ones", []Player{but(honest, nil), but(tokyos, nil)}, nil},
		{"nothing answers", []Player{but(map[int]float64{paris: -1, tokyo: -1}, nil)}, nil},
		{"a proxy answers for the world", []Player{but(proxied, nil), but(honest, nil)}, []Doubt{{0, -1, LineAnswers}}},
		{"one ping of two is made up", []Player{but(map[int]float64{paris: 20, tokyo: 20}, nil)}, []Doubt{{0, -1, LineAnswers}}},
		{"a far place is near for one alone", []Player{but(honest, map[int]float64{sydney: 5})}, []Doubt{{-1, sydney, NearEverybody}}},
		{"and for another elsewhere", []Player{but(honest, map[int]float64{lagos: 8}), but(tokyos, map[int]float64{lagos: 6})},
			[]Doubt{{-1, lagos, NearEverybody}}},
		{"near where it should be, and elsewhere", []Player{but(tokyos, nil), but(tokyos, map[int]float64{frankfurt: 6})},
			[]Doubt{{-1, frankfurt, NearEverybody}}},
		{"too near for one of many", []Player{but(tokyos, nil), but(tokyos, nil), but(tokyos, map[int]float64{frankfurt: 6})},
			[]Doubt{{2, frankfurt, TooShort}}},
		{"two of many", []Player{but(honest, map[int]float64{sydney: 5, saoPaulo: 7})},
			[]Doubt{{-1, saoPaulo, NearEverybody}, {-1, sydney, NearEverybody}}},
	} {
		if got := Doubts(cities, test.players); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
