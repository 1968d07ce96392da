package host

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"muster/host/public"
	"muster/host/wire"
)

func named(t *testing.T) *Host {
	t.Helper()
	h, err := New(Config{
		Page:  http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the page") }),
		Names: []string{"GameBox", "home.example", "*.cert.example"}, Proxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")},
		PublicURL: &url.URL{Scheme: "https", Host: "night.example"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// TestNames checks that a page whose own name leads to this machine is not served, whatever it
// requests.
func TestNames(t *testing.T) {
	h := named(t)
	code, _, _ := h.Open(wire.Settings{Game: "openarena"})
	for name, served := range map[string]bool{
		"127.0.0.1": true, "127.0.0.1:7777": true, "192.168.1.7:7777": true, "[::1]:7777": true, "[fe80::1%25eth0]:7777": true, "::1": true,
		"localhost": true, "LOCALHOST:7777": true, "muster.localhost:7777": true, "gamebox.local:7777": true,
		"gamebox": true, "GAMEBOX:7777": true,
		"night.example": true, "Night.Example.": true, "night.example:7777": true, "home.example:7777": true, "a.cert.example": true,
		"evil.example": false, "evil.example:7777": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false,
		"evil-night.example": false, "x.night.example": false, "cert.example": false, "a.b.cert.example": false, "gamebox.evil.example": false,
		"evillocal": false, "local": false, "127.0.0.1.": true, "127.1": false, "evil.example, 127.0.0.1": false,
	} {
		for _, path := range []string{"/", "/api/rooms/" + code, "/healthz"} {
			r := httptest.NewRequest("GET", path, nil)
			r.Host, r.RemoteAddr = name, "127.0.0.1:5555"
			w := httptest.NewRecorder()
			h.Handler().ServeHTTP(w, r)
			if got := w.Code == http.StatusOK; got != served || !served && w.Code != http.StatusMisdirectedRequest {
				t.Errorf("%s at %q is answered %d", path, name, w.Code)
			}
		}
	}
}

// TestLocalNames checks that a public host takes no .local name that nobody gave it: somebody in the
// same network says where such a name leads.
func TestLocalNames(t *testing.T) {
	for _, public := range []*public.Limits{nil, {}} {
		s := newSite(Config{Public: public, Names: []string{"gamebox.local"}})
		for name, isTaken := range map[string]bool{
			"evil.local": public == nil, "evil.local.:7777": public == nil, "gamebox.local:7777": true, "localhost": true, "192.0.2.7": true,
		} {
			if s.isNamed(name) != isTaken {
				t.Errorf("on a public host (%v) %q is taken: %v", public != nil, name, !isTaken)
			}
		}
	}
}

// TestRebinding checks that the WebSockets refuse such a page, too, although its origin is the very
// host that it asks.
func TestRebinding(t *testing.T) {
	server := httptest.NewServer(named(t).Handler())
	defer server.Close()
	for name, want := range map[string]int{"evil.example": http.StatusMisdirectedRequest, "home.example": http.StatusSwitchingProtocols} {
		for _, path := range []string{"/peer", "/live"} {
			header := http.Header{"Host": {name + ":7777"}, "Origin": {"http://" + name + ":7777"}}
			ws, response, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http")+path, header)
			if err == nil {
				ws.Close()
			}
			if response == nil || response.StatusCode != want {
				t.Errorf("%s of %s: %v, %v, want %d", path, name, response, err, want)
			}
		}
	}
}

// TestMisdirected checks that people who intended the name read what to type.
func TestMisdirected(t *testing.T) {
	h := named(t)
	for _, c := range []struct{ path, name, want string }{
		{"/", "party.example:7777", "--host-name party.example\n"},
		{"/", "party.example", "--public-url https://party.example\n"},
		{"/", "<script>", "--host-name NAME\n"},
		{"/", strings.Repeat("a", 300), "by that name"},
		{"/api/rooms/BAKODI", "party.example",
			`"message":"this host isn’t called party.example","hint":"use the organiser’s link`},
	} {
		r := httptest.NewRequest("GET", c.path, nil)
		r.Host = c.name
		w := httptest.NewRecorder()
		h.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusMisdirectedRequest || !strings.Contains(w.Body.String(), c.want) ||
			strings.Contains(w.Body.String(), "<script>") {
			t.Errorf("%s at %.40s is answered %d %s\nwant %s", c.path, c.name, w.Code, w.Body, c.want)
		}
	}
}

// TestForwardedHost checks that the host believes a known proxy about the typed name as it believes
// the request itself.
func TestForwardedHost(t *testing.T) {
	h := named(t)
	for _, c := range []struct {
		socket, host, forwarded string
		want                    int
		at                      string
	}{
		{"192.0.2.1:5", "127.0.0.1:7777", "night.example", 200, "night.example"},
		{"192.0.2.1:5", "127.0.0.1:7777", "evil.example", 421, "evil.example"},
		{"192.0.2.1:5", "127.0.0.1:7777", "night.example, evil.example", 421, "evil.example"},
		{"192.0.2.1:5", "evil.example", "night.example", 421, "night.example"},
		{"198.51.100.7:5", "127.0.0.1:7777", "evil.example", 200, "127.0.0.1:7777"},
		{"198.51.100.7:5", "evil.example", "night.example", 421, "evil.example"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr, r.Host = c.socket, c.host
		r.Header.Set("X-Forwarded-Host", c.forwarded)
		w := httptest.NewRecorder()
		h.Handler().ServeHTTP(w, r)
		if at := h.askedAt(r); w.Code != c.want || at != c.at {
			t.Errorf("%+v: %d at %s", c, w.Code, at)
		}
	}
}

// TestOtherSites checks that a request that changes something must come from the host's own page,
// or from a program.
func TestOtherSites(t *testing.T) {
	h := named(t)
	code, secret, _ := h.Open(wire.Settings{Game: "openarena"})
	for _, c := range []struct {
		origin, site string
		want         int
	}{
		{"", "", 204}, {"http://192.0.2.7:7777", "same-origin", 204}, {"http://192.0.2.7:7777", "", 204}, {"", "none", 204},
		{"https://night.example", "same-origin", 204}, // through a proxy that says nothing
		{"https://evil.example", "cross-site", 403}, {"https://evil.example", "", 403}, {"", "cross-site", 403},
		{"http://192.0.2.7:8080", "same-site", 403}, {"http://192.0.2.7", "", 403}, {"null", "", 403}, {"http://%zz", "", 403},
	} {
		r := httptest.NewRequest("POST", "/api/rooms/"+code+"/lock", strings.NewReader(`{"locked":true}`))
		r.Host = "192.0.2.7:7777"
		r.Header.Set("Authorization", "Bearer "+secret)
		r.Header.Set("Content-Type", "application/json")
		for name, value := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		h.Handler().ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("from %q, %q: %d %s, want %d", c.origin, c.site, w.Code, w.Body, c.want)
		}
	}
}
