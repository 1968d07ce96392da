package host

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"muster/host/access"
	"muster/host/metrics"
	"muster/host/operating"
	"muster/host/wire"
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

// TestOperated checks what an operator sees of a host without others, and does to its rooms.
func TestOperated(t *testing.T) {
	h, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	code, _, err := h.Open(wire.Settings{Game: "openarena", Players: 4})
	if err != nil {
		t.Fatal(err)
	}
	id := access.PublicID(h.Keys(code).Link)
	rooms := h.Desk(nil).Rooms
	if all := rooms.List(); len(all) != 1 || all[0].ID != id || all[0].Wanted != 4 || all[0].Opened.IsZero() {
		t.Errorf("%+v", all)
	}
	if host, err := rooms.Where(id); host != "" || err != nil {
		t.Errorf("%q, %v", host, err)
	}
	if e, err := rooms.Explain(id); err != nil || e.Room.ID != id || len(e.Waits) != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	if err := rooms.Move(context.Background(), id, "two"); !errors.Is(err, operating.ErrAlone) {
		t.Error(err)
	}
	a := h.actor(code)
	if err := rooms.Close(context.Background(), id, operating.Rules); err != nil {
		t.Fatal(err)
	}
	if why := a.tooLate(); why.Says != operating.Closing(operating.Rules).Says {
		t.Errorf("people read %v", why)
	}
	for name, err := range map[string]error{
		"close": rooms.Close(context.Background(), id, operating.Rules), "move": rooms.Move(context.Background(), "", "x"),
	} {
		if !errors.Is(err, operating.ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := rooms.Where(id); !errors.Is(err, operating.ErrUnknown) || len(rooms.List()) != 0 {
		t.Errorf("%v, %v", err, rooms.List())
	}
}
