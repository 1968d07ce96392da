package host

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"muster/host/access"
	"muster/host/wire"
)

// ours lets requests through that are meant for this host, and come from no other
// site's page. Such a page can have its own name lead to this machine, which
// browsers on its network then take for the page's own host (DNS rebinding): so
// only names count that no stranger can let lead here. And it can have a browser
// send what it likes to addresses: so what changes something has to come from the
// host's own page, or from no page at all.
func (h *Host) ours(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		changes := r.Method != http.MethodGet && r.Method != http.MethodHead
		switch at := h.askedAt(r); {
		case !h.isNamed(r.Host):
			h.misdirected(w, r, r.Host)
		case !h.isNamed(at):
			h.misdirected(w, r, at)
		case changes && (!h.isSameOrigin(r) || isCrossSite(r.Header.Get("Sec-Fetch-Site"))):
			h.refuse(w, http.StatusForbidden, wire.Refusal{Reason: wire.ReasonOrigin, Message: "another site's page may not do this"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// askedAt is the HOST[:PORT] that somebody typed: the request's, or what a proxy of
// ours says that it was.
func (h *Host) askedAt(r *http.Request) string {
	socket, err := netip.ParseAddrPort(r.RemoteAddr)
	if lines := r.Header.Values("X-Forwarded-Host"); len(lines) > 0 && err == nil && access.IsIn(socket.Addr(), h.config.Proxies) {
		line := lines[len(lines)-1]
		return strings.TrimSpace(line[strings.LastIndexByte(line, ',')+1:])
	}
	return r.Host
}

// isNamed reports whether HOST[:PORT] is this host's for sure: an address, a name
// that no public name server answers for, or one that the organiser told us.
func (h *Host) isNamed(hostport string) bool {
	name := hostname(hostport)
	if _, err := netip.ParseAddr(name); err == nil || name == "" {
		return true // without one it is no browser
	}
	known := h.config.Names
	if h.config.PublicURL != nil {
		known = append(slices.Clip(known), h.config.PublicURL.Hostname())
	}
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || strings.HasSuffix(name, ".local") ||
		slices.ContainsFunc(known, func(k string) bool { return covers(hostname(k), name) })
}

// hostname is the name in HOST[:PORT], without the dot that may end it.
func hostname(hostport string) string {
	name, _, err := net.SplitHostPort(hostport)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
	}
	return strings.TrimSuffix(strings.ToLower(name), ".")
}

// covers reports whether a name is meant, as certificates do: *.example means all
// that have one label more.
func covers(pattern, name string) bool {
	if parent, is := strings.CutPrefix(pattern, "*."); is {
		_, rest, _ := strings.Cut(name, ".")
		return rest == parent
	}
	return pattern == name
}

// isSameOrigin reports whether a request comes from the host's own page, or from
// no page.
func (h *Host) isSameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	public := h.config.PublicURL
	return strings.EqualFold(u.Host, h.askedAt(r)) || public != nil && strings.EqualFold(u.Host, public.Host)
}

// isCrossSite reports whether a browser says that another site's page asks.
func isCrossSite(fetched string) bool { return fetched == "cross-site" || fetched == "same-site" }

// plainName matches what may be the name of a host, and shown as one.
var plainName = regexp.MustCompile(`^[a-z0-9.-]{1,253}$`)

// misdirected says what to type if the name was meant after all.
func (h *Host) misdirected(w http.ResponseWriter, r *http.Request, hostport string) {
	name, called := hostname(hostport), "that name"
	if plainName.MatchString(name) {
		called = "the name " + name
	} else {
		name = "NAME"
	}
	refusal := wire.Refusal{
		Reason: wire.ReasonOrigin, Message: "this host does not go by " + called,
		Hint: fmt.Sprintf("use the organiser's link as it is; an organiser whose name it is starts the host with --host-name %s or, behind a proxy or tunnel, --public-url https://%s", name, name),
	}
	if r.URL.Path != "/" {
		h.refuse(w, http.StatusMisdirectedRequest, refusal)
		return
	}
	h.metrics.Refused(refusal.Reason)
	http.Error(w, fmt.Sprintf(`This host does not go by %s.

If you are a guest, use the organiser's link as it is.

If you started the host, and the name is yours, start it again with

  muster host … --host-name %s

or, if friends reach it by that name through a proxy or a tunnel, with

  muster host … --public-url https://%s
`, called, name, name), http.StatusMisdirectedRequest)
}
