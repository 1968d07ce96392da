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
	// askTime is how long a host may take to answer, and with a long list to take it.
	askTime = 30 * time.Second
	// maxAnswer is the longest answer that is read, in bytes: a room with its ranking.
	maxAnswer = 4 << 20
	// packedFrom is the length of a body, in bytes, from which it is sent compressed.
	packedFrom = 16 << 10
)

// ErrNotMuster says that what answers is no Muster host, and ErrNotPublic that it is
// one on which strangers open no rooms.
var (
	ErrNotMuster = errors.New("lobby: what answers is no muster host")
	ErrNotPublic = errors.New("lobby: this host opens no rooms for others")
)

// Moved says that the address leads elsewhere, such as from http to https.
type Moved struct{ To string }

func (m *Moved) Error() string { return "lobby: the address leads to " + m.To }

// Client speaks to a host by HTTP as the organiser's program.
type Client struct {
	base url.URL
	tls  *tls.Config
	http *http.Client
}

// NewClient returns a client of the host at a URL. A nil configuration trusts the
// authorities that the system trusts.
func NewClient(base *url.URL, trust *tls.Config) *Client {
	return &Client{base: *base, tls: trust, http: &http.Client{
		Timeout: askTime,
		// Without a proxy, as players' programs connect. The transport changes its
		// configuration, which WebSockets need as it is.
		Transport: &http.Transport{TLSClientConfig: trust.Clone(), ForceAttemptHTTP2: true, TLSHandshakeTimeout: askTime / 3},
		// Whoever is led elsewhere is told so: the secrets of a room are for one host.
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

// Knows reports whether the host can get the servers of a game, or at least knows it.
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

// whatIsThere is why a host offers nothing: it is somebody's own, or none.
func (c *Client) whatIsThere(ctx context.Context) error {
	err := c.ask(ctx, Key{Code: "-"}, http.MethodGet, "/api/rooms/-", nil, nil)
	var refusal wire.Refusal
	if errors.As(err, &refusal) && refusal.Reason != "" {
		return ErrNotPublic
	}
	return ErrNotMuster
}

// Key is what opens a room: its code, the key of its link, and whatever shows who asks.
type Key struct{ Code, Link, Credential string }

// KeyOf is what a link opens a room with.
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

// Room is a room as it stands.
func (c *Client) Room(ctx context.Context, of Key) (wire.Document, error) {
	var d wire.Document
	err := c.ask(ctx, of, http.MethodGet, "/api/rooms/-", nil, &d)
	return d, err
}

// Order has a room do what its page may order.
func (c *Client) Order(ctx context.Context, of Key, action string, order any) error {
	return c.ask(ctx, of, http.MethodPost, "/api/rooms/-/"+action, order, nil)
}

// ask sends a request, and reads its answer into what is not nil. What the host
// refuses is a [wire.Refusal], whose reason is empty if no Muster host words it.
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

// moved is where an answer leads, without what it may say besides scheme and host.
func moved(answer *http.Response) error {
	to, err := answer.Location()
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return ErrNotMuster
	}
	return &Moved{discovery.CleanText(to.Scheme + "://" + to.Host)}
}

// refused is what stands in an answer that is none.
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

// Trouble is the answer of whoever stands before the host, or of a host that fails.
type Trouble struct{ Status int }

func (t *Trouble) Error() string {
	return fmt.Sprintf("lobby: the answer is %d %s", t.Status, http.StatusText(t.Status))
}
