package host

import (
	"net/http"
	"strings"
)

// route is an endpoint of a host. PROTOCOL.md has a row for each.
type route struct {
	method, pattern string
	// who names the permitted callers, and limits the bounds of their calls.
	who, limits string
	purpose     string
	handler     http.HandlerFunc
	// isOfRoom says that a host passes the request on to the host that has the room.
	isOfRoom bool
}

// These say who may call.
const (
	anybody   = "anybody"
	players   = "players' programs, and browsers from the host's own origin"
	pages     = "anybody with the room's code or link"
	belonging = "the organiser, and people who have played in the room"
	ordering  = "people whose credential allows the action"
	opening   = "anybody, on a public host"
	watching  = "programs on the host's machine, and on the networks of --metrics-from"
)

// These say what bounds the calls.
const (
	unbounded  = "nothing"
	byGuesses  = "wrong codes, by address and network"
	byAsking   = byGuesses + "; requests, by address"
	byOpening  = "requests and rooms, by address and network"
	byRequests = "requests, by address"
	bySearches = "searches, by address"
	byHello    = "4 KiB until hello; " + byGuesses
)

// routes returns all endpoints of the host. A route without a handler answers 404.
func (h *Host) routes() []route {
	page := &pageAPI{
		site: h.site, door: h.door, replies: h.replies, asks: h.asks, limits: &h.limits, lists: h.lists, counting: &h.counting,
		form: h.form(), games: h.config.Games, name: h.config.GameName, editions: h.config.Editions, renewed: h.config.Renewed, join: h.config.Join, posts: h.config.Announce != nil,
		places: h.config.Places,
	}
	watchers := operators{h.site, h.rooms, h.config.MetricsFrom}
	var front, get, service, open, lead http.HandlerFunc
	if h.config.Page != nil {
		front = reaching(h.config.Page, h.config.Places.Origins())
	}
	if h.config.Get != nil {
		get = h.fromVisitor(h.config.Get).ServeHTTP
	}
	if h.config.Public != nil {
		s := &strangers{h.site, h.replies, h.asks, &h.limits, h.rooms, &h.counting, h.config.Announce != nil, h.config.Places}
		service, open, lead = s.serveService, s.serveOpening, h.serveGo
	}
	return []route{
		{"GET", "/peer", players, byHello, "the players' WebSocket", unlessClosed(h.rooms, h.servePeer), false},
		{"GET", "/live", pages, byAsking, "the page's WebSocket", unlessClosed(h.rooms, h.serveLive), false},
		{"GET", "/", anybody, unbounded, "the page", front, false},

		{"GET", "/api/rooms/{code}", pages, byAsking, "the room as JSON", page.serveRoom, true},
		{"POST", "/api/rooms/{code}/{action}", ordering, byAsking, "does what people ask of the room", page.serveAction, true},
		{"GET", "/api/rooms/{code}/culled/{cause}", pages, byAsking, "the servers culled for a cause", page.serveCulled, true},
		{"GET", "/api/rooms/{code}/evenings", belonging, byAsking, "a standing room's history", page.serveHistory, true},
		{"GET", "/api/rooms/{code}/matches", pages, byAsking, "the matches that the room has played", page.serveMatches, true},
		{"GET", "/api/rooms/{code}/qr.svg", pages, byAsking, "the room's link for phones", page.serveQR, true},

		{"GET", "/api/form", anybody, unbounded, "what people may set in a room", page.serveForm, false},
		{"GET", "/recipe/{game}", anybody, unbounded, "how a game's own server is started", serveRecipe, false},
		{"GET", "/api/service", opening, bySearches, "what rooms can be opened here", service, false},
		{"POST", "/api/rooms", opening, byOpening, "opens a room", open, false},
		{"GET", "/go/{id}", opening, byRequests, "takes a browser to the room's game server", lead, false},
		{"GET", "/get/", anybody, unbounded, "gives programs", get, false},
		{"POST", "/get/", anybody, unbounded, "gives programs that lead into a room", get, false},

		{"GET", "/api/openapi.yaml", anybody, unbounded, "what programs can ask, as OpenAPI 3.1", described("application/yaml", documentYAML), false},
		{"GET", "/api/openapi.json", anybody, unbounded, "the same as JSON", described("application/json", documentJSON), false},
		{"GET", "/healthz", anybody, unbounded, "tells that the host is alive", watchers.serveHealth, false},
		{"GET", "/readyz", anybody, unbounded, "tells whether the host takes people", watchers.serveReady, false},
		{"GET", "/metrics", watching, unbounded, "figures for Prometheus", watchers.serveMetrics, false},
	}
}

// reaching lets the page itself, and nothing else, ask some other sites: the places that it measures.
func reaching(page http.Handler, origins []string) http.HandlerFunc {
	if len(origins) == 0 {
		return page.ServeHTTP
	}
	connect := "; connect-src 'self' " + strings.Join(origins, " ")
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Content-Security-Policy", w.Header().Get("Content-Security-Policy")+connect)
		}
		page.ServeHTTP(w, r)
	}
}

// unlessClosed answers 503 once the host drains, before anything else is done for the caller. Everybody
// whom the host sends away comes back within a second, and would take the time that their rooms need.
func unlessClosed(rooms *lifecycle, connect http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if rooms.isClosed() {
			w.Header().Set("Connection", "close")
			http.Error(w, "draining", http.StatusServiceUnavailable)
			return
		}
		connect(w, r)
	}
}

func (h *Host) mux() http.Handler {
	mux := http.NewServeMux()
	for _, r := range h.routes() {
		handler := r.handler
		if r.isOfRoom {
			handler = h.passedOn(handler)
		}
		if handler == nil { // without this, the page's route would answer 405 to POST
			handler = http.NotFound
		}
		if strings.HasPrefix(r.pattern, "/api/rooms") {
			handler = inLanguage(handler)
		}
		mux.Handle(r.method+" "+r.pattern, handler)
	}
	return mux
}

// Handler serves the host's endpoints.
func (h *Host) Handler() http.Handler {
	return withSecurityHeaders(oneForwarding(h.ours(h.replies, h.metrics.Answering(h.mux()))))
}
