package host

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"muster/host/room"
	"muster/host/wire"
	"muster/internal/clock/clocktest"
)

func TestBehind(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}
	for _, c := range []struct {
		name, socket string
		forwarded    []string
		want         string
	}{
		{"nobody between", "192.0.2.1:5000", nil, "192.0.2.1"},
		{"a stranger claims", "192.0.2.1:5000", []string{"198.51.100.7"}, "192.0.2.1"},
		{"our proxy tells", "127.0.0.1:5000", []string{"198.51.100.7"}, "198.51.100.7"},
		{"a stranger claims to our proxy", "127.0.0.1:5000", []string{"203.0.113.1, 198.51.100.7"}, "198.51.100.7"},
		{"in lines of their own", "127.0.0.1:5000", []string{"203.0.113.1", "198.51.100.7"}, "198.51.100.7"},
		{"two proxies", "127.0.0.1:5000", []string{"198.51.100.7, 2001:db8::1"}, "198.51.100.7"},
		{"IPv4 in IPv6", "[::ffff:127.0.0.1]:5000", []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
		{"with a port", "127.0.0.1:5000", []string{"203.0.113.3:51008"}, "203.0.113.3"},
		{"in brackets", "127.0.0.1:5000", []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"in brackets, with a port", "127.0.0.1:5000", []string{"[2001:db8::1]:51008"}, "2001:db8::1"},
		{"in quotation marks", "127.0.0.1:5000", []string{`"[2001:db8::1]:51008"`}, "2001:db8::1"},
		{"two proxies, with ports", "127.0.0.1:5000", []string{"203.0.113.3:51008, 127.0.0.2:80"}, "203.0.113.3"},
		{"nonsense", "127.0.0.1:5000", []string{"unknown"}, "127.0.0.1"},
		{"a player beside the proxy", "127.0.0.1:5000", nil, "127.0.0.1"},
	} {
		if got, _ := behind(c.socket, c.forwarded, proxies); got.String() != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestThousandGuesses tries many codes on a host.
func TestThousandGuesses(t *testing.T) {
	held := clocktest.Hold(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	h, err := New(Config{Proxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, Clock: held.Clock()})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	code, _, _ := h.Open(wire.Settings{Game: "openarena"})
	ask := func(code, from string) (int, wire.Refusal) {
		r := httptest.NewRequest("GET", "http://127.0.0.1/api/rooms/"+code, nil) // from 192.0.2.1
		r.Header.Set("X-Forwarded-For", from)
		w := httptest.NewRecorder()
		h.Handler().ServeHTTP(w, r)
		var refusal wire.Refusal
		json.Unmarshal(w.Body.Bytes(), &refusal)
		return w.Code, refusal
	}
	answers := map[int]int{}
	for i := range 1000 {
		status, _ := ask(fmt.Sprintf("GUESS%d", i), "198.51.100.7")
		answers[status]++
	}
	const ownAndPool = 10 + 5
	if answers[http.StatusNotFound] > ownAndPool || answers[http.StatusNotFound]+answers[http.StatusTooManyRequests] != 1000 {
		t.Errorf("1000 guesses were answered %v", answers)
	}
	if status, refusal := ask(code, "198.51.100.7"); status != http.StatusTooManyRequests ||
		refusal.Reason != wire.ReasonLimited || refusal.Hint == "" {
		t.Errorf("the guesser's next try is answered %d %+v", status, refusal)
	}
	if status, _ := ask(code, "198.51.100.8"); status != http.StatusOK {
		t.Errorf("a friend's request is answered %d", status)
	}
	if n := counted(t, h, wire.ReasonLimited); n < 900 {
		t.Errorf("%d refusals were counted", n)
	}
}

// counted returns how many refusals with a reason were counted.
func counted(t *testing.T, h *Host, reason string) (n int) {
	t.Helper()
	w := httptest.NewRecorder()
	h.metrics.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	_, after, _ := strings.Cut(w.Body.String(), fmt.Sprintf("muster_refusals_total{reason=%q} ", reason))
	fmt.Sscan(after, &n)
	return n
}

func TestOnlyOpen(t *testing.T) {
	h, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	from := netip.MustParseAddr("192.0.2.1")
	check := func(want string) {
		t.Helper()
		a, refusal := h.roomFor(wire.Hello{Code: " "}, from, nil)
		switch {
		case want == "" && (refusal == nil || refusal.Reason != wire.ReasonCode):
			t.Errorf("a hello without a code: %+v", refusal)
		case want != "" && (a == nil || a.code != want):
			t.Errorf("a hello without a code is not let into %s: %+v", want, refusal)
		}
	}
	check("")
	h.Open(wire.Settings{Game: "openarena"})
	check("")
	open, _, _ := h.Open(wire.Settings{Game: "openarena", Open: true})
	check(open)
	h.Open(wire.Settings{Game: "openarena", Open: true})
	check("")
}

// TestRemote checks that an address counts only if it is the player's own. An unknown proxy speaks
// for players whose addresses nobody knows.
func TestRemote(t *testing.T) {
	for _, c := range []struct{ name, socket, forwarded, want string }{
		{"straight", "198.51.100.7:5555", "", "198.51.100.7"},
		{"through our proxy", "127.0.0.1:5555", "198.51.100.7", "198.51.100.7"},
		{"through a proxy that is not ours", "198.51.100.7:5555", "203.0.113.5", "invalid IP"},
		{"through two, one of which is ours", "127.0.0.1:5555", "203.0.113.5, 198.51.100.7", "198.51.100.7"},
		{"through a tunnel", "127.0.0.1:5555", "", "invalid IP"},
	} {
		locate := func(netip.Addr) (string, uint32) { return "DE", 64496 }
		h := newSite(Config{Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Locate: locate})
		r := &http.Request{RemoteAddr: c.socket, Header: http.Header{}}
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		got := h.origin(h.remote(r), "")
		if got.Addr.String() != c.want {
			t.Errorf("%s: %v, want %s", c.name, got.Addr, c.want)
		}
		if isPlaced := got.Country == "DE" && got.ASN == 64496; isPlaced != got.Addr.IsValid() {
			t.Errorf("%s: placed in %q, AS %d", c.name, got.Country, got.ASN)
		}
	}
	if got := new(site).origin(remote{netip.MustParseAddr("10.9.0.9"), true}, ""); got.Near.IsValid() {
		t.Errorf("behind another's proxy one sits at %s", got.Near)
	}
}

// TestLink checks that a link leads to the host, whatever strangers write into headers.
func TestLink(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	public := &url.URL{Scheme: "https", Host: "night.example"}
	for _, c := range []struct {
		name, socket, at, forwarded string
		tls                         bool
		config                      Config
		want                        string
	}{
		{name: "plain", socket: "198.51.100.1:5000", at: "192.0.2.7:7777", want: "http://192.0.2.7:7777/#BAKODI_KEY"},
		{
			name:   "the organiser's own page",
			socket: "127.0.0.1:5000",
			at:     "localhost:7777",
			config: Config{Address: "192.0.2.7:7777"},
			want:   "http://192.0.2.7:7777/#BAKODI_KEY",
		},
		{
			name:   "our certificate",
			socket: "198.51.100.1:5000",
			at:     "192.0.2.7:7777",
			tls:    true,
			config: Config{Fingerprint: "PIN"},
			want:   "https://192.0.2.7:7777/#BAKODI_KEY~PIN",
		},
		{
			name:      "our proxy's TLS",
			socket:    "192.0.2.9:5000",
			at:        "night.example",
			forwarded: "https",
			config:    Config{Proxies: proxies},
			want:      "https://night.example/#BAKODI_KEY",
		},
		{
			name:      "our proxy without",
			socket:    "192.0.2.9:5000",
			at:        "night.example",
			forwarded: "http",
			config:    Config{Proxies: proxies},
			want:      "http://night.example/#BAKODI_KEY",
		},
		{
			name:      "a stranger's claim",
			socket:    "198.51.100.1:5000",
			at:        "192.0.2.7:7777",
			forwarded: "https",
			config:    Config{Proxies: proxies},
			want:      "http://192.0.2.7:7777/#BAKODI_KEY",
		},
		{
			name:      "a claim without any proxy",
			socket:    "127.0.0.1:5000",
			at:        "192.0.2.7:7777",
			forwarded: "https",
			want:      "http://192.0.2.7:7777/#BAKODI_KEY",
		},
		{
			name:   "a public URL",
			socket: "127.0.0.1:5000",
			at:     "localhost:7777",
			config: Config{PublicURL: public, Address: "192.0.2.7:7777"},
			want:   "https://night.example/#BAKODI_KEY",
		},
		{
			name:   "a tunnel that passes our certificate on",
			socket: "127.0.0.1:5000",
			at:     "tunnel:443",
			tls:    true,
			config: Config{PublicURL: public, Fingerprint: "PIN"},
			want:   "https://night.example/#BAKODI_KEY~PIN",
		},
	} {
		r := httptest.NewRequest("GET", "/live", nil)
		r.RemoteAddr, r.Host = c.socket, c.at
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-Proto", c.forwarded)
		}
		if c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		if got := newSite(c.config).entrance(r).link(room.Keys{Code: "BAKODI", Link: "KEY"}); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
