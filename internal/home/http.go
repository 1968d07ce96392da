package home

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/discovery/hostport"
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
//	GET  /api/games, /api/computer, /api/settings, /api/standing, /api/steam-key
//	POST /api/…           what people want, see the handlers below
func (h *Home) Handler() http.Handler {
	mux := http.NewServeMux()
	errands := errands{run: h.config.Command, language: &h.language, steamKey: h.config.SteamKey, listsChanged: func() { h.change(h.look) }}
	mux.Handle("GET /", h.config.Page)
	mux.HandleFunc("GET /live", h.serveLive)
	mux.HandleFunc("GET /room", h.serveRoom)
	mux.HandleFunc("GET /api/games", reads(func(context.Context) (any, error) { return h.config.Games() }))
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
	mux.HandleFunc("POST /api/find", takes(h.takeFind))
	mux.HandleFunc("POST /api/stop", takes(h.takeStop))
	mux.HandleFunc("POST /api/join", takes(h.takeJoin))
	mux.HandleFunc("POST /api/host", takes(h.takeHost))
	mux.HandleFunc("POST /api/again", takes(h.takeAgain))
	mux.HandleFunc("POST /api/connect", takes(h.takeConnect))
	mux.HandleFunc("POST /api/watch", takes(h.takeWatch))
	mux.HandleFunc("POST /api/beacon", takes(h.takeBeacon))
	mux.HandleFunc("POST /api/players", takesPlayers(h.config.Players))
	mux.HandleFunc("POST /api/keep", takes(h.takeKeep))
	mux.HandleFunc("POST /api/import", takes(errands.takeImport))
	mux.HandleFunc("POST /api/export", takes(errands.export))
	mux.HandleFunc("POST /api/answer", takes(h.questions.takeAnswer))
	mux.HandleFunc("POST /api/settings", takes(h.takeSettings))
	mux.HandleFunc("POST /api/steam-key", takes(errands.takeSteamKey))
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
			h.language.note(tagOf(r))
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
	wake := make(chan struct{}, 1)
	h.audience.enrol(wake, false)
	defer h.audience.leave(wake)
	switch link, trouble := h.awaitRoom(ctx, after, wake); {
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
// none. wake is enrolled in the audience.
func (h *Home) awaitRoom(ctx context.Context, after int, wake <-chan struct{}) (link string, trouble []sentence.Sentence) {
	for {
		h.mu.Lock()
		id, link, running, trouble := h.state.Room.ID, h.link, h.state.Room.Running, h.state.Room.Error
		h.mu.Unlock()
		switch {
		case id <= after:
		case link != "" && running:
			return link, nil
		case !running && trouble != nil:
			return "", trouble
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return "", nil
		case <-h.ctx.Done():
			return "", nil
		}
	}
}

// reads returns a handler that answers with a document.
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

// file writes a list to a temporary file for a command. clean removes the file when the command
// ends.
func file(text string) (name string, clean func(), err error) {
	if strings.TrimSpace(text) == "" {
		return "", func() {}, nil
	}
	f, err := os.CreateTemp("", "muster-servers-*.txt")
	if err != nil {
		return "", nil, err
	}
	_, err = f.WriteString(text + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", nil, err
	}
	return f.Name(), func() { os.Remove(f.Name()) }, nil
}

// begun starts a command that reads a list from a file.
func begun(list string, args func(file string) ([]string, error), start func(args []string, clean func())) (any, error) {
	name, clean, err := file(list)
	if err != nil {
		return nil, err
	}
	line, err := args(name)
	if err != nil {
		clean()
		return nil, err
	}
	start(line, clean)
	return nil, nil
}

func (h *Home) takeFind(_ context.Context, request findRequest) (any, error) {
	return begun(request.Servers, request.args, func(args []string, clean func()) { h.find(request.Game, args, clean) })
}

func (h *Home) takeStop(_ context.Context, what string) (any, error) {
	if what == "night" {
		h.endSession()
		return nil, nil
	}
	for name, of := range map[string]*task{"find": &h.finder, "room": &h.room, "go": &h.goer, "watch": &h.watcher, "beacon": &h.shiner} {
		if name == what {
			h.stop(of)
			return nil, nil
		}
	}
	return nil, hint.Say("home.nothing-to-stop")
}

func (h *Home) takeJoin(ctx context.Context, request joinRequest) (any, error) {
	link, game := request.Link, ""
	if request.Room != "" {
		room, is := h.near.find(request.Room)
		if !is {
			return nil, hint.Say("home.not-announced")
		}
		var err error
		if link, err = h.config.Way(ctx, room); err != nil {
			return nil, err
		}
		game = room.Game
	}
	at, launch := h.granted()
	args, err := request.args(link, at, launch)
	if err != nil {
		return nil, err
	}
	regions, clean, err := dumped(request.Regions, h.config.CheckDump)
	if err != nil {
		return nil, err
	}
	h.play("join", game, slices.Insert(args, 1, regions...), clean)
	return nil, nil
}

// dumped returns the flag for what a game printed about its regions, or none. clean removes the
// flag's file when the command ends.
func dumped(dump string, check func(string) error) (flags []string, clean func(), err error) {
	if check != nil && strings.TrimSpace(dump) != "" && check(dump) != nil {
		return nil, nil, hint.Say("home.regions-wrong")
	}
	name, clean, err := file(dump)
	if name != "" {
		flags = []string{"--regions=" + name}
	}
	return flags, clean, err
}

// granted returns two settings of config.toml: the public host, and who starts games.
func (h *Home) granted() (at, launch string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state.At, h.state.Launch
}

func (h *Home) takeHost(_ context.Context, request hostRequest) (any, error) {
	_, launch := h.granted()
	regions, forgetRegions, err := dumped(request.Regions, h.config.CheckDump)
	if err != nil {
		return nil, err
	}
	places, forgetPlaces, err := file(request.Places)
	if err != nil {
		forgetRegions()
		return nil, err
	}
	forget := func() { forgetRegions(); forgetPlaces() }
	document, err := begun(request.Servers, func(file string) ([]string, error) {
		args, err := request.args(file, freeListen(), launch, h.config.Rooms == nil)
		if places != "" {
			args = append(args, "--places="+places)
		}
		return append(args, regions...), err
	}, func(args []string, clean func()) {
		h.play("host", request.Game, args, func() { clean(); forget() })
	})
	if err != nil {
		forget()
	}
	return document, err
}

func (h *Home) takeConnect(_ context.Context, request goRequest) (any, error) {
	if err := request.check(); err != nil {
		return nil, err
	}
	return begun(request.Addr, func(file string) ([]string, error) {
		return request.args(file, false), nil
	}, func(args []string, clean func()) {
		h.connect(request.Game, request.Addr, args, clean)
	})
}

func (h *Home) takeWatch(_ context.Context, request goRequest) (any, error) {
	if err := request.check(); err != nil {
		return nil, err
	}
	return begun(request.Addr, func(file string) ([]string, error) {
		return request.args(file, true), nil
	}, func(args []string, clean func()) {
		h.watch(request.Game, request.Addr, request.Name, request.Goes, args, clean)
	})
}

func (h *Home) takeBeacon(_ context.Context, request beaconRequest) (any, error) {
	args, err := request.args()
	if err != nil {
		return nil, err
	}
	h.shine(args)
	return nil, nil
}

// takesPlayers returns a handler that asks a server who plays there.
func takesPlayers(ask func(context.Context, string, netip.AddrPort) ([]Player, error)) http.HandlerFunc {
	return takes(func(ctx context.Context, request goRequest) (any, error) {
		if err := request.check(); err != nil {
			return nil, err
		}
		at, err := hostport.Parse(request.Addr)
		if err != nil {
			return nil, err
		}
		return ask(ctx, request.Game, at)
	})
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
