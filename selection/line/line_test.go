package line_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/selection/line"
)

const ms = time.Millisecond

// network returns a tree of 20 countries with 8 ASes of 8 addresses each.
func network() *topology.Tree {
	var list []discovery.Server
	for country := range 20 {
		for as := range 8 {
			for host := range 8 {
				addr := netip.AddrFrom4([4]byte{byte(20 + country), byte(as), byte(host / 4), byte(1 + host)})
				list = append(list, discovery.Server{
					Addr: netip.AddrPortFrom(addr, 27015), Country: string([]byte{'A' + byte(country), 'A'}), ASN: uint32(8*country + as + 1),
				})
			}
		}
	}
	return topology.New(list)
}

// search returns the line of a player who has asked 400 servers in a random order, with delays that
// depend on the number of replies. One reply in fifty meets a full queue.
func search(seed uint64, delay func(replies int) time.Duration) (l line.Line) {
	tree, rng := network(), rand.New(rand.NewPCG(seed, 1))
	for i, server := range rng.Perm(len(tree.List()))[:400] {
		rtt := time.Duration(20+10*(server/64)+3*(server/8%8)) * ms
		rtt += time.Duration(rng.ExpFloat64() * float64(2*ms))
		if rng.IntN(50) == 0 {
			rtt += 120 * ms
		}
		l.Note(tree, tree.Of(server), time.Duration(i)*time.Second, rtt+delay(i))
	}
	return l
}

// TestDelays checks that a download is found whenever it begins and ends, and that there is none on a
// quiet line.
func TestDelays(t *testing.T) {
	for name, test := range map[string]struct {
		by          time.Duration
		from, until int
	}{
		"quiet": {}, "starts": {50 * ms, 130, 400}, "ends": {50 * ms, 0, 130}, "passes": {50 * ms, 100, 250}, "small": {20 * ms, 200, 400},
	} {
		busy := func(reply int) bool { return test.from <= reply && reply < test.until }
		for seed := range uint64(40) {
			l := search(seed, func(reply int) time.Duration {
				if busy(reply) {
					return test.by
				}
				return 0
			})
			delays, wrong := l.Delays(), 0
			for reply := range 400 {
				want := time.Duration(0)
				if busy(reply) {
					want = test.by
				}
				if (delays.At(time.Duration(reply)*time.Second) - want).Abs() > 4*ms {
					wrong++
				}
			}
			if wrong > 12 || test.by == 0 && delays != nil {
				t.Errorf("%s, seed %d: %d of 400 replies are judged wrong: %v", name, seed, wrong, delays)
			}
		}
	}
}

// TestNow checks the newest delay, which later looks have.
func TestNow(t *testing.T) {
	if by := (line.Delays{{Since: 5, By: 50 * ms}, {Since: 9, By: 0}}).Now(); by != 0 {
		t.Errorf("%v after a download", by)
	}
	if by := (line.Delays{{Since: 5, By: 50 * ms}}).Now(); by != 50*ms {
		t.Errorf("%v during a download", by)
	}
	if by := (line.Delays)(nil).Now(); by != 0 {
		t.Errorf("%v without a download", by)
	}
}
