package topology

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"muster/discovery"
	"muster/discovery/internal/testlist"
)

func TestWhoSharesWhat(t *testing.T) {
	servers := testlist.Of(t,
		"80.1.1.1:1 DE 1", "80.1.1.1:2 DE 1", "80.1.1.2:1 DE 1", "80.1.2.1:1 DE 1", "80.2.1.1:1 DE 1", // 0–4
		"80.1.1.9:1 DE 2", "80.1.1.10:1 FR 1", // 5, 6
		"90.0.0.1:1 - 0", "90.0.0.2:1 - 5", "91.0.0.1:1 - 0", "[2001:db8::1]:1 - 0", // 7–10
		"[2001:db8:1::1]:1 NL 3", "[2001:db8:1::2]:1 NL 3", "[2001:db8:2::1]:1 NL 3", "[2001:dff::1]:1 NL 3", // 11–14
		"80.9.0.1:1 DE 0", "80.8.0.1:1 DE 0", "81.9.0.1:1 DE 0", // 15–17
		"[2001:d00::1]:1 - 0", "[2001:1000::1]:1 - 0", "90.1.0.1:1 - 5", // 18–20
	)
	tests := []struct {
		a, b int
		want Level
	}{
		{0, 0, Address}, {0, 1, Address}, {0, 2, Prefix24}, {0, 3, Prefix16}, {0, 4, AS}, {0, 5, Country}, {0, 6, List},
		{7, 8, Country}, {7, 9, List}, {7, 10, List}, {8, 20, AS}, // a /8 stands for an unknown country
		{11, 12, Prefix24}, {11, 13, Prefix16}, {11, 14, AS}, // IPv6 /48 and /32
		{15, 16, AS}, {15, 17, Country}, {15, 0, Country}, // a /8 stands for an unknown AS in its country
		{10, 18, AS}, {10, 19, List}, // as an IPv6 /20 does
	}
	tree := New(servers)
	for _, tt := range tests {
		got := List
		for l := Country; l < Levels && tree.Above(tree.Of(tt.a), l) == tree.Above(tree.Of(tt.b), l); l++ {
			got = l
		}
		if got != tt.want || common(&servers[tt.a], &servers[tt.b]) != tt.want {
			t.Errorf("%v and %v share level %d, want %d", servers[tt.a], servers[tt.b], got, tt.want)
		}
	}
	if !tree.Unknown(tree.Above(tree.Of(8), Country)) || tree.Unknown(tree.Above(tree.Of(8), AS)) ||
		!tree.Unknown(tree.Above(tree.Of(15), AS)) {
		t.Error("the country of 90.0.0.2 and the AS of 80.9.0.1 are unknown, the AS of 90.0.0.2 is not")
	}
}

