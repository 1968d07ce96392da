package ingress

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"muster/host/access"
)

// TestRenewed checks that a host uses a certificate that was renewed while it runs, and keeps the old one while only
// half of the new one is there.
func TestRenewed(t *testing.T) {
	folder := t.TempDir()
	cert, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	write := func(file string, blocks ...*pem.Block) {
		t.Helper()
		var text []byte
		for _, b := range blocks {
			text = append(text, pem.EncodeToMemory(b)...)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fresh := func() (pair tls.Certificate, leaf, secret *pem.Block) {
		t.Helper()
		pair, err := access.OwnCertificate(filepath.Join(t.TempDir(), "own.pem"), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
		if err != nil {
			t.Fatal(err)
		}
		return pair, &pem.Block{Type: "CERTIFICATE", Bytes: pair.Leaf.Raw}, &pem.Block{Type: "PRIVATE KEY", Bytes: private}
	}
	first, leaf, secret := fresh()
	write(cert, leaf)
	write(key, secret)
	var in Ingress
	if err := in.EncryptRenewed(cert, key, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	r := &renewed{cert: cert, key: key, log: slog.New(slog.DiscardHandler), pair: in.pair}
	r.of = r.times()
	now := time.Now()
	shows := func(when string, want tls.Certificate) {
		t.Helper()
		now = now.Add(2 * lookEvery)
		if got := r.newest(now); !got.Leaf.Equal(want.Leaf) {
			t.Errorf("%s another certificate is shown", when)
		}
	}
	shows("at first", first)
	second, leaf, secret := fresh()
	write(cert, leaf)
	os.Chtimes(cert, now, now.Add(time.Hour)) // otherwise both might be written within one tick of the clock
	shows("with the old key", first)
	write(key, secret)
	os.Chtimes(key, now, now.Add(time.Hour))
	shows("when both are there", second)
	os.Remove(cert)
	shows("when they are gone", second)
	if got, err := in.TLS().GetCertificate(nil); err != nil || !got.Leaf.Equal(first.Leaf) { // it has just checked
		t.Errorf("a connection is shown another, %v", err)
	}
}
