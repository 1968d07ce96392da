package home

import "time"

// quietFor is how long Home waits without an open page and a running command before it ends. A
// browser that starts or reloads a page is back within this time.
const quietFor = 2 * time.Minute

// idleness is the time since which nobody has needed Home.
type idleness struct{ since time.Time }

// over reports whether Home may end: no page has been open for a while, and nothing runs that
// somebody waits for.
func (i *idleness) over(pages, running int, now time.Time) bool {
	switch {
	case pages > 0 || running > 0:
		i.since = time.Time{}
	case i.since.IsZero():
		i.since = now
	}
	return !i.since.IsZero() && now.Sub(i.since) >= quietFor
}
