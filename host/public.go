package host

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"time"

	"muster/host/access"
	"muster/host/openers"
	"muster/host/public"
	"muster/host/wire"
)

// SetLimits changes what strangers may on a public host that runs. Rooms beyond a new limit
// stay as they are. See [public.Limits.Changed].
func (h *Host) SetLimits(to public.Limits) { h.limits.Store(h.limits.Load().Changed(to)) }

// servePublic adds what a host for everybody answers:
//
//	GET  /api/service   what rooms can be opened here
//	POST /api/rooms     opens one
//	GET  /go/ID         takes a browser to the room's game server
func (h *Host) servePublic(mux *http.ServeMux) {
	if h.config.Public == nil {
		return
	}
	mux.HandleFunc("GET /api/service", h.serveService)
	mux.HandleFunc("POST /api/rooms", h.serveOpening)
	mux.HandleFunc("GET /go/{id}", h.serveGo)
}

// serveService says what rooms can be opened, for the page and for programs.
func (h *Host) serveService(w http.ResponseWriter, _ *http.Request) {
	p := h.limits.Load()
	answer(w, http.StatusOK, struct {
		Format     string        `json:"format"`
		Version    string        `json:"version"`
		Commit     string        `json:"commit,omitempty"`
		Date       time.Time     `json:"date,omitzero"`
		Games      []public.Game `json:"games"`
		MaxPlayers int           `json:"max_players"`
		MaxServers int           `json:"max_servers"`
	}{"muster.service/1", p.Version, p.Commit, p.Date, p.Games, p.Players, p.Servers})
}

// opened is what whoever opened a room is told. Go is a link that admits nobody, see
// [Host.serveGo].
type opened struct {
	Code          string `json:"code"`
	Link          string `json:"link"`
	OrganiserLink string `json:"organiser_link"`
	Go            string `json:"go"`
}

// serveOpening opens a room: POST /api/rooms with settings by their names in
// [wire.Table], max_rtt_ms for the limits, password, and servers for an own list.
//
//	{"game":"openarena","by":"mean","max_rtt_ms":[150],"players":4,"servers":["1.2.3.4:27960"]}
func (h *Host) serveOpening(w http.ResponseWriter, r *http.Request) {
	p, from := h.limits.Load(), access.Subscriber(h.asker(r))
	if h.isTooMuch(w, h.asks, from) {
		return
	}
	body, err := readOpening(w, r, p.LongestOpening())
	var settings wire.Settings
	if err == nil {
		settings, err = p.Settings(body, from)
	}
	var refusal *wire.Refusal
	switch {
	case errors.As(err, &refusal):
		h.refuse(w, http.StatusBadRequest, *refusal)
		return
	case err != nil:
		h.refuse(w, http.StatusBadRequest, wire.Refusal{Reason: wire.ReasonMalformed, Message: err.Error()})
		return
	}
	if h.keeper.unkept() != "" {
		h.refuseUnkept(w)
		return
	}
	about := openers.Opening{From: from, Stays: settings.Every != ""}
	if about.Stays && p.Standing.Rooms == 0 {
		h.refuse(w, http.StatusServiceUnavailable, *errNoneStay)
		return
	}
	if tooMany := h.counting.ask(r.Context(), about); tooMany != nil { // before all rooms are looked at
		if tooMany.Wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(tooMany.Wait.Seconds())+1))
		}
		h.refuse(w, http.StatusTooManyRequests, tooMany.Refusal)
		return
	}
	if _, asleep := h.rooms.standing(); h.rooms.count()-asleep >= p.Rooms {
		w.Header().Set("Retry-After", "60")
		h.refuse(w, http.StatusServiceUnavailable, wire.Refusal{Reason: wire.ReasonFull, Message: fmt.Sprintf("all %d rooms of this service are taken", p.Rooms), Hint: "try again in a while, or open the room on your own computer: muster host --game " + settings.Game})
		return
	}
	if settings.Every != "" {
		done, why := h.rooms.mayStay(p)
		if why != nil {
			h.refuse(w, http.StatusServiceUnavailable, *why)
			return
		}
		defer done()
	}
	if settings.Webhook != "" && h.config.Announce == nil {
		h.refuse(w, http.StatusBadRequest, wire.Refusal{Reason: wire.ReasonMalformed, Message: "this host posts for nobody: its operator has not allowed it", Hint: "leave the webhook out, or open the room on your own computer"})
		return
	}
	code, _, err := h.rooms.open(from, settings)
	if err != nil {
		h.config.Logger.Debug("no room opened", "error", err) // what is wrong with the store stands in the log already
		h.refuseUnkept(w)
		return
	}
	about.Code = code
	h.counting.ask(r.Context(), about)
	h.metrics.Opened.Inc()
	keys, at := h.Keys(code), h.entrance(r)
	w.Header().Set("Location", "/api/rooms/-") // the code is for no proxy's log
	answer(w, http.StatusCreated, opened{
		Code: code, Link: at.link(keys), OrganiserLink: at.personal(keys), Go: at.page("go/" + access.PublicID(keys.Link)),
	})
}

// refuseUnkept tells whoever wants to open a room that none can be kept.
func (h *Host) refuseUnkept(w http.ResponseWriter) {
	w.Header().Set("Retry-After", retryAfter)
	h.refuse(w, http.StatusServiceUnavailable, wire.Refusal{Reason: wire.ReasonBusy, Message: "no room can be kept here now", Hint: "try again in some seconds"})
}

// readOpening reads the body of an opening. It must say that it is JSON: browsers let
// no stranger's page send that.
func readOpening(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return nil, &wire.Refusal{Reason: wire.ReasonMalformed, Message: "a room is opened with application/json", Hint: `say Content-Type: application/json, and such as {"game":"openarena","players":4}`}
	}
	body, err := readBody(w, r, most)
	var tooLong *http.MaxBytesError
	if errors.As(err, &tooLong) {
		return nil, &wire.Refusal{Reason: wire.ReasonMalformed, Message: fmt.Sprintf("what is said of the room is longer than %d bytes", most), Hint: "shorten the list of servers"}
	}
	return body, err
}

// serveReady says whether to send people here: GET /readyz. A host that drains, or cannot
// keep what rooms do, is alive, and not ready.
func (h *Host) serveReady(w http.ResponseWriter, _ *http.Request) {
	switch why := h.keeper.unkept(); {
	case h.rooms.isClosed():
		http.Error(w, "draining", http.StatusServiceUnavailable)
	case why != "":
		http.Error(w, why, http.StatusServiceUnavailable)
	default:
		w.Write([]byte("ready\n"))
	}
}
