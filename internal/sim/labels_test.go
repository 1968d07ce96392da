package sim

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"muster/discovery"
)

// labelledList has 4,000 servers in 1,000 /24s of 50 /16s, one AS a /16, and IPv6.
func labelledList() (list []discovery.Server) {
	for i := range 4000 {
		addr := netip.AddrFrom4([4]byte{80, byte(i / 80), byte(i / 4), byte(i % 4)})
		if i%100 == 99 {
			addr = netip.MustParseAddr(fmt.Sprintf("2a01:%x::%x", i/400, i))
		}
		list = append(list, discovery.Server{
			Addr:    netip.AddrPortFrom(addr, 1),
			Country: []string{"DE", "FR", "JP"}[i/80%3],
			ASN:     uint32(1 + i/80),
		})
	}
	return list
}

func TestMislabelled(t *testing.T) {
	list := labelledList()
	before := slices.Clone(list)
	for _, bits := range []int{16, 24} {
		ten, thirty := Mislabelled(0.1, bits)(list, 7), Mislabelled(0.3, bits)(list, 7)
		if !slices.Equal(list, before) {
			t.Fatal("the list itself was changed")
		}
		if !slices.Equal(ten, Mislabelled(0.1, bits)(list, 7)) || slices.Equal(ten, Mislabelled(0.1, bits)(list, 8)) {
			t.Errorf("/%d: the seed does not decide who is mislabelled", bits)
		}
		labels, wrong, networks := make(map[netip.Prefix]map[cell]bool), 0, make(map[netip.Prefix]bool)
		for i, s := range ten {
			prefix := Network(s, bits)
			networks[prefix] = true
			if s.Addr != list[i].Addr {
				t.Fatalf("server %d is another", i)
			}
			if CellOf(s) == CellOf(list[i]) {
				continue
			}
			if CellOf(thirty[i]) == CellOf(list[i]) {
				t.Errorf("/%d: %v is wrong among 10 %%, and right among 30 %%", bits, s.Addr)
			}
			if labels[prefix] == nil {
				labels[prefix] = make(map[cell]bool)
				wrong++
			}
			labels[prefix][CellOf(s)] = true
			if (s.Country == "DE") != (s.ASN%3 == 1) {
				t.Errorf("nobody has the label %s, AS%d", s.Country, s.ASN)
			}
		}
		for prefix, with := range labels {
			if len(with) != 1 {
				t.Errorf("%v has %d wrong labels, want the same for all of it", prefix, len(with))
			}
		}
		if share := float64(wrong) / float64(len(networks)); share < 0.02 || share > 0.2 {
			t.Errorf("%.2f of the /%ds are mislabelled, want about a tenth", share, bits)
		}
	}
	if same := Mislabelled(1, 24)(realList("DE", 20), 1); !slices.Equal(same, realList("DE", 20)) {
		t.Error("a list with one label got another")
	}
	if got := Mislabelled(0, 24)(list, 1); !slices.Equal(got, list) {
		t.Error("no share of the networks, and yet other labels")
	}
}

// TestLabelledScene checks that plans see other labels, and that the world stays the same.
func TestLabelledScene(t *testing.T) {
	m, list := line(20), realList("DE", 200)
	plain := Scene(func(seed uint64) ([]*Vantage, error) { return m.World(list, []int{0, 9}, seed).Vantages(), nil })
	want, _ := plain(3)
	other := slices.Clone(list)[:100]
	for i := range other {
		other[i].Country, other[i].ASN = "JP", 9
	}
	for name, c := range map[string]struct {
		labels Labels
		want   [2]cell // of the first and the last server
	}{
		"none":         {Unlabelled, [2]cell{}},
		"another list": {LabelledLike(other), [2]cell{{"JP", 9}, {}}},
	} {
		got, err := plain.Labelled(c.labels)(3)
		if err != nil || len(got) != 2 {
			t.Fatal(len(got), err)
		}
		for i, v := range got {
			if !reflect.DeepEqual(v.RTT, want[i].RTT) || !reflect.DeepEqual(v.Infos, want[i].Infos) {
				t.Errorf("%s: the world is another", name)
			}
			if first, last := CellOf(v.Servers[0]), CellOf(v.Servers[199]); [2]cell{first, last} != c.want {
				t.Errorf("%s: %v and %v, want %v", name, first, last, c.want)
			}
			if v.Topology() != got[0].Topology() {
				t.Errorf("%s: one list, two topologies", name)
			}
		}
	}
	if again, _ := plain(3); CellOf(again[0].Servers[0]) != (cell{"DE", 1}) {
		t.Error("the world's own labels are gone")
	}
}

// FuzzReadVantage reads data files. Accepted files have servers that can be simulated, each once.
func FuzzReadVantage(f *testing.F) {
	f.Add("addr,country,asn,rtt_ms,players,max_players\n192.0.2.1:27960,DE,AS3320,12.5,1,8\n[2001:db8::1]:1,,,\n")
	f.Add("\ufeffRTT_MS, Addr ,map\n0,192.0.2.1:1,\x1b[2J\n# x\n60000,192.0.2.2:1,\"a,b\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ReadVantage("data", strings.NewReader(text))
		if err != nil {
			return
		}
		if len(v.Servers) != len(v.RTT) || len(v.Servers) != len(v.Infos) {
			t.Fatalf("%d servers, %d RTTs, %d infos", len(v.Servers), len(v.RTT), len(v.Infos))
		}
		seen := map[string]bool{}
		for i, s := range v.Servers {
			if key := s.Addr.String(); !s.Addr.IsValid() || s.Addr.Port() == 0 || seen[key] {
				t.Errorf("server %v", s.Addr)
			} else {
				seen[key] = true
			}
			if rtt := v.RTT[i]; rtt != Silent && (rtt < 0 || rtt > longestRTT) {
				t.Errorf("%v has the RTT %v", s.Addr, rtt)
			}
			if strings.ContainsRune(v.Infos[i].Map, 0x1b) {
				t.Errorf("%v has the map %q", s.Addr, v.Infos[i].Map)
			}
		}
		if len(v.Servers) > 0 && len(v.Tree().List()) != len(v.Servers) {
			t.Errorf("a tree of %d servers for %d", len(v.Tree().List()), len(v.Servers))
		}
	})
}

// FuzzReadMatrix reads matrices. Each accepted matrix is square, and hosts can be drawn from it.
func FuzzReadMatrix(f *testing.F) {
	f.Add("0 1 2\n1 0 3\n2 3 0\n")
	f.Add("# x\n0;1.5\r\n\n1e3,0\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ReadMatrix(strings.NewReader(text))
		if err != nil {
			return
		}
		for i, row := range m {
			if len(row) != len(m) {
				t.Fatalf("row %d of %d has %d values", i, len(m), len(row))
			}
			for _, ms := range row {
				if !(ms >= 0 && milliseconds(ms) <= longestRTT) {
					t.Fatalf("%v ms", ms)
				}
			}
		}
		for _, spread := range []Spread{Anywhere, Near, Far} {
			for _, host := range m.Draw(4, spread, 1) {
				if host < 0 || host >= len(m) {
					t.Fatalf("host %d of %d", host, len(m))
				}
			}
		}
	})
}
