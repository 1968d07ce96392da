// Package estimate estimates the pings of a guest without a program to measure them. It uses the
// place of the guest's line and the other players' measurements. It is pure.
//
//	guest's country, AS ─┐
//	players' places ─────┼─▶ New ─▶ Estimator ─▶ Estimate: RTT ± error of each server
//	RTTs to landmarks ───┤              ▲
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
// A server in an unknown country is where the nearest player is, and so is one that a player is too
// near to, because its country must be wrong. If that player's place is unknown, too, the players'
// RTTs tell how far the server is.
//
// # Landmarks
//
// The guest may have measured landmarks, such as places of providers. The estimate errs there by a
// known amount, and errors resemble each other, the more the nearer two machines are:
//
//	c(s,l) = σ(s)·σ(l)·(offset² + weights²·Σ d(p,s)·d(p,l) + local²/(1 + apart/reach))
//
// where σ is the error without landmarks, d(p,s) how far a player's RTT is from the estimate, and
// apart the least RTT between the two that distances and triangles with players allow. So the error
// at a server is kriged, too. How far the landmarks are off tells how large errors of this guest are.
//
// # Where the numbers come from
//
// They are fitted to round trips between 225 cities of 86 countries (WonderProxy, July 2020),
// except for those of one network, which no such table tells:
//
//	go test ./selection/estimate -run Fit -v -fit-matrix FILE -fit-countries FILE
//
// Those for landmarks are fitted to half of PlanetLab's hosts, see TestFitLandmarks.
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
	"muster/discovery/countries"
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
	kinship
}

var fitted = model{
	base: 13, perKm: 0.018, offBase: 16, offPerKm: 0.0021,
	nearby: 0.97, fades: 4000,
	network: 0.6, line: 0.99,
	kinship: kinship{offset: 0.17, weights: 0.0012, local: 0.18, reach: 20, unseen: 0.5, wider: 1.2, doubt: 7},
}

const (
	// maxPlayers is the most players that an estimate uses: the most telling ones.
	maxPlayers = 8
	// fewest is with how many players landmarks make estimates surer. To a single player, servers
	// with a wrong country seem as near as others, and choices got worse. So they did with landmarks
	// that no player has measured.
	fewest = 2
	// lowest is the lowest estimate, in ms. Only a machine next to the server is nearer.
	lowest = 1
	// unknownRTT and unknownOff are the RTT and its deviation, in ms, over an unknown distance. They
	// are those of selection/coordinate for a player who has measured nothing.
	unknownRTT, unknownOff = 150, 100
	// tooNear is how many deviations below the usual RTT prove that a server's country is wrong.
	tooNear = -2
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
	ways  map[string][]way
	marks landmarks
	// typical caches the typical error.
	typical time.Duration
}

// way is an RTT from one place to another and its deviation, in ms.
type way struct{ mean, off float64 }

// weighing holds the weights of players' RTTs, and the share of the variance that they leave.
type weighing struct {
	of   []float64
	left float64
}

// unreached returns the share of an unknown mean that players do not tell.
func (w weighing) unreached() float64 {
	share := 1.0
	for _, of := range w.of {
		share -= of
	}
	return max(0, share)
}

// New returns the estimator of a guest among players. Known are the landmarks that the guest has
// measured.
func New(guest Place, players []Place, known ...Landmark) *Estimator {
	return fitted.estimator(guest, players, known)
}

func (m model) estimator(guest Place, players []Place, known []Landmark) *Estimator {
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
	e.marks = landmarks{kinship: m.kinship, perKm: m.perKm}
	for _, l := range known {
		rtts := l.Players
		if rtts == nil {
			rtts = make([]time.Duration, len(players))
		}
		at := e.machine(l.at(), e.waysTo(l.at()), rtts)
		if at.isSomewhere() {
			e.marks.at, e.marks.off = append(e.marks.at, at), append(e.marks.off, discovery.MS(l.Guest)-at.mean)
		}
	}
	e.marks.solve()
	e.typical = e.usualError()
	return e
}

