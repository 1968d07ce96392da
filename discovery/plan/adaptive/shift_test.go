package adaptive

import (
	"math/rand/v2"
	"testing"
	"time"

	"muster/discovery/plan/topology"
)

// replies simulates a player's line: 60 networks reply in turn, each at its own
// distance, with jitter and the odd packet that meets a full queue.
func replies(slower func(reply int, network topology.Node) time.Duration) (noticed []int, s *shift) {
	rng := rand.New(rand.NewPCG(1, 2))
	s = newShift()
	for reply := range 1500 {
		network := topology.Node(reply % 60)
		rtt := time.Duration(30+3*int(network))*ms + time.Duration(rng.ExpFloat64()*float64(2*ms))
		if rng.IntN(60) == 0 {
			rtt += 90 * ms
		}
		if _, more := s.note(network, reply, rtt+slower(reply, network)); more != 0 {
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
		"busy at first":     {func(reply int, _ topology.Node) time.Duration { return step(reply < 400, 40*ms) }, -40 * ms, true},
		"of eight networks": {func(reply int, n topology.Node) time.Duration { return step(reply >= 500 && n < 8, 100*ms) }, 0, false},
		"of a little":       {func(reply int, _ topology.Node) time.Duration { return step(reply >= 500, 3*ms) }, 0, false},
	}
	for name, tt := range tests {
		noticed, s := replies(tt.slower)
		if (len(noticed) > 0) != tt.noticed || (s.by-tt.by).Abs() > 8*ms {
			t.Errorf("%s: noticed after %d replies, in the end %v; want %v", name, noticed, s.by, tt.by)
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

func TestRepliesSinceAShiftAreCorrected(t *testing.T) {
	s := newShift()
	for reply := range 200 {
		rtt := 100 * ms
		if reply >= 150 {
			rtt += 50 * ms
		}
		network := topology.Node(reply % 40)
		if since, more := s.note(network, reply, rtt); more != 0 {
			if since != 150 || more != 50*ms || reply < 150 {
				t.Errorf("after reply %d: %v more since %d", reply, more, since)
			}
			return
		}
	}
	t.Error("nothing was noticed")
}

func TestMedian(t *testing.T) {
	if got := median([]witness{{rtt: 9}, {rtt: -1}, {rtt: 4}}); got != 4 {
		t.Errorf("%v", got)
	}
}
