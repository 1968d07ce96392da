package places

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"muster/discovery/protocol/beacon"
	"muster/e2e/netfab"
)

// home is a line that loses one in a hundred packets or their answers, and delays them by up to 2 ms.
var home = netfab.Line{Loss: 0.005, Jitter: ms}

// TestICE measures 24 beacons at once.
func TestICE(t *testing.T) {
	rtt := func(addr netip.Addr) time.Duration { return time.Duration(4+11*numberOf(addr)) * ms } // up to 257 ms
	w := start(t, home, rtt)
	var venues []venue
	for i := range 24 {
		at := netip.AddrPortFrom(server(i), beacon.Port)
		serveBeacon(t, w.servers, at)
		venues = append(venues, venue{Name: fmt.Sprint("place ", i), Addr: at.String(), Protocol: "beacon"})
	}
	w.within(t, 1.5, 3, venues, rtt)
}

// small sends a page that fits a packet. A page of several may come slower: BBR, which many servers use, spreads the
// packets over a share of the round trip, and a browser reads none before the last of a TLS record.
func small(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 600)) }

// TestHTTPS measures six web servers at once; half of them speak HTTP/1.1, and all send a small page.
func TestHTTPS(t *testing.T) {
	rtts := []time.Duration{12 * ms, 35 * ms, 70 * ms, 120 * ms, 180 * ms, 250 * ms}
	rtt := func(addr netip.Addr) time.Duration { return rtts[numberOf(addr)] }
	w := start(t, home, rtt)
	var venues []venue
	for i := range rtts {
		site := httptest.NewUnstartedServer(http.HandlerFunc(small))
		_ = site.Listener.Close()
		site.Listener = listen(t, w.servers, netip.AddrPortFrom(server(i), 443))
		site.EnableHTTP2 = i%2 == 0
		site.StartTLS()
		t.Cleanup(site.Close)
		venues = append(venues, venue{
			Name: fmt.Sprint("place ", i), Addr: site.Listener.Addr().String(), Protocol: "tcp",
			URL: fmt.Sprintf("https://%v/", server(i)),
		})
	}
	w.within(t, 3, 8, venues, rtt)
}

// tries is how often a test measures until the errors are small: a busy machine spoils a measurement, and never
// improves it.
const tries = 10

// within measures places until the errors are within two bounds, in ms.
func (w world) within(t *testing.T, p50, p95 float64, venues []venue, rtt func(netip.Addr) time.Duration) {
	t.Helper()
	for range tries {
		if errs := w.errors(t, venues, rtt); share(errs, .5) <= p50 && share(errs, .95) <= p95 {
			return
		}
	}
	t.Errorf("the error stays over p50 %v or p95 %v ms", p50, p95)
}

// asked is how often a program asks a server while the browser measures.
const asked = 20

// errors measures places, and returns how far the least of each one's samples is from the delay of its link, in ms, in
// order. What a program finds over the delays meanwhile is the network's and the servers', and no error.
func (w world) errors(t *testing.T, venues []venue, rtt func(netip.Addr) time.Duration) (errs []float64) {
	t.Helper()
	plain := make([][]float64, len(venues))
	var asking sync.WaitGroup
	for i, v := range venues {
		asking.Go(func() {
			if v.URL != "" {
				plain[i] = fetch(t, w.player, v.URL, asked)
			} else {
				plain[i] = ask(t, w.player, netip.MustParseAddrPort(v.Addr), asked)
			}
		})
	}
	m := w.measure(t, venues)
	asking.Wait()
	var late, over []float64
	for i, r := range m.Results {
		link := millis(rtt(server(i)))
		t.Logf("%3.0f ms: %s %v", link, r.State, r.RTTs)
		if len(r.RTTs) == 0 || len(plain[i]) == 0 {
			t.Fatalf("place %d is %s to the browser, and a program has %d answers", i, r.State, len(plain[i]))
		}
		late, over = append(late, slices.Min(plain[i])-link), append(over, slices.Min(r.RTTs)-link)
	}
	slices.Sort(late)
	for _, more := range over {
		errs = append(errs, math.Abs(more-share(late, .5)))
	}
	slices.Sort(errs)
	slices.Sort(over)
	both := func(sorted []float64) string {
		return fmt.Sprintf("p50 %.2f p95 %.2f ms", share(sorted, .5), share(sorted, .95))
	}
	t.Logf("%s, in %.1f s: over the delays %s; a program %s; error %s",
		*browser, m.TookMS/1000, both(over), both(late), both(errs))
	return errs
}

// share returns the number that this share of sorted numbers does not exceed.
func share(sorted []float64, of float64) float64 {
	return sorted[min(len(sorted)-1, int(of*float64(len(sorted))))]
}