// correlation returns that of the two places' ways to any one server.
func (m model) correlation(a, b Place) float64 {
	k := 0.0
	km, known := positionOf(a.Country).kmTo(positionOf(b.Country))
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

// usual returns the likely RTT between two positions, in ms.
func (m model) usual(from, to position) way {
	km, known := from.kmTo(to)
	if !known {
		return way{unknownRTT, unknownOff}
	}
	return m.over(km)
}

// over returns the likely RTT over a distance, in ms.
func (m model) over(km float64) way { return way{m.base + m.perKm*km, m.offBase + m.offPerKm*km} }

// Estimate returns the guest's likely RTT to a server of a country. The players' RTTs to it are in
// the order of New. 0 stands for one that is not known.
func (e *Estimator) Estimate(country string, rtts []time.Duration) Estimate {
	country = e.likely(country, rtts)
	w := e.marks.correct(e.machine(positionOf(country), e.waysInto(country), rtts))
	return Estimate{duration(max(lowest, w.mean)), duration(w.off)}
}

// likely returns a server's country, or that of the player nearest to the server if its own is
// unknown, or wrong: some player is too near to it.
func (e *Estimator) likely(country string, rtts []time.Duration) string {
	ways := e.waysInto(country)
	isTold, nearest := positionOf(country).known, -1
	for at, i := range e.order {
		if rtts[i] <= 0 {
			continue
		}
		isTold = isTold && (discovery.MS(rtts[i])-ways[at].mean)/ways[at].off > tooNear
		if positionOf(e.players[i].Country).known && (nearest < 0 || rtts[i] < rtts[nearest]) {
			nearest = i
		}
	}
	if !isTold && nearest >= 0 {
		return e.players[nearest].Country
	}
	return country
}

// waysInto returns the usual RTTs to a country.
func (e *Estimator) waysInto(country string) []way {
	ways, known := e.ways[country]
	if !known {
		ways = e.waysTo(positionOf(country))
		e.ways[country] = ways
	}
	return ways
}

// waysTo returns the usual RTTs to a position: the players', and the guest's.
func (e *Estimator) waysTo(at position) []way {
	ways := make([]way, 0, len(e.order)+1)
	for _, i := range e.order {
		ways = append(ways, e.usual(positionOf(e.players[i].Country), at))
	}
	return append(ways, e.usual(positionOf(e.guest.Country), at))
}

// machine returns a machine with the RTT that is likely without landmarks.
func (e *Estimator) machine(at position, ways []way, rtts []time.Duration) machine {
	m := machine{at: at, rtts: make([]float64, len(e.order))}
	var who uint64
	for at, i := range e.order {
		if rtts[i] > 0 {
			who |= 1 << at
			m.rtts[at] = discovery.MS(rtts[i])
		}
	}
	w, own := e.weighing(who), ways[len(e.order)]
	m.left = w.left
	z, level, sum, n := 0.0, 0.0, 0.0, 0
	for at, rtt := range m.rtts {
		if rtt > 0 {
			z += w.of[n] * (rtt - ways[at].mean) / ways[at].off
			share := max(0, w.of[n]) + 0.01 // if nobody is near, their mean
			level, sum = level+share*rtt, sum+share
			n++
		}
	}
	m.way = way{max(lowest, own.mean+own.off*z), own.off * math.Sqrt(w.left)}
	if own.off == unknownOff && n > 0 { // the players tell how far it is
		m.mean = level / sum
		over := e.over(max(0, m.mean-e.base) / e.perKm)
		m.off = math.Hypot(over.off*math.Sqrt(w.left), w.unreached()*unknownOff)
	}
	return m
}

// IsWorthwhile reports whether a rule's choices are better for everybody if the guest counts with
// these estimates. On hold-out worlds (bench/experiments/guest-estimates.md) choices get worse if
// the estimates' error exceeds what the rule allows: among thousands of servers some always look
// near by mistake.
func (e *Estimator) IsWorthwhile(by selection.Rule) bool {
	return e.Typical() <= rules.Of(by).Estimates
}

// Typical returns the error of the estimate for a server that all players have measured, at the
// usual distance of chosen servers. With landmarks that several players have measured, it is the mean
// for servers at these, each without the landmark itself.
func (e *Estimator) Typical() time.Duration { return e.typical }

func (e *Estimator) usualError() time.Duration {
	w := e.weighing(1<<len(e.order) - 1)
	off := e.over(usualKm).off * math.Sqrt(w.left)
	if len(e.marks.at) == 0 {
		return duration(off)
	}
	if !positionOf(e.guest.Country).known {
		off = math.Hypot(off, w.unreached()*unknownOff)
	}
	sum, isMeasured := 0.0, false
	for i, m := range e.marks.at {
		m.off, m.left, isMeasured = off, w.left, isMeasured || m.isMeasured()
		sum += e.marks.without(i).correct(m).off
	}
	usual := sum / float64(len(e.marks.at))
	if !isMeasured || len(e.order) < fewest {
		usual = max(usual, off)
	}
	return duration(usual)
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
	w.left = max(1e-6, w.left)
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

// position is a centre of population, if one is known.
type position struct {
	countries.Place
	known bool
}

func positionOf(country string) position {
	at, known := countries.Centre(country)
	return position{at, known}
}

// kmTo returns the distance in km between a person at one position and a person at another, or at the
// same, and whether both positions are known.
func (a position) kmTo(b position) (km float64, known bool) {
	if !a.known || !b.known {
		return 0, false
	}
	apart := countries.GreatCircle(a.Lat, a.Lon, b.Lat, b.Lon)
	return math.Sqrt(apart*apart + a.KM*a.KM + b.KM*b.KM), true
}
