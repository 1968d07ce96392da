package home

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/report"
	"muster/internal/hint"
)

// task is a command that runs or ran.
type task struct {
	cancel context.CancelFunc
	done   chan struct{}
	// ends is closed when the person ends the session; nil if there is none.
	ends chan struct{}
}

// stop stops a task and waits for it.
func (h *Home) stop(of kind) {
	h.mu.Lock()
	t := h.tasks[of]
	h.mu.Unlock()
	if t.cancel != nil {
		t.cancel()
		<-t.done
	}
}

// endTime is how long telling everybody in a room about the end of the session may take.
const endTime = 5 * time.Second

// endSession ends the session in the room that the task has opened: the room tells everyone, and the
// task ends. A task that cannot do so is stopped.
func (h *Home) endSession() {
	h.mu.Lock()
	t := h.tasks[plays]
	if t.ends != nil {
		h.tasks[plays] = task{cancel: t.cancel, done: t.done} // it is closed once
	}
	h.mu.Unlock()
	if t.ends == nil {
		return
	}
	close(t.ends)
	select {
	case <-t.done:
	case <-time.After(endTime):
		h.stop(plays)
	}
}

// start replaces the running command of a kind with a new one. reset prepares what pages see of it,
// adapt fits its terminal, and ended is told how it came out; the last two may be nil.
func (h *Home) start(of kind, request Request, reset func(*state), adapt func(*Terminal), ended func(error)) {
	h.starting.Lock()
	defer h.starting.Unlock()
	h.stop(of)
	ctx, cancel := context.WithCancel(h.ctx)
	t := task{cancel, make(chan struct{}), make(chan struct{})}
	terminal := Quiet()
	terminal.Out = Lines(func(line string) {
		h.change(func(s *state) { s.task(of).Lines = shortened(append(slices.Clip(s.task(of).Lines), line)) })
	})
	terminal.Ask = func(ctx context.Context, text string) (string, bool) { return h.ask(ctx, of, text) }
	terminal.Launches = func(launch string) { h.change(func(s *state) { s.task(of).Launch = launch }) }
	terminal.Ends = t.ends
	if adapt != nil {
		adapt(&terminal)
	}
	h.change(func(s *state) {
		h.tasks[of], terminal.Language = t, h.language
		reset(s)
		s.task(of).Running, s.task(of).Lines = true, []string{}
	})
	h.work.Go(func() {
		defer close(t.done)
		defer cancel()
		err := h.config.Run(ctx, request, terminal)
		h.change(func(s *state) {
			s.task(of).Running, s.task(of).Open = false, false
			if err != nil && !errors.Is(err, context.Canceled) && ctx.Err() == nil {
				s.task(of).Error = hint.Sentences(err)
			}
		})
		if ended != nil {
			ended(err)
		}
	})
}

func (h *Home) find(request Find) {
	h.start(finds, request, func(s *state) {
		h.rows, s.Find = nil, findState{ID: s.Find.ID + 1, taskState: taskState{Game: request.Game}}
	}, func(t *Terminal) {
		t.Listed = func(servers int) { h.change(func(s *state) { s.Find.Listed = servers }) }
		t.Found = func(m report.Measurement) {
			h.change(func(s *state) {
				s.Find.Asked++
				if m.State == discovery.Answered {
					s.Find.Answered++
					h.rows = append(h.rows, m)
				}
			})
		}
	}, nil)
}

// refresh adds a server's newest result to the table.
func (h *Home) refresh(m report.Measurement) {
	h.change(func(*state) {
		if m.State == discovery.Answered {
			h.rows = append(h.rows, m)
		}
	})
}

// play joins a room or opens one; what says which. ended may be nil.
func (h *Home) play(what, game string, request Request, ended func(error)) {
	h.start(plays, request, func(s *state) {
		h.link, s.Room = "", roomState{taskState{What: what, Game: game}, s.Room.ID + 1}
	}, func(t *Terminal) {
		t.Open = func(link string) {
			h.change(func(s *state) { h.link, s.Room.Open = link, true })
		}
	}, ended)
}

