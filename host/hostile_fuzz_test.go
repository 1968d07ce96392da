package host

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/host/access"
	"muster/host/wire"
)

// FuzzForwarded checks the address that a request comes from, whatever its headers say. It is the
// socket's. If the socket is a known proxy's, it is an address that the proxy wrote: the last one
// that is not a known proxy's.
func FuzzForwarded(f *testing.F) {
	f.Add("127.0.0.1:5000", "203.0.113.1, 198.51.100.7", "night.example")
	f.Add("[::ffff:127.0.0.1]:5000", "::ffff:198.51.100.7", "a, b")
	f.Add("127.0.0.1:5", `for="[2001:db8:cafe::17]:4711";proto=https, for=198.51.100.7`, `host="a\"b"`)
	f.Add("192.0.2.1:5", ",,127.0.0.1,fe80::1%eth0,", ",")
	proxies := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}
	f.Fuzz(func(t *testing.T, socket, forwarded, host string) {
		got, _ := behind(socket, []string{forwarded}, proxies)
		from, err := netip.ParseAddrPort(socket)
		switch {
		case err != nil:
			if got.IsValid() {
				t.Errorf("%q is taken for %v", socket, got)
			}
		case !access.IsIn(from.Addr(), proxies):
			if got != from.Addr().Unmap() {
				t.Errorf("a stranger at %v is taken for %v", from, got)
			}
		case got != from.Addr().Unmap():
			written := slices.ContainsFunc(strings.Split(forwarded, ","), func(part string) bool {
				a, err := hop(part)
				return err == nil && a == got
			})
			if !written {
				t.Errorf("%v was never written in %q", got, forwarded)
			}
		}
		h := newSite(Config{Proxies: proxies})
		other := httptest.NewRequest("GET", "/", nil)
		other.Header = http.Header{"Forwarded": {forwarded, host}}
		oneForwarding(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if hops := strings.Count(r.Header.Get(forHeader), ",") + 1; hops > strings.Count(forwarded+host, ",")+2 {
				t.Errorf("%q and %q name %d clients", forwarded, host, hops)
			}
		})).ServeHTTP(httptest.NewRecorder(), other)
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr, r.Host, r.Header = socket, "127.0.0.1",
			http.Header{"X-Forwarded-For": {forwarded}, "X-Forwarded-Host": {host}, "Origin": {host}}
		h.isNamed(h.askedAt(r))
		h.isSameOrigin(r)
		h.entrance(r)
		if h.forwardedFor(r); isFromHere(r) && (forwarded != "" || host != "") {
			t.Errorf("%q with forwarded headers counts as this machine", socket)
		}
	})
}

// FuzzOrders checks that the host answers every request of a page, whatever it shows, and that the
// room can still be shown.
func FuzzOrders(f *testing.F) {
	for action, order := range map[string]string{
		"enter": `{"name":"zoe"}`, "whatif": `{"by":"threshold","limits_ms":[100]}`,
		"vote": `{"addr":"192.0.2.7:27960"}`, "veto": `{"map":"oa_dm1"}`,
		"ready": `{"ready":true}`, "arrived": ``, "reopen": ``, "moveon": `{"addr":"192.0.2.7:27960","answer":"now"}`, "go": `{"stage":"gathering"}`, "apply": ``,
		"allow": `{"limit_ms":185}`, "without": `{"name":"zoe"}`, "more": `{"servers":200}`, "settings": `{"settings":{"players":4}}`,
		"handon": `{"name":"zoe"}`, "remove": `{"name":"zoe"}`, "trust": `{"name":"dan"}`, "lock": `{"locked":true}`,
		"rename": `{"name":"dora"}`, "leave": ``,
	} {
		f.Add(action, []byte(order), true)
	}
	h, err := New(Config{List: noServers, Games: []wire.Game{{ID: "openarena"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { h.Close() })
	h.asks = access.NewPace(math.MaxInt32, time.Nanosecond) // the fuzzer is fast
	code, _, _ := h.Open(friday(3))
	f.Fuzz(func(t *testing.T, action string, order []byte, organiser bool) {
		if action == "" || strings.ContainsAny(action, "/?#% \\") || strings.Trim(action, ".") == "" ||
			strings.ContainsFunc(action, func(c rune) bool {
				return c < '!' || c > '~'
			}) {
			return // not the name of an action
		}
		r := httptest.NewRequest("POST", "http://127.0.0.1/api/rooms/"+code+"/"+action, bytes.NewReader(order))
		r.Header.Set("Content-Type", "application/json")
		if organiser {
			r.Header.Set("Authorization", "Bearer "+h.Keys(code).Secret)
		}
		w := httptest.NewRecorder()
		h.Handler().ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%s %q is answered %d %s", action, order, w.Code, w.Body)
		}
		if room, ok := h.Room(code); !ok || room.Room.Code != code {
			t.Errorf("%s %q ends the room", action, order)
		}
	})
}

// TestEmptyBody checks that an action that needs no body gets none, also from a client that announces
// no length. A body must be declared as JSON.
func TestEmptyBody(t *testing.T) {
	h, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	code, secret, _ := h.Open(friday(3))
	for body, want := range map[string]int{"": http.StatusNoContent, "{}": http.StatusBadRequest} {
		r := httptest.NewRequest("POST", "http://127.0.0.1/api/rooms/"+code+"/whatif", io.NopCloser(strings.NewReader(body)))
		r.Header.Set("Authorization", "Bearer "+secret)
		w := httptest.NewRecorder()
		if h.Handler().ServeHTTP(w, r); r.ContentLength != -1 || w.Code != want {
			t.Errorf("%q is answered %d %s", body, w.Code, w.Body)
		}
	}
}

// TestCodeInHeader checks that a page's requests keep the code out of URLs, and that the host
// judges such a code like others.
func TestCodeInHeader(t *testing.T) {
	h, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	code, _, _ := h.Open(wire.Settings{Game: "openarena"})
	for header, want := range map[string]int{code: http.StatusOK, strings.ToLower(code): http.StatusOK,
		"NOSUCH": http.StatusNotFound, "": http.StatusNotFound, "-": http.StatusNotFound} {
		for _, path := range []string{"", "/qr.svg", "/culled/full"} {
			if w := asked(h.Handler(), "/api/rooms/-"+path, "192.0.2.7:5555", "127.0.0.1", "Muster-Code", header); w.Code != want {
				t.Errorf("%s of %q is answered %d, want %d", path, header, w.Code, want)
			}
		}
	}
}
