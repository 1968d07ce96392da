// Package peer is a player's side of a room. It joins, measures the servers that the host lists, reports the results,
// and launches the game where the host says.
//
//	          messages                 results
//	host ◀──────────────▶ peer ◀──────────────────── Prober
//	                       │ launch
//	                       ▼
//	                     the game
//
// A lost connection loses nothing: the peer keeps measuring, returns with its token and repeats its results.
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
	"net/url"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/access"
	"muster/host/wire"
	"muster/internal/clock"
	"muster/peer/player"
	"muster/selection/memory"
)

const (
	// dialTimeout bounds the wait for the host's answer. seekTimeout is shorter: it is for addresses where the host
	// might be, and several of those are tried one after the other.
	dialTimeout = 10 * time.Second
	seekTimeout = 3 * time.Second
)

// Prober asks servers. [muster/discovery/prober.Prober] is the real one.
type Prober interface {
	Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error
	// Share says how many players, this one included, ask the same servers from now on. Together they share the limit
	// on packets to one address.
	Share(among int)
	// Lead says how near to this machine the addresses may be that names lead to, from now on: at least this far away.
	Lead(least discovery.Reach)
	Close() error
}

// Options say which room to join, who plays, and how to act for the player.
type Options struct {
	// URL is the host's endpoint, ws://HOST:PORT/peer.
	URL  string
	Code string
	// Key is the link key that came with the code, or empty.
	Key  string
	Name string
	// As is the name the player was known by before it joined as a player, or empty. See [wire.Hello].
	As string
	// TLS is for wss URLs; nil trusts the system's authorities. See [Pinned].
	TLS *tls.Config
	// Token proves an earlier visit. If SaveToken is not nil, it stores a new token for the next start of the program,
	// before the host sees it.
	Token     string
	SaveToken func(token string)
	// Memory is what the player remembers of earlier sessions, for the host's forecasts. Remember keeps it for later
	// ones; nil keeps nothing.
	Memory   []memory.Cell
	Remember func([]memory.Cell)
	// Editions are the player's editions of games; see [wire.Hello].
	Editions map[string]discovery.Edition
	// Probes say where NewProber's probers send from, if that differs from the connection to the host.
	Probes wire.Probes
	// NewProber makes the prober for a game when it is first needed. The prober calls rests with the length of a pause,
	// in which the player's router forgets earlier servers.
	NewProber func(game string, rests func(time.Duration)) (Prober, error)
	// NewPlaceProber makes a prober for candidate places of a protocol. It fails for an unknown protocol; nil knows
	// none.
	NewPlaceProber func(protocol string) (Prober, error)
	// NewPlan decides the order of measuring; nil uses the plan that the host asks for.
	NewPlan func(measure wire.Measure, servers []discovery.Server) (discovery.Plan, error)
	// Launch takes the player to a server and calls tell on each step forward. Its context ends with the peer, or when
	// the next round begins. A doubt is a sentence on why Launch should ask the player first: as far as this player can
	// see, no server of the list accepts players there.
	Launch func(ctx context.Context, launch wire.Launch, doubt sentence.Sentence, tell func(wire.LaunchState, sentence.Sentence))
	// Hold changes how long the packets of the player's game are held, before a launch and while the game runs; 0 ends
	// it. Nil holds none; then Able never says that it does.
	Hold func(time.Duration)
	// Status returns the pings that the server of a launch tells of its players, by name; nil asks none. A name must
	// lead to an address of that reach at least.
	Status func(ctx context.Context, launch wire.Launch, least discovery.Reach) map[string]time.Duration
	// Able returns whether this machine can start a game, in words that the others may read. The peer adds the game;
	// nil says nothing.
	Able func(ctx context.Context, game string) wire.Able
	// Brings returns the servers of a game that the player wants to add to the room; nil adds none. It may ask the
	// player, and may take its time.
	Brings func(ctx context.Context, game string) wire.Bring
	// Consents returns whether machines of providers at candidate places may see the player's address. It asks once in
	// a room. With nil they may not.
	Consents func(ctx context.Context, first wire.Venues) bool
	// Say delivers what the player says at a terminal about the choice; nil delivers nothing. Asks says that the player
	// can be asked there, so the others wait for the answer.
	Say  <-chan wire.Say
	Asks bool
	// Somewhere hides the player's country from the others.
	Somewhere bool
	// Beacon is the port at which this machine answers as a beacon; see [wire.Hello].
	Beacon uint16
	// Outside returns the router's port that forwards to Beacon, or 0 while it is unknown; nil never knows. The peer
	// calls it repeatedly.
	Outside func() uint16
	// Discreet bounds how many servers may see the player's address in a round, whatever the host asks. 0 leaves that
	// to the host.
	Discreet int
	// Side is the side of a match that the player wants to be on.
	Side wire.Side
	// Near finds servers of a game on this machine's networks, for a host that is on none of them; nil finds none. The
	// host may ask for probes of these servers, besides those it could know itself.
	Near func(ctx context.Context, game string) []wire.NearServer
	// Others returns which servers of a game on other private networks answer this machine. The host's own network has
	// to be a private one for that. Nil reaches none.
	Others func(ctx context.Context, game string, at []netip.AddrPort) []wire.NearServer
	// Events shows the player what happens. One goroutine calls it, and it must not block.
	Events func(Event)
	// Seek looks for the host after it has left its address; nil finds nothing. The peer verifies that it is the host.
	Seek func(ctx context.Context) []Place
	// Once makes the peer leave after the first launch.
	Once bool
	// Clock is the time that the player lives by; the zero value is the machine's. Tests hold it.
	Clock  clock.Clock
	Logger *slog.Logger
	// Dial connects to an address, and Random spreads what players would else do at the same moment. Nil stands for
	// TCP and for any order; a simulation gives its own.
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	Random *rand.Rand

	// pace defaults to [realPace]; tests shorten it.
	pace pace
	// hostAddr returns the host's address on a connection. Tests replace it, because they run on loopback alone.
	hostAddr func(net.Conn) netip.Addr
	// lookUp resolves a name. Tests replace it.
	lookUp func(ctx context.Context, host string) ([]netip.Addr, error)
}

