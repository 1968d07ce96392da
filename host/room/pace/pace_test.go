package pace_test

import (
	"slices"
	"testing"
	"time"

	"muster/host/room/pace"
	"muster/host/room/people"
	"muster/host/room/roomtime"
)

var eight = roomtime.Opening

// line is a player's line: the answers of each second, for ever the last one. The player is asked for
// so many servers at first, and keeps up to three questions once it lags.
type line struct {
	player people.ID
	asked  int
	rates  []float64
	silent int // servers that answer nobody, given up after three seconds
}

// plays lets players answer for ten seconds. It returns when each began to lag and was called slow.
func plays(t *testing.T, lines ...line) (lags, slow map[people.ID]time.Duration) {
	t.Helper()
	var p pace.Pace
	lags, slow = map[people.ID]time.Duration{}, map[people.ID]time.Duration{}
	owing, told, progress := map[people.ID]float64{}, map[people.ID]int{}, map[people.ID]float64{}
	for _, l := range lines {
		owing[l.player] = float64(l.asked + l.silent)
	}
	for at := time.Duration(0); at <= 10*time.Second; at += 100 * time.Millisecond {
		var players []pace.Player
		for _, l := range lines {
			rate := l.rates[min(int(at.Seconds()), len(l.rates)-1)]
			progress[l.player] = min(progress[l.player]+rate/10, owing[l.player]-float64(l.silent))
			if at == 3*time.Second && l.silent > 0 {
				told[l.player], owing[l.player] = told[l.player]+l.silent, owing[l.player]-float64(l.silent)
			}
			done := int(progress[l.player])
			progress[l.player] -= float64(done)
			told[l.player], owing[l.player] = told[l.player]+done, owing[l.player]-float64(done)
			players = append(players, pace.Player{ID: l.player, Answers: told[l.player], Owing: int(owing[l.player])})
		}
		lagging, _, late := p.Note(eight.Add(at), players)
		for _, player := range lagging {
			lags[player], owing[player] = at, 3
		}
		for _, player := range late {
			slow[player] = at
		}
		for _, l := range lines {
			if p.Lags(l.player) { // the next finalists
				owing[l.player] = 3
			}
		}
	}
	return lags, slow
}

// TestSlow checks who is called slow: a player below a tenth of the others' pace for five seconds, and
// nobody else.
func TestSlow(t *testing.T) {
	fast := func(player people.ID) line { return line{player: player, asked: 46, rates: []float64{200}} }
	slow := func(player people.ID) line { return line{player: player, asked: 46, rates: []float64{1}} }
	for _, tt := range []struct {
		name  string
		lines []line
		slow  []people.ID
	}{
		{"a server a second", []line{fast("ann"), fast("bob"), fast("cem"), slow("dot")}, []people.ID{"dot"}},
		{"two players", []line{fast("ann"), slow("dot")}, []people.ID{"dot"}},
		{"two of four", []line{fast("ann"), fast("bob"), slow("cem"), slow("dot")}, []people.ID{"cem", "dot"}},
		{"everybody", []line{slow("ann"), slow("bob"), slow("cem")}, nil},
		{"alone", []line{slow("ann")}, nil},
		{"a router of thirty a second", []line{fast("ann"), fast("bob"), {player: "dot", asked: 200, rates: []float64{30}}}, nil},
		{"a phone that stalls for three seconds", []line{fast("ann"), fast("bob"), {player: "dot", asked: 46, rates: []float64{20, 0, 0, 0, 40}}}, nil},
		{"lost packets", []line{fast("ann"), fast("bob"), {player: "dot", asked: 43, silent: 3, rates: []float64{200}}}, nil},
		{"half of the list is silent to all", []line{
			{player: "ann", asked: 23, silent: 23, rates: []float64{200}}, {player: "dot", asked: 23, silent: 23, rates: []float64{100}},
		}, nil},
		{"nothing yet, as while the list comes", []line{fast("ann"), {player: "dot", asked: 46, rates: []float64{0}}}, nil},
	} {
		_, called := plays(t, tt.lines...)
		var players []people.ID
		for player, at := range called {
			if players = append(players, player); at < 5*time.Second || at > 6500*time.Millisecond {
				t.Errorf("%s: %s is called slow after %v", tt.name, player, at)
			}
		}
		if slices.Sort(players); !slices.Equal(players, tt.slow) {
			t.Errorf("%s: slow are %q, want %q", tt.name, players, tt.slow)
		}
	}
}
