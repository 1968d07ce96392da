package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"muster/internal/catalogue"
	"muster/internal/catalogue/languages"
	"muster/internal/home"
	"muster/internal/lobby"
	"muster/internal/rpc/jsonrpc"
)

// Config is what a server needs from its surroundings.
type Config struct {
	In  io.Reader
	Out io.Writer
	// Version is the program's.
	Version string
	// Language is the tag of the language for people, until hello names one.
	Language string
	// Command runs a command line of Muster's until it ends. The command prints its result to out,
	// and talks to people at the terminal. The front shows its room.
	Command func(ctx context.Context, args []string, out io.Writer, t home.Terminal, front *lobby.Front) error
	Logger  *slog.Logger
}

const (
	// maxLines is how many lines are worked on at a time. While the launcher does not read their
	// answers, no more are read.
	maxLines = 64
	// maxRooms is how many rooms one launcher may be in. maxLooks is how many discoveries it may
	// run at once. Each of them sends packets.
	maxRooms, maxLooks = 8, 4
	// maxAsides is how many calls compute at a time beside the reading of others.
	maxAsides = 4
	// endWithin is how long rooms may take to end. Then they end with the program.
	endWithin = 2 * time.Second
)

// Server answers one launcher.
type Server struct {
	config  Config
	methods map[string]method
	out     *jsonrpc.Outbox
	ctx     context.Context
	quit    context.CancelFunc
	work    sync.WaitGroup // everything that runs
	lines   chan struct{}  // a place for each line that is worked on
	asides  chan struct{}  // a place for each call that computes aside
	held    atomic.Int64   // bytes of the answers of batches that are not complete

	mu       sync.Mutex // guards what follows
	language *catalogue.Language
	running  map[string]context.CancelFunc // by the ID of the call
	rooms    map[int]*room
	lastRoom int
	looks    int
	isOver   bool
}

// start runs something in the background, unless the server is about to end.
func (s *Server) start(what func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isOver {
		s.work.Go(what)
	}
}

// Serve answers a launcher until ctx or the input ends, the launcher asks for the end, or it cannot
// be written to. Then all rooms end. A pending read of the input may outlive Serve.
func Serve(ctx context.Context, config Config) error {
	s := &Server{
		config: config, methods: methods(), out: jsonrpc.NewOutbox(config.Out), lines: make(chan struct{}, maxLines), asides: make(chan struct{}, maxAsides),
		language: languageOf(config.Language), running: map[string]context.CancelFunc{}, rooms: map[int]*room{},
	}
	s.ctx, s.quit = context.WithCancel(ctx)
	defer s.quit()
	writing, written := context.WithCancel(context.Background())
	defer written()
	wrote := make(chan error, 1)
	go func() {
		err := s.out.Run(writing)
		s.quit() // nobody reads any more
		wrote <- err
	}()
	go s.read()
	<-s.ctx.Done()
	s.mu.Lock()
	s.isOver = true
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() { s.work.Wait(); close(ended) }()
	late := time.NewTimer(endWithin)
	defer late.Stop()
	select {
	case <-ended:
	case <-late.C:
		config.Logger.Warn("rooms take long to end: they end with the program")
	}
	written()
	select {
	case err := <-wrote:
		return err
	case <-late.C: // the launcher reads nothing
		return nil
	}
}

// languageOf returns the language of a tag, or of the nearest that Muster speaks.
func languageOf(tag string) *catalogue.Language { return languages.In(languages.Find(tag)) }

func (s *Server) speaks() *catalogue.Language {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.language
}

// read reads calls until the input ends.
func (s *Server) read() {
	defer s.quit()
	for lines := jsonrpc.NewLines(s.config.In); ; {
		s.out.Await(s.ctx)
		line, err := lines.Next()
		if err != nil && !errors.Is(err, jsonrpc.ErrTooLong) {
			if !errors.Is(err, io.EOF) {
				s.config.Logger.Warn("the launcher cannot be read", "error", err)
			}
			return
		}
		select {
		case s.lines <- struct{}{}:
		case <-s.ctx.Done():
			return
		}
		if err != nil {
			s.config.Logger.Warn("a line was too long, and is skipped", "most", jsonrpc.MaxLine)
			s.out.Answer(jsonrpc.Encode(jsonrpc.Failure(json.RawMessage("null"), jsonrpc.Errorf(jsonrpc.ParseError,
				"a line has at most %d bytes, and this one was longer: it is skipped", jsonrpc.MaxLine))), s.free)
			continue
		}
		s.take(line)
	}
}

// free frees the place of a line.
func (s *Server) free() { <-s.lines }

func (s *Server) take(line []byte) {
	calls, isBatch := jsonrpc.Parse(line)
	wanted := 0
	for _, c := range calls {
		if c.ID != nil {
			wanted++
		}
	}
	if wanted == 0 {
		s.free()
	}
	answer := func(one any) { s.out.Answer(jsonrpc.Encode(one), s.free) }
	if isBatch {
		answer = s.batched(wanted)
	}
	for _, c := range calls {
		s.call(c, answer)
	}
}

