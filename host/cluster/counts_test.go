package cluster

import (
	"testing"
	"testing/synctest"

	"muster/host/store"
)

// TestCounts checks what operators see of a cluster: two hosts that trust their leases, a room that
// nobody has after its host ended, and the end of trust when NATS is gone.
func TestCounts(t *testing.T) { synctest.Test(t, testCounts) }

func testCounts(t *testing.T) {
	nats := startNATS(t)
	w := world(nats)
	a, b := join(t, w, "a"), join(t, w, "b")
	eventually(t, "both hosts see each other and renew", func() bool {
		n := a.Counts()
		return n.Hosts == 2 && n.Renewed > 0
	})
	if n := a.Counts(); !n.Trusted || !n.Connected || n.Lease <= 0 || n.Lease > trustTime || n.Ends != 0 || n.Orphaned != 0 {
		t.Errorf("%+v", n)
	}
	kept, err := b.Create(t.Context(), "BAKODI", "id", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the released room has no host", func() bool { return a.Counts().Orphaned == 1 })
	if p := a.Find("BAKODI"); p.State != store.Orphaned || !p.Released || p.Host != "b" {
		t.Errorf("%+v", p)
	}
	if _, _, err := a.Claim(t.Context(), "BAKODI"); err != nil {
		t.Fatal(err)
	}
	if n := a.Counts().Orphaned; n != 0 {
		t.Errorf("of rooms that have a host %d have none", n)
	}
	nats.Stop(0)
	eventually(t, "a no longer trusts its lease", func() bool {
		n := a.Counts()
		return !n.Trusted && n.Ends == 1 && n.Unrenewed > 0 && n.Lease == 0 && !n.Connected
	})
}
