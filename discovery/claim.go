package discovery

import (
	"fmt"
	"math"
	"time"
)

// Claim is an estimate of how many of the near servers a plan has found. It follows
// from the measurements and is no proof.
type Claim struct {
	// Low and High bound the share of the answering servers under Limit that
	// were found; both are 0 if the plan claims nothing.
	Low, High float64
	Limit     time.Duration
}

// String returns the claim as a sentence, or "" if there is no claim.
func (c Claim) String() string {
	if c.High == 0 {
		return ""
	}
	low, high := math.Floor(c.Low*100), math.Floor(c.High*100)
	share := fmt.Sprintf("%.0f–%.0f %%", low, high)
	if low == high {
		share = fmt.Sprintf("%.0f %%", low)
	}
	return fmt.Sprintf("%s of the servers under %d ms found", share, c.Limit.Milliseconds())
}
