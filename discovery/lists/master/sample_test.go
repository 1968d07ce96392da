package master

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"muster/discovery"
)

// honest returns n servers, each with its own address and network. Some have IPv6 addresses.
func honest(n int) (list []netip.AddrPort) {
	for i := range n {
		addr := netip.AddrFrom4([4]byte{byte(20 + i%40), byte(i >> 8), byte(i), 7})
		if i%8 == 7 {
			addr = netip.AddrFrom16([16]byte{0x2a, byte(i % 16), byte(i >> 8), byte(i), 15: 1})
		}
		list = append(list, netip.AddrPortFrom(addr, 27960))
	}
	return list
}

// flood returns every port, up to a number, of this many addresses in a row.
func flood(from string, addresses, ports int) (list []netip.AddrPort) {
	addr := netip.MustParseAddr(from)
	list = make([]netip.AddrPort, 0, addresses*ports)
	for range addresses {
		for port := range ports {
			list = append(list, netip.AddrPortFrom(addr, uint16(1+port)))
		}
		addr = addr.Next()
	}
	return list
}

// sites returns IPv6 addresses in as many /48s of one /32.
func sites(n, each int) (list []netip.AddrPort) {
	for i := range n {
		for customer := range each {
			addr := netip.AddrFrom16([16]byte{0x24, 0, 0x12, 0x34, byte(i >> 8), byte(i), byte(customer >> 8), byte(customer), 15: 1})
			list = append(list, netip.AddrPortFrom(addr, 27960))
		}
	}
	return list
}

func listOf(u *union) (list []netip.AddrPort) {
	for _, s := range u.list() {
		list = append(list, s.Addr)
	}
	return list
}

func addAll(u *union, source int, list []netip.AddrPort) {
	for _, addr := range list {
		u.add(source, discovery.Server{Addr: addr})
	}
}

// found returns how many of some servers are in a list.
func found(list, of []netip.AddrPort) (n int) {
	in := make(map[netip.AddrPort]bool, len(list))
	for _, addr := range list {
		in[addr] = true
	}
	for _, addr := range of {
		if in[addr] {
			n++
		}
	}
	return n
}

// TestFloodedList checks that a flood of servers displaces no others from the list, and
// that the user is told.
func TestFloodedList(t *testing.T) {
	const servers = 2000
	for _, c := range []struct {
		name    string
		flood   []netip.AddrPort
		most    int // left of the flood
		warning string
	}{
		{"1.28 million entries from 203 addresses", flood("203.0.113.1", 203, 6305), 203 * 32,
			"[master: l lists more than 32 servers at 203 addresses, such as 203.0.113.1: only 32 there are asked]"},
		{"every port of one address", flood("203.0.113.1", 1, 65535), 32,
			"[master: l lists more than 32 servers at 203.0.113.1: only 32 there are asked]"},
		{"36,000 addresses, 7 ports each", flood("203.0.0.0", 36000, 7), discovery.MaxServers - servers,
			"[master: l lists over 200000 servers in all: each network has a fair share of them]"},
		{"customers of one IPv6 provider", sites(60000, 4), discovery.MaxServers - servers,
			"[master: l lists over 200000 servers in all: each network has a fair share of them]"},
		{"addresses of one IPv6 customer", flood("2001:db8::1", 220_000, 1), 32,
			"[master: l lists more than 32 servers at 2001:db8::/64: only 32 there are asked]"},
		{"nothing else", nil, 0, "[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			real := honest(servers)
			var u union // some come before the flood, the others after it
			addAll(&u, 0, real[:servers/2])
			addAll(&u, 0, c.flood)
			addAll(&u, 0, real[servers/2:])
			list := listOf(&u)
			if n := found(list, real); n != servers || len(list)-n > c.most {
				t.Errorf("%d of %d servers are listed, and %d others, want at most %d", n, servers, len(list)-n, c.most)
			}
			if got := fmt.Sprint(u.warnings("l")); got != c.warning {
				t.Errorf("it says %s, want %s", got, c.warning)
			}
		})
	}
}