// Place is where a host may be. A place without TLS must prove that it is the host.
type Place struct {
	// URL is an endpoint, as in [Options].
	URL string
	// TLS is nil for an unencrypted place. Otherwise it accepts only the host; see [Pinned].
	TLS *tls.Config
}

// pace holds the peer's timing.
type pace struct {
	player.Pace
	// Pauses between attempts to reconnect double from the first to the last.
	firstPause, lastPause time.Duration
	// seekAfter is how long the host must be away before the peer searches elsewhere.
	seekAfter time.Duration
	// giveUp is how long the peer waits for a host: a restart, a change of Wi-Fi, a router that reboots, a laptop that
	// sleeps. A game session is worth half an hour. lastWord is the wait when only our last message is unsent. gone is
	// the wait while the machine, or its proxy, answers without the host: the program has ended there, and its owner
	// restarts it within minutes or not at all.
	giveUp, lastWord, gone time.Duration
}

var realPace = pace{
	Pace:       player.RealPace,
	firstPause: 250 * time.Millisecond, lastPause: 5 * time.Second, seekAfter: 10 * time.Second,
	giveUp: 30 * time.Minute, lastWord: 3 * time.Minute, gone: 5 * time.Minute,
}

// ErrUnreachable says that no host answers.
var ErrUnreachable = errors.New("peer: no host answers")

// ErrGone says that a host ran there before, and now its machine or a proxy answers without it. It is an
// [ErrUnreachable].
var ErrGone = fmt.Errorf("%w: it runs there no more", ErrUnreachable)

// ErrEncrypted says that the host speaks TLS although the URL does not. It recognises the answers of Go's servers,
// Caddy among them, and of nginx.
var ErrEncrypted = errors.New("peer: the host encrypts")

// ErrMisnamed says that the host does not accept the name at which it was reached.
var ErrMisnamed = errors.New("peer: the host does not go by this name")

// Elsewhere is the error of an address that redirects to another place, reduced to scheme and host. A
// redirect of the same host from http to https is followed.
type Elsewhere struct{ To *url.URL }

func (e *Elsewhere) Error() string { return "peer: the address redirects to " + e.To.String() }

// isEncrypted reports whether the redirect leads from an unencrypted place to the same host by TLS.
func (e *Elsewhere) isEncrypted(from *url.URL) bool {
	return from.Scheme == "ws" && e.To.Scheme == "https" && strings.EqualFold(e.To.Hostname(), from.Hostname())
}

// ErrProxyAlone says that a reverse proxy answers while the host behind it does not.
var ErrProxyAlone = errors.New("peer: a proxy answers, and no host behind it")

// ErrNothingSuitable says that the room found no server for everyone. Run returns it only for a
// peer that leaves after one round.
var ErrNothingSuitable = player.ErrNothingSuitable

// The player's screen may show these events; see package player.
type (
	Event          = player.Event
	Reached        = player.Reached
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

// Run takes part in the room until ctx ends, the host turns the player away (a [wire.Refusal]), the host sends
// nonsense, or the host is gone for good ([ErrUnreachable]).
func Run(ctx context.Context, options Options) error {
	options.pace = cmp.Or(options.pace, realPace)
	if options.hostAddr == nil {
		options.hostAddr = hostAddr
	}
	if options.lookUp == nil {
		options.lookUp = lookUp
	}
	if options.Dial == nil {
		options.Dial = new(net.Dialer).DialContext
	}
	if options.Random == nil {
		options.Random = rand.New(rand.NewPCG(rand.Uint64(), 0))
	}
	s := &session{
		options: options, log: cmp.Or(options.Logger, slog.New(slog.DiscardHandler)),
		inbox: make(chan func()), program: access.NewSecret(), scanner: scanner{newProber: options.NewProber},
		stops: map[int]context.CancelFunc{}, boxes: map[int]*mailbox{}, places: map[string]*scanner{},
	}
	token := options.Token
	if token == "" { // make and save it here, so that a lost welcome does not lose the player's place
		token = access.NewSecret()
		s.keep(token)
	}
	s.player = player.New(player.Options{
		Hello: wire.Hello{
			Version: wire.Version, Code: options.Code, Key: options.Key, Name: options.Name, Token: token, As: options.As,
			Probes: options.Probes, Program: s.program, Editions: options.Editions, Asks: options.Asks, Inflates: true,
			Somewhere: options.Somewhere, Beacon: options.Beacon, Discreet: options.Discreet, Side: options.Side,
		},
		Once: options.Once, HasPlaces: options.NewPlaceProber != nil, AsksConsent: options.Consents != nil, NewPlan: options.NewPlan, Pace: options.pace.Pace, Seed: options.Random.Uint64(),
		Memory: options.Memory,
	}, options.Clock.Now())
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
	if refusal, is := errors.AsType[wire.Refusal](err); is && refusal.Reason == wire.ReasonLeft {
		err = nil // the player left on the page
	}
	if errors.Is(err, player.ErrFinished) || s.player.IsFinishing() && errors.Is(err, ErrUnreachable) || ctx.Err() != nil {
		err = nil
	}
	for _, by := range s.places {
		err = errors.Join(err, by.close())
	}
	return errors.Join(err, s.scanner.close())
}
