package program_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/miekg/dns"

	"muster/internal/freeport"
)

// localNames runs a DNS server that answers every name with this machine's loopback address.
func localNames(t *testing.T) (at string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{Listener: listener, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		answer := new(dns.Msg).SetReply(q)
		if q.Question[0].Qtype == dns.TypeA {
			answer.Answer = []dns.RR{&dns.A{
				Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 1},
				A:   net.IPv4(127, 0, 0, 1),
			}}
		}
		w.WriteMsg(answer)
	})}
	go server.ActivateAndServe()
	t.Cleanup(func() { server.Shutdown() })
	return listener.Addr().String()
}

// keyPair writes a certificate for loopback, and its key.
func keyPair(t *testing.T, serial int64) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(serial),
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:              []string{"localhost"},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, secret.Public(), secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	return writeFile(t, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))),
		writeFile(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
}

// TestServeByACME checks that a host gets its certificate from an ACME authority. The authority is
// pebble, Let's Encrypt's own test program, which verifies that the name leads to the host.
func TestServeByACME(t *testing.T) {
	t.Parallel()
	pebble, err := exec.LookPath("pebble")
	if err != nil {
		pebble = goBin(t, "pebble")
	}
	directory, management, challenges, at := freeport.TCP(t), freeport.TCP(t), freeport.TCP(t), freeport.TCP(t)
	port := func(at string) int { return int(netip.MustParseAddrPort(at).Port()) }
	cert, key := keyPair(t, 1)
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": directory, "managementListenAddress": management, "certificate": cert,
		"privateKey": key, "httpPort": port(challenges), "tlsPort": port(at),
	}})
	if err != nil {
		t.Fatal(err)
	}
	authority := exec.CommandContext(t.Context(), pebble, "-config", writeFile(t, "pebble.json", string(config)), "-dnsserver", localNames(t))
	authority.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0")

	if err := authority.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { authority.Process.Kill(); authority.Wait() })
	awaitPort(t, directory)
	cache := t.TempDir()
	p := run(t, t.TempDir(), "host", "serve", "--listen", at, "--store", filepath.Join(t.TempDir(), "rooms.db"), "--acme",
		"muster.example", "--acme-accept-terms", "--acme-directory", "https://"+directory+"/dir", "--acme-ca", cert, "--acme-cache", cache)
	p.awaits(`(?m)^page  https://muster\.example/$`)
	p.awaits("there is a certificate")
	conn, err := tls.Dial("tcp", at, &tls.Config{ServerName: "muster.example", InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if leaf := conn.ConnectionState().PeerCertificates[0]; leaf.VerifyHostname("muster.example") != nil {
		t.Errorf("the certificate is for %v", leaf.DNSNames)
	}
	if other, err := tls.Dial("tcp", at, &tls.Config{ServerName: "elsewhere.example", InsecureSkipVerify: true}); err == nil {
		other.Close()
		t.Error("the authority is asked for a name that a visitor chose")
	}
	if kept, err := filepath.Glob(filepath.Join(cache, "muster.example*")); err != nil || len(kept) == 0 {
		t.Errorf("no certificate is kept: %v", err)
	}
}
