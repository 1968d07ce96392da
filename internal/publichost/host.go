package publichost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"muster/discovery"
	"muster/host"
	"muster/host/access"
	"muster/host/between"
	"muster/host/cluster"
	"muster/host/metrics"
	"muster/host/public"
	"muster/host/room"
	"muster/host/store"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/handout"
	"muster/internal/hint"
	"muster/internal/listing"
	"muster/internal/netinfo"
	"muster/internal/ownhost"
	"muster/internal/release"
	"muster/internal/userfile"
	"muster/internal/webhook"
	"muster/selection"
	"muster/web"
)

// An ending host lets its store take the rooms for drainTime, and then gives up what hangs. All of its end takes endsWithin
// at most, so that the process is gone within five seconds, long before service managers and containers kill it.
const (
	drainTime  = 2500 * time.Millisecond
	endsWithin = 4500 * time.Millisecond
)

// Host holds rooms for everybody.
type Host struct {
	*Settings
	log *slog.Logger
	// hangups are the operator's requests to read the settings again.
	hangups <-chan os.Signal
	// getCertificates requests the first certificates from an authority once the host listens. It stops when
	// endCertificates is called.
	getCertificates func()
	endCertificates context.CancelFunc
	others          *between.Mesh
	// leagues are the leagues that count now.
	leagues atomic.Pointer[[]webhook.League]
}

// setLeagues makes leagues those to whose webhooks only their own rooms post.
func (h *Host) setLeagues(leagues []public.League) {
	var all []webhook.League
	for _, l := range leagues {
		all = append(all, webhook.League{Name: l.Name, Webhook: l.Webhook, Sign: l.Sign})
	}
	h.leagues.Store(&all)
}

// New prepares a host. From here on SIGHUP does not end the program; end restores that.
func New(ctx context.Context, s *Settings, log *slog.Logger) (h *Host, end func(), err error) {
	h = &Host{Settings: s, log: log}
	hangups, free := hearHangups()
	h.hangups = hangups
	ctx, h.endCertificates = context.WithCancel(ctx)
	end = func() { h.endCertificates(); free() }
	if h.getCertificates, err = h.encrypt(ctx); err != nil {
		end()
		return nil, nil, err
	}
	return h, end, nil
}

// Rooms say what rooms get, and how the host reports.
type Rooms struct {
	Games    game.Table
	Programs *handout.Handout
	// Began receives the page's address, and the number of rooms from before.
	Began func(page string, rooms int)
	// Reread reads the settings again.
	Reread func() (*Settings, error)
}

// Serve serves until ctx ends. Connections that are not closed by endsWithin are cut with the process. Nothing that anybody
// was told is lost then, and programs and pages come back by themselves.
func (h *Host) Serve(ctx context.Context, r Rooms) error {
	return serveInTime(ctx, func() error { return h.serve(ctx, r) })
}

// errCut says that a part of the host was still busy at endsWithin.
var errCut = errors.New("the host did not come to an end in time: nothing is lost that anybody was told")

// serveInTime returns what serve returns, but waits no longer than endsWithin for it once ctx has ended.
func serveInTime(ctx context.Context, serve func() error) error {
	served := make(chan error, 1)
	go func() { served <- serve() }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-served:
		return err
	case <-time.After(endsWithin):
		return errCut
	}
}

