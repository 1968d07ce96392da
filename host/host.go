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
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"muster/host/access"
	"muster/host/page"
	"muster/host/room"
	"muster/host/store"
	"muster/host/wire"
)

// Config is what a host needs of its surroundings.
type Config struct {
	// List gets server lists. It is called once a round for all players.
	List ListFunc
	// Local are the servers of a game on the networks that this host is on, in the
	// list that List got last; nil knows none.
	Local func(game string) []room.LocalServer
	// Store keeps rooms over a restart; nil keeps nothing.
	Store store.Store
	// Page answers at /; nil answers nothing there.
	Page http.Handler
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
	// Games are those that List knows and an organiser may choose; empty leaves
	// every room its game.
	Games []wire.Game
	// ConnectLink is a link that takes a browser to a game server, such as
	// steam://connect/…, or empty; nil knows none.
	ConnectLink func(game, address string) string
	// Renewed is told of the organiser's new secret for a room, when the organiser has
	// renewed the link; nil is told nothing.
	Renewed func(code, secret string)
	// Logger takes what the organiser does not need to read; nil discards it.
	Logger *slog.Logger
}

// Host holds rooms and their members' connections. It is an [http.Handler]'s
// maker, not a listener: whoever serves decides on addresses and TLS.
type Host struct {
	config   Config
	metrics  *metrics
	guard    access.Guard
	asks     *access.Pace // of rooms, by address
	tickets  tickets
	ended    *store.Tombstones
	upgrader websocket.Upgrader
	lists    lists
	ctx      context.Context
	cancel   context.CancelFunc
	work     sync.WaitGroup // rooms and connections; see begin

	mu     sync.Mutex // guards following
	rooms  map[string]*actor
	closed bool
}

// New is a host with the rooms of its store.
func New(config Config) (*Host, error) {
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	if config.Store == nil {
		config.Store = store.None{}
	}
	h := &Host{
		config: config, metrics: newMetrics(), rooms: map[string]*actor{}, asks: access.NewPace(asksAtOnce, askEvery),
		upgrader: websocket.Upgrader{ReadBufferSize: 1024, WriteBufferPool: &sync.Pool{}},
	}
	h.upgrader.CheckOrigin = h.isSameOrigin
	h.ended = store.NewTombstones(config.Store)
	h.ctx, h.cancel = context.WithCancel(context.Background())
	if err := h.restore(time.Now()); err != nil {
		h.stop()
		return nil, err
	}
	return h, nil
}

// restore starts the saved rooms, and forgets those that are over. A room that
// cannot be read is reported and kept for whoever can.
func (h *Host) restore(now time.Time) error {
	rooms, err := h.config.Store.Load()
	if err != nil {
		return fmt.Errorf("host: rooms not restored: %w", err)
	}
	for code, data := range rooms {
		over, err := h.ended.Read(code, data, now)
		if err != nil { // such as a full disk: it is tried again the next time
			h.config.Logger.Error("room not forgotten", "room", code, "error", err)
		}
		if over {
			continue
		}
		restored, err := room.Restore(data, h.lists.restored)
		switch {
		case err != nil:
			h.config.Logger.Error("room not restored", "room", code, "error", err)
		case restored.Over(now):
			if err := h.ended.Save(code, now); err != nil {
				h.config.Logger.Error("room not forgotten", "room", code, "error", err)
			}
		default:
			a := h.start(restored)
			a.post(func() { a.step(room.Resume{}, nil) })
		}
	}
	return nil
}

// Close ends all rooms, saved, and all connections, and waits for them.
func (h *Host) Close() error {
	h.stop()
	return h.config.Store.Close()
}

func (h *Host) stop() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.work.Wait()
}

// begin starts a goroutine that Close waits for, unless it is too late.
func (h *Host) begin(do func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.work.Go(do)
	}
	return !h.closed
}

// Open opens a room and returns its code and the organiser's secret.
func (h *Host) Open(settings wire.Settings) (code, secret string) {
	secret = access.NewSecret()
	for code == "" || h.actor(code) != nil || h.ended.Has(code) {
		code = access.NewCode(len(h.Rooms()))
	}
	a := h.start(room.New(room.Keys{Code: code, Link: access.NewLinkKey(), Secret: secret}, settings, time.Now()))
	ask(a, func() bool { a.save(); return true }) // whoever is told the code now finds the room after a crash
	return code, secret
}

// Keys are what people get into a room with; empty if there is none of the code.
func (h *Host) Keys(code string) room.Keys {
	a := h.actor(code)
	keys, _ := ask(a, func() room.Keys { return a.room.Keys() })
	return keys
}

// Rooms are the codes of all rooms, in order.
func (h *Host) Rooms() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.rooms))
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
	return a.post(func() { a.step(room.Proceed{}, nil) })
}

// Settings are those of a room, if there is one of the code.
func (h *Host) Settings(code string) (s wire.Settings, ok bool) {
	a := h.actor(code)
	return ask(a, func() wire.Settings { return a.room.Settings() })
}

// Resettle gives a room other settings; see [room.Resettle].
func (h *Host) Resettle(code string, s wire.Settings) {
	a := h.actor(code)
	a.post(func() { a.step(room.Resettle{Settings: s}, nil) })
}

// CloseRoom ends a room for good. Whoever is in it is sent away, and whoever
// comes with its code later hears that it is over.
func (h *Host) CloseRoom(code string) {
	if a := h.actor(code); a != nil {
		h.ended.Note(a.code, time.Now())
		a.post(func() { a.step(room.Close{}, nil) })
	}
}

// start gives a room its goroutine.
func (h *Host) start(r *room.Room) *actor {
	a := &actor{
		host: h, code: r.Keys().Code, keys: r.Keys(), open: r.Settings().Open, log: h.config.Logger.With("room", r.Keys().Code),
		whatIfs: access.NewPace(whatIfsAtOnce, whatIfEvery),
		views:   newBoard(&page.View{Snapshot: r.Snapshot(), Badges: r.Badges()}), inbox: make(chan func()), room: r, links: map[string]*link{},
	}
	a.ctx, a.end = context.WithCancel(h.ctx)
	h.mu.Lock()
	h.rooms[a.code] = a
	h.mu.Unlock()
	h.metrics.rooms.Inc()
	h.begin(func() {
		a.run()
		if h.ctx.Err() != nil {
			return // the host ends, the room does not
		}
		h.ended.Note(a.code, time.Now())
		h.mu.Lock()
		delete(h.rooms, a.code)
		h.mu.Unlock()
		h.metrics.rooms.Dec()
		for {
			err := h.ended.Save(a.code, time.Now())
			if err == nil {
				return
			}
			a.log.Error("room not forgotten", "error", err)
			select {
			case <-time.After(longestRest):
			case <-h.ctx.Done():
				return
			}
		}
	})
	return a
}

// actor is the room of a code as people type it, or nil.
func (h *Host) actor(code string) *actor {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rooms[access.CanonicalCode(code)]
}
