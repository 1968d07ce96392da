package peer_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/host/access"
	"muster/host/wire"
	"muster/peer"
)

// TestPinned checks hosts with and without the certificate that the link names, with real TLS on loopback.
func TestPinned(t *testing.T) {
	reached := make(chan struct{}, 16)
	var upgrader websocket.Upgrader
	host := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		reached <- struct{}{}
		ws.ReadMessage()
		ws.WriteJSON(map[string]any{"type": "refused", "reason": "code", "message": "no room"})
	}))
	defer host.Close()
	own := access.Fingerprint(host.Certificate().Raw)
	for _, c := range []struct {
		name   string
		config *tls.Config
		comes  bool
	}{
		{"the certificate of the link", peer.Pinned(own), true},
		{"another one", peer.Pinned(access.Fingerprint([]byte("another"))), false},
		{"a part of it", peer.Pinned(own[:10]), false},
		{"none", peer.Pinned(""), false},
	} {
		err := peer.Run(t.Context(), peer.Options{
			URL: "wss" + strings.TrimPrefix(host.URL, "https") + "/peer", Code: "BAKODI", Name: "ann", TLS: c.config,
		})
		came := false
		select {
		case <-reached:
			came = true
		default:
		}
		if came != c.comes || errors.Is(err, peer.ErrCertificate) == c.comes {
			t.Errorf("%s: reached the host %v, %v", c.name, came, err)
		}
	}
}

// TestCertificateChanges checks that a peer leaves a host that returns with another certificate, and does not retry it.
func TestCertificateChanges(t *testing.T) {
	changed := make(chan struct{})
	var upgrader websocket.Upgrader
	host := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		ws.ReadMessage()
		ws.WriteJSON(map[string]any{"type": "welcome", "version": wire.Version, "name": "ann", "token": "T"})
		close(changed)
	}))
	other := httptest.NewTLSServer(nil)
	defer other.Close()
	host.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		select {
		case <-changed:
			return other.TLS, nil
		default:
			return nil, nil
		}
	}}
	host.StartTLS()
	defer host.Close()
	// All servers of httptest share one certificate, so the other one needs its own.
	other.TLS.Certificates = []tls.Certificate{selfSigned(t)}
	begin := time.Now()
	err := peer.Run(t.Context(), peer.Options{
		URL: "wss" + strings.TrimPrefix(host.URL, "https") + "/peer", Code: "BAKODI", Name: "ann",
		TLS: peer.Pinned(access.Fingerprint(host.Certificate().Raw)),
	})
	if !errors.Is(err, peer.ErrCertificate) || time.Since(begin) > time.Minute {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
