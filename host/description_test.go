package host

import (
	"bytes"
	"flag"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"testing"

	"muster/host/openapi"
	"muster/host/public"
	"muster/host/room"
)

var writeDocument = flag.Bool("write", false, "write docs/api.md")

// everything returns a host that serves all of its endpoints.
func everything(t *testing.T) *Host {
	t.Helper()
	h, err := New(Config{Public: &public.Limits{}, Page: http.NotFoundHandler(), Get: http.NotFoundHandler()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// TestAPIDocument checks that the document describes every route and action of a host, and no other,
// and that docs/api.md is the same. With -write it updates docs/api.md.
func TestAPIDocument(t *testing.T) {
	document, err := describe(everything(t).routes())
	if err != nil {
		t.Fatal(err)
	}
	const path = "../docs/api.md"
	saved, err := os.ReadFile(path)
	switch written := document.Markdown(); {
	case err == nil && bytes.Equal(saved, written):
	case !*writeDocument:
		t.Errorf("%s is older than the endpoints: go test ./host -run TestAPIDocument -write", path)
	default:
		if err := os.WriteFile(path, written, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMissingRoutes checks that a route or an action without a description is reported, and a
// description without either.
func TestMissingRoutes(t *testing.T) {
	routes := everything(t).routes()
	for name, change := range map[string]func() ([]route, []string){
		"another route": func() ([]route, []string) {
			return append(slices.Clip(routes), route{method: "GET", pattern: "/api/new"}), names()
		},
		"one less":       func() ([]route, []string) { return slices.Delete(slices.Clone(routes), 3, 4), names() },
		"another action": func() ([]route, []string) { return routes, append(names(), "dance") },
		"an action less": func() ([]route, []string) { return routes, names()[1:] },
	} {
		rows, actions := change()
		var table []openapi.Route
		for _, r := range rows {
			table = append(table, openapi.Route{Method: r.method, Pattern: r.pattern})
		}
		if _, err := openapi.New(table, actions); err == nil {
			t.Errorf("%s: nobody notices", name)
		}
	}
}

func names() []string { return slices.Sorted(maps.Keys(actions)) }

// TestActionBodies checks that each action is read into the type that the document describes.
func TestActionBodies(t *testing.T) {
	limits := everybodysLimits()
	h, err := New(Config{Public: limits})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	p := &pageAPI{site: h.site, door: h.door, limits: &h.limits}
	described := openapi.Bodies()
	for name, parse := range actions {
		action, err := parse(p, given{[]byte(`{}`), netip.Addr{}, room.Origin{}})
		if err != nil || reflect.TypeOf(action) != described[name] {
			t.Errorf("%s is read into a %T, and described as a %v: %v", name, action, described[name], err)
		}
	}
}

// everybodysLimits lets strangers bring any list.
func everybodysLimits() *public.Limits {
	return &public.Limits{Own: func(string, []string, netip.Addr) ([]netip.AddrPort, error) { return nil, nil }}
}

// BenchmarkDescription measures what the first request for the document costs a host.
func BenchmarkDescription(b *testing.B) {
	h, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	b.ReportAllocs()
	for b.Loop() {
		document, err := describe(h.routes())
		if err != nil {
			b.Fatal(err)
		}
		plain, err := document.JSON()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(plain)), "bytes")
		b.ReportMetric(float64(len(packed(plain))), "packed-bytes")
	}
}
