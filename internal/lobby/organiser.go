package lobby

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"sync"
	"time"

	"muster/discovery/sentence"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/internal/term"
	"muster/peer"
)

// Organiser is the organiser's part in a room. It steers and watches the room by HTTP, wherever its
// host is, and plays in it as a peer.
type Organiser struct {
	Desk   *Desk
	Client *Client
	// Link is the organiser's own link to the room, Friends the link for everyone else.
	Link, Friends invite.Link
	// Settings are the settings with which the room is opened. A match has a link for each side.
	Settings *wire.Settings
	// At is the public host of the room. It is empty if this process hosts the room, listening on
	// Listen.
	At, Listen string
	// Player is the organiser's own player; nil if the organiser only hosts.
	Player *Player
	// Awaits is how many players the room starts with automatically, 0 for never.
	Awaits int
	// Supply brings the organiser's own list; nil if the host has one.
	Supply *Supply
	// Starter starts servers at candidate places; nil starts none.
	Starter *Starter
	// Once ends the organiser's part with the round.
	Once      bool
	NoBrowser bool
	// NoInput says that the input is not typed, such as when it is a list.
	NoInput bool

	console *term.Console

	mu sync.Mutex // guards what follows
	// secret steers the room. page replaces it if the organiser has renewed the secret on the page;
	// it is the credential of the organiser's own player.
	secret, page string
}

// isFar reports whether another process hosts the room.
func (o *Organiser) isFar() bool { return o.At != "" }

// Begin prints the invitation, and obeys the organiser's input until stop is called. Meanwhile
// console asks the organiser questions.
func (o *Organiser) Begin(ctx context.Context) (console *term.Console, stop func()) {
	o.Renewed(o.Link.Secret)
	o.Desk.enters(o.Link, &o.Friends)
	o.invite()
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	orders := make(chan order, 1)
	work.Go(func() { o.obey(ctx, orders) })
	o.Desk.Typing.Order = func(name string, action room.Action) {
		select {
		case orders <- order{name, action}:
		default: // an order is under way: pressing twice means once
		}
	}
	if page := o.Desk.Page; page != nil {
		work.Go(func() {
			select {
			case <-page.Ends:
				o.Desk.Typing.Order("end", room.End{})
			case <-ctx.Done():
			}
		})
	}
	o.console = o.listen()
	if s := o.Starter; s != nil {
		s.desk, s.code, s.rooms = o.Desk, o.Link.Code, make(chan wire.Snapshot, 1)
		work.Go(func() {
			s.follow(ctx, o.console, func(started room.Started) error { return o.order(ctx, "started", started) })
		})
	}
	return o.console, func() { cancel(); work.Wait(); o.Client.http.CloseIdleConnections() }
}

// listen reads the organiser's input, unless something else uses it.
func (o *Organiser) listen() *term.Console {
	in, alone := o.Desk.In, func() {}
	if o.NoInput {
		in = io.Reader(strings.NewReader(""))
	}
	if o.Awaits == 0 {
		alone = func() {
			o.Desk.Screen.Tell("term.no-enter", "flag", "--players N")
		}
	}
	c := o.Desk.Console(in, alone)
	c.Listen()
	return c
}

// invite prints what friends need: a link, the code, the line to paste. The QR code comes first, so
// that on a small screen the rest is still visible below it.
func (o *Organiser) invite() {
	out, l := o.Desk.Out, o.Friends
	addr, err := netip.ParseAddrPort(l.Host)
	needed := 0
	if alone := err == nil && addr.Addr().IsLoopback(); !alone && out.IsTerminal {
		needed = out.QR(l.String())
	}
	fmt.Fprintf(out, "link  %s\ncode  %s\njoin  muster join %s\n", out.Bold(l.String()), out.Bold(l.Code), l)
	if needed > 0 {
		o.Desk.Screen.Tell("term.qr-too-wide", "n", needed)
	}
	if s := o.Settings; s != nil && s.IsMatch() {
		for _, side := range []wire.Side{wire.SideA, wire.SideB} {
			l.Side = string(side)
			o.Desk.Screen.Tell("term.side-link", "side", s.Called(side), "link", l)
		}
	}
}

// Greet prints what the organiser needs, and first asks what concerns the organiser's own player: the
// last line wants Enter. With Home it does nothing, because the page steers.
func (o *Organiser) Greet(ctx context.Context) {
	if o.Desk.Page != nil {
		return
	}
	screen := o.Desk.Screen
	screen.Say("%s\n%s", screen.Words("term.own-link"), o.Friends.Personal(o.Link.Secret))
	if y := o.Player; y != nil {
		y.Desk, y.Launcher.Console = o.Desk, o.console
		y.brings(ctx, o.Settings.Game)
	}
	if o.Awaits > 0 {
		screen.Prompt(screen.Wrap(screen.Words("term.awaits", "n", o.Awaits), 0))
		return
	}
	screen.Prompt(screen.Wrap(screen.Words("term.press-enter"), 0))
}

// Renewed takes the new secret that steers the room.
func (o *Organiser) Renewed(secret string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.secret = secret
	o.Desk.leadTo(o.Friends.Personal(secret))
}

