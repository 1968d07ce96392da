package fleet

import (
	"net/netip"
	"slices"
	"testing"

	"muster/internal/sim"
)

func addrs(texts ...string) []netip.Addr {
	var list []netip.Addr
	for _, text := range texts {
		list = append(list, netip.MustParseAddr(text))
	}
	return list
}

func TestFoldAddrs(t *testing.T) {
	world := addrs("203.0.113.9", "203.0.113.7", "203.0.113.7", "203.0.7.1", "203.1.0.1", "2001:db8::1", "2001:db8:0:1::1", "2001:db8:1::1")
	want := addrs("127.1.1.2", "127.1.1.1", "127.1.1.1", "127.1.0.1", "127.2.0.1", "127.3.0.1", "127.3.0.2", "127.3.1.1")
	folded, err := foldAddrs(world)
	if err != nil {
		t.Fatal(err)
	}
	for i, addr := range world {
		if folded[addr] != want[i] {
			t.Errorf("%v is at %v, want %v", addr, folded[addr], want[i])
		}
	}
}

// addresses returns n addresses, so many to each /24 and so many /24s to each /16.
func addresses(n, hosts, leaves int) []netip.Addr {
	list := make([]netip.Addr, n)
	for i := range list {
		leaf := i / hosts
		network := leaf / leaves
		list[i] = netip.AddrFrom4([4]byte{byte(1 + network/256), byte(network), byte(leaf % leaves), byte(i%hosts + 1)})
	}
	return list
}

func TestFoldKeepsClusters(t *testing.T) {
	tests := []struct {
		name   string
		world  []netip.Addr
		leaf   int  // the longest prefix that keeps two networks apart
		own16s bool // there are blocks for all /16s
	}{
		{"css2007", worldAddrs(t, "css2007"), 24, false},
		{"few networks", addresses(200_000, 4, 256), 24, true},
		{"many networks", addresses(30_000, 1, 2), 24, false},
		{"more /24s than leaves", addresses(100_000, 1, 256), 23, false},
		{"far more /24s than leaves", addresses(200_000, 1, 32), 22, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folded, err := foldAddrs(tt.world)
			if err != nil {
				t.Fatal(err)
			}
			checkKept(t, folded, 32, 32, true)
			checkKept(t, folded, tt.leaf, 24, true)
			checkKept(t, folded, 16, 16, tt.own16s)
		})
	}
}

func worldAddrs(t *testing.T, name string) []netip.Addr {
	spec, err := sim.NamedSpec(name, 1)
	if err != nil {
		t.Fatal(err)
	}
	var list []netip.Addr
	for _, s := range sim.Generate(spec).Servers {
		list = append(list, s.Addr.Addr())
	}
	return list
}

// checkKept checks that addresses with a common prefix in the world have one on loopback. If apart,
// it also checks that other addresses do not.
func checkKept(t *testing.T, folded map[netip.Addr]netip.Addr, worldBits, foldedBits int, apart bool) {
	t.Helper()
	there, back := map[netip.Prefix]netip.Prefix{}, map[netip.Prefix]netip.Prefix{}
	for addr, at := range folded {
		world, _ := addr.Prefix(worldBits)
		local, _ := at.Prefix(foldedBits)
		if known, ok := there[world]; ok && known != local {
			t.Fatalf("%v is both in %v and in %v", world, known, local)
		}
		if known, ok := back[local]; ok && known != world && apart {
			t.Fatalf("%v holds both %v and %v", local, known, world)
		}
		there[world], back[local] = local, world
	}
}

func TestFoldStaysOnLoopback(t *testing.T) {
	folded, err := foldAddrs(addresses(60_000, 4, 60))
	if err != nil {
		t.Fatal(err)
	}
	reserved := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/16"), seatsPrefix, netip.MustParsePrefix("127.255.0.0/16")}
	for _, at := range folded {
		inside := func(p netip.Prefix) bool { return p.Contains(at) }
		if !at.IsLoopback() || slices.ContainsFunc(reserved, inside) {
			t.Fatalf("%v is not for servers", at)
		}
	}
}

func TestFoldRefusesTooMany(t *testing.T) {
	var list []netip.Addr
	for i := range 1 << 17 { // full /24s
		list = append(list, netip.AddrFrom4([4]byte{20, byte(i >> 16), byte(i >> 8), byte(i)}))
	}
	if _, err := foldAddrs(list); err == nil {
		t.Error("256 addresses fit into a leaf")
	}
}
