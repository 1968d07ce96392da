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
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/discovery/plan/topology"
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
	List ListFunc
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
	config   Config
	metrics  *metrics.Metrics
	guard    access.Guard
	asks     *access.Pace // of rooms, by address
	bounds   admission.Bounds
	pages    *admission.Pages
	tickets  tickets
	counting counting // of rooms by who opened them, on a public host
	becoming int      // rooms that are about to stay; mu guards it
	passing  passing
	store    store.Store
	upgrader websocket.Upgrader
	lists    *lists.Lists
	turns    *turns.Turns
	crowds   *crowds.Crowds
	disk     disk
	// limits are what strangers may now, nil if the host is not public.
	limits atomic.Pointer[public.Limits]
	// transport asks other hosts by HTTP.
	transport *http.Transport
	// ctx is the rooms', lines the connections', which outlive them, and saves is that of
	// what is told to the store.
	ctx, lines, saves      context.Context
	cancel, hangUp, giveUp context.CancelFunc
	rooming                sync.WaitGroup // rooms
	abandoned              atomic.Bool    // it ends without all that it began
	work                   sync.WaitGroup // connections and all else; see begin
	// handing has a place for each room that may be handed over at the same time.
	handing chan struct{}

	mu     sync.Mutex // guards following
	rooms  map[string]*actor
	closed bool
	// claiming are the rooms that are being claimed, and fallen those whose goroutine
	// has panicked. Of unreadable ones, which this host cannot hold, people hear why.
	claiming, fallen map[string]bool
	unreadable       map[string]*wire.Refusal
}

// New is a host with the rooms of its store.
func New(config Config) (*Host, error) {
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	h := &Host{
		config: config, store: config.Store, metrics: metrics.New(), rooms: map[string]*actor{}, turns: turns.New(runtime.GOMAXPROCS(0)), crowds: crowds.New(), claiming: map[string]bool{}, fallen: map[string]bool{}, unreadable: map[string]*wire.Refusal{}, asks: access.NewPace(asksAtOnce, askEvery), bounds: admission.BoundsOf(config.Files),
		upgrader: websocket.Upgrader{ReadBufferSize: 1024, WriteBufferPool: &sync.Pool{}},
	}
	h.upgrader.CheckOrigin = h.isSameOrigin
	if h.store == nil {
		h.store = &store.None{}
	}
	h.store = h.metrics.Timed(h.store)
	h.lists, h.pages = lists.New(h.store), admission.NewPages(h.bounds)
	h.metrics.ShowStages(h.stages)
	h.metrics.ShowStore(func() bool { return h.unkept() == "" })
	h.counting.hosts = func() []string { return nil }
	if p := config.Public; p != nil {
		h.limits.Store(p)
		find := func(code string) store.State { return h.store.Find(code).State }
		h.counting.own = openers.New(openers.Limit{All: p.Rooms, OfOne: p.PerAddress}, openers.Limit{All: p.Standing.Rooms, OfOne: p.Standing.PerAddress}, find)
		if config.Relay != nil && p.Hosts != nil {
			h.counting.hosts = p.Hosts
		}
		h.guard.Public, h.guard.Hosts = true, func() int { return len(h.counting.hosts()) }
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.lines, h.hangUp = context.WithCancel(context.Background())
	h.saves, h.giveUp = context.WithCancel(context.Background())
	h.handing = make(chan struct{}, claimsAtOnce)
	h.transport = &http.Transport{DialContext: h.dialOwner, DisableCompression: true, MaxIdleConnsPerHost: ownersKept, IdleConnTimeout: time.Minute}
	h.counting.others = h.transport
	h.restore()
	if config.Loads != nil {
		h.begin(func() { h.evenOut(h.ctx) })
	}
	if config.Relay != nil {
		h.serveRelay(config.Relay.Listener())
	}
	return h, nil
}

const (
	// claimsAtOnce is how many rooms are claimed at the same time, or handed over: a
	// store answers them together.
	claimsAtOnce = 64
	// storeWait is how long a store may take for what it is asked, but for what binds,
	// which waits for as long as it takes.
	storeWait = 10 * time.Second
)

// restore starts the rooms that are this host's, and goes on to take over those of
// hosts that end.
func (h *Host) restore() {
	now, end := context.WithCancel(h.ctx)
	end()
	h.adopt(now)
	h.begin(func() { h.adopt(h.ctx) })
}

// adopt claims the rooms that the store gives to this host until ctx ends.
func (h *Host) adopt(ctx context.Context) {
	var claims sync.WaitGroup
	defer claims.Wait()
	atOnce := make(chan struct{}, claimsAtOnce)
	for code := range h.store.Adopt(ctx) {
		if h.actor(code) != nil || h.isUnreadable(code) {
			continue
		}
		atOnce <- struct{}{}
		claims.Go(func() {
			defer func() { <-atOnce }()
			h.claim(code)
		})
	}
}

// claim makes a saved room this host's and starts it, or forgets it if it is over, unless
// somebody is at it already. A room that cannot be read is reported and left for whoever
// can.
func (h *Host) claim(code string) {
	h.mu.Lock()
	isTaken := h.closed || h.claiming[code] || h.rooms[code] != nil || h.unreadable[code] != nil
	if !isTaken {
		h.claiming[code] = true
	}
	h.mu.Unlock()
	if isTaken {
		return
	}
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.claiming, code)
	}()
	ctx, cancel := context.WithTimeout(h.ctx, storeWait)
	defer cancel()
	before := h.store.Find(code)
	claim, data, err := h.store.Claim(ctx, code)
	switch {
	case errors.Is(err, store.ErrElsewhere), errors.Is(err, store.ErrOver): // another host was faster
		return
	case isAway(err): // the store has its own word in the log, once for all rooms
		h.config.Logger.Debug("room not restored", "error", err)
		return
	case err != nil:
		h.config.Logger.Error("room not restored", "error", err)
		return
	}
	restored, err := room.RestoreKept(data, h.lists.Restored, room.Kept{
		List: func(hash string) (*topology.Tree, error) { return h.lists.Kept(ctx, hash) },
		Own:  func(hash string) ([]netip.AddrPort, error) { return h.lists.OwnKept(ctx, hash) },
	})
	switch {
	case isAway(err):
		h.config.Logger.Debug("room not restored", "error", err)
		claim.Release(ctx) // for whoever needs it next
	case err != nil:
		h.config.Logger.Error("room not restored", "error", err)
		h.leaveAlone(code, err)
		claim.Release(ctx)
	case h.limits.Load().IsOver(restored, time.Now()):
		if err := claim.End(ctx); err != nil { // it is tried again with the next start
			h.tellUnforgotten("", err)
		}
	default:
		a := h.start(restored, room.Resume{}, claim, nil, netip.Addr{})
		if a == nil {
			claim.Release(h.saves)
			return
		}
		if by := h.store.Find(code).Host; before.Host != "" && before.Host != by {
			a.log.Info("room taken over", "from", before.Host, "by", by, "epoch", claim.Epoch())
		}
	}
}

