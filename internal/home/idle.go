package home

import "time"

// quietFor is how long no page may be open while nothing runs before Home ends: a
// browser that starts, or loads a page anew, is back by then.
const quietFor = 2 * time.Minute

// idleness is since when nobody needs Home.
type idleness struct{ since time.Time }

// over reports whether Home may end: no page has been open for a while, and nothing
// runs that somebody waits for.
func (i *idleness) over(pages, running int, now time.Time) bool {
	switch {
	case pages > 0 || running > 0:
		i.since = time.Time{}
	case i.since.IsZero():
		i.since = now
	}
	return !i.since.IsZero() && now.Sub(i.since) >= quietFor
}
