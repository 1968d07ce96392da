package sim

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
)

// These are the /8 networks that the registries had given out by about 2007, by the part of the
// world that mostly uses them.
var (
	ripe = []byte{62, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 130, 141, 145, 193, 194, 195, 212, 213, 217}
	arin = []byte{4, 8, 12, 24, 38, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 74, 75, 76, 97, 98, 128, 130, 140, 152,
		204, 205, 206, 207, 208, 209, 216}
	apnic   = []byte{58, 59, 60, 61, 116, 121, 122, 124, 125, 202, 210, 211, 218, 219, 220, 221, 222}
	lacnic  = []byte{189, 190, 200, 201}
	afrinic = []byte{41, 196}
)

func registry(r Region) []byte {
	switch r {
	case northAmerica:
		return arin
	case southAmerica:
		return lacnic
	case africa:
		return afrinic
	case southAsia, eastAsia, oceania:
		return apnic
	}
	return ripe
}

// unevenness is how unevenly a country's networks are spread over its registry's /8s. It is the
// standard deviation of the logarithm of the weights, per square root of the country's share of the
// servers: large countries are everywhere.
const (
	unevenness    = 0.25
	maxUnevenness = 3
)

// slash16 is a /16, or the part of one that an AS has.
type slash16 struct {
	prefix  uint16 // the first two octets
	as      int
	home    int // metro
	subnets []subnet
	hosts   int
}

// subnet is a /24 of servers in one city.
type subnet struct {
	octet    byte
	metro    int
	lat, lon float64
	access   float64 // ms; each host has its own at an ISP
	country  string  // what the database says
	hosts    int
	taken    [4]uint64
}

// registrar gives out addresses.
type registrar struct {
	rng     *rand.Rand
	share   map[string]float64   // of the servers, by country
	weights map[string][]float64 // of the registry's /8s, by country
	used    map[uint16]bool
	shared  map[string]*piBlock // provider-independent space being given out
}

// piBlock is a /16 that gives each AS a /24.
type piBlock struct {
	prefix uint16
	next   int
}

func newRegistrar(mix []Share, rng *rand.Rand) *registrar {
	r := &registrar{rng: rng, share: make(map[string]float64), weights: make(map[string][]float64),
		used: make(map[uint16]bool), shared: make(map[string]*piBlock)}
	total := sum(weightsOf(mix))
	for _, s := range mix {
		r.share[s.Country] = s.Weight / total
	}
	return r
}

// block takes a free /16 of the country's registry.
func (r *registrar) block(country string) uint16 {
	eights := registry(regionOf[country])
	weights, ok := r.weights[country]
	if !ok {
		for range eights {
			sigma := min(maxUnevenness, unevenness/math.Sqrt(r.share[country]))
			weights = append(weights, math.Exp(sigma*r.rng.NormFloat64()))
		}
		r.weights[country] = weights
	}
	for tries := 0; ; tries++ {
		eight := eights[weighted(weights, r.rng)]
		if tries > manyTries {
			eight = byte(1 + r.rng.IntN(223))
		}
		prefix := uint16(eight)<<8 | uint16(r.rng.IntN(256))
		if !r.used[prefix] && !reserved(eight) {
			r.used[prefix] = true
			return prefix
		}
	}
}

// manyTries without a free /16 mean that a registry has run out.
const manyTries = 3000

// reserved reports whether no server has an address in this /8, or in parts of it.
func reserved(eight byte) bool {
	return slices.Contains([]byte{10, 100, 127, 169, 172, 192, 198, 203}, eight)
}

// piSpread is how many /24s of a shared /16 hold game servers.
const piSpread = 24

// pi takes a /24 of a /16 that several small networks of a country share.
func (r *registrar) pi(country string) (prefix uint16, octet byte) {
	b := r.shared[country]
	if b == nil || b.next == piSpread {
		b = &piBlock{prefix: r.block(country)}
		r.shared[country] = b
	}
	b.next++
	return b.prefix, byte(b.next * 256 / (piSpread + 1))
}

// restaurant picks a table by the Chinese restaurant process: a taken one, in proportion to its
// guests, or a new one, which is len(guests).
func restaurant(guests func(int) int, tables, total int, concentration float64, rng *rand.Rand) int {
	at := rng.Float64() * (float64(total) + concentration)
	for i := range tables {
		if at -= float64(guests(i)); at < 0 {
			return i
		}
	}
	return tables
}

// host takes a free address of a /24.
func (s *subnet) host(rng *rand.Rand) byte {
	for {
		octet := byte(1 + rng.IntN(254))
		if s.taken[octet/64]&(1<<(octet%64)) == 0 {
			s.taken[octet/64] |= 1 << (octet % 64)
			s.hosts++
			return octet
		}
	}
}

// full reports whether a /24 has room for no more.
func (s *subnet) full() bool { return s.hosts >= 200 }

func address(prefix uint16, subnet, host byte) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(prefix >> 8), byte(prefix), subnet, host})
}
