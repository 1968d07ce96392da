package peer

import (
	"context"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/host/wire/conn"
	"muster/internal/clock"
	"muster/peer/player"
)

// session drives a [player.Player] in one room. Only its own goroutine touches it.
type session struct {
	options Options
	log     *slog.Logger
	inbox   chan func()
	ctx     context.Context
	leave   context.CancelCauseFunc
	work    sync.WaitGroup

	player *player.Player
	conn   *conn.Conn // the newest, nil once it has ended
	// dropped is why the host's last message ends the connection, or nil if it does not.
	dropped error
	// stops cancel the running tasks. boxes collect what the probing ones among them have seen.
	stops   map[int]context.CancelFunc
	boxes   map[int]*mailbox
	scanner scanner
	// places are the scanners for candidate places, by protocol.
	places map[string]*scanner

	// left is the address of the newest connection. Only stayConnected uses it.
	left netip.Addr
	// program identifies this run of the program, and lines counts its connections. Only stayConnected's goroutine
	// touches them.
	program string
	lines   int
}

func (s *session) loop() {
	alarm := s.options.Clock.NewTimer(0)
	defer alarm.Stop()
	for {
		alarm.Reset(s.options.Clock.Until(s.player.Next()))
		select {
		case act := <-s.inbox:
			act()
		case <-alarm.C:
			s.tick()
		case say := <-s.options.Say:
			s.step(player.Say{Say: say})
		case <-s.ctx.Done():
			return
		}
	}
}

// post queues act for the session's goroutine, unless the session has ended.
func (s *session) post(act func()) {
	select {
	case s.inbox <- act:
	case <-s.ctx.Done():
	}
}

// do runs act on the session's goroutine and waits for it, or for the session's end.
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

// queued returns how many messages wait to be sent.
func (s *session) queued() int {
	if s.conn == nil {
		return 0
	}
	return s.conn.Queued()
}

// tick tells the machine what was seen and that time has passed.
func (s *session) tick() {
	for _, task := range slices.Sorted(maps.Keys(s.boxes)) {
		s.empty(task)
	}
	in := player.Tick{Queued: s.queued()}
	if s.options.Outside != nil {
		in.Outside = s.options.Outside()
	}
	s.step(in)
}

// hear passes a message from the host to the machine. The error ends the connection.
func (s *session) hear(m wire.Message) error {
	s.dropped = nil
	s.step(player.Hear{Message: m})
	return s.dropped
}

// step passes an input to the machine and carries out its outputs.
func (s *session) step(in player.Input) {
	for _, o := range s.player.Step(in, s.options.Clock.Now()) {
		switch o := o.(type) {
		case player.Send:
			if s.conn != nil {
				s.conn.Send(o.Message)
			}
		case player.Tell:
			s.tell(o.Event)
		case player.Warn:
			s.log.Warn(o.Text, o.Args...)
		case player.Keep:
			s.keep(o.Token)
		case player.Remember:
			if s.options.Remember != nil {
				s.options.Remember(o.Cells)
			}
		case player.Drop:
			s.dropped = o.Err
		case player.Leave:
			s.leave(o.Err)
		case player.Hold:
			if s.options.Hold != nil {
				s.options.Hold(o.For)
			}
		case player.Stop:
			if stop := s.stops[o.Task]; stop != nil {
				stop()
			}
		case player.Release:
			if by := s.places[o.Protocol]; by != nil {
				delete(s.places, o.Protocol)
				if err := by.close(); err != nil {
					s.log.Warn("places not measured", "protocol", o.Protocol, "error", err)
				}
			}
		default:
			s.undertake(o)
		}
	}
}

