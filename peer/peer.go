// Package peer is a player's side of a room: it joins, measures the servers that the
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
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"

	"muster/discovery"
	"muster/host/access"
	"muster/host/wire"
	"muster/peer/player"
)

const (
	// dialTimeout is how long a host may take to answer, and seekTimeout somebody who
	// may be the host: several are asked one after the other.
	dialTimeout = 10 * time.Second
	seekTimeout = 3 * time.Second
)

// Prober asks servers; [muster/discovery/prober.Prober] does it for real.
type Prober interface {
	Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error
	// Share says how many players ask the same servers from now on, this one
	// included: so many share what one address is sent.
	Share(among int)
	Close() error
}

// Options say which room, who plays, and how to act for the player.
type Options struct {
	// URL is the host's endpoint, ws://HOST:PORT/peer.
	URL  string
	Code string
	// Key is the link key that stood beside the code, or empty.
	Key  string
	Name string
	// As is what the player has been known by before it played, or empty; see
	// [wire.Hello].
	As string
	// TLS is for wss; nil trusts whom the system trusts. See [Pinned].
	TLS *tls.Config
	// Token is the proof of an earlier visit, or empty. SaveToken, if not nil,
	// keeps a new one for the next time the program starts, before it is shown to
	// the host.
	Token     string
	SaveToken func(token string)
	// Editions are what the player has of games; see [wire.Hello].
	Editions map[string]discovery.Edition
	// Probes is where NewProber's probers ask from, if that is not simply where
	// the connection to the host comes from.
	Probes wire.Probes
	// NewProber makes the prober for a game, the first time it is needed. The prober tells
	// rests for how long it asks nobody, if the player's router has to forget others first.
	NewProber func(game string, rests func(time.Duration)) (Prober, error)
	// NewPlaceProber makes a prober for candidate places of a protocol, an error if that is
	// not known here; nil knows none.
	NewPlaceProber func(protocol string) (Prober, error)
	// NewPlan is the order in which to measure; nil is the one the host asks for.
	NewPlan func(measure wire.Measure, servers []discovery.Server) (discovery.Plan, error)
	// Launch takes the player to a server, and calls tell whenever it has got
	// further. Its context ends with the peer, or when the next round
	// begins. A doubt is why nothing should be started unasked, in a sentence: no
	// server of the list takes players there, as far as this player can see.
	Launch func(ctx context.Context, launch wire.Launch, doubt string, tell func(wire.LaunchState, string))
	// Able is whether this machine can start a game, as the others may read it; nil says
	// nothing of it. The peer adds the game.
	Able func(ctx context.Context, game string) wire.Able
	// Brings are the servers of a game that the player wants the room to have; nil brings
	// none. It may ask the player, and take its time.
	Brings func(ctx context.Context, game string) wire.Bring
	// Say brings what the player says of the choice, at a terminal; nil brings nothing.
	// Asks: the player is asked for it there, and the others wait.
	Say  <-chan wire.Say
	Asks bool
	// Somewhere: the others are not to be told which country the player is in.
	Somewhere bool
	// Beacon is the port at which this machine answers as a beacon does; see [wire.Hello].
	Beacon uint16
	// Outside is by which port of the player's router others reach that, 0 while nobody
	// knows of any; nil never knows. It is asked time and again.
	Outside func() uint16
	// Discreet is how many servers may see the player's address in a round, whatever the
	// host asks; 0 leaves it to the host.
	Discreet int
	// Near looks for servers of a game on the networks of this machine, for a host that is
	// on none of them; nil finds none. These the host may have us ask, besides what it
	// could know itself.
	Near func(ctx context.Context, game string) []wire.NearServer
	// Events shows on the player's screen what happens. It is called from one
	// goroutine and must not block.
	Events func(Event)
	// Seek looks for where the host may be by now, which its address no longer leads
	// to; nil knows nowhere. The peer makes sure that it is the host.
	Seek func(ctx context.Context) []Place
	// Once: leave after the first launch.
	Once   bool
	Logger *slog.Logger

	// pace is [realPace] if it is zero; tests are in a hurry.
	pace pace
	// hostAddr is where a connection's host is; tests are nowhere but here.
	hostAddr func(net.Conn) netip.Addr
	// lookUp is where a name leads; tests have names of their own.
	lookUp func(ctx context.Context, host string) ([]netip.Addr, error)
}

// Place is where a host may be. One without TLS has to prove that it is.
type Place struct {
	// URL is an endpoint as in [Options].
	URL string
	// TLS is nil in the clear; else it lets nobody but the host through; see [Pinned].
	TLS *tls.Config
}

