package host

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery/sentence"
	"muster/host/access"
	"muster/host/admission"
	"muster/host/room"
	"muster/host/store"
	"muster/host/wire"
)

const (
	// clientSend is how long one message to a client or an owner may take, as in host/wire/conn.
	clientSend = 20 * time.Second
	// clientLimit bounds an admitted client's messages, in bytes. ownerLimit bounds an owner's: the
	// longest list.
	clientLimit = 1 << 20
	ownerLimit  = 8 << 20
	// helloLimit is enough for a peer's hello.
	helloLimit = 4 << 10
	// pauseUnsaid is how long a player is not told that the room has no owner, as long as this host
	// knows nothing else. Mostly another host takes the room over within that time.
	pauseUnsaid = 5 * time.Second
	// goodbyeWait is how long a client may take to close its end.
	goodbyeWait = 2 * time.Second
)

// line passes a client's connection on to the host that has its room. The client names the room in
// its first message. So this host accepts the WebSocket itself, and repeats that message to the
// owner. After the owner's answer it passes everything on: messages as they come, pings, and close
// reasons.
type line struct {
	host   *Host
	ws     *websocket.Conn
	caller *admission.Caller
	// path is the endpoint that the client called, and code its room's.
	path, code    string
	relayedCaller relayedCaller
	came          time.Time // when its first message came
	// first is the client's first message. isPlayer says that it is a program's hello.
	first    []byte
	isPlayer bool

	mu sync.Mutex // guards following
	// owner is the host that has admitted the client, and end ends the connection to it.
	owner string
	end   func()

	writing sync.Mutex // held while a message to the client is written
}

// meet reads a peer's first message, and hands the connection to its room, or to the host that has
// the room.
func (h *Host) meet(ws *websocket.Conn, from remote, on relayedCaller) {
	l := &line{host: h, ws: ws, caller: admission.CallerOf(ws.NetConn()), path: "/peer", relayedCaller: on, isPlayer: true}
	frame, err := l.readFirst(helloLimit)
	if err != nil {
		ws.Close()
		return
	}
	var hello wire.Hello
	isHello := false
	var parser sync.WaitGroup // JSON needs a deep stack, which would stay with the connection
	parser.Go(func() {
		if message, err := wire.Unmarshal(frame); err == nil {
			hello, isHello = message.(wire.Hello)
		}
	})
	parser.Wait()
	isRemote := false
	if isHello && hello.Version == wire.Version {
		l.code, l.first = hello.Code, frame.Data
		var refusal *wire.Refusal
		isRemote, refusal = h.direct(h.lines, l.came, &l.relayedCaller, l.code, []string{hello.Key, hello.Token}, true)
		if refusal != nil {
			h.metrics.Refused(*refusal)
			l.finish(refusal)
			return
		}
	}
	if isRemote && l.caller.IsScarce() && !h.pages.Spare() {
		l.finish(noPlace())
	} else if isRemote {
		l.run()
	} else {
		h.talk(ws, from, nil, &frame)
	}
}

func (l *line) readFirst(limit int64) (wire.Frame, error) {
	l.ws.SetReadLimit(limit)
	if err := l.ws.SetReadDeadline(time.Now().Add(helloWait)); err != nil {
		return wire.Frame{}, err
	}
	kind, data, err := l.ws.ReadMessage()
	l.came = time.Now()
	return wire.Frame{Binary: kind == websocket.BinaryMessage, Data: data}, err
}

// run passes the connection on until the client, the owner or the host ends.
func (l *line) run() {
	l.host.metrics.Relayed.Inc()
	defer l.host.metrics.Relayed.Dec()
	defer l.host.proxied.add(l)()
	defer l.ws.Close()
	ctx, cancel := context.WithCancel(l.host.lines)
	defer cancel()
	owner, said, why := l.call(ctx)
	if owner == nil {
		l.finish(why)
		return
	}
	defer owner.Close()
	defer context.AfterFunc(ctx, func() { owner.NetConn().Close() })()
	if refusal := refusalIn(said); refusal != nil {
		l.count(ctx, refusal)
		l.finish(refusal)
		return
	}
	if l.write(websocket.TextMessage, said) == nil {
		l.pass(owner)
	}
}

