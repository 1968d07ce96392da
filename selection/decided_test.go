package selection_test

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/selection"
)

// inWords returns what decided: by what, in which measure, and the figure and score of the chosen
// server, of the other one, and the votes.
func inWords(d selection.Decided) string {
	text := fmt.Sprintf("%s %s %v (%v)", d.By, d.Measure, d.MS, d.Score)
	if d.Other.IsValid() {
		name := map[string]string{serverA: "A", serverB: "B", serverC: "C"}[d.Other.String()]
		text += fmt.Sprintf(" and not %s %v (%v)", name, d.OtherMS, d.OtherScore)
	}
	if d.Of > 0 {
		text += fmt.Sprintf(" by %d of %d", d.Votes, d.Of)
	}
	if d.Open {
		text += " so far"
	}
	return text
}

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
		want     string // what decided, and the figures and scores
		says     []string
		never    string
	}{
		{name: "the lowest average", rows: map[string][]int{serverA: {20, 30}, serverB: {40, 40}, serverC: {90, 90}},
			criteria: selection.Criteria{By: selection.Mean},
			want:     "rule mean 25 (25) and not B 40 (40)",
			says:     []string{serverA + " has the lowest average: 25.0 ms; bob is worst off with 30.0 ms.", "Next best is " + serverB}},
		{name: "the lowest average within a limit", rows: map[string][]int{serverA: {5, 130}, serverB: {80, 80}, serverC: {90, 90}},
			criteria: selection.Criteria{By: selection.Threshold, Limits: []time.Duration{100 * time.Millisecond}},
			want:     "rule mean 80 (80) and not C 90 (90)",
			says: []string{serverB + " has the lowest average where nobody is over 100.0 ms: 80.0 ms;",
				serverA + " has a lower average (67.5 ms), but bob would be over the limit."}, never: "has the lowest average:"},
		{name: "the lowest worst ping", rows: map[string][]int{serverA: {5, 70}, serverB: {60, 60}},
			criteria: selection.Criteria{By: selection.Minimax},
			want:     "rule minimax 60 (60) and not A 70 (70)",
			says:     []string{serverB + " has the lowest worst ping, with 60.0 ms on average"}},
		{name: "alone, by fairness", rows: map[string][]int{serverA: {30}, serverB: {60}},
			criteria: selection.Criteria{By: selection.Fairness},
			want:     "rule mean 30 (30) and not B 60 (60)",
			says:     []string{serverA + " has the lowest average: 30.0 ms"}},
		{name: "loss and jitter", rows: map[string][]int{serverA: {20, 20}, serverB: {40, 40}, serverC: {90, 90}}, spotty: []int{0},
			criteria: selection.Criteria{By: selection.Mean},
			want:     "quality mean 40 (40) and not A 20 (70)",
			says: []string{serverB + " is best counting loss and jitter: 40.0 ms on average; ann",
				serverA + " has a lower average (20.0 ms)"}, never: "has the lowest average"},
		{name: "weights", rows: map[string][]int{serverA: {10, 90}, serverB: {60, 60}},
			criteria: selection.Criteria{By: selection.Mean, Weights: map[string]float64{"bob": 3}},
			want:     "weights mean 60 (60) and not A 50 (70)",
			says: []string{serverB + " is best by the players’ weights: 60.0 ms on average",
				serverA + " has a lower average (50.0 ms), but with weights and quality it scores 70.0 ms, not 60.0 ms."}, never: "has the lowest average"},
		{name: "a seat to spare", rows: map[string][]int{serverA: {20, 30}, serverB: {21, 31}}, full: []int{0},
			criteria: selection.Criteria{By: selection.Mean, Seats: 2, Spare: 2 * time.Millisecond},
			want:     "seats mean 26 (26) and not A 25 (25)",
			says: []string{serverB + " is best with a seat to spare: 26.0 ms on average; bob is worst off with 31.0 ms.",
				serverA + " has a lower average (25.0 ms) and a lower worst ping (30.0 ms), but it has no seat to spare."}, never: "Next best"},
		{name: "kept, though it would be full", rows: map[string][]int{serverA: {20, 30}, serverB: {21, 31}}, full: []int{0},
			criteria: selection.Criteria{By: selection.Mean, Seats: 2, Spare: 2 * time.Millisecond, Keep: addr(serverA)},
			want:     "kept mean 25 (25) and not B 26 (26)", never: "would be only"},
		{name: "kept from the last round", rows: map[string][]int{serverA: {20, 20}, serverB: {15, 15}},
			criteria: selection.Criteria{By: selection.Mean, Keep: addr(serverA)},
			want:     "kept mean 20 (20) and not B 15 (15)",
			says: []string{serverA + " stays from the last round: 20.0 ms on average", "(15.0 ms), but that isn’t worth a move.",
				"The best server, " + serverB + ", would be only 5.0 ms better."}, never: "Next best"},
		{name: "the last round's, which is the best as well", rows: map[string][]int{serverA: {20, 20}, serverB: {25, 25}},
			criteria: selection.Criteria{By: selection.Mean, Keep: addr(serverA)},
			want:     "rule mean 20 (20) and not B 25 (25)",
			says:     []string{serverA + " has the lowest average: 20.0 ms"}},
		{name: "the last round's, which is out of reach", rows: map[string][]int{serverA: {20, 20}, serverB: {15, 15}, serverC: {20, lost}},
			criteria: selection.Criteria{By: selection.Mean, Keep: addr(serverC)},
			want:     "rule mean 15 (15) and not A 20 (20)",
			says:     []string{serverC + ", the last server, is out: unreachable for someone."}},
		{name: "the last round's, which is not listed", rows: map[string][]int{serverA: {20, 20}, serverB: {15, 15}},
			criteria: selection.Criteria{By: selection.Mean, Keep: addr("10.9.9.9:1")},
			want:     "rule mean 15 (15) and not A 20 (20)",
			says:     []string{"10.9.9.9:1, the last server, is no longer listed."}},
		{name: "worth a move", rows: map[string][]int{serverA: {90, 90}, serverB: {15, 15}},
			criteria: selection.Criteria{By: selection.Mean, Keep: addr(serverA)},
			want:     "rule mean 15 (15) and not A 90 (90)",
			says:     []string{"It’s 75.0 ms better than the last server, " + serverA + "."}},
		{name: "another is better by another measure", rows: map[string][]int{serverA: {20, 80}, serverB: {80, 44}},
			criteria: selection.Criteria{By: selection.Mean},
			want:     "rule mean 50 (50) and not B 62 (62)",
			says:     []string{serverB + " has a lower deviation (25.5 ms), but its average (62.0 ms) is above the chosen server’s."}},
		{name: "no other is better by any measure", rows: map[string][]int{serverA: {20, 80}, serverB: {80, 20}},
			criteria: selection.Criteria{By: selection.Minimax},
			want:     "rule minimax 80 (80) and not B 80 (80)", never: "has a lower"},
		{name: "by vote", rows: map[string][]int{serverA: {20, 20}, serverB: {25, 25}, serverC: {30, 50}}, voted: 2,
			criteria: selection.Criteria{By: selection.Mean},
			want:     "vote mean 40 (40) and not A 20 (20) by 2 of 3",
			says: []string{serverC + " was chosen by vote, with 2 of 3 votes: 40.0 ms on average; bob is worst " +
				"off with 50.0 ms.", "By the rule, it would be " + serverA + ": 20.0 ms, not 40.0 ms, on average."}, never: "has the lowest average"},
		{name: "ahead in the vote", rows: map[string][]int{serverA: {90, 90}, serverB: {95, 95}, serverC: {30, 50}}, voted: 1, open: true,
			criteria: selection.Criteria{By: selection.Mean},
			want:     "vote mean 40 (40) by 1 of 1 so far",
			says:     []string{serverC + " leads the vote, with the only vote: 40.0 ms on average", "Without bob"}, never: "By the rule"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			servers, table := tableOf(annAndBob[:len(tt.rows[serverA])], tt.rows, slices.Sorted(maps.Keys(tt.rows))...)
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
			if decided := inWords(*got.Decided); decided != tt.want {
				t.Errorf("decided: %s, want %s", decided, tt.want)
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
