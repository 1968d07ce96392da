// Package host serves rooms: HTTP, connections, and one goroutine a room.
//
//	browsers ─ /, /live, /api ─┐           ┌─ step ─▶ room.Room ─▶ outputs ─┐
//	                           ├─▶ actor ──┤                                │
//	peers ──── /peer ──────────┘  (a room) └─ save, send, publish, fetch ◀──┘
//
// What a room decides is host/room's; this package carries its inputs and does its
// outputs, in their order.
package host

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/access"
	"muster/host/admission"
	"muster/host/demand"
	"muster/host/lists"
	"muster/host/metrics"
	"muster/host/networks"
	"muster/host/openers"
	"muster/host/page"
	"muster/host/pressure"
	"muster/host/public"
	"muster/host/room"
	"muster/host/store"
	"muster/host/turns"
	"muster/host/wire"
	"muster/internal/clock"
)

// Config is what a host needs from the program around it.
type Config struct {
	// List gets server lists. The host calls it once a round for all players.
	List func(ctx context.Context, game string) ([]discovery.Server, error)
	// Local returns a game's servers on this host's own networks, from the list that List got last;
	// it may be nil.
	Local func(game string) []room.LocalServer
	// Said returns what the list that List got last says about its servers; it may be nil.
	Said func(game string) discovery.Said
	// Gap returns how long a game's server must be left alone before it answers an address again, 0
	// if that is unknown.
	Gap func(game string) time.Duration
	// Age says how old the list is that List got last, if people should know; it may be nil.
	Age func(game string) sentence.Sentence
	// Places are what rooms get that look for a place where a server could be; empty is none.
	Places wire.Venues
	// Searches is how many rooms search at a time; 0 is as many as there are processors.
	Searches int
	// Store keeps rooms over a restart, or beyond this host. A nil Store keeps nothing.
	Store store.Store
	// Page serves /; nil serves nothing there.
	Page http.Handler
	// Get serves /get/, where people download the program; nil serves nothing there.
	Get http.Handler
	// Address is the HOST:PORT at which friends reach this host, for the links on a page that was
	// opened on this machine. If it is empty, they have the page's own address.
	Address string
	// PublicURL is how friends reach this host through a proxy or a tunnel, nil without one. All
	// links have it. Only its scheme and host count.
	PublicURL *url.URL
	// Names are further names by which browsers may ask for this host: the machine's own, and the
	// certificate's, which may begin with "*.". Addresses, localhost, .local names and the public
	// URL's name are always allowed.
	Names []string
	// Addresses returns the host's other addresses, for players who have lost the one they used; it
	// may be nil.
	Addresses func() []netip.AddrPort
	// Outside returns a room's link for friends on the internet, if it differs, or "". Organisers
	// see it. It may be nil.
	Outside func(room access.Key) string
	// Fingerprint is the fingerprint of the host's own certificate, which links carry; empty
	// without one.
	Fingerprint string
	// Proxies are the reverse proxies whose X-Forwarded-For, -Host and -Proto headers the host
	// believes.
	Proxies []netip.Prefix
	// MetricsFrom are the networks that may read the metrics, in addition to this machine.
	MetricsFrom []netip.Prefix
	// Figures returns what is shown with the host's own metrics; it may be nil.
	Figures func() []metrics.Figure
	// Home reports whether an address is in the host's own network, which has the host's public
	// address; it may be nil.
	Home func(netip.Addr) bool
	// Locate returns where an internet address is: its country (ISO 3166-1 alpha-2) and origin AS,
	// empty and 0 if unknown. The host calls it for players and guests. It may be nil.
	Locate func(netip.Addr) (country string, asn uint32)
	// PublicAddress returns the host's own public address, invalid if it does not know it. Matches
	// compare what players measure near there with their connections. It may be nil.
	PublicAddress func() netip.Addr
	// Networks is the memory of how far networks are from each other, which learns from the rooms and
	// tells them. The program that gives it keeps it. With nil the host remembers nothing.
	Networks *networks.Memory
	// Games are the games that List knows and an organiser may choose. If there are none, each room
	// keeps its game.
	Games []wire.Game
	// GameName returns a game's name by its id, even if List does not know the game; empty is
	// unknown. It may be nil.
	GameName func(game string) string
	// Editions returns what a version means for each game that has more to say about it, by id, and
	// for all others; see [wire.Hello]. It may be nil.
	Editions func(version string) map[string]discovery.Edition
	// Join returns the way to a game's server with what the table of games knows: a link that
	// opens it from a browser, such as steam://connect/…, what players type in the game instead, or
	// the region to set. It may be nil.
	Join func(game string, way wire.Way) wire.Way
	// Renewed is called with the organiser's new secret when the organiser has renewed a room's
	// link; it may be nil.
	Renewed func(code, secret string)
	// Loads returns this host's name, the number of rooms of each host that shares the store, and
	// for how long the hosts have been the same. Gathering and sleeping rooms move to the host with
	// the fewest rooms. With nil none move.
	Loads func() (own string, rooms map[string]int, settled time.Duration)
	// Relay reaches the other hosts of the store, for people at one host whose room is at another;
	// nil is a host alone.
	Relay Relay
	// Announce posts rooms' announcements where their groups talk, without waiting. With nil
	// nothing is posted, and organisers are told so.
	Announce func(Post)
	// Public lets strangers open rooms; with nil nobody may.
	Public *public.Limits
	// Files is how many files this process may have open at once, connections included; 0 is any
	// number.
	Files int
	// Clock is the time that the host and its rooms live by; the zero value is the machine's. Tests hold it.
	Clock clock.Clock
	// Logger takes messages that the organiser need not read; nil discards them.
	Logger *slog.Logger
}