// call finds the room's owner and repeats the client's first message there. It returns the owner's
// answer, or a last message for the client, which may be nil.
func (l *line) call(ctx context.Context) (owner *websocket.Conn, said []byte, why *wire.Refusal) {
	var err error
	var finder sync.WaitGroup
	defer finder.Wait()
	patience := l.came.Add(ownerWait)
	if l.relayedCaller.Unheard {
		patience = l.came.Add(veil)
	}
	ctx, cancel := context.WithDeadline(ctx, patience)
	defer cancel()
	found := make(chan struct{})
	finder.Go(func() {
		defer close(found)
		owner, said, err = l.find(ctx)
	})
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	unsaid := time.NewTimer(pauseUnsaid)
	defer unsaid.Stop()
	var lost error
	if trusted, _ := l.host.store.Trust(); !trusted {
		unsaid.Stop()
		lost = l.tellPause(heldSentence)
	}
	for lost == nil {
		select {
		case <-found:
			if err != nil {
				return nil, nil, l.whyNot(err)
			}
			return owner, said, nil
		case <-beat.C:
			if !l.isPlayer && !l.relayedCaller.Unheard {
				lost = l.say(wire.Wait{})
			}
		case <-unsaid.C:
			if l.isPlayer {
				lost = l.tellPause(sentence.Of("refused.unreached"))
			}
		}
	}
	cancel()
	if <-found; owner != nil {
		owner.Close()
	}
	return nil, nil, nil
}

// tellPause tells the client why everything waits. A caller whose guesses are not heard must not
// learn that there is a room.
func (l *line) tellPause(why sentence.Sentence) error {
	if l.relayedCaller.Unheard {
		return nil
	}
	return l.say(wire.Wait{Notice: wire.Notice{Says: why}})
}

// find connects to the room's owner, and returns its first message. A host that no longer has the
// room is asked again only when the store names a new owner, and after a pause.
func (l *line) find(ctx context.Context) (*websocket.Conn, []byte, error) {
	on, err := json.Marshal(l.relayedCaller)
	if err != nil {
		return nil, nil, err
	}
	header := http.Header{relayedHeader: {string(on)}, codeHeader: {access.CanonicalCode(l.code)}}
	dialer := websocket.Dialer{NetDialContext: l.host.dialOwner, ReadBufferSize: 1024, WriteBufferPool: l.host.upgrader.WriteBufferPool}
	for wait := lookEvery; ; wait = min(2*wait, longestLook) {
		name, err := l.host.owner(ctx, l.code)
		if err != nil {
			return nil, nil, err
		}
		if owner, _, err := dialer.DialContext(ctx, "ws://"+name+l.path, header); err == nil {
			said, err := l.introduce(ctx, owner)
			if refusal := refusalIn(said); err == nil && (refusal == nil || refusal.Reason != wire.ReasonMoved) {
				l.mu.Lock()
				l.owner = name
				l.mu.Unlock()
				return owner, said, nil
			}
			owner.Close()
		}
		if !rest(ctx, wait) {
			return nil, nil, tired(ctx)
		}
	}
}

// introduce repeats the client's first message to an owner, and returns the answer.
func (l *line) introduce(ctx context.Context, owner *websocket.Conn) ([]byte, error) {
	if ctx.Err() != nil { // while the owner accepted the connection
		return nil, ctx.Err()
	}
	defer context.AfterFunc(ctx, func() { owner.NetConn().Close() })()
	owner.SetReadLimit(ownerLimit)
	if err := owner.WriteMessage(websocket.TextMessage, l.first); err != nil {
		return nil, err
	}
	_, said, err := owner.ReadMessage()
	return said, err
}

// refusalIn returns the refusal in an owner's first message, or nil.
func refusalIn(said []byte) *wire.Refusal {
	if !wire.IsKind(said, wire.Refusal{}) {
		return nil
	}
	var refusal *wire.Refusal
	var parser sync.WaitGroup
	parser.Go(func() {
		message, _ := wire.Unmarshal(wire.Frame{Data: said})
		if r, is := message.(wire.Refusal); is {
			refusal = &r
		}
	})
	parser.Wait()
	return refusal
}

// whyNot returns the message for a client without an owner.
func (l *line) whyNot(err error) *wire.Refusal {
	code := access.CanonicalCode(l.code)
	switch {
	case l.relayedCaller.Unheard:
		rest(l.host.lines, time.Until(l.came.Add(veil)))
		return l.host.limitedFrom(l.relayedCaller.Addr)
	case !errors.Is(err, errNowhere):
		return hostStopped()
	case l.host.store.Find(code).State == store.Over:
		return room.Closed(code)
	}
	return l.host.unknown(code)
}

// hostStopped returns the message for a client whose room has another owner, or none.
func hostStopped() *wire.Refusal {
	return wire.Refuse(wire.ReasonMoved, "refused.host-stopped").Advising("refused.come-back-hint")
}

// count counts the owner's verdict on a code at the client's address. It tells the client no
// earlier than it would for a code without a room.
func (l *line) count(ctx context.Context, refusal *wire.Refusal) {
	switch refusal.Reason {
	case wire.ReasonLimited:
		rest(ctx, time.Until(l.came.Add(veil)))
	case wire.ReasonCode:
		l.host.guard.Judge(l.relayedCaller.Addr, false, l.host.config.Clock.Now())
	}
	l.host.metrics.Refused(*refusal)
}

