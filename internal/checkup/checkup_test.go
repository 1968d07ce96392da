package checkup

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"muster/host/wire"
	"muster/internal/hint"
	"muster/internal/publichost"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// good returns settings that make sense, with rooms in a folder of the test's own.
func good(t *testing.T) *publichost.Settings {
	t.Helper()
	var s publichost.Settings
	s.Listen, s.Between, s.Store = "127.0.0.1:0", "127.0.0.1:0", filepath.Join(t.TempDir(), "muster", "rooms.db")
	s.Public.Rooms, s.Public.PerAddress, s.Public.Players, s.Public.Servers = 1, 1, wire.MaxPlayers, 1
	s.Public.Standing.PerAddress, s.Public.Messages, s.Public.Idle = 1, 1, time.Hour
	s.Memory, s.Weeks = 1, 1
	return &s
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func certify(t *testing.T, from, until time.Time) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: until, DNSNames: []string{"muster.example"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))),
		write(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
}

// TestFind checks each fault alone: what it says, that it says what to do, and whether it is one of the
// settings or of the machine.
func TestFind(t *testing.T) {
	day := 24 * time.Hour
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for name, test := range map[string]struct {
		change  func(*publichost.Settings)
		want    string // empty for no fault
		isUsage bool
	}{
		"none":       {func(*publichost.Settings) {}, "", false},
		"limit":      {func(s *publichost.Settings) { s.Public.Rooms = 0 }, "--max-rooms 0: say 1 to", true},
		"two places": {func(s *publichost.Settings) { s.Cluster.URL = "nats://127.0.0.1" }, "--store and --nats are two places", true},
		"no key":     {func(s *publichost.Settings) { s.Cert = "a.pem" }, "--tls-cert and --tls-key go together", true},
		"no file":    {func(s *publichost.Settings) { s.Cert, s.Key = "none.pem", "none.pem" }, "cannot read none.pem", false},
		"not PEM": {func(s *publichost.Settings) {
			s.Cert, s.Key = write(t, "c", "x"), write(t, "k", "x")
		}, "failed to find any PEM data", false},
		"ended": {func(s *publichost.Settings) {
			s.Cert, s.Key = certify(t, noon.Add(-2*day), noon.Add(-day))
		}, "ended on 2026-11-25", false},
		"not yet": {func(s *publichost.Settings) {
			s.Cert, s.Key = certify(t, noon.Add(day), noon.Add(90*day))
		}, "begins on 2026-11-27", false},
		"good": {func(s *publichost.Settings) { s.Cert, s.Key = certify(t, noon.Add(-day), noon.Add(day)) }, "", false},
		"another name": {func(s *publichost.Settings) {
			s.Cert, s.Key = certify(t, noon.Add(-day), noon.Add(day))
			s.Ingress.Public = &url.URL{Scheme: "https", Host: "other.example"}
		}, "is for muster.example, and not for --public-url other.example", false},
		"no CA":        {func(s *publichost.Settings) { s.ACME.CA = write(t, "ca.pem", "x") }, "there is no certificate in it", false},
		"no directory": {func(s *publichost.Settings) { s.ACME.Directory = "acme.example" }, "is no URL of an authority", false},
		"no scheme": {func(s *publichost.Settings) {
			s.Store, s.Cluster.URL = "", "http://ann:secret@127.0.0.1"
		}, "http:// is no scheme of NATS", true},
		"no port": {func(s *publichost.Settings) {
			s.Store, s.Cluster.URL = "", "nats://10.0.0.1,10.0.0.2:99999"
		}, "99999 is no port", true},
		"no URL":  {func(s *publichost.Settings) { s.Store, s.Cluster.URL = "", "nats://%zz" }, "cannot be read", true},
		"no host": {func(s *publichost.Settings) { s.Store, s.Cluster.URL = "", "nats://:4222" }, "has no host", true},
		"no node": {func(s *publichost.Settings) { s.Store, s.Cluster.URL, s.Cluster.Node = "", "10.0.0.1", "a b" }, `--node "a b"`, true},
		"NATS":    {func(s *publichost.Settings) { s.Store, s.Cluster.URL = "", "tls://ann:secret@10.0.0.1:4222, 10.0.0.2" }, "", false},
		"credentials": {func(s *publichost.Settings) {
			s.Store, s.Cluster.URL, s.Cluster.Credentials = "", "10.0.0.1", write(t, "x", "secret")
		}, "BEGIN NATS USER JWT", false},
		"busy port": {func(s *publichost.Settings) { s.Listen = busy.Addr().String() }, "address already in use", false},
		"busy cluster": {func(s *publichost.Settings) {
			s.Store, s.Cluster.URL, s.Between = "", "10.0.0.1", busy.Addr().String()
		}, "--cluster-listen", false},
		"not ours":      {func(s *publichost.Settings) { s.Listen = "192.0.2.1:7777" }, "--listen 192.0.2.1:7777", false},
		"no such list":  {func(s *publichost.Settings) { s.Leagues = "none" }, "--leagues none", true},
		"file as a dir": {func(s *publichost.Settings) { s.Store = filepath.Join(write(t, "f", "x"), "rooms.db") }, "not a directory", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := good(t)
			test.change(s)
			faults := Find(s, noon)
			if test.want == "" && len(faults) > 0 || test.want != "" && len(faults) != 1 {
				t.Fatalf("%v, want %q", faults, test.want)
			}
			for _, fault := range faults {
				if !strings.Contains(fault.Error(), test.want) || hint.IsUsage(fault) != test.isUsage || strings.Contains(fault.Error(), "secret") {
					t.Errorf("%v (usage %t), want %q", fault, hint.IsUsage(fault), test.want)
				}
			}
		})
	}
}

