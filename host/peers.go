package host

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"muster/host/wire"
)

// helloWait is how long a connection may take to say hello.
const helloWait = 10 * time.Second

// servePeer upgrades a peer's connection and hands it to a goroutine of its
// own: net/http then frees what it held for the request.
func (h *Host) servePeer(w http.ResponseWriter, r *http.Request) {
	ws, err := h.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	h.work.Go(func() { h.talk(ws) })
}

func (h *Host) talk(ws *websocket.Conn) {
	h.metrics.peers.Inc()
	defer h.metrics.peers.Dec()
	p := &visitor{host: h, conn: wire.NewConn(ws)}
	patience := time.AfterFunc(helloWait, func() { p.conn.Close(errors.New("host: no hello")) })
	defer patience.Stop()
	p.greeted = patience.Stop
	err := p.conn.Run(h.ctx, p.receive)
	h.config.Logger.Debug("peer's connection ended", "player", p.name, "error", err)
	if p.room != nil {
		p.room.post(func() { p.room.gone(p.name, p.conn) })
	}
}

// visitor is a connection, and the member behind it once it has said hello.
// Only the connection's reader touches it.
type visitor struct {
	host    *Host
	conn    *wire.Conn
	greeted func() bool
	room    *actor
	name    string
}

func (v *visitor) receive(message wire.Message) error {
	if v.room == nil {
		return v.hello(message)
	}
	if !v.room.post(func() { v.room.receive(v.name, v.conn, message) }) {
		return errors.New("host: the room has ended")
	}
	return nil
}

func (v *visitor) hello(message wire.Message) error {
	v.greeted()
	hello, ok := message.(wire.Hello)
	if !ok {
		return v.refuse(&wire.Refusal{Reason: wire.ReasonMalformed, Message: "the first message must be hello"})
	}
	if hello.Version != wire.Version {
		return v.refuse(&wire.Refusal{
			Reason:  wire.ReasonVersion,
			Message: fmt.Sprintf("the host speaks version %d, this player's muster version %d", wire.Version, hello.Version),
			Hint:    "use the same release of muster on both sides",
		})
	}
	room := v.host.actor(CanonicalCode(hello.Code))
	if room == nil {
		return v.refuse(&wire.Refusal{Reason: wire.ReasonCode, Message: fmt.Sprintf("no room has the code %q", hello.Code), Hint: "ask the organiser for the code; letter case does not matter"})
	}
	return v.enter(room, hello)
}

// enter joins the room and waits for its answer, so that no later message of
// the peer comes before it.
func (v *visitor) enter(room *actor, hello wire.Hello) error {
	refused := make(chan *wire.Refusal, 1)
	asked := room.post(func() {
		name, refusal := room.join(hello, v.conn)
		v.name = name
		refused <- refusal
	})
	if !asked {
		return v.refuse(&wire.Refusal{Reason: wire.ReasonClosed, Message: "the room was closed"})
	}
	if refusal := <-refused; refusal != nil {
		return v.refuse(refusal)
	}
	v.room = room
	return nil
}

func (v *visitor) refuse(refusal *wire.Refusal) error {
	v.host.metrics.refusals.WithLabelValues(refusal.Reason).Inc()
	v.conn.Send(*refusal)
	return refusal
}
