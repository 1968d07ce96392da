package host

import (
	"cmp"
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
	"muster/host/operating"
	"muster/host/store"
	"muster/host/wire"
)

// Relay makes connections between the hosts that share a store; package between implements it.
type Relay interface {
	// Dial connects to a host by its name in the store, even to this one.
	Dial(ctx context.Context, host string) (net.Conn, error)
	// Listener returns the listener for other hosts' connections.
	Listener() net.Listener
}

const (
	// relayedHeader is the header in which a gateway describes its caller. It counts only on
	// connections of other hosts.
	relayedHeader = "Muster-Relayed"
	// refusedHeader is the header in which an owner tells its gateway the reason of a refusal.
	refusedHeader = "Muster-Refused"
	// ownerWait is how long a gateway waits for a room's new owner. Then it tells its client to
	// come back.
	ownerWait = 20 * time.Second
	// adoptWait is how long a room without an owner waits for the host that should adopt it. Then a
	// host that needs the room takes it. A claim that no server answers lasts three seconds, and the
	// next try must not come just as it ends.
	adoptWait = 1100 * time.Millisecond
	// lookEvery is how often a gateway looks for a room that has no owner at the moment.
	lookEvery = 50 * time.Millisecond
	// longestLook is the longest time before a gateway again asks an owner that admits nobody.
	longestLook = time.Second
	// newsWait is how long a caller waits for news of a room that this host does not know, because
	// another host may have opened it at this moment. It is longer than a host trusts its lease
	// without the store: one that still trusts it then has heard from the store meanwhile.
	newsWait = 3 * time.Second
	// veil is when a caller learns of a refusal that only a room's owner could decide, at an
	// address with too many wrong codes. It is the same for all codes and hosts; otherwise the time
	// of the answer would tell which codes exist.
	veil = newsWait
)

// relayedCaller describes the caller for whom a gateway asks.
type relayedCaller struct {
	Addr     netip.Addr `json:"addr"`
	Forwards bool       `json:"forwards,omitempty"`
	// Entrance is where the caller reached the gateway, for links. Fingerprint is the fingerprint
	// of its certificate.
	Entrance    string `json:"entrance"`
	Fingerprint string `json:"fingerprint,omitempty"`
	// Unheard says that too many wrong codes were tried at the address, so only a link key, a token
	// or a secret opens a room. Hurried says that the address has sent too many requests.
	Unheard bool `json:"unheard,omitempty"`
	Hurried bool `json:"hurried,omitempty"`
}

type relayedCallerKey struct{}

// relayedCallerOf returns the caller for whom another host sends a request, nil if no host does.
func relayedCallerOf(r *http.Request) *relayedCaller {
	b, _ := r.Context().Value(relayedCallerKey{}).(*relayedCaller)
	return b
}

// relayedCaller returns the description of a caller for whom this host asks another.
func (h *Host) relayedCaller(r *http.Request) relayedCaller {
	from, at := h.remote(r), h.entrance(r)
	return relayedCaller{Addr: from.addr, Forwards: from.forwards, Entrance: at.url.String(), Fingerprint: at.fingerprint}
}

// entrance returns where the gateway's caller can enter.
func (b *relayedCaller) entrance() entrance {
	at, err := url.Parse(b.Entrance)
	if err != nil {
		at = &url.URL{Scheme: "http", Path: "/"}
	}
	return entrance{url: *at, fingerprint: b.Fingerprint}
}

// serveRelay answers requests that other hosts pass on, until the host ends.
func (h *Host) serveRelay(listener net.Listener) {
	routes := h.mux()
	server := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == openingsPath:
			h.counting.serve(w, r)
			return
		case strings.HasPrefix(r.URL.Path, operating.Path):
			h.Desk(nil).Inside(w, r)
			return
		}
		b := new(relayedCaller)
		if json.Unmarshal([]byte(r.Header.Get(relayedHeader)), b) != nil {
			http.Error(w, "another host asks on nobody's behalf", http.StatusBadRequest)
			return
		}
		if h.actor(r.Header.Get(codeHeader)) == nil {
			w.Header().Set(refusedHeader, wire.ReasonMoved)
			http.Error(w, "the room is not here", http.StatusMisdirectedRequest)
			return
		}
		routes.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), relayedCallerKey{}, b)))
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

