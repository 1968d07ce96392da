package lobby

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/invite"
)

const (
	// askTime limits one request, including the upload of a long list.
	askTime = 30 * time.Second
	// maxAnswer is the longest answer that is read, in bytes: a room with its ranking.
	maxAnswer = 4 << 20
	// packedFrom is the size of a body, in bytes, from which it is sent compressed.
	packedFrom = 16 << 10
)

// ErrNotMuster says that something other than a Muster host answered. ErrNotPublic says that the
// host opens no rooms for strangers.
var (
	ErrNotMuster = errors.New("lobby: what answers is no muster host")
	ErrNotPublic = errors.New("lobby: this host opens no rooms for others")
)

// Moved says that the address redirects elsewhere, such as from http to https.
type Moved struct{ To string }

func (m *Moved) Error() string { return "lobby: the address leads to " + m.To }

// Client speaks HTTP to a host as the organiser's program.
type Client struct {
	base url.URL
	tls  *tls.Config
	http *http.Client
}

// NewClient returns a client for the host at a URL. A nil configuration trusts the system's
// authorities.
func NewClient(base *url.URL, trust *tls.Config) *Client {
	return &Client{base: *base, tls: trust, http: &http.Client{
		Timeout: askTime,
		// No proxy, because players' programs connect without one. The transport changes its
		// configuration; WebSockets need the original.
		Transport: &http.Transport{TLSClientConfig: trust.Clone(), ForceAttemptHTTP2: true, TLSHandshakeTimeout: askTime / 3},
		// A redirect is reported, not followed: a room's secrets are for one host only.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Service is what a public host offers.
type Service struct {
	Format  string `json:"format"`
	Version string `json:"version"`
	Games   []struct {
		ID     string `json:"id"`
		Listed bool   `json:"listed"`
	} `json:"games"`
	MaxServers int `json:"max_servers"`
}

// Knows reports whether the host knows a game, and whether it can list its servers.
func (s Service) Knows(game string) (known, listed bool) {
	for _, g := range s.Games {
		if g.ID == game {
			return true, g.Listed
		}
	}
	return false, false
}

// Service asks what the host offers.
func (c *Client) Service(ctx context.Context) (Service, error) {
	var s Service
	err := c.ask(ctx, Key{}, http.MethodGet, "/api/service", nil, &s)
	var refusal wire.Refusal
	if err == nil && !strings.HasPrefix(s.Format, "muster.service/") || errors.As(err, &refusal) && refusal.Reason == "" {
		err = c.whatIsThere(ctx)
	}
	return s, err
}

// whatIsThere returns why a host offers nothing: it is somebody's private host, or no host at all.
func (c *Client) whatIsThere(ctx context.Context) error {
	err := c.ask(ctx, Key{Code: "-"}, http.MethodGet, "/api/rooms/-", nil, nil)
	if refusal, is := errors.AsType[wire.Refusal](err); is && refusal.Reason != "" {
		return ErrNotPublic
	}
	return ErrNotMuster
}

// Key opens a room: its code, the key of its link, and the caller's credential.
type Key struct{ Code, Link, Credential string }

// KeyOf returns the key that a link contains.
func KeyOf(l invite.Link) Key { return Key{l.Code, l.Key, l.Secret} }

// Open opens a room with settings by their names, and returns the organiser's link.
func (c *Client) Open(ctx context.Context, room map[string]any) (invite.Link, error) {
	var opened struct {
		Link string `json:"organiser_link"`
	}
	if err := c.ask(ctx, Key{}, http.MethodPost, "/api/rooms", room, &opened); err != nil {
		return invite.Link{}, err
	}
	l, err := invite.Parse(opened.Link, "")
	if err != nil || l.Code == "" || l.Secret == "" {
		return l, fmt.Errorf("%w: it opens a room, and gives no link to it", ErrNotMuster)
	}
	return l, nil
}

// Room returns the current state of a room.
func (c *Client) Room(ctx context.Context, of Key) (wire.Document, error) {
	var d wire.Document
	err := c.ask(ctx, of, http.MethodGet, "/api/rooms/-", nil, &d)
	return d, err
}

// Order sends a room one of the actions that its page offers.
func (c *Client) Order(ctx context.Context, of Key, action string, order any) error {
	return c.ask(ctx, of, http.MethodPost, "/api/rooms/-/"+action, order, nil)
}

// ask sends a request and decodes the answer into the given value unless that is nil. A refusal is
// a [wire.Refusal]; its reason is empty if the answer is not worded by a Muster host.
func (c *Client) ask(ctx context.Context, of Key, method, path string, body, into any) error {
	request, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	for header, text := range map[string]string{"Muster-Code": of.Code, "Muster-Key": of.Link} {
		if text != "" {
			request.Header.Set(header, text)
		}
	}
	if of.Credential != "" {
		request.Header.Set("Authorization", "Bearer "+of.Credential)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case answer.StatusCode >= 300 && answer.StatusCode < 400:
		return moved(answer)
	case answer.StatusCode >= 400:
		return refused(answer, text)
	case err != nil:
		return err
	case into == nil || answer.StatusCode == http.StatusNoContent:
		return nil
	case len(text) > maxAnswer || json.Unmarshal(text, into) != nil:
		return ErrNotMuster
	}
	return nil
}

func (c *Client) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	at := c.base
	at.Path = path
	if body == nil {
		return http.NewRequestWithContext(ctx, method, at.String(), nil)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	isPacked := len(text) >= packedFrom
	if isPacked {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		w.Write(text) // a buffer takes everything
		w.Close()
		text = packed.Bytes()
	}
	request, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if isPacked {
		request.Header.Set("Content-Encoding", "gzip")
	}
	return request, nil
}

// moved returns the address to which an answer redirects, reduced to scheme and host.
func moved(answer *http.Response) error {
	to, err := answer.Location()
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return ErrNotMuster
	}
	return &Moved{discovery.CleanText(to.Scheme + "://" + to.Host)}
}

func refused(answer *http.Response, text []byte) error {
	var refusal wire.Refusal
	if json.Unmarshal(text, &refusal) == nil && refusal.Reason != "" {
		for _, text := range []*string{&refusal.Reason, &refusal.Message, &refusal.Hint, &refusal.Link} {
			*text = discovery.CleanText(*text)
		}
		return refusal
	}
	switch answer.StatusCode {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return wire.Refusal{Message: "there is no such thing"}
	}
	return &Trouble{answer.StatusCode}
}

// Trouble is an error status from a failing host, or from a proxy in front of it.
type Trouble struct{ Status int }

func (t *Trouble) Error() string { return "lobby: the answer is " + t.status() }

// status returns the status in HTTP's words.
func (t *Trouble) status() string { return fmt.Sprint(t.Status, " ", http.StatusText(t.Status)) }
