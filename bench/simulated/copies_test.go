package simulated

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/selection"
	"muster/selection/anomaly"
)

// TestNoCopies checks that of two hosts neither looks like a copy of the other, however near to each
// other they stand. It compares all hosts of a matrix:
//
//	go -C bench test ./simulated -run TestNoCopies -v -sweep-matrix planetlab-490.txt.gz
func TestNoCopies(t *testing.T) {
	if *sweepMatrix == "" {
		t.Skip("no -sweep-matrix")
	}
	m := sweepRoundTrips(t)
	servers := make([]discovery.Server, len(m))
	for i := range servers {
		servers[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 1}), 27960)
	}
	pairs, named := 0, 0
	for p := range m {
		for q := range p {
			table := selection.NewTable([]string{"p", "q"}, len(m))
			for server := range m {
				for i, host := range []int{p, q} {
					if ms := m[host][server]; ms > 0 {
						table.Set(i, server, discovery.Answered, time.Duration(ms*float64(time.Millisecond)))
					}
				}
			}
			pairs++
			if slices.ContainsFunc(anomaly.Find(servers, table), func(a anomaly.Anomaly) bool { return a.Sign == anomaly.Copied }) {
				named++
				t.Logf("%d and %d, %.1f ms apart", p, q, m[p][q])
			}
		}
	}
	if t.Logf("%d of %d pairs are named", named, pairs); named > 0 {
		t.Error("no host copies another")
	}
}
