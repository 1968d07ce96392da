// Package estimate estimates the pings of a guest without a program to measure them. It uses the
// place of the guest's line and the other players' measurements. It is pure.
//
//	guest's country, AS ─┐
//	players' places ─────┼─▶ New ─▶ Estimator ─▶ Estimate: RTT ± error of each server
//	                     │              ▲
//	tables of addresses ─┘              │ players' RTTs to that server, its country
//
// # Model
//
// The RTT from a place p to a server s is Gaussian around what its distance makes likely,
//
//	μ = base + perKm·km,   σ = offBase + offPerKm·km,   z(p,s) = (rtt − μ)/σ
//
// where km is the distance between the two countries' centres of population, combined, as if at
// right angles, with the distances at which people live from these. The z of two places to one
// server have a correlation that falls with the distance between the places,
//
//	k(p,q) = nearby·exp(−km(p,q)/fades)
//
// It is nearer to 1 for places in one AS or /16 of a country, and almost 1 behind one address. So
// the guest's z is the best linear estimate from the players' (kriging, Krige 1951): wᵀz with w =
// K⁻¹k, and its variance 1 − kᵀw.
//
// # Where the numbers come from
//
// They are fitted to round trips between 225 cities of 86 countries (WonderProxy, July 2020),
// except for those of one network, which no such table tells:
//
//	go test ./selection/estimate -run Fit -v -fit-matrix FILE -fit-countries FILE
//
// bench/experiments/guest-estimates.md has how good the estimates are elsewhere.
package estimate

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/selection"
	"muster/selection/rules"
)

// Place is what the host knows of where a player's line ends.
type Place struct {
	// Addr is the public address, the same for everybody behind one line. The zero value means
	// unknown.
	Addr netip.Addr
	// Country is an ISO 3166-1 alpha-2 code, or empty.
	Country string
	// ASN is the AS that originates the address's prefix, or 0.
	ASN uint32
}

// Estimate is an RTT and its standard deviation.
type Estimate struct{ RTT, Error time.Duration }

// model holds the model's numbers. Times are in ms.
type model struct {
	base, perKm       float64
	offBase, offPerKm float64
	nearby, fades     float64 // the latter in km
	network, line     float64 // how much of the gap to 1 is closed by one network, or by one line
}

var fitted = model{
	base: 13, perKm: 0.018, offBase: 16, offPerKm: 0.0021,
	nearby: 0.97, fades: 4000,
	network: 0.6, line: 0.99,
}

const (
	// maxPlayers is the most players that an estimate uses: the most telling ones.
	maxPlayers = 8
	// lowest is the lowest estimate, in ms. Only a machine next to the server is nearer.
	lowest = 1
	// unknownRTT and unknownOff are the RTT and its deviation, in ms, for a server in an unknown
	// country. They are those of selection/coordinate for a player who has measured nothing.
	unknownRTT, unknownOff = 150, 100
	// usualKm is the distance to a server that a group might choose. The typical error before
	// anything is measured is computed with it.
	usualKm = 1500
	// usualCountry is the distance, in km, between two people of a country of unknown size.
	usualCountry = 500
)

// network is the prefix of addresses that mostly have one way out.
var network = discovery.Bits{V4: 16, V6: 32}

// Estimator estimates one guest's RTTs.
type Estimator struct {
	model
	guest   Place
	players []Place
	order   []int // the players, the most telling first
	toGuest []float64
	between [][]float64
	// weights cache the players' weights and the remaining variance, by the set of players who
	// measured.
	weights map[uint64]weighing
	// ways cache the usual RTTs to a country: the players', in that order, and the guest's.
	ways map[string][]way
}

// way is the usual RTT from one place to a country, in ms.
type way struct{ mean, off float64 }

type weighing struct {
	of   []float64
	left float64
}

// New returns the estimator of a guest among players.
func New(guest Place, players []Place) *Estimator { return fitted.estimator(guest, players) }

func (m model) estimator(guest Place, players []Place) *Estimator {
	e := &Estimator{model: m, guest: guest, players: players, weights: map[uint64]weighing{}, ways: map[string][]way{}}
	all := make([]float64, len(players))
	for i, p := range players {
		all[i] = m.correlation(guest, p)
		e.order = append(e.order, i)
	}
	slices.SortStableFunc(e.order, func(a, b int) int { return cmp.Compare(all[b], all[a]) })
	e.order = e.order[:min(maxPlayers, len(e.order))]
	for _, i := range e.order {
		e.toGuest = append(e.toGuest, all[i])
		row := make([]float64, len(e.order))
		for at, j := range e.order {
			row[at] = m.correlation(players[i], players[j])
			if i == j {
				row[at] = 1
			}
		}
		e.between = append(e.between, row)
	}
	return e
}

