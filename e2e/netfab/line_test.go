package netfab

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const ms = time.Millisecond

func newLane(l Line) *lane { return &lane{Line: l, rng: rand.New(rand.NewPCG(1, 2))} }

// TestLine checks when packets of a certain line arrive.
func TestLine(t *testing.T) {
	type packet struct {
		size int
		now  time.Duration
		want []time.Duration
	}
	for name, test := range map[string]struct {
		line    Line
		packets []packet
	}{
		"nothing in the way": {Line{}, []packet{{100, 5 * ms, []time.Duration{5 * ms}}}},
		"delay":              {Line{Delay: 20 * ms}, []packet{{100, 0, []time.Duration{20 * ms}}, {100, 1 * ms, []time.Duration{21 * ms}}}},
		"all is lost":        {Line{Loss: 1}, []packet{{100, 0, nil}, {100, 9 * ms, nil}}},
		"all comes twice":    {Line{Duplicate: 1}, []packet{{100, 3 * ms, []time.Duration{3 * ms, 3 * ms}}}},
		"100 bytes take 10 ms, and the second waits": {Line{Rate: 10_000, Delay: 5 * ms}, []packet{
			{100, 0, []time.Duration{15 * ms}}, {100, 0, []time.Duration{25 * ms}}, {100, 100 * ms, []time.Duration{115 * ms}},
		}},
		"the third finds no room to wait": {Line{Rate: 10_000, Queue: 200}, []packet{
			{100, 0, []time.Duration{10 * ms}}, {100, 0, []time.Duration{20 * ms}}, {100, 0, nil}, {100, 10 * ms, []time.Duration{30 * ms}},
		}},
		"held back": {Line{Delay: 20 * ms, Reorder: 1}, []packet{{100, 0, []time.Duration{45 * ms}}}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLane(test.line)
			for i, p := range test.packets {
				if got := l.pass(p.size, p.now); !slices.Equal(got, p.want) {
					t.Errorf("packet %d arrives at %v, want %v", i, got, p.want)
				}
			}
		})
	}
}

// TestLineShares checks the shares over many packets.
func TestLineShares(t *testing.T) {
	const packets, every = 100_000, ms
	lost, twice, overtaken, runs, last := 0, 0, 0, 0, time.Duration(0)
	wasLost := false
	l := newLane(Line{Delay: 20 * ms, Jitter: 5 * ms, Loss: 0.05, Burst: 4, Duplicate: 0.03, Reorder: 0.02})
	for i := range packets {
		at := l.pass(100, time.Duration(i)*every)
		switch len(at) {
		case 0:
			if !wasLost {
				runs++
			}
			lost++
			wasLost = true
			continue
		case 2:
			twice++
		}
		wasLost = false
		if at[0] < last {
			overtaken++
		}
		last = max(last, at[0])
		if late := at[0] - time.Duration(i)*every; late < 20*ms || late > 20*ms+5*ms+heldBack {
			t.Fatalf("packet %d took %v", i, late)
		}
	}
	for name, share := range map[string]struct{ got, want float64 }{
		"lost":                     {float64(lost) / packets, 0.05},
		"losses in a row":          {float64(lost) / float64(runs), 4},
		"of those that came twice": {float64(twice) / float64(packets-lost), 0.03},
	} {
		if math.Abs(share.got-share.want) > share.want/10 {
			t.Errorf("%s: %.4f, want about %.4f", name, share.got, share.want)
		}
	}
	if overtaken == 0 {
		t.Error("nobody was overtaken")
	}
	if l.passed.Entered != packets || l.passed.Lost != lost {
		t.Errorf("counted %+v, want %d packets and %d lost", l.passed, packets, lost)
	}
}

// TestJitterKeepsOrder checks that packets with varying delay do not overtake each other.
func TestJitterKeepsOrder(t *testing.T) {
	l := newLane(Line{Delay: 20 * ms, Jitter: 50 * ms})
	last := time.Duration(0)
	for i := range 1000 {
		at := l.pass(100, time.Duration(i)*ms)
		if at[0] < last {
			t.Fatalf("packet %d arrives at %v, after one that arrives at %v", i, at[0], last)
		}
		last = at[0]
	}
}