// direct reports whether a caller must be passed on to another host, or says why the caller is
// refused. stays says that the caller comes to stay. The time it takes tells a guesser no more than
// the answer does:
//
//	opens the room here ───────────────▶ at once
//	shows a link key that is no room's ─▶ waits for one; no code speeds it up
//	not heard, shows nothing ───────────▶ refused at once, whatever the code
//	not heard, shows something else ────▶ refused behind the veil, unless it opens a room
//	a code alone that is no room's ─────▶ waits for one, and counts as a wrong one meanwhile
//
// Callers that wait with only a code are never more than may try wrong ones.
func (h *Host) direct(ctx context.Context, came time.Time, b *relayedCaller, code string, shown []string,
	stays bool) (isRemote bool, why *wire.Refusal) {
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
			return h.isRemote(code), nil
		}
	}
	isShown := strings.Join(shown, "") != ""
	if b.Unheard = !h.guard.Judge(b.Addr, true, h.config.Clock.Now()); !b.Unheard && stays && !h.isKnown(code) {
		heard, forgive := h.guard.Doubt(b.Addr, h.config.Clock.Now())
		for heard && !h.isKnown(code) && rest(news, lookEvery) {
		}
		switch b.Unheard = !heard; {
		case !heard:
		case h.isKnown(code):
			forgive()
		case h.store.Find(code).Unsure:
			return false, unsure()
		default:
			return false, h.unknown(code)
		}
	}
	isRemote = h.isRemote(code)
	switch {
	case !b.Unheard, isShown && isRemote:
		return isRemote, nil
	case isShown:
		rest(ctx, time.Until(came.Add(veil)))
	}
	return false, h.limitedFrom(b.Addr)
}

// isKnown reports whether this host knows a room with the code.
func (h *Host) isKnown(code string) bool {
	return h.actor(code) != nil || h.store.Find(code).State != store.Unknown
}

// isRemote reports whether the room with a code belongs to another host or has no owner, so that
// requests for it must be passed on.
func (h *Host) isRemote(code string) bool {
	if h.config.Relay == nil || h.actor(code) != nil {
		return false
	}
	switch h.store.Find(code).State {
	case store.Elsewhere:
		return true
	case store.Orphaned, store.Here: // in the second case this host is taking it over
		return !h.rooms.isUnreadable(code)
	}
	return false
}

// proxied are the clients that this host passes on to other hosts.
type proxied struct {
	mu    sync.Mutex // guards following
	lines map[*line]bool
}

func (p *proxied) add(l *line) (remove func()) {
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

func (p *proxied) all() []*line {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.lines))
}

// watchOwners ends lines to owners that no longer have their rooms. An owner that cannot reach the
// store does not know that another host has its rooms, and keeps its connections.
func (h *Host) watchOwners() {
	for rest(h.lines, watchEvery) {
		for _, l := range h.proxied.all() {
			l.leave()
		}
	}
}

// watchEvery is how often a gateway checks whether rooms have new owners.
const watchEvery = time.Second

// errNowhere says that a room is over, or has no owner.
var errNowhere = errors.New("host: no host has the room")

// owner returns the name of the host that has a room. While there is none, it waits, and then takes
// the room itself if no other host does.
func (h *Host) owner(ctx context.Context, code string) (string, error) {
	code = access.CanonicalCode(code)
	var orphaned time.Time
	for {
		place := h.store.Find(code)
		switch {
		case place.State == store.Elsewhere, place.State == store.Here && h.actor(code) != nil:
			return place.Host, nil
		case place.Unsure:
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
			return "", tired(ctx)
		}
	}
}

// tired returns why a rest has ended early. A context need not know of its deadline at once.
func tired(ctx context.Context) error { return cmp.Or(ctx.Err(), context.DeadlineExceeded) }

// rest waits, and reports whether ctx is still alive: not at its very deadline, of which two timers tell in any order.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		end, ends := ctx.Deadline()
		return !ends || time.Now().Before(end)
	case <-ctx.Done():
		return false
	}
}
