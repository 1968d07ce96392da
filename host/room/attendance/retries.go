package attendance

import (
	"time"

	"muster/host/room/roomtime"
)

const (
	// firstRetry is the time after which a failed room tries again. Each further time in a row
	// takes twice as long, up to lastRetry: servers' lists and players' machines need a rest.
	firstRetry = 15 * time.Second
	lastRetry  = 4 * time.Minute
	// maxRetries bounds the tries in a row, half an hour in all: nobody's program should ask
	// servers all day.
	maxRetries = 12
	// settling is how long a failed room waits for more players, once the first is back after all
	// had left.
	settling = 5 * time.Second
)

// Retries is the number of rounds that have failed in a row. It decides when a room tries again by
// itself.
type Retries int

// AreOver reports whether the room has tried again often enough.
func (n Retries) AreOver() bool { return n > maxRetries }

// Rest returns how long the room rests before it tries again.
func (n Retries) Rest() time.Duration {
	rest := firstRetry
	for range min(n, maxRetries) - 1 {
		rest = min(2*rest, lastRetry)
	}
	return rest
}

// Sooner returns when to try again because somebody is back. The room failed at the time failed, and
// would have tried again at the time retry; zero is never. With isFirst nobody else is here.
func (n Retries) Sooner(failed, retry roomtime.Time, isFirst bool, now roomtime.Time) roomtime.Time {
	if n.AreOver() {
		return retry
	}
	if retry.IsZero() {
		retry = failed.Add(n.Rest())
	}
	if settled := now.Add(settling); isFirst && retry.Before(settled) {
		retry = settled
	}
	return retry
}
