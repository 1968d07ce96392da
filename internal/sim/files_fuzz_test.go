package sim

import (
	"strings"
	"testing"
)

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
