// Package scout says which candidate places each player of a group should measure next, so that a
// few questions find the place that suits the group among many. It is pure.
//
//	positions of places ──┐
//	pings known so far ───┼─▶ Next ─▶ for each player the places to ask ─▶ pings ─┐
//	rough positions ──────┘     ▲                                                 │
//	of players                  └─────────────────────────────────────────────────┘
//
// A player whose position is unknown first asks places far apart. After that the pings tell roughly
// where the player is: the package holds each place's position for where the player may live, weighs
// it by how well
//
//	ping = line + perKm·km
//
// explains the pings, and predicts the others from the weighted positions. Measured places near a
// candidate correct its prediction, so that routes with a detour count. The next places are those that
// look best for the whole group, and everybody is asked for the same ones: a place can be chosen only
// if all have a ping of it.
//
// [Doubts] says which pings cannot be.
package scout

import (
	"math"
	"slices"

	"muster/discovery/countries"
)

// Place is where a candidate place is, in degrees. Both 0 mean that nobody knows.
type Place struct{ Lat, Lon float64 }

func (p Place) isKnown() bool { return p.Lat != 0 || p.Lon != 0 }

func (p Place) km(q Place) float64 { return countries.GreatCircle(p.Lat, p.Lon, q.Lat, q.Lon) }

// Player is what is known of a player.
type Player struct {
	// At is roughly where the player is, such as the centre of the country; see [Place].
	At Place
	// Pings are the player's pings in ms, by place: 0 was not asked, and a negative one did not answer.
	Pings []float64
	// Rests says that the player is not asked: as one who does not want to be, or is finished. The group's
	// place should suit this player, too, as far as anything is known.
	Rests bool
}

func (p *Player) hasPing(place int) bool { return p.wasAsked(place) && p.Pings[place] > 0 }

func (p *Player) wasAsked(place int) bool { return place < len(p.Pings) && p.Pings[place] != 0 }

const (
	// Spread is how many places far apart a player asks whose position is unknown.
	Spread = 8
	// perKm is the usual ping of a km along the globe, in ms: light in glass takes 0.01, and routes have
	// detours. usualLine is the ping that a line and its provider add.
	perKm, usualLine = 0.0155, 8
	// offBase, in ms, and offShare are the usual error of a ping that position and line explain.
	offBase, offShare = 4, 0.12
	// placeFades and playerFades are how many km from a measured ping its error still says much about another
	// place's, or another player's.
	placeFades, playerFades = 1000, 300
	// strangers is the weight below which another player's errors say nothing.
	strangers = 0.01
	// own is the weight of what is usual against a ping measured at the place itself.
	own = 0.3
	// hope is how many usual errors better than predicted a place may be that is asked for.
	hope = 0.3
	// silent is the ping, in ms, that counts where a place did not answer a player, and usual the one where
	// nothing is known.
	silent, usual = 1000, 100
)

// Next returns for each player the places to ask next, by number, the most promising first, at most n.
// A player who gets none has nothing left to ask. cost is what pings mean for the group, the lower the
// better, as by the room's rule; nil is the average.
func Next(places []Place, players []Player, cost func(pings []float64) float64, n int) [][]int {
	spread, order := spreadOf(places), newModel(places, players).picks(cost, n)
	next := make([][]int, len(players))
	for i := range players {
		p := &players[i]
		wanted := order
		if !p.At.isKnown() && slices.ContainsFunc(spread, func(at int) bool { return !p.wasAsked(at) }) {
			wanted = spread
		}
		for _, at := range wanted {
			if !p.Rests && !p.wasAsked(at) && len(next[i]) < n {
				next[i] = append(next[i], at)
			}
		}
	}
	return next
}

// spreadOf returns [Spread] places far apart, before them all whose position nobody knows: those are not
// predicted. Each is the farthest from those before it. The first is the one that is nearest to most.
func spreadOf(places []Place) (spread []int) {
	gap := make([]float64, len(places)) // km to the nearest of the spread
	first, least := -1, math.Inf(1)
	for i, p := range places {
		sum := 0.0
		for _, q := range places {
			if q.isKnown() {
				sum += min(p.km(q), 2000)
			}
		}
		switch {
		case !p.isKnown():
			spread = append(spread, i)
		case sum < least:
			first, least = i, sum
		}
	}
	for n, at := 0, first; at >= 0 && n < Spread; n++ {
		spread = append(spread, at)
		farthest := -1
		for i, p := range places {
			if !p.isKnown() {
				continue
			}
			if km := p.km(places[at]); n == 0 || km < gap[i] {
				gap[i] = km
			}
			if gap[i] > 0 && (farthest < 0 || gap[i] > gap[farthest]) {
				farthest = i
			}
		}
		at = farthest
	}
	return spread
}

// model predicts the players' pings.
type model struct {
	places  []Place
	players []Player
	km      [][]float64 // between places
	alike   [][]float64 // how much the error of a ping of one place says of another's, 0 to 1
	mates   [][]float64 // how much one player's errors say of another's, 0 to 1
	plain   [][]float64 // by player and place: what position and line explain
	// errs has the errors of what is plain, and weights how much is known of the error of each place, by
	// player and place.
	errs, weights [][]float64
}

