package clock_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"muster/internal/clock"
	"muster/internal/clock/clocktest"
)

// TestSameAsTheMachine does the same with a held clock and with the machine's.
func TestSameAsTheMachine(t *testing.T) {
	does := func(c clock.Clock, pass func(time.Duration)) (did []time.Duration) {
		began := c.Now()
		timer, ticker := c.NewTimer(3*time.Second), c.NewTicker(2*time.Second)
		defer ticker.Stop()
		called := make(chan time.Duration, 1)
		c.AfterFunc(5*time.Second, func() { called <- c.Since(began) })
		for range 8 {
			pass(time.Second)
			select {
			case at := <-timer.C:
				did = append(did, at.Sub(began))
				timer.Reset(4 * time.Second)
			case at := <-ticker.C:
				did = append(did, -at.Sub(began))
			case in := <-called:
				did = append(did, 10*in)
			default:
			}
		}
		return did
	}
	held := clocktest.Hold(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	got := does(held.Clock(), held.Advance)
	synctest.Test(t, func(t *testing.T) {
		want := does(clock.Machine, func(d time.Duration) { time.Sleep(d); synctest.Wait() })
		if !slices.Equal(got, want) {
			t.Errorf("a held clock gives %v, the machine %v", got, want)
		}
	})
}