func TestATreeOfFew(t *testing.T) {
	tree := New(testlist.Of(t, "80.2.1.1:1 DE 1", "80.1.1.1:1 DE 1", "24.1.1.1:1 AU 9", "80.2.1.1:2 DE 1"))
	type node struct {
		level       Level
		parent, end Node
		servers     []int32
		children    int
	}
	var got []node
	for n := range Node(tree.Nodes()) {
		got = append(got, node{tree.Level(n), tree.Parent(n), tree.End(n), tree.Servers(n), tree.Children(n)})
		if tree.Size(n) != len(tree.Servers(n)) {
			t.Errorf("node %d has %d servers of %d", n, len(tree.Servers(n)), tree.Size(n))
		}
	}
	want := []node{
		{List, -1, 14, []int32{2, 1, 0, 3}, 2},
		{Country, 0, 6, []int32{2}, 1}, // AU
		{AS, 1, 6, []int32{2}, 1}, {Prefix16, 2, 6, []int32{2}, 1}, {Prefix24, 3, 6, []int32{2}, 1}, {Address, 4, 6, []int32{2}, 0},
		{Country, 0, 14, []int32{1, 0, 3}, 1}, // DE
		{AS, 6, 14, []int32{1, 0, 3}, 2},
		{Prefix16, 7, 11, []int32{1}, 1}, {Prefix24, 8, 11, []int32{1}, 1}, {Address, 9, 11, []int32{1}, 0},
		{Prefix16, 7, 14, []int32{0, 3}, 1}, {Prefix24, 11, 14, []int32{0, 3}, 1}, {Address, 12, 14, []int32{0, 3}, 0},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
}

func TestATreeOfNothing(t *testing.T) {
	tree := New(nil)
	if tree.Nodes() != 1 || tree.Size(Root) != 0 || tree.End(Root) != 1 || tree.Parent(Root) != -1 || tree.Children(Root) != 0 {
		t.Errorf("%+v", tree)
	}
}

// AS 1 has five servers in DE and one in FR. AS 2 has one in DE.
func TestSiblings(t *testing.T) {
	servers := testlist.Of(t, "80.1.1.1:1 FR 1", "80.1.1.2:1 DE 1", "80.1.1.3:1 DE 1", "80.1.1.4:1 DE 1",
		"80.1.1.5:1 DE 1", "80.1.1.6:1 DE 1", "80.1.1.7:1 DE 2", "80.1.1.8:1 DE 0", "80.1.1.9:1 FR 0")
	tree := New(servers)
	as := func(server int) Node { return tree.Above(tree.Of(server), AS) }
	tests := []struct {
		server, largest int
		misplaced       float64
	}{
		{0, 1, 0.5 * 5 / 6}, {1, 1, 0.5 / 6}, {6, 6, 0}, {7, 7, 0}, {8, 8, 0},
	}
	for _, tt := range tests {
		largest, misplaced := tree.Sibling(as(tt.server))
		if largest != as(tt.largest) || misplaced-tt.misplaced > 1e-12 || tt.misplaced-misplaced > 1e-12 {
			t.Errorf("the AS of %v: sibling %d, misplaced %v; want %d, %v", servers[tt.server], largest, misplaced, as(tt.largest), tt.misplaced)
		}
	}
	if tree.Origins() != 2 || tree.Origin(as(0)) != tree.Origin(as(1)) || tree.Origin(as(0)) == tree.Origin(as(6)) ||
		tree.Origin(as(7)) != -1 || tree.Origin(Root) != -1 {
		t.Errorf("%d origins; of the servers %d, %d, %d, %d", tree.Origins(), tree.Origin(as(0)), tree.Origin(as(1)),
			tree.Origin(as(6)), tree.Origin(as(7)))
	}
}

// anywhere returns a list of n servers in few places, so that many share them.
func anywhere(rng *rand.Rand, n int) []discovery.Server {
	servers := make([]discovery.Server, n)
	for i := range servers {
		addr := netip.AddrFrom4([4]byte{byte(60 + rng.IntN(3)), byte(rng.IntN(3)), byte(rng.IntN(3)), byte(rng.IntN(3))})
		if rng.IntN(4) == 0 {
			addr = netip.MustParseAddr(fmt.Sprintf("2001:%x:%x::%x", 0xd00<<rng.IntN(2)+rng.IntN(2), rng.IntN(2), rng.IntN(3)))
		}
		servers[i] = discovery.Server{
			Addr:    netip.AddrPortFrom(addr, uint16(1+rng.IntN(2))),
			Country: []string{"", "AU", "DE"}[rng.IntN(3)], ASN: uint32(rng.IntN(4)),
		}
	}
	return servers
}

// check checks what is true of every tree.
func check(t *testing.T, servers []discovery.Server) {
	t.Helper()
	tree := New(servers)
	under := make([]int, tree.Nodes())
	for i := range servers {
		l := Address
		for n := tree.Of(i); n >= 0; n = tree.Parent(n) {
			if tree.Level(n) != l || !slices.Contains(tree.Servers(n), int32(i)) {
				t.Fatalf("server %d is not under node %d of level %d", i, n, l)
			}
			under[n]++
			l--
		}
	}
	for n := range Node(tree.Nodes()) {
		p := tree.Parent(n)
		if n > Root && !(p < n && tree.End(n) <= tree.End(p) && n < tree.End(n)) {
			t.Fatalf("node %d up to %d is not inside its parent %d up to %d", n, tree.End(n), p, tree.End(p))
		}
		if tree.Size(n) != under[n] || n > Root && under[n] == 0 {
			t.Fatalf("node %d has %d servers, want %d", n, tree.Size(n), under[n])
		}
		var below []int32
		for child := n + 1; child < tree.End(n); child = tree.End(child) {
			if tree.Parent(child) != n || tree.Level(child) != tree.Level(n)+1 {
				t.Fatalf("node %d is no child of %d", child, n)
			}
			below = append(below, tree.Servers(child)...)
		}
		if tree.Level(n) < Address && !slices.Equal(below, tree.Servers(n)) {
			t.Fatalf("node %d has the servers %v, its children %v", n, tree.Servers(n), below)
		}
		for at := 1; at < tree.Size(n); at++ {
			a, b := servers[tree.Servers(n)[at-1]], servers[tree.Servers(n)[at]]
			if Compare(a, b) > 0 || common(&a, &b) < tree.Level(n) {
				t.Fatalf("node %d of level %d has %v before %v", n, tree.Level(n), a, b)
			}
		}
	}
}

func TestEveryServerIsUnderItsPlaces(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		check(t, anywhere(rng, rng.IntN(300)))
	}
}