// errUnread answers a call of a batch when too much waits to be read.
var errUnread = jsonrpc.Errorf(jsonrpc.InternalError,
	"more than %d MiB of answers wait to be read: read them, and ask again", jsonrpc.MaxUnread>>20)

// batched returns what collects the answers of a batch, as many as are wanted. Of those that come while
// too much waits only the ids are kept.
func (s *Server) batched(wanted int) func(any) {
	var mu sync.Mutex
	var answers [][]byte
	length := int64(0)
	return func(one any) {
		line := jsonrpc.Encode(one)
		mu.Lock()
		defer mu.Unlock()
		if s.held.Load()+int64(s.out.Unread()) >= jsonrpc.MaxUnread {
			line = jsonrpc.Encode(jsonrpc.Failure(jsonrpc.IDOf(one), errUnread))
		}
		answers, length = append(answers, line), length+int64(len(line))
		if s.held.Add(int64(len(line))); len(answers) == wanted {
			s.held.Add(-length)
			s.out.Answer(jsonrpc.Batch(answers), s.free)
		}
	}
}

// call is a call that is worked on.
type call struct {
	*Server
	ctx context.Context
	id  json.RawMessage
	// reply answers the call. Only the first reply counts.
	reply func(result any, err error)
}

// call begins to work on a call.
func (s *Server) call(c jsonrpc.Call, answer func(any)) {
	if c.Wrong != nil {
		answer(jsonrpc.Failure(c.ID, c.Wrong))
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	began := time.Now()
	id := string(c.ID)
	s.mu.Lock()
	_, isTwice := s.running[id]
	if isTwice = isTwice && c.ID != nil; !isTwice && c.ID != nil {
		s.running[id] = cancel
	}
	s.mu.Unlock()
	if isTwice {
		cancel()
		answer(jsonrpc.Failure(c.ID, jsonrpc.Errorf(jsonrpc.InvalidRequest, "the call with this id is not answered yet")))
		return
	}
	var once sync.Once
	reply := func(result any, err error) {
		once.Do(func() {
			log := s.config.Logger.With("method", s.methodName(c.Method), "took", time.Since(began).Round(time.Millisecond))
			message := jsonrpc.Result(c.ID, result)
			if err != nil {
				why := errorOf(s.speaks(), err, nil)
				message = jsonrpc.Failure(c.ID, why)
				log = log.With("code", why.Code)
			}
			log.Debug("answered")
			if c.ID != nil {
				s.mu.Lock()
				delete(s.running, id)
				s.mu.Unlock()
				answer(message)
			}
			cancel()
		})
	}
	m, is := s.methods[c.Method]
	if !is {
		reply(nil, jsonrpc.Errorf(jsonrpc.MethodNotFound, "there is no such method; hello lists them"))
		return
	}
	m.begin(&call{s, ctx, c.ID, reply}, c.Params)
}

// methodName returns a method's name for the log. A launcher's own word is not logged.
func (s *Server) methodName(given string) string {
	if _, is := s.methods[given]; is {
		return given
	}
	return "unknown"
}

func (s *Server) room(number int) (*room, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.rooms[number]; r != nil {
		return r, nil
	}
	return nil, noRoom(number)
}

// everyRoom returns the rooms by their numbers.
func (s *Server) everyRoom() map[int]*room {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.rooms)
}

// arguments returns a command line in the language of the launcher.
func (s *Server) arguments(command string, args []argument) []string {
	return append([]string{"--language=" + s.speaks().Tag(), command}, textsOf(args)...)
}

// maxLog is how many lines of the log wait for a launcher that does not read them.
const maxLog = 256

// logEndWithin bounds the wait for the last lines of the log.
const logEndWithin = 100 * time.Millisecond

// NewLog returns a log that waits for nobody: lines that the launcher does not read are dropped, and
// counted. end writes what is left.
func NewLog(w io.Writer, level slog.Level) (log *slog.Logger, end func()) {
	l := &patient{lines: make(chan []byte, maxLog), ends: make(chan struct{}), done: make(chan struct{})}
	go l.run(w)
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: level})), func() {
		close(l.ends)
		select {
		case <-l.done:
		case <-time.After(logEndWithin):
		}
	}
}

// patient is a writer that drops a line if too many wait already.
type patient struct {
	lines      chan []byte
	ends, done chan struct{}
	dropped    atomic.Int64
}

func (p *patient) Write(line []byte) (int, error) {
	select {
	case p.lines <- append([]byte(nil), line...):
	default:
		p.dropped.Add(1)
	}
	return len(line), nil
}

func (p *patient) run(w io.Writer) {
	defer close(p.done)
	for {
		select {
		case line := <-p.lines:
			p.put(w, line)
		case <-p.ends:
			for len(p.lines) > 0 {
				p.put(w, <-p.lines)
			}
			return
		}
	}
}

func (p *patient) put(w io.Writer, line []byte) {
	if n := p.dropped.Swap(0); n > 0 {
		fmt.Fprintf(w, "%d lines of the log were dropped, because nobody read them\n", n)
	}
	w.Write(line)
}
