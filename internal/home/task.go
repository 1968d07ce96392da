package home

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/report"
	"muster/internal/hint"
)

// task is a command that runs or ran; there is one of each kind at a time.
type task struct {
	cancel context.CancelFunc
	done   chan struct{}
	// ends is closed when the person ends the session; nil if there is none.
	ends chan struct{}
}

// stop stops a task and waits for it.
func (h *Home) stop(of *task) {
	h.mu.Lock()
	t := *of
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
	t := h.room
	if t.ends != nil {
		h.room.ends = nil // it is closed once
	}
	h.mu.Unlock()
	if t.ends == nil {
		return
	}
	close(t.ends)
	select {
	case <-t.done:
	case <-time.After(endTime):
		h.stop(&h.room)
	}
}

// start replaces the running command of its kind with a new one. show returns its state, adapt fits
// its terminal, and ended receives how it came out.
func (h *Home) start(of *task, name string, show func(*state) *taskState, head taskState, args []string,
	adapt func(*Terminal), ended func(error)) {
	h.stop(of)
	ctx, cancel := context.WithCancel(h.ctx)
	t := task{cancel, make(chan struct{}), make(chan struct{})}
	h.change(func(s *state) {
		*of = t
		head.Running, head.Lines = true, []string{}
		*show(s) = head
	})
	say := func(line string) {
		h.change(func(s *state) {
			show(s).Lines = shortened(append(slices.Clip(show(s).Lines), line))
		})
	}
	terminal := terminal(h.language.tag(), strings.NewReader(""), &lines{tell: say})
	terminal.Ask = func(ctx context.Context, text string) (string, bool) { return h.questions.ask(ctx, name, text) }
	terminal.Open, terminal.Ends = func(string) {}, t.ends
	terminal.Listed, terminal.Found, terminal.Shines = func(int) {}, func(report.Measurement) {}, func(string, int) {}
	terminal.Launches = func(launch string) { h.change(func(s *state) { show(s).Launch = launch }) }
	if adapt != nil {
		adapt(&terminal)
	}
	h.work.Go(func() {
		defer close(t.done)
		defer cancel()
		err := h.config.Command(ctx, args, terminal)
		h.change(func(s *state) {
			show(s).Running, show(s).Open = false, false
			if err != nil && !errors.Is(err, context.Canceled) && ctx.Err() == nil {
				show(s).Error = hint.Sentences(err)
			}
		})
		if ended != nil {
			ended(err)
		}
	})
}

// find searches for a game's servers.
func (h *Home) find(game string, args []string, clean func()) {
	h.starting.Lock()
	defer h.starting.Unlock()
	h.stop(&h.finder)
	id := 0
	h.change(func(s *state) {
		id = h.found.begin()
		s.Find = findState{ID: id, taskState: taskState{Lines: []string{}}}
	})
	h.start(&h.finder, "find", func(s *state) *taskState { return &s.Find.taskState }, taskState{Game: game},
		args, func(t *Terminal) {
			t.Listed = func(servers int) { h.change(func(s *state) { s.Find.Listed = servers }) }
			t.Found = func(m report.Measurement) {
				h.change(func(s *state) {
					s.Find.Asked++
					if m.State == discovery.Answered {
						s.Find.Answered++
						h.found.add(m)
					}
				})
			}
		}, func(error) { clean() })
}

// refresh adds a server's newest result to the table.
func (h *Home) refresh(m report.Measurement) {
	h.change(func(*state) {
		if m.State == discovery.Answered {
			h.found.add(m)
		}
	})
}

// play joins a room or opens one.
func (h *Home) play(what, game string, args []string, clean func()) {
	h.starting.Lock()
	defer h.starting.Unlock()
	h.stop(&h.room)
	h.change(func(s *state) { h.link, s.Room = "", roomState{taskState{Lines: []string{}}, s.Room.ID + 1} })
	h.start(&h.room, "room", func(s *state) *taskState { return &s.Room.taskState }, taskState{What: what, Game: game},
		args, func(t *Terminal) {
			t.Open = func(link string) {
				h.change(func(s *state) { h.link, s.Room.Open = link, true })
			}
		}, func(error) { clean() })
}

// connect takes the player to a server. It ends a watch of the same server, which would ask the
// same question a second time.
func (h *Home) connect(game, addr string, args []string, clean func()) {
	h.starting.Lock()
	defer h.starting.Unlock()
	h.mu.Lock()
	isWatched := h.state.Watch.What == addr
	h.mu.Unlock()
	if isWatched {
		h.stop(&h.watcher)
		h.change(func(s *state) { s.Watch = watchState{taskState: taskState{Lines: []string{}}} })
	}
	h.start(&h.goer, "go", func(s *state) *taskState { return &s.Go }, taskState{What: addr, Game: game},
		args, func(t *Terminal) {
			t.Found = h.refresh
		}, func(error) { clean() })
}

// shine makes this computer answer measurements.
func (h *Home) shine(args []string) {
	h.starting.Lock()
	defer h.starting.Unlock()
	h.stop(&h.shiner)
	h.change(func(s *state) { s.Beacon = beaconState{} })
	h.start(&h.shiner, "beacon", func(s *state) *taskState { return &s.Beacon.taskState }, taskState{}, args,
		func(t *Terminal) {
			t.Shines = func(line string, answered int) {
				h.change(func(s *state) { s.Beacon.Line, s.Beacon.Answered = discovery.CleanText(line), answered })
			}
		}, nil)
}

// watch watches a server until a seat is free.
func (h *Home) watch(game, addr, name string, goes bool, args []string, clean func()) {
	h.starting.Lock()
	defer h.starting.Unlock()
	h.stop(&h.watcher)
	h.change(func(s *state) { s.Watch = watchState{Name: discovery.CleanText(name), Goes: goes} })
	h.start(&h.watcher, "watch", func(s *state) *taskState { return &s.Watch.taskState }, taskState{What: addr,
		Game: game}, args, func(t *Terminal) {
		t.Found = func(m report.Measurement) {
			h.refresh(m)
			h.change(func(s *state) {
				s.Watch.Looks++
				info := m.Info()
				if info == nil {
					return
				}
				if s.Watch.Free = info.Free(); s.Watch.Free > 0 && !goes {
					h.watcher.cancel() // the person is told, and decides
				}
			})
		}
	}, func(error) { clean() })
}
