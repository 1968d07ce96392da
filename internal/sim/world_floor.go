package sim

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// kmPerMillisecond is how far light in glass gets and comes back in a millisecond: 200 km/ms one
// way.
const kmPerMillisecond = 100

// A way is longer than the cables by these factors: one for each place and AS, and a small one for
// each place and /16.
const (
	inflationMin    = 1.04
	inflationSpread = 0.07
	blockNoise      = 0.012
	maxInflation    = 1.7
)

// floors returns the shortest round trips of all places and servers.
func (b *builder) floors() []time.Duration {
	r, hubs := laid(), theHubs()
	floor := make([]time.Duration, 0, len(b.spec.Places)*len(b.servers))
	for _, p := range b.spec.Places {
		rng := rand.New(rand.NewPCG(b.spec.Seed, hash(p.Name)))
		start, near := nearest(p.Lat, p.Lon)
		direct := r.distancesFrom(start)
		ways := make([]way, len(b.network))
		for i := range ways {
			ways[i] = newWay(r.region[start], r.region[b.network[i].sites[0]], rng)
		}
		noise := make([]float64, len(b.blocks))
		for i := range noise {
			noise[i] = 1 + blockNoise*rng.NormFloat64()
		}
		for i, s := range b.sites {
			km := near*landSlack + direct[s.metro]
			if w := ways[s.as]; w.wrong {
				km = max(km, hubs.detour(w.hub, start, s.metro))
			}
			km += cityKm
			ms := km / kmPerMillisecond * ways[s.as].inflation * noise[s.block]
			floor = append(floor, milliseconds(ms)+p.Access+b.servers[i].Access)
		}
	}
	return floor
}

// cityKm is the usual distance within a city.
const cityKm = 30

// way is the route of a place's traffic to an AS.
type way struct {
	inflation float64
	wrong     bool // by a hub that is not on the shortest route
	hub       int  // index in hubNames
}

func newWay(from, to Region, rng *rand.Rand) way {
	w := way{inflation: min(maxInflation, inflationMin+inflationSpread*math.Abs(rng.NormFloat64()))}
	share, hubs := wrongWay(from, to)
	w.wrong, w.hub = rng.Float64() < share, hubs[rng.IntN(len(hubs))]
	return w
}

// hubNames are the cities where the great carriers met.
var hubNames = [...]string{"Los Angeles", "San Jose", "New York", "London", "Frankfurt", "Miami"}

// wrongWay returns how often traffic between two parts of the world went by a hub off the shortest
// way, and the hubs.
func wrongWay(from, to Region) (share float64, hubs []int) {
	const losAngeles, sanJose, newYork, london, frankfurt, miami = 0, 1, 2, 3, 4, 5
	pacific := func(r Region) bool { return r == eastAsia || r == oceania }
	switch {
	case pacific(from) && pacific(to):
		return 0.22, []int{losAngeles, sanJose}
	case from == southAmerica && to == southAmerica:
		return 0.30, []int{miami}
	case (from == africa || from == middleEast) && from == to:
		return 0.30, []int{london}
	case from == southAsia || to == southAsia:
		return 0.10, []int{london, losAngeles}
	case from == Europe && to == Europe:
		return 0.02, []int{london, frankfurt, newYork}
	}
	return 0.03, []int{newYork, losAngeles, london}
}

// hubs holds the routes from the hubs.
type hubs struct{ km [len(hubNames)][]float64 }

// theHubs returns the hubs of the graph that all worlds share.
var theHubs = sync.OnceValue(func() *hubs {
	h, r := &hubs{}, laid()
	for i, name := range hubNames {
		h.km[i] = r.distancesFrom(metroIndex(name))
	}
	return h
})

func (h *hubs) detour(hub, from, to int) float64 { return h.km[hub][from] + h.km[hub][to] }

// hash seeds a place's routes, so that it keeps them whatever the other places are.
func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}
