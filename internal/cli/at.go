package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/internal/lobby"
	"muster/internal/remote"
	"muster/internal/term"
	"muster/peer"
)

// onlyHere are the flags of muster host that make no sense for a room on a public
// host, and why.
var onlyHere = []struct{ flag, why string }{
	{"listen", "nobody connects to this machine"},
	{"tls", "the public host encrypts"},
	{"tls-cert", "the public host has a certificate of its own"},
	{"tls-key", "the public host has a certificate of its own"},
	{"port-map", "nobody connects to this machine"},
	{"public-url", "the public host has an address of its own"},
	{"host-name", "the public host has names of its own"},
	{"trusted-proxy", "the public host knows its own"},
	{"metrics-from", "the public host counts"},
	{"no-mdns", "such a room is not announced on the local network"},
	{"open", "every room on a public host has a code"},
	{"country-db", "the public host looks up where servers are"},
	{"as-db", "the public host looks up where servers are"},
	{"geo-overrides", "the public host looks up where servers are"},
}

// away is a room on a public host, which this program has opened.
type away struct {
	*hosting
	base *url.URL
	host *remote.Host
	game game.Game
	room invite.Link // the organiser's
	// page is the credential of the organiser's own player, which steers, too, when the
	// organiser has renewed the secret. stage is where the room stood last.
	page  atomic.Pointer[string]
	stage atomic.Pointer[wire.Stage]
	// brings: the list is the organiser's own. begun is told the game of each round that
	// begins, to bring it anew.
	brings bool
	begun  chan string
}

// runAt has the room on a public host, and plays in it.
func (h *hosting) runAt(ctx context.Context) error {
	for _, f := range onlyHere {
		if !h.given(f.flag) {
			continue
		}
		if h.given("at") {
			return hint.With(usagef("--%s makes no sense with --at: %s", f.flag, f.why), "leave out one of the two")
		}
		return hint.With(usagef("--%s makes no sense for a room on %s: %s", f.flag, h.at, f.why), "add --here to open the room on this machine")
	}
	base, err := publicHost(h.at)
	if err != nil {
		return err
	}
	g, err := h.checkRoom()
	if err != nil {
		return err
	}
	games, err := h.games()
	if err != nil {
		return err
	}
	h.lists.Games, h.lists.Say, h.lists.Warn, h.lists.Log = games, h.screen.Say, h.warn, h.logger()
	h.lists.Public = func() netip.Addr { return netip.Addr{} }
	h.launcher.Games = games
	if base.Scheme == "http" && !isNear(base.Host) {
		h.warn(fmt.Errorf("%s does not encrypt: whoever is in between can steer the room, and read what players say", base))
	}
	a := &away{hosting: h, base: base, host: remote.New(base, nil), game: g, brings: h.bringsList(g), begun: make(chan string, 1)}
	if a.room, err = a.find(ctx); err == nil {
		err = a.hold(ctx)
	}
	return explainAt(err, base)
}

// publicHost reads where a public host is: such as muster.example, by TLS.
func publicHost(text string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	base, err := invite.ParseBase(text)
	if err != nil {
		return nil, hint.With(usagef("--at: %w", err), "scheme and host are wanted, such as https://muster.example")
	}
	return base, nil
}

// isNear reports whether an address is one of this machine or of a private network.
func isNear(hostport string) bool {
	name, _, err := net.SplitHostPort(hostport)
	if err != nil {
		name = hostport
	}
	addr, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return name == "localhost" || err == nil && discovery.ReachOf(addr) != discovery.InternetReach
}

