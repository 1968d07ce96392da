package adaptive

import "time"

// level is how much two servers have in common at least.
type level uint8

const (
	anywhere level = iota // nothing
	country               // the country that the database says
	cell                  // and the origin AS
	block                 // and the /16
	site                  // and the /24
	machine               // the address
	levels
)

// kernel answers: a server's RTT is known; how likely is another one under the
// limit that has just this much in common with it? The answer depends on how far
// the RTT is from the limit, on a scale that grows with the limit and has room
// for the lines of both servers.
//
// The tables are those of synthetic worlds and of worlds made from PlanetLab's
// matrix, taken together. The measurements of a run correct what they have too
// much or too little of (see [forecast]).
var (
	kernelAt = [...]float64{-0.90, -0.48, -0.24, -0.13, -0.075, -0.04, -0.014, 0.014, 0.04, 0.075, 0.13, 0.24, 0.48, 1.00}
	kernels  = [levels][len(kernelAt)]float64{
		anywhere: {0.85, 0.75, 0.66, 0.60, 0.55, 0.50, 0.48, 0.45, 0.40, 0.38, 0.35, 0.30, 0.20, 0.08},
		country:  {0.99, 0.97, 0.93, 0.87, 0.82, 0.74, 0.65, 0.36, 0.17, 0.082, 0.032, 0.0073, 0.0014, 0.00036},
		cell:     {0.999, 0.995, 0.985, 0.955, 0.92, 0.87, 0.75, 0.36, 0.099, 0.038, 0.013, 0.0026, 0.00036, 4.5e-05},
		block:    {0.9999, 0.999, 0.995, 0.985, 0.965, 0.94, 0.84, 0.29, 0.032, 0.011, 0.004, 0.001, 0.00013, 1.1e-05},
		site:     {0.9999, 0.9995, 0.998, 0.99, 0.98, 0.965, 0.92, 0.21, 0.0093, 0.004, 0.0019, 0.00066, 8.2e-05, 7.3e-06},
		machine:  {0.9999, 0.9998, 0.999, 0.998, 0.997, 0.995, 0.95, 0.15, 0.004, 0.0019, 0.0014, 0.0005, 4.5e-05, 4e-06},
	}
)

// kernelRoom is what the two servers' lines may differ by.
const kernelRoom = 40 * time.Millisecond

// evidence is what one RTT says, at each level, of the share of servers under
// the limit.
func evidence(rtt, limit time.Duration) (e [levels]float64) {
	x := float64(rtt-limit) / float64(limit+kernelRoom)
	i := 0
	for i < len(kernelAt) && kernelAt[i] < x {
		i++
	}
	for l := range e {
		switch table := &kernels[l]; i {
		case 0:
			e[l] = table[0]
		case len(kernelAt):
			e[l] = table[i-1]
		default:
			at := (x - kernelAt[i-1]) / (kernelAt[i] - kernelAt[i-1])
			e[l] = table[i-1] + at*(table[i]-table[i-1])
		}
	}
	return e
}
