package scout_test

import (
	"slices"
	"testing"

	. "muster/selection/scout"
)

// cities are places by name; the tests speak of their numbers.
const (
	lisbon = iota
	paris
	frankfurt
	warsaw
	helsinki
	newYork
	chicago
	seattle
	losAngeles
	saoPaulo
	lagos
	johannesburg
	mumbai
	singapore
	tokyo
	sydney
)

var cities = []Place{
	{38.7, -9.1}, {48.9, 2.4}, {50.1, 8.7}, {52.2, 21}, {60.2, 24.9},
	{40.7, -74}, {41.9, -87.6}, {47.6, -122.3}, {34.1, -118.2}, {-23.6, -46.6},
	{6.5, 3.4}, {-26.2, 28}, {19.1, 72.9}, {1.4, 103.8}, {35.7, 139.7}, {-33.9, 151.2},
}

func pings(known map[int]float64) []float64 {
	all := make([]float64, len(cities))
	for at, ping := range known {
		all[at] = ping
	}
	return all
}

func TestNext(t *testing.T) {
	berlin, ohio := Place{52.5, 13.4}, Place{40, -83}
	far := map[int]float64{newYork: 95, saoPaulo: 210, tokyo: 240, sydney: 290, johannesburg: 170, seattle: 150}
	with := func(more map[int]float64) []float64 {
		all := pings(far)
		for at, ping := range more {
			all[at] = ping
		}
		return all
	}
	worst := slices.Max[[]float64]
	for _, test := range []struct {
		name    string
		players []Player
		cost    func([]float64) float64
		n       int
		want    [][]int // each in any order
	}{
		{"nobody", nil, nil, 4, [][]int{}},
		{"who is in Germany asks near", []Player{{At: berlin}}, nil, 2, [][]int{{frankfurt, warsaw}}},
		{"a group across the ocean by the average, near either",
			[]Player{{At: berlin}, {At: ohio}, {At: ohio}}, nil, 2, [][]int{{chicago, newYork}, {chicago, newYork}, {chicago, newYork}}},
		{"by the worst, between the two", []Player{{At: berlin}, {At: ohio}, {At: ohio}}, worst, 2,
			[][]int{{newYork, lisbon}, {newYork, lisbon}, {newYork, lisbon}}},
		{"far places tell where a player is", []Player{{At: ohio, Pings: with(map[int]float64{lisbon: 48, helsinki: 38})}}, nil, 2,
			[][]int{{frankfurt, paris}}},
		{"known places are not asked again", []Player{{At: berlin, Pings: pings(map[int]float64{frankfurt: 15, warsaw: -1})}}, nil, 1,
			[][]int{{paris}}},
		{"one who rests is counted, and not asked", []Player{{At: berlin, Rests: true}, {At: berlin}}, nil, 2,
			[][]int{nil, {frankfurt, warsaw}}},
		{"one of two is behind", []Player{{At: berlin, Pings: pings(map[int]float64{frankfurt: 15})}, {At: berlin}}, nil, 2,
			[][]int{{warsaw}, {frankfurt, warsaw}}},
		{"a place that is silent for one is not worth asking the others", []Player{
			{At: berlin, Pings: pings(map[int]float64{frankfurt: -1, warsaw: 20})}, {At: berlin}}, nil, 2, [][]int{{paris}, {warsaw, paris}}},
	} {
		got := Next(cities, test.players, test.cost, test.n)
		if len(got) != len(test.want) {
			t.Errorf("%s: %v", test.name, got)
			continue
		}
		for i := range got {
			slices.Sort(got[i])
			slices.Sort(test.want[i])
			if !slices.Equal(got[i], test.want[i]) {
				t.Errorf("%s: player %d asks %v, want %v", test.name, i, got[i], test.want[i])
			}
		}
	}
}

// TestSpread checks that a player of whom nothing is known begins with places far apart, in the same order always,
// and with those whose position nobody knows.
func TestSpread(t *testing.T) {
	places := append(slices.Clone(cities), Place{})
	got := Next(places, []Player{{}}, nil, 100)[0]
	if len(got) != Spread+1 || got[0] != len(cities) {
		t.Fatalf("asks %v", got)
	}
	for _, pair := range [][]int{{paris, frankfurt}, {newYork, chicago}, {seattle, losAngeles}, {warsaw, helsinki}} {
		if slices.Contains(got, pair[0]) && slices.Contains(got, pair[1]) {
			t.Errorf("asks %v, with the neighbours %v", got, pair)
		}
	}
	if again := Next(places, []Player{{}}, nil, 100)[0]; !slices.Equal(got, again) {
		t.Errorf("asks %v, then %v", got, again)
	}
	p := Player{Pings: make([]float64, len(places))}
	for _, at := range got[:Spread] {
		p.Pings[at] = -1
	}
	if rest := Next(places, []Player{p}, nil, 3)[0]; !slices.Equal(rest, got[Spread:]) {
		t.Errorf("the rest is %v, want %v", rest, got[Spread:])
	}
}

// TestEnds checks that everybody has asked all places in the end, none twice.
func TestEnds(t *testing.T) {
	players := []Player{{}, {At: Place{1, 1}}}
	for i := range players {
		players[i].Pings = make([]float64, len(cities))
	}
	for round := 0; ; round++ {
		next, asked := Next(cities, players, nil, 3), 0
		for i, places := range next {
			for _, at := range places {
				if players[i].Pings[at] != 0 {
					t.Fatalf("player %d asks %d again", i, at)
				}
				players[i].Pings[at], asked = float64(10+at), asked+1
			}
		}
		if asked == 0 {
			break
		}
		if round > 2*len(cities) {
			t.Fatal("no end")
		}
	}
	for i := range players {
		if slices.Contains(players[i].Pings, 0) {
			t.Errorf("player %d has %v", i, players[i].Pings)
		}
	}
}

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