// Run plays in the room, or watches it, until ctx ends or the room is over. With Once it ends with
// the round.
func (o *Organiser) Run(ctx context.Context) error {
	if !o.NoBrowser || o.Desk.Page != nil {
		o.Desk.Present(ctx, o.Link.Personal(o.Link.Secret))
	}
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	if o.Supply != nil {
		work.Go(func() { o.Supply.bring(ctx, o.order) })
	}
	view := &View{Screen: o.Desk.Screen, Help: o.Desk.keys(OrganiserHelp(o.Player != nil)), Typing: o.Desk.Typing,
		notes: notes(o.At, o.Listen, o.Desk.Warn)}
	if o.Player == nil {
		return o.follow(ctx, view, o.Once)
	}
	return Explain(o.play(ctx, view), o.Link)
}

// play plays until the organiser's own player leaves the room, and then watches it.
func (o *Organiser) play(ctx context.Context, view *View) error {
	y := o.Player
	y.Desk, y.View, y.Once, y.steers, y.atHost, y.sees = o.Desk, view, o.Once, true, !o.isFar(), o.sees
	y.leaves = o.Once && o.Starter == nil
	y.Launcher.Room, y.Launcher.Console, y.Launcher.After = o.Link.Code, o.console, o.Desk.later()
	stop, err := y.startBeacon(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if err = y.Play(ctx, o.Link); errors.Is(err, ErrEnded) {
		return nil
	}
	var refusal wire.Refusal
	if isOut := errors.As(err, &refusal) && refusal.Reason != wire.ReasonClosed; isOut || err == nil &&
		ctx.Err() == nil && !o.Once {
		why := sentence.Of("term.you-left")
		if isOut {
			why = hint.Sentence(refusal)
		}
		o.Desk.Screen.Tell("term.program-goes-on", "why", why)
		err = o.follow(ctx, view, o.Once)
	}
	switch {
	case o.isFar() && ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled):
		o.Desk.Screen.Tell("term.stays-open")
	case !o.isFar() && o.Once && err == nil:
		// A player whose game has not started yet would lose the host.
		ctx, cancel := context.WithTimeout(ctx, othersWithin)
		defer cancel()
		o.follow(ctx, view, true)
	}
	return err
}

// othersWithin limits the wait at the end of a round. The organiser's game has started; the host
// stays this long for players whose games have not.
const othersWithin = 30 * time.Second

// sees notes what the room tells the organiser's own player.
func (o *Organiser) sees(e peer.Event) {
	switch e := e.(type) {
	case peer.Joined:
		o.mu.Lock()
		o.page = e.Page
		o.mu.Unlock()
	case peer.RoomChanged:
		if o.Supply != nil {
			o.Supply.sees(e.Room)
		}
		if o.Starter != nil {
			newest(o.Starter.rooms, e.Room)
		}
	}
}

// follow shows the room without a player in it, until the session ends. A standing room outlives
// its session. If another host has that room, this program has nothing more to do.
func (o *Organiser) follow(ctx context.Context, n *View, once bool) error {
	awake := false
	watch := o.Client.Watch(ctx, Key{Code: o.Link.Code, Link: o.Link.Key}, func(err error) { n.Show(peer.Disconnected{Err: err}) })
	for s, err := range watch {
		var refusal wire.Refusal
		switch {
		case errors.As(err, &refusal) && (n.hasEnded || n.ends(refusal)):
			return nil // the room has announced its end
		case err != nil:
			return err
		}
		n.Show(peer.Joined{})
		o.Desk.sees(peer.RoomChanged{Room: s})
		o.sees(peer.RoomChanged{Room: s})
		n.Room(s)
		if isOver, err := IsRoundOver(s); once && isOver {
			return err
		}
		if o.isFar() && awake && n.hasEnded {
			return nil
		}
		awake = awake || !n.hasEnded
	}
	return nil
}

// order is an action that the organiser wants, and its parameters.
type order struct {
	action string
	with   any
}

// obey forwards the organiser's orders to the room.
func (o *Organiser) obey(ctx context.Context, orders <-chan order) {
	for {
		var next order
		select {
		case next = <-orders:
		case <-ctx.Done():
			return
		}
		err := o.order(ctx, next.action, next.with)
		var refusal wire.Refusal
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.As(err, &refusal):
			o.Desk.Screen.Say("%s", o.Desk.Screen.Wrap(hint.Text(o.Desk.Screen.Language, refusal), 0))
		default:
			for _, line := range hint.Lines(o.Desk.Screen.Language, o.explain(err)) {
				o.Desk.Screen.Say("%s", line)
			}
		}
	}
}

// explain adds a hint on what to do about an order that did not reach the host.
func (o *Organiser) explain(err error) error {
	if o.isFar() {
		return ExplainAt(err, &o.Client.base)
	}
	return Explain(err, o.Link)
}

// order sends an action to the room. It uses the secret or, if the organiser has renewed that on
// the page, the credential of the organiser's own player.
func (o *Organiser) order(ctx context.Context, action string, with any) error {
	o.mu.Lock()
	secret, page := o.secret, o.page
	o.mu.Unlock()
	key := Key{o.Link.Code, o.Link.Key, secret}
	err := o.Client.Order(ctx, key, action, with)
	if refusal, is := errors.AsType[wire.Refusal](err); is && refusal.Reason == wire.ReasonSecret && page != "" {
		key.Credential = page
		err = o.Client.Order(ctx, key, action, with)
	}
	return steersNoMore(err)
}

// steersNoMore explains the error if a secret no longer steers the room.
func steersNoMore(err error) error {
	if refusal, is := errors.AsType[wire.Refusal](err); is && refusal.Reason == wire.ReasonSecret {
		return hint.Say("term.steers-no-more").Advising("term.steers-no-more-hint")
	}
	return err
}