// pass passes messages between client and owner until one of them ends. If the owner ends without a
// close message, the client is told to come back: its token gives it its place at the next owner.
func (l *line) pass(owner *websocket.Conn) {
	l.caller.Welcome()
	l.mu.Lock()
	l.end = func() { owner.NetConn().Close() }
	l.mu.Unlock()
	if l.isPlayer {
		l.ws.SetReadLimit(clientLimit)
	}
	l.ws.SetReadDeadline(time.Time{}) // that was for its first message; the owner sends pings
	var reader sync.WaitGroup
	defer reader.Wait()
	var hasLeft atomic.Bool
	reader.Go(func() {
		err := pipe(l.ws, owner, new(sync.Mutex))
		hasLeft.Store(err != nil)
		if hasClosed(err) {
			owner.SetReadDeadline(time.Now().Add(goodbyeWait)) // for its close message
		} else {
			owner.NetConn().Close()
		}
		drain(l.ws) // the owner is gone, so the client's messages are dropped
	})
	err := pipe(owner, l.ws, &l.writing)
	if err != nil && !hasClosed(err) && !hasLeft.Load() && l.say(*hostStopped()) == nil {
		l.goodbye()
	}
	l.ws.SetReadDeadline(time.Now().Add(goodbyeWait))
}

// pipe passes one end's messages on to the other. It returns why there is nothing more to read, or
// nil if the other end accepts nothing more.
func pipe(from, to *websocket.Conn, writing *sync.Mutex) error {
	control := func(kind int) func(string) error {
		return func(data string) error { return to.WriteControl(kind, []byte(data), time.Now().Add(clientSend)) }
	}
	from.SetPingHandler(control(websocket.PingMessage))
	from.SetPongHandler(control(websocket.PongMessage))
	from.SetCloseHandler(func(code int, why string) error {
		control(websocket.CloseMessage)(string(websocket.FormatCloseMessage(code, why))) // fails if the other end is gone
		return nil
	})
	for {
		kind, message, err := from.NextReader()
		if err != nil {
			return err
		}
		if copyMessage(to, kind, message, writing) != nil {
			return nil
		}
	}
}

// hasClosed reports whether an end has sent a close message.
func hasClosed(err error) bool {
	var closed *websocket.CloseError
	return errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure
}

// drain reads until there is nothing more.
func drain(ws *websocket.Conn) {
	for {
		if _, _, err := ws.NextReader(); err != nil {
			return
		}
	}
}

func copyMessage(to *websocket.Conn, kind int, message io.Reader, writing *sync.Mutex) error {
	writing.Lock()
	defer writing.Unlock()
	w, err := to.NextWriter(kind)
	if err != nil {
		return err
	}
	if err := to.SetWriteDeadline(time.Now().Add(clientSend)); err != nil {
		return err
	}
	if _, err := io.Copy(w, message); err != nil {
		return err
	}
	return w.Close()
}

// leave ends the connection to an owner that no longer has the room.
func (l *line) leave() {
	l.mu.Lock()
	owner, end := l.owner, l.end
	l.mu.Unlock()
	if end == nil {
		return
	}
	place := l.host.store.Find(access.CanonicalCode(l.code))
	if (place.State == store.Elsewhere || place.State == store.Here) && place.Host != owner {
		end()
	}
}

// yield ends the line of a page that gave way to another.
func (l *line) yield() {
	time.AfterFunc(goodbyeWait, func() { l.ws.NetConn().Close() })
	l.host.begin(func() { l.say(*crowdedRefusal()); l.ws.NetConn().Close() })
}

func (l *line) say(m wire.Message) error {
	frame, err := wire.Marshal(m)
	if err != nil {
		return err
	}
	return l.write(websocket.TextMessage, frame.Data)
}

func (l *line) write(kind int, data []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.ws.SetWriteDeadline(time.Now().Add(clientSend)); err != nil {
		return err
	}
	return l.ws.WriteMessage(kind, data)
}

// finish sends a last message, if there is one, and closes the connection.
func (l *line) finish(last *wire.Refusal) {
	defer l.ws.Close()
	if last != nil && l.say(*last) != nil || l.goodbye() != nil {
		return
	}
	l.ws.SetReadDeadline(time.Now().Add(goodbyeWait))
	drain(l.ws)
}

func (l *line) goodbye() error {
	goodbye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	return l.ws.WriteControl(websocket.CloseMessage, goodbye, time.Now().Add(goodbyeWait))
}
