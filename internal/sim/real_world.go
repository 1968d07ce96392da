package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/countries"
)

// World returns a world of a real list and real round trips. Each network of the list stands on a
// host of the matrix, and the places are some of its hosts. So the list is real, and the RTTs are,
// but their pairing is not. Another seed pairs them in another way.
func (m Matrix) World(list []discovery.Server, hosts []int, seed uint64) *World {
	return m.WorldWith(m, list, hosts, seed)
}

// WorldWith returns the same world with the round trips of another time.
func (m Matrix) WorldWith(then Matrix, list []discovery.Server, hosts []int, seed uint64) *World {
	rng := rand.New(rand.NewPCG(seed, 0x6d6174))
	sizes, pools := make(map[string]int), make(map[string][]int)
	for _, s := range list {
		sizes[s.Country]++
	}
	// A country is a host and those nearest to it, the more the larger it is.
	pool := func(country string) []int {
		if _, ok := pools[country]; !ok {
			size := 1 + int(2*math.Log2(float64(1+sizes[country])))
			pools[country] = m.NearestTo(rng.IntN(len(m)))[:min(len(m), size)]
		}
		return pools[country]
	}
	places := make([]Place, len(hosts))
	for i, host := range hosts {
		places[i] = Place{Name: fmt.Sprintf("host %d", host+1)}
	}
	return Settle(list, places, seed, &Siting{RNG: rng, Pool: pool}, func(place, site int, _ discovery.Server) float64 {
		return then[hosts[place]][site]
	})
}

// In a distance world, a path is longer than the great circle by these factors. They are drawn for
// each place and each AS in a country.
const (
	detourMin = 1.3
	detourMax = 2.5
)

// DistanceWorld returns a world of a real list in which only distance counts. Each network stands
// in a city of its country. The RTT is that of light in glass along the great circle, times a
// detour. It has no cables, and so the strategies were not made for it.
func DistanceWorld(list []discovery.Server, places []Place, seed uint64) *World {
	rng := rand.New(rand.NewPCG(seed, 0x64697374))
	detours := make([]map[cell]float64, len(places))
	draws := make([]*rand.Rand, len(places))
	for i, p := range places {
		detours[i], draws[i] = make(map[cell]float64), rand.New(rand.NewPCG(seed, hash(p.Name)))
	}
	return Settle(list, places, seed, &Siting{RNG: rng, Pool: cities()}, func(place, site int, s discovery.Server) float64 {
		detour, ok := detours[place][CellOf(s)]
		if !ok {
			detour = detourMin + (detourMax-detourMin)*draws[place].Float64()
			detours[place][CellOf(s)] = detour
		}
		p := places[place]
		km := cityKm + countries.GreatCircle(p.Lat, p.Lon, metros[site].lat, metros[site].lon)
		return km/kmPerMillisecond*detour + float64(p.Access)/float64(time.Millisecond)
	})
}

// cities returns a country's metros, each as often as its weight, or all of them for an unknown
// country.
func cities() func(country string) []int {
	var all []int
	of := make(map[string][]int)
	for i, m := range metros {
		for range max(1, int(math.Round(m.weight))) {
			of[m.country], all = append(of[m.country], i), append(all, i)
		}
	}
	return func(country string) []int {
		if of[country] == nil {
			return all
		}
		return of[country]
	}
}

// The line of a server's machine adds this range to each round trip, in ms. Short ones are
// likelier.
const accessMin, accessMax = 0.4, 8

