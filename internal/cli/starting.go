package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/term"
)

// starting starts game servers at candidate places, by a command of the organiser's, on
// this computer alone: what it runs is told to no host.
//
//	nothing suits, a place would ─▶ asks ─▶ runs the command ─▶ waits for the server ─▶ has the room go there
type starting struct {
	*program
	command string
	when    game.Starts
	within  time.Duration
	// probing is how servers are asked.
	probing *probing
	// code is the room's, as this program knows it. What a host says it is could be
	// words for a shell on the way.
	code string

	hook game.Hook
}

// startTime is how long a server may take to answer: a machine that is made for it takes a
// minute or two.
const startTime = 5 * time.Minute

func (s *starting) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.command, "start-command", "", "start a server at a place where one would suit, with this `TEMPLATE`; see docs/places.md")
	bindWord(cmd, &s.when, "start", game.StartAsk, []game.Starts{game.StartAsk, game.StartAuto, game.StartNever}, "run --start-command")
	flags.DurationVar(&s.within, "start-within", startTime, "give a server that was started up that has not answered after this `DURATION`")
}

// check refuses a command that cannot work, before anybody waits for it.
func (s *starting) check(places wire.Venues) (err error) {
	if s.command == "" {
		if s.when == game.StartAuto {
			return hint.With(usagef("--start auto runs what --start-command says, and nothing does"), "say what starts a server with --start-command, or leave it out")
		}
		if s.within != startTime {
			return hint.With(usagef("--start-within says how long a server that was started may take, and nothing starts one"), "say what does with --start-command, or leave it out")
		}
		return nil
	}
	if len(places) == 0 {
		return hint.With(usagef("--start-command starts a server at one of your places, and there are none"), "say where it could be with --places FILE")
	}
	if s.within <= 0 {
		return usagef("--start-within %v: a server takes some time to start", s.within)
	}
	if s.hook, err = game.NewHook(s.command); err != nil {
		return usagef("--start-command: %s", hint.Plain(err.Error()))
	}
	if program, isThere := s.hook.Program(); !isThere {
		return hint.With(fmt.Errorf("--start-command: there is no program %s on this machine", program), "say where it is, as in /home/me/bin/start-server, or install it")
	}
	return nil
}

// starts starts servers in the background for the room with a code if the organiser has
// given a command, until stop is called, which ends the last one. Watch tells of the room.
func (h *hosting) starts(ctx context.Context, code string, console *term.Console, settings func() wire.Settings, watch func(context.Context, func(wire.Snapshot)), order func(room.Started) error) (stop func()) {
	if h.starting.command == "" {
		return func() {}
	}
	h.starting.code = code
	ctx, cancel := context.WithCancel(ctx)
	rooms := make(chan wire.Snapshot, 1)
	var work sync.WaitGroup
	work.Go(func() { watch(ctx, func(s wire.Snapshot) { newest(rooms, s) }) })
	work.Go(func() { h.starting.follow(ctx, console, h.launcher.Games, settings, rooms, order) })
	return func() { cancel(); work.Wait() }
}

// started is a server that runs, or is to.
type started struct {
	running *game.Running
	addr    netip.AddrPort
}

// follow starts servers as a room wants them, until ctx ends, and ends the last one then.
// Rooms brings what is new of the room; order has it do something as the organiser.
func (s *starting) follow(ctx context.Context, console *term.Console, games game.Table, settings func() wire.Settings, rooms chan wire.Snapshot, order func(room.Started) error) {
	var now *started
	defer func() { now.stop() }()
	tried := 0
	var begun []time.Time // what was started unasked
	for {
		var news wire.Snapshot
		select {
		case news = <-rooms:
		case <-ctx.Done():
			return
		}
		if news.Room.Round == tried || !wantsServer(news) {
			continue
		}
		tried = news.Room.Round
		place, knows := bestPlace(news.Sites.Sites, settings().Places)
		g, err := games.Find(news.Room.Game)
		if !knows || err != nil {
			s.screen.Say("no server is started: this program does not know where a place is that would suit, or the game")
			continue
		}
		now.stop()
		now = nil
		agreed := s.when == game.StartAuto && agreedTo(settings(), news.Room, begun, time.Now())
		if agreed {
			begun = append(begun, time.Now())
		}
		now, err = s.start(ctx, console, g, place, news, agreed, func() bool { return still(rooms, news, place, settings().Places) })
		if err == nil && now != nil {
			if err = order(room.Started{Game: g.ID, Addr: now.addr}); err != nil {
				err = fmt.Errorf("the room does not go to the server that was started, which ends: %w", err)
				now.stop()
				now = nil
			}
		}
		if errors.Is(err, errMovedOn) {
			tried = -1 // where it stands now is to be looked at
		}
		if err != nil && ctx.Err() == nil {
			s.screen.Say("%s", hint.Plain(err.Error()))
		}
	}
}

const (
	// startsUnasked is how many servers are started in startsWithin without a question: a
	// host elsewhere could have one started after the other.
	startsUnasked = 6
	startsWithin  = time.Hour
)

// agreedTo reports whether a server may be started unasked: of the game and the map that
// the organiser has said here, and not after many others. What a host says else is asked.
func agreedTo(said wire.Settings, of wire.Head, begun []time.Time, now time.Time) bool {
	lately := 0
	for _, at := range begun {
		if now.Sub(at) < startsWithin {
			lately++
		}
	}
	return of.Game == said.Game && of.Map == said.Map && lately < startsUnasked
}

