package sim

import (
	"cmp"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/plan"
)

// Simulation summarises runs of one strategy on one vantage, a row of muster.simulation/1. Numbers
// are medians over the runs, but Recall and ExcessMS are means.
type Simulation struct {
	Data string `json:"data"`
	// Start tells a cold from a warm start if second visits are simulated.
	Start    Start              `json:"start,omitempty"`
	Strategy discovery.Strategy `json:"strategy"`
	AutoStop discovery.AutoStop `json:"auto_stop"`
	Listed   int                `json:"listed"`
	// Clusters and Calibration come from the plan's summary.
	Clusters    int `json:"clusters"`
	Calibration int `json:"calibration"`
	// Probes counts distinct servers probed, and Percent is their share of the list.
	Probes  int     `json:"probes"`
	Percent float64 `json:"percent"`
	// MeanPercent is the mean over the runs. It says more if they are from dissimilar places.
	MeanPercent float64 `json:"mean_percent"`
	// Seconds is the time until the last reply, or until silence was certain.
	Seconds float64 `json:"seconds"`
	// Playable servers answer and are nearer than the limit.
	Playable      int     `json:"playable"`
	PlayableFound int     `json:"playable_found"`
	Recall        float64 `json:"recall"`
	// WorstRecall is the recall of the worst run.
	WorstRecall float64 `json:"worst_recall"`
	// First10 and First100 are how many probes were sent until so many playable servers were on the
	// screen, 0 if there never were as many.
	First10  int `json:"first_10"`
	First100 int `json:"first_100"`
	// Stopped says that most runs ended before the list was through.
	Stopped bool `json:"stopped"`
	// ExcessMS is how much farther the nearest found are than the truly nearest, on average. It is
	// 0 unless the run looked for the nearest.
	ExcessMS float64 `json:"excess_ms"`
	// Within is the share of the nearest found that are within 5 ms of the truly N-th.
	Within float64 `json:"within_5ms"`
	Runs   int     `json:"runs"`
	// Claims is how many runs claimed a share found, and ClaimsHeld is how many of them found as
	// much. Shifts is how many noticed that the player's own line had changed.
	Claims     int `json:"claims"`
	ClaimsHeld int `json:"claims_held"`
	Shifts     int `json:"shifts"`
}

// runs are runs of one case, or of several that count as one.
type runs struct {
	Case
	all []Run
}

// Run runs a strategy once, on the packet pairs of the plan's seed.
func (v *Vantage) Run(strategy discovery.Strategy, options discovery.PlanOptions, o ReplayOptions) ([]discovery.Result, Run, error) {
	options.MaxRTT = cmp.Or(options.MaxRTT, 200*time.Millisecond)
	p, err := plan.New(strategy, v.Topology(), options)
	if err != nil {
		return nil, Run{}, err
	}
	o.Run = options.Seed
	results, took := v.Replay(p, o)
	return results, v.measure(results, took, p.Summary(), v.truth(options)), nil
}

// truth is the knowledge of an observer who has measured everything.
type truth struct {
	limit    time.Duration
	Playable int
	nearest  []time.Duration // sorted
}

func (v *Vantage) truth(plan discovery.PlanOptions) truth {
	t := truth{limit: plan.MaxRTT}
	var rtts []time.Duration
	for _, rtt := range v.RTT {
		if rtt < 0 {
			continue
		}
		rtts = append(rtts, rtt)
		if rtt < t.limit {
			t.Playable++
		}
	}
	if plan.Nearest > 0 {
		slices.Sort(rtts)
		t.nearest = rtts[:min(plan.Nearest, len(rtts))]
	}
	return t
}

// Run is the result of one run.
type Run struct {
	Summary        discovery.PlanSummary
	Listed         int
	Playable       int
	Probes, Found  int
	first10        int
	first100       int
	Recall         float64
	Excess, Within float64
	seconds        float64
}

