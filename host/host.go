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
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host/access"
	"muster/host/admission"
	"muster/host/crowds"
	"muster/host/lists"
	"muster/host/metrics"
	"muster/host/openers"
	"muster/host/page"
	"muster/host/public"
	"muster/host/room"
	"muster/host/store"
	"muster/host/turns"
	"muster/host/wire"
)

// Config is what a host needs of its surroundings.
type Config struct {
	// List gets server lists. It is called once a round for all players.
	List func(ctx context.Context, game string) ([]discovery.Server, error)
	// Local are the servers of a game on the networks that this host is on, in the
	// list that List got last; nil knows none.
	Local func(game string) []room.LocalServer
	// Said is what the list that List got last says of its servers; nil says nothing.
	Said func(game string) discovery.Said
	// Gap returns how long a server of a game needs peace before it answers an address
	// again, 0 if that is not known.
	Gap func(game string) time.Duration
	// Age says how old the list is that List got last, if people should know; nil says
	// nothing.
	Age func(game string) string
	// Store keeps rooms over a restart, or beyond this host; nil keeps nothing.
	Store store.Store
	// Page answers at /; nil answers nothing there.
	Page http.Handler
	// Get answers below /get/, where people get the program; nil answers nothing there.
	Get http.Handler
	// Address is HOST:PORT where friends reach this host, for the links that a
	// page opened on this machine shows; empty takes the page's own.
	Address string
	// PublicURL is where friends reach this host through a proxy or a tunnel; all
	// links have it. Only its scheme and host count. nil without one.
	PublicURL *url.URL
	// Names are those by which browsers may ask for this host, besides addresses,
	// localhost, .local names and the public URL's: the machine's own and the
	// certificate's, which may begin with "*.".
	Names []string
	// Addresses are where else this host is reached, for players who have lost the
	// address they came by; nil knows none.
	Addresses func() []netip.AddrPort
	// Outside is a room's link for friends on the internet, if that is another one, or
	// empty; organisers read it. nil knows none.
	Outside func(room access.Key) string
	// Fingerprint is that of the host's own certificate, which links carry; empty
	// without one.
	Fingerprint string
	// Proxies are the reverse proxies whose X-Forwarded-For, -Host and -Proto
	// are believed.
	Proxies []netip.Prefix
	// MetricsFrom are the networks that may have the metrics, besides this machine.
	MetricsFrom []netip.Prefix
	// Home reports whether an address is of the host's own network, which has the
	// host's public address; nil knows none.
	Home func(netip.Addr) bool
	// Locate is where an address of the internet is: its country (ISO 3166-1 alpha-2) and
	// the AS that originates it, empty and 0 if that is not known. It is asked for players
	// and guests, and nobody is told; nil knows nothing.
	Locate func(netip.Addr) (country string, asn uint32)
	// Games are those that List knows and an organiser may choose; empty leaves
	// every room its game.
	Games []wire.Game
	// GameName is what a game is called, by its id, also if List does not know it; empty
	// is unknown. It may be nil.
	GameName func(game string) string
	// Editions are what a version is of the games of which the host knows more, by their
	// ids, and of all others; see [wire.Hello]. It may be nil.
	Editions func(version string) map[string]discovery.Edition
	// ConnectLink is a link that takes a browser to a game server, such as
	// steam://connect/…, or empty; nil knows none.
	ConnectLink func(game string, way wire.Way) string
	// Renewed is told of the organiser's new secret for a room, when the organiser has
	// renewed the link; nil is told nothing.
	Renewed func(code, secret string)
	// Loads tells this host's name among those that share the store, how many rooms each of
	// them has, and for how long they have been the same ones: rooms that gather or sleep
	// move to the host with the fewest. nil moves none.
	Loads func() (own string, rooms map[string]int, settled time.Duration)
	// Relay reaches the other hosts of the store, which have rooms whose people come
	// here, and whose people come there; nil is a host alone.
	Relay Relay
	// Announce posts what rooms tell where their groups talk; it waits for nothing. nil
	// posts nothing, and organisers hear so.
	Announce func(Post)
	// Public lets strangers open rooms; nil lets nobody.
	Public *public.Limits
	// IsOwnUser reports whether a connection on this machine, from one address to the
	// other, is of the user who runs the host: nobody else may use a ticket. nil takes
	// everybody for the user.
	IsOwnUser func(client, server net.Addr) bool
	// Files is how many files this process may have open at once, connections included; 0
	// is any number.
	Files int
	// Logger takes what the organiser does not need to read; nil discards it.
	Logger *slog.Logger
}

// Host holds rooms and their members' connections. It is an [http.Handler]'s
// maker, not a listener: whoever serves decides on addresses and TLS.
type Host struct {
	*surroundings
	*site
	*door
	replies
	*lifetime
	config   Config
	rooms    *lifecycle
	asks     *access.Pace // of rooms, by address
	pages    *admission.Pages
	tickets  *tickets
	counting counting // of rooms by who opened them, on a public host
	passing  passing
	upgrader websocket.Upgrader
	// transport asks other hosts by HTTP.
	transport *http.Transport
}

