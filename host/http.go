package host

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"muster/host/access"
	"muster/host/metrics"
	"muster/host/pressure"
	"muster/host/wire"
	"muster/internal/clock"
)

// withSecurityHeaders adds headers that keep hostile text harmless in a browser.
func withSecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' blob:; frame-src muster:; "+
			"object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// codeHeader and keyHeader are the headers in which a page's request has its room's code and link
// key. Proxies log URLs, so the URL only has codeInHeader in place of the code.
const (
	codeHeader, keyHeader = "Muster-Code", "Muster-Key"
	codeInHeader          = "-"
)

// credentialsOf returns the credentials in a request: the link key, and the caller's own.
func credentialsOf(r *http.Request) []string { return []string{r.Header.Get(keyHeader), bearer(r)} }

// bearer returns the caller's credential.
func bearer(r *http.Request) string {
	credential, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return credential
}

// retryAfter is when a caller who was refused because of others' wrong codes may retry, in seconds.
const retryAfter = "5"

func busy() *wire.Refusal {
	return wire.Refuse(wire.ReasonBusy, "refused.too-much").Advising("refused.too-much-hint")
}

// replies answers refused requests, and counts them.
type replies struct {
	counts *metrics.Metrics
	// pressed counts the networks that run into limits.
	pressed *pressure.Table
	clock   clock.Clock
}

// isTooMuch reports whether an address must wait, and then says so to the caller.
func (p replies) isTooMuch(w http.ResponseWriter, pace *access.Pace, from netip.Addr) bool {
	wait := pace.Wait(from, p.clock.Now())
	if wait > 0 {
		p.pressed.Note(pressure.Requests, from, p.clock.Now())
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		p.refuse(w, http.StatusTooManyRequests, *busy())
	}
	return wait > 0
}

// refuse answers in the caller's language.
func (p replies) refuse(w http.ResponseWriter, status int, refusal wire.Refusal) {
	p.counts.Refused(refusal)
	if l := languageOf(w); !refusal.Says.IsZero() {
		refusal.Message, refusal.Hint = l.Say(refusal.Says), l.Say(refusal.Advises)
	}
	answer(w, status, refusal)
}

func answer(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(document) // fails only if the client is gone
}

// ours admits only requests that are meant for this host and do not come from another site's page.
// A foreign page can make its own name lead to this machine, and browsers then take the machine for
// the page's own host (DNS rebinding). So the host accepts only names that no stranger can
// redirect. A foreign page can also make a browser send requests to addresses. So a request that
// changes something must come from the host's own page, or from no page.
func (s *site) ours(p replies, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		changes := r.Method != http.MethodGet && r.Method != http.MethodHead
		switch at := s.askedAt(r); {
		case !s.isNamed(r.Host):
			p.misdirected(w, r, r.Host)
		case !s.isNamed(at):
			p.misdirected(w, r, at)
		case changes && (!s.isSameOrigin(r) || isCrossSite(r.Header.Get("Sec-Fetch-Site"))):
			p.refuse(w, http.StatusForbidden, *wire.Refuse(wire.ReasonOrigin, "refused.other-site"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// plainName matches texts that can be a host's name and are safe to show.
var plainName = regexp.MustCompile(`^[a-z0-9.-]{1,253}$`)

// misdirected tells the caller what to type if the name was intended.
func (p replies) misdirected(w http.ResponseWriter, r *http.Request, hostport string) {
	name, roomFor := hostname(hostport), "that name"
	refusal := wire.Refuse(wire.ReasonOrigin, "refused.misdirected-unshown")
	if plainName.MatchString(name) {
		roomFor = "the name " + name
		refusal = wire.Refuse(wire.ReasonOrigin, "refused.misdirected", "host", name)
	} else {
		name = "NAME"
	}
	refusal = refusal.Advising("refused.misdirected-hint", "host", name)
	if r.URL.Path != "/" {
		p.refuse(w, http.StatusMisdirectedRequest, *refusal)
		return
	}
	p.counts.Refused(*refusal)
	http.Error(w, fmt.Sprintf(`This host does not go by %s.

If you are a guest, use the organiser's link as it is.

If you started the host, and the name is yours, start it again with

  muster host … --host-name %s

or, if friends reach it by that name through a proxy or a tunnel, with

  muster host … --public-url https://%s
`, roomFor, name, name), http.StatusMisdirectedRequest)
}
