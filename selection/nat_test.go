package selection_test

import (
	"net/netip"
	"reflect"
	"testing"

	"muster/selection"
)

func TestNATGroups(t *testing.T) {
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
