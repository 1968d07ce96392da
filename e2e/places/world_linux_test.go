package places

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/protocol/beacon"
	"muster/e2e/netfab"
	"muster/internal/await"
	"muster/internal/echo"
)

const ms = time.Millisecond

var (
	places  = flag.Bool("places", false, "measure behind links between network namespaces")
	browser = flag.String("browser", "chromium", "the browser that measures: chromium or firefox-esr")
)

// world is the player's machine, and that of the servers at known distances.
type world struct{ player, servers *netfab.Machine }

// start builds the network, and skips the test where it cannot. rtt is the time of a packet to a server and back,
// without the player's line.
func start(t *testing.T, line netfab.Line, rtt func(netip.Addr) time.Duration) world {
	t.Helper()
	if !*places {
		t.Skip("for -places")
	}
	_, noBrowser := exec.LookPath(*browser)
	for _, missing := range []error{netfab.Missing(), noBrowser} {
		if missing != nil && os.Getenv("CI") != "" {
			t.Fatal(missing)
		} else if missing != nil {
			t.Skip(missing)
		}
	}
	fabric := netfab.New(1, func(from, to netip.Addr) time.Duration {
		if network.Contains(from) {
			return rtt(from) / 2
		}
		return rtt(to) / 2
	})
	home := fabric.AddSite(netfab.Site{Name: "home", Up: line, Down: line})
	away := fabric.AddSite(netfab.Site{Name: "away"})
	n := netfab.Start(fabric)
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	add := func(site int, name, prefix string) *netfab.Machine {
		m, err := n.Add(site, fmt.Sprintf("places-%s-%d", name, os.Getpid()), netip.MustParsePrefix(prefix))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	return world{add(home, "player", "203.0.113.7/32"), add(away, "servers", network.String())}
}

// network has the servers; no packet leaves the namespaces.
var network = netip.MustParsePrefix("198.18.0.0/24")

// server returns the address of a server, from 0.
func server(i int) netip.Addr { return netip.AddrFrom4([4]byte{198, 18, 0, byte(1 + i)}) }

// numberOf is the reverse of server.
func numberOf(addr netip.Addr) int { return int(addr.As4()[3]) - 1 }

// listen listens on a machine until the test ends.
func listen(t *testing.T, m *netfab.Machine, at netip.AddrPort) (listener net.Listener) {
	t.Helper()
	err := m.Inside(func() (err error) {
		listener, err = net.Listen("tcp4", at.String())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

// serveBeacon answers at an address as a beacon does, until the test ends.
func serveBeacon(t *testing.T, m *netfab.Machine, at netip.AddrPort) {
	t.Helper()
	var conn *net.UDPConn
	err := m.Inside(func() (err error) {
		conn, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(at))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- echo.New("a place", echo.Bounds{}).Serve(ctx, conn) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// ask asks a beacon from a machine so many times, as a program with a plain socket does, and returns the round trips
// in ms.
func ask(t *testing.T, m *netfab.Machine, at netip.AddrPort, times int) (rtts []float64) {
	t.Helper()
	var conn *net.UDPConn
	err := m.Inside(func() (err error) {
		conn, err = net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(at))
		return err
	})
	if err != nil {
		t.Error(err)
		return nil
	}
	defer conn.Close()
	buf := make([]byte, 1500)
	for nonce := range discovery.Nonce(times) {
		began := time.Now()
		_ = conn.SetReadDeadline(began.Add(patient))
		_, _ = conn.Write(beacon.Protocol{}.AppendQuery(nil, nonce, nil))
		for {
			n, err := conn.Read(buf)
			if err != nil {
				break // it was lost
			}
			if answer, err := (beacon.Protocol{}).Parse([][]byte{buf[:n]}); err == nil && answer.Nonce == nonce {
				rtts = append(rtts, millis(time.Since(began)))
				break
			}
		}
	}
	return rtts
}

// fetch asks a web server from a machine so many times over one connection, as a program does, and returns the round
// trips in ms.
func fetch(t *testing.T, m *netfab.Machine, url string, times int) (rtts []float64) {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(_ context.Context, network, to string) (conn net.Conn, err error) {
			err = m.Inside(func() (err error) {
				conn, err = net.Dial(network, to)
				return err
			})
			return conn, err
		},
	}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport}
	for i := range 1 + times {
		began := time.Now()
		answer, err := client.Get(url)
		if err != nil {
			t.Error(err)
			return nil
		}
		took := time.Since(began)
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if i > 0 { // the first one opened the connection
			rtts = append(rtts, millis(took))
		}
	}
	return rtts
}

// patient is longer than any round trip.
const patient = time.Second

func millis(d time.Duration) float64 { return float64(d) / float64(ms) }

// venue is a place as the page reads it.
type venue struct {
	Name     string `json:"name"`
	Addr     string `json:"addr"`
	Protocol string `json:"protocol"`
	URL      string `json:"url,omitempty"`
}

// result is what the page posts of a place.
type result struct {
	State string    `json:"state"`
	RTTs  []float64 `json:"rtts_ms"`
}

// measured is what the page posts.
type measured struct {
	Results []result `json:"results"`
	TookMS  float64  `json:"took_ms"`
}

const page = `<!doctype html><meta charset=utf-8><script type=module>
import { measure } from "/static/places/measure.js";
const began = performance.now();
const results = await measure(await (await fetch("/places")).json());
await fetch("/done", { method: "POST", body: JSON.stringify({ results, took_ms: performance.now() - began }) });
</script>`

// measure lets the browser measure places.
func (w world) measure(t *testing.T, venues []venue) (m measured) {
	t.Helper()
	done := make(chan measured, 1)
	mux := http.NewServeMux()
	static := http.FileServer(http.Dir(filepath.Join("..", "..", "web", "static")))
	mux.Handle("/static/", http.StripPrefix("/static/", static))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, page)
	})
	mux.HandleFunc("GET /places", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(venues)
	})
	mux.HandleFunc("POST /done", func(w http.ResponseWriter, r *http.Request) {
		var m measured
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		done <- m
	})
	listener := listen(t, w.player, netip.MustParseAddrPort("127.0.0.1:8080"))
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	profile := t.TempDir()
	args := []string{"--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--ignore-certificate-errors",
		"--disable-background-networking", "--disable-component-update", "--user-data-dir=" + profile,
		"http://127.0.0.1:8080/"}
	if *browser != "chromium" {
		args = []string{"--headless", "--no-remote", "--profile", profile, "http://127.0.0.1:8080/"}
	}
	program := w.player.Command(*browser, args...)
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = program.Process.Kill()
		_ = program.Wait()
		gone := func() bool { return os.RemoveAll(profile) == nil } // its children end a little later
		await.Until(t, gone, "the browser's profile stays in use")
	}()
	select {
	case m = <-done:
	case <-time.After(patience):
		t.Fatal("the browser posts nothing")
	}
	return m
}

// patience is how long a browser may take to start and to measure.
const patience = 2 * time.Minute
