package host

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/host/access"
	"muster/host/store"
	"muster/host/wire"
)

// Relay makes connections between the hosts that share a store; package between has one.
type Relay interface {
	// Dial connects to a host by its name in the store, this one's own too.
	Dial(ctx context.Context, host string) (net.Conn, error)
	// Listener is where connections of other hosts come in.
	Listener() net.Listener
}

const (
	// relayedHeader is where a gateway says on whose behalf it asks. It counts on
	// connections of other hosts alone.
	relayedHeader = "Muster-Relayed"
	// refusedHeader is where an owner tells its gateway why somebody is refused.
	refusedHeader = "Muster-Refused"
	// ownerWait is how long a gateway waits for a room's new owner before it has its
	// client come back by itself.
	ownerWait = 20 * time.Second
	// adoptWait is how long a room without an owner may wait for the host that it falls
	// to, before whoever needs it takes it.
	adoptWait = time.Second
	// lookEvery is how often a gateway looks where a room is that is nowhere just now.
	lookEvery = 50 * time.Millisecond
	// longestLook is how long it waits at most until it asks an owner again that lets
	// nobody in.
	longestLook = time.Second
	// newsWait is how long who comes waits for word of a room of which this host knows
	// nothing: it may have been opened at another this moment.
	newsWait = 2 * time.Second
	// veil is after how long those hear that they are refused for others' wrong codes
	// who show something that only a room's owner can judge. It is the same whatever
	// codes there are, and wherever: how long an answer takes would tell that.
	veil = newsWait
)

// behalf is on whose behalf a gateway asks.
type behalf struct {
	Addr     netip.Addr `json:"addr"`
	Forwards bool       `json:"forwards,omitempty"`
	// Entrance is where the asker found the gateway, for links, and Fingerprint its
	// certificate's.
	Entrance    string `json:"entrance"`
	Fingerprint string `json:"fingerprint,omitempty"`
	// Unheard: too many wrong codes were tried at the address; only what cannot be
	// guessed opens a room. Hurried: too much was asked at once.
	Unheard bool `json:"unheard,omitempty"`
	Hurried bool `json:"hurried,omitempty"`
}

type behalfKey struct{}

// behalfOf is on whose behalf a request came from another host, nil if it did not.
func behalfOf(r *http.Request) *behalf {
	b, _ := r.Context().Value(behalfKey{}).(*behalf)
	return b
}

// behalf is on whose behalf this host, as a gateway, passes a request on.
func (h *Host) behalf(r *http.Request) behalf {
	from, at := h.remote(r), h.entrance(r)
	return behalf{Addr: from.addr, Forwards: from.forwards, Entrance: at.url.String(), Fingerprint: at.fingerprint}
}

// entranceOf is where the gateway's asker gets in.
func (b *behalf) entrance() entrance {
	at, err := url.Parse(b.Entrance)
	if err != nil {
		at = &url.URL{Scheme: "http", Path: "/"}
	}
	return entrance{url: *at, fingerprint: b.Fingerprint}
}

