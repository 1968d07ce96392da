package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/gorilla/websocket"

	"muster/host/access"
	"muster/host/admission"
	"muster/host/room"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/host/wire/conn"
	"muster/internal/clock"
)

// helloWait is how long a connection may take to say hello.
const helloWait = 10 * time.Second

// servePeer upgrades a peer's connection and hands it to a new goroutine, so that net/http frees
// what it held for the request.
func (h *Host) servePeer(w http.ResponseWriter, r *http.Request) {
	ws, err := h.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has sent the error
	}
	admission.CallerOf(ws.NetConn()).ComesFrom(h.forwardedFor(r))
	from, on := h.remote(r), relayedCallerOf(r)
	do := func() { h.talk(ws, from, on, nil) }
	if h.config.Relay != nil && on == nil {
		as := h.relayedCaller(r)
		do = func() { h.meet(ws, from, as) }
	}
	if !h.begin(do) {
		ws.Close()
	}
}

// talk holds the conversation with a peer. The peer's first message may have been read already.
func (h *Host) talk(ws *websocket.Conn, from remote, on *relayedCaller, first *wire.Frame) {
	h.metrics.Peers.Inc()
	defer h.metrics.Peers.Dec()
	v := &visitor{host: h, from: from, on: on, caller: admission.CallerOf(ws.NetConn()), conn: conn.New(ws, conn.AtHost)}
	v.patience = h.config.Clock.AfterFunc(helloWait, func() { v.conn.Close(errNoHello) })
	defer v.patience.Stop()
	v.conn.OnMoving(v.noteProgress)
	if first != nil {
		v.conn.Unread(*first)
	}
	err := v.conn.Run(h.lines, v.receive)
	h.config.Logger.Debug("peer's connection ended", "why", discreet(err))
	if v.room != nil {
		v.room.post(func() { v.room.handleEnd(v.player, v.conn) })
	}
}

// discreet says why a connection ended, without addresses, names or anything else that the other
// end wrote, because the log's reader may be one of the players.
func discreet(err error) string {
	var op *net.OpError
	var refusal *wire.Refusal
	var refused wire.Refusal
	var closed *websocket.CloseError
	var nonsense room.Nonsense
	switch {
	case errors.As(err, &op):
		return fmt.Sprintf("%s: %v", op.Op, op.Err)
	case errors.As(err, &refusal):
		return "refused: " + refusal.Reason
	case errors.As(err, &refused):
		return "refused: " + refused.Reason
	case errors.As(err, &closed):
		return fmt.Sprintf("closed by the other end: %d", closed.Code)
	case errors.As(err, &nonsense):
		return nonsense.Error()
	case errors.Is(err, wire.ErrMalformed):
		return "a message that cannot be read"
	}
	for _, known := range []error{errNoHello, conn.ErrSlow, io.ErrUnexpectedEOF, io.EOF, os.ErrDeadlineExceeded,
		context.Canceled, net.ErrClosed} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "the connection broke"
}

const errNoHello = conn.Farewell("no hello within 10 seconds")

// visitor is a connection, and its member once it has said hello. Only the connection's reader
// touches it.
type visitor struct {
	host     *Host
	from     remote
	on       *relayedCaller // the other host that asks for the peer
	caller   *admission.Caller
	conn     *conn.Conn
	patience *clock.Timer // ends at hello
	// moved is when the room was last told that the line works.
	moved time.Time
	said  access.Flow // in its room
	// sought says that the peer has asked whether this is its host.
	sought bool
	room   *actor
	player people.ID
}

func (v *visitor) receive(message wire.Message) error {
	if v.room == nil {
		return v.hello(message)
	}
	if _, is := message.(wire.Again); is {
		return nil // a message for gateways
	}
	// Its next message waits in its connection.
	if pause := v.host.limits.Load().Pause(&v.said, time.Now()); pause > 0 {
		rest(v.host.ctx, pause)
	}
	v.room.post(func() { v.room.receive(v.player, v.conn, message) }) // if it has ended, it has said why
	return nil
}

// moveEvery is how often a room is told that a long message is arriving on a slow line.
const moveEvery = time.Second

func (v *visitor) noteProgress() {
	if v.room != nil && v.host.config.Clock.Since(v.moved) >= moveEvery {
		v.moved = v.host.config.Clock.Now()
		v.room.post(func() { v.room.noteProgress(v.player, v.conn) })
	}
}

// maxSought is the largest number of rooms in which a host looks for a place. A peer looks for a
// host on a friend's own machine, and a public host should not search thousands of rooms for
// strangers.
const maxSought = 16

// seek answers a peer that is not sure whether this host has its room. The answer helps only
// callers who already know the token.
func (v *visitor) seek(s wire.Seek) error {
	if rooms := v.host.Rooms(); len(rooms) <= maxSought && s.Version == wire.Version && s.Nonce != "" && !v.sought {
		v.sought = true
		for _, code := range rooms {
			a := v.host.actor(code)
			tokens, _ := ask(a, func() []string { return a.room.Tokens() })
			for _, token := range tokens {
				if access.Place(token) == s.Place {
					v.conn.Send(wire.Found{Proof: access.Proof(token, s.Nonce)})
					return nil
				}
			}
		}
	}
	return v.refuse(wire.Refuse(wire.ReasonCode, "refused.not-here"))
}

func (v *visitor) hello(message wire.Message) error {
	if s, seeks := message.(wire.Seek); seeks {
		return v.seek(s)
	}
	v.patience.Stop()
	hello, ok := message.(wire.Hello)
	if !ok {
		return v.refuse(wire.Refuse(wire.ReasonMalformed, "refused.no-hello"))
	}
	if hello.Version != wire.Version {
		return v.refuse(otherVersion(hello.Version, v.host.rightProgram()))
	}
	to, refusal := v.host.roomFor(hello, v.from.addr, v.on)
	if refusal != nil {
		return v.refuse(refusal)
	}
	if v.caller.IsScarce() && !v.host.pages.Spare() {
		return v.refuse(noPlace())
	}
	began := time.Now()
	join := room.Join{Hello: hello, From: v.host.origin(v.from, hello.Probes), Token: access.NewSecret()}
	answer, err := to.query(join, &link{conn: v.conn, inflates: hello.Inflates})
	if errors.As(err, &refusal) {
		return v.refuse(v.host.wordFor(to, hello.Code, []string{hello.Key, hello.Token}, refusal))
	}
	v.host.metrics.Answered("join", began)
	v.player, _ = answer.(people.ID)
	v.room = to
	v.conn.Admit()
	v.caller.Welcome()
	return err
}

// otherVersion returns the message for a player whose program speaks another version. Link is where
// the right program is.
func otherVersion(version int, link string) *wire.Refusal {
	refusal := wire.Refuse(wire.ReasonVersion, "refused.version", "host", wire.Version, "player", version).
		Advising("refused.version-hint")
	refusal.Link = link
	return refusal
}

// noPlace returns the message for a player when the host has no connection left.
func noPlace() *wire.Refusal {
	return wire.Refuse(wire.ReasonBusy, "refused.connections").Advising("refused.connections-hint")
}

// rightProgram returns where a public host offers the right program.
func (h *Host) rightProgram() string {
	if h.config.Public == nil || h.config.PublicURL == nil {
		return ""
	}
	return (&url.URL{Scheme: h.config.PublicURL.Scheme, Host: h.config.PublicURL.Host, Path: "/get/"}).String()
}

func (v *visitor) refuse(refusal *wire.Refusal) error {
	v.host.metrics.Refused(*refusal)
	v.conn.Send(*refusal)
	return refusal
}
