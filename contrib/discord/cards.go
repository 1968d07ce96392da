package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"muster-discord/internal/discord"
)

const (
	// editFor is how long a card is kept up to date after a command or a press. Discord takes edits for 15 minutes.
	editFor = 14*time.Minute + 30*time.Second
	// pollEvery is how often a card's room is looked at. A card changes at most so often.
	pollEvery = 3 * time.Second
	// maxWatched bounds the cards that are kept up to date at once. Others still have their button.
	maxWatched = 500
	// editWithin is how long an edit may take.
	editWithin = 10 * time.Second
)

// cards edits cards by the tokens of interactions. A token stands in a URL, so that no error that names the URL may
// get into the log.
type cards struct {
	api, application string
	log              *slog.Logger

	mu      sync.Mutex // guards watched
	watched map[string]*watch
}

// watch keeps one card up to date.
type watch struct {
	end context.CancelFunc
	// secret is the organiser's, empty if it is unknown.
	secret string
}

// watch keeps the card of a room up to date, in place of an earlier card of that room. secret is the organiser's, empty
// if it is unknown.
func (h *handler) watch(in discord.Interaction, ref discord.Ref, secret string, shown discord.Message) {
	ctx, cancel := context.WithTimeout(h.ctx, editFor)
	w := &watch{cancel, secret}
	if !h.cards.begin(ref.Code, w) {
		cancel()
		return
	}
	h.work.Go(func() {
		defer cancel()
		defer h.cards.finish(ref.Code, w)
		ticker := time.NewTicker(h.poll)
		defer ticker.Stop()
		for over := discord.OverCard(discord.LanguageOf(ref.Language)); !shown.Equal(over); {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			card, err := h.card(ctx, ref, w.secret)
			if err != nil || card.Equal(shown) {
				continue
			}
			switch wait, err := h.cards.edit(ctx, http.MethodPatch, in.Token, "/messages/@original", card); {
			case errors.Is(err, errGone):
				return
			case err != nil:
				pause(ctx, wait)
			default:
				shown = card
			}
		}
	})
}

// pause waits as long as Discord wants.
func pause(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// begin reports whether a room's card is watched from now on. It ends an earlier watch of the room.
func (c *cards) begin(room string, w *watch) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if earlier, is := c.watched[room]; is {
		earlier.end()
		w.secret = cmp.Or(w.secret, earlier.secret)
	} else if len(c.watched) >= maxWatched {
		return false
	}
	c.watched[room] = w
	return true
}

// finish forgets a watch, unless another has taken its place.
func (c *cards) finish(room string, w *watch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watched[room] == w {
		delete(c.watched, room)
	}
}

// follow gives the answer to an interaction that took long.
func (c *cards) follow(ctx context.Context, in discord.Interaction, r discord.Response) {
	m, replaces, ok := r.Message()
	if !ok {
		return
	}
	method, path := http.MethodPatch, "/messages/@original"
	if in.Kind == discord.Press && !replaces {
		method, path = http.MethodPost, ""
	}
	c.edit(ctx, method, in.Token, path, m) // there is nobody else to tell
}

var (
	errGone     = errors.New("the card is gone, or too old")
	errNotTaken = errors.New("a card was not taken")
)

// edit sends a message, and returns how long to wait if Discord did not take it.
func (c *cards) edit(ctx context.Context, method, token, path string, m discord.Message) (wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, editWithin)
	defer cancel()
	body, err := json.Marshal(m)
	if err != nil {
		return 0, err
	}
	status, header, err := send(ctx, method, c.api+"/webhooks/"+url.PathEscape(c.application)+"/"+url.PathEscape(token)+path, "", body, nil)
	switch {
	case err != nil:
		c.log.Debug("a card in Discord was not updated", "why", err)
		return pollEvery, err
	case status == http.StatusNotFound || status == http.StatusUnauthorized || status == http.StatusForbidden:
		return 0, errGone
	case status >= http.StatusBadRequest:
		c.log.Debug("a card in Discord was not updated", "status", status)
		seconds, _ := time.ParseDuration(header.Get("Retry-After") + "s")
		return max(pollEvery, min(seconds, time.Minute)), errNotTaken
	}
	return 0, nil
}

// maxAnswer bounds what is read of Discord's answers, in bytes.
const maxAnswer = 1 << 20

// send sends a request to Discord. Its errors do not name the URL. into takes the beginning of the answer, if it is not
// nil.
func send(
	ctx context.Context, method, at, authorization string, body []byte, into *bytes.Buffer,
) (status int, header http.Header, err error) {
	request, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return 0, nil, errors.New("the URL of Discord's API makes no sense")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", userAgent)
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	answer, err := client.Do(request)
	if err != nil {
		var about *url.Error
		if errors.As(err, &about) {
			err = about.Err
		}
		return 0, nil, err
	}
	defer answer.Body.Close()
	if into == nil {
		into = &bytes.Buffer{}
	}
	_, err = io.Copy(into, io.LimitReader(answer.Body, maxAnswer))
	return answer.StatusCode, answer.Header, err
}

// userAgent is what Discord wants of programs.
const userAgent = "DiscordBot (muster-discord, 1)"

// client follows no redirects, which could take a token elsewhere. Many cards are kept up to date at once, by
// connections that stay.
var client = func() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 32
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}()
