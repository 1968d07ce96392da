//go:build !windows

package prober

import "time"

// clock is monotonic and starts near zero.
type clock struct{ start time.Time }

func newClock() clock { return clock{start: time.Now()} }

func (c clock) now() time.Duration { return time.Since(c.start) }
