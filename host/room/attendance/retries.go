package attendance

import "time"

const (
	// firstRetry is the time after which a failed room tries again. Each further time in a row
	// takes twice as long, up to lastRetry: servers' lists and players' machines need a rest.
	firstRetry = 15 * time.Second
	lastRetry  = 4 * time.Minute
	// mostRetries is how often in a row, half an hour in all: nobody's program should ask
	// servers all night.
	mostRetries = 12
	// settling is how long a room that failed, and that all had left, waits for more than the
	// first to come back.
	settling = 5 * time.Second
)

// Retries is how many rounds have failed in a row. It says when a room tries again by itself.
type Retries int

// AreOver reports whether the room has tried again often enough.
func (n Retries) AreOver() bool { return n > mostRetries }

// Rest returns how long the room rests before it tries again.
func (n Retries) Rest() time.Duration {
	rest := firstRetry
	for range min(n, mostRetries) - 1 {
		rest = min(2*rest, lastRetry)
	}
	return rest
}

// Sooner returns when to try again because somebody is back, in a room that failed at a time and
// would have tried again at another, if at all. IsFirst says that nobody else is here.
func (n Retries) Sooner(failed, retry time.Time, isFirst bool, now time.Time) time.Time {
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

// SetRight returns when to try again at the latest, if a clock that was ahead has said when.
func (n Retries) SetRight(retry, now time.Time) time.Time {
	if rest := n.Rest(); retry.Sub(now) > rest {
		return now.Add(rest)
	}
	return retry
}