func (v *Vantage) measure(results []discovery.Result, took time.Duration, s discovery.PlanSummary, t truth) Run {
	r := Run{Summary: s, Listed: len(v.Servers), Playable: t.Playable, Probes: len(results), seconds: took.Seconds(), Recall: 1}
	var answered []discovery.Result
	for _, result := range results {
		if result.State != discovery.Answered {
			continue
		}
		answered = append(answered, result)
		if v.RTT[result.Server] < t.limit {
			r.Found++
			switch r.Found {
			case 10:
				r.first10 = result.Order
			case 100:
				r.first100 = result.Order
			}
		}
	}
	if t.Playable > 0 {
		r.Recall = float64(r.Found) / float64(t.Playable)
	}
	if len(t.nearest) > 0 {
		r.Excess, r.Within = v.excess(answered, t.nearest)
	}
	return r
}

// nearEnough is how much farther than the truly N-th a server may be and still be as good.
const nearEnough = 5 * time.Millisecond

// Excess compares the nearest servers found, by their measured RTTs, with the truly nearest.
func (v *Vantage) excess(answered []discovery.Result, nearest []time.Duration) (ms, within float64) {
	slices.SortFunc(answered, func(a, b discovery.Result) int {
		return cmp.Or(cmp.Compare(a.RTT, b.RTT), cmp.Compare(a.Server, b.Server))
	})
	last := nearest[len(nearest)-1]
	var sum time.Duration
	for i, rtt := range nearest {
		sum -= rtt
		if i >= len(answered) {
			sum += longestRTT // the worst case: there is no such server
			continue
		}
		found := v.RTT[answered[i].Server]
		sum += found
		if found <= last+nearEnough {
			within++
		}
	}
	n := float64(len(nearest))
	return sum.Seconds() * 1000 / n, within / n
}

func (r *runs) sum() Simulation {
	all := r.all
	s := Simulation{
		Data: r.Vantage.Name, Start: r.start, Strategy: r.Strategy, AutoStop: r.Plan.AutoStop.Of(r.Strategy), Runs: len(all),
		Listed:        medianOf(all, func(r Run) int { return r.Listed }),
		Clusters:      medianOf(all, func(r Run) int { return r.Summary.Clusters }),
		Calibration:   medianOf(all, func(r Run) int { return r.Summary.Calibration }),
		Probes:        medianOf(all, func(r Run) int { return r.Probes }),
		Seconds:       medianOf(all, func(r Run) float64 { return r.seconds }),
		Playable:      medianOf(all, func(r Run) int { return r.Playable }),
		PlayableFound: medianOf(all, func(r Run) int { return r.Found }),
		First10:       medianOf(all, func(r Run) int { return r.first10 }),
		First100:      medianOf(all, func(r Run) int { return r.first100 }),
		WorstRecall:   1,
	}
	s.Percent = 100 * float64(s.Probes) / float64(max(1, s.Listed))
	stopped, n := 0, float64(max(1, len(all)))
	for _, r := range all {
		s.MeanPercent += 100 * float64(r.Probes) / float64(max(1, r.Listed)) / n
		s.Recall += r.Recall / n
		s.WorstRecall = min(s.WorstRecall, r.Recall)
		s.ExcessMS += r.Excess / n
		s.Within += r.Within / n
		if r.Summary.AutoStopped {
			stopped++
		}
		if r.Summary.Shift != 0 {
			s.Shifts++
		}
		if c := r.Summary.Claim; c.High > 0 {
			s.Claims++
			if c.Low <= r.Recall {
				s.ClaimsHeld++
			}
		}
	}
	s.Stopped = 2*stopped > len(all)
	return s
}

// medianOf returns the median over the runs, the lower of two.
func medianOf[T cmp.Ordered](all []Run, of func(Run) T) T {
	var values []T
	for _, r := range all {
		values = append(values, of(r))
	}
	slices.Sort(values)
	if len(values) == 0 {
		var zero T
		return zero
	}
	return values[(len(values)-1)/2]
}
