package store_test

import (
	"testing"
	"time"

	"muster/host/store"
)

// TestOutage checks that the log reports an outage at once, each minute, and at its end, whatever
// happens in between.
func TestOutage(t *testing.T) {
	var o store.Outage
	now := time.Unix(1_800_000_000, 0)
	if _, wasTold := o.Ends(now); wasTold {
		t.Error("an outage ends that never began")
	}
	for outage := range 2 {
		told := 0
		for range 10 * 150 { // 150 seconds
			since, tell := o.Fails(now)
			if tell {
				told++
			}
			if now.Before(since) {
				t.Errorf("it began at %v, after %v", since, now)
			}
			now = now.Add(100 * time.Millisecond)
		}
		if told != 3 {
			t.Errorf("outage %d is told %d times in 150 s, want 3", outage, told)
		}
		if lasted, wasTold := o.Ends(now); lasted != 150*time.Second || !wasTold {
			t.Errorf("outage %d ends after %v, %v", outage, lasted, wasTold)
		}
	}
}
