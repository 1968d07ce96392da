package home

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"muster/internal/catalogue"
	"muster/internal/catalogue/languages"
)

// TestLanguage checks that a link's language stays when Home redirects, and that answers without a
// page are in the language of the link or of the browser.
func TestLanguage(t *testing.T) {
	h, _ := started(t, t.TempDir(), nil)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	accented := languages.In(catalogue.Accented).Words("home.unknown")
	english := catalogue.InEnglish().Words("home.unknown")
	for _, tt := range []struct{ path, browser, location, body string }{
		{"/?key=" + h.door.key, "", "/", ""},
		{"/?key=" + h.door.key + "&lang=en-XA", "", "/?lang=en-XA", ""},
		{h.Ticket() + "?lang=en-XA", "", "/?lang=en-XA", ""},
		{h.Ticket() + "?lang=%26x%3D%23", "", "/?lang=%26x%3D%23", ""},
		{"/", "", "", english},
		{"/", "xx, tlh;q=0.9", "", english},
		{"/?lang=en-XA", "en", "", accented},
		{"/", "xx, en-XA;q=0.9, en;q=0.8", "", accented},
		{"/open/GUESS", "en-XA", "", accented},
	} {
		r, err := http.NewRequest(http.MethodGet, h.Running().URL+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Language", tt.browser)
		w, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(w.Body)
		w.Body.Close()
		body := ""
		if w.StatusCode == http.StatusForbidden {
			body = strings.TrimSpace(string(text))
		}
		if location := w.Header.Get("Location"); location != tt.location || body != tt.body {
			t.Errorf("%s of a browser for %q leads to %q and says %q, want %q and %q", tt.path, tt.browser, location, body, tt.location, tt.body)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/room?lang=en-XA", nil)
	if got, want := inLanguageOf(r, "http://192.0.2.1:7777/#TABOMI_KEY.SECRET"), "http://192.0.2.1:7777/?lang=en-XA#TABOMI_KEY.SECRET"; got != want {
		t.Errorf("the room's page is at %s, want %s", got, want)
	}
}

// TestLanguageOfCommands checks that a command's terminal is in the language of the page that asked
// for it, and in the system's before any page has.
func TestLanguageOfCommands(t *testing.T) {
	h, _ := started(t, t.TempDir(), nil)
	for _, tt := range []struct{ origin, browser, want string }{
		{"", "en-XA", ""},
		{"http://" + h.door.names[0], "en-XA", "en-XA"},
		{"", "en", "en-XA"},
		{"http://" + h.door.names[0], "xx", "en"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/api/stop", strings.NewReader(`"find"`))
		r.Host = h.door.names[0]
		r.AddCookie(&http.Cookie{Name: h.door.cookie, Value: h.door.key})
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept-Language", tt.browser)
		if tt.origin == "" {
			r.Header.Set("Authorization", "Bearer "+h.door.key)
		} else {
			r.Header.Set("Origin", tt.origin)
		}
		w := httptest.NewRecorder()
		h.Handler().ServeHTTP(w, r)
		if got := h.language; w.Code != http.StatusOK || got != tt.want {
			t.Errorf("after an order of %q in %q, which is answered %d, commands speak %q, want %q", tt.origin, tt.browser, w.Code, got, tt.want)
		}
	}
}
