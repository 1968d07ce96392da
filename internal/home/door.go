package home

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/internal/netinfo"
)

const (
	// ticketPath precedes a ticket for the user's first browser. Every user of the machine can read
	// a browser's command line, so the ticket works once.
	ticketPath = "/open/"
	// toRoom is the query of a ticket that leads to the room's page instead of Home's.
	toRoom = "room"
	// ticketTime is how long a browser may take to use its ticket.
	ticketTime = 5 * time.Minute
)

// door lets browsers into Home, by the link or by a ticket that works once.
type door struct {
	guard

	mu      sync.Mutex // guards what follows
	tickets map[string]time.Time
}

// ticket returns a path that lets its first visitor into Home.
func (d *door) ticket(now time.Time) (path string) {
	path = ticketPath + secret()
	d.mu.Lock()
	defer d.mu.Unlock()
	for old, until := range d.tickets {
		if now.After(until) {
			delete(d.tickets, old)
		}
	}
	d.tickets[path] = now.Add(ticketTime)
	return path
}

// take reports whether a path is a valid ticket, and uses it up.
func (d *door) take(path string, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	until, isTicket := d.tickets[path]
	delete(d.tickets, path)
	return isTicket && now.Before(until)
}

// enter admits a browser that comes by a ticket or by the link. It reports whether it has answered.
func (d *door) enter(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet || !slices.Contains(d.names, r.Host) || isForeign(r.Header.Get("Sec-Fetch-Site")) {
		return false
	}
	if r.URL.Path == "/" && same(r.URL.Query().Get("key"), d.key) {
		d.admit(w, r, "/")
		return true
	}
	if !strings.HasPrefix(r.URL.Path, ticketPath) {
		return false
	}
	if !netinfo.IsOwnRequest(r) {
		unknown.answer(w, r)
		return true
	}
	if d.take(r.URL.Path, time.Now()) {
		to := "/"
		if r.URL.Query().Has(toRoom) {
			to = "/room?after=0"
		}
		d.admit(w, r, to)
	} else {
		unknown.answer(w, r)
	}
	return true
}
