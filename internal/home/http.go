package home

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"muster/discovery/hostport"
	"muster/discovery/lists/lan"
	"muster/discovery/sentence"
	"muster/internal/favourites"
	"muster/internal/hint"
)

const (
	// maxSaid is the size limit of a request, in bytes: a list of servers.
	maxSaid = 4 << 20
	// roomWait is how long a new tab waits for the room's page.
	roomWait = 30 * time.Second
)

// Handler serves Home:
//
//	GET  /open/TICKET, /?key=SECRET   let the browser in
//	GET  /                the page
//	GET  /room?after=ID   the player's own page in the room that comes after that one
//	GET  /live            the WebSocket: state and servers
//	GET  /api/games, /api/form, /api/computer, /api/settings, /api/standing, /api/steam-key
//	POST /api/…           what people want, see the handlers below
func (h *Home) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", h.config.Page)
	mux.HandleFunc("GET /live", h.serveLive)
	mux.HandleFunc("GET /room", h.serveRoom)
	mux.HandleFunc("GET /api/games", reads(func(context.Context) (any, error) { return h.config.Games() }))
	mux.HandleFunc("GET /api/form", reads(func(context.Context) (any, error) { return h.config.Form, nil }))
	mux.HandleFunc("GET /api/computer", reads(h.config.Computer))
	mux.HandleFunc("GET /api/settings", reads(func(context.Context) (any, error) { return h.config.Settings() }))
	mux.HandleFunc("GET /api/standing", reads(func(context.Context) (any, error) { return sorted(h.config.Standing) }))
	mux.HandleFunc("GET /api/steam-key", reads(func(context.Context) (any, error) { return h.config.SteamKey(), nil }))
	mux.HandleFunc("POST /api/ticket", takes(func(_ context.Context, _ struct{}) (any, error) { return h.Ticket(), nil }))
	mux.HandleFunc("POST /api/invite", takes(func(_ context.Context, i Invitation) (any, error) {
		h.Invite(i)
		return nil, nil
	}))
	mux.HandleFunc("POST /api/invited", takes(h.takeInvited))
	mux.HandleFunc("POST /api/find", begins(h.find))
	mux.HandleFunc("POST /api/stop", takes(h.takeStop))
	mux.HandleFunc("POST /api/join", takes(h.takeJoin))
	mux.HandleFunc("POST /api/host", begins(h.open))
	mux.HandleFunc("POST /api/again", takes(h.takeAgain))
	mux.HandleFunc("POST /api/connect", begins(h.connect))
	mux.HandleFunc("POST /api/watch", begins(h.watch))
	mux.HandleFunc("POST /api/beacon", begins(h.shine))
	mux.HandleFunc("POST /api/players", takes(h.takePlayers))
	mux.HandleFunc("POST /api/keep", takes(h.takeKeep))
	mux.HandleFunc("POST /api/import", takes(h.takeImport))
	mux.HandleFunc("POST /api/export", takes(h.takeExport))
	mux.HandleFunc("POST /api/answer", takes(h.takeAnswer))
	mux.HandleFunc("POST /api/settings", takes(h.takeSettings))
	mux.HandleFunc("POST /api/steam-key", takes(h.takeSteamKey))
	mux.HandleFunc("POST /api/quit", takes(func(context.Context, struct{}) (any, error) { h.quit(); return nil, nil }))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers(w)
		if h.door.enter(w, r) {
			return
		}
		if refused := h.door.judge(r); refused != nil {
			refused.answer(w, r)
			return
		}
		if r.Method == http.MethodPost && r.Header.Get("Origin") != "" { // a person's page
			h.mu.Lock()
			h.language = tagOf(r)
			h.mu.Unlock()
		}
		mux.ServeHTTP(w, r)
	})
}

// serveRoom redirects a tab to the player's page in the room as soon as there is one. A tab that
// was opened for the next room waits for that room.
func (h *Home) serveRoom(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.Atoi(r.URL.Query().Get("after")) // 0 accepts any room
	ctx, cancel := context.WithTimeout(r.Context(), roomWait)
	defer cancel()
	switch link, trouble := h.awaitRoom(ctx, after); {
	case link != "":
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, inLanguageOf(r, link), http.StatusSeeOther)
	case trouble != nil:
		explain(w, r, append(slices.Clip(trouble), sentence.Of("home.close-tab"))...)
	case h.ctx.Err() == nil:
		explain(w, r, sentence.Of("home.no-room-yet"))
	}
}

// awaitRoom returns the player's page in the room that comes after another one, or why there is
// none.
func (h *Home) awaitRoom(ctx context.Context, after int) (link string, trouble []sentence.Sentence) {
	for {
		h.mu.Lock()
		id, link, running, trouble, changed := h.state.Room.ID, h.link, h.state.Room.Running, h.state.Room.Error, h.changed
		h.mu.Unlock()
		switch {
		case id <= after:
		case link != "" && running:
			return link, nil
		case !running && trouble != nil:
			return "", trouble
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", nil
		case <-h.ctx.Done():
			return "", nil
		}
	}
}

func reads(read func(context.Context) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		document, err := read(r.Context())
		answer(w, document, err)
	}
}

