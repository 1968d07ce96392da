package evidence

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// TestWatch checks that results from the time of a download count as if the line had been quiet,
// also after the room was saved.
func TestWatch(t *testing.T) {
	var list []discovery.Server
	for i := range 200 {
		addr := netip.AddrFrom4([4]byte{20, byte(i % 20), 0, byte(i / 20)})
		list = append(list, discovery.Server{Addr: netip.AddrPortFrom(addr, 1), Country: "DE", ASN: uint32(1 + i%20)})
	}
	tree := topology.New(list)
	w := &PlayerResults{}
	w.AskAll(eight)
	quiet := func(server int) time.Duration { return time.Duration(20+3*(server%20)) * ms }
	for server := range list {
		r := answered(server, quiet(server))
		if r.At = time.Duration(server) * time.Second; server >= 80 {
			r.RTT += 50 * ms
		}
		w.Report(r, time.Hour, long)
	}
	if w.At(150).RTT != quiet(150)+50*ms || w.Delay() != 0 {
		t.Fatal("the line is judged before anybody looked")
	}
	if changed := w.Watch(tree); len(changed) != 120 || w.Watch(tree) != nil {
		t.Errorf("%d RTTs have changed, want 120, once", len(changed))
	}
	if w.At(79).RTT != quiet(79) || w.At(80).RTT != quiet(80) || w.Delay() != 50*ms {
		t.Errorf("%v and %v, %v now", w.At(79).RTT, w.At(80).RTT, w.Delay())
	}
	if w.WasDelayed(79) || !w.WasDelayed(80) {
		t.Error("the line was busy from server 80 on")
	}
	saved, err := w.Save()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Restore(saved, len(list))
	if err != nil || !reflect.DeepEqual(again.At(150), w.At(150)) || again.Delay() != 50*ms {
		t.Errorf("restored: %v, %v, %v", again.At(150), again.Delay(), err)
	}
}