// correlation returns that of the two places' ways to any one server.
func (m model) correlation(a, b Place) float64 {
	k := 0.0
	km, known := kmBetween(a.Country, b.Country)
	if !known && a.Country != "" && a.Country == b.Country {
		km, known = usualCountry, true
	}
	if known {
		k = m.nearby * math.Exp(-km/m.fades)
	}
	prefix := network.Of(a.Addr)
	switch {
	case a.Addr.IsValid() && a.Addr == b.Addr:
		k += m.line * (1 - k)
	case a.Country == "" || a.Country != b.Country:
	case a.ASN != 0 && a.ASN == b.ASN, prefix.IsValid() && prefix == network.Of(b.Addr):
		k += m.network * (1 - k)
	}
	return k
}

// usual returns the likely RTT from one country to another, in ms.
func (m model) usual(from, to string) way {
	km, known := kmBetween(from, to)
	if !known {
		return way{unknownRTT, unknownOff}
	}
	return way{m.base + m.perKm*km, m.offBase + m.offPerKm*km}
}

// Estimate returns the guest's likely RTT to a server of a country. The players' RTTs to it are in
// the order of New. 0 stands for one that is not known.
func (e *Estimator) Estimate(country string, rtts []time.Duration) Estimate {
	var who uint64
	for at, i := range e.order {
		if rtts[i] > 0 {
			who |= 1 << at
		}
	}
	w, ways := e.weighing(who), e.waysTo(country)
	z, n := 0.0, 0
	for at, i := range e.order {
		if who&(1<<at) != 0 {
			z += w.of[n] * (discovery.MS(rtts[i]) - ways[at].mean) / ways[at].off
			n++
		}
	}
	own := ways[len(e.order)]
	return Estimate{duration(max(lowest, own.mean+own.off*z)), duration(own.off * math.Sqrt(w.left))}
}

func (e *Estimator) waysTo(country string) []way {
	ways, known := e.ways[country]
	if !known {
		for _, i := range e.order {
			ways = append(ways, e.usual(e.players[i].Country, country))
		}
		ways = append(ways, e.usual(e.guest.Country, country))
		e.ways[country] = ways
	}
	return ways
}

// IsWorthwhile reports whether a rule's choices are better for everybody if the guest counts with
// these estimates. On hold-out worlds (bench/experiments/guest-estimates.md) choices get worse if
// the estimates' error exceeds what the rule allows: among thousands of servers some always look
// near by mistake.
func (e *Estimator) IsWorthwhile(by selection.Rule) bool {
	return e.Typical() <= rules.Of(by).Estimates
}

// Typical returns the error of the estimate for a server that all players have measured, at the
// usual distance of chosen servers.
func (e *Estimator) Typical() time.Duration {
	off := e.offBase + e.offPerKm*usualKm
	return duration(off * math.Sqrt(e.weighing(1<<len(e.order)-1).left))
}

// weighing returns the weights of the players whose bits are set, by the estimator's order.
func (e *Estimator) weighing(who uint64) weighing {
	if w, known := e.weights[who]; known {
		return w
	}
	var k []float64
	var K [][]float64
	for at := range e.order {
		if who&(1<<at) == 0 {
			continue
		}
		k = append(k, e.toGuest[at])
		var row []float64
		for other := range e.order {
			if who&(1<<other) != 0 {
				row = append(row, e.between[at][other])
			}
		}
		K = append(K, row)
	}
	w := weighing{of: solve(K, k), left: 1}
	for i := range k {
		w.left -= k[i] * w.of[i]
	}
	w.left = max(0, w.left)
	e.weights[who] = w
	return w
}

// solve solves K·x = k for a covariance K by Cholesky's decomposition. Rows that hardly differ from
// earlier ones get weight 0.
func solve(K [][]float64, k []float64) []float64 {
	const alike = 1e-6
	n := len(k)
	x := slices.Clone(k)
	L := make([][]float64, n)
	for i := range n {
		L[i] = make([]float64, n)
		for j := range i + 1 {
			sum := K[i][j]
			for m := range j {
				sum -= L[i][m] * L[j][m]
			}
			switch {
			case i == j:
				L[i][i] = math.Sqrt(max(alike, sum))
			default:
				L[i][j] = sum / L[j][j]
			}
		}
	}
	for i := range n {
		for m := range i {
			x[i] -= L[i][m] * x[m]
		}
		x[i] /= L[i][i]
	}
	for i := n - 1; i >= 0; i-- {
		for m := i + 1; m < n; m++ {
			x[i] -= L[m][i] * x[m]
		}
		x[i] /= L[i][i]
	}
	return x
}

func duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
