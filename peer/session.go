package peer

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"

	"muster/host/wire"
	"muster/host/wire/conn"
)

// session is one player in one room. Only its own goroutine touches it.
type session struct {
	options Options
	log     *slog.Logger
	inbox   chan func()
	ctx     context.Context
	leave   context.CancelCauseFunc
	work    sync.WaitGroup

	token string
	// epoch is the greatest that a host of the room had: one with a lesser has lost it.
	epoch uint64
	conn  *conn.Conn // nil until the host has let us in
	host  netip.Addr // where it is
	// left is the address of the newest connection, or was: only stayConnected uses it.
	left netip.Addr
	// program tells this run of the program from others, and lines counts its
	// connections: stayConnected's goroutine alone does.
	program string
	lines   int
	// told are other addresses of the host.
	told     []netip.AddrPort
	room     wire.Snapshot
	failed   bool // the room, as far as the player was told who saw their address
	round    *round
	look     *look // the newest
	scanner  scanner
	survey   survey
	launched *wire.Launched // the newest, for a host that missed it
	// launchedTo is where that leads, and launches counts them. stopLaunch ends it: the
	// player may be asked for long, while the room looks for seats for others.
	launchedTo string
	launches   int
	stopLaunch context.CancelFunc
	// again is the newest time at which the player asked for the game once more, and
	// agains how often that was in this round.
	again  int64
	agains int
	near   near
	// able is the newest word on whether this machine can start a game, and brought what
	// the player brings into the room, as trying and bringing have found out.
	able             wire.Able
	brought          wire.Bring
	trying, bringing errand
	// saidOutside is the router's port that this connection was told of, 0 for none.
	saidOutside uint16
	late        lateness
	// saidLaunched: a connection has taken what came of the newest launch. A host that
	// ends with its round may hear it and be gone before the launch returns.
	saidLaunched bool
	// finishing: the peer leaves as soon as the host has heard of the launch.
	finishing bool
	// stop ends the newest task in the background, and tasks is how many were begun.
	stop  context.CancelFunc
	tasks int
}

func (s *session) loop() {
	flush := time.NewTicker(s.options.pace.flush)
	defer flush.Stop()
	for {
		select {
		case act := <-s.inbox:
			act()
		case <-flush.C:
			s.flush()
			s.sayOutside()
			s.sayLate()
		case say := <-s.options.Say:
			s.say(say)
		case <-s.ctx.Done():
			return
		}
	}
}

// post has the session do something, unless it has ended.
func (s *session) post(act func()) {
	select {
	case s.inbox <- act:
	case <-s.ctx.Done():
	}
}

// do has the session do something and waits until it has, or has ended.
func (s *session) do(act func()) {
	done := make(chan struct{})
	s.post(func() { defer close(done); act() })
	select {
	case <-done:
	case <-s.ctx.Done():
	}
}

func (s *session) tell(e Event) {
	if s.options.Events != nil {
		s.options.Events(e)
	}
}

func (s *session) send(m wire.Message) {
	if s.conn != nil {
		s.conn.Send(m)
	}
}

// say tells the host what the player says. It is of the moment: the host that comes back
// later is not told.
func (s *session) say(m wire.Say) {
	if s.conn == nil {
		s.tell(Answered{"the host is away just now, and does not hear it: say it again once the connection is back"})
		return
	}
	s.send(m)
}

// sayLate tells the host when this machine has become busy, or idle again.
func (s *session) sayLate() {
	s.late.rang(time.Now(), s.options.pace.flush)
	if s.conn == nil {
		return
	}
	if m, isNews := s.late.news(); isNews {
		s.send(m)
	}
}

// sayOutside tells the host by which port of the router others reach the beacon, if that is
// news.
func (s *session) sayOutside() {
	if s.conn == nil || s.options.Outside == nil {
		return
	}
	if port := s.options.Outside(); port != 0 && port != s.saidOutside {
		s.saidOutside = port
		s.send(wire.Outside{Port: port})
	}
}

// receive acts on a message of the host.
func (s *session) receive(by *conn.Conn, m wire.Message) error {
	switch m := m.(type) {
	case wire.Welcome:
		if m.Version != wire.Version { // the host did not look at ours
			return wire.Refusal{
				Reason: wire.ReasonVersion, Message: fmt.Sprintf("the host speaks version %d, this program %d", m.Version, wire.Version),
				Hint: "update muster, here or there",
			}
		}
		if m.Epoch < s.epoch {
			return errOutdated
		}
		isAgain := s.conn == by // another host has the room now, and someone in between kept the line
		s.conn, s.epoch = by, m.Epoch
		if isAgain {
			s.send(wire.Again{})
		}
		s.welcome(m, isAgain)
	case wire.Refusal:
		return m
	case wire.Wait:
		s.tell(Waiting{m.Message})
	case wire.Room:
		if err := s.room.Merge(m); err != nil {
			return err
		}
		if failed := s.room.Room.Stage == wire.Failed; failed != s.failed {
			if s.failed = failed; failed {
				s.tellShown()
			}
		}
		s.tell(RoomChanged{s.room})
		s.tries(s.room.Room.Game)
		s.brings(s.room.Room.Game)
		if s.options.Once && s.room.Room.Stage == wire.Failed {
			s.leave(ErrNothingSuitable)
		}
	case wire.List:
		s.list(m)
	case wire.Measure:
		return s.measure(m)
	case wire.Ask:
		return s.ask(m)
	case wire.Report:
		return s.known(m)
	case wire.Finalists:
		return s.verify(m)
	case wire.Survey:
		s.surveys(m)
	case wire.Launch:
		if m.Epoch < s.epoch {
			return errOutdated
		}
		s.epoch = m.Epoch
		s.launch(m)
	case wire.Look:
		s.lookAround(m.Game)
	case wire.Answer:
		s.tell(Answered{m.Message})
	default:
		return fmt.Errorf("peer: a %T from the host", m)
	}
	return nil
}

// keep keeps the token over a restart of the program.
func (s *session) keep(token string) {
	s.token = token
	if s.options.SaveToken != nil {
		s.options.SaveToken(token)
	}
}

// welcome takes the host's word that we are in, and says everything again that a host
// which has not heard of it needs to know.
func (s *session) welcome(m wire.Welcome, isAgain bool) {
	if m.Token != s.token {
		s.keep(m.Token)
	}
	s.told = slices.DeleteFunc(m.Hosts, func(at netip.AddrPort) bool { return at.Port() == 0 || !mayAsk(s.host, at.Addr()) })
	if s.round != nil {
		s.round.sent, s.round.saidDone = 0, false
	}
	if s.able.Game != "" {
		s.send(s.able)
	}
	s.sayBrought()
	s.saidOutside = 0
	s.sayOutside()
	s.late.told = 0 // this host was told nothing yet
	if s.launched != nil {
		s.send(*s.launched)
	}
	if s.finishing {
		s.leave(errFinished)
	}
	if !isAgain {
		s.tell(Joined{m.Name, m.Page})
	}
}

// inBackground stops what was under way and does the next thing.
func (s *session) inBackground(do func(ctx context.Context)) {
	s.stop()
	s.tasks++
	s.stop = s.begins(do)
}

// begins does something beside all else until stop is called.
func (s *session) begins(do func(ctx context.Context)) (stop context.CancelFunc) {
	ctx, cancel := context.WithCancel(s.ctx)
	s.work.Go(func() {
		defer cancel()
		do(ctx)
	})
	return cancel
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
