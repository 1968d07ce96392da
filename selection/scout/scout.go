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
package scout

import (
	"cmp"
	"math"
	"slices"

	"muster/selection/estimate"
)

// Place is where a candidate place is, in degrees. Both 0 mean that nobody knows.
type Place struct{ Lat, Lon float64 }

func (p Place) isKnown() bool { return p.Lat != 0 || p.Lon != 0 }

func (p Place) km(q Place) float64 { return estimate.GreatCircle(p.Lat, p.Lon, q.Lat, q.Lon) }

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

// wasAsked reports whether the player was asked about a place.
func (p *Player) wasAsked(place int) bool { return place < len(p.Pings) && p.Pings[place] != 0 }

const (
	// Spread is how many places far apart a player asks whose position is unknown.
	Spread = 12
	// perKm is the usual ping of a km along the globe, in ms: light in glass takes 0.01, and routes have
	// detours. usualLine is the ping that a line and its provider add.
	perKm, usualLine = 0.0155, 8
	// offBase, in ms, and offShare are the usual error of a ping that position and line explain.
	offBase, offShare = 4, 0.12
	// fades is how many km from a measured place its error still says much about another place's.
	fades = 700
	// trust is the weight of a measured error against that of none.
	trust = 0.35
)

// Next returns for each player the places to ask next, by number, the most promising first, at most n.
// A player who gets none has nothing left to ask. cost is what pings mean for the group, the lower the
// better, as by the room's rule; nil weighs the average and the highest in turn.
func Next(places []Place, players []Player, cost func(pings []float64) float64, n int) [][]int {
	spread, order := spreadOf(places), ranking(places, players, cost)
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

// ranking returns the places in the order in which they may be the group's best.
func ranking(places []Place, players []Player, cost func([]float64) float64) []int {
	costs := []func([]float64) float64{cost}
	if cost == nil {
		costs = []func([]float64) float64{mean, slices.Max[[]float64]}
	}
	pings := make([][]float64, len(places)) // by place, then player
	for i := range players {
		for at, ping := range predict(places, &players[i]) {
			pings[at] = append(pings[at], ping)
		}
	}
	orders := make([][]int, len(costs))
	for i, cost := range costs {
		value := make([]float64, len(places))
		for at := range places {
			orders[i] = append(orders[i], at)
			if len(players) > 0 {
				value[at] = cost(pings[at])
			}
		}
		slices.SortStableFunc(orders[i], func(a, b int) int { return cmp.Compare(value[a], value[b]) })
	}
	var order []int
	for rank := range places {
		for _, by := range orders {
			if !slices.Contains(order, by[rank]) {
				order = append(order, by[rank])
			}
		}
	}
	return order
}

func mean(pings []float64) float64 {
	sum := 0.0
	for _, ping := range pings {
		sum += ping
	}
	return sum / float64(len(pings))
}

// silent is the ping, in ms, that counts where a place did not answer a player: worse than any.
const silent = 1000

// usual is the ping, in ms, that counts where nothing is known: the same for all places.
const usual = 100

// predict returns a player's pings of all places: those known, and what they make likely of the others.
func predict(places []Place, p *Player) []float64 {
	pings := make([]float64, len(places))
	var known []int // places that answered
	for at := range places {
		pings[at] = usual
		if p.wasAsked(at) && p.Pings[at] > 0 && places[at].isKnown() {
			known = append(known, at)
		}
	}
	homes := p.homes(places, known)
	total := 0.0
	for _, h := range homes {
		total += h.weight
	}
	model := func(at int) (ping float64) {
		for _, h := range homes {
			ping += h.weight / total * (h.line + perKm*h.at.km(places[at]))
		}
		return ping
	}
	errs := make([]float64, len(known))
	for i, k := range known {
		errs[i] = p.Pings[k] - model(k)
	}
	for at := range places {
		switch {
		case p.wasAsked(at) && p.Pings[at] < 0:
			pings[at] = silent
		case p.wasAsked(at):
			pings[at] = p.Pings[at]
		case total > 0 && places[at].isKnown():
			sum, weights := 0.0, trust
			for i, k := range known {
				w := math.Exp(-places[at].km(places[k]) / fades)
				sum, weights = sum+w*errs[i], weights+w
			}
			pings[at] = max(1, model(at)+sum/weights)
		}
	}
	return pings
}

// home is a position where a player may live, with the ping of the line there and how well that
// explains the known pings.
type home struct {
	at           Place
	line, weight float64
}

// homes returns where a player may live: at any of the places, or at the rough position.
func (p *Player) homes(places []Place, known []int) (homes []home) {
	if p.At.isKnown() {
		homes = append(homes, home{at: p.At, line: usualLine, weight: 1})
	}
	if len(known) == 0 {
		return homes
	}
	for _, at := range places {
		if at.isKnown() {
			homes = append(homes, home{at: at})
		}
	}
	least := math.Inf(1)
	for i := range homes {
		h := &homes[i]
		line, weights := usualLine/square(offBase), 1/square(offBase) // as if the usual line were measured once
		for _, k := range known {
			w := 1 / square(offBase+offShare*p.Pings[k])
			line, weights = line+w*(p.Pings[k]-perKm*h.at.km(places[k])), weights+w
		}
		h.line = max(1, line/weights)
		misses := square((h.line - usualLine) / (2 * offBase))
		for _, k := range known {
			misses += square((p.Pings[k] - h.line - perKm*h.at.km(places[k])) / (offBase + offShare*p.Pings[k]))
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