// hold plays in the room until ctx ends or, with --once, the round is over.
func (a *away) hold(ctx context.Context) error {
	friends := a.room
	friends.Secret = ""
	a.invite(friends)
	a.steering(a.room.Personal(a.room.Secret))
	if personal := a.room.Personal(a.room.Secret); !a.noBrowser || a.home != nil {
		a.sits.Present(ctx, personal, func() string { return lobby.Ticket(ctx, personal) })
	}
	orders := make(chan order, 1)
	var work sync.WaitGroup
	defer work.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	work.Go(func() { a.steer(ctx, orders) })
	if a.brings {
		work.Go(func() { a.bring(ctx) })
	}
	steers := &lobby.Steering{Screen: a.screen, Counts: true, Order: func(name string, action room.Action) {
		select {
		case orders <- order{name, action}:
		default: // one is under way: whoever presses twice means once
		}
	}}
	defer endsFromHome(ctx, a.home, steers)()
	console := a.console(steers)
	defer a.starts(ctx, a.room.Code, console, func() wire.Settings { return a.settings }, func(ctx context.Context, sees func(wire.Snapshot)) {
		for s, err := range a.host.Watch(ctx, remote.Key{Code: a.room.Code, Link: a.room.Key}, func(error) {}) {
			if err != nil {
				return
			}
			sees(s)
		}
	}, func(s room.Started) error { return a.order(ctx, "started", s) })()
	view := &lobby.View{Screen: a.screen, Help: a.sits.Keys(lobby.OrganiserHelp(!a.noPlay)), Steers: steers, Notes: a.notes(a.base.String())}
	if a.noPlay {
		return a.follow(ctx, view)
	}
	a.launcher.Room, a.launcher.Console, a.launcher.After = a.room.Code, console, a.sits.Later()
	a.canHost.portMap = a.portMap
	beacon, err := a.canHost.shine(ctx, a.sits)
	if err != nil {
		return err
	}
	defer beacon.Stop()
	playing := &lobby.Player{Desk: a.sits, View: view, Launcher: &a.launcher, Asking: a.asking(&a.probing), Once: a.once, Beacon: beacon, Shares: a.shares, Favourites: favouritesFile(), LAN: a.lists.LAN, Steers: true, Sees: a.sees}
	err = playing.Play(ctx, a.room)
	if errors.Is(err, lobby.ErrEnded) {
		return nil
	}
	var refusal wire.Refusal
	if isOut := errors.As(err, &refusal) && (refusal.Reason == wire.ReasonRemoved || refusal.Reason == wire.ReasonLeft); isOut || err == nil && ctx.Err() == nil && !a.once {
		a.screen.Say("you do not play any more: %s. The room goes on, and so does this program; Ctrl-C ends it", cmp.Or(discovery.CleanText(refusal.Message), "you have left the room"))
		return a.follow(ctx, view)
	}
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		a.screen.Say("the room stays open without this program; the same command goes on with it")
	}
	return lobby.Explain(err, a.room)
}

// sees notes what the room tells the organiser's own player.
func (a *away) sees(e peer.Event) {
	switch e := e.(type) {
	case peer.Joined:
		a.page.Store(&e.Page)
	case peer.RoomChanged:
		a.moves(e.Room)
	}
}

// moves notes where the room stands.
func (a *away) moves(s wire.Snapshot) {
	before := a.stage.Swap(&s.Room.Stage)
	if s.Room.Stage == wire.Listing && (before == nil || *before != wire.Listing) {
		select {
		case a.begun <- s.Room.Game:
		default: // one is under way
		}
	}
}

// bring gives the room the organiser's own list anew as each round begins.
func (a *away) bring(ctx context.Context) {
	for {
		var id string
		select {
		case id = <-a.begun:
		case <-ctx.Done():
			return
		}
		g, err := a.lists.Games.Find(id)
		if err != nil {
			continue // one that the organiser chose on the page, and the host lists
		}
		servers, err := a.servers(ctx, g)
		if err == nil {
			err = a.order(ctx, "servers", map[string]any{"game": g.ID, "servers": servers})
		}
		if err != nil && ctx.Err() == nil {
			a.warn(fmt.Errorf("the room takes the list from before: %w", err))
		}
	}
}

// follow tells of the room without a player in it, until the night is over: a room that
// stays is there after that, too, and this program has nothing to do for it.
func (a *away) follow(ctx context.Context, n *lobby.View) error {
	var ended error
	awake := false
	room := func(yield func(wire.Snapshot) bool) {
		watch := a.host.Watch(ctx, remote.Key{Code: a.room.Code, Link: a.room.Key}, func(err error) { n.Show(peer.Disconnected{Err: err}) })
		for s, err := range watch {
			if ended = err; err != nil {
				var refusal wire.Refusal
				if errors.As(err, &refusal) && (n.HasEnded || n.Ends(refusal)) {
					ended = nil // it is over, as it said
				}
				return
			}
			n.Show(peer.Joined{})
			a.moves(s)
			if !yield(s) || awake && n.HasEnded {
				return
			}
			awake = awake || !n.HasEnded
		}
	}
	if _, err := lobby.Follow(iter.Seq[wire.Snapshot](room), n, a.once); err != nil {
		return err
	}
	return ended
}

// order is what the organiser wants of the room: an action, and what goes with it.
type order struct {
	action string
	with   any
}

// steer passes on what the organiser types.
func (a *away) steer(ctx context.Context, orders <-chan order) {
	for {
		var o order
		select {
		case o = <-orders:
		case <-ctx.Done():
			return
		}
		if err := a.order(ctx, o.action, o.with); err != nil && ctx.Err() == nil {
			for _, line := range hint.Lines(explainAt(err, a.base)) {
				a.screen.Say("%s", line)
			}
		}
	}
}

