package host

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"muster/discovery"
	"muster/host/access"
	"muster/host/page"
	"muster/host/room"
	"muster/host/store"
	"muster/host/wire"
	"muster/host/wire/conn"
)

const (
	// tickEvery is how often a room looks at the time, and publishEvery how often
	// it tells everyone its newest state, if it changed.
	tickEvery    = 100 * time.Millisecond
	publishEvery = 200 * time.Millisecond
	// saveEvery bounds how often a room that changes all the time is written. What could
	// not be is tried again after that, twice that, … longestRest.
	saveEvery   = 2 * time.Second
	longestRest = 30 * time.Second
	// listTime bounds how long getting a list may take: several masters, asked
	// twice each.
	listTime = time.Minute
	// viewBacklog is how many messages may wait for a member who still is sent
	// the newest state. Whoever is slower misses states, never the last one.
	viewBacklog = 4
)

// ListFunc gets the server list of a game, annotated with country and origin
// AS as far as they are known.
type ListFunc func(ctx context.Context, game string) ([]discovery.Server, error)

// actor drives one room: only its goroutine touches the room and the members'
// connections. Everyone else posts what happened.
type actor struct {
	host  *Host
	code  string
	claim store.Claim
	keys  room.Keys       // of its beginning: the secret may change
	open  bool            // joining needs no code
	ctx   context.Context // ends with the host or with the room
	end   context.CancelFunc
	log   *slog.Logger
	views *board[*page.View]
	inbox chan func()
	work  sync.WaitGroup // list fetches
	over  atomic.Bool    // it is, or about to be

	room  *room.Room
	links map[string]*link // by member
	// whatIfs are those of the whole room: each is a choice to be made.
	whatIfs *access.Pace
	// shown and saved are the room's revisions that readers and the store have.
	shown, saved int
	savedAt      time.Time
	// writing takes what comes of a save under way, which is of a revision; nil
	// without one. unsaved is how often in a row it failed.
	writing  chan error
	revision int
	unsaved  int
}

// link is a member's connection, and the edition of the view that it carried last.
type link struct {
	conn *conn.Conn
	seen int
}

// run serves the room until the host ends, or nobody has been there for long.
func (a *actor) run() {
	defer a.leave()
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	news := time.NewTicker(publishEvery)
	defer news.Stop()
	for {
		select {
		case act := <-a.inbox:
			act()
		case now := <-ticker.C:
			if a.step(room.Tick{}, nil); a.room.Over(now) {
				return
			}
		case now := <-news.C:
			a.publish()
			if now.Sub(a.savedAt) >= min(saveEvery<<min(a.unsaved, 8), longestRest) {
				a.write()
			}
		case err := <-a.writing:
			a.written(err)
		case <-a.ctx.Done():
			return
		}
	}
}

// post has the room's goroutine do something, unless there is no room, or it has
// ended.
func (a *actor) post(act func()) bool {
	if a == nil {
		return false
	}
	select {
	case a.inbox <- act:
		return true
	case <-a.ctx.Done():
		return false
	}
}

// ask is post for what has a result; the zero value if the room has ended.
func ask[T any](a *actor, act func() T) (result T, ok bool) {
	answer := make(chan T, 1)
	if !a.post(func() { answer <- act() }) {
		return result, false
	}
	return <-answer, true
}

// leave ends the room's goroutine in good order: everything saved, everyone
// told, nobody left running.
func (a *actor) leave() {
	a.end()
	a.save()
	for _, l := range a.links {
		l.conn.Close(errors.New("host: the room's host has ended"))
	}
	a.work.Wait()
}

// step has something happen to the room, and does what comes of it in order. It
// returns the answer to an order. By is the connection that says hello, else nil.
func (a *actor) step(in room.Input, by *conn.Conn) (answer any, err error) {
	outputs, err := a.room.Step(in, time.Now())
	for _, o := range outputs {
		switch o := o.(type) {
		case room.Save:
			a.save()
		case room.Publish:
			a.publish()
		case room.Admit:
			if old := a.links[o.Player]; old != nil {
				replaced := wire.Refusal{Reason: wire.ReasonReplaced, Message: o.Player + " came back on another connection"}
				old.conn.Send(replaced)
				old.conn.Close(replaced)
			}
			a.links[o.Player] = &link{conn: by}
			answer = o.Player
		case room.Send:
			a.send(o)
		case room.Dismiss:
			if l := a.links[o.Player]; l != nil {
				l.conn.Send(o.Why)
				l.conn.Close(o.Why)
				delete(a.links, o.Player)
			}
		case room.Renamed:
			if l := a.links[o.From]; l != nil {
				delete(a.links, o.From)
				a.links[o.To] = l
			}
		case room.Fetch:
			a.fetch(o)
		case room.Answer:
			answer = o.Document
		}
	}
	return answer, err
}

// join is posted when a peer says hello. It returns the member's name, or why
// there is none.
func (a *actor) join(hello wire.Hello, from room.Origin, by *conn.Conn) (name string, err error) {
	answer, err := a.step(room.Join{Hello: hello, From: from, Token: access.NewSecret()}, by)
	if err != nil {
		return "", err
	}
	a.publish()
	return answer.(string), nil
}

// member is whose connection it is, whatever the name was when it began.
func (a *actor) member(by *conn.Conn) (name string, is bool) {
	for name, l := range a.links {
		if l.conn == by {
			return name, true
		}
	}
	return "", false
}

