package host

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"muster/host/metrics"
)

// asked returns the answer to a caller at an address.
func asked(h http.Handler, path, from, at string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.RemoteAddr, r.Host = from, at
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestMetricsFrom checks that only this machine and the named networks may read the metrics.
func TestMetricsFrom(t *testing.T) {
	rooms := &lifecycle{surroundings: &surroundings{metrics: metrics.New()}}
	o := operators{&site{proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}, rooms,
		[]netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}}
	for _, c := range []struct {
		from   string
		header []string
		want   int
	}{
		{"127.0.0.1:5555", nil, 200}, {"[::1]:5555", nil, 200}, {"198.51.100.7:5555", nil, 200}, {"192.0.2.7:5555", nil, 403},
		{"127.0.0.1:5555", []string{"X-Forwarded-For", "192.0.2.7"}, 403}, {"127.0.0.1:5555", []string{"Cf-Connecting-Ip", "192.0.2.7"}, 403},
		{"127.0.0.1:5555", []string{"X-Forwarded-For", "198.51.100.7"}, 200},
		{"192.0.2.7:5555", []string{"X-Forwarded-For", "198.51.100.7"}, 403},
	} {
		if w := asked(http.HandlerFunc(o.serveMetrics), "/metrics", c.from, "127.0.0.1:7777", c.header...); w.Code != c.want {
			t.Errorf("from %s with %v: %d, want %d", c.from, c.header, w.Code, c.want)
		}
	}
}