func FuzzTree(f *testing.F) {
	f.Add([]byte("\x50\x01\x01\x01\x00\x01\x50\x01\x01\x02\x01\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var servers []discovery.Server
		for ; len(b) >= 6 && len(servers) < 1000; b = b[6:] {
			addr := netip.AddrFrom4([4]byte(b))
			if b[4]&4 != 0 {
				addr = netip.AddrFrom16([16]byte{b[0], b[1], b[2], b[3], b[4], b[5]})
			}
			servers = append(servers, discovery.Server{
				Addr: netip.AddrPortFrom(addr, 1+uint16(b[5]>>6)), Country: []string{"", "", "AU", "DE"}[b[4]&3], ASN: uint32(b[5] & 7),
			})
		}
		check(t, servers)
	})
}

func TestEveryCountryLiesInOneRegion(t *testing.T) {
	seen := make(map[string]bool)
	for _, codes := range regions {
		for code := range strings.FieldsSeq(codes) {
			if home := strings.ToUpper(code) == code; len(code) != 2 || home && seen[code] {
				t.Errorf("%q is no country of this region alone", code)
			} else if home {
				seen[code] = true
			}
		}
	}
	if len(seen) < 240 {
		t.Errorf("%d countries are known", len(seen))
	}
}

func TestRegionsAndBlocks(t *testing.T) {
	tree := New(testlist.Of(t, "80.1.1.1:1 DE 1", "80.1.2.1:1 AU 2", "80.2.1.1:1 FR 3", "81.1.1.1:1 - 0"))
	at := func(server int, l Level) Node { return tree.Above(tree.Of(server), l) }
	region := func(server int) int { return tree.Region(at(server, Country)) }
	if region(0) != region(2) || region(0) == region(1) || region(0) < 0 || region(3) != -1 ||
		tree.Region(Root) != -1 || tree.Region(at(0, AS)) != -1 {
		t.Errorf("regions %d, %d, %d, %d", region(0), region(1), region(2), region(3))
	}
	if reaches := tree.Reaches(at(1, Country)); len(reaches) != 1 || int(reaches[0]) == region(1) || tree.Reaches(at(0, Country)) != nil {
		t.Errorf("Australia reaches into %v, Germany into %v", reaches, tree.Reaches(at(0, Country)))
	}
	block := func(server int) Block { return tree.Block(at(server, Prefix16)) }
	eight := func(server int) Block { return tree.Within(block(server)) }
	if block(0) != block(1) || block(0) == block(2) || eight(0) != eight(2) || eight(0) == eight(3) || eight(0) > block(0) {
		t.Errorf("blocks %d, %d, %d, %d in %d, %d, %d, %d", block(0), block(1), block(2), block(3), eight(0), eight(1), eight(2), eight(3))
	}
	if tree.Blocks() != 5 || tree.Within(eight(0)) != NoBlock || tree.Block(at(0, AS)) != NoBlock {
		t.Errorf("%d blocks, the /8 in %d, an AS is %d", tree.Blocks(), tree.Within(eight(0)), tree.Block(at(0, AS)))
	}
}
