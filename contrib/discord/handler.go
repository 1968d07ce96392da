package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"muster-discord/internal/discord"
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

// handler serves the endpoint that an operator gives to Discord.
type handler struct {
	config   discord.Config
	host     host
	log      *slog.Logger
	verifier *discord.Verifier
	guilds   pace
	book     book
	cards    cards
	// poll is how often the room of a card is looked at.
	poll time.Duration

	mu         sync.Mutex // guards complained
	complained time.Time

	work sync.WaitGroup
	ctx  context.Context
	end  context.CancelFunc
}

// newHandler returns a handler. Call finish at its end.
func newHandler(c discord.Config, log *slog.Logger) *handler {
	h := &handler{
		config: c, host: host{c.Host, c.Key}, log: log, verifier: discord.NewVerifier(c.PublicKey), poll: pollEvery,
		guilds: pace{atOnce: roomsOfGuild, every: guildEvery},
		cards:  cards{api: c.API, application: c.Application, log: log, watched: map[string]*watch{}},
	}
	h.ctx, h.end = context.WithCancel(context.Background())
	return h
}

// finish ends all work, and waits for that.
func (h *handler) finish() {
	h.end()
	h.work.Wait()
}

// ServeHTTP answers one interaction. Discord demands a 401 for a forged request. So every request
// that fails a check gets a 401.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	case in.Application != h.config.Application:
		w.WriteHeader(http.StatusUnauthorized)
	default:
		reply(w, h.answer(in))
	}
}

// verify checks a request. It complains about one that is refused although Discord signed it.
func (h *handler) verify(header http.Header, body []byte) error {
	now := time.Now()
	err := h.verifier.Verify(header.Get("X-Signature-Ed25519"), header.Get("X-Signature-Timestamp"), body, now)
	if err == nil || errors.Is(err, discord.ErrForged) {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if now.Sub(h.complained).Abs() > complainEvery {
		h.complained = now
		h.log.Warn("a request of Discord's is refused", "why", err)
	}
	return err
}

// answer does what a person asks for. If that takes long, the answer follows later.
func (h *handler) answer(in discord.Interaction) discord.Response {
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
