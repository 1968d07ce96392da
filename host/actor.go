package host

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"muster/discovery"
	"muster/host/access"
	"muster/host/store"
	"muster/host/wire"
	"muster/host/wire/conn"
)

const (
	// tickEvery is how often a room looks at the time, and publishEvery how often
	// it tells everyone its newest state, if it changed.
	tickEvery    = 100 * time.Millisecond
	publishEvery = 200 * time.Millisecond
	// saveEvery bounds how often a room that changes all the time is written.
	saveEvery = 2 * time.Second
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

// actor owns one room: only its goroutine touches the room and the members'
// connections. Everyone else posts what happened.
type actor struct {
	ctx    context.Context // ends with the host or with the room
	end    context.CancelFunc
	code   string
	open   bool // joining needs no code
	list   ListFunc
	store  store.Store
	log    *slog.Logger
	stats  *metrics
	config *Config
	board  *board[wire.Room]
	screen *board[*snapshot] // what pages show
	pages  int               // open pages
	inbox  chan func()
	work   sync.WaitGroup // list fetches

	room    *Room
	links   map[string]*link // by member
	edition int              // of the view on the board
	keeper  keeper
}

// link is a member's connection, and the edition of the view it carried last.
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
			a.keeper.unsaved = true
		case now := <-ticker.C:
			if a.perform(a.room.Tick(now)); a.room.Over(now) {
				return
			}
		case now := <-news.C:
			a.tell(now)
		case <-a.ctx.Done():
			return
		}
	}
}

// tell brings everyone, and the store, up to date.
func (a *actor) tell(now time.Time) {
	a.publish()
	if now.Sub(a.keeper.savedAt) >= saveEvery {
		a.save(now)
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
	a.end()
	a.save(time.Now())
	for _, l := range a.links {
		l.conn.Close(errors.New("host: the room's host has ended"))
	}
	a.work.Wait()
}

// join is posted when a peer says hello. It answers through conn.
func (a *actor) join(hello wire.Hello, from Origin, conn *conn.Conn) (string, *wire.Refusal) {
	name, effects, refusal := a.room.Join(hello, from, access.NewSecret(), time.Now())
	if refusal != nil {
		return "", refusal
	}
	if old := a.links[name]; old != nil {
		replaced := wire.Refusal{Reason: wire.ReasonReplaced, Message: name + " came back on another connection"}
		old.conn.Send(replaced)
		old.conn.Close(replaced)
	}
	a.links[name] = &link{conn: conn, seen: a.edition}
	a.perform(effects)
	conn.Send(a.room.View())
	return name, nil
}

// gone is posted when a connection has ended.
func (a *actor) gone(name string, conn *conn.Conn) {
	if l := a.links[name]; l == nil || l.conn != conn {
		return // replaced by a newer one
	}
	delete(a.links, name)
	a.room.Gone(name, time.Now())
}

// receive is posted for each message of a member.
func (a *actor) receive(name string, conn *conn.Conn, message wire.Message) {
	if l := a.links[name]; l == nil || l.conn != conn {
		return // a last word from a connection that was replaced
	}
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

// perform does what the room wants done. A room that has reached another stage
// is saved before anyone hears of it: a host that is killed in between must not
// come back with another list under the same round.
func (a *actor) perform(effects []effect) {
	if a.keeper.passes(a.room) {
		a.save(time.Now())
	}
	for _, e := range effects {
		switch e := e.(type) {
		case send:
			if _, launches := e.message.(wire.Launch); launches {
				a.publish() // people read why before they are sent there
			}
			a.send(e)
		case fetch:
			a.fetch(e.game)
		case dismiss:
			a.dismiss(e)
		}
	}
}

func (a *actor) send(s send) {
	if s.to != "" {
		if l := a.links[s.to]; l != nil {
			l.conn.Send(s.message)
		}
		return
	}
	frame, ok := a.marshal(s.message)
	for _, l := range a.links {
		if ok {
			l.conn.SendFrame(frame)
		}
	}
}

// marshal makes a frame for many members.
func (a *actor) marshal(m wire.Message) (wire.Frame, bool) {
	frame, err := wire.Marshal(m)
	if err != nil {
		a.log.Error("message not sent", "error", err)
	}
	return frame, err == nil
}

func (a *actor) fetch(game string) {
	a.work.Go(func() {
		ctx, cancel := context.WithTimeout(a.ctx, listTime)
		defer cancel()
		servers, err := a.list(ctx, game)
		var near []Neighbour
		if a.config.Neighbours != nil && err == nil {
			near = a.config.Neighbours(game)
		}
		a.post(func() { a.perform(a.room.Listed(servers, err, time.Now(), near...)) })
	})
}

// publish tells everyone the newest state of the room who has not heard it.
func (a *actor) publish() {
	a.project()
	view := a.room.View()
	if a.board.lacks(view) {
		a.edition++
		a.keeper.unsaved = true
		defer a.board.show(view) // at last: who watches may end the host, and all are to have heard why
	}
	var frame wire.Frame
	for _, l := range a.links {
		if l.seen == a.edition || l.conn.Queued() > viewBacklog {
			continue
		}
		if frame.Data == nil {
			var ok bool
			if frame, ok = a.marshal(view); !ok {
				return
			}
		}
		l.conn.SendFrame(frame)
		l.seen = a.edition
	}
}

func (a *actor) save(now time.Time) {
	if err := a.keeper.save(a.store, a.room, now); err != nil {
		a.log.Error("room not saved", "error", err)
	}
}
