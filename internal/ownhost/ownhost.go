// Package ownhost is the host that muster host runs in its own process. It keeps its rooms in a user's file and resumes
// the previous one. Package lobby steers it over HTTP, like a remote host.
package ownhost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"

	"muster/discovery"
	"muster/discovery/lists/lan"
	"muster/discovery/sentence"
	"muster/host"
	"muster/host/access"
	"muster/host/store"
	"muster/host/wire"
	"muster/internal/hint"
	"muster/internal/ingress"
	"muster/internal/invite"
	"muster/internal/listing"
	"muster/internal/netinfo"
	"muster/internal/release"
	"muster/internal/userfile"
	"muster/internal/webhook"
	"muster/web"
)

// Config is what a host is made of.
type Config struct {
	Listener net.Listener
	// Ingress is how players reach the host.
	Ingress *ingress.Ingress
	// Lists fetches the games' server lists.
	Lists *listing.Rooms
	// Places are for rooms that look for a place and name none.
	Places wire.Venues
	// Programs gives programs to friends who have none.
	Programs http.Handler
	// Webhook is where the organiser's own group talks.
	Webhook string
	Logger  *slog.Logger
	Warn    func(...error)
	// Failed is called once the host no longer serves.
	Failed func(error)
}

// Host is a host in this process.
type Host struct {
	rooms   *host.Host
	at      netip.AddrPort
	ingress *ingress.Ingress
	log     *slog.Logger
	warn    func(...error)
	posts   *webhook.Poster
	pages   *pages
	stop    func()

	mu      sync.Mutex // guards the fields below
	renewed func(secret string)
}

// Listen opens the port for players and browsers.
func Listen(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err == nil {
		return listener, nil
	}
	failed := hint.Say("term.cannot-listen", "address", address, "why", hint.Reason(err))
	var name *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &name):
		return nil, failed.Advising("term.cannot-listen-address-hint", "all", "--listen :7777")
	case errors.Is(err, syscall.EACCES):
		return nil, failed.Advising("term.cannot-listen-port-hint", "example", "--listen :7778")
	}
	return nil, failed.Advising("term.cannot-listen-hint", "flag", "--listen", "example", "--listen :7778")
}

// New starts a host.
func New(c Config) (*Host, error) {
	h := &Host{
		at:      discovery.Canonical(netip.MustParseAddrPort(c.Listener.Addr().String())),
		ingress: c.Ingress, log: c.Logger, warn: c.Warn, posts: &webhook.Poster{Own: []string{c.Webhook}},
		pages: &pages{Handler: web.Handler()},
	}
	games := c.Lists.Games
	var err error
	h.rooms, err = host.New(host.Config{
		Announce: func(p host.Post) { h.posts.Post(webhook.Post(p)) },
		List:     c.Lists.List, Local: c.Lists.Local, Said: c.Lists.Said, Games: c.Lists.Choices(),
		Store: h.store(), Page: h.pages, Get: c.Programs, Logger: c.Logger,
		Files:       int(min(netinfo.FileLimit(), math.MaxInt32)),
		Fingerprint: c.Ingress.Fingerprint(), Proxies: c.Ingress.Proxies, MetricsFrom: c.Ingress.MetricsFrom,
		Names:  slices.Concat(netinfo.Names(), c.Ingress.Names()),
		Home:   netinfo.IsAtHome,
		Places: c.Places,
		Locate: listing.Locator(c.Lists.Places), PublicAddress: c.Ingress.PublicAddress,
		Addresses: func() []netip.AddrPort { return c.Ingress.Addresses(h.at) },
		Outside:   func(room access.Key) string { return c.Ingress.Mapped(h.at, room) },
		Address:   c.Ingress.Outside(h.at, access.Key{}).Host, PublicURL: c.Ingress.Public,
		Join: games.Join, GameName: games.Name, Gap: games.Gap, Editions: games.Editions,
		Renewed: func(_, secret string) { h.tellRenewed(secret) },
	})
	if err != nil {
		h.posts.Close()
		return nil, err
	}
	h.stop = h.rooms.Serve(c.Listener, c.Ingress.TLS(), c.Failed)
	return h, nil
}

