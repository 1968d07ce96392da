package host

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"muster/host/metrics"
)

// asked returns the answer to a caller at an address.
func asked(h http.Handler, path, from, at string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.RemoteAddr, r.Host = from, at
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// routes serves tickets as a host does.
func (t *tickets) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /open/{number}", t.serve)
	return mux
}

// TestTicket checks that a browser of this machine gets to the link once and soon, and that nobody
// else does.
func TestTicket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := &tickets{}
		h := all.routes()
		const link, here, at = "http://127.0.0.1:7777/#BAKODI.SECRET", "127.0.0.1:5555", "127.0.0.1:7777"
		path := "/open/" + all.add(link, time.Now())
		for _, c := range []struct {
			name string
			got  *httptest.ResponseRecorder
			want string
		}{
			{"from elsewhere", asked(h, path, "192.0.2.7:5555", at), ""},
			{"through a tunnel", asked(h, path, here, at, "X-Forwarded-For", "192.0.2.7"), ""},
			{"through one that says little", asked(h, path, here, "night.local:7777"), ""},
			{"another's", asked(h, "/open/GUESS", here, at), ""},
			{"the browser", asked(h, path, here, at), link},
			{"somebody after it", asked(h, path, here, at), ""},
		} {
			if c.got.Header().Get("Location") != c.want || (c.want == "") != (c.got.Code == http.StatusGone) {
				t.Errorf("%s: %d, to %q", c.name, c.got.Code, c.got.Header().Get("Location"))
			}
		}
		path = "/open/" + all.add(link, time.Now())
		time.Sleep(ticketTime)
		if w := asked(h, path, here, at); w.Code != http.StatusGone {
			t.Errorf("an old one is answered %d", w.Code)
		}
	})
}

// TestTicketByAddress checks that a host that listens on only one address of this machine accepts
// the machine's own browser there.
func TestTicketByAddress(t *testing.T) {
	all := &tickets{}
	for from, want := range map[string]int{"192.0.2.7:5555": http.StatusSeeOther, "192.0.2.8:5555": http.StatusGone} {
		r := httptest.NewRequest("GET", "/open/"+all.add("/#BAKODI.SECRET", time.Now()), nil)
		r.RemoteAddr, r.Host = from, "192.0.2.7:7777"
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey,
			net.TCPAddrFromAddrPort(netip.MustParseAddrPort("192.0.2.7:7777"))))
		w := httptest.NewRecorder()
		all.routes().ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("from %s: %d, want %d", from, w.Code, want)
		}
	}
}

// TestMetricsFrom checks that only this machine and the named networks may read the metrics.
func TestMetricsFrom(t *testing.T) {
	rooms := &lifecycle{surroundings: &surroundings{metrics: metrics.New()}}
	o := operators{&site{proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}, rooms,
		[]netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}}
	for _, c := range []struct {
		from   string
		header []string
		want   int
	}{
		{"127.0.0.1:5555", nil, 200}, {"[::1]:5555", nil, 200}, {"198.51.100.7:5555", nil, 200}, {"192.0.2.7:5555", nil, 403},
		{"127.0.0.1:5555", []string{"X-Forwarded-For", "192.0.2.7"}, 403}, {"127.0.0.1:5555", []string{"Cf-Connecting-Ip", "192.0.2.7"}, 403},
		{"127.0.0.1:5555", []string{"X-Forwarded-For", "198.51.100.7"}, 200},
		{"192.0.2.7:5555", []string{"X-Forwarded-For", "198.51.100.7"}, 403},
	} {
		if w := asked(http.HandlerFunc(o.serveMetrics), "/metrics", c.from, "127.0.0.1:7777", c.header...); w.Code != c.want {
			t.Errorf("from %s with %v: %d, want %d", c.from, c.header, w.Code, c.want)
		}
	}
}

// TestTicketOfAnotherUser checks that another user of this machine who finds the ticket in the list
// of processes and comes first does not get the link, and that the user still does.
func TestTicketOfAnotherUser(t *testing.T) {
	all := &tickets{isOwn: func(client, server net.Addr) bool {
		return client.String() == "127.0.0.1:5555" && server.String() == "127.0.0.1:7777"
	}}
	path := "/open/" + all.add("/#BAKODI.SECRET", time.Now())
	for _, c := range []struct {
		from, at string
		want     int
	}{{"127.0.0.1:6666", "127.0.0.1:7777", http.StatusGone}, {"127.0.0.1:5555", "", http.StatusGone},
		{"127.0.0.1:5555", "127.0.0.1:7777", http.StatusSeeOther}} {
		r := httptest.NewRequest("GET", path, nil)
		r.RemoteAddr, r.Host = c.from, "127.0.0.1:7777"
		if c.at != "" {
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.at))))
		}
		w := httptest.NewRecorder()
		all.routes().ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("from %s: %d, want %d", c.from, w.Code, c.want)
		}
	}
}
