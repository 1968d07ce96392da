package selection

import "time"

// Quality is what a burst of probes showed of the way between a player and one
// of the finalists.
type Quality struct {
	// Loss is the share of probes without a reply, 0 to 1.
	Loss float64
	// Jitter is the mean difference between successive RTTs.
	Jitter time.Duration
}
