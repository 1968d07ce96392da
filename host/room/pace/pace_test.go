package pace_test

import (
	"slices"
	"testing"
	"time"

	"muster/host/room/pace"
	"muster/host/room/roomtime"
)

var eight = roomtime.Opening

// line is a player's line: the answers of each second, for ever the last one. The player is asked for
// so many servers at first, and keeps up to three questions once it lags.
type line struct {
	name   string
	asked  int
	rates  []float64
	silent int // servers that answer nobody, given up after three seconds
}

// plays lets players answer for ten seconds. It returns when each began to lag and was called slow.
func plays(t *testing.T, lines ...line) (lags, slow map[string]time.Duration) {
	t.Helper()
	var p pace.Pace
	lags, slow = map[string]time.Duration{}, map[string]time.Duration{}
	owing, told, progress := map[string]float64{}, map[string]int{}, map[string]float64{}
	for _, l := range lines {
		owing[l.name] = float64(l.asked + l.silent)
	}
	for at := time.Duration(0); at <= 10*time.Second; at += 100 * time.Millisecond {
		var players []pace.Player
		for _, l := range lines {
			rate := l.rates[min(int(at.Seconds()), len(l.rates)-1)]
			progress[l.name] = min(progress[l.name]+rate/10, owing[l.name]-float64(l.silent))
			if at == 3*time.Second && l.silent > 0 {
				told[l.name], owing[l.name] = told[l.name]+l.silent, owing[l.name]-float64(l.silent)
			}
			done := int(progress[l.name])
			progress[l.name] -= float64(done)
			told[l.name], owing[l.name] = told[l.name]+done, owing[l.name]-float64(done)
			players = append(players, pace.Player{Name: l.name, Answers: told[l.name], Owing: int(owing[l.name])})
		}
		lagging, _, late := p.Note(eight.Add(at), players)
		for _, name := range lagging {
			lags[name], owing[name] = at, 3
		}
		for _, name := range late {
			slow[name] = at
		}
		for _, l := range lines {
			if p.Lags(l.name) { // the next finalists
				owing[l.name] = 3
			}
		}
	}
	return lags, slow
}

// TestSlow checks who is called slow: a player below a tenth of the others' pace for five seconds, and
// nobody else.
func TestSlow(t *testing.T) {
	fast := func(name string) line { return line{name: name, asked: 46, rates: []float64{200}} }
	slow := func(name string) line { return line{name: name, asked: 46, rates: []float64{1}} }
	for _, tt := range []struct {
		name  string
		lines []line
		slow  []string
	}{
		{"a server a second", []line{fast("ann"), fast("bob"), fast("cem"), slow("dot")}, []string{"dot"}},
		{"two players", []line{fast("ann"), slow("dot")}, []string{"dot"}},
		{"two of four", []line{fast("ann"), fast("bob"), slow("cem"), slow("dot")}, []string{"cem", "dot"}},
		{"everybody", []line{slow("ann"), slow("bob"), slow("cem")}, nil},
		{"alone", []line{slow("ann")}, nil},
		{"a router of thirty a second", []line{fast("ann"), fast("bob"), {name: "dot", asked: 200, rates: []float64{30}}}, nil},
		{"a phone that stalls for three seconds", []line{fast("ann"), fast("bob"), {name: "dot", asked: 46, rates: []float64{20, 0, 0, 0, 40}}}, nil},
		{"lost packets", []line{fast("ann"), fast("bob"), {name: "dot", asked: 43, silent: 3, rates: []float64{200}}}, nil},
		{"half of the list is silent to all", []line{
			{name: "ann", asked: 23, silent: 23, rates: []float64{200}}, {name: "dot", asked: 23, silent: 23, rates: []float64{100}},
		}, nil},
		{"nothing yet, as while the list comes", []line{fast("ann"), {name: "dot", asked: 46, rates: []float64{0}}}, nil},
	} {
		_, called := plays(t, tt.lines...)
		var names []string
		for name, at := range called {
			if names = append(names, name); at < 5*time.Second || at > 6500*time.Millisecond {
				t.Errorf("%s: %s is called slow after %v", tt.name, name, at)
			}
		}
		if slices.Sort(names); !slices.Equal(names, tt.slow) {
			t.Errorf("%s: slow are %q, want %q", tt.name, names, tt.slow)
		}
	}
}