// TestHostileMaster checks two masters, one of them hostile. It displaces no server of
// the other, not even if it names that server, too.
func TestHostileMaster(t *testing.T) {
	real := honest(2000)
	everywhere := func() (list []netip.AddrPort) {
		random := rand.New(rand.NewPCG(1, 1))
		for range discovery.MaxServers {
			addr := netip.AddrFrom4([4]byte{byte(60 + random.IntN(60)), byte(random.IntN(256)), byte(random.IntN(256)), byte(random.IntN(256))})
			list = append(list, netip.AddrPortFrom(addr, uint16(1+random.IntN(65535))))
		}
		return list
	}()
	neighbours := func() (list []netip.AddrPort) { // ports of the very same servers' addresses
		for _, r := range real {
			for port := range 50 {
				list = append(list, netip.AddrPortFrom(r.Addr(), uint16(30000+port)))
			}
		}
		return list
	}()
	for name, hostile := range map[string][]netip.AddrPort{
		"servers everywhere": everywhere, "and the others' servers": append(slices.Clone(real), everywhere...),
		"all ports of the others": neighbours,
	} {
		for _, honestFirst := range []bool{true, false} {
			var u union
			sources := [][]netip.AddrPort{real, hostile}
			if !honestFirst {
				slices.Reverse(sources)
			}
			for i, list := range sources {
				addAll(&u, i, list)
			}
			if n := found(listOf(&u), real); n != len(real) {
				t.Errorf("%s, honest first %t: %d of %d servers are listed", name, honestFirst, n, len(real))
			}
		}
	}
}

// Neither the order of the entries nor their repeats decide.
func TestSampleIgnoresOrder(t *testing.T) {
	all := slices.Concat(honest(2000), flood("203.0.113.1", 20, 200), sites(3000, 70))
	var want []netip.AddrPort
	for seed := range 2 {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		list := slices.Clone(all)
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		var u union
		addAll(&u, 0, list)
		addAll(&u, 0, list[:len(list)/2])
		got := listOf(&u)
		slices.SortFunc(got, netip.AddrPort.Compare)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) || len(got) != discovery.MaxServers {
			t.Fatalf("order %d gives another list of %d servers", seed, len(got))
		}
	}
}

// On one's own networks any number of servers may be at an address: fleets and LAN
// parties.
func TestOwnNetworksAreFree(t *testing.T) {
	for _, addr := range []string{"127.0.0.1", "192.168.1.10", "10.1.2.3", "::1", "fd00::1"} {
		var u union
		addAll(&u, 0, flood(addr, 1, 30_000))
		if n := len(u.list()); n != 30_000 || u.warnings("l") != nil {
			t.Errorf("%s: %d of 30,000 servers are listed, %v", addr, n, u.warnings("l"))
		}
	}
}

// TestFloodedFile checks that a list from a file is shared out in the same way, names
// included.
func TestFloodedFile(t *testing.T) {
	var text strings.Builder
	for _, addr := range flood("203.0.113.1", 203, 500) {
		fmt.Fprintln(&text, addr)
	}
	for port := range 2000 {
		fmt.Fprintf(&text, "flood.example.org:%d\n", port+1)
	}
	for i, addr := range honest(1000) {
		fmt.Fprintln(&text, addr)
		fmt.Fprintf(&text, "arena-%d.example.net:27960\n", i)
	}
	entries, warnings, err := ParseList(strings.NewReader(text.String()), "l.txt")
	if want := 204*32 + 2000; err != nil || len(entries) != want {
		t.Errorf("%d entries are left, want %d; %v", len(entries), want, err)
	}
	if want := "[master: l.txt lists more than 32 servers at 204 addresses, such as 203.0.113.1: only 32 there " +
		"are asked]"; fmt.Sprint(warnings) != want {
		t.Errorf("it says %v, want %s", warnings, want)
	}
}