// order has the room do what the organiser wants: by the secret or, if the organiser has
// renewed that on the page, as the organiser's own player.
func (a *away) order(ctx context.Context, action string, order any) error {
	key := remote.KeyOf(a.room)
	err := a.host.Order(ctx, key, action, order)
	var refusal wire.Refusal
	if page := a.page.Load(); errors.As(err, &refusal) && refusal.Reason == wire.ReasonSecret && page != nil {
		key.Credential = *page
		err = a.host.Order(ctx, key, action, order)
	}
	if errors.As(err, &refusal) && refusal.Reason == wire.ReasonSecret {
		err = hint.With(errors.New("this program steers the room no more: the organiser's link was renewed, or handed on"), "steer from the page")
	}
	return err
}

// find is the room from before, or a new one.
func (a *away) find(ctx context.Context) (invite.Link, error) {
	patch := a.patch()
	if !a.fresh {
		for old := range a.keptRooms() {
			if _, stays := old.Settings["every"]; stays && !a.given("room") && !a.given("every") {
				continue // it is called by name
			}
			if old.Game != a.settings.Game || old.Name != a.settings.Name && a.given("room") {
				continue
			}
			l, err := invite.Parse(old.Link, "")
			if err != nil {
				continue
			}
			_, err = a.host.Room(ctx, remote.Key{Code: l.Code, Link: l.Key})
			var refusal wire.Refusal
			switch {
			case errors.As(err, &refusal) && (refusal.Reason == wire.ReasonClosed || refusal.Reason == wire.ReasonCode):
				a.screen.Say("room %s from before is over", l.Code)
				old.forget()
				continue
			case err != nil:
				return l, err
			}
			a.screen.Say("going on with room %s from before; --new opens another", l.Code)
			a.brings = a.brings || old.Brings
			old.Opened = time.Now().UTC() // or a room that stays would be forgotten
			if err := old.keep(a.base.String()); err != nil {
				a.warn(err)
			}
			a.room = l
			if _, stays := old.Settings["every"]; stays {
				if err := a.order(ctx, "wake", nil); err != nil {
					a.warn(err)
				}
			}
			if a.room = l; !reflect.DeepEqual(patch, old.Settings) && len(patch) > 0 {
				a.resettle(ctx, old, patch)
			}
			return l, nil
		}
	}
	return a.open(ctx, patch)
}

// resettle gives the room from before what the command line says now.
func (a *away) resettle(ctx context.Context, old kept, patch map[string]json.RawMessage) {
	if err := a.order(ctx, "settings", map[string]any{"settings": patch}); err != nil {
		a.warn(fmt.Errorf("the room stays as it was: %w", err))
		return
	}
	old.Settings = patch
	if err := old.keep(a.base.String()); err != nil {
		a.warn(err)
	}
}

// patch is what the command line says of the settings that a room can change.
func (a *away) patch() map[string]json.RawMessage {
	patch := map[string]json.RawMessage{}
	for _, row := range wire.Table() {
		flag := row.Flag
		if row.Key == placesFlag {
			flag = placesFlag
		}
		if flag == "" || !wire.OnPage(row) || !a.given(flag) {
			continue
		}
		value, err := json.Marshal(row.Of(&a.settings))
		if err != nil {
			panic(fmt.Sprintf("cli: setting %s: %v", row.Key, err)) // texts, numbers and truths
		}
		patch[row.Key] = value
	}
	return patch
}

// open opens a room on the public host, with what it cannot get itself.
func (a *away) open(ctx context.Context, patch map[string]json.RawMessage) (invite.Link, error) {
	service, err := a.host.Service(ctx)
	if err != nil {
		return invite.Link{}, err
	}
	room := a.wanted()
	isKnown, isListed := service.Knows(a.game.ID)
	if !isKnown {
		room["own_game"] = wire.OwnGame{ID: a.game.ID, Name: a.game.Name, Protocol: a.game.ProtocolName, Port: a.game.Port}
		a.screen.Say("%s", a.screen.Wrap(fmt.Sprintf("%s does not know %s: friends who have it in their own table of games are taken there, the others are shown the address", a.base, a.game.Name), 0))
	}
	if a.brings = a.brings || !isKnown || !isListed; a.brings {
		if err := a.firstList(&a.lists.Sources, a.game); err != nil {
			return invite.Link{}, err
		}
		servers, err := a.servers(ctx, a.game)
		if err != nil {
			return invite.Link{}, err
		}
		if n := service.MaxServers; n > 0 && len(servers) > n {
			return invite.Link{}, hint.With(fmt.Errorf("the list has %s, and %s takes %d", term.Count(len(servers), "server"), a.base.String(), n), "shorten it to those that may be near, or add --here to open the room on this machine")
		}
		room["servers"], room["renews"] = servers, !a.lists.HasStdin()
	}
	l, err := a.host.Open(ctx, room)
	if err != nil {
		return l, err
	}
	mine := kept{Game: a.settings.Game, Name: a.settings.Name, Link: l.Personal(l.Secret), Brings: a.brings, Settings: patch, Opened: time.Now().UTC()}
	if err := mine.keep(a.base.String()); err != nil {
		a.warn(fmt.Errorf("this program would not find the room again: %w", err))
	}
	return l, nil
}

