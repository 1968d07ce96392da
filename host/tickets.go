package host

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"muster/host/access"
)

// ticketTime is how long a browser has to use a ticket: one that starts first, and
// warns of the host's own certificate.
const ticketTime = 5 * time.Minute

// ticket is a way to a link with a secret in it for a browser on this machine, which
// is started with a URL that everybody here can read in the list of processes. It
// holds once, not for long, and for the user who runs the host alone.
type ticket struct {
	link  string
	until time.Time
}

// tickets are those that nobody has used. The zero value is ready.
type tickets struct {
	mu   sync.Mutex // guards following
	open map[string]ticket
}

// Ticket is a path of this host that takes whoever comes first, from this machine,
// to a link.
func (h *Host) Ticket(link string) (path string) {
	number := access.NewSecret()
	h.tickets.mu.Lock()
	defer h.tickets.mu.Unlock()
	if h.tickets.open == nil {
		h.tickets.open = map[string]ticket{}
	}
	h.tickets.open[number] = ticket{link, time.Now().Add(ticketTime)}
	return "/open/" + number
}

// take is the link of a ticket, which holds no more.
func (t *tickets) take(number string, now time.Time) (link string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if of, some := t.open[number]; some && now.Before(of.until) {
		link = of.link
	}
	delete(t.open, number)
	return link
}

func (h *Host) serveTicket(w http.ResponseWriter, r *http.Request) {
	link := ""
	if r.Method == http.MethodGet && isFromHere(r) && h.isOwnUser(r) {
		link = h.tickets.take(r.PathValue("number"), time.Now())
	}
	if link == "" {
		http.Error(w, "this link has been used, is too old, or is another user's: take the one that Muster has printed", http.StatusGone)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, link, http.StatusSeeOther)
}

// isOwnUser reports whether a request on this machine is the user's own.
func (h *Host) isOwnUser(r *http.Request) bool {
	client, err := net.ResolveTCPAddr("tcp", r.RemoteAddr)
	server, is := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return h.config.IsOwnUser == nil || err == nil && is && h.config.IsOwnUser(client, server)
}

// isFromHere reports whether a request comes from this machine, and from nobody for
// whom a proxy or a tunnel on it speaks, as far as they say so.
func isFromHere(r *http.Request) bool {
	socket, err := netip.ParseAddrPort(r.RemoteAddr)
	for _, name := range [...]string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Cf-Connecting-Ip"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	from := socket.Addr().Unmap()
	if err != nil || from.IsLoopback() {
		return err == nil && isLoopback(strings.ToLower(r.Host))
	}
	own, is := r.Context().Value(http.LocalAddrContextKey).(net.Addr) // one that does not listen on loopback
	if !is {
		return false
	}
	at, err := netip.ParseAddrPort(own.String())
	return err == nil && at.Addr().Unmap() == from && hostname(r.Host) == from.String()
}

// serveMetrics counts for programs on this machine, and for those whom the organiser
// named: the figures say how busy an evening is, to whoever asks.
func (h *Host) serveMetrics(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !isFromHere(r) && !access.IsIn(h.asker(r), h.config.MetricsFrom) {
			http.Error(w, "the figures are for this machine; the organiser says with --metrics-from who else may have them", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	}
}