// Settle puts a list on the sites of a world. Facts that a list does not contain are drawn as for
// css2007: silent machines, players, losses. way returns the RTT between a place and a site in ms.
func Settle(list []discovery.Server, places []Place, seed uint64, sites *Siting,
	way func(place, site int, s discovery.Server) float64) *World {
	sites.at = make(map[any]int)
	spec := css2007(seed)
	spec.Maps, spec.Modes = nil, nil
	b := &builder{spec: spec, rng: sites.RNG}
	type machine struct {
		silent bool
		access time.Duration
	}
	machines := make(map[netip.Addr]machine)
	at := make([]int, len(list))
	for i, s := range list {
		at[i] = sites.siteOf(s)
		m, ok := machines[s.Addr.Addr()]
		if !ok {
			m = machine{b.rng.Float64() < spec.Silent, milliseconds(accessMin * math.Pow(accessMax/accessMin, b.rng.Float64()))}
			machines[s.Addr.Addr()] = m
		}
		server := Server{Server: s, Access: m.access}
		b.furnish(&server, m.silent)
		b.servers = append(b.servers, server)
	}
	w := NewWorld(seed, slices.Clone(places), b.servers, func(place, server int) time.Duration {
		s := b.servers[server]
		return milliseconds(way(place, at[server], s.Server)) + s.Access
	})
	w.jitter = spec.Jitter
	return w
}

// CableWorld returns a world of a real list and of the cables of the generated worlds. Each network
// stands in a city of its country, as in a [DistanceWorld]. The RTT is that of the generated
// worlds' cables, times a detour for each AS in a country. Now and then that goes by a hub off the
// shortest way.
func CableWorld(list []discovery.Server, places []Place, seed uint64) *World {
	rng := rand.New(rand.NewPCG(seed, 0x6361626c))
	r, hubs := laid(), theHubs()
	type player struct {
		start  int
		km     float64
		direct []float64
		ways   map[cell]way
		rng    *rand.Rand
	}
	players := make([]player, len(places))
	for i, p := range places {
		start, km := nearest(p.Lat, p.Lon)
		players[i] = player{start, km * landSlack, r.distancesFrom(start), make(map[cell]way), rand.New(rand.NewPCG(seed, hash(p.Name)))}
	}
	return Settle(list, places, seed, &Siting{RNG: rng, Pool: cities()}, func(place, site int, s discovery.Server) float64 {
		p := &players[place]
		w, ok := p.ways[CellOf(s)]
		if !ok {
			w = newWay(r.region[p.start], r.region[site], p.rng)
			p.ways[CellOf(s)] = w
		}
		km := p.km + p.direct[site]
		if w.wrong {
			km = max(km, hubs.detour(w.hub, p.start, site))
		}
		return (km+cityKm)/kmPerMillisecond*w.inflation + float64(places[place].Access)/float64(time.Millisecond)
	})
}

// Siting places the networks of a real list, because no list tells where they stand. Servers that
// share a prefix, an AS or a country tend to stand at the same site, or at sites near each other.
// The choice is random.
type Siting struct {
	RNG *rand.Rand
	// Pool returns the sites that networks of a country may use.
	Pool func(country string) []int
	at   map[any]int // by network
}

// These are the chances that a network stands with the larger one that it belongs to.
const (
	cellStays  = 0.75 // a /16 with its AS
	blockStays = 0.95 // a /24 with its /16
)

// cell is the part of an AS in one country.
type cell struct {
	country string
	asn     uint32
}

func CellOf(s discovery.Server) cell { return cell{s.Country, s.ASN} }

func (t *Siting) siteOf(s discovery.Server) int {
	home := t.choose(CellOf(s), s.Country, 0, 0)
	block := t.choose([2]any{CellOf(s), Network(s, 16)}, s.Country, home, cellStays)
	return t.choose(Network(s, 24), s.Country, block, blockStays)
}

// Network returns the prefix of a server: of that many bits for IPv4, of twice as many for IPv6.
func Network(s discovery.Server, bits int) netip.Prefix {
	return discovery.Bits{V4: bits, V6: 2 * bits}.Of(s.Addr.Addr())
}

// choose returns the site of a network: with the larger one, or elsewhere in the country.
func (t *Siting) choose(who any, country string, larger int, stays float64) int {
	at, ok := t.at[who]
	if !ok {
		at = larger
		if t.RNG.Float64() >= stays {
			at = pick(t.Pool(country), t.RNG)
		}
		t.at[who] = at
	}
	return at
}
