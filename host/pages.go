package host

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"rsc.io/qr"

	"muster/discovery"
	"muster/host/access"
	"muster/host/lists"
	"muster/host/public"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/recipe"
	"muster/selection"
)

// pageAPI answers requests of pages and programs about a room.
type pageAPI struct {
	*site
	*door
	replies
	asks   *access.Pace // limits requests about rooms, by address
	limits *atomic.Pointer[public.Limits]
	lists  *lists.Lists
	// counting counts rooms by their openers.
	counting *counting
	// form describes the settings that people may set in a room.
	form wire.Form
	// games, name, editions, renewed and join come from [Config]. posts says that the host posts to
	// webhooks.
	games    []wire.Game
	name     func(game string) string
	editions func(version string) map[string]discovery.Edition
	renewed  func(code, secret string)
	join     func(game string, way wire.Way) wire.Way
	posts    bool
	// places are for rooms that look for a place and name none.
	places wire.Venues
}

// form returns what people may set in the host's rooms.
func (h *Host) form() wire.Form {
	players := wire.MaxPlayers
	if p := h.config.Public; p != nil && p.Players > 0 {
		players = p.Players
	}
	return wire.FormOf(players, h.config.Public != nil, h.config.Announce != nil)
}

// serveForm says what people may set in a room, for pages that open one and for programs.
func (p *pageAPI) serveForm(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, p.form)
}

// serveRoom shows the room. Its message is in the caller's language.
func (p *pageAPI) serveRoom(w http.ResponseWriter, r *http.Request) {
	a := p.addressed(w, r, r.PathValue("code"))
	if a == nil {
		return
	}
	room, l := a.newest().Document(), languageOf(w)
	room.Message = l.Capital(l.Say(headline(room)))
	if p.isPublic {
		room.Go = p.entrance(r).page("go/" + access.PublicID(a.keys.Link))
	}
	answer(w, http.StatusOK, room)
}

// addressed returns the room with a code. If there is no such room, it answers the caller and
// returns nil.
func (p *pageAPI) addressed(w http.ResponseWriter, r *http.Request, code string) *actor {
	if code == codeInHeader {
		code = r.Header.Get(codeHeader)
	}
	on := relayedCallerOf(r)
	a, refusal := p.named(claim{code, credentialsOf(r), p.asker(r), on})
	if refusal != nil {
		if on != nil {
			w.Header().Set(refusedHeader, refusal.Reason)
		}
		switch refusal.Reason {
		case wire.ReasonLimited:
			w.Header().Set("Retry-After", retryAfter)
			p.refuse(w, http.StatusTooManyRequests, *refusal)
		case wire.ReasonClosed:
			p.refuse(w, http.StatusGone, *refusal)
		case wire.ReasonBusy, wire.ReasonMoved:
			w.Header().Set("Retry-After", retryAfter)
			p.refuse(w, http.StatusServiceUnavailable, *refusal)
		default:
			p.refuse(w, http.StatusNotFound, *wire.Refuse(wire.ReasonCode, "refused.code-unknown"))
		}
		return nil
	}
	view, _ := a.views.get()
	if view.Badges[room.DigestOf(bearer(r))].Organiser { // others at the same address must not delay the organiser
		return a
	}
	switch {
	case on == nil && p.isTooMuch(w, p.asks, p.asker(r)):
		return nil
	case on != nil && on.Hurried:
		w.Header().Set("Retry-After", "1")
		p.refuse(w, http.StatusTooManyRequests, *busy())
		return nil
	}
	return a
}

// serveCulled lists the servers that were culled for one cause. It does not ask the room's
// goroutine, because the list takes long to compute, and anyone with the code may request it.
func (p *pageAPI) serveCulled(w http.ResponseWriter, r *http.Request) {
	a := p.addressed(w, r, r.PathValue("code"))
	if a == nil {
		return
	}
	var cause selection.Cause
	if cause.UnmarshalText([]byte(r.PathValue("cause"))) != nil {
		http.NotFound(w, r)
		return
	}
	view, _ := a.views.get()
	if view.Culled != nil {
		if list, some := view.Culled()[cause]; some {
			answer(w, http.StatusOK, list)
			return
		}
	}
	answer(w, http.StatusOK, wire.CulledServers{Cause: cause.String(), Servers: []wire.CulledServer{}})
}

// serveHistory serves a standing room's history to its members: GET /api/rooms/CODE/evenings, as
// JSON or, with ?format=csv, as a table. A caller who only has the code or the link does not learn
// who plays when.
func (p *pageAPI) serveHistory(w http.ResponseWriter, r *http.Request) {
	a := p.addressed(w, r, r.PathValue("code"))
	if a == nil {
		return
	}
	view, _ := a.views.get()
	if by := view.Badges[room.DigestOf(bearer(r))]; !by.Belongs && !by.Organiser {
		p.refuse(w, http.StatusForbidden, *wire.Refuse(wire.ReasonSecret, "refused.history").
			Advising("refused.history-hint"))
		return
	}
	history, here := ask(a, func() wire.History { return a.room.History() })
	if !here {
		p.refuse(w, http.StatusServiceUnavailable, *a.tooLate())
		return
	}
	if r.URL.Query().Get("format") != "csv" {
		answer(w, http.StatusOK, history)
		return
	}
	download(w, "text/csv; charset=utf-8", "evenings.csv")
	history.CSV(w) // fails only if the client is gone
}

// serveQR draws a QR code with the room's link for phones.
func (p *pageAPI) serveQR(w http.ResponseWriter, r *http.Request) {
	a := p.addressed(w, r, r.PathValue("code"))
	if a == nil {
		return
	}
	code, err := qr.Encode(p.entrance(r).link(a.keys), qr.M)
	if err != nil {
		http.Error(w, "the link is too long for a QR code", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Cache-Control", "no-store")
	const margin = 4 // in modules, as the standard has it. Phones need dark on light, whatever the page's colours
	side := code.Size + 2*margin
	const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges">` +
		`<rect width="100%%" height="100%%" fill="#fff"/><path fill="#000" d="`
	fmt.Fprintf(w, head, side, side)
	for y := range code.Size {
		for x, run := 0, 0; x <= code.Size; x++ {
			if code.Black(x, y) { // false beyond the code, which ends the row's last run
				run++
			} else if run > 0 {
				fmt.Fprintf(w, "M%d %dh%dv1h-%dz", x-run+margin, y+margin, run, run)
				run = 0
			}
		}
	}
	io.WriteString(w, `"/></svg>`)
}

// serveRecipe says how a game's own server is started. Each copy of the program has the same recipes, so that browsers
// and proxies may keep them for a while.
func serveRecipe(w http.ResponseWriter, r *http.Request) {
	of, found := recipe.Of(r.PathValue("game"))
	if !found {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "public, max-age=3600")
	json.NewEncoder(w).Encode(of) // fails only if the client is gone
}
