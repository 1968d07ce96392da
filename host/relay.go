package host

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"muster/host/access"
	"muster/host/store"
	"muster/host/wire"
)

// Relay makes connections between the hosts that share a store.
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
	// veil is after how long those hear that they are refused for others' wrong codes
	// who show something that only a room's owner can judge: how long it takes to ask
	// would tell which codes there are.
	veil = 250 * time.Millisecond
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
	routes := h.routes()
	server := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// newsWait is how long whoever shows a link key waits for word of the room: it may have
// been opened at another host this moment. Whoever guesses codes shows none.
const newsWait = 2 * time.Second

// isAfar reports whether the room of a code is another host's, or nobody's, so that what
// is asked of it has to be passed on.
func (h *Host) isAfar(ctx context.Context, code, linkKey string) bool {
	if h.config.Relay == nil || h.actor(code) != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, newsWait)
	defer cancel()
	for linkKey != "" && h.store.Find(access.CanonicalCode(code)).State == store.Unknown && rest(ctx, lookEvery) {
	}
	switch h.store.Find(access.CanonicalCode(code)).State {
	case store.Elsewhere:
		return true
	case store.Orphaned, store.Here: // the latter is being taken over
		return !h.isUnreadable(access.CanonicalCode(code))
	}
	return false
}

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
		case place.State == store.Unknown, place.State == store.Over, h.isUnreadable(code):
			return "", errNowhere
		case place.State != store.Orphaned:
		case orphaned.IsZero():
			orphaned = time.Now()
		case time.Since(orphaned) >= adoptWait:
			h.claim(code)
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
