//go:build linux

package program_test

import (
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/host/access"
	"muster/internal/freeport"
)

// TestHangup checks that SIGHUP never ends a public host. It applies a new certificate and new
// limits at once, and says what needs a restart. If config.toml is invalid it changes nothing.
// SIGTERM drains as before.
func TestHangup(t *testing.T) {
	t.Parallel()
	home, at := t.TempDir(), freeport.TCP(t)
	config := filepath.Join(home, "config", "muster")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(config, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pem := filepath.Join(home, "pair.pem")
	shown := func() string {
		t.Helper()
		conn, err := tls.Dial("tcp", at, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return access.Fingerprint(conn.ConnectionState().PeerCertificates[0].Raw)
	}
	renews := func() {
		t.Helper()
		os.Remove(pem)
		if _, err := access.OwnCertificate(pem, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	renews()
	write("[serve]\nmax_rooms = 5\n")
	p := run(t, home, "serve", "serve", "--listen", at, "--tls-cert", pem, "--tls-key", pem)
	p.awaits(`(?m)^page `)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	opens := func() int {
		t.Helper()
		answer, err := client.Post("https://"+at+"/api/rooms", "application/json",
			strings.NewReader(`{"game":"openarena","players":2,"servers":["127.0.0.1:27960"]}`))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	if status := opens(); status != http.StatusCreated {
		t.Fatalf("a room is opened with %d", status)
	}
	first := shown()
	renews()
	write("[serve]\nmax_rooms = 1\nhost_name = [\"other.example\"]\n")
	p.cmd.Process.Signal(syscall.SIGHUP)
	p.awaits(`msg=reloaded taken_on=\[max-rooms\] needs_restart=\[host-name\]`)
	p.awaits(`the certificate is a new one`)
	if second := shown(); second == first {
		t.Error("the certificate is the old one")
	}
	if status := opens(); status != http.StatusServiceUnavailable {
		t.Errorf("beyond the new limit a room is opened with %d", status)
	}
	write("[serve]\nmax_rooms = none\n")
	p.cmd.Process.Signal(syscall.SIGHUP)
	p.awaits(`not reloaded: the settings make no sense`)
	write("[serve]\n")
	p.cmd.Process.Signal(syscall.SIGHUP)
	p.awaits(`msg=reloaded taken_on=\[max-rooms\] needs_restart=\[\]`)
	if status := opens(); status != http.StatusCreated {
		t.Errorf("then a room is opened with %d", status)
	}
	p.stop(syscall.SIGTERM)
	if code := p.cmd.ProcessState.ExitCode(); code != 0 || !strings.Contains(p.out.String(), "draining: rooms are saved") {
		t.Errorf("told to end it ends with %d", code)
	}
}
