package access_test

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"muster/host/access"
)

func TestOwnCertificate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "certificate.pem")
	now := time.Now()
	first, err := access.OwnCertificate(file, now)
	if err != nil {
		t.Fatal(err)
	}
	fingerprint := access.Fingerprint(first.Leaf.Raw)
	if !access.IsFingerprint(fingerprint) {
		t.Errorf("%q is no fingerprint", fingerprint)
	}
	if years := first.Leaf.NotAfter.Sub(now).Hours() / 24 / 365; years < 9.9 || years > 10.1 {
		t.Errorf("it is good for %.1f years", years)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("the key's file is %v, %v", info.Mode(), err)
	}
	second, err := access.OwnCertificate(file, now.Add(9*365*24*time.Hour))
	if err != nil || access.Fingerprint(second.Leaf.Raw) != fingerprint {
		t.Errorf("the next start has another certificate, or none: %v", err)
	}
	third, err := access.OwnCertificate(file, now.Add(11*365*24*time.Hour))
	if err != nil || access.Fingerprint(third.Leaf.Raw) == fingerprint {
		t.Errorf("an expired certificate is still used: %v", err)
	}
	if err := os.WriteFile(file, []byte("scribble"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := access.OwnCertificate(file, now); err == nil {
		t.Error("a file that holds no certificate is overwritten, and with it every link")
	}
}

// TestOwnCertificateServes checks that the certificate works for a TLS 1.3 connection.
func TestOwnCertificateServes(t *testing.T) {
	pair, err := access.OwnCertificate(filepath.Join(t.TempDir(), "certificate.pem"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			conn.Write([]byte("muster"))
			conn.Close()
		}
	}()
	var dialer net.Dialer
	raw, err := dialer.DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	client := tls.Client(raw, &tls.Config{InsecureSkipVerify: true})
	hello := make([]byte, 6)
	if _, err := client.Read(hello); err != nil || string(hello) != "muster" {
		t.Fatalf("%q, %v", hello, err)
	}
	if got := client.ConnectionState().PeerCertificates[0].Raw; access.Fingerprint(got) != access.Fingerprint(pair.Leaf.Raw) {
		t.Error("the certificate that arrives is another")
	}
}