// New is a host with the rooms of its store.
func New(config Config) (*Host, error) {
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	if config.Store == nil {
		config.Store = &store.None{}
	}
	counted := metrics.New()
	h := &Host{
		site: newSite(config), door: &door{
			rooms:    newRegistry(),
			store:    counted.Timed(config.Store),
			isPublic: config.Public != nil,
		}, replies: replies{counted},
		config: config, tickets: &tickets{isOwn: config.IsOwnUser},
		lifetime: newLifetime(), asks: access.NewPace(asksAtOnce, askEvery), pages: admission.NewPages(admission.BoundsOf(config.Files)),
		upgrader: websocket.Upgrader{ReadBufferSize: 1024, WriteBufferPool: &sync.Pool{}},
	}
	h.upgrader.CheckOrigin = h.isSameOrigin
	h.surroundings = &surroundings{
		keeper: newKeeper(h.store, h.saves, config.Public != nil, config.Logger), lists: lists.New(h.store),
		source: lists.Source{
			List:  config.List,
			Local: config.Local,
			Said:  config.Said,
			Age:   config.Age,
			Gap:   config.Gap,
			Log:   config.Logger,
		},
		turns: turns.New(runtime.GOMAXPROCS(0)), crowds: crowds.New(), metrics: counted,
		poster:    poster{config.Announce, config.PublicURL, config.GameName},
		page:      page.Host{Games: config.Games, Name: config.GameName, Link: config.ConnectLink, Posts: config.Announce != nil},
		addresses: config.Addresses, log: config.Logger,
	}
	h.counting.hosts = func() []string { return nil }
	if p := config.Public; p != nil {
		h.limits.Store(p)
		find := func(code string) store.State { return h.store.Find(code).State }
		h.counting.own = openers.New(openers.Limit{
			All:   p.Rooms,
			OfOne: p.PerAddress,
		}, openers.Limit{All: p.Standing.Rooms, OfOne: p.Standing.PerAddress}, find)
		if config.Relay != nil && p.Hosts != nil {
			h.counting.hosts = p.Hosts
		}
		h.guard.Public, h.guard.Hosts = true, func() int { return len(h.counting.hosts()) }
	}
	h.rooms = &lifecycle{surroundings: h.surroundings, registry: h.door.rooms, ctx: h.ctx, hosts: h.counting.hosts}
	h.metrics.ShowStages(h.rooms.stages)
	h.metrics.ShowStore(func() bool { return h.keeper.unkept() == "" })
	h.transport = &http.Transport{
		DialContext:         h.dialOwner,
		DisableCompression:  true,
		MaxIdleConnsPerHost: ownersKept,
		IdleConnTimeout:     time.Minute,
	}
	h.counting.others = h.transport
	// The rooms that are this host's start now; later it takes over those of hosts that end.
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

// Close ends all rooms, saved, and all connections, and waits for them, but for what
// Drain has given up: nor is a store waited for that it hangs on.
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

// Drain ends all rooms in good order: each is saved, left to whoever is to have it, and
// its people are told to come back. Then it ends all connections. What has not come to an
// end when ctx has is given up: whatever hangs, a host that is told to end does.
func (h *Host) Drain(ctx context.Context) {
	h.rooms.close()
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.rooms.running.Wait()
		h.hangUp()
		h.work.Wait()
	}()
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	h.giveUp() // the store
	h.hangUp()
	select {
	case <-ended:
	case <-time.After(abandonAfter):
		h.abandoned.Store(true)
		h.config.Logger.Error("some of what this host did had to be given up")
	}
}

// abandonAfter is how long what was given up may take to notice.
const abandonAfter = time.Second

// Open opens a room and returns its code and the organiser's secret. Whoever is told
// the code finds the room after a crash of this host, if the store can keep anything.
func (h *Host) Open(settings wire.Settings) (code, secret string, err error) {
	return h.rooms.open(netip.Addr{}, settings)
}

// Keys are what people get into a room with; empty if there is none of the code.
func (h *Host) Keys(code string) room.Keys { return h.rooms.keys(code) }

// Rooms are the codes of all rooms, in order.
func (h *Host) Rooms() []string {
	return h.rooms.codes()
}

// Room is the newest state of a room.
func (h *Host) Room(code string) (wire.Snapshot, bool) {
	a := h.actor(code)
	if a == nil {
		return wire.Snapshot{}, false
	}
	view, _ := a.views.get()
	return view.Snapshot, true
}

// Watch yields the newest state of a room, now and whenever it changes, until
// ctx, the room or the host ends. A slow reader misses states, never the last.
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

// Go is the organiser's word to a room; see [room.Proceed].
func (h *Host) Go(code string) bool {
	a := h.actor(code)
	return a.post(func() { a.step(room.Proceed{}, asker{}) })
}

// Steer has a room do what its organiser says at this machine; nobody hears why not, if
// it cannot be done.
func (h *Host) Steer(code string, action room.Action) bool {
	a := h.actor(code)
	return a.post(func() { a.step(room.Order{Credential: a.room.Keys().Secret, Action: action}, asker{}) })
}

// Order is [Host.Steer] for whoever wants to hear why not.
func (h *Host) Order(code string, action room.Action) error {
	a := h.actor(code)
	if a == nil {
		return errors.New("the room is over")
	}
	_, err := a.query(room.Order{Credential: h.Keys(code).Secret, Action: action}, nil)
	return err
}

// Settings are those of a room, if there is one of the code.
func (h *Host) Settings(code string) (s wire.Settings, ok bool) {
	a := h.actor(code)
	return ask(a, func() wire.Settings { return a.room.Settings() })
}

// Resettle gives a room other settings; see [room.Resettle].
func (h *Host) Resettle(code string, s wire.Settings) {
	a := h.actor(code)
	a.post(func() { a.step(room.Resettle{Settings: s}, asker{}) })
}

// CloseRoom ends a room for good. Whoever is in it is sent away, and whoever
// comes with its code later hears that it is over.
func (h *Host) CloseRoom(code string) {
	if a := h.actor(code); a != nil {
		a.close()
	}
}

// actor is the room of a code as people type it, or nil.
func (h *Host) actor(code string) *actor { return h.rooms.find(code) }

// SetLimits changes what strangers may on a public host that runs. Rooms beyond a new limit
// stay as they are. See [public.Limits.Changed].
func (h *Host) SetLimits(to public.Limits) { h.limits.Store(h.limits.Load().Changed(to)) }
