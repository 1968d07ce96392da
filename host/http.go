package host

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"rsc.io/qr"

	"muster/host/access"
	"muster/host/room"
	"muster/host/wire"
)

// Handler serves the host's endpoints:
//
//	GET  /                     the page
//	GET  /peer                 the players' WebSocket
//	GET  /api/rooms/CODE       the room as JSON, for who knows its code
//	POST /api/rooms/CODE/…     what people do, see [Host.serveAction]
//	GET  /api/rooms/CODE/culled/CAUSE   the servers culled for a cause
//	GET  /api/rooms/CODE/evenings       a standing room's history, for its people
//	GET  /api/rooms/CODE/qr.svg         the room's link for phones
//	GET  /live                 the page's WebSocket
//	GET  /healthz, /readyz, /metrics   the last on this machine, see [Config.MetricsFrom]
//	GET  /open/NUMBER          see [Host.Ticket]
//	GET  /get/…, POST /get/…   programs, see [Config.Get]
func (h *Host) Handler() http.Handler { return guarded(h.ours(h.metrics.Answering(h.routes()))) }

func (h *Host) routes() http.Handler {
	mux := http.NewServeMux()
	if h.config.Page != nil {
		mux.Handle("GET /", h.config.Page)
	}
	mux.HandleFunc("GET /peer", h.servePeer)
	mux.HandleFunc("GET /api/rooms/{code}", h.passedOn(h.serveRoom))
	mux.HandleFunc("POST /api/rooms/{code}/{action}", h.passedOn(h.serveAction))
	mux.HandleFunc("GET /api/rooms/{code}/culled/{cause}", h.passedOn(h.serveCulled))
	mux.HandleFunc("GET /api/rooms/{code}/evenings", h.passedOn(h.serveEvenings))
	mux.HandleFunc("GET /api/rooms/{code}/qr.svg", h.passedOn(h.serveQR))
	mux.HandleFunc("GET /live", h.serveLive)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", h.serveReady)
	mux.HandleFunc("GET /metrics", h.serveMetrics(h.metrics.Handler()))
	mux.HandleFunc("GET /open/{number}", h.serveTicket)
	if h.config.Get != nil {
		get := h.fromVisitor(h.config.Get)
		mux.Handle("GET /get/", get)
		mux.Handle("POST /get/", get)
	}
	h.servePublic(mux)
	return mux
}

// fromVisitor has a handler see the address of who asks, and not a proxy's.
func (h *Host) fromVisitor(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if from := h.forwardedFor(r); from.IsValid() {
			r = r.WithContext(r.Context()) // a copy
			r.RemoteAddr = netip.AddrPortFrom(from, 0).String()
		}
		next.ServeHTTP(w, r)
	})
}

// guarded adds the headers that keep hostile text harmless in a browser.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' blob:; frame-src muster:; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

func (h *Host) serveRoom(w http.ResponseWriter, r *http.Request) {
	if a := h.addressed(w, r, r.PathValue("code")); a != nil {
		view, _ := a.views.get()
		answer(w, http.StatusOK, view.Snapshot.Document())
	}
}

// addressed is the room of a code. If there is none it answers so, and returns
// nil.
func (h *Host) addressed(w http.ResponseWriter, r *http.Request, code string) *actor {
	if code == codeInHeader {
		code = r.Header.Get(codeHeader)
	}
	on := behalfOf(r)
	a, refusal := h.named(claim{code, shown(r), h.asker(r), on})
	if refusal != nil {
		if on != nil {
			w.Header().Set(refusedHeader, refusal.Reason)
		}
		switch refusal.Reason {
		case wire.ReasonLimited:
			w.Header().Set("Retry-After", retryAfter)
			h.refuse(w, http.StatusTooManyRequests, *refusal)
		case wire.ReasonClosed:
			h.refuse(w, http.StatusGone, *refusal)
		case wire.ReasonBusy, wire.ReasonMoved:
			w.Header().Set("Retry-After", retryAfter)
			h.refuse(w, http.StatusServiceUnavailable, *refusal)
		default:
			h.refuse(w, http.StatusNotFound, wire.Refusal{Reason: wire.ReasonCode, Message: "no room has this code"})
		}
		return nil
	}
	view, _ := a.views.get()
	if view.Badges[room.DigestOf(bearer(r))].Organiser { // who must not wait for what others at the address ask
		return a
	}
	switch {
	case on == nil && h.isTooMuch(w, h.asks, h.asker(r)):
		return nil
	case on != nil && on.Hurried:
		w.Header().Set("Retry-After", "1")
		h.refuse(w, http.StatusTooManyRequests, *busy())
		return nil
	}
	return a
}

// codeHeader and keyHeader are where a page's request says its room, and shows the link
// key: not in its URL, which proxies log. In the place of the code stands codeInHeader.
const (
	codeHeader, keyHeader = "Muster-Code", "Muster-Key"
	codeInHeader          = "-"
)

// shown is what a request shows: the link key, and who asks.
func shown(r *http.Request) []string { return []string{r.Header.Get(keyHeader), bearer(r)} }

// bearer is the credential of whoever asks.
func bearer(r *http.Request) string {
	credential, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return credential
}

// retryAfter is when whoever was refused for others' wrong codes may come back, in
// seconds.
const retryAfter = "5"

func busy() *wire.Refusal {
	return &wire.Refusal{Reason: wire.ReasonBusy, Message: "too much is asked at once", Hint: "wait a second"}
}

// isTooMuch reports whether an address has to wait, and says so.
func (h *Host) isTooMuch(w http.ResponseWriter, pace *access.Pace, from netip.Addr) bool {
	wait := pace.Wait(from, time.Now())
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		h.refuse(w, http.StatusTooManyRequests, *busy())
	}
	return wait > 0
}

func (h *Host) refuse(w http.ResponseWriter, status int, refusal wire.Refusal) {
	h.metrics.Refused(refusal.Reason)
	answer(w, status, refusal)
}

func answer(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(document) // fails only if the client is gone
}

// serveQR draws the room's link for phones.
func (h *Host) serveQR(w http.ResponseWriter, r *http.Request) {
	a := h.addressed(w, r, r.PathValue("code"))
	if a == nil {
		return
	}
	code, err := qr.Encode(h.entrance(r).link(a.keys), qr.M)
	if err != nil {
		http.Error(w, "the link is too long for a QR code", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Cache-Control", "no-store")
	const margin = 2 // modules; dark on light whatever the page's colours: phones want that
	side := code.Size + 2*margin
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges"><rect width="100%%" height="100%%" fill="#fff"/><path fill="#000" d="`, side, side)
	for y := range code.Size {
		for x := range code.Size {
			if code.Black(x, y) {
				fmt.Fprintf(w, "M%d %dh1v1h-1z", x+margin, y+margin)
			}
		}
	}
	io.WriteString(w, `"/></svg>`)
}
