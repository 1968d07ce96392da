package adaptive

import (
	"time"

	"muster/discovery/plan/topology"
)

// The likelihood table answers one question. A server's RTT is known. How likely is
// another server under the limit if the two have just this level in common? A row is a
// level of the topology. A column is the distance of the RTT from the limit, as a share
// of the limit and [lineMargin]. Values between two columns are interpolated. Beyond
// the outermost columns they do not change.
//
// The table was fitted to synthetic worlds and to worlds made of measured round trips.
// Then the log-odds of the far half, to the right of 0, were multiplied by 1.4 (but not
// at the level of the list), which saves 2 to 4 points of probes. TestFit fits the
// table again. The [calibrator] corrects what does not hold for the network at hand.
var (
	likelihoodAt = [...]float64{-0.90, -0.48, -0.24, -0.13, -0.075, -0.04, -0.014, 0.014, 0.04, 0.075, 0.13, 0.24, 0.48, 1.00}

	likelihoods = [topology.Levels][len(likelihoodAt)]float64{
		topology.List:     {0.85, 0.75, 0.66, 0.60, 0.55, 0.50, 0.48, 0.45, 0.40, 0.38, 0.35, 0.30, 0.20, 0.08},
		topology.Country:  {0.99, 0.97, 0.93, 0.87, 0.82, 0.74, 0.65, 0.36, 0.17, 0.082, 0.032, 0.0073, 0.0014, 0.00036},
		topology.AS:       {0.999, 0.995, 0.985, 0.955, 0.92, 0.87, 0.75, 0.36, 0.099, 0.038, 0.013, 0.0026, 0.00036, 4.5e-05},
		topology.Prefix16: {0.9999, 0.999, 0.995, 0.985, 0.965, 0.94, 0.84, 0.29, 0.032, 0.011, 0.004, 0.001, 0.00013, 1.1e-05},
		topology.Prefix24: {0.9999, 0.9995, 0.998, 0.99, 0.98, 0.965, 0.92, 0.21, 0.0093, 0.004, 0.0019, 0.00066, 8.2e-05, 7.3e-06},
		topology.Address:  {0.9999, 0.9998, 0.999, 0.998, 0.997, 0.995, 0.95, 0.15, 0.004, 0.0019, 0.0014, 0.0005, 4.5e-05, 4e-06},
	}
)

// lineMargin is the possible difference between two servers' access lines. It keeps the
// columns wide enough under small limits.
const lineMargin = 40 * time.Millisecond

// likelihood returns what one RTT says, at each level, about the share of servers under
// the limit.
func likelihood(rtt, limit time.Duration) (share [topology.Levels]float64) {
	x := float64(rtt-limit) / float64(limit+lineMargin)
	i := 0
	for i < len(likelihoodAt) && likelihoodAt[i] < x {
		i++
	}
	for l := range share {
		switch row := &likelihoods[l]; i {
		case 0:
			share[l] = row[0]
		case len(likelihoodAt):
			share[l] = row[i-1]
		default:
			at := (x - likelihoodAt[i-1]) / (likelihoodAt[i] - likelihoodAt[i-1])
			share[l] = row[i-1] + at*(row[i]-row[i-1])
		}
	}
	return share
}
