package cli

import (
	"slices"
	"testing"

	"muster/discovery"
)

// TestAsFirst: servers around are asked first.
func TestAsFirst(t *testing.T) {
	plan := asFirst([]int{0, 2}, discovery.NewConventional(3))
	var order []int
	for {
		probe, verdict := plan.Next()
		if verdict != discovery.Go {
			break
		}
		order = append(order, probe.Server)
		plan.Observe(discovery.Result{Server: probe.Server, State: discovery.Answered})
	}
	if want := []int{0, 2, 1}; !slices.Equal(order, want) {
		t.Errorf("asked in the order %v, want %v", order, want)
	}
}