// leaveAlone has a room that this host cannot hold be nobody's here, whoever comes.
func (h *Host) leaveAlone(code string, why error) {
	refusal := &wire.Refusal{Reason: wire.ReasonBusy, Message: "this host cannot read the room", Hint: "the organiser finds in the host's log why; programs and pages try again by themselves"}
	if errors.Is(why, room.ErrNewer) {
		refusal.Message, refusal.Hint = "this room is on a newer Muster than this host", "it goes on where that Muster runs; programs and pages try again by themselves"
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unreadable[code] = refusal
}

// isUnreadable reports whether this host has found that it cannot hold a saved room.
func (h *Host) isUnreadable(code string) bool { return h.unreadableRoom(code) != nil }

// unreadableRoom is what people hear who come for such a room, or nil.
func (h *Host) unreadableRoom(code string) *wire.Refusal {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unreadable[code]
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
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.rooming.Wait()
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

// begin starts a goroutine that Close waits for, unless it is too late.
func (h *Host) begin(do func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.work.Go(do)
	}
	return !h.closed
}

// Open opens a room and returns its code and the organiser's secret. Whoever is told
// the code finds the room after a crash of this host, if the store can keep anything.
func (h *Host) Open(settings wire.Settings) (code, secret string, err error) {
	return h.openFor(netip.Addr{}, settings)
}

// openFor opens a room for a network.
func (h *Host) openFor(from netip.Addr, settings wire.Settings) (code, secret string, err error) {
	ctx, cancel := context.WithTimeout(h.ctx, storeWait)
	defer cancel()
	own := h.lists.KeepOwn(ctx, settings.Servers)
	for {
		keys := room.Keys{Code: h.newCode(), Link: access.NewLinkKey(), Secret: access.NewSecret()}
		if h.store.Find(keys.Code).State != store.Unknown {
			continue
		}
		opened := room.New(keys, settings, time.Now())
		if own != "" {
			opened.Step(room.OwnKept{Kept: own}, time.Now()) // which leads to nothing
		}
		data, err := opened.Save()
		if err != nil {
			return "", "", err
		}
		claim, err := h.store.Create(ctx, keys.Code, access.PublicID(keys.Link), data)
		switch {
		case errors.Is(err, store.ErrTaken):
			continue
		case claim == nil:
			return "", "", fmt.Errorf("host: no room opened: %w", err)
		}
		if h.start(opened, room.Tick{}, claim, err, from) == nil {
			return "", "", errors.Join(moved(), claim.End(h.saves))
		}
		if err != nil && h.mustKeep() {
			h.CloseRoom(keys.Code) // nobody knows of it
			return "", "", fmt.Errorf("host: no room opened: %w", err)
		}
		return keys.Code, keys.Secret, nil
	}
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

// stages returns the phase of each room.
func (h *Host) stages() (all []wire.Stage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.rooms {
		view, _ := a.views.get()
		all = append(all, view.Snapshot.Room.Stage)
	}
	return all
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
		a.over.Store(true)
		a.post(func() { a.step(room.Close{}, asker{}) })
	}
}

// start gives a room its goroutine, in which something happens first, before anybody comes
// in. The room is as the store has it, or could not be kept yet. It is nil if the host ends.
func (h *Host) start(r *room.Room, first room.Input, claim store.Claim, unkept error, opener netip.Addr) *actor {
	keys, shows := r.Keys(), r.View()
	a := &actor{
		host: h, code: keys.Code, opener: opener, keys: keys, claim: claim, open: r.Settings().Open, log: h.config.Logger.With("room", access.PublicID(keys.Link)),
		whatIfs: access.NewPace(whatIfsAtOnce, whatIfEvery), supplies: access.NewPace(suppliesAtOnce, supplyEvery),
		views: newBoard(&page.View{Snapshot: shows.Snapshot, Badges: shows.Badges}), inbox: make(chan func()), done: make(chan struct{}), room: r, links: map[string]*link{},
	}
	a.ctx, a.end = context.WithCancelCause(h.ctx)
	a.shown = -1
	a.takesCode.Store(r.TakesCode())
	a.saving = saving{revision: r.Revision(), savedAt: time.Now()}
	a.written(unkept)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	h.rooms[a.code] = a
	h.metrics.Rooms.Inc()
	h.rooming.Go(func() {
		a.run(first)
		h.ended(a)
	})
	return a
}

// ended takes a room out of the host whose goroutine has ended. If it is over, all but
// that it was is forgotten; if it panicked, it goes on once as it was saved last.
func (h *Host) ended(a *actor) {
	isOver := context.Cause(a.ctx) == errOver
	a.over.Store(isOver)
	for isOver {
		ctx, cancel := context.WithTimeout(h.saves, storeWait)
		err := a.claim.End(ctx)
		cancel()
		h.drop(a)
		if err == nil || errors.Is(err, store.ErrFenced) { // or it is another host's to forget
			h.disk.keeps(a.code, time.Now(), h.config.Logger)
			return
		}
		h.tellUnforgotten(a.code, err)
		select {
		case <-time.After(longestRest):
		case <-h.ctx.Done():
			return
		}
	}
	h.disk.keeps(a.code, time.Now(), h.config.Logger) // or it is another host's, or saved with the next start
	switch context.Cause(a.ctx) {
	case errFell:
	case errGiven:
		h.drop(a)
		for h.store.Find(a.code).State == store.Here && rest(h.ctx, time.Second) { // it could not be given
			h.claim(a.code)
			if h.actor(a.code) != nil {
				return
			}
		}
		return
	default:
		h.drop(a)
		return
	}
	h.mu.Lock()
	again := h.fallen[a.code]
	h.fallen[a.code] = true
	h.mu.Unlock()
	if again {
		h.leaveAlone(a.code, errFell)
	}
	h.drop(a)
	a.claim.Release(h.saves)
	h.claim(a.code)
}

// tellUnforgotten tells the operator of a room that is over, and that the store could not
// forget; an empty code stands for one that is tried again with the next start.
func (h *Host) tellUnforgotten(code string, err error) {
	if !isAway(err) { // or the store has its own word in the log
		h.disk.fails(code, err, time.Now(), h.mustKeep(), h.config.Logger)
	}
}

func (h *Host) drop(a *actor) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rooms[a.code] == a {
		delete(h.rooms, a.code)
		h.metrics.Rooms.Dec()
	}
}

// actor is the room of a code as people type it, or nil.
func (h *Host) actor(code string) *actor {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rooms[access.CanonicalCode(code)]
}