func (h *Host) serve(ctx context.Context, r Rooms) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	listener, err := ownhost.Listen(h.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	kept, err := h.open(ctx)
	if err != nil {
		return err
	}
	h.supply(r.Games, kept)
	defer h.Lists.Begin(ctx)()
	at := netip.MustParseAddrPort(listener.Addr().String())
	var endBeacon func()
	h.Public.Beacon, endBeacon = h.shine(ctx, at)
	defer endBeacon()
	var relay host.Relay
	var loads func() (string, map[string]int, time.Duration)
	if many, is := kept.(*cluster.Cluster); is {
		defer h.others.Close()
		h.others.Join(many.Doors)
		relay, loads = h.others, many.Loads
	}
	var announce func(host.Post)
	if h.setLeagues(h.Public.Leagues); h.Webhooks {
		posts := &webhook.Poster{Leagues: func() []webhook.League { return *h.leagues.Load() }}
		defer posts.Close()
		announce = func(p host.Post) { posts.Post(webhook.Post(p)) }
	}
	memory, awaitMemory, err := h.remember(ctx, kept)
	if err != nil {
		return errors.Join(err, kept.Close())
	}
	rooms, err := host.New(host.Config{
		Announce: announce, Networks: memory, Figures: func() []metrics.Figure { return h.figures(kept) },
		List: h.Lists.List, Said: h.Lists.Said, Age: h.Lists.Age, Store: kept, Relay: relay, Loads: loads,
		Page: web.Handler(), Logger: h.log, Files: int(min(netinfo.FileLimit(), math.MaxInt32)), Public: &h.Public,
		Get: r.Programs, Places: h.Venues,
		Fingerprint: h.Ingress.Fingerprint(), Proxies: h.Ingress.Proxies, Names: slices.Concat(netinfo.Names(), h.Ingress.Names()),
		MetricsFrom: h.Ingress.MetricsFrom, Locate: listing.Locator(h.Lists.Places), PublicAddress: h.Ingress.PublicAddress,
		PublicURL: h.Ingress.Public, Join: r.Games.Join, GameName: r.Games.Name, Gap: r.Games.Gap,
		Editions: r.Games.Editions, Games: h.Lists.Choices(),
	})
	if err != nil {
		cancel(nil)
		awaitMemory()
		return errors.Join(hint.With(err, "is the store from a newer muster, or damaged? muster serve --store OTHER begins anew"), kept.Close())
	}
	stop := rooms.Serve(listener, h.Ingress.TLS(), func(err error) { cancel(fmt.Errorf("the host stopped serving: %w", hint.Reason(err))) })
	defer h.operate(rooms)()
	var work sync.WaitGroup
	work.Go(h.getCertificates)
	work.Go(func() { h.reloadOn(ctx, r.Reread, rooms, r.Games) })
	defer func() { h.endCertificates(); work.Wait() }()
	r.Began(h.Ingress.Outside(discovery.Canonical(at), access.Key{}).Page("/"), len(rooms.Rooms()))
	<-ctx.Done()
	h.log.Info("draining: rooms are saved, and everybody is told to come back")
	hurry, done := context.WithTimeout(context.Background(), drainTime)
	rooms.Drain(hurry) // meanwhile /readyz tells load balancers to send nobody
	done()
	stop()
	awaitMemory() // it needs the store
	err = rooms.Close()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	return err
}

// supply sets where rooms get their games and lists, and what strangers may do.
func (h *Host) supply(games game.Table, kept store.Store) {
	if many, is := kept.(*cluster.Cluster); is {
		h.Public.Hosts = many.Hosts
		h.Lists.Once = onceForAll(many)
	}
	h.Lists.Games, h.Lists.Public, h.Lists.Log = games, h.Ingress.PublicAddress, h.log
	h.Lists.Say = func(format string, args ...any) { h.log.Debug(fmt.Sprintf(format, args...)) }
	h.Lists.Warn = func(warnings ...error) {
		for _, w := range warnings[:min(1, len(warnings))] { // a list can have thousands
			h.log.Warn("of a list of servers not everything is taken", "why", hint.Plain(w), "warnings", len(warnings))
		}
	}
	build := release.Running()
	h.Public.Games, h.Public.Version, h.Public.Commit, h.Public.Date = h.choices(games), build.Version, build.Commit, build.Date
	h.Public.Search = searching(games, h.Public.Games)
	h.Public.Own = ownLists(games, h.Public.Servers)
	h.Public.Annotate = func(servers []discovery.Server) error { return listing.Annotate(servers, nil, h.Lists.Places) }
}

// ownLists reads the lists that organisers bring.
func ownLists(games game.Table, most int) func(string, []string, netip.Addr) ([]netip.AddrPort, error) {
	return func(id string, lines []string, from netip.Addr) ([]netip.AddrPort, error) {
		g, err := games.Find(id)
		if err != nil {
			g = game.Game{ID: id, Name: id} // the organiser's own game
		}
		servers, err := listing.Own(g, lines, from, most)
		if err != nil {
			err = refused(err)
		}
		return servers, err
	}
}

func refused(err error) *wire.Refusal {
	says := hint.Sentences(err)
	refusal := &wire.Refusal{Reason: wire.ReasonMalformed, Says: says[0]}
	if len(says) > 1 {
		refusal.Advises = says[1]
	}
	return refusal
}

// encrypt gets the certificate, if there is one. get requests the first one from an authority; call it once the host
// listens.
func (h *Host) encrypt(ctx context.Context) (get func(), err error) {
	switch {
	case h.Cert != "":
		return func() {}, h.Ingress.EncryptRenewed(h.Cert, h.Key, h.log)
	case len(h.ACME.Names) == 0:
		return func() {}, nil
	}
	if h.Ingress.Public == nil {
		h.Ingress.Public = &url.URL{Scheme: "https", Host: h.ACME.Names[0]}
	}
	h.Ingress.MoreNames = append(h.Ingress.MoreNames, h.ACME.Names...)
	if h.ACME.Cache == "" {
		account, err := userfile.State("acme/account")
		if err != nil {
			return nil, hint.NoFolder("certificates", err)
		}
		h.ACME.Cache = filepath.Dir(account)
	}
	if _, port, _ := net.SplitHostPort(h.Listen); port != "443" && port != "https" {
		h.log.Warn("the authority connects to port 443 of the name: have it lead to this program", "listen", h.Listen)
	}
	return h.Ingress.EncryptByACME(ctx, h.ACME, h.log)
}

