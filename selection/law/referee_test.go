package law

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/selection/rules"
)

// dispute is what two sides argue about: their pings in ms by server and player, and the places.
type dispute struct {
	a, b   [][]float64
	places []string
}

// referee is somebody who has read the laws' sentences, and none of this package's code. It says by
// how much each server breaks a law, NaN where it keeps it, and which one the law's order prefers.
type referee func(d dispute) (over []float64, first int)

func average(pings ...float64) (mean float64) {
	for _, p := range pings {
		mean += p / float64(len(pings))
	}
	return math.Round(mean*1e6) / 1e6
}

func apart(a, b []float64) float64 {
	return math.Round(1000*math.Abs(average(a...)-average(b...))) / 1000
}

// choose returns the server that comes first by some figures, each only where the earlier ones tie.
func choose(n int, tie float64, figures ...func(server int) float64) int {
	left := []int{}
	for s := range n {
		left = append(left, s)
	}
	for i, figure := range figures {
		least := math.Inf(1)
		for _, s := range left {
			least = min(least, figure(s))
		}
		if i > 0 {
			tie = 0
		}
		left = slices.DeleteFunc(left, func(s int) bool { return figure(s)-tie > least+1e-7 })
	}
	return left[0]
}

// judges are the referee's laws.
var judges = map[string]referee{
	"quake-challengers": func(d dispute) ([]float64, int) { return tooFar(d, 30, true), fairest(d, 1) },
	"faceit-league":     func(d dispute) ([]float64, int) { return tooFar(d, 25, false), fairest(d, 0) },
	"getquad":           func(d dispute) ([]float64, int) { return tooFar(d, 2, false), fairest(d, 0) },
	"na-draft":          func(d dispute) ([]float64, int) { return tooFar(d, math.Inf(1), false), fairest(d, 0) },
	"eql": func(d dispute) (over []float64, first int) {
		var left []float64
		for s := range d.a {
			left, over = append(left, unevenLows(d.a[s], d.b[s])), append(over, math.NaN())
			if left[s] > 1 {
				over[s] = left[s] - 1
			}
		}
		return over, choose(len(d.a), 1, func(s int) float64 { return left[s] }, d.mean)
	},
	"duelmania": func(d dispute) (over []float64, first int) {
		best := func(pings [][]float64) float64 {
			return max(39, slices.Min(slices.Concat(pings...)))
		}
		owed, change := best(d.a)-best(d.b), []float64{}
		for s := range d.a {
			least := math.Inf(1)
			for minping := 0.0; minping <= 39; minping++ {
				here := max(minping, slices.Min(d.a[s])) - max(minping, slices.Min(d.b[s]))
				least = min(least, math.Abs(here-owed))
			}
			change, over = append(change, least), append(over, math.NaN())
			if least > 1 {
				over[s] = least - 1
			}
		}
		return over, choose(len(d.a), 1, func(s int) float64 { return change[s] }, d.mean)
	},
	"125fps": func(d dispute) ([]float64, int) {
		return tooSlow(d, 65), choose(len(d.a), 0, func(s int) float64 {
			return map[string]float64{"DE": 1, "SE": 2, "RU": 3, "FR": 4, "": 4}[d.places[s]]
		}, func(s int) float64 { return apart(d.a[s], d.b[s]) }, d.mean)
	},
	"ceiling": func(d dispute) ([]float64, int) {
		return tooSlow(d, 150), choose(len(d.a), 0, func(s int) float64 { return slices.Max(slices.Concat(d.a[s], d.b[s])) }, d.mean)
	},
}

func (d dispute) mean(server int) float64 {
	return math.Round(1000*average(slices.Concat(d.a[server], d.b[server])...)) / 1000
}

// fairest returns the server with the least difference, and of those within the tie the one with the
// least sum.
func fairest(d dispute, tie float64) int {
	return choose(len(d.a), tie, func(s int) float64 { return apart(d.a[s], d.b[s]) }, d.mean)
}

func tooFar(d dispute, limit float64, isTooMuch bool) (over []float64) {
	for s := range d.a {
		over = append(over, math.NaN())
		if delta := apart(d.a[s], d.b[s]); delta > limit || isTooMuch && delta == limit {
			over[s] = delta - limit
		}
	}
	return over
}

func tooSlow(d dispute, limit float64) (over []float64) {
	for s := range d.a {
		over = append(over, math.NaN())
		for _, ping := range slices.Concat(d.a[s], d.b[s]) {
			if ping > limit && !(over[s] > ping-limit) {
				over[s] = ping - limit
			}
		}
	}
	return over
}

// unevenLows returns what the side with the higher average lacks after it has asked for the highest
// minping that it may.
func unevenLows(a, b []float64) float64 {
	if average(a...) == average(b...) {
		return 0
	}
	if average(a...) < average(b...) {
		a, b = b, a
	}
	lowest, raised := slices.Min(a), slices.Clone(b)
	for i := range raised {
		raised[i] = max(raised[i], min(lowest, 51))
	}
	return max(0, lowest-slices.Min(raised))
}

// TestReferee lets this package and the referee decide 1,000 disputes.
func TestReferee(t *testing.T) {
	dice := rand.New(rand.NewPCG(50, 2))
	laws, kept, broken := All(), 0, 0
	if len(laws) != len(judges) {
		t.Errorf("there are %d laws, and the referee knows %d", len(laws), len(judges))
	}
	for n := range 1000 {
		l, d, far := laws[n%len(laws)], dispute{}, []int{25, 70, 180}[dice.IntN(3)]
		inA, inB := 1+dice.IntN(5), 1+dice.IntN(5)
		ways := []string{"DE", "SE", "RU", "FR", ""}
		for range 1 + dice.IntN(6) {
			pings := func(players int) (pings []float64) {
				for range players {
					pings = append(pings, float64(5+dice.IntN(far)))
				}
				return pings
			}
			d.a, d.b, d.places = append(d.a, pings(inA)), append(d.b, pings(inB)), append(d.places, ways[dice.IntN(len(ways))])
		}
		var servers []Server
		for s := range d.a {
			server := Server{Place: d.places[s]}
			for side, pings := range [][][]float64{d.a, d.b} {
				for p, ping := range pings[s] {
					best := ping
					for _, elsewhere := range pings {
						best = min(best, elsewhere[p])
					}
					server.Players = append(server.Players, Player{Side: []rules.Side{rules.SideA, rules.SideB}[side],
						Ping: time.Duration(ping) * ms, Best: time.Duration(best) * ms})
				}
			}
			servers = append(servers, server)
		}
		over, first := judges[l.Name](d)
		for s, server := range servers {
			breaks := l.Judge(server.Players)
			if math.IsNaN(over[s]) != (len(breaks) == 0) {
				t.Fatalf("%s, %v, server %d: breaks %v, and the referee says %v", l.Name, d, s, breaks, over[s])
			}
			if kept++; len(breaks) == 0 {
				continue
			}
			kept, broken = kept-1, broken+1
			if by := discovery.MS(time.Duration(breaks[0].Value - breaks[0].Limit)); math.Abs(by-over[s]) > .0011 {
				t.Fatalf("%s, %v, server %d: over by %v, and the referee says %v", l.Name, d, s, by, over[s])
			}
		}
		if order, _ := l.Decide(servers, 0); order[0] != first {
			t.Fatalf("%s, %v: prefers %d, and the referee %d", l.Name, d, order[0], first)
		}
	}
	if kept < 500 || broken < 500 {
		t.Errorf("%d servers keep their law and %d break it: too few to tell", kept, broken)
	}
}
