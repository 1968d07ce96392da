package home

import (
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
)

// guard decides which requests are answered. It admits the browser of the user who started Home,
// and the user's next start. Every program on this machine can connect, and a page of any site can
// make the browser send requests here.
type guard struct {
	// key is the secret in the link and in the cookie.
	key string
	// names are the HOST:PORTs that browsers may ask for. A stranger cannot make these addresses
	// and names lead here.
	names []string
	// cookie is the name of the cookie. It differs by port, because browsers share cookies between
	// ports.
	cookie string
}

// refusal is why a request is not answered: why is the key of a sentence.
type refusal struct {
	status int
	why    string
}

// answer says why in the reader's language.
func (d refusal) answer(w http.ResponseWriter, r *http.Request) {
	http.Error(w, languageOf(r).Words(d.why), d.status)
}

var (
	misnamed = refusal{http.StatusMisdirectedRequest, "home.misnamed"}
	foreign  = refusal{http.StatusForbidden, "home.foreign"}
	unknown  = refusal{http.StatusForbidden, "home.unknown"}
	notJSON  = refusal{http.StatusUnsupportedMediaType, "home.not-json"}
)

// judge returns why a request is refused, or nil. A request that changes something or opens a
// WebSocket must come from Home's own page, or from a program that has the key. A request that only
// reads may come by a link, but not from a foreign page.
func (g guard) judge(r *http.Request) *refusal {
	isSocket := r.Header.Get("Upgrade") != ""
	changes := isSocket || r.Method != http.MethodGet && r.Method != http.MethodHead
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	isProgram := origin == "" && site == "" && same(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), g.key)
	switch {
	case !slices.Contains(g.names, r.Host):
		return &misnamed
	case isProgram:
	case changes && origin != "http://"+r.Host:
		return &foreign
	case isForeign(site) && (changes || r.Header.Get("Sec-Fetch-Mode") != "navigate"):
		return &foreign
	case !g.isKnown(r):
		return &unknown
	}
	if changes && !isSocket && r.Header.Get("Content-Type") != "application/json" {
		return &notJSON
	}
	return nil
}

// isForeign reports whether the browser names another site's page as the origin, or one on another
// port of this machine.
func isForeign(site string) bool { return site == "cross-site" || site == "same-site" }

func (g guard) isKnown(r *http.Request) bool {
	return slices.ContainsFunc(r.CookiesNamed(g.cookie), func(c *http.Cookie) bool { return same(c.Value, g.key) })
}

// same compares in constant time, so that its duration does not reveal how much of a guess is
// right.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// admit sets the cookie, and redirects to an address without the secret.
func (g guard) admit(w http.ResponseWriter, r *http.Request, to string) {
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.key, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, inLanguageOf(r, to), http.StatusSeeOther)
}

// headers sets headers that keep hostile text harmless, and Home out of other pages.
func headers(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src "+
		"'self'; font-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}
