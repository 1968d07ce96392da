package cli

import (
	"testing"
)

// TestAllowed checks that the router is asked as soon as the user has said yes, also to a question
// in the room, and never after a no.
func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		name       string
		said       consent
		isAsked    bool // in the room
		now, later bool
	}{
		{"a yes of before", consented, true, true, true},
		{"a yes to the question", notAsked, true, false, true},
		{"no question", notAsked, false, false, false},
		{"a no of before", declined, true, false, false},
	} {
		may := playing{portMap: c.said}
		yes := make(chan struct{})
		if c.isAsked {
			may.later = yes
		}
		is := func() bool {
			select {
			case <-may.allowed():
				return true
			default:
				return false
			}
		}
		if got := is(); got != c.now {
			t.Errorf("%s: allowed at once: %v", c.name, got)
		}
		close(yes)
		if got := is(); got != c.later {
			t.Errorf("%s: allowed after a yes: %v", c.name, got)
		}
	}
}
