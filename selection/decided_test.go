package selection_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/selection"
)

// TestDecided checks that the headline says what decided, with the compared figures, and that
// nothing after it contradicts it.
func TestDecided(t *testing.T) {
	addr := netip.MustParseAddrPort
	spotty := selection.Quality{Loss: 0.1} // 100 ms
	tests := []struct {
		name     string
		rows     map[string][]int
		criteria selection.Criteria
		full     []int // indexes of servers that the group would fill
		spotty   []int // indexes of servers where ann loses packets
		voted    int   // for server 2, if any
		open     bool
		want     selection.Decided
		says     []string
		never    string
	}{
		{name: "the lowest average", rows: map[string][]int{serverA: {20, 30}, serverB: {40, 40}, serverC: {90, 90}},
			criteria: selection.Criteria{By: selection.Mean},
			want: selection.Decided{
				By:         selection.ByRule,
				Measure:    selection.Mean,
				MS:         25,
				Other:      hostport.At(addr(serverB)),
				OtherMS:    40,
				Score:      25,
				OtherScore: 40,
			},
			says: []string{serverA + " has the lowest average: 25.0 ms; bob is worst off with 30.0 ms.", "Next best is " + serverB}},
		{name: "the lowest average within a limit", rows: map[string][]int{serverA: {5, 130}, serverB: {80, 80}, serverC: {90, 90}},
			criteria: selection.Criteria{By: selection.Threshold, Limits: []time.Duration{100 * time.Millisecond}},
			want: selection.Decided{
				By:         selection.ByRule,
				Measure:    selection.Mean,
				MS:         80,
				Other:      hostport.At(addr(serverC)),
				OtherMS:    90,
				Score:      80,
				OtherScore: 90,
			},
			says: []string{serverB + " has the lowest average where nobody is over 100.0 ms: 80.0 ms;",
				serverA + " has a lower average (67.5 ms), but bob would be over the limit."}, never: "has the lowest average:"},
		{name: "the lowest worst ping", rows: map[string][]int{serverA: {5, 70}, serverB: {60, 60}},
			criteria: selection.Criteria{By: selection.Minimax},
			want: selection.Decided{
				By:         selection.ByRule,
				Measure:    selection.Minimax,
				MS:         60,
				Other:      hostport.At(addr(serverA)),
				OtherMS:    70,
				Score:      60,
				OtherScore: 70,
			},
			says: []string{serverB + " has the lowest worst ping, with 60.0 ms on average"}},
		{name: "alone, by fairness", rows: map[string][]int{serverA: {30}, serverB: {60}},
			criteria: selection.Criteria{By: selection.Fairness},
			want: selection.Decided{
				By:         selection.ByRule,
				Measure:    selection.Mean,
				MS:         30,
				Other:      hostport.At(addr(serverB)),
				OtherMS:    60,
				Score:      30,
				OtherScore: 60,
			},
			says: []string{serverA + " has the lowest average: 30.0 ms"}},
		{name: "loss and jitter", rows: map[string][]int{serverA: {20, 20}, serverB: {40, 40}, serverC: {90, 90}}, spotty: []int{0},
			criteria: selection.Criteria{By: selection.Mean},
			want: selection.Decided{
				By:         selection.ByQuality,
				Measure:    selection.Mean,
				MS:         40,
				Other:      hostport.At(addr(serverA)),
				OtherMS:    20,
				Score:      40,
				OtherScore: 70,
			},
			says: []string{serverB + " is best counting loss and jitter: 40.0 ms on average; ann",
				serverA + " has a lower average (20.0 ms)"}, never: "has the lowest average"},
		{name: "weights", rows: map[string][]int{serverA: {10, 90}, serverB: {60, 60}},
			criteria: selection.Criteria{By: selection.Mean, Weights: map[string]float64{"bob": 3}},
			want: selection.Decided{
				By:         selection.ByWeights,
				Measure:    selection.Mean,
				MS:         60,
				Other:      hostport.At(addr(serverA)),
				OtherMS:    50,
				Score:      60,
				OtherScore: 70,
			},
			says: []string{serverB + " is best by the players’ weights: 60.0 ms on average"}, never: "has the lowest average"},
		{name: "a seat to spare", rows: map[string][]int{serverA: {20, 30}, serverB: {21, 31}}, full: []int{0},
			criteria: selection.Criteria{By: selection.Mean, Seats: 2, Spare: 2 * time.Millisecond},
			want: selection.Decided{
				By:         selection.BySeats,
				Measure:    selection.Mean,
				MS:         26,
				Other:      hostport.At(addr(serverA)),
				OtherMS:    25,
				Score:      26,
				OtherScore: 25,
			},
			says: []string{serverB + " is best with a seat to spare: 26.0 ms on average",
				serverA + " has a lower average (25.0 ms)"}, never: "Next best"},
		{name: "kept from the last round", rows: map[string][]int{serverA: {20, 20}, serverB: {15, 15}},
			criteria: selection.Criteria{By: selection.Mean, Keep: addr(serverA)},
			want: selection.Decided{
				By:         selection.ByKeeping,
				Measure:    selection.Mean,
				MS:         20,
				Other:      hostport.At(addr(serverB)),
				OtherMS:    15,
				Score:      20,
				OtherScore: 15,
			},
			says: []string{serverA + " stays from the last round: 20.0 ms on average",
				"The best server, " + serverB + ", would be only 5.0 ms better."}, never: "Next best"},
		{name: "the last round's, which is the best as well", rows: map[string][]int{serverA: {20, 20}, serverB: {25, 25}},
			criteria: selection.Criteria{By: selection.Mean, Keep: addr(serverA)},
			want: selection.Decided{
				By:         selection.ByRule,
				Measure:    selection.Mean,
				MS:         20,
				Other:      hostport.At(addr(serverB)),
				OtherMS:    25,
				Score:      20,
				OtherScore: 25,
			},
			says: []string{serverA + " has the lowest average: 20.0 ms"}},
		{name: "by vote", rows: map[string][]int{serverA: {20, 20}, serverB: {25, 25}, serverC: {30, 50}}, voted: 2,
			criteria: selection.Criteria{By: selection.Mean},
			want: selection.Decided{
				By:         selection.ByVote,
				Measure:    selection.Mean,
				MS:         40,
				Other:      hostport.At(addr(serverA)),
				OtherMS:    20,
				Score:      40,
				OtherScore: 20,
				Votes:      2,
				Of:         3,
			},
			says: []string{serverC + " was chosen by vote, with 2 of 3 votes: 40.0 ms on average; bob is worst " +
				"off with 50.0 ms.", "By the rule, it would be " + serverA + ": 20.0 ms, not 40.0 ms, on average."}, never: "has the lowest average"},
		{name: "ahead in the vote", rows: map[string][]int{serverA: {90, 90}, serverB: {95, 95}, serverC: {30, 50}}, voted: 1, open: true,
			criteria: selection.Criteria{By: selection.Mean},
			want:     selection.Decided{By: selection.ByVote, Measure: selection.Mean, MS: 40, Score: 40, Votes: 1, Of: 1, Open: true},
			says:     []string{serverC + " leads the vote, with the only vote: 40.0 ms on average", "Without bob"}, never: "By the rule"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			order := slices.Sorted(func(yield func(string) bool) {
				for at := range tt.rows {
					if !yield(at) {
						return
					}
				}
			})
			servers, table := tableOf(annAndBob[:len(tt.rows[serverA])], tt.rows, order...)
			for server := range servers.List {
				info := &discovery.Info{MaxPlayers: 8}
				if slices.Contains(tt.full, server) {
					info.Players = 6
				}
				servers.Infos[server] = info
				if len(tt.spotty) > 0 {
					quality := selection.Quality{}
					if slices.Contains(tt.spotty, server) {
						quality = spotty
					}
					table.SetQuality(0, server, quality)
				}
			}
			got := selection.Select(servers, table, tt.criteria)
			if tt.voted > 0 {
				got = got.Voted(2, tt.voted, max(1, 2*tt.voted-1), tt.open)
			}
			if got.Decided == nil || *got.Decided != tt.want {
				t.Errorf("decided: %+v, want %+v", got.Decided, tt.want)
			}
			text := strings.Join(explained(got), "\n")
			for _, want := range tt.says {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing in\n%s", want, text)
				}
			}
			if tt.never != "" && strings.Contains(text, tt.never) {
				t.Errorf("it says %q:\n%s", tt.never, text)
			}
		})
	}
}
