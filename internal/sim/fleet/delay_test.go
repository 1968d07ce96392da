package fleet

import (
	"math/rand/v2"
	"testing"
	"time"

	"muster/internal/alarm"
)

func TestDelayLineGivesTheEarliestWhenDue(t *testing.T) {
	line := newTestLine(t)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		line.push(&reply{due: time.Duration(rng.IntN(500)+1) * time.Millisecond})
	}
	var now time.Duration
	for got := 0; got < 1000; {
		r, wait, over := line.pop(now)
		switch {
		case over:
			t.Fatal("over before it was closed")
		case r == nil && wait <= 0:
			t.Fatalf("wait %v for nothing", wait)
		case r == nil:
			now += wait
		case r.due != now:
			t.Fatalf("reply due at %v came at %v", r.due, now)
		default:
			got++
		}
	}
	if r, wait, _ := line.pop(now); r != nil || wait != forever {
		t.Errorf("an empty line gives %v and waits %v", r, wait)
	}
}

func newTestLine(t *testing.T) *delayLine {
	t.Helper()
	a, err := alarm.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return &delayLine{alarm: a}
}

func TestDelayLineWakesTheSleeper(t *testing.T) {
	line := newTestLine(t)
	woken := make(chan struct{})
	go func() {
		defer close(woken)
		for {
			_, wait, over := line.pop(0)
			if over {
				return
			}
			line.alarm.Sleep(wait)
			woken <- struct{}{}
		}
	}()
	line.push(&reply{due: 2 * time.Hour}) // earlier than the empty line's end
	<-woken
	line.push(&reply{due: time.Hour})
	<-woken
	line.close()
	for range woken {
	}
}