// Host holds rooms and their members' connections. It makes an [http.Handler] and no listener: the
// program that serves it decides on addresses and TLS.
type Host struct {
	*surroundings
	*site
	*door
	replies
	*lifetime
	config   Config
	rooms    *lifecycle
	asks     *access.Pace // limits requests about rooms, by address
	pages    *admission.Pages
	counting counting // counts rooms by their openers, on a public host
	proxied  proxied
	upgrader websocket.Upgrader
	// transport is for HTTP requests to other hosts.
	transport *http.Transport
}

// New returns a host with the rooms of its store.
func New(config Config) (*Host, error) {
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	if config.Store == nil {
		config.Store = &store.None{}
	}
	counted, pressed := metrics.New(), &pressure.Table{}
	h := &Host{
		site: newSite(config), door: &door{
			rooms:    newRegistry(),
			store:    counted.Timed(config.Store),
			isPublic: config.Public != nil,
			pressed:  pressed,
			clock:    config.Clock,
		}, replies: replies{counted, pressed, config.Clock},
		config:   config,
		lifetime: newLifetime(), asks: access.NewPace(asksAtOnce, askEvery), pages: admission.NewPages(boundsOf(config, pressed)),
		upgrader: websocket.Upgrader{ReadBufferSize: 1024, WriteBufferPool: &sync.Pool{}},
	}
	h.upgrader.CheckOrigin = h.isSameOrigin
	h.surroundings = &surroundings{
		keeper: newKeeper(h.store, h.lifetime, config), lists: lists.New(h.store),
		source: lists.Source{
			List:  config.List,
			Local: config.Local,
			Said:  config.Said,
			Age:   config.Age,
			Gap:   config.Gap,
			Log:   config.Logger,
		},
		turns: turns.New(cmp.Or(config.Searches, runtime.GOMAXPROCS(0))), demand: demand.New(), networks: config.Networks, metrics: counted,
		poster: poster{config.Announce, config.PublicURL, config.GameName, config.Join},
		page: page.Host{
			Games: config.Games, Name: config.GameName, Join: config.Join, IsPublic: config.Public != nil,
		},
		addresses: config.Addresses, here: config.here, clock: config.Clock, started: config.Clock.Now(), log: config.Logger,
	}
	h.counting.hosts = func() []string { return nil }
	if p := config.Public; p != nil {
		h.limits.Store(p)
		find := func(code string) store.State { return h.store.Find(code).State }
		h.counting.own = openers.New(openers.Limit{
			All:   p.Rooms,
			OfOne: p.PerAddress,
		}, openers.Limit{All: p.Standing.Rooms, OfOne: p.Standing.PerAddress}, find, config.Clock)
		if config.Relay != nil && p.Hosts != nil {
			h.counting.hosts = p.Hosts
		}
		h.guard.Public, h.guard.Hosts = true, func() int { return len(h.counting.hosts()) }
	}
	h.rooms = &lifecycle{surroundings: h.surroundings, registry: h.door.rooms, ctx: h.ctx, hosts: h.counting.hosts}
	h.metrics.Show(func() []metrics.Figure { return figuresOf(h.turns, admission.BoundsOf(config.Files), h.rooms) })
	if config.Figures != nil {
		h.metrics.Show(config.Figures)
	}
	h.transport = &http.Transport{
		DialContext:         h.dialOwner,
		DisableCompression:  true,
		MaxIdleConnsPerHost: ownersKept,
		IdleConnTimeout:     time.Minute,
	}
	h.counting.others = h.transport
	// This host's rooms start now. Later it takes over the rooms of hosts that end.
	now, end := context.WithCancel(h.ctx)
	end()
	h.rooms.adopt(now)
	h.begin(func() { h.rooms.adopt(h.ctx) })
	if config.Loads != nil {
		h.begin(func() { h.rooms.evenOut(h.ctx, config.Loads) })
	}
	if config.Relay != nil {
		h.serveRelay(config.Relay.Listener())
	}
	return h, nil
}

// Close saves and ends all rooms, ends all connections, and waits for both. It does not wait for
// what Drain has given up, such as a store that hangs.
func (h *Host) Close() error {
	if !h.abandoned.Load() {
		h.Drain(context.Background())
	}
	var late <-chan time.Time
	if h.abandoned.Load() {
		late = time.After(abandonAfter)
	}
	closed := make(chan error, 1)
	go func() { closed <- h.store.Close() }()
	select {
	case err := <-closed:
		return err
	case <-late:
		return errors.New("the store did not come to an end: nothing is lost that anybody was told")
	}
}

