package lobby

import (
	"net/http"
	"net/url"
	"testing"
)

// TestTicket checks that a browser of this machine gets to the page once, and that nobody gets there
// by a guess or by a name that leads to this machine.
func TestTicket(t *testing.T) {
	const page = "http://192.0.2.1:7777/#BAKODI.SECRET"
	link, err := url.Parse(Ticket(t.Context(), page))
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, c := range []struct{ name, path, host, want string }{
		{"a guess", "/open/GUESS", link.Host, ""},
		{"a name that leads here", link.Path, "night.example", ""},
		{"the browser", link.Path, link.Host, page},
		{"somebody after it", link.Path, link.Host, ""},
	} {
		got, err := client.Do(&http.Request{Method: http.MethodGet, Host: c.host, Close: true,
			URL: &url.URL{Scheme: "http", Host: link.Host, Path: c.path}})
		if err != nil {
			if c.want != "" {
				t.Errorf("%s: %v", c.name, err)
			}
			continue // nobody listens any more
		}
		got.Body.Close()
		if got.Header.Get("Location") != c.want || (c.want == "") != (got.StatusCode == http.StatusNotFound) {
			t.Errorf("%s: %d, to %q", c.name, got.StatusCode, got.Header.Get("Location"))
		}
	}
}
