package sim

import (
	"math/rand/v2"
	"net/netip"

	"muster/discovery"
)

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

// siteOf returns the site of a server.
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
