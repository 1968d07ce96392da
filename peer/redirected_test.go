package peer_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"muster/host/wire"
	"muster/peer"
)

// TestRedirected checks that a player follows a host from http to https, and nowhere else.
func TestRedirected(t *testing.T) {
	t.Parallel()
	tb := newTable(t, 3) // it gathers
	encrypted := httptest.NewTLSServer(tb.host.Handler())
	defer encrypted.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(encrypted.Certificate())
	at, err := url.Parse(encrypted.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, to   string
		isFollowed bool
	}{
		{"ann", encrypted.URL + "/peer", true}, {"bob", encrypted.URL, true}, {"chong", "https://localhost:" + at.Port() + "/peer", false},
		{"dora", "http://127.0.0.1:1/peer", false}, {"eve", "https://evil.example/peer", false},
	} {
		front := httptest.NewServer(http.RedirectHandler(c.to, http.StatusMovedPermanently))
		s := newSeat(tb, c.name)
		s.options.URL, s.options.TLS = "ws"+front.URL[len("http"):]+"/peer", &tls.Config{RootCAs: trusted}
		leave := s.sit()
		if c.isFollowed {
			tb.room(c.name, func(wire.Document) bool { return s.joins() == 1 })
			leave()
		}
		err := s.done()
		var elsewhere *peer.Elsewhere
		if isElsewhere := errors.As(err, &elsewhere); isElsewhere == c.isFollowed {
			t.Errorf("to %s: %v", c.to, err)
		}
		leave()
		front.Close()
	}
}
