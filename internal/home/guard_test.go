package home

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestGuard checks that only Home's own page, and programs that have the key, get an answer.
func TestGuard(t *testing.T) {
	g := guard{key: "SECRET", cookie: "muster-home-7776", names: []string{"127.0.0.1:7776", "localhost:7776"}}
	const own = "http://127.0.0.1:7776"
	for _, tt := range []struct {
		name, method, host string
		header             map[string]string
		cookie             string
		want               int
	}{
		{"the page", "GET", "127.0.0.1:7776", nil, "SECRET", 0},
		{"by its other name", "GET", "localhost:7776", nil, "SECRET", 0},
		{"without the cookie", "GET", "127.0.0.1:7776", nil, "", http.StatusForbidden},
		{"with a guess", "GET", "127.0.0.1:7776", nil, "SECREU", http.StatusForbidden},
		{"by a name that a stranger lets lead here", "GET", "evil.example:7776", nil, "SECRET", http.StatusMisdirectedRequest},
		{"by another port's name", "GET", "127.0.0.1:80", nil, "SECRET", http.StatusMisdirectedRequest},
		{"an order of the page", "POST", "127.0.0.1:7776",
			map[string]string{"Origin": own, "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin"}, "SECRET", 0},
		{"an order of a foreign page", "POST", "127.0.0.1:7776",
			map[string]string{"Origin": "https://evil.example", "Content-Type": "application/json"}, "SECRET", http.StatusForbidden},
		{"of a page in a sandbox", "POST", "127.0.0.1:7776",
			map[string]string{"Origin": "null", "Content-Type": "application/json"}, "SECRET", http.StatusForbidden},
		{"of another port's page", "POST", "127.0.0.1:7776",
			map[string]string{"Origin": "http://127.0.0.1:80", "Content-Type": "application/json"}, "SECRET", http.StatusForbidden},
		{"of a page that says no origin", "POST", "127.0.0.1:7776",
			map[string]string{"Content-Type": "application/json"}, "SECRET", http.StatusForbidden},
		{"of a frame of another port", "POST", "127.0.0.1:7776",
			map[string]string{"Origin": own, "Sec-Fetch-Site": "same-site", "Content-Type": "application/json"}, "SECRET", http.StatusForbidden},
		{"a form", "POST", "127.0.0.1:7776", map[string]string{"Origin": own, "Content-Type": "text/plain"}, "SECRET",
			http.StatusUnsupportedMediaType},
		{"without a cookie", "POST", "127.0.0.1:7776",
			map[string]string{"Origin": own, "Content-Type": "application/json"}, "", http.StatusForbidden},
		{"the stream", "GET", "127.0.0.1:7776", map[string]string{"Origin": own, "Upgrade": "websocket"}, "SECRET", 0},
		{"the stream for a foreign page", "GET", "127.0.0.1:7776",
			map[string]string{"Origin": "https://evil.example", "Upgrade": "websocket"}, "SECRET", http.StatusForbidden},
		{"the stream for no page", "GET", "127.0.0.1:7776", map[string]string{"Upgrade": "websocket"}, "SECRET", http.StatusForbidden},
		{"an image in a foreign page", "GET", "127.0.0.1:7776",
			map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, "SECRET", http.StatusForbidden},
		{"a link in a foreign page", "GET", "127.0.0.1:7776",
			map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, "", http.StatusForbidden},
		{"another start", "POST", "127.0.0.1:7776",
			map[string]string{"Authorization": "Bearer SECRET", "Content-Type": "application/json"}, "", 0},
		{"another user's start", "POST", "127.0.0.1:7776",
			map[string]string{"Authorization": "Bearer GUESS", "Content-Type": "application/json"}, "", http.StatusForbidden},
		{"a foreign page with the key", "POST", "127.0.0.1:7776",
			map[string]string{"Authorization": "Bearer SECRET", "Origin": "https://evil.example",
				"Content-Type": "application/json"}, "", http.StatusForbidden},
	} {
		r := httptest.NewRequest(tt.method, "/", nil)
		r.Host = tt.host
		for name, value := range tt.header {
			r.Header.Set(name, value)
		}
		if tt.cookie != "" {
			r.AddCookie(&http.Cookie{Name: g.cookie, Value: tt.cookie})
		}
		got := 0
		if refused := g.judge(r); refused != nil {
			got = refused.status
		}
		if got != tt.want {
			t.Errorf("%s: status %d, want %d", tt.name, got, tt.want)
		}
	}
}
