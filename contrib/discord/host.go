package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"muster-discord/internal/discord"
)

// host asks a public host of Muster by its HTTP API (docs/api.md).
type host struct {
	// at is where people reach the host.
	at *url.URL
	// key is the key of a league, whose limits the rooms then have; it may be empty.
	key string
}

// service is what the host says of itself.
type service struct {
	Games      []discord.Game `json:"games"`
	MaxPlayers int            `json:"max_players"`
}

// refusal is what the host says instead, in the language that was asked for.
type refusal struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

func (r *refusal) Error() string { return cmp.Or(r.Message, r.Reason) }

// isOver reports whether a room is over.
func isOver(err error) bool {
	var r *refusal
	return errors.As(err, &r) && (r.Reason == "closed" || r.Reason == "code")
}

const (
	// maxDocument bounds the host's answers, in bytes.
	maxDocument = 16 << 20
	// askWithin is how long the host may take to answer.
	askWithin = 20 * time.Second
)

// ask sends a request, and reads the answer into a document, if it is not nil.
func (h host) ask(ctx context.Context, l *discord.Language, method, path string, header http.Header, body, document any) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, h.page(path), bytes.NewReader(text))
	if err != nil {
		return err
	}
	if header != nil {
		request.Header = header
	}
	request.Header.Set("Accept-Language", l.Tag)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", userAgent)
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, maxDocument))
	if err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		why := &refusal{}
		if json.Unmarshal(said, why) != nil || why.Reason == "" {
			return fmt.Errorf("%s answers %s", h.at.Host, answer.Status)
		}
		return why
	}
	if document == nil {
		return nil
	}
	return json.Unmarshal(said, document)
}

// describe returns what the host says of itself, with the games that a text may mean, the nearest first. An empty text
// may mean any game. It has only games whose servers somebody lists: for others the organiser brings a list, which
// nobody does in a chat.
func (h host) describe(ctx context.Context, text string) (s service, err error) {
	path := "api/service"
	if text != "" {
		path += "?" + url.Values{"game": {text}}.Encode()
	}
	if err := h.ask(ctx, discord.LanguageOf(discord.English), http.MethodGet, path, nil, nil, &s); err != nil {
		return s, err
	}
	listed := s.Games[:0]
	for _, g := range s.Games {
		if g.Listed {
			listed = append(listed, g)
		}
	}
	s.Games = listed
	return s, nil
}

// open opens a room for a person, and returns its organiser's secret with the ref of its card.
func (h host) open(ctx context.Context, l *discord.Language, user string, settings map[string]any) (of discord.Ref, secret string, err error) {
	header := http.Header{}
	if h.key != "" { // each person has the limits of an address then, and this program the league's
		header.Set("Authorization", "Bearer "+h.key)
		header.Set("Muster-For", user)
	}
	var opened struct {
		Link string `json:"organiser_link"`
	}
	if err := h.ask(ctx, l, http.MethodPost, "api/rooms", header, settings, &opened); err != nil {
		return discord.Ref{}, "", err
	}
	_, fragment, _ := strings.Cut(opened.Link, "#")
	parts, secret, _ := strings.Cut(fragment, ".")
	code, key, _ := strings.Cut(parts, "_")
	key, _, _ = strings.Cut(key, "~") // the fingerprint of a host's own certificate
	if code == "" || key == "" || secret == "" {
		return discord.Ref{}, "", errors.New("the host's answer has no link of the organiser's")
	}
	return discord.Ref{Language: discord.ShortOf(l.Tag), Code: code, Key: key}, secret, nil
}

// A room is named in headers, because URLs stand in logs.
func named(of discord.Ref, secret string) http.Header {
	header := http.Header{}
	header.Set("Muster-Code", of.Code)
	header.Set("Muster-Key", of.Key)
	if secret != "" {
		header.Set("Authorization", "Bearer "+secret)
	}
	return header
}

// look returns a room. The organiser's secret, if it is known, shows no more, but the host does not limit how often an
// organiser looks.
func (h host) look(ctx context.Context, l *discord.Language, of discord.Ref, secret string) (r discord.Room, err error) {
	err = h.ask(ctx, l, http.MethodGet, "api/rooms/-", named(of, secret), nil, &r)
	return r, err
}

// order does what an organiser asks for.
func (h host) order(ctx context.Context, l *discord.Language, of discord.Ref, secret, action string) error {
	return h.ask(ctx, l, http.MethodPost, "api/rooms/-/"+action, named(of, secret), struct{}{}, nil)
}

// link returns the link into a room, the organiser's own if it has the secret.
func (h host) link(of discord.Ref, secret string) string {
	link := h.page("#" + of.Code + "_" + of.Key)
	if secret != "" {
		link += "." + secret
	}
	return link
}

func (h host) page(path string) string { return h.at.Scheme + "://" + h.at.Host + "/" + path }
