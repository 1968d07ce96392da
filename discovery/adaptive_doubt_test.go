package discovery

import (
	"fmt"
	"testing"
	"time"
)

// One AS of a country has two machines in each of two /24s, twelve others have
// one each.
func TestAFarReplyIsDoubtedAmongNearOnes(t *testing.T) {
	lines := []string{"80.1.1.1:1 DE 1", "80.1.1.2:1 DE 1", "80.1.2.1:1 DE 1", "80.1.2.2:1 DE 1"}
	for i := range 12 {
		lines = append(lines, fmt.Sprintf("81.%d.1.1:1 DE %d", i, 10+i))
	}
	servers := list(t, lines...)
	tests := []struct {
		name        string
		others      time.Duration
		replies     []time.Duration
		least, most float64 // of what is expected of the AS's last server
	}{
		{"near ones, a far one", 60 * ms, []time.Duration{290 * ms}, 0.1, 0.5},
		{"near ones, two far ones", 60 * ms, []time.Duration{290 * ms, 290 * ms}, 0, 0.05},
		{"near ones, one of both", 60 * ms, []time.Duration{290 * ms, 60 * ms}, 0.9, 1},
		{"far ones, a far one", 290 * ms, []time.Duration{290 * ms}, 0, 0.001},
	}
	for _, tt := range tests {
		tree := newTree(servers, 200*ms)
		for i := range 12 {
			tree.observe(4+i, Answered, tt.others)
		}
		for i, rtt := range tt.replies {
			tree.observe(2*i, Answered, rtt)
		}
		tree.estimate()
		if p := tree.nodes[tree.leaf[3]].p; p < tt.least || p > tt.most {
			t.Errorf("%s: of the next %v is expected, want %v to %v", tt.name, p, tt.least, tt.most)
		}
		if n := tree.nodes[tree.leaf[1]]; len(tt.replies) == 1 && tt.least > 0 && n.p < tt.least {
			t.Errorf("%s: beside it %v is expected, want as much as elsewhere in the AS", tt.name, n.p)
		}
	}
}