// still reports whether a room wants what it wanted before the organiser was asked. News
// that say otherwise are put back, for whoever looks next.
func still(rooms chan wire.Snapshot, before wire.Snapshot, place wire.Venue, known wire.Venues) bool {
	select {
	case news := <-rooms:
		wants := false
		if news.Room.Round == before.Room.Round && news.Room.Game == before.Room.Game && wantsServer(news) {
			best, knows := bestPlace(news.Sites.Sites, known)
			wants = knows && best == place
		}
		if !wants {
			select {
			case rooms <- news:
			default: // there are newer ones
			}
		}
		return wants
	default:
		return true
	}
}

// errMovedOn is why an answer came too late.
var errMovedOn = errors.New("the room has gone on meanwhile: no server is started")

// stop ends a server that runs; nil is none.
func (n *started) stop() {
	if n != nil {
		n.running.Stop()
	}
}

// wantsServer reports whether a server at a place would suit a room for which none does.
func wantsServer(news wire.Snapshot) bool {
	s := news.Sites
	return news.Room.Stage == wire.Failed && s != nil && s.Better && len(s.Waiting) == 0
}

// bestPlace is the first that suits of those that this program knows: a player's own
// computer is none of them.
func bestPlace(sites []wire.Site, known wire.Venues) (best wire.Venue, knows bool) {
	for _, site := range sites {
		at := slices.IndexFunc(known, func(v wire.Venue) bool { return v.Name == site.Name })
		if site.Suits && at >= 0 {
			return known[at], true
		}
	}
	return best, false
}

// errNoStart is why nothing is started that the organiser does not want.
var errNoStart = errors.New("as you like: no server is started")

// mostPlayers is how many players a server is started for at most, whatever a host says.
const mostPlayers = 256

// venue is what the command is told of a place and of the room.
func (s *starting) venue(g game.Game, place wire.Venue, news wire.Snapshot) game.Venue {
	v := game.Venue{
		Place: place.Name, Address: netip.AddrPortFrom(place.Addr.Addr(), g.Port), Room: s.code, Game: g.ID, Map: news.Room.Map,
		Players: min(max(news.Room.Players, len(news.Players())), mostPlayers),
	}
	if place.Protocol == g.ProtocolName {
		v.Address = place.Addr
	}
	return v
}

// start runs the command for a place, and waits until the server answers. Agreed: nobody is
// asked. Wanted reports whether the room still wants it.
func (s *starting) start(ctx context.Context, console *term.Console, g game.Game, place wire.Venue, news wire.Snapshot, agreed bool, wanted func() bool) (*started, error) {
	v := s.venue(g, place, news)
	argv, err := s.hook.Fill(v)
	if err != nil {
		return nil, fmt.Errorf("no server is started: %w", err)
	}
	line := game.Show(argv)
	switch {
	case s.when == game.StartNever:
		s.screen.Say("a server in %s would suit all; this would start it:\n%s", place.Name, line)
		return nil, nil
	case !agreed:
		s.screen.Say("a server in %s would suit all; this starts it:\n%s", place.Name, s.screen.Bold(line))
		answer, ok := console.Ask(ctx, "start it now? [y/N] ")
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !ok:
			return nil, errors.New("nobody here to answer: start it yourself with the line above, or say --start auto")
		case answer == "" || !term.Yes(answer):
			return nil, errNoStart
		case !wanted():
			return nil, errMovedOn
		}
	}
	s.screen.Say("starting in %s: %s", place.Name, line)
	running, err := s.hook.Start(ctx, v)
	if err != nil {
		return nil, fmt.Errorf("no server is started: %w", err)
	}
	addr, err := s.awaits(ctx, g, place.Name, v.Address, running)
	if err != nil {
		running.Stop()
		return nil, err
	}
	s.screen.Say("the server in %s answers: the room goes there", place.Name)
	return &started{running, addr}, nil
}

const (
	// askEvery is how often a server that starts is asked, and answerTime how long it has.
	askEvery, answerTime = 2 * time.Second, time.Second
	// tellEvery is how often people hear that it is waited for.
	tellEvery = 20 * time.Second
)

// awaits waits until a server answers that was started, where the command says that it is.
func (s *starting) awaits(ctx context.Context, g game.Game, place string, addr netip.AddrPort, running *game.Running) (netip.AddrPort, error) {
	began, told := time.Now(), time.Now()
	ended, where := running.Ended(), running.Told()
	asker, err := s.probing.prober(s.program, g.Protocol(), nil)
	if err != nil {
		return addr, err
	}
	defer asker.Close()
	next := time.NewTicker(askEvery)
	defer next.Stop()
	for {
		answered := false
		asks, cancel := context.WithTimeout(ctx, answerTime)
		asker.Run(asks, []discovery.Server{{Addr: addr}}, discovery.NewConventional(1), func(r discovery.Result) { answered = r.State == discovery.Answered })
		cancel()
		passed := time.Since(began)
		switch {
		case answered:
			return addr, nil
		case ctx.Err() != nil:
			return addr, ctx.Err()
		case passed > s.within:
			return addr, fmt.Errorf("the server in %s has not answered at %v for %v: it is given up", place, addr, s.within)
		case time.Since(told) >= tellEvery:
			told = time.Now()
			s.screen.Say("starting in %s … %v", place, passed.Round(time.Second))
		}
		select {
		case <-next.C:
		case said := <-where:
			addr, where = discovery.Canonical(said), nil
		case <-ended:
			if ended = nil; running.Err() != nil {
				return addr, running.Err()
			}
		case <-ctx.Done():
			return addr, ctx.Err()
		}
	}
}

// newest is a channel of one that has the newest of what is put there.
func newest(rooms chan wire.Snapshot, s wire.Snapshot) {
	for {
		select {
		case rooms <- s:
			return
		default:
		}
		select {
		case <-rooms:
		default:
		}
	}
}
