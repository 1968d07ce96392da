package interactions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"muster/host/access"
	"muster/host/wire"
	"muster/internal/discord"
)

// rooms asks a host in this process, by HTTP.
type rooms struct {
	host http.Handler
	// at is where people reach the host.
	at *url.URL
}

// caller returns an address that stands for a person where the host counts rooms and requests by address. It is in
// fc00::/8, which no network uses. Each person has a network of their own, down from the widest that the host counts.
func caller(user string) netip.Addr {
	sum := sha256.Sum256([]byte("a person in Discord: " + user))
	sum[0] = 0xfc
	return netip.AddrFrom16([16]byte(sum[:16]))
}

// answered is what the host answers.
type answered struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answered) Header() http.Header         { return a.header }
func (a *answered) Write(b []byte) (int, error) { return a.body.Write(b) }
func (a *answered) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// ask asks the host, and reads its answer into a document.
func (r rooms) ask(ctx context.Context, method, path, user string, header http.Header, body, document any) (err error) {
	defer func() { // a proxy to another host gives up so
		if panicked := recover(); panicked == http.ErrAbortHandler {
			err = errAborted
		} else if panicked != nil {
			panic(panicked)
		}
	}()
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header = header
	request.Host = r.at.Host
	request.RequestURI = path
	request.RemoteAddr = netip.AddrPortFrom(caller(user), 0).String()
	request.Header.Set("Content-Type", "application/json")
	got := &answered{header: http.Header{}}
	r.host.ServeHTTP(got, request)
	if got.status >= http.StatusBadRequest {
		var refusal wire.Refusal
		if json.Unmarshal(got.body.Bytes(), &refusal) != nil {
			return errors.New(http.StatusText(got.status))
		}
		return &refusal
	}
	if document == nil {
		return nil
	}
	return json.Unmarshal(got.body.Bytes(), document)
}

var errAborted = errors.New("the host of the room gave up")

// open opens a room for a person.
func (r rooms) open(ctx context.Context, user string, settings map[string]any) (access.Key, error) {
	var opened struct {
		Link string `json:"organiser_link"`
	}
	if err := r.ask(ctx, http.MethodPost, "/api/rooms", user, http.Header{}, settings, &opened); err != nil {
		return access.Key{}, err
	}
	_, fragment, _ := strings.Cut(opened.Link, "#")
	return access.ParseKey(fragment)
}

// Rooms are named in headers, because URLs stand in logs.
func named(ref discord.Ref, secret string) http.Header {
	header := http.Header{}
	header.Set("Muster-Code", ref.Code)
	header.Set("Muster-Key", ref.Key)
	if secret != "" {
		header.Set("Authorization", "Bearer "+secret)
	}
	return header
}

// look returns a room as everybody with its link sees it.
func (r rooms) look(ctx context.Context, ref discord.Ref) (document wire.Document, err error) {
	err = r.ask(ctx, http.MethodGet, "/api/rooms/-", ref.Code, named(ref, ""), nil, &document)
	return document, err
}

// order does what an organiser asks for.
func (r rooms) order(ctx context.Context, user string, ref discord.Ref, secret, action string) error {
	return r.ask(ctx, http.MethodPost, "/api/rooms/-/"+action, user, named(ref, secret), struct{}{}, nil)
}

// link returns the link with a key, and page that of another page of the host.
func (r rooms) link(key access.Key) string { return r.page("") + "#" + key.String() }

func (r rooms) page(path string) string {
	return (&url.URL{Scheme: r.at.Scheme, Host: r.at.Host, Path: "/" + path}).String()
}

// isOver reports whether a room is over.
func isOver(err error) bool {
	var refusal *wire.Refusal
	return errors.As(err, &refusal) && (refusal.Reason == wire.ReasonClosed || refusal.Reason == wire.ReasonCode)
}

// guilds limit how fast a guild's people open rooms. Each person has the limits of an address, see [caller], whatever
// the guild is; a guild has those of a site with eight addresses. People make guilds easily, so they are no limit by
// themselves.
type guilds struct{ pace *access.Pace }

// usersOfGuild is how many persons' rooms a guild may open at once, as many as a site's addresses.
const usersOfGuild = 8

func newGuilds(perUser int) *guilds {
	return &guilds{access.NewPace(usersOfGuild*perUser, time.Minute/usersOfGuild)}
}

// isTooMuch reports whether a guild's people must wait. Direct messages have no guild.
func (g *guilds) isTooMuch(guild string) bool {
	return guild != "" && g.pace.Wait(access.Subscriber(caller("all of the guild "+guild)), time.Now()) > 0
}

// book has the newest room of each channel. It is only in memory: cards have all that their buttons need.
type book struct {
	mu       sync.Mutex
	rooms    map[string]discord.Ref
	channels []string // in the order in which they came
}

// maxChannels bounds the book.
const maxChannels = 10_000

// note notes the room of a channel.
func (b *book) note(channel string, ref discord.Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, is := b.rooms[channel]; !is {
		if len(b.channels) == maxChannels {
			delete(b.rooms, b.channels[0])
			b.channels = b.channels[1:]
		}
		b.channels = append(b.channels, channel)
	}
	if b.rooms == nil {
		b.rooms = map[string]discord.Ref{}
	}
	b.rooms[channel] = ref
}

// of returns the room of a channel.
func (b *book) of(channel string) (discord.Ref, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ref, is := b.rooms[channel]
	return ref, is
}
