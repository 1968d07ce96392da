package peer

import (
	"sync"
	"time"

	"muster/discovery"
)

// ledger keeps a round's results in the order in which they came. The prober
// writes, the session reads.
type ledger struct {
	began time.Time

	mu       sync.Mutex // guards following
	results  []discovery.Result
	answered int
	done     bool
}

// newLedger begins with what is known from before.
func newLedger(known []discovery.Result) *ledger {
	l := &ledger{began: time.Now()}
	for _, r := range known {
		l.add(r)
	}
	return l
}

func (l *ledger) add(r discovery.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.At = time.Since(l.began)
	l.results = append(l.results, r)
	if r.State == discovery.Answered {
		l.answered++
	}
}

func (l *ledger) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
}

// since returns the results from the n-th on, which must not be changed, and whether
// they are the last; and how many of all results are answers.
func (l *ledger) since(n int) (results []discovery.Result, done bool, answered int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.results[n:len(l.results):len(l.results)], l.done, l.answered
}
