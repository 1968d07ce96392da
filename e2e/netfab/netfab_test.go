package netfab

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"
)

func apart(d time.Duration) func(a, b netip.Addr) time.Duration {
	return func(a, b netip.Addr) time.Duration { return d }
}

func prefixes(list ...string) (all []netip.Prefix) {
	for _, p := range list {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
}

// world is a household behind a router, and servers.
type world struct {
	*Fabric
	home, far         int
	ann, bob, servers int
}

func newWorld(seed uint64, home Site, distance time.Duration) world {
	w := world{Fabric: New(seed, apart(distance))}
	w.home, w.far = w.AddSite(home), w.AddSite(Site{Name: "far"})
	w.ann = w.AddMachine(w.home, prefixes("10.0.0.2/32", "2001:db8:1::2/128")...)
	w.bob = w.AddMachine(w.home, prefixes("10.0.0.3/32")...)
	w.servers = w.AddMachine(w.far, prefixes("198.18.0.0/15", "2001:db8:2::/64")...)
	return w
}

// hears runs the fabric until nothing is under way, and returns what arrived where and when.
func (w world) hears(t *testing.T) (heard []string) {
	t.Helper()
	for now, ok := w.Next(); ok; now, ok = w.Next() {
		for d, ok := w.Due(now); ok; d, ok = w.Due(now) {
			checkSums(t, "delivered", d.Packet)
			from, to := ends(t, d.Packet)
			heard = append(heard, fmt.Sprintf("%v %d: %v>%v", now, d.Machine, from, to))
		}
	}
	return heard
}

func nat(room int) Site {
	return Site{Name: "home", NAT: &NAT{Public: public, Mapping: PerFlow, Room: room}, Up: Line{Delay: 5 * ms}, Down: Line{Delay: 3 * ms}}
}

// TestFabric checks which machine a packet reaches, when, and from which address.
func TestFabric(t *testing.T) {
	group := netip.MustParseAddrPort("224.0.0.251:5353")
	for name, test := range map[string]struct {
		do   func(w world)
		want []string
	}{
		"there": {func(w world) { w.Send(w.ann, datagram(protoUDP, inside, server, "x"), 0) },
			[]string{"35ms 2: 203.0.113.9:5000>198.18.0.1:27960"}},
		"and back": {func(w world) {
			w.Send(w.ann, datagram(protoUDP, inside, server, "x"), 0)
			w.Send(w.servers, datagram(protoUDP, server, at(public, 5000), "y"), 40*ms)
		}, []string{"35ms 2: 203.0.113.9:5000>198.18.0.1:27960", "73ms 0: 198.18.0.1:27960>10.0.0.2:5000"}},
		"uninvited":                      {func(w world) { w.Send(w.servers, datagram(protoUDP, server, at(public, 5000), "y"), 0) }, nil},
		"the inner address from outside": {func(w world) { w.Send(w.servers, datagram(protoUDP, server, inside, "y"), 0) }, nil},
		"nobody there": {func(w world) {
			w.Send(w.ann, datagram(protoUDP, inside, at(netip.MustParseAddr("192.0.2.1"), 1), "x"), 0)
		}, nil},
		"a neighbor": {func(w world) {
			w.Send(w.ann, datagram(protoUDP, inside, second, "x"), 7*ms)
		}, []string{"7ms 1: 10.0.0.2:5000>10.0.0.3:5000"}},
		"multicast": {func(w world) {
			w.Send(w.bob, datagram(protoUDP, second, group, "x"), 7*ms)
		}, []string{"7ms 0: 10.0.0.3:5000>224.0.0.251:5353"}},
		"no IP packet": {func(w world) { w.Send(w.ann, []byte("hello"), 0) }, nil},
		"while the line is down": {func(w world) {
			w.Send(w.ann, datagram(protoUDP, inside, server, "x"), 0)
			w.Cut(w.home, 50*ms)
			w.Send(w.ann, datagram(protoUDP, inside, server, "x"), 10*ms)
			w.Send(w.servers, datagram(protoUDP, server, at(public, 5000), "y"), 10*ms)
			w.Send(w.servers, datagram(protoUDP, server, at(public, 5000), "y"), 20*ms)
			w.Send(w.ann, datagram(protoUDP, inside, server, "x"), 50*ms)
		}, []string{"35ms 2: 203.0.113.9:5000>198.18.0.1:27960", "53ms 0: 198.18.0.1:27960>10.0.0.2:5000",
			"85ms 2: 203.0.113.9:5000>198.18.0.1:27960"}},
		"the router's address changes": {func(w world) {
			w.Send(w.ann, datagram(protoUDP, inside, server, "x"), 0)
			w.RenumberSite(w.home, netip.MustParseAddr("203.0.113.77"))
			w.Send(w.servers, datagram(protoUDP, server, at(public, 5000), "y"), 40*ms)
			w.Send(w.ann, datagram(protoUDP, inside, server, "x"), 50*ms)
		}, []string{"35ms 2: 203.0.113.9:5000>198.18.0.1:27960", "85ms 2: 203.0.113.77:5000>198.18.0.1:27960"}},
		"a machine's address changes": {func(w world) {
			w.Renumber(w.servers, prefixes("192.0.2.0/24")...)
			w.Send(w.ann, datagram(protoUDP, inside, server, "x"), 0)
			w.Send(w.ann, datagram(protoUDP, inside, at(netip.MustParseAddr("192.0.2.1"), 1), "x"), 0)
		}, []string{"35ms 2: 203.0.113.9:5000>192.0.2.1:1"}},
		"too big on the way up": {func(w world) {
			w.SetLines(w.home, Line{MTU: 500}, Line{})
			w.Send(w.ann, datagram(protoTCP, inside, server, string(make([]byte, 600))), 0)
		}, []string{"0s 0: 198.18.0.1:0>10.0.0.2:0"}},
		"too big on the way down": {func(w world) {
			w.SetLines(w.home, Line{}, Line{MTU: 500})
			w.Send(w.ann, datagram(protoUDP, inside, server, "x"), 0)
			w.Send(w.servers, datagram(protoUDP, server, at(public, 5000), string(make([]byte, 600))), 40*ms)
		}, []string{"30ms 2: 203.0.113.9:5000>198.18.0.1:27960", "100ms 2: 203.0.113.9:0>198.18.0.1:0"}},
		"the answer to the router's machine is too big for the servers' line": {func(w world) {
			w.SetLines(w.far, Line{}, Line{MTU: 500})
			w.Send(w.ann, datagram(protoTCP, inside, server, string(make([]byte, 600))), 0)
		}, []string{"68ms 0: 198.18.0.1:0>10.0.0.2:0"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(1, nat(0), 30*ms)
			test.do(w)
			if got := w.hears(t); !slices.Equal(got, test.want) {
				t.Errorf("heard\n%q, want\n%q", got, test.want)
			}
		})
	}
}

// TestFabricSeed checks that the same seed and packets have the same fate, and another seed another
// one. One site's packets do not depend on another's.
func TestFabricSeed(t *testing.T) {
	faulty := nat(0)
	faulty.Up = Line{Delay: 5 * ms, Jitter: 9 * ms, Loss: 0.2, Burst: 2, Duplicate: 0.1, Reorder: 0.1}
	run := func(seed uint64, others int) []string {
		w := newWorld(seed, faulty, 30*ms)
		for i := range 200 {
			now := time.Duration(i) * ms
			w.Send(w.ann, datagram(protoUDP, inside, server, "x"), now)
			for range others {
				w.Send(w.servers, datagram(protoUDP, server, at(netip.MustParseAddr("192.0.2.1"), 1), "x"), now)
			}
		}
		return w.hears(t)
	}
	if !slices.Equal(run(1, 0), run(1, 0)) {
		t.Error("the same seed has another outcome")
	}
	if !slices.Equal(run(1, 0), run(1, 3)) {
		t.Error("another site's packets change a site's")
	}
	if slices.Equal(run(1, 0), run(2, 0)) {
		t.Error("another seed has the same outcome")
	}
}

// TestFabricIPv6 checks that IPv6 passes a router unchanged.
func TestFabricIPv6(t *testing.T) {
	w := newWorld(1, nat(0), 30*ms)
	from, to := netip.MustParseAddr("2001:db8:1::2"), netip.MustParseAddr("2001:db8:2::5")
	b := make([]byte, ip6Len+udpLen)
	b[0], b[5], b[6], b[7] = 0x60, udpLen, protoUDP, ttl
	copy(b[8:], from.AsSlice())
	copy(b[24:], to.AsSlice())
	b[ip6Len+1], b[ip6Len+3] = 1, 2
	w.Send(w.ann, b, 0)
	if got, want := w.hears(t), []string{"35ms 2: [2001:db8:1::2]:1>[2001:db8:2::5]:2"}; !slices.Equal(got, want) {
		t.Errorf("heard %q, want %q", got, want)
	}
	w.SetLines(w.home, Line{MTU: 1280}, Line{})
	w.Send(w.ann, append(b, make([]byte, 1300)...), time.Second)
	if got, want := w.hears(t), []string{"1s 0: [2001:db8:2::5]:0>[2001:db8:1::2]:0"}; !slices.Equal(got, want) {
		t.Errorf("heard %q, want %q", got, want)
	}
}

// TestFabricCounts checks a site's counts.
func TestFabricCounts(t *testing.T) {
	w := newWorld(1, nat(10), 30*ms)
	for i := range 30 {
		w.Send(w.ann, datagram(protoUDP, inside, at(server.Addr(), uint16(1+i)), "x"), 0)
	}
	w.hears(t)
	want := Counts{Up: Passed{Entered: 30}, Mappings: 10, Evicted: 20}
	if got := w.Counts(w.home); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}