// gone is posted when a connection has ended.
func (a *actor) gone(by *conn.Conn) {
	name, is := a.member(by)
	if !is {
		return // replaced by a newer one
	}
	delete(a.links, name)
	a.step(room.Leave{Player: name}, nil)
}

// receive is posted for each message of a member.
func (a *actor) receive(by *conn.Conn, message wire.Message) {
	name, is := a.member(by)
	if !is {
		return // a last word from a connection that was replaced
	}
	a.host.metrics.received(message)
	if _, err := a.step(room.Hear{Player: name, Message: message}, nil); err != nil {
		a.log.Warn("peer makes no sense", "player", name, "error", err)
		by.Send(wire.Refusal{Reason: wire.ReasonMalformed, Message: err.Error()})
		by.Close(err)
	}
}

// moves is posted when a part of a long message has come.
func (a *actor) moves(name string, by *conn.Conn) {
	if l := a.links[name]; l != nil && l.conn == by {
		a.step(room.Stir{Player: name}, nil)
	}
}

// order has the room act for a page, and waits for what comes of it.
func (a *actor) order(o room.Order) (document any, err error) {
	_, ok := ask(a, func() bool {
		document, err = a.step(o, nil)
		a.publish()
		return true
	})
	if !ok {
		return nil, room.Closed(a.code)
	}
	return document, err
}

func (a *actor) send(s room.Send) {
	if s.To != "" {
		if w, is := s.Message.(wire.Welcome); is && a.host.config.Addresses != nil {
			w.Hosts = a.host.config.Addresses()
			s.Message = w
		}
		if l := a.links[s.To]; l != nil {
			l.conn.Send(s.Message)
		}
		return
	}
	var frame wire.Frame
	var err error
	if list, is := s.Message.(wire.List); is {
		frame, err = a.host.lists.frame(list)
	} else {
		frame, err = wire.Marshal(s.Message)
	}
	if err != nil {
		a.log.Error("message not sent", "error", err)
		return
	}
	for _, l := range a.links {
		l.conn.SendFrame(frame)
	}
}

func (a *actor) fetch(wanted room.Fetch) {
	a.work.Go(func() {
		ctx, cancel := context.WithTimeout(a.ctx, listTime)
		defer cancel()
		config := &a.host.config
		if len(wanted.Servers) > 0 {
			a.post(func() { a.step(room.Listed{List: a.host.lists.share(a.host.own(wanted.Servers), nil)}, nil) })
			return
		}
		servers, err := config.List(ctx, wanted.Game)
		listed := room.Listed{Err: err}
		if err == nil && config.Age != nil {
			listed.Note = config.Age(wanted.Game)
		}
		if err == nil && config.Local != nil {
			listed.Local = config.Local(wanted.Game)
		}
		if err == nil {
			listed.List = a.host.lists.share(servers, listed.Local)
		}
		a.post(func() { a.step(listed, nil) })
	})
}

// publish shows everyone the newest state of the room who has not seen it.
func (a *actor) publish() {
	before, _ := a.views.get()
	view := before
	if revision := a.room.Revision(); revision != a.shown || before.Edition == 0 {
		a.shown = revision
		var err error
		if view, err = before.Next(a.room, a.host.config.Games, a.host.config.ConnectLink); err != nil {
			a.log.Error("room not shown", "error", err)
			return
		}
	}
	frames := map[int]wire.Frame{} // by what was seen before
	for _, l := range a.links {
		if l.seen == view.Edition || l.conn.Queued() > viewBacklog {
			continue
		}
		frame, made := frames[l.seen]
		if !made {
			frame = view.News(l.seen)
			frames[l.seen] = frame
		}
		if frame.Data != nil {
			l.conn.SendFrame(frame)
		}
		l.seen = view.Edition
	}
	if view != before {
		a.views.show(view) // at last: who watches may end the host, and all are to have heard why
	}
}

// save puts the room into the store, if it changed since the last time, and returns
// when it is there, or could not be.
func (a *actor) save() {
	if a.writing != nil {
		a.written(<-a.writing)
	}
	if a.write(); a.writing != nil {
		a.written(<-a.writing)
	}
}

// write begins to put the room into the store, if it changed and no save is under way:
// a slow disk holds nobody up.
func (a *actor) write() {
	revision := a.room.Revision()
	if a.writing != nil || revision == a.saved {
		return
	}
	a.savedAt, a.revision = time.Now(), revision
	done := make(chan error, 1)
	a.writing = done
	data, err := a.room.Save()
	if err != nil {
		done <- err
		return
	}
	a.work.Go(func() { done <- a.claim.Save(context.Background(), data) })
}

// written takes what came of a save. The room tells people when that goes wrong, and
// when it goes well again.
func (a *actor) written(err error) {
	a.writing = nil
	switch {
	case err == nil && a.unsaved > 0:
		a.unsaved = 0
		a.room.Step(room.Stored{}, time.Now())
	case err == nil:
	case errors.Is(err, syscall.ENOSPC):
		a.log.Error("room not saved", "error", err)
		a.notSaved("the disk is full")
	default:
		a.log.Error("room not saved", "error", err)
		a.notSaved("the disk takes nothing")
	}
	if err == nil {
		a.saved = a.revision
	}
}

func (a *actor) notSaved(why string) {
	if a.unsaved++; a.unsaved == 1 {
		a.room.Step(room.Stored{Trouble: why}, time.Now())
	}
}
