package host

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

const (
	// tickEvery is how often a room looks at the time, tells everyone its newest
	// state, and is saved if it changed.
	tickEvery = 200 * time.Millisecond
	// saveEvery bounds how often a room that changes all the time is written.
	saveEvery = 2 * time.Second
)

// actor owns one room: only its goroutine touches the room and the members'
// connections. Everyone else posts what happened.
type actor struct {
	ctx    context.Context // the host's
	code   string
	secret string
	list   ListFunc
	store  Store
	log    *slog.Logger
	stats  *metrics
	board  *board
	inbox  chan func()
	work   sync.WaitGroup // list fetches

	room  *Room
	conns map[string]*wire.Conn // by member

	changed bool // since the last publish
	unsaved bool
	savedAt time.Time
}

// run serves the room until the host ends.
func (a *actor) run() {
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	for {
		select {
		case act := <-a.inbox:
			act()
		case now := <-ticker.C:
			a.perform(a.room.Tick(now))
			a.publish()
			if now.Sub(a.savedAt) >= saveEvery {
				a.save(now)
			}
		case <-a.ctx.Done():
			a.leave()
			return
		}
	}
}

// post has the room's goroutine do something, unless the room has ended.
func (a *actor) post(act func()) bool {
	select {
	case a.inbox <- act:
		return true
	case <-a.ctx.Done():
		return false
	}
}

// leave ends the room's goroutine in good order: everything saved, everyone
// told, nobody left running.
func (a *actor) leave() {
	a.save(time.Now())
	for _, c := range a.conns {
		c.Close(errors.New("host: the host is closing"))
	}
	a.work.Wait()
}

// join is posted when a peer says hello. It answers through conn.
func (a *actor) join(hello wire.Hello, conn *wire.Conn) (string, *wire.Refusal) {
	name, effects, refusal := a.room.Join(hello, newSecret(), time.Now())
	if refusal != nil {
		return "", refusal
	}
	if old := a.conns[name]; old != nil {
		old.Close(errors.New("host: the player came back on another connection"))
	}
	a.conns[name] = conn
	a.perform(effects)
	a.sendView(conn)
	return name, nil
}

// gone is posted when a connection has ended.
func (a *actor) gone(name string, conn *wire.Conn) {
	if a.conns[name] != conn {
		return // replaced by a newer one
	}
	delete(a.conns, name)
	a.room.Gone(name, time.Now())
	a.changed = true
}

// receive is posted for each message of a member.
func (a *actor) receive(name string, conn *wire.Conn, message wire.Message) {
	a.stats.received(message)
	effects, err := a.room.Receive(name, message, time.Now())
	if err != nil {
		a.log.Warn("peer makes no sense", "player", name, "error", err)
		conn.Send(wire.Refusal{Reason: wire.ReasonMalformed, Message: err.Error()})
		conn.Close(err)
		return
	}
	a.perform(effects)
}

// perform does what the room wants done.
func (a *actor) perform(effects []effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case send:
			a.send(e)
		case fetch:
			a.fetch(e.game)
		}
	}
	a.changed = true
}

func (a *actor) send(s send) {
	if s.to != "" {
		if conn := a.conns[s.to]; conn != nil {
			conn.Send(s.message)
		}
		return
	}
	frame, err := wire.Marshal(s.message)
	if err != nil {
		a.log.Error("message not sent", "error", err)
		return
	}
	for _, conn := range a.conns {
		conn.SendFrame(frame)
	}
}

func (a *actor) fetch(game string) {
	a.work.Go(func() {
		servers, err := a.list(a.ctx, game)
		a.post(func() { a.perform(a.room.Listed(servers, err, time.Now())) })
	})
}

// publish tells everyone the newest state of the room, if it changed.
func (a *actor) publish() {
	if !a.changed {
		return
	}
	a.changed, a.unsaved = false, true
	view := a.room.View()
	if !a.board.set(view) {
		return
	}
	a.send(send{message: view})
}

func (a *actor) sendView(conn *wire.Conn) { conn.Send(a.room.View()) }

func (a *actor) save(now time.Time) {
	if !a.unsaved {
		return
	}
	a.unsaved, a.savedAt = false, now
	data, err := a.room.Save()
	if err == nil {
		err = a.store.Save(a.room.Code, data)
	}
	if err != nil {
		a.log.Error("room not saved", "room", a.room.Code, "error", err)
	}
}

// ListFunc gets the server list of a game, annotated with country and origin
// AS as far as they are known.
type ListFunc func(ctx context.Context, game string) ([]discovery.Server, error)
