package host

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"muster/host/public"
	"muster/host/wire"
)

// row returns the route's row in PROTOCOL.md.
func (r route) row() string {
	return fmt.Sprintf("| `%s %s` | %s | %s | %s |", r.method, r.pattern, r.who, r.limits, r.purpose)
}

// TestProtocolNamesEveryRoute checks that PROTOCOL.md has every endpoint of a host, with its
// callers and limits, and no other. Authors of other programs rely on it.
func TestProtocolNamesEveryRoute(t *testing.T) {
	document, err := os.ReadFile("../PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(Config{Public: &public.Limits{}, Page: http.NotFoundHandler(), Get: http.NotFoundHandler()})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var rows []string
	for _, r := range h.routes() {
		rows = append(rows, r.row())
		if r.handler == nil {
			t.Errorf("nothing serves %s %s on a host that has everything", r.method, r.pattern)
		}
	}
	_, section, found := strings.Cut(string(document), "## Endpoints\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if !found {
		t.Error("PROTOCOL.md has no section on endpoints")
	}
	for _, row := range rows {
		if !strings.Contains(section, row+"\n") {
			t.Errorf("PROTOCOL.md lacks\n%s", row)
		}
	}
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "| `") && !slices.Contains(rows, strings.TrimSpace(line)) {
			t.Errorf("no host has\n%s", line)
		}
	}
}

// TestPrivateRoutes checks that a host at home opens no rooms for strangers.
func TestPrivateRoutes(t *testing.T) {
	h, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, r := range h.routes() {
		isServed := r.handler != nil
		isForStrangers := r.who == opening || strings.HasPrefix(r.pattern, "/get/") || r.pattern == "/"
		if isServed == isForStrangers {
			t.Errorf("%s %s is served: %v", r.method, r.pattern, isServed)
		}
	}
}

// TestPageReaches checks that the page may connect to the host's places, and to no other site.
func TestPageReaches(t *testing.T) {
	page := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	places := wire.Venues{
		{Name: "A", URL: "https://a.example.com/empty"}, {Name: "B", URL: "https://b.example.com:8443/"}, {Name: "A, too", URL: "https://a.example.com/"},
		{Name: "none"}, {Name: "no address for a page", URL: "https://a.example.com/; script-src *"},
	}
	h, err := New(Config{Page: page, Places: places})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for path, want := range map[string]string{
		"/":          "; connect-src 'self' https://a.example.com https://b.example.com:8443",
		"/static/x":  "",
		"/api/form":  "",
		"/recipe/q3": "",
	} {
		answer := httptest.NewRecorder()
		h.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "http://127.0.0.1"+path, nil))
		_, got, _ := strings.Cut(answer.Header().Get("Content-Security-Policy"), "form-action 'self'")
		if got != want {
			t.Errorf("%s may connect to %q, want %q", path, got, want)
		}
	}
}