// pace is how fast a peer goes about its work.
type pace struct {
	player.Pace
	// The pauses between attempts to come back double from the first to the last.
	firstPause, lastPause time.Duration
	// seekAfter is how long a host is away until it is looked for elsewhere.
	seekAfter time.Duration
	// giveUp is how long a host may be away: a restart, a change of Wi-Fi, a router that
	// starts again, a machine whose lid was closed. An evening is worth half an hour.
	// lastWord is how long if only our last word is to reach it, and gone how long if its
	// machine, or the proxy before it, answers without it: the program has ended there, and
	// who starts it again does so within minutes.
	giveUp, lastWord, gone time.Duration
}

var realPace = pace{
	Pace:       player.RealPace,
	firstPause: 250 * time.Millisecond, lastPause: 5 * time.Second, seekAfter: 10 * time.Second,
	giveUp: 30 * time.Minute, lastWord: 3 * time.Minute, gone: 5 * time.Minute,
}

// ErrUnreachable says that no host answers.
var ErrUnreachable = errors.New("peer: no host answers")

// ErrGone says that a host ran where its machine, or a proxy, answers without it now. It
// is an [ErrUnreachable].
var ErrGone = fmt.Errorf("%w: it runs there no more", ErrUnreachable)

// ErrEncrypted says that TLS is spoken there, and the URL says otherwise. Go's
// servers and nginx answer so; Caddy is one of Go's.
var ErrEncrypted = errors.New("peer: the host encrypts")

// ErrMisnamed says that the host does not go by the name at which it was reached.
var ErrMisnamed = errors.New("peer: the host does not go by this name")

// ErrProxyAlone says that a reverse proxy answers for a host that does not.
var ErrProxyAlone = errors.New("peer: a proxy answers, and no host behind it")

// ErrNothingSuitable says that the room found no server for everyone. Only a
// peer that leaves after one round returns it.
var ErrNothingSuitable = player.ErrNothingSuitable

// What the player's screen may show; see package player.
type (
	Event          = player.Event
	Joined         = player.Joined
	RoomChanged    = player.RoomChanged
	Progress       = player.Progress
	Exposing       = player.Exposing
	ExposingPlaces = player.ExposingPlaces
	Shown          = player.Shown
	Disconnected   = player.Disconnected
	Waiting        = player.Waiting
	Answered       = player.Answered
)

// Run plays a part in the room until ctx ends, the host turns the player away
// (a [wire.Refusal]), the host makes no sense, or it is gone for good
// ([ErrUnreachable]).
func Run(ctx context.Context, options Options) error {
	options.pace = cmp.Or(options.pace, realPace)
	if options.hostAddr == nil {
		options.hostAddr = hostAddr
	}
	if options.lookUp == nil {
		options.lookUp = lookUp
	}
	s := &session{
		options: options, log: cmp.Or(options.Logger, slog.New(slog.DiscardHandler)),
		inbox: make(chan func()), program: access.NewSecret(), scanner: scanner{newProber: options.NewProber},
		stops: map[int]context.CancelFunc{}, boxes: map[int]*mailbox{}, places: map[string]*scanner{},
	}
	token := options.Token
	if token == "" { // made and kept here, so that no place is lost with its welcome
		token = access.NewSecret()
		s.keep(token)
	}
	s.player = player.New(player.Options{
		Hello: wire.Hello{
			Version: wire.Version, Code: options.Code, Key: options.Key, Name: options.Name, Token: token, As: options.As,
			Probes: options.Probes, Program: s.program, Editions: options.Editions, Asks: options.Asks,
			Somewhere: options.Somewhere, Beacon: options.Beacon, Discreet: options.Discreet,
		},
		Once: options.Once, HasPlaces: options.NewPlaceProber != nil, NewPlan: options.NewPlan, Pace: options.pace.Pace, Seed: rand.Uint64(),
	}, time.Now())
	s.ctx, s.leave = context.WithCancelCause(ctx)
	s.scanner.rests = func(d time.Duration) {
		s.post(func() {
			s.empty(s.player.Measuring())
			s.step(player.Resting{For: d, Queued: s.queued()})
		})
	}
	s.work.Go(func() { s.leave(s.stayConnected()) })
	s.loop()
	s.work.Wait()
	err := context.Cause(s.ctx)
	var refusal wire.Refusal
	if errors.As(err, &refusal) && refusal.Reason == wire.ReasonLeft {
		err = nil // as the player said on the page
	}
	if errors.Is(err, player.ErrFinished) || s.player.IsFinishing() && errors.Is(err, ErrUnreachable) || ctx.Err() != nil {
		err = nil
	}
	for _, by := range s.places {
		err = errors.Join(err, by.close())
	}
	return errors.Join(err, s.scanner.close())
}
