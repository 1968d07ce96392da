package peer

import "time"

// Hurry makes a peer of a test lose no time.
func Hurry(o *Options, giveUp time.Duration) {
	o.pace = pace{
		flush: 5 * time.Millisecond, sample: time.Millisecond,
		firstPause: 5 * time.Millisecond, lastPause: 20 * time.Millisecond, giveUp: giveUp,
	}
}
