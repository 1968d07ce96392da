package adaptive

import (
	"math/rand/v2"
	"testing"
	"time"

	"muster/discovery/plan/topology"
)

// replies simulates a player's line. 60 networks reply in turn, each from its own distance, with
// jitter. Now and then a packet meets a full queue.
func replies(slower func(reply int, network topology.Node) time.Duration) (noticed []int, s *shift) {
	rng := rand.New(rand.NewPCG(1, 2))
	s = newShift()
	for reply := range 1500 {
		network := topology.Node(reply % 60)
		rtt := time.Duration(30+3*int(network))*ms + time.Duration(rng.ExpFloat64()*float64(2*ms))
		if rng.IntN(60) == 0 {
			rtt += 90 * ms
		}
		if _, ok := s.note(network, reply, rtt+slower(reply, network)); ok {
			noticed = append(noticed, reply)
		}
	}
	return noticed, s
}

func TestAShiftOfThePlayersOwnLine(t *testing.T) {
	tests := map[string]struct {
		slower  func(reply int, network topology.Node) time.Duration
		by      time.Duration
		noticed bool
	}{
		"none":        {func(int, topology.Node) time.Duration { return 0 }, 0, false},
		"all at once": {func(reply int, _ topology.Node) time.Duration { return step(reply >= 700, 50*ms) }, 50 * ms, true},
		"slowly": {func(reply int, _ topology.Node) time.Duration {
			return ms * time.Duration(min(60, max(0, reply-500)/10))
		}, 60 * ms, true},
		"and back":          {func(reply int, _ topology.Node) time.Duration { return step(500 <= reply && reply < 900, 80*ms) }, 0, true},
		"busy at first":     {func(reply int, _ topology.Node) time.Duration { return step(reply < 400, 40*ms) }, 0, true},
		"of eight networks": {func(reply int, n topology.Node) time.Duration { return step(reply >= 500 && n < 8, 100*ms) }, 0, false},
		"of a little":       {func(reply int, _ topology.Node) time.Duration { return step(reply >= 500, 3*ms) }, 0, false},
	}
	for name, tt := range tests {
		noticed, s := replies(tt.slower)
		if (len(noticed) > 0) != tt.noticed || (s.delay-tt.by).Abs() > 8*ms {
			t.Errorf("%s: noticed after %d replies, in the end %v; want %v", name, noticed, s.delay, tt.by)
		}
		if name == "all at once" && noticed[0] > 700+2*shiftWindow {
			t.Errorf("noticed after %d replies", noticed[0]-700)
		}
	}
}

func step(on bool, by time.Duration) time.Duration {
	if on {
		return by
	}
	return 0
}

// TestTheQuieterLineIsTheReference checks that the replies of the busy line are corrected, whether
// it is busy at first, later or in between.
func TestTheQuieterLineIsTheReference(t *testing.T) {
	for name, busy := range map[string]func(reply int) bool{
		"later":             func(reply int) bool { return reply >= 150 },
		"at first":          func(reply int) bool { return reply < 150 },
		"in between":        func(reply int) bool { return reply >= 150 && reply < 300 },
		"first and later":   func(reply int) bool { return reply < 150 || reply >= 300 },
		"at first, twofold": func(reply int) bool { return reply < 300 },
	} {
		s := newShift()
		var corrected []time.Duration
		for reply := range 500 {
			rtt := 100*ms + step(busy(reply), 50*ms)
			if name == "at first, twofold" {
				rtt += step(reply < 150, 30*ms)
			}
			c, _ := s.note(topology.Node(reply%40), reply, rtt)
			for i := range corrected {
				if i < c.since {
					corrected[i] -= c.before
				} else {
					corrected[i] -= c.after
				}
			}
			corrected = append(corrected, rtt-s.delay)
		}
		wrong := 0
		for _, rtt := range corrected {
			if rtt != 100*ms {
				wrong++
			}
		}
		if wrong > 5 {
			t.Errorf("%s: %d of 500 replies are off", name, wrong)
		}
	}
}

// TestABusyLineIsSuspectedOnce checks that replies of a line that was busy from the start on are corrected
// before it is quiet, by what the nearest server suggests, and exactly from then on.
func TestABusyLineIsSuspectedOnce(t *testing.T) {
	for nearest, want := range map[time.Duration]time.Duration{44 * ms: 0, 60 * ms: 50 * ms, 600 * ms: 200 * ms} {
		s := newShift()
		c, suspicious := s.suspect(nearest, 200*ms)
		if suspicious != (want > 0) || c != (change{after: want}) || s.delay != want || s.suspected != suspicious {
			t.Errorf("the nearest at %v: suspected %v, %+v", nearest, suspicious, c)
		}
		if _, again := s.suspect(nearest-s.delay, 200*ms); again {
			t.Errorf("the nearest at %v: suspected twice", nearest)
		}
	}
	for _, guess := range []time.Duration{40 * ms, 70 * ms} {
		s := newShift()
		corrected := make([]time.Duration, 0, 400)
		count := func(c change) {
			for i := range corrected {
				corrected[i] -= c.before
				if i >= c.since {
					corrected[i] += c.before - c.after
				}
			}
		}
		for reply := range 400 {
			if reply == 150 {
				c, _ := s.suspect(guess+usualNearest, 200*ms)
				count(c)
			}
			rtt := 100*ms + step(reply < 200, 50*ms)
			c, _ := s.note(topology.Node(reply%40), reply, rtt)
			count(c)
			corrected = append(corrected, rtt-s.delay)
		}
		for i, rtt := range corrected {
			if rtt != 100*ms {
				t.Errorf("after a suspicion of %v reply %d counts as %v", guess, i, rtt)
				break
			}
		}
		if s.suspected || s.delay != 0 || s.largest != -50*ms {
			t.Errorf("after a suspicion of %v: %+v", guess, s)
		}
	}
}

func TestMedian(t *testing.T) {
	if got := median([]witness{{rtt: 9}, {rtt: -1}, {rtt: 4}}); got != 4 {
		t.Errorf("%v", got)
	}
}