// connect takes the player to a server. It ends a watch of the same server, which would ask the
// same question a second time.
func (h *Home) connect(request serverRequest) {
	h.mu.Lock()
	isWatched := h.state.Watch.What == request.Addr
	h.mu.Unlock()
	if isWatched {
		h.stop(watches)
	}
	h.start(goes, Find{Game: request.Game, Servers: request.Addr, All: true, Goes: true}, func(s *state) {
		s.Go = taskState{What: request.Addr, Game: request.Game}
		if isWatched && !s.Watch.Running {
			s.Watch = watchState{taskState: taskState{Lines: []string{}}}
		}
	}, func(t *Terminal) { t.Found = h.refresh }, nil)
}

// watch watches a server until a seat is free.
func (h *Home) watch(request serverRequest) {
	h.start(watches, Find{Game: request.Game, Servers: request.Addr, All: true, Watches: true, Goes: request.Goes}, func(s *state) {
		s.Watch = watchState{Name: discovery.CleanText(request.Name), Goes: request.Goes,
			taskState: taskState{What: request.Addr, Game: request.Game}}
	}, func(t *Terminal) {
		t.Found = func(m report.Measurement) {
			h.refresh(m)
			h.change(func(s *state) {
				s.Watch.Looks++
				info := m.Info()
				if info == nil {
					return
				}
				if s.Watch.Free = info.Free(); s.Watch.Free > 0 && !request.Goes {
					h.tasks[watches].cancel() // the person is told, and decides
				}
			})
		}
	}, nil)
}

// shine makes this computer answer measurements.
func (h *Home) shine(request Beacon) {
	h.start(answers, request, func(s *state) { s.Beacon = beaconState{} }, func(t *Terminal) {
		t.Shines = func(line string, answered int) {
			h.change(func(s *state) { s.Beacon.Line, s.Beacon.Answered = discovery.CleanText(line), answered })
		}
	}, nil)
}

// maxLines is how many lines of a command are kept: more than anybody scrolls through.
const maxLines = 200

// lines splits a command's output into lines, and calls tell with each.
type lines struct {
	mu   sync.Mutex // guards what follows
	part []byte
	tell func(line string)
}

// Lines returns a writer that calls tell with each line of a command's output.
func Lines(tell func(line string)) io.Writer { return &lines{tell: tell} }

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part = append(l.part, p...)
	for {
		line, rest, isWhole := bytes.Cut(l.part, []byte("\n"))
		if !isWhole {
			return len(p), nil
		}
		l.part = rest
		if text := discovery.CleanText(string(line)); strings.TrimSpace(text) != "" {
			l.tell(text)
		}
	}
}

// shortened returns the newest lines.
func shortened(all []string) []string { return all[max(0, len(all)-maxLines):] }

// question is a command's question to the person.
type question struct {
	ID   int    `json:"id"`
	Of   kind   `json:"of"`
	Text string `json:"text"`
	// answer has room for the one answer.
	answer chan string
}

// ask asks the person a question of a command, and waits for the answer. ok is false if there is none.
func (h *Home) ask(ctx context.Context, of kind, text string) (answer string, ok bool) {
	q := question{Of: of, Text: discovery.CleanText(text), answer: make(chan string, 1)}
	h.change(func(s *state) {
		h.lastID++
		q.ID = h.lastID
		s.Questions = append(s.Questions, q)
	})
	select {
	case answer := <-q.answer:
		return answer, true
	case <-ctx.Done():
	case <-h.ctx.Done():
	}
	h.change(func(s *state) { take(&s.Questions, func(other question) bool { return other.ID == q.ID }) })
	return "", false
}

type answerRequest struct {
	ID     int    `json:"id"`
	Answer string `json:"answer"`
}

// takeAnswer passes the person's answer to the command. Only the first one counts.
func (h *Home) takeAnswer(_ context.Context, request answerRequest) (_ any, err error) {
	h.change(func(s *state) {
		q, is := take(&s.Questions, func(other question) bool { return other.ID == request.ID })
		if !is {
			err = hint.Say("home.not-asked")
			return
		}
		q.answer <- request.Answer
	})
	return nil, err
}

func take[T any](list *[]T, isMeant func(T) bool) (taken T, is bool) {
	at := slices.IndexFunc(*list, isMeant)
	if at < 0 {
		return taken, false
	}
	taken = (*list)[at]
	*list = slices.Delete(*list, at, at+1)
	return taken, true
}
