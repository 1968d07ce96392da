// Package interactions answers Discord's requests. It checks them, and asks the host as any other program asks it: by
// HTTP, but inside this process. It also keeps cards up to date while Discord allows it.
//
//	Discord ─ POST /discord ─▶ Handler ─ POST /api/rooms, GET /api/rooms/- ─▶ the host's own handler
//	   ▲                          │
//	   └── PATCH the card ────────┘ for 15 minutes after each command or press
//
// So rooms from Discord have the limits of all others, and a room may be on another host of the cluster. There is no
// connection to Discord's gateway, and no bot's token.
package interactions

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"muster/internal/discord"
)

const (
	// answerWithin is how long an answer may take before Discord is told that it follows. Discord waits for three
	// seconds, and the network needs a part of them.
	answerWithin = 2 * time.Second
	// workFor bounds the work for one interaction.
	workFor = 30 * time.Second
	// complainEvery is how often the log says that signed requests are refused.
	complainEvery = time.Minute
)

// Settings are what the handler needs.
type Settings struct {
	discord.Config
	// Public is where people reach the host.
	Public *url.URL
	// Search returns the games that a text may mean, the nearest first. It knows only games whose rooms strangers can
	// open. An empty text may mean any.
	Search func(text string) []discord.Game
	// Name returns a game's name by its id.
	Name func(game string) string
	// PerUser is how many rooms a person may have. A guild's people may open more, see guilds.
	PerUser int
	Log     *slog.Logger
	// Poll is how often the room of a card is looked at, 0 for the usual.
	Poll time.Duration
}

// Handler serves the endpoint that an operator gives to Discord.
type Handler struct {
	Settings
	verifier *discord.Verifier
	rooms    rooms
	guilds   *guilds
	book     book
	cards    cards

	mu         sync.Mutex // guards complained
	complained time.Time

	work sync.WaitGroup
	ctx  context.Context
	end  context.CancelFunc
}

// New returns a handler. Call Use before it serves.
func New(s Settings) *Handler {
	h := &Handler{Settings: s, verifier: discord.NewVerifier(s.PublicKey)}
	h.guilds = newGuilds(s.PerUser)
	h.ctx, h.end = context.WithCancel(context.Background())
	h.cards = cards{api: s.API, application: s.Application, log: s.Log, watched: map[string]*watch{}}
	return h
}

// Use sets the host whose rooms the handler opens and shows.
func (h *Handler) Use(host http.Handler) { h.rooms = rooms{host, h.Public} }

// Close ends all work, and waits for that.
func (h *Handler) Close() {
	h.end()
	h.work.Wait()
}

// ServeHTTP answers one interaction. Discord demands a 401 for a forged request. So every request that fails a check
// gets one.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, discord.MaxBody))
	if err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if err := h.verify(r.Header, body); err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	in, err := discord.Parse(body)
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	case in.Kind == discord.Ping:
		reply(w, discord.Pong())
	case in.Application != h.Application:
		w.WriteHeader(http.StatusUnauthorized)
	case in.Kind == discord.Complete:
		reply(w, discord.Choose(h.Search(in.Options[in.Focused])))
	default:
		reply(w, h.answer(in))
	}
}

// verify checks a request, and complains about those that Discord signed and that are refused.
func (h *Handler) verify(header http.Header, body []byte) error {
	now := time.Now()
	err := h.verifier.Verify(header.Get("X-Signature-Ed25519"), header.Get("X-Signature-Timestamp"), body, now)
	if err == nil || errors.Is(err, discord.ErrForged) {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if now.Sub(h.complained).Abs() > complainEvery {
		h.complained = now
		h.Log.Warn("a request of Discord's is refused", "why", err)
	}
	return err
}

// answer does what a person asks for. If that takes long, the answer follows later.
func (h *Handler) answer(in discord.Interaction) discord.Response {
	done := make(chan discord.Response, 1)
	h.work.Go(func() {
		ctx, cancel := context.WithTimeout(h.ctx, workFor)
		defer cancel()
		done <- h.do(ctx, in)
	})
	late := time.NewTimer(answerWithin)
	defer late.Stop()
	select {
	case r := <-done:
		return r
	case <-late.C:
	}
	h.work.Go(func() { h.cards.follow(h.ctx, in, <-done) })
	return in.Later()
}

func reply(w http.ResponseWriter, r discord.Response) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	json.NewEncoder(w).Encode(r) // fails only if Discord is gone
}
