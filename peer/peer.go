// Package peer is a player's side of a room: it joins, measures the servers the
// host lists, reports what it finds, and launches the game where the host says.
//
//	          messages                 results
//	host ◀──────────────▶ peer ◀──────────────────── Prober
//	                       │ launch
//	                       ▼
//	                     the game
//
// A lost connection loses nothing: the peer keeps measuring, comes back with
// its token and repeats what it measured.
package peer

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host/wire"
	"muster/host/wire/conn"
)

// dialTimeout is how long a host may take to answer.
const dialTimeout = 10 * time.Second

// Prober asks servers; [muster/discovery/prober.Prober] does it for real.
type Prober interface {
	Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error
	Close() error
}

// Options say which room, who plays, and how to act for the player.
type Options struct {
	// URL is the host's endpoint, ws://HOST:PORT/peer.
	URL  string
	Code string
	Name string
	// TLS is for wss; nil trusts whom the system trusts. See [Pinned].
	TLS *tls.Config
	// Token is the proof of an earlier visit, or empty. SaveToken, if not nil,
	// keeps the new one for the next time the program starts.
	Token     string
	SaveToken func(token string)
	// Probes is where NewProber's probers ask from, if that is not simply where
	// the connection to the host comes from.
	Probes wire.Probes
	// NewProber makes the prober for a game, the first time it is needed.
	NewProber func(game string) (Prober, error)
	// NewPlan is the order in which to measure; nil is the one the host asks for.
	NewPlan func(measure wire.Measure, servers []discovery.Server) (discovery.Plan, error)
	// Launch takes the player to a server; it tells how far it got as often as
	// that changes. Its context ends with the peer, or when the next round
	// begins.
	Launch func(ctx context.Context, launch wire.Launch, tell func(wire.LaunchState, string))
	// Events tells the player's screen what happens. It is called from one
	// goroutine and must not block.
	Events func(Event)
	// Once: leave after the first launch.
	Once   bool
	Logger *slog.Logger

	// pace is [realPace] if it is zero; tests are in a hurry.
	pace pace
	// hostAddr is where a connection's host is; tests are nowhere but here.
	hostAddr func(net.Conn) netip.Addr
}

// pace is how fast a peer goes about its work.
type pace struct {
	// flush is how often results go to the host: the page shows them live.
	flush time.Duration
	// sample spaces the samples of a finalist: servers answer an address about
	// once a second.
	sample time.Duration
	// patience is how long a sample waits for its answers: not until the prober
	// would repeat a question.
	patience time.Duration
	// The pauses between attempts to come back double from the first to the last.
	firstPause, lastPause time.Duration
	// giveUp is how long a host may be away: a restart, a change of Wi-Fi.
	giveUp time.Duration
}

var realPace = pace{
	flush: 100 * time.Millisecond, sample: 1100 * time.Millisecond, patience: 900 * time.Millisecond,
	firstPause: 250 * time.Millisecond, lastPause: 5 * time.Second, giveUp: 3 * time.Minute,
}

// ErrUnreachable says that no host answers.
var ErrUnreachable = errors.New("peer: no host answers")

// ErrEncrypted says that TLS is spoken there, and the URL says otherwise. Go's
// servers and nginx answer so; Caddy is one of Go's.
var ErrEncrypted = errors.New("peer: the host encrypts")

// ErrProxyAlone says that a reverse proxy answers for a host that does not.
var ErrProxyAlone = errors.New("peer: a proxy answers, and no host behind it")

// ErrNothingSuitable says that the room found no server for everyone. Only a
// peer that leaves after one round returns it.
var ErrNothingSuitable = errors.New("peer: no server suits everyone")

// peer is one player in one room. Only its own goroutine touches it.
type peer struct {
	options Options
	log     *slog.Logger
	inbox   chan func()
	ctx     context.Context
	leave   context.CancelCauseFunc
	work    sync.WaitGroup

	token    string
	conn     *conn.Conn // nil until the host has let us in
	host     netip.Addr // where it is
	round    *round
	look     *look // the newest
	scanner  *scanner
	launched *wire.Launched // the newest, for a host that missed it
	// finishing: the peer leaves as soon as the host has heard of the launch.
	finishing bool
	stop      context.CancelFunc
}