// Drain ends all rooms in good order: it saves each room and releases it to its next host. Then it
// tells all people to come back, and ends their connections. When ctx ends, it gives up whatever is
// left, so that a host ends when it is told to, whatever hangs.
func (h *Host) Drain(ctx context.Context) {
	h.rooms.close()
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	defer time.AfterFunc(handFirst, h.sayGoodbye).Stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.keeper.unhanded.Wait()
		h.sayGoodbye()
		h.rooms.running.Wait()
		if h.lines.Err() == nil {
			time.Sleep(lastAnswers)
			h.hangUp()
		}
		h.work.Wait()
	}()
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	h.giveUp() // the store
	h.sayGoodbye()
	defer time.AfterFunc(goodbyeTime, h.hangUp).Stop() // unless all has ended by then
	select {
	case <-ended:
	case <-time.After(abandonAfter):
		h.abandoned.Store(true)
		h.config.Logger.Error("some of what this host did had to be given up")
	}
}

const (
	// handFirst is how long people may hear nothing while an ending host hands its rooms over. Those
	// who are told come back at once, by the thousand, and take the time that the last rooms need.
	handFirst = 1500 * time.Millisecond
	// goodbyeTime is how long rooms may take to tell their people to come back, once the host waits for
	// nothing else.
	goodbyeTime = 100 * time.Millisecond
	// lastAnswers is how long the answers of rooms that have just ended may take to leave this host, before
	// its connections end.
	lastAnswers = 10 * time.Millisecond
	// abandonAfter is how long abandoned work may take to notice.
	abandonAfter = time.Second
)

// Open opens a room and returns its code and the organiser's secret. People with the code find the
// room even after a crash of this host, if the store can keep anything.
func (h *Host) Open(settings wire.Settings) (code, secret string, err error) {
	return h.rooms.open(netip.Addr{}, settings)
}

// Keys returns what admits people to a room; empty if there is no such room.
func (h *Host) Keys(code string) room.Keys { return h.rooms.keys(code) }

// Rooms returns the codes of all rooms, in order.
func (h *Host) Rooms() []string {
	return h.rooms.codes()
}

// Room returns the newest state of a room.
func (h *Host) Room(code string) (wire.Snapshot, bool) {
	a := h.actor(code)
	if a == nil {
		return wire.Snapshot{}, false
	}
	return a.newest(), true
}

// Watch yields the newest state of a room, now and at each change, until ctx, the room or the host
// ends. A slow reader misses states, but never the last one.
func (h *Host) Watch(ctx context.Context, code string) iter.Seq[wire.Snapshot] {
	a := h.actor(code)
	if a == nil {
		return func(func(wire.Snapshot) bool) {}
	}
	return func(yield func(wire.Snapshot) bool) {
		for view := range a.views.watch(ctx, a.ctx) {
			if !yield(view.Snapshot) {
				return
			}
		}
	}
}

// Go makes a room proceed, as its organiser would; see [room.Proceed].
func (h *Host) Go(code string) bool {
	a := h.actor(code)
	return a.post(func() { a.step(room.Proceed{}, asker{}) })
}

// Steer applies an action as the room's organiser. It does not say why an action fails.
func (h *Host) Steer(code string, action room.Action) bool {
	a := h.actor(code)
	return a.post(func() { a.step(room.Order{Credential: a.room.Keys().Secret, Action: action}, asker{}) })
}

// Order is [Host.Steer], but returns why an action fails.
func (h *Host) Order(code string, action room.Action) error {
	a := h.actor(code)
	if a == nil {
		return errors.New("the room is over")
	}
	_, err := a.query(room.Order{Credential: h.Keys(code).Secret, Action: action}, nil)
	return err
}

// Settings returns the settings of a room; ok is false if there is no such room.
func (h *Host) Settings(code string) (s wire.Settings, ok bool) {
	a := h.actor(code)
	return ask(a, func() wire.Settings { return a.room.Settings() })
}

// Resettle gives a room other settings; see [room.Resettle].
func (h *Host) Resettle(code string, s wire.Settings) {
	a := h.actor(code)
	a.post(func() { a.step(room.Resettle{Settings: s}, asker{}) })
}

// CloseRoom ends a room for good. People in it are sent away, and later callers with its code learn
// that it is over.
func (h *Host) CloseRoom(code string) {
	if a := h.actor(code); a != nil {
		a.close()
	}
}

// actor returns the room with a code as people type it, or nil.
func (h *Host) actor(code string) *actor { return h.rooms.find(code) }

// SetLimits changes the limits for strangers on a running public host. Rooms beyond a new limit
// stay as they are. See [public.Limits.Changed].
func (h *Host) SetLimits(to public.Limits) { h.limits.Store(h.limits.Load().Changed(to)) }

// here returns where the host is, empty and 0 if it does not know.
func (c *Config) here() (country string, asn uint32) {
	if c.PublicAddress == nil || c.Locate == nil {
		return "", 0
	}
	addr := c.PublicAddress()
	if !addr.IsValid() {
		return "", 0
	}
	return c.Locate(addr)
}
