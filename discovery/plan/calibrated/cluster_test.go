package calibrated

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/testlist"
)

// groupsOf returns the last octets of the servers of each group, easier to compare.
func groupsOf(groups [][]int) string {
	return fmt.Sprint(groups)
}

func TestClusterByCountry(t *testing.T) {
	servers := testlist.Of(t,
		"80.1.0.1:1 DE 1", "24.1.0.1:1 US 2", "81.1.0.1:1 DE 1",
		"80.2.0.1:1 - 0", "81.2.0.1:1 - 0", "80.3.0.1:1 - 0",
		"[2001:db8::1]:1 - 0", "[2001:dff::1]:1 - 0", "[2a02::1]:1 DE 1",
	)
	tests := []struct {
		refine bool
		want   string
	}{
		// A /20 holds 2001:db8:: and 2001:dff::.
		{false, "[[0 2 8] [1] [3 5] [4] [6 7]]"},
		{true, "[[0] [1] [2] [3 5] [4] [6 7] [8]]"},
	}
	for _, tt := range tests {
		if got := groupsOf(clusters(discovery.ByCountry, servers, complete(t, discovery.PlanOptions{Refine: tt.refine}))); got != tt.want {
			t.Errorf("refine %v: %s, want %s", tt.refine, got, tt.want)
		}
	}
}

func TestClusterByCountryPrefix(t *testing.T) {
	sizes := func(lines ...[]string) []int {
		var sizes []int
		for _, g := range clusters(discovery.ByCountryPrefix, testlist.Of(t, slices.Concat(lines...)...), complete(t, discovery.PlanOptions{})) {
			sizes = append(sizes, len(g))
		}
		return sizes
	}
	tests := []struct {
		name string
		got  []int
		want []int
	}{
		{"10 in a /8 are not more than 10", sizes(many(10, "80.1.0", "DE 1"), many(5, "81.1.0", "DE 1")), []int{15}},
		{"11 in a /8 are", sizes(many(11, "80.1.0", "DE 1"), many(5, "81.1.0", "DE 1")), []int{11, 5}},
		{"11 of 110 are not more than 10 %", sizes(many(11, "80.1.0", "DE 1"), many(99, "81.1.0", "DE 1")), []int{11, 99}},
		{"12 of 110 are", sizes(many(12, "80.1.0", "DE 1"), many(98, "81.1.0", "DE 1")), []int{12, 98}},
		{"small /8s share a cluster", sizes(many(9, "80.1.0", "DE 1"), many(90, "81.1.0", "DE 1"), many(9, "82.1.0", "DE 1")), []int{18, 90}},
		{"another country is another cluster", sizes(many(12, "80.1.0", "DE 1"), many(12, "80.2.0", "NL 1")), []int{12, 12}},
		{"without a country the prefix is the key", sizes(many(2, "80.1.0", "- 1"), many(3, "81.1.0", "- 1")), []int{2, 3}},
	}
	for _, tt := range tests {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}

func TestClusterByAS(t *testing.T) {
	servers := testlist.Of(t, "80.1.0.1:1 DE 7", "24.1.0.1:1 US 7", "80.1.0.2:1 DE 8", "80.2.0.1:1 DE 0", "81.2.0.1:1 DE 0", "80.3.0.1:1 FR 0")
	if got, want := groupsOf(clusters(discovery.ByAS, servers, complete(t, discovery.PlanOptions{}))), "[[0 1] [2] [3 5] [4]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestMedianAndSpread(t *testing.T) {
	tests := []struct {
		rtts           []time.Duration
		median, spread time.Duration
	}{
		{[]time.Duration{7}, 7, 0},
		{[]time.Duration{30, 10}, 20, 20},
		{[]time.Duration{30, 10, 90}, 30, 80},
		{[]time.Duration{5, 1, 4, 2, 3}, 3, 3}, // the 1st and the 4th of five
		{[]time.Duration{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}, 55, 60},
	}
	for _, tt := range tests {
		if m, s := median(tt.rtts), spread(tt.rtts); m != tt.median || s != tt.spread {
			t.Errorf("%v: median %d, spread %d, want %d and %d", tt.rtts, m, s, tt.median, tt.spread)
		}
	}
}

// complete fills in the defaults.
func complete(t *testing.T, o discovery.PlanOptions) discovery.PlanOptions {
	o, err := o.Complete(discovery.ByAS)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// many returns n lines of servers in a prefix, from .1 upwards.
func many(n int, prefix, rest string) []string {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("%s.%d:1 %s", prefix, i+1, rest))
	}
	return lines
}

const ms = time.Millisecond
