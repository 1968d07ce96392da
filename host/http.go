package host

import (
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"muster/host/wire"
)

// Handler serves the host's endpoints:
//
//	GET  /                     the page
//	GET  /peer                 the players' WebSocket
//	GET  /api/rooms/CODE       the room as JSON, for who knows its code
//	POST /api/rooms/CODE/go    the organiser's go (Authorization: Bearer SECRET)
//	GET  /healthz, /metrics
func (h *Host) Handler() http.Handler {
	mux := http.NewServeMux()
	if h.config.Page != nil {
		mux.Handle("GET /", h.config.Page)
	}
	mux.HandleFunc("GET /peer", h.servePeer)
	mux.HandleFunc("GET /api/rooms/{code}", h.serveRoom)
	mux.HandleFunc("POST /api/rooms/{code}/go", h.serveGo)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok\n")) })
	mux.Handle("GET /metrics", promhttp.HandlerFor(h.metrics.registry, promhttp.HandlerOpts{}))
	return guarded(mux)
}

// guarded adds the headers that keep hostile text harmless in a browser.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}

func (h *Host) serveRoom(w http.ResponseWriter, r *http.Request) {
	room, ok := h.Room(r.PathValue("code"))
	if !ok {
		h.refuse(w, http.StatusNotFound, wire.Refusal{Reason: wire.ReasonCode, Message: "no room has this code"})
		return
	}
	answer(w, http.StatusOK, room)
}

func (h *Host) serveGo(w http.ResponseWriter, r *http.Request) {
	a := h.actor(CanonicalCode(r.PathValue("code")))
	if a == nil {
		h.refuse(w, http.StatusNotFound, wire.Refusal{Reason: wire.ReasonCode, Message: "no room has this code"})
		return
	}
	secret, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if subtle.ConstantTimeCompare([]byte(secret), []byte(a.secret)) != 1 {
		h.refuse(w, http.StatusForbidden, wire.Refusal{Reason: wire.ReasonSecret, Message: "only the organiser can do this"})
		return
	}
	h.Go(a.code)
	w.WriteHeader(http.StatusNoContent)
}

func (h *Host) refuse(w http.ResponseWriter, status int, refusal wire.Refusal) {
	h.metrics.refusals.WithLabelValues(refusal.Reason).Inc()
	answer(w, status, refusal)
}

func answer(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(document) // fails only if the client is gone
}