func newModel(places []Place, players []Player) *model {
	m := &model{places: places, players: players}
	for _, p := range places {
		row, alike := m.kms(p), make([]float64, len(places))
		for i, km := range row {
			alike[i] = math.Exp(-km / placeFades)
		}
		m.km, m.alike = append(m.km, row), append(m.alike, alike)
	}
	middles := make([]Place, len(players))
	for i := range players {
		plain, middle := m.explain(&players[i])
		m.plain, middles[i] = append(m.plain, plain), middle
	}
	for i := range players {
		row := make([]float64, len(players))
		for j := range players {
			if row[j] = 1; i != j {
				row[j] = 0.8 * math.Exp(-middles[i].km(middles[j])/playerFades)
			}
		}
		m.mates = append(m.mates, row)
	}
	for i := range players {
		errs, weights := make([]float64, len(places)), make([]float64, len(places))
		for j := range players {
			if m.mates[i][j] < strangers {
				continue
			}
			for q := range places {
				if !players[j].hasPing(q) || !places[q].isKnown() {
					continue
				}
				err := players[j].Pings[q] - m.plain[j][q]
				for at, alike := range m.alike[q] {
					w := m.mates[i][j] * alike
					errs[at], weights[at] = errs[at]+w*err, weights[at]+w
				}
			}
		}
		m.errs, m.weights = append(m.errs, errs), append(m.weights, weights)
	}
	return m
}

// kms returns how far all places are from a position, in km.
func (m *model) kms(from Place) []float64 {
	row := make([]float64, len(m.places))
	for i, p := range m.places {
		row[i] = from.km(p)
	}
	return row
}

// ping returns a player's ping of a place: the known one, or the best that can be hoped for.
func (m *model) ping(player, at int) float64 {
	p := &m.players[player]
	switch {
	case p.wasAsked(at) && p.Pings[at] < 0:
		return silent
	case p.wasAsked(at):
		return p.Pings[at]
	case !m.places[at].isKnown():
		return usual
	}
	weights := own + m.weights[player][at]
	ping := m.plain[player][at] + m.errs[player][at]/weights
	return max(1, ping-hope*math.Sqrt(own/weights)*(offBase+offShare*m.plain[player][at]))
}

// picks returns up to n places that some player has not been asked for, the most promising first. Each counts as
// known for the next, so that they are not all in one corner.
func (m *model) picks(cost func([]float64) float64, n int) (picked []int) {
	if cost == nil {
		cost = mean
	}
	pings := make([]float64, len(m.players))
	for len(picked) < n {
		best, least := -1, math.Inf(1)
		for at := range m.places {
			if slices.Contains(picked, at) || !m.isOpen(at) {
				continue
			}
			for i := range m.players {
				pings[i] = m.ping(i, at)
			}
			if c := cost(pings); best < 0 || c < least {
				best, least = at, c
			}
		}
		if best < 0 {
			break
		}
		picked = append(picked, best)
		for i := range m.players {
			for at := range m.places {
				m.weights[i][at] += m.alike[at][best]
				m.errs[i][at] += m.alike[at][best] * m.errs[i][best] / (own + m.weights[i][best])
			}
		}
	}
	return picked
}

// isOpen reports whether some player is still to be asked for a place.
func (m *model) isOpen(at int) bool {
	return slices.ContainsFunc(m.players, func(p Player) bool { return !p.Rests && !p.wasAsked(at) })
}

func mean(pings []float64) float64 {
	sum := 0.0
	for _, ping := range pings {
		sum += ping
	}
	return sum / float64(len(pings))
}

// home is a position where a player may live, with the ping of the line there and how well that
// explains the known pings.
type home struct {
	at           Place
	kms          []float64 // to all places
	line, weight float64
}

// explain returns a player's pings of all places as position and line explain them, and the position.
func (m *model) explain(p *Player) (pings []float64, middle Place) {
	homes := m.homes(p)
	pings = make([]float64, len(m.places))
	total, likely := 0.0, 0.0
	for _, h := range homes {
		if total += h.weight; h.weight > likely {
			middle, likely = h.at, h.weight
		}
	}
	for at, place := range m.places {
		if pings[at] = usual; total > 0 && place.isKnown() {
			pings[at] = 0
			for _, h := range homes {
				pings[at] += h.weight / total * (h.line + perKm*h.kms[at])
			}
		}
	}
	return pings, middle
}

// homes returns where a player may live: at any of the places, or at the rough position.
func (m *model) homes(p *Player) (homes []home) {
	if p.At.isKnown() {
		homes = append(homes, home{at: p.At, kms: m.kms(p.At), line: usualLine, weight: 1})
	}
	var known []int
	for at := range m.places {
		if p.hasPing(at) && m.places[at].isKnown() {
			known = append(known, at)
		}
	}
	if len(known) == 0 {
		return homes
	}
	for i, at := range m.places {
		if at.isKnown() {
			homes = append(homes, home{at: at, kms: m.km[i]})
		}
	}
	least := math.Inf(1)
	for i := range homes {
		h := &homes[i]
		line, weights := usualLine/square(offBase), 1/square(offBase) // as if the usual line were measured once
		for _, k := range known {
			w := 1 / square(offBase+offShare*p.Pings[k])
			line, weights = line+w*(p.Pings[k]-perKm*h.kms[k]), weights+w
		}
		h.line = max(1, line/weights)
		misses := square((h.line - usualLine) / (2 * offBase))
		for _, k := range known {
			misses += square((p.Pings[k] - h.line - perKm*h.kms[k]) / (offBase + offShare*p.Pings[k]))
		}
		h.weight = misses
		least = min(least, misses)
	}
	for i := range homes {
		homes[i].weight = math.Exp((least - homes[i].weight) / 2)
	}
	return homes
}

func square(x float64) float64 { return x * x }
