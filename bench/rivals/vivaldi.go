package rivals

import (
	"math"
	"math/rand/v2"
)

// These are Vivaldi's constants. rounds is how often each measurement is used.
const (
	dimensions = 4
	errorGain  = 0.25 // c_e
	stepGain   = 0.25 // c_c
	minMS      = 0.1  // heights and round trips
	passes     = 40
)

type position struct {
	at     [dimensions]float64
	height float64
	err    float64
}

// vivaldi gives each node a place in four dimensions and a height, so that distances approximate
// the measurements. The source is Dabek, Cox, Kaashoek, Morris, "Vivaldi: A Decentralized Network
// Coordinate System", SIGCOMM 2004, figure 3 and section 5.4.
func vivaldi(nodes int, measured []edge, rng *rand.Rand) func(a, b int) float64 {
	positions := make([]position, nodes)
	for i := range positions {
		positions[i].height, positions[i].err = minMS, 1
	}
	for range passes {
		rng.Shuffle(len(measured), func(i, j int) { measured[i], measured[j] = measured[j], measured[i] })
		for _, e := range measured {
			positions[e.a].pull(&positions[e.b], e.ms, rng)
			positions[e.b].pull(&positions[e.a], e.ms, rng)
		}
	}
	return func(a, b int) float64 { return positions[a].distance(&positions[b]) }
}

func (p *position) distance(q *position) float64 {
	sum := 0.0
	for d := range p.at {
		sum += (p.at[d] - q.at[d]) * (p.at[d] - q.at[d])
	}
	return math.Sqrt(sum) + p.height + q.height
}

// pull moves a node by its measurement of another.
func (p *position) pull(q *position, ms float64, rng *rand.Rand) {
	ms = max(minMS, ms)
	distance := p.distance(q)
	weight := p.err / (p.err + q.err)
	p.err = min(1, max(0.01, p.err+errorGain*weight*(math.Abs(distance-ms)/ms-p.err)))
	force := stepGain * weight * (ms - distance)
	flat := max(1e-9, distance-p.height-q.height)
	for d := range p.at {
		away := (p.at[d] - q.at[d]) / distance
		if flat < minMS { // on one spot: anywhere
			away = rng.Float64() - 0.5
		}
		p.at[d] += force * away
	}
	p.height = max(minMS, p.height+force*(p.height+q.height)/distance)
}
