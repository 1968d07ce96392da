package selection_test

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"muster/discovery"
	"muster/selection"
)

func TestSites(t *testing.T) {
	for _, c := range []struct {
		name    string
		players []string
		want    [][]int
	}{
		{"nobody", nil, nil},
		{"each alone", []string{"192.0.2.1", "192.0.2.2"}, [][]int{{0}, {1}}},
		{"a household and a friend", []string{"192.0.2.1", "198.51.100.7", "::ffff:192.0.2.1"}, [][]int{{0, 2}, {1}}},
		{"one IPv6 network", []string{"2001:db8:1:2::5", "2001:db8:1:3::5", "2001:db8:1:2:ff::6"}, [][]int{{0, 2}, {1}}},
		{"unknown", []string{"", "", "192.0.2.1"}, [][]int{{0}, {1}, {2}}},
	} {
		var addrs []netip.Addr
		for _, p := range c.players {
			addr, _ := netip.ParseAddr(p)
			addrs = append(addrs, addr)
		}
		if got := selection.NATGroups(addrs); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestShare(t *testing.T) {
	// Six servers of two ASes in DE, two in FR, in no order.
	servers := []discovery.Server{
		at("192.0.2.1:1", "DE", 1), at("203.0.113.1:1", "FR", 3), at("192.0.2.2:1", "DE", 1), at("198.51.100.1:1", "DE", 2),
		at("192.0.2.3:1", "DE", 1), at("203.0.113.2:1", "FR", 3), at("192.0.2.4:1", "DE", 1), at("198.51.100.2:1", "DE", 2),
	}
	for players, want := range map[int][][]int{
		0: {{0, 1, 2, 3, 4, 5, 6, 7}},
		1: {{0, 1, 2, 3, 4, 5, 6, 7}},
		2: {{0, 1, 3, 4}, {2, 5, 6, 7}},
		3: {{0, 6, 1}, {2, 3, 5}, {4, 7}},
	} {
		for _, share := range want {
			slices.Sort(share)
		}
		if got := selection.Share(servers, players); !reflect.DeepEqual(got, want) {
			t.Errorf("%d players: %v, want %v", players, got, want)
		}
	}
}

// Whatever the list and the site, every server has one asker, and the work is
// even.
func TestShareIsFair(t *testing.T) {
	var servers []discovery.Server
	for i := range 1001 {
		servers = append(servers, at(fmt.Sprintf("10.%d.%d.7:27960", i%17, i%251), []string{"DE", "US", ""}[i%3], uint32(i%40)))
	}
	for players := 1; players <= 64; players++ {
		asked := make([]int, len(servers))
		least, most := len(servers), 0
		for _, share := range selection.Share(servers, players) {
			least, most = min(least, len(share)), max(most, len(share))
			for _, server := range share {
				asked[server]++
			}
		}
		if most-least > 1 || slices.Min(asked) != 1 || slices.Max(asked) != 1 {
			t.Errorf("%d players: shares of %d to %d, servers asked %d to %d times", players, least, most, slices.Min(asked), slices.Max(asked))
		}
	}
}

func at(addr, country string, asn uint32) discovery.Server {
	return discovery.Server{Addr: netip.MustParseAddrPort(addr), Country: country, ASN: asn}
}