// takes returns a handler that decodes a request, acts on it, and answers with the result.
func takes[W any](take func(context.Context, W) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var request W
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxSaid)).Decode(&request)
		if err != nil && !errors.Is(err, io.EOF) {
			answer(w, nil, hint.Say("home.no-sense", "why", err))
			return
		}
		document, err := take(r.Context(), request)
		answer(w, document, err)
	}
}

func answer(w http.ResponseWriter, document any, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		document = struct {
			Says []sentence.Sentence `json:"says"`
		}{hint.Sentences(err)}
	}
	json.NewEncoder(w).Encode(document) // fails only if the browser is gone
}

func (h *Home) takeStop(_ context.Context, what kind) (any, error) {
	switch {
	case what == "night":
		h.endSession()
	case h.state.task(what) == nil:
		return nil, hint.Say("home.nothing-to-stop")
	default:
		h.stop(what)
	}
	return nil, nil
}

// takeJoin enters the room of a link or a code, or one on the local network.
func (h *Home) takeJoin(ctx context.Context, request Join) (any, error) {
	game := ""
	if request.Near != "" {
		h.mu.Lock()
		at := slices.IndexFunc(h.near, func(f lan.Found) bool { return f.ID == request.Near })
		if at < 0 {
			h.mu.Unlock()
			return nil, hint.Say("home.not-announced")
		}
		room := h.near[at]
		h.mu.Unlock()
		var err error
		if request.Link, err = h.config.Way(ctx, room); err != nil {
			return nil, err
		}
		game = room.Game
	}
	return nil, h.join(request, game, nil)
}

// join enters a room.
func (h *Home) join(request Join, game string, ended func(error)) error {
	request = request.cleaned()
	if err := request.check(); err != nil {
		return err
	}
	h.mu.Lock()
	at := h.state.At
	h.mu.Unlock()
	if at == "" && request.isCode() {
		return hint.Say("home.code-alone")
	}
	h.play("join", game, request, ended)
	return nil
}

func (h *Home) open(request Open) {
	if request.At == "" && request.Listen == "" {
		request.Listen = freeListen()
	}
	h.play("host", request.game(), request, nil)
}

// begins returns a handler that begins what a request asks for, if it can be done.
func begins[W Request](begin func(W)) http.HandlerFunc {
	return takes(func(_ context.Context, request W) (any, error) {
		err := request.check()
		if err == nil {
			begin(request)
		}
		return nil, err
	})
}

func (h *Home) takePlayers(ctx context.Context, request serverRequest) (any, error) {
	if err := request.check(); err != nil {
		return nil, err
	}
	at, err := hostport.Parse(request.Addr)
	if err != nil {
		return nil, err
	}
	return h.config.Players(ctx, request.Game, at)
}

// List names one of the user's lists: the favourites or the hidden servers of a game.
type List struct {
	Game   string `json:"game"`
	Hidden bool   `json:"hidden"`
}

// listRequest imports a text into a list, or exports the list in a form.
type listRequest struct {
	List
	Text   string        `json:"text"`
	Format favourites.As `json:"format"`
}

func (h *Home) takeImport(_ context.Context, request listRequest) (any, error) {
	said, err := h.config.Import(request.List, request.Text)
	if err == nil {
		h.change(h.look)
	}
	return said, err
}

func (h *Home) takeExport(_ context.Context, request listRequest) (any, error) {
	return h.config.Export(request.List, request.Format)
}

// keyRequest sets or removes the key to Steam's Web API.
type keyRequest struct {
	Key    string `json:"key"`
	Forget bool   `json:"forget"`
}

func (h *Home) takeSteamKey(_ context.Context, request keyRequest) (any, error) {
	keep := func() error { return h.config.KeepSteamKey(request.Key) }
	if request.Forget {
		keep = h.config.ForgetSteamKey
	}
	if err := keep(); err != nil {
		return nil, err
	}
	return h.config.SteamKey(), nil
}

// keepRequest adds a server to the favourites or the hidden servers, or removes it.
type keepRequest struct {
	Kind favourites.Kind `json:"kind"`
	Is   bool            `json:"is"`
	favourites.Server
}

func (h *Home) takeKeep(_ context.Context, request keepRequest) (any, error) {
	if request.Kind != favourites.Favourite && request.Kind != favourites.Hidden {
		return nil, hint.Say("favourites.no-kind")
	}
	request.Added = time.Now().UTC().Truncate(time.Second)
	var err error
	h.change(func(s *state) {
		var now favourites.Servers
		now, err = favourites.Read(h.config.Favourites) // another program may have changed it
		if err != nil {
			err = unkept(err)
		}
		if err == nil {
			now, err = now.Set(request.Kind, request.Server, request.Is)
		}
		if err == nil {
			err = now.Write(h.config.Favourites)
		}
		if err == nil {
			s.Favourites = now
		}
	})
	return nil, err
}

func (h *Home) takeSettings(_ context.Context, changes map[string]string) (any, error) {
	if err := h.config.Settle(changes); err != nil {
		return nil, err
	}
	settings, err := h.config.Settings()
	if err == nil {
		h.change(func(s *state) {
			h.look(s)
			s.At = settings["at"]
			if name := settings["name"]; name != "" {
				s.Name = name
			}
		})
	}
	return settings, err
}
