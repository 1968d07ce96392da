package trust

import (
	"math"
	"testing"
)

func TestAtLeast(t *testing.T) {
	for _, tt := range []struct {
		many, n int
		p, want float64
	}{
		{0, 3, 0.5, 1}, {1, 1, 0.1, 0.1}, {3, 3, 0.02, 8e-6}, {1, 2, 0.5, 0.75}, {2, 3, 0.5, 0.5},
		{2000, 3000, 0.667, 0.526}, {2900, 3000, 0.1, 0}, // neither overflows nor vanishes
	} {
		if got := atLeast(tt.many, tt.n, tt.p); math.Abs(got-tt.want) > 0.01*tt.want {
			t.Errorf("at least %d of %d at %v: %v, want %v", tt.many, tt.n, tt.p, got, tt.want)
		}
	}
}