// TestAllAtOnce checks that faults do not hide each other, those of a file of leagues among them, and that
// nothing is made.
func TestAllAtOnce(t *testing.T) {
	s := good(t)
	s.Public.Rooms, s.Memory, s.Cert, s.Key = 0, 0, "none", "none"
	s.Leagues = write(t, "leagues", "a\nb short 1\n")
	s.Listen = "nowhere"
	text := errors.Join(Find(s, noon)...).Error()
	for _, want := range []string{"--max-rooms", "--room-memory", "cannot read none", "line 1: say NAME", "line 2: the key has", "--listen"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	if _, err := os.Stat(filepath.Dir(s.Store)); err == nil {
		t.Error("the folder of rooms was made")
	}
}

// TestRights checks folders and files of another user.
func TestRights(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("needs a user whom rights bind")
	}
	s := good(t)
	above := filepath.Dir(filepath.Dir(s.Store))
	if err := os.Chmod(above, 0o500); err != nil {
		t.Fatal(err)
	}
	if faults := Find(s, noon); len(faults) != 1 || !strings.Contains(faults[0].Error(), "cannot write to "+above) {
		t.Error(faults)
	}
}

// TestDoubts checks the warnings: a certificate that ends soon, a secret that others may read, and a host
// that runs, whose ports count as free.
func TestDoubts(t *testing.T) {
	s := good(t)
	s.Cert, s.Key = certify(t, noon.Add(-time.Hour), noon.Add(48*time.Hour))
	if err := os.Chmod(s.Key, 0o644); err != nil {
		t.Fatal(err)
	}
	running, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	door, at := s.Places().Door, []byte(running.Addr().String()+"\n")
	if err := errors.Join(os.MkdirAll(filepath.Dir(door), 0o700), os.WriteFile(door, at, 0o600)); err != nil {
		t.Fatal(err)
	}
	s.Listen = running.Addr().String()
	text := errors.Join(Doubts(s, noon)...).Error()
	for _, want := range []string{"ends on 2026-11-28", "can be read by every user", "the host runs"} {
		if !strings.Contains(text, want) && (runtime.GOOS != "windows" || want != "can be read by every user") {
			t.Errorf("%q is missing in %q", want, text)
		}
	}
	if faults := Find(s, noon); faults != nil {
		t.Errorf("while it runs: %v", faults)
	}
	running.Close()
	if text := errors.Join(Doubts(s, noon)...).Error(); strings.Contains(text, "the host runs") {
		t.Error("a file that a killed host left counts as one that runs")
	}
}