// Run plays a part in the room until ctx ends, the host turns the player away
// (a [wire.Refusal]), the host makes no sense, or it is gone for good
// ([ErrUnreachable]).
func Run(ctx context.Context, options Options) error {
	options.pace = cmp.Or(options.pace, realPace)
	if options.hostAddr == nil {
		options.hostAddr = hostAddr
	}
	if options.NewPlan == nil {
		options.NewPlan = newPlan
	}
	p := &peer{
		options: options, log: cmp.Or(options.Logger, slog.New(slog.DiscardHandler)),
		inbox: make(chan func()), token: options.Token, scanner: newScanner(options.NewProber),
		stop: func() {},
	}
	p.ctx, p.leave = context.WithCancelCause(ctx)
	p.work.Go(func() { p.leave(p.stayConnected()) })
	p.loop()
	p.stop()
	p.work.Wait()
	err := context.Cause(p.ctx)
	if errors.Is(err, errFinished) || p.finishing && errors.Is(err, ErrUnreachable) || ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, p.scanner.close())
}

// errFinished is the cause of a peer that leaves because its work is done.
var errFinished = errors.New("peer: finished")

func (p *peer) loop() {
	flush := time.NewTicker(p.options.pace.flush)
	defer flush.Stop()
	for {
		select {
		case act := <-p.inbox:
			act()
		case <-flush.C:
			p.flush()
		case <-p.ctx.Done():
			return
		}
	}
}

// post has the peer's goroutine do something, unless the peer has ended.
func (p *peer) post(act func()) {
	select {
	case p.inbox <- act:
	case <-p.ctx.Done():
	}
}

func (p *peer) tell(e Event) {
	if p.options.Events != nil {
		p.options.Events(e)
	}
}

func (p *peer) send(m wire.Message) {
	if p.conn != nil {
		p.conn.Send(m)
	}
}

// stayConnected connects again and again, with growing pauses, and returns why
// it stopped.
func (p *peer) stayConnected() error {
	var lastSeen time.Time // the host, by us
	pause := p.options.pace.firstPause
	for {
		welcomed, err := p.connect()
		if welcomed {
			lastSeen, pause = time.Now(), p.options.pace.firstPause
		}
		switch {
		case p.ctx.Err() != nil:
			return context.Cause(p.ctx)
		case errors.Is(err, wire.ErrMalformed), errors.Is(err, ErrCertificate):
			return err // it would happen again
		case lastSeen.IsZero(), time.Since(lastSeen) > p.options.pace.giveUp:
			return fmt.Errorf("%w at %s: %w", ErrUnreachable, p.options.URL, err)
		}
		lost := Disconnected{Err: err, Retry: pause}
		p.post(func() { p.tell(lost) })
		sleep(p.ctx, pause)
		pause = min(2*pause, p.options.pace.lastPause)
	}
}

// connect holds one connection until it ends, and tells whether the host let
// the player in.
func (p *peer) connect() (welcomed bool, err error) {
	ctx, cancel := context.WithTimeout(p.ctx, dialTimeout)
	defer cancel()
	dialer := websocket.Dialer{ // without a proxy: hosts are friends' machines
		HandshakeTimeout: dialTimeout, TLSClientConfig: p.options.TLS, NetDialContext: fourFirst((&net.Dialer{}).DialContext),
	}
	ws, answer, err := dialer.DialContext(ctx, p.options.URL, nil)
	if err != nil {
		return false, whyNot(err, answer)
	}
	conn := conn.New(ws, conn.AtPeer)
	p.post(func() {
		p.host = p.options.hostAddr(ws.NetConn())
		conn.Send(p.hello())
	})
	err = conn.Run(p.ctx, func(m wire.Message) error {
		if _, ok := m.(wire.Welcome); ok {
			welcomed = true
		}
		return p.obey(conn, m)
	})
	p.post(func() { p.conn = nil })
	return welcomed, err
}

// obey has the peer's goroutine act on a message, and waits until it has. What
// it cannot act on ends the peer: a new connection would bring it again.
func (p *peer) obey(conn *conn.Conn, m wire.Message) error {
	done := make(chan error, 1)
	p.post(func() { done <- p.receive(conn, m) })
	select {
	case err := <-done:
		if err != nil {
			p.leave(err)
		}
		return err
	case <-p.ctx.Done():
		return context.Cause(p.ctx)
	}
}

// whyNot tells a host that encrypts, and a proxy without its host, from what is no
// host at all.
func whyNot(err error, answer *http.Response) error {
	if !errors.Is(err, websocket.ErrBadHandshake) {
		return err
	}
	switch answer.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return ErrProxyAlone
	case http.StatusBadRequest:
		text, _ := io.ReadAll(answer.Body) // the first kilobyte, which is at hand
		if bytes.Contains(text, []byte("HTTPS")) {
			return ErrEncrypted
		}
	}
	return err
}

func (p *peer) hello() wire.Message {
	return wire.Hello{Version: wire.Version, Code: p.options.Code, Name: p.options.Name, Token: p.token, Probes: p.options.Probes}
}
