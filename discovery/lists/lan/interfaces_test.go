package lan

import (
	"fmt"
	"net"
	"net/netip"
	"reflect"
	"testing"
)

const wired = net.FlagUp | net.FlagRunning | net.FlagBroadcast | net.FlagMulticast

func prefixes(texts ...string) []netip.Prefix {
	var list []netip.Prefix
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// addrs returns addresses as the system gives them.
func addrs(texts ...string) []net.Addr {
	var list []net.Addr
	for _, text := range texts {
		ip, network, err := net.ParseCIDR(text)
		if err != nil {
			panic(err)
		}
		list = append(list, &net.IPNet{IP: ip, Mask: network.Mask})
	}
	return list
}

func TestDescribe(t *testing.T) {
	tests := []struct {
		name      string
		flags     net.Flags
		addrs     []net.Addr
		unused    string
		broadcast []netip.Prefix
	}{
		{"a cable", wired, addrs("192.168.1.5/24", "fe80::1/64"), "", prefixes("192.168.1.5/24")},
		{"without DHCP", wired, addrs("169.254.7.8/16"), "", prefixes("169.254.7.8/16")},
		{"two networks", wired, addrs("192.168.1.5/24", "10.0.0.9/8"), "", prefixes("192.168.1.5/24", "10.0.0.9/8")},
		{"IPv6 alone", wired, addrs("fe80::1/64"), "", nil},
		{"a VPN's adapter that is like a cable", wired, addrs("10.147.17.3/24"), "", prefixes("10.147.17.3/24")},
		{"a VPN from point to point", net.FlagUp | net.FlagRunning | net.FlagPointToPoint | net.FlagMulticast, addrs("10.8.0.6/32"), "", nil},
		{"WireGuard", net.FlagUp | net.FlagRunning | net.FlagPointToPoint, addrs("10.8.0.6/24"), "carries no multicast", nil},
		{"two addresses to a network", wired, addrs("10.0.0.0/31"), "", nil},
		{"no cable in it", wired &^ net.FlagRunning, addrs("192.168.1.5/24"), "is not connected", nil},
		{"down", wired &^ net.FlagUp, addrs("192.168.1.5/24"), "is switched off", nil},
		{"no address yet", wired, nil, "has no address", nil},
		{"loopback", net.FlagUp | net.FlagRunning | net.FlagLoopback, addrs("127.0.0.1/8", "::1/128"), "reaches nobody but this machine", nil},
		{"loopback on macOS", net.FlagUp | net.FlagRunning | net.FlagLoopback | net.FlagMulticast, addrs("127.0.0.1/8"),
			"reaches nobody but this machine", nil},
	}
	for _, tt := range tests {
		got := describe(net.Interface{Name: "eth0", Flags: tt.flags}, tt.addrs)
		if got.Unused != tt.unused || len(got.Broadcast)+len(tt.broadcast) > 0 && !reflect.DeepEqual(got.Broadcast, tt.broadcast) {
			t.Errorf("%s: unused %q, broadcast %v, want %q, %v", tt.name, got.Unused, got.Broadcast, tt.unused, tt.broadcast)
		}
		if wantUsed := tt.unused == ""; (len(used([]Interface{got})) == 1) != wantUsed {
			t.Errorf("%s: used is not %t", tt.name, wantUsed)
		}
	}
}

func TestBroadcastOf(t *testing.T) {
	for network, want := range map[string]string{
		"192.168.1.5/24": "192.168.1.255",
		"10.1.2.3/8":     "10.255.255.255",
		"172.16.5.4/20":  "172.16.15.255",
		"10.0.0.5/30":    "10.0.0.7",
		"1.2.3.4/0":      "255.255.255.255",
	} {
		if got := broadcastOf(netip.MustParsePrefix(network)); got.String() != want {
			t.Errorf("broadcastOf(%s) = %s, want %s", network, got, want)
		}
	}
}

func TestAnnounced(t *testing.T) {
	tests := []struct {
		addrs []netip.Prefix
		want  string
	}{
		{prefixes("192.168.1.5/24", "192.168.1.6/24"), "[192.168.1.5]"},
		{prefixes("fe80::1/64", "192.168.1.5/24"), "[192.168.1.5 fe80::1]"},
		{prefixes("fe80::1/64", "fd00::1/64", "2001:db8::1/64"), "[fd00::1]"},
		{prefixes("2001:db8::1/64", "fe80::1/64"), "[2001:db8::1]"},
		{nil, "[]"},
	}
	for _, tt := range tests {
		if got := fmt.Sprint(Interface{Addrs: tt.addrs}.announced()); got != tt.want {
			t.Errorf("of %v are announced %s, want %s", tt.addrs, got, tt.want)
		}
	}
}

func TestReachFirst(t *testing.T) {
	cards := []Interface{
		{Name: "eth0", Addrs: prefixes("192.168.1.5/24", "fd00::5/64", "fe80::5/64")},
		{Name: "wlan0", Addrs: prefixes("10.0.0.5/16")},
	}
	tests := []struct {
		name     string
		in, want []string
	}{
		{"IPv4 first", []string{"[fd00::9]:1", "192.168.1.9:1"}, []string{"192.168.1.9:1", "[fd00::9]:1"}},
		{"each once", []string{"192.168.1.9:1", "192.168.1.9:1"}, []string{"192.168.1.9:1"}},
		{"both networks", []string{"192.168.1.9:1", "10.0.7.9:1"}, []string{"10.0.7.9:1", "192.168.1.9:1"}},
		{"the host's other network", []string{"172.16.0.1:1", "192.168.1.9:1"}, []string{"192.168.1.9:1"}},
		{"of the link", []string{"[fe80::9%eth0]:1", "172.16.0.1:1"}, []string{"[fe80::9%eth0]:1"}},
		{"nothing better", []string{"172.16.0.1:1", "2.3.4.5:1"}, []string{"2.3.4.5:1", "172.16.0.1:1"}},
	}
	for _, tt := range tests {
		var in []netip.AddrPort
		for _, a := range tt.in {
			in = append(in, netip.MustParseAddrPort(a))
		}
		var got []string
		for _, a := range reachFirst(in, cards) {
			got = append(got, a.String())
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
