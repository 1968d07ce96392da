package host

import (
	"net"
	"net/http"
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

// tickets are those that nobody has used.
type tickets struct {
	// isOwn is [Config.IsOwnUser].
	isOwn func(client, server net.Addr) bool

	mu   sync.Mutex // guards following
	open map[string]ticket
}

// Ticket returns a path of this host that takes the first caller from this machine to a link.
func (h *Host) Ticket(link string) (path string) { return "/open/" + h.tickets.add(link, time.Now()) }

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

// take returns the link of a ticket, which holds no more.
func (t *tickets) take(number string, now time.Time) (link string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if of, some := t.open[number]; some && now.Before(of.until) {
		link = of.link
	}
	delete(t.open, number)
	return link
}

// serve takes a browser to the link of its ticket.
func (t *tickets) serve(w http.ResponseWriter, r *http.Request) {
	link := ""
	if r.Method == http.MethodGet && isFromHere(r) && t.isOwnUser(r) {
		link = t.take(r.PathValue("number"), time.Now())
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
