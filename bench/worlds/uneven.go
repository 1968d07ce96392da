package worlds

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/hosttest"
)

// List returns a list whose places and networks are as uneven as real ones, in the order of a room's
// list.
func List(servers int) []discovery.Server {
	list := make([]discovery.Server, servers)
	for i := range list {
		country := skewed(i, 1, 71)
		as := skewed(i, 2, 40)*71 + country
		network := as*4 + skewed(i, 3, 4) // a /16
		list[i] = discovery.Server{
			Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{
				byte(1 + network>>8), byte(network), byte(skewed(i, 4, 64)), byte(i)}), uint16(27000+i>>8)),
			Country: string([]byte{'A' + byte(country/26), 'A' + byte(country%26)}),
			ASN:     uint32(1000 + as),
		}
	}
	slices.SortFunc(list, func(a, b discovery.Server) int {
		return cmp.Or(cmp.Compare(a.Country, b.Country), cmp.Compare(a.ASN, b.ASN), discovery.CompareAddr(a, b))
	})
	return list
}

// chance returns a number from 0 up to 1 that depends only on the arguments.
func chance(of ...any) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, of...)
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}

// skewed returns one of n numbers, the first ones much more often than the last.
func skewed(i, salt, n int) int { return int(math.Pow(chance(i, salt), 2.5) * float64(n)) }

// RTT returns a player's RTT to a server. The path over the globe is more or less straight,
// depending on the AS and the /16. The RTT is 0 for a silent server.
func RTT(player string, s discovery.Server) time.Duration {
	ip := s.Addr.Addr().As4()
	if chance("silent", s.Addr) < .15 {
		return 0
	}
	angle := math.Acos(dot(place(player), place(s.Country)))
	ms := 8 + angle*6371*2/200*(1.3+.9*chance(player, s.ASN)) + 12*chance(s.ASN) + 4*chance(player, ip[0], ip[1]) + chance(player, s.Addr)
	return time.Duration(ms * float64(time.Millisecond))
}

func place(name string) [3]float64 {
	z, turn := 2*chance("z", name)-1, 2*math.Pi*chance("turn", name)
	r := math.Sqrt(1 - z*z)
	return [3]float64{r * math.Cos(turn), r * math.Sin(turn), z}
}

func dot(a, b [3]float64) float64 { return max(-1, min(1, a[0]*b[0]+a[1]*b[1]+a[2]*b[2])) }

// Script returns what a player sees of the servers of a list.
func Script(player string, list []discovery.Server) hosttest.Script {
	return hosttest.Script{RTT: func(server int) time.Duration { return RTT(player, list[server]) }}
}
