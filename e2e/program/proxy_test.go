package program_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/host/wire"
	"muster/internal/freeport"
)

// example returns a configuration from the document.
func example(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/reverse-proxy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "```"+language+"\n")
	block, _, ended := strings.Cut(after, "```")
	if !found || !ended {
		t.Fatalf("the document has no example for %s", language)
	}
	return block
}

// adapted replaces an example's addresses with a test's.
func adapted(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the example has no %q", pairs[i])
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func startCaddy(t *testing.T, at, host string) {
	t.Helper()
	runCaddy(t, adapted(t, example(t, "caddy"), "night.example", "http://"+at, "127.0.0.1:7777", host))
}

// runCaddy serves a site with Caddy, without certificates.
func runCaddy(t *testing.T, site string) {
	t.Helper()
	config := "{\n\tadmin off\n\tauto_https off\n}\n" + site
	cmd := exec.Command("caddy", "run", "--adapter", "caddyfile", "--config", writeFile(t, "Caddyfile", config))
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home)
	start(t, "caddy", cmd)
}

func startNginx(t *testing.T, at, host string) {
	t.Helper()
	runNginx(t, adapted(t, example(t, "nginx"), "443 ssl", at, "127.0.0.1:7777", host,
		"\tssl_certificate     /etc/ssl/night.example.pem;\n", "", "\tssl_certificate_key /etc/ssl/night.example.key;\n", ""))
}

// runNginx runs nginx with a server block.
func runNginx(t *testing.T, server string) {
	t.Helper()
	dir := t.TempDir()
	var temp strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temp, "%s_temp_path %s;\n", kind, filepath.Join(dir, kind))
	}
	config := fmt.Sprintf("daemon off;\nmaster_process off;\npid %s/pid;\nerror_log stderr;\nevents {}\nhttp "+
		"{\naccess_log off;\n%s%s}\n", dir, &temp, server)
	start(t, "nginx", exec.Command("nginx", "-p", dir, "-e", "stderr", "-c", writeFile(t, "nginx.conf", config)))
}

// TestReverseProxy checks each proxy with a player, and with a guesser who forges the client
// address for which the proxy speaks.
func TestReverseProxy(t *testing.T) {
	t.Parallel()
	for name, startProxy := range map[string]func(t *testing.T, at, host string){"caddy": startCaddy, "nginx": startNginx} {
		t.Run(name, func(t *testing.T) {
			servers := writeFile(t, "servers.txt", "127.0.0.1:27960\n")
			host, proxy := freeport.TCP(t), freeport.TCP(t)
			h := run(t, t.TempDir(), "host", "host", "--game", "openarena", "--servers", servers, "--listen", host,
				"--trusted-proxy", "127.0.0.1", "--public-url", "http://"+proxy, "--no-play", "--no-mdns", "--no-browser", "--players", "2")
			code := h.awaits(`(?m)^code +(\w+)$`)[1]
			link := h.awaits(`(?m)^link +(\S+)$`)[1]
			startProxy(t, proxy, host)
			awaitRoom(t, proxy, code, "the proxy passes requests on", func(wire.Document) bool { return true })
			run(t, t.TempDir(), "ann", "join", link, "--name", "ann", "--launch", "never")
			awaitRoom(t, proxy, code, "ann is in", func(r wire.Document) bool { return memberOf(r, "ann").Connected })
			guessThrough(t, proxy, code)
		})
	}
}

func guessThrough(t *testing.T, proxy, code string) {
	t.Helper()
	limited, begun := 0, time.Now()
	for i := range 60 {
		if status := askFrom(t, "127.0.0.9", proxy, fmt.Sprintf("GUESS%d", i),
			fmt.Sprintf("198.51.100.%d", i)); status == http.StatusTooManyRequests {
			limited++
		}
	}
	pool := 5 * int(1+time.Now().Unix()-begun.Unix()) // tries of clients without any of their own, for each second of the clock
	if limited < 50-pool || limited > 50 {
		t.Errorf("of 60 guesses %d were not heard, want 50, or at most %d fewer", limited, pool)
	}
	if status := askFrom(t, "127.0.0.8", proxy, code, ""); status != http.StatusOK {
		t.Errorf("another player is answered %d", status)
	}
}

// askFrom asks for a room from one of this machine's addresses.
func askFrom(t *testing.T, from, at, code, forged string) int {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, addr)
	}}
	request, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+at+"/api/rooms/"+code, nil)
	if err != nil {
		t.Fatal(err)
	}
	if forged != "" {
		request.Header.Set("X-Forwarded-For", forged)
	}
	reply, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	return reply.StatusCode
}