// wanted is what a public host is told of the room.
func (a *away) wanted() map[string]any {
	a.settings.LookAround = a.lists.LooksAround()
	room := map[string]any{}
	for _, row := range wire.Table() {
		if value := reflect.ValueOf(row.Of(&a.settings)).Elem(); !value.IsZero() {
			key := row.Key
			switch key {
			case "limits_ms":
				key = "max_rtt_ms"
			case "-":
				key = "password"
			}
			room[key] = value.Interface()
		}
	}
	return room
}

// bringsList reports whether the list is the organiser's own: of files, of other masters
// than a host knows, or of a game of the user's table.
func (h *hosting) bringsList(g game.Game) bool {
	if len(h.lists.Files)+len(h.lists.Masters) > 0 {
		return true
	}
	builtIn, err := game.Load(nil, "")
	if err != nil {
		return false
	}
	known, err := builtIn.Find(g.ID)
	return err == nil && !slices.Equal(known.Masters, g.Masters)
}

// servers is the newest list of a game that this program gets, as addresses. Those of
// private networks stay here: players there find them by themselves.
func (a *away) servers(ctx context.Context, g game.Game) ([]netip.AddrPort, error) {
	list, err := a.lists.List(ctx, g.ID)
	if err != nil {
		return nil, err
	}
	var addrs []netip.AddrPort
	for _, s := range list {
		if isNear(a.base.Host) || discovery.ReachOf(s.Addr.Addr()) == discovery.InternetReach {
			addrs = append(addrs, discovery.Canonical(s.Addr))
		}
	}
	if n := len(list) - len(addrs); n > 0 {
		a.warn(fmt.Errorf("left out %s of local networks: players there find them by themselves", term.Count(n, "server")))
	}
	if len(addrs) == 0 {
		return nil, hint.With(errors.New("the list has no server that friends elsewhere reach"), "--here opens the room on this machine")
	}
	return addrs, nil
}

// explainAt adds what to do about a public host on which no room can be had.
func explainAt(err error, base *url.URL) error {
	const here = "--here opens the room on this machine"
	var (
		refusal wire.Refusal
		moved   *remote.Moved
		trouble *remote.Trouble
		doubt   *tls.CertificateVerificationError
		plain   tls.RecordHeaderError
		failed  *url.Error
		timeout interface{ Timeout() bool }
		name    *net.DNSError
	)
	switch {
	case err == nil, errors.Is(err, context.Canceled), hint.Of(err) != "":
		return err
	case errors.As(err, &refusal):
		return hint.With(refusal, here)
	case errors.As(err, &moved):
		return hint.With(fmt.Errorf("%s leads to %s", base, moved.To), fmt.Sprintf("if you trust that host, say --at %s", moved.To))
	case errors.Is(err, remote.ErrNotPublic):
		return hint.With(fmt.Errorf("the host at %s opens no rooms for others", base), "it is somebody's own, or of an older release: rooms are opened where muster serve runs; "+here)
	case errors.Is(err, remote.ErrNotMuster):
		return hint.With(fmt.Errorf("what answers at %s is no public muster host", base), "is the address right? In a browser such a host shows how to open a room; "+here)
	case errors.As(err, &trouble) && trouble.Status >= 500:
		return hint.With(fmt.Errorf("the host at %s is out of order: %d %s", base, trouble.Status, http.StatusText(trouble.Status)), "try again in a while; "+here)
	case errors.As(err, &trouble):
		return hint.With(fmt.Errorf("what answers at %s is no public muster host: %d %s", base, trouble.Status, http.StatusText(trouble.Status)), "is the address right, and is it http:// or https://? "+here)
	case errors.As(err, &doubt):
		return hint.With(fmt.Errorf("nobody vouches for the host at %s: %s", base, lobby.Distrust(doubt.Err)), "is the address right? If it is, whoever runs that host has to renew the certificate; "+here)
	case errors.As(err, &plain), errors.Is(err, http.ErrSchemeMismatch):
		return hint.With(fmt.Errorf("what answers at %s does not encrypt", base), "is it http://, and the port right? "+here)
	case errors.As(err, &name):
		return hint.With(fmt.Errorf("no host answers at %s: %w", base, hint.Reason(err)), "is the name spelt right, and is this machine on the internet? "+here)
	case errors.As(err, &failed) && errors.As(err, &timeout) && timeout.Timeout():
		return hint.With(fmt.Errorf("no host answers at %s: nothing comes back", base), "is the address right, and is this machine on the internet? "+here)
	case errors.As(err, &failed):
		return hint.With(fmt.Errorf("no host answers at %s: %w", base, hint.Reason(err)), "is the address right, and is this machine on the internet? "+here)
	}
	return err
}