// undertake starts work that takes time.
func (s *session) undertake(o player.Output) {
	switch o := o.(type) {
	case player.Run:
		s.run(o)
	case player.Launch:
		s.begin(o.Task, func(ctx context.Context) player.Input {
			s.options.Launch(ctx, o.Launch, o.Doubt, func(state wire.LaunchState, detail sentence.Sentence) {
				s.post(func() { s.step(player.Progressed{Task: o.Task, State: state, Detail: detail}) })
			})
			return player.Launched{Task: o.Task}
		})
	case player.AskStatus:
		s.begin(o.Task, func(ctx context.Context) player.Input {
			in := player.StatusTold{Task: o.Task}
			if s.options.Status != nil {
				in.Pings = s.options.Status(ctx, o.Launch, o.MinReach)
			}
			return in
		})
	case player.Try:
		if s.options.Able != nil {
			s.begin(o.Task, func(ctx context.Context) player.Input {
				return player.Tried{Task: o.Task, Able: s.options.Able(ctx, o.Game)}
			})
		}
	case player.Collect:
		if s.options.Brings != nil {
			s.begin(o.Task, func(ctx context.Context) player.Input {
				return player.Brought{Task: o.Task, Bring: s.options.Brings(ctx, o.Game)}
			})
		}
	case player.AskConsent:
		s.begin(o.Task, func(ctx context.Context) player.Input {
			return player.Consented{Task: o.Task, Yes: s.options.Consents(ctx, o.Places)}
		})
	case player.LookAround:
		s.begin(o.Task, func(ctx context.Context) player.Input {
			found := player.Found{Game: o.Game}
			if s.options.Near != nil {
				found.Servers = s.options.Near(ctx, o.Game)
			}
			return found
		})
	case player.AskOthers:
		s.begin(o.Task, func(ctx context.Context) player.Input {
			var answered player.OthersAnswered
			if s.options.Others != nil {
				answered.Servers = s.options.Others(ctx, o.Game, o.Servers)
			}
			return answered
		})
	}
}

// begin runs do in the background until the task is stopped, and passes its result to the machine.
func (s *session) begin(task int, do func(ctx context.Context) player.Input) {
	ctx, cancel := context.WithCancel(s.ctx)
	s.stops[task] = cancel
	s.work.Go(func() {
		defer cancel()
		in := do(ctx)
		s.post(func() {
			s.empty(task)
			delete(s.stops, task)
			delete(s.boxes, task)
			s.step(in)
		})
	})
}

// run probes servers.
func (s *session) run(o player.Run) {
	by, box := &s.scanner, &mailbox{clock: s.options.Clock, began: o.Began}
	if o.IsPlaces {
		if by = s.places[o.Game]; by == nil {
			by = &scanner{newProber: func(protocol string, _ func(time.Duration)) (Prober, error) {
				return s.options.NewPlaceProber(protocol)
			}}
			s.places[o.Game] = by
		}
	}
	s.boxes[o.Task] = box
	run := by.queue()
	s.begin(o.Task, func(ctx context.Context) player.Input {
		if o.Patience > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, o.Patience)
			defer cancel()
		}
		err := run(ctx, o, box.add)
		if ctx.Err() != nil {
			err = nil // the run was stopped for another, or it ran out of patience with silent servers
		}
		return player.Ran{Task: o.Task, Err: err}
	})
}

// empty passes what a task has seen to the machine.
func (s *session) empty(task int) {
	if box := s.boxes[task]; box != nil {
		if results := box.take(); len(results) > 0 {
			s.step(player.Seen{Task: task, Results: results})
		}
	}
}

// keep saves the token for the next start of the program.
func (s *session) keep(token string) {
	if s.options.SaveToken != nil {
		s.options.SaveToken(token)
	}
}

// mailbox holds the results of a run until the session takes them. The prober writes, the session reads.
type mailbox struct {
	clock clock.Clock
	began time.Time

	mu      sync.Mutex // guards the fields below
	results []discovery.Result
}

func (b *mailbox) add(r discovery.Result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.At = b.clock.Since(b.began)
	b.results = append(b.results, r)
}

func (b *mailbox) take() []discovery.Result {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.results
	b.results = nil
	return taken
}
