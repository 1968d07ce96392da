package prober

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
)

// challenging answers as servers of A2S do, each reply after a delay that may depend on its
// query. Queries of which nothing comes back have no delay.
func challenging(isNew bool, delay func(nth int) time.Duration) func(q sighting) []packet {
	return func(q sighting) []packet {
		after := delay(q.nth)
		switch {
		case after == 0:
			return nil
		case q.text != "ask|":
			return say(after, "info|far")
		case isNew:
			return say(after, fmt.Sprintf("challenge|%04d", q.nth))
		}
		return say(after, "challenge|same")
	}
}

// TestLateAnswers checks that an answer to an earlier query of a server never passes for the
// answer to a later one, whatever is lost: the RTT is true, or the server is lost.
func TestLateAnswers(t *testing.T) {
	described := func(delay func(nth int) time.Duration) func(q sighting) []packet {
		return func(q sighting) []packet {
			if after := delay(q.nth); after > 0 {
				return say(after, "info|far")
			}
			return nil
		}
	}
	for away := 50 * ms; away < maxLate; away += 150 * ms {
		for lost := range 4 { // the first query, the second, or both
			for _, jitter := range []time.Duration{0, away / 8} {
				delay := func(nth int) time.Duration {
					if nth <= 2 && lost&nth != 0 {
						return 0
					}
					return away + jitter*time.Duration(nth*7%5)/4
				}
				for kind, answer := range map[string]func(sighting) []packet{
					"information": described(delay), "one challenge": challenging(false, delay), "new challenges": challenging(true, delay),
				} {
					synctest.Test(t, func(t *testing.T) {
						r := scan(t, virtual(t, Options{Protocol: plain{}}, newSky(answer)), list(1))[0]
						if r.State != discovery.Lost && (r.RTT < away || r.RTT > away+jitter) {
							t.Errorf("%s from %v away, jitter %v, lost %b: told %v", kind, away, jitter, lost, r.RTT)
						}
						if r.State == discovery.Lost && lost == 0 && away+jitter < 3*time.Second {
							t.Errorf("%s from %v away: lost", kind, away)
						}
						time.Sleep(2 * maxLate) // until the last packet has come
					})
				}
			}
		}
	}
}

// TestAnswersToEarlierRuns checks that neither the answers to a run that is over nor those to
// one that was stopped pass for answers to the next.
func TestAnswersToEarlierRuns(t *testing.T) {
	for away := 50 * ms; away < maxLate; away += 250 * ms {
		for _, pause := range []time.Duration{0, 300 * ms, 1700 * ms} {
			for _, stop := range []time.Duration{10 * ms, 1100 * ms, 10 * time.Second} {
				synctest.Test(t, func(t *testing.T) {
					p := virtual(t, Options{Protocol: plain{}}, newSky(challenging(true, func(int) time.Duration { return away })))
					ctx, cancel := context.WithTimeout(t.Context(), stop)
					defer cancel()
					if err := p.Run(ctx, list(1), discovery.NewConventional(1), nil); err != nil && ctx.Err() == nil {
						t.Fatal(err)
					}
					time.Sleep(pause)
					if r := scan(t, p, list(1))[0]; r.State != discovery.Lost && r.RTT != away {
						t.Errorf("stopped after %v, asked again after %v: %v away, told %v", stop, pause, away, r.RTT)
					}
					time.Sleep(2 * maxLate)
				})
			}
		}
	}
}
