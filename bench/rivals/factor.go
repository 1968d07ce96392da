package rivals

import "math/rand/v2"

// These are DMFSGD's constants (rank, step, regularisation), and the unit of its values.
const (
	rank      = 10
	learning  = 0.1
	shrinkage = 0.1
	unitMS    = 100
	steps     = 8_000_000 // at most: with many measurements each is used less often
	maxTurns  = 400
)

// dmfsgd gives each node two vectors whose products approximate the measurements. The source is
// Liao, Du, Geurts, Leduc, "DMFSGD: A Decentralized Matrix Factorization Algorithm for Network
// Distance Prediction", IEEE/ACM ToN 21(5), 2013, with the square loss and vectors that are never
// negative (section V). Round trips are the same both ways.
func dmfsgd(nodes int, measured []edge, rng *rand.Rand) func(a, b int) float64 {
	type factors struct{ out, in [rank]float64 }
	all := make([]factors, nodes)
	for i := range all {
		for k := range rank {
			all[i].out[k], all[i].in[k] = rng.Float64()/rank, rng.Float64()/rank
		}
	}
	product := func(a, b *[rank]float64) (sum float64) {
		for k := range rank {
			sum += a[k] * b[k]
		}
		return sum
	}
	step := func(u, v *[rank]float64, x float64) {
		off := x - product(u, v)
		for k := range rank {
			uk := u[k]
			u[k] = max(0, (1-learning*shrinkage)*uk+learning*off*v[k])
			v[k] = max(0, (1-learning*shrinkage)*v[k]+learning*off*uk)
		}
	}
	for range min(maxTurns, 1+steps/max(1, len(measured))) {
		rng.Shuffle(len(measured), func(i, j int) { measured[i], measured[j] = measured[j], measured[i] })
		for _, e := range measured {
			step(&all[e.a].out, &all[e.b].in, e.ms/unitMS)
			step(&all[e.b].out, &all[e.a].in, e.ms/unitMS)
		}
	}
	return func(a, b int) float64 { return unitMS * product(&all[a].out, &all[b].in) }
}
