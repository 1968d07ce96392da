package estimate

import (
	"math"
	"slices"
	"time"

	"muster/discovery/countries"
)

// Landmark is a machine to which the guest's RTT is known, such as a place of a provider.
type Landmark struct {
	// Country is an ISO 3166-1 alpha-2 code, or empty.
	Country string
	// Lat and Lon are its position in degrees. Both are 0 if only the country is known.
	Lat, Lon float64
	// Guest is the guest's RTT.
	Guest time.Duration
	// Players are the players' RTTs, in the order of New. 0 stands for one that is not known. It is
	// nil if none is.
	Players []time.Duration
}

// Equal reports whether two landmarks are the same.
func (l Landmark) Equal(other Landmark) bool {
	return l.Country == other.Country && l.Lat == other.Lat && l.Lon == other.Lon && l.Guest == other.Guest &&
		slices.Equal(l.Players, other.Players)
}

func (l Landmark) at() position {
	if l.Lat != 0 || l.Lon != 0 {
		return position{countries.Place{Lat: l.Lat, Lon: l.Lon}, true}
	}
	return positionOf(l.Country)
}

// kinship holds the numbers of how the errors at two machines resemble each other.
type kinship struct {
	offset  float64 // share of an error that is the same at all machines, such as the guest's access
	weights float64 // share, per ms, by which other players should have counted more
	local   float64 // share that the machines nearby have in common
	reach   float64 // over how many ms, or km as ms, they fade to a third
	unseen  float64 // how much of all this counts if players have measured only one of two
	wider   float64 // how much wider errors are, because their tails are long
	doubt   float64 // how many landmarks' worth the claimed errors count for
}

// browserOff is the deviation of a browser's measurement, in ms.
const browserOff = 1.5

// machine is a server or a landmark, before the landmarks are considered.
type machine struct {
	at   position
	rtts []float64 // those of the estimator's players, in ms, 0 for unknown ones
	way            // the guest's likely RTT
	left float64   // the share of the variance that the players leave
}

// isSomewhere reports whether anything tells where a machine is.
func (m machine) isSomewhere() bool {
	return m.at.known || m.isMeasured()
}

// isMeasured reports whether any player has measured a machine.
func (m machine) isMeasured() bool {
	return slices.ContainsFunc(m.rtts, func(rtt float64) bool { return rtt > 0 })
}

// landmarks are what a guest's landmarks tell about the errors of the estimates without them.
type landmarks struct {
	kinship
	perKm float64
	at    []machine
	off   []float64   // the errors there, in ms
	k     [][]float64 // their covariance
	alpha []float64   // its inverse, times the errors
	scale float64     // how much larger the errors are than claimed
}

// solve prepares the landmarks for correct.
func (l *landmarks) solve() {
	l.k, l.scale = nil, 1
	for i, a := range l.at {
		row := make([]float64, len(l.at))
		for j, b := range l.at {
			row[j] = l.covariance(a, b)
		}
		row[i] += browserOff * browserOff
		l.k = append(l.k, row)
	}
	l.alpha = solve(l.k, l.off)
	sum := l.doubt
	for i, a := range l.alpha {
		sum += a * l.off[i]
	}
	l.scale = l.wider * math.Sqrt(sum/(l.doubt+float64(len(l.at))))
}

// correct returns the likely RTT to a machine with the landmarks.
func (l *landmarks) correct(m machine) way {
	if len(l.at) == 0 || !m.isSomewhere() {
		return m.way
	}
	k := make([]float64, len(l.at))
	corrected := m.mean
	for i, a := range l.at {
		k[i] = l.covariance(m, a)
		corrected += k[i] * l.alpha[i]
	}
	left := l.covariance(m, m) + browserOff*browserOff
	for i, w := range solve(l.k, k) {
		left -= w * k[i]
	}
	return way{corrected, l.scale * math.Sqrt(max(0, left))}
}

func (l *landmarks) without(i int) *landmarks {
	fewer := *l
	fewer.at, fewer.off = slices.Delete(slices.Clone(l.at), i, i+1), slices.Delete(slices.Clone(l.off), i, i+1)
	fewer.solve()
	return &fewer
}

// covariance returns that of the errors at two machines.
func (l *landmarks) covariance(a, b machine) float64 {
	share, isKnown := l.offset*l.offset, false
	apart := 0.0 // the least RTT between the two that a triangle with a player allows
	for p, x := range a.rtts {
		if y := b.rtts[p]; x > 0 && y > 0 {
			share += l.weights * l.weights * (x - a.mean) * (y - b.mean)
			apart, isKnown = max(apart, math.Abs(x-y)), true
		}
	}
	if km, known := a.at.kmTo(b.at); known {
		apart, isKnown = max(apart, l.perKm*km), true
	}
	if isKnown {
		share += l.local * l.local / (1 + apart/l.reach)
	}
	if a.isMeasured() != b.isMeasured() {
		share *= l.unseen
	}
	return share * a.off * b.off * math.Sqrt(min(a.left, b.left)/max(a.left, b.left))
}
