package host

import (
	"net"
	"net/http"
	"sync"
	"time"

	"muster/host/access"
	"muster/internal/clock"
)

// ticketTime is how long a ticket is valid. The browser may have to start, and to warn of the
// host's own certificate.
const ticketTime = 5 * time.Minute

// ticket gives a browser on this machine a link with a secret in it. The browser is started with a
// URL that every user here can read in the list of processes. So a ticket works once, for a short
// time, and only for the user who runs the host.
type ticket struct {
	link  string
	until time.Time
}

// tickets are the unused tickets.
type tickets struct {
	// isOwn is [Config.IsOwnUser].
	isOwn func(client, server net.Addr) bool
	clock clock.Clock

	mu   sync.Mutex // guards following
	open map[string]ticket
}

// Ticket returns a path of this host that takes its first caller from this machine to a link.
func (h *Host) Ticket(link string) (path string) {
	return "/open/" + h.tickets.add(link, h.tickets.clock.Now())
}

// add returns the number of a new ticket to a link.
func (t *tickets) add(link string, now time.Time) (number string) {
	number = access.NewSecret()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = map[string]ticket{}
	}
	t.open[number] = ticket{link, now.Add(ticketTime)}
	return number
}

// take returns the link of a ticket, and invalidates the ticket.
func (t *tickets) take(number string, now time.Time) (link string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if of, some := t.open[number]; some && now.Before(of.until) {
		link = of.link
	}
	delete(t.open, number)
	return link
}

// serve redirects a browser to the link of its ticket.
func (t *tickets) serve(w http.ResponseWriter, r *http.Request) {
	link := ""
	if r.Method == http.MethodGet && isFromHere(r) && t.isOwnUser(r) {
		link = t.take(r.PathValue("number"), t.clock.Now())
	}
	if link == "" {
		http.Error(w, "this link has been used, is too old, or is another user's: take the one that Muster has printed", http.StatusGone)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, link, http.StatusSeeOther)
}

// isOwnUser reports whether a request on this machine is the user's own.
func (t *tickets) isOwnUser(r *http.Request) bool {
	client, err := net.ResolveTCPAddr("tcp", r.RemoteAddr)
	server, is := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return t.isOwn == nil || err == nil && is && t.isOwn(client, server)
}