// open opens the store. Without one a public host does not start, because a restart would lose the rooms of hundreds of
// people.
func (h *Host) open(ctx context.Context) (store.Store, error) {
	if h.Cluster.URL != "" {
		h.Cluster.Logger, h.Cluster.Takes = h.log, room.SavedVersion
		if err := h.meet(); err != nil {
			return nil, err
		}
		kept, err := cluster.Open(ctx, h.Cluster)
		if err != nil {
			h.others.Close()
			return nil, err
		}
		return kept, nil
	}
	file, err := h.roomsFile()
	if err != nil {
		return nil, err
	}
	kept, err := store.Open(file)
	if err != nil {
		return nil, hint.With(fmt.Errorf("cannot keep rooms in %s: %w", file, hint.Reason(err)),
			"is the folder there, and writable? another muster needs another file: --store FILE")
	}
	kept.Warn = func(err error) { h.log.Error("the store", "error", err) }
	if damage := kept.Damage(); damage != nil {
		h.log.Error("the store was damaged", "error", damage)
	}
	return kept, nil
}

func (h *Host) meet() error {
	listener, err := net.Listen("tcp", h.Between)
	if err != nil {
		return hint.With(fmt.Errorf("cannot listen on %s for other hosts: %w", h.Between, hint.Reason(err)),
			"several hosts on one machine each need a --cluster-listen, such as --cluster-listen 127.0.0.1:7780")
	}
	if h.others, err = between.New(listener, h.Cluster.Node, h.log); err != nil {
		listener.Close()
		return err
	}
	h.Cluster.Door = func(seen net.IP) string {
		door := h.others.Door(seen)
		address, _, _ := strings.Cut(door, " ")
		h.log.Info("other hosts reach this one", "at", address)
		return door
	}
	return nil
}

// NameNode gives the host the machine's name unless the user named it. A program that only moves rooms gets a name
// different from the host on the same machine.
func (s *Settings) NameNode() error {
	if s.Cluster.Node != "" {
		return nil
	}
	machine, err := os.Hostname()
	if err != nil && s.Cluster.URL != "" {
		return hint.With(fmt.Errorf("this machine has no name: %w", err), "give this host one: --node NAME")
	}
	if s.IsMove() {
		machine += "-move"
	}
	s.Cluster.Node = cluster.NodeName(machine)
	return nil
}

// choices returns the games for which rooms may be opened.
func (h *Host) choices(games game.Table) []public.Game {
	var listed []string
	for _, g := range h.Lists.Choices() {
		listed = append(listed, g.ID)
	}
	var choices []public.Game
	for _, g := range games.All() {
		choices = append(choices, public.Game{Game: g.Choice(), Aliases: g.Aliases, By: ruleOf(g),
			Listed: slices.Contains(listed, g.ID), Steam: g.OnSteam()})
	}
	return choices
}

// searching returns a search in the games for which rooms may be opened.
func searching(games game.Table, choices []public.Game) func(text string) []public.Game {
	byID := map[string]public.Game{}
	for _, c := range choices {
		byID[c.ID] = c
	}
	return func(text string) (found []public.Game) {
		for _, m := range games.Search(text) {
			c := byID[m.Game.ID]
			c.OtherNumber = m.IsOther
			found = append(found, c)
		}
		return found
	}
}

// ruleOf returns a game's rule, unless it needs a limit, which only the organiser can set.
func ruleOf(g game.Game) selection.Rule { return cmp.Or(g.Rule, selection.Mean) }

// onceForAll makes one host of a cluster fetch a list for all of them.
func onceForAll(many *cluster.Cluster) func(context.Context, string, func(context.Context) (listing.List,
	error)) (listing.List, time.Time, error) {
	return func(ctx context.Context, id string, fetch func(context.Context) (listing.List, error)) (listing.List, time.Time, error) {
		data, at, err := many.FetchOnce(ctx, id, listing.FreshFor, func(ctx context.Context) ([]byte, error) {
			list, err := fetch(ctx)
			if err != nil {
				return nil, err
			}
			return list.Append(nil)
		})
		if len(data) == 0 {
			return listing.List{}, at, err
		}
		list, broken := listing.ParseList(data)
		return list, at, errors.Join(err, broken)
	}
}