// Close ends the host, and tells everyone in its rooms to come back.
func (h *Host) Close() error {
	h.stop()
	err := h.rooms.Close()
	h.posts.Close()
	return err
}

// store returns where rooms survive a restart. Only one program can use the file, so a second host on this machine
// keeps its rooms in another.
func (h *Host) store() store.Store {
	file, err := userfile.State(fmt.Sprintf("rooms-%d.db", h.at.Port()))
	if err == nil {
		var kept *store.File
		if kept, err = store.Open(file); err == nil {
			kept.Warn = func(err error) { h.warn(err) }
			if damage := kept.Damage(); damage != nil {
				h.warn(damage)
			}
			return kept
		}
	}
	h.warn(hint.Say("term.rooms-unkept", "why", err))
	return &store.None{}
}

// At returns the address at which the host listens.
func (h *Host) At() netip.AddrPort { return h.at }

// Key returns the key that opens a room.
func (h *Host) Key(code string) access.Key {
	return access.Key{Code: code, Link: h.rooms.Keys(code).Link}
}

// Outside returns the link to a room for friends anywhere.
func (h *Host) Outside(code string) invite.Link { return h.ingress.Outside(h.at, h.Key(code)) }

// Inside returns the organiser's link to a room from this machine.
func (h *Host) Inside(code string) invite.Link {
	l := h.ingress.Inside(h.at, h.Key(code))
	l.Secret = h.rooms.Keys(code).Secret
	return l
}

// Settings returns a room's settings.
func (h *Host) Settings(code string) wire.Settings {
	s, _ := h.rooms.Settings(code)
	return s
}

// OnRenewed sets the function that hears of the organiser's new secret.
func (h *Host) OnRenewed(tell func(secret string)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.renewed = tell
}

func (h *Host) tellRenewed(secret string) {
	h.mu.Lock()
	tell := h.renewed
	h.mu.Unlock()
	if tell != nil {
		tell(secret)
	}
}

// Announce announces a room on the local network until stop is called, if anybody there can join.
func (h *Host) Announce(ctx context.Context, code, organiser string) (stop func()) {
	if h.at.Addr().IsLoopback() {
		return func() {}
	}
	as := lan.Room{Organiser: organiser, Port: h.at.Port(), Version: release.Running().Version}
	return h.ingress.Announce(ctx, h.rooms, code, as, h.log, h.warn)
}

// AskRouter asks the router to let friends into a room until stop is called. Say reports the outcome.
func (h *Host) AskRouter(ctx context.Context, code string, say func(sentence.Sentence)) (stop func()) {
	return h.ingress.AskRouter(ctx, h.at, h.Key(code), h.log, say)
}

const (
	// stillLoads is how soon after a file of the page its next one is asked for at the latest: a page
	// rests for a second before it loads what the first screen does not need.
	stillLoads = 3 * time.Second
	// lingersMost is the longest wait for pages, also for one over a slow line.
	maxLinger = 10 * time.Second
)

// pages serves the page's files, and notes when one was last under way.
type pages struct {
	http.Handler
	mu   sync.Mutex // guards the fields below
	busy int
	last time.Time
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.note(+1)
	defer p.note(-1)
	p.Handler.ServeHTTP(w, r)
}

func (p *pages) note(more int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy, p.last = p.busy+more, time.Now()
}

// rest returns how long it takes until no page loads any more, if none asks for more.
func (p *pages) rest() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy > 0 {
		return stillLoads
	}
	return stillLoads - time.Since(p.last)
}

// settle waits until no page loads any more, but not after ctx has ended.
func (p *pages) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, maxLinger)
	defer cancel()
	for rest := p.rest(); rest > 0; rest = p.rest() {
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return
		}
	}
}

// Linger serves pages that are still loading for a few seconds more. Otherwise a friend who has
// just opened the page of a room that ends would see only its first screen.
func (h *Host) Linger(ctx context.Context) { h.pages.settle(ctx) }
