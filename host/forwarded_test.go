package host

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/host/room"
	"muster/internal/clock/clocktest"
)

// TestForwarded checks that RFC 7239's header says the same as the older ones, where those are missing.
func TestForwarded(t *testing.T) {
	for _, c := range []struct {
		name     string
		header   http.Header
		from, at string
		isTLS    bool
	}{
		{"as in the RFC", http.Header{"Forwarded": {`for=198.51.100.7;proto=https;by=203.0.113.43;host=night.example`}}, "198.51.100.7", "night.example", true},
		{"IPv6 and a port", http.Header{"Forwarded": {`For="[2001:db8:cafe::17]:4711"`}}, "2001:db8:cafe::17", "own.example", false},
		{"a port that is not quoted", http.Header{"Forwarded": {`for=198.51.100.7:4711`}}, "198.51.100.7", "own.example", false},
		{"two lines", http.Header{"Forwarded": {`for=203.0.113.9;proto=https`, `for=198.51.100.7;proto=http`}}, "198.51.100.7", "own.example", true},
		{"a stranger's first", http.Header{"Forwarded": {`for=203.0.113.9;host=evil.example, for=198.51.100.7`}}, "198.51.100.7", "own.example", false},
		{"a comma in quotation marks", http.Header{"Forwarded": {`for="x, 203.0.113.9";secret="\",", FOR="198.51.100.7" ; Proto=HTTPS`}}, "198.51.100.7", "own.example", true},
		{"hidden", http.Header{"Forwarded": {`for=_hidden`}}, "192.0.2.1", "own.example", false},
		{"without an address", http.Header{"Forwarded": {`for=203.0.113.9, proto=https`}}, "192.0.2.1", "own.example", true},
		{"both", http.Header{"Forwarded": {`for=203.0.113.9;proto=https`}, "X-Forwarded-For": {"198.51.100.7"}}, "198.51.100.7", "own.example", false},
		{"a WebSocket's scheme", http.Header{"X-Forwarded-For": {"198.51.100.7"}, "X-Forwarded-Proto": {"wss"}}, "198.51.100.7", "own.example", true},
		{"two schemes", http.Header{"X-Forwarded-For": {"198.51.100.7"}, "X-Forwarded-Proto": {"HTTPS, http"}}, "198.51.100.7", "own.example", true},
	} {
		s := newSite(Config{Proxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}})
		r := httptest.NewRequest("GET", "http://own.example/", nil) // from 192.0.2.1
		r.Header = c.header
		oneForwarding(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			isTLS := strings.HasPrefix(s.entrance(r).link(room.Keys{Code: "BAKODI"}), "https:")
			if from, at := s.asker(r).String(), s.askedAt(r); from != c.from || at != c.at || isTLS != c.isTLS {
				t.Errorf("%s: from %s at %s, by TLS: %v", c.name, from, at, isTLS)
			}
		})).ServeHTTP(httptest.NewRecorder(), r)
	}
}

// TestUnreadable checks that the operator learns of clients that a proxy names in a form of its own, not
// with every request, and without anybody's address.
func TestUnreadable(t *testing.T) {
	held := clocktest.Hold(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	var log strings.Builder
	h, err := New(Config{Proxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}, Clock: held.Clock(),
		Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	asks := func(from string) {
		r := httptest.NewRequest("GET", "http://127.0.0.1/api/rooms/BAKODI", nil) // from 192.0.2.1
		r.Header.Set("X-Forwarded-For", from)
		h.Handler().ServeHTTP(httptest.NewRecorder(), r)
	}
	asks("198.51.100.7:5000")
	asks("unix:, client 203.0.113.9:x")
	asks("unix:")
	if log := log.String(); strings.Count(log, "cannot be read") != 1 || !strings.Contains(log, "proxy=192.0.2.1") ||
		!strings.Contains(log, "client somebody:x") || strings.Contains(log, "203.0.113.9") {
		t.Errorf("the log has %q", log)
	}
	held.Advance(2 * unreadableEvery)
	asks("unix:")
	if !strings.Contains(log.String(), "client=unix:") {
		t.Errorf("later the log has %q", log.String())
	}
}