// serveRelay answers what other hosts pass on, until the host ends.
func (h *Host) serveRelay(listener net.Listener) {
	routes := h.mux()
	server := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == openingsPath {
			h.counting.serve(w, r)
			return
		}
		b := new(behalf)
		if json.Unmarshal([]byte(r.Header.Get(relayedHeader)), b) != nil {
			http.Error(w, "another host asks on nobody's behalf", http.StatusBadRequest)
			return
		}
		if h.actor(r.Header.Get(codeHeader)) == nil {
			w.Header().Set(refusedHeader, wire.ReasonMoved)
			http.Error(w, "the room is not here", http.StatusMisdirectedRequest)
			return
		}
		routes.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), behalfKey{}, b)))
	}))
	server.ErrorLog = log.New(anonymous{discard{}}, "", 0)
	h.begin(func() {
		<-h.lines.Done()
		server.Close()
		h.transport.CloseIdleConnections()
	})
	h.begin(func() { server.Serve(listener) })
	h.begin(h.watchOwners)
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// directs reports whether who comes for a room is to be passed on to another host, or says
// why neither that nor this one lets him in. Stays says that it is somebody who comes to
// stay. How long it takes tells a guesser nothing that the answer does not:
//
//	opens the room here ───────────────▶ at once
//	shows a link key that is no room's ─▶ waits for one; no code has it come sooner
//	not heard, shows nothing ───────────▶ refused at once, whatever the code
//	not heard, shows something else ────▶ refused behind the veil, unless it opens a room
//	a code alone that is no room's ─────▶ waits for one, and counts as a wrong one meanwhile
//
// Of those who wait with a code alone there are never more than may try wrong ones.
func (h *Host) directs(ctx context.Context, came time.Time, b *behalf, code string, shown []string,
	stays bool) (isAfar bool, why *wire.Refusal) {
	if code = access.CanonicalCode(code); h.config.Relay == nil || code == "" {
		return false, nil
	}
	if a := h.actor(code); a != nil && a.opensTo(shown) {
		return false, nil
	}
	news, cancel := context.WithDeadline(ctx, came.Add(newsWait))
	defer cancel()
	if key := shown[0]; key != "" {
		id := access.PublicID(key)
		for h.store.FindID(id) == "" && rest(news, lookEvery) {
		}
		if h.store.FindID(id) == code {
			return h.isAfar(code), nil
		}
	}
	isShown := strings.Join(shown, "") != ""
	if b.Unheard = !h.guard.Judge(b.Addr, true, time.Now()); !b.Unheard && stays && !h.isKnown(code) {
		heard, forgive := h.guard.Doubt(b.Addr, time.Now())
		for heard && !h.isKnown(code) && rest(news, lookEvery) {
		}
		switch b.Unheard = !heard; {
		case !heard:
		case !h.isKnown(code):
			return false, h.unknown(code)
		default:
			forgive()
		}
	}
	isAfar = h.isAfar(code)
	switch {
	case !b.Unheard, isShown && isAfar:
		return isAfar, nil
	case isShown:
		rest(ctx, time.Until(came.Add(veil)))
	}
	return false, h.limited()
}

// isKnown reports whether this host has heard of a room of the code.
func (h *Host) isKnown(code string) bool {
	return h.actor(code) != nil || h.store.Find(code).State != store.Unknown
}

// isAfar reports whether the room of a code is another host's, or nobody's, so that what
// is asked of it has to be passed on.
func (h *Host) isAfar(code string) bool {
	if h.config.Relay == nil || h.actor(code) != nil {
		return false
	}
	switch h.store.Find(code).State {
	case store.Elsewhere:
		return true
	case store.Orphaned, store.Here: // the latter is being taken over
		return !h.rooms.isUnreadable(code)
	}
	return false
}

// passing are the clients that this host passes on to others.
type passing struct {
	mu    sync.Mutex // guards following
	lines map[*line]bool
}

func (p *passing) add(l *line) (remove func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines == nil {
		p.lines = map[*line]bool{}
	}
	p.lines[l] = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.lines, l)
	}
}

func (p *passing) all() []*line {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.lines))
}

// watchOwners ends the lines to owners that their rooms have left. One that the store is out
// of reach for does not know that another host has its rooms, and has its connections still.
func (h *Host) watchOwners() {
	for rest(h.lines, watchEvery) {
		for _, l := range h.passing.all() {
			l.leaves()
		}
	}
}

// watchEvery is how often a gateway looks whether rooms have other owners.
const watchEvery = time.Second

// errNowhere says that a room is over, or nobody's.
var errNowhere = errors.New("host: no host has the room")

// owner is the name of the host that has a room. While there is none it waits, and takes
// the room itself if nobody else does.
func (h *Host) owner(ctx context.Context, code string) (string, error) {
	code = access.CanonicalCode(code)
	var orphaned time.Time
	for {
		place := h.store.Find(code)
		switch {
		case place.State == store.Elsewhere, place.State == store.Here && h.actor(code) != nil:
			return place.Host, nil
		case place.State == store.Unknown, place.State == store.Over, h.rooms.isUnreadable(code):
			return "", errNowhere
		case place.State != store.Orphaned:
		case orphaned.IsZero():
			orphaned = time.Now()
		case time.Since(orphaned) >= adoptWait:
			h.rooms.claim(code)
			orphaned = time.Now()
		}
		if !rest(ctx, lookEvery) {
			return "", ctx.Err()
		}
	}
}

// rest waits, and reports whether ctx is not over.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
