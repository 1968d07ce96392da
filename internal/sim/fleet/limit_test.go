package fleet

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"muster/internal/alarm"
)

func TestLimiter(t *testing.T) {
	near, far := sourceOf(0), sourceOf(1)
	tests := []struct {
		name  string
		start time.Duration
		every time.Duration
		asked int
		want  int
	}{
		{"a burst", 0, 0, 30, 10},
		{"once a second", 0, time.Second, 30, 30},
		{"twice a second", 0, 500 * time.Millisecond, 40, 29},
		{"late", time.Hour, 0, 11, 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, got := newLimiter(), 0
			for i := range tt.asked {
				if l.allow(1, near, tt.start+time.Duration(i)*tt.every) {
					got++
				}
			}
			if got != tt.want {
				t.Errorf("answered %d of %d, want %d", got, tt.asked, tt.want)
			}
			end := tt.start + time.Duration(tt.asked)*tt.every
			if !l.allow(2, near, end) || !l.allow(1, far, end) {
				t.Error("another server, or another source, shares the bucket")
			}
		})
	}
}

// TestGaps checks that DarkPlaces answers an address once a second, and that queries that come too
// soon do not delay the next answer.
func TestGaps(t *testing.T) {
	near, far := sourceOf(0), sourceOf(1)
	g := newGaps(time.Second)
	for _, c := range []struct {
		server int
		source netip.Addr
		at     time.Duration
		want   bool
	}{
		{1, near, 0, true}, {1, near, 10 * time.Millisecond, false}, {1, near, 990 * time.Millisecond, false},
		{2, near, 10 * time.Millisecond, true}, {1, far, 10 * time.Millisecond, true},
		{1, near, time.Second, true}, {1, near, 1900 * time.Millisecond, false}, {1, near, 2 * time.Second, true},
	} {
		if got := g.allow(c.server, c.source, c.at); got != c.want {
			t.Errorf("server %d answers %v at %v: %v", c.server, c.source, c.at, got)
		}
	}
	for i := range 10 * sweepAt {
		g.allow(i, near, time.Duration(i)*time.Second)
	}
	if len(g.answered) > sweepAt {
		t.Errorf("%d answers are remembered", len(g.answered))
	}
	none := newGaps(0)
	for range 2 {
		if !none.allow(1, near, 0) {
			t.Error("a fleet without a gap leaves questions unanswered")
		}
	}
}

func TestLimiterForgets(t *testing.T) {
	l := newLimiter()
	for i := range 10 * sweepAt {
		l.allow(i, sourceOf(0), time.Duration(i)*time.Millisecond)
	}
	if len(l.buckets) > sweepAt {
		t.Errorf("%d buckets, most of them empty", len(l.buckets))
	}
}

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
