package host

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"muster/host/access"
	"muster/host/admission"
	"muster/host/room"
	"muster/host/store"
	"muster/host/wire"
)

const (
	// clientPing and clientWait are how often a client is asked whether it lives, and
	// after how much silence it does not; clientSend is how long one message to it may
	// take. They are those of host/wire/conn.
	clientPing = 10 * time.Second
	clientWait = 25 * time.Second
	clientSend = 20 * time.Second
	// clientLimit bounds a client's messages, in bytes, once an owner has let it in, and
	// ownerLimit an owner's: the longest list.
	clientLimit = 1 << 20
	ownerLimit  = 8 << 20
	// helloLimit holds a peer's hello.
	helloLimit = 4 << 10
	// pauseUnsaid is for how long a player need not hear that the room has no owner, where
	// this host knows no more than that: another takes the room over.
	pauseUnsaid = 5 * time.Second
	// goodbyeWait is how long a client may take to close its end.
	goodbyeWait = 2 * time.Second
)

// line pipes the messages of a client to the host that has its room.
type line struct {
	host   *Host
	ws     *websocket.Conn
	caller *admission.Caller
	// path is the endpoint that the client has called, and code its room's.
	path, code string
	behalf     behalf
	came       time.Time // with its first words
	// hello is what a peer has said first, first what it says first to each owner.
	hello *wire.Hello
	first []byte
	// admitted: an owner has let the client in. silent is since when none has, zero while
	// one does.
	admitted bool
	silent   time.Time
	reader   sync.WaitGroup // once admitted
	// heard gets something whenever the client shows that it lives; gone is closed when
	// it is gone.
	heard, gone chan struct{}

	mu    sync.Mutex // guards following
	owner *websocket.Conn
	// owed is how often the client has been welcomed again and has not begun anew yet:
	// until it does, what it says goes on from what another owner knew.
	owed int
	// isPaused: it was told why everything waits.
	isPaused bool

	writing sync.Mutex // held by who writes to the client
}

// meet reads what a peer says first, and hands it to its room, or to the host that has it.
func (h *Host) meet(ws *websocket.Conn, from remote, on behalf) {
	l := &line{host: h, ws: ws, caller: admission.CallerOf(ws.NetConn()), path: "/peer", behalf: on}
	frame, err := l.readFirst(helloLimit)
	if err != nil {
		ws.Close()
		return
	}
	var parser sync.WaitGroup // JSON needs a deep stack, which would stay with the connection
	parser.Go(func() {
		if message, err := wire.Unmarshal(frame); err == nil {
			if hello, is := message.(wire.Hello); is && hello.Version == wire.Version {
				l.hello, l.code, l.first = &hello, hello.Code, frame.Data
			}
		}
	})
	parser.Wait()
	isAfar := false
	if l.hello != nil {
		var refusal *wire.Refusal
		if isAfar, refusal = h.directs(h.lines, l.came, &l.behalf, l.code, []string{l.hello.Key, l.hello.Token}, true); refusal != nil {
			h.metrics.Refused(refusal.Reason)
			l.finish(refusal)
			return
		}
	}
	if isAfar && l.caller.IsScarce() && !h.pages.Spare() {
		l.finish(noPlace())
	} else if isAfar {
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

// run pipes until the client or the host ends, or an owner refuses the client.
func (l *line) run() {
	l.host.metrics.Relayed.Inc()
	defer l.host.metrics.Relayed.Dec()
	defer l.host.passing.add(l)()
	l.heard, l.gone = make(chan struct{}, 1), make(chan struct{})
	defer l.reader.Wait()
	defer l.ws.Close()
	ctx, cancel := context.WithCancel(l.host.lines)
	defer cancel()
	defer context.AfterFunc(ctx, func() { l.changeOwner(nil) })()
	l.silent = l.came
	for pause := lookEvery; ; pause = min(2*pause, longestLook) {
		owner, why := l.call(ctx)
		if owner == nil {
			l.finish(why)
			return
		}
		last := l.follow(ctx, owner)
		l.changeOwner(nil)
		owner.Close()
		if last != nil {
			l.finish(last)
			return
		}
		// A client that is gone without a word may have come back elsewhere by now: to say
		// its hello again would take its place from it.
		if l.admitted && !l.lives(ctx) {
			return
		}
		switch now := time.Now(); {
		case l.silent.IsZero():
			l.silent, pause = now, lookEvery
		case now.Sub(l.silent) > ownerWait:
			l.finish(l.whyNot(context.DeadlineExceeded))
			return
		}
		rest(ctx, pause) // an owner that lets nobody in is not to be asked all the time
	}
}

// yield ends the line of a page that gave way to another.
func (l *line) yield() {
	time.AfterFunc(goodbyeWait, func() { l.ws.NetConn().Close() })
	l.host.begin(func() { l.say(*crowded()); l.ws.NetConn().Close() })
}

// changeOwner has what the client says go to a new owner, or to none.
func (l *line) changeOwner(to *websocket.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owner != nil && l.owner != to {
		l.owner.NetConn().Close()
	}
	l.owner = to
}

// call finds the room's owner, and says there what the client said first. Or it returns
// what to tell the client at last, nil for nothing.
func (l *line) call(ctx context.Context) (*websocket.Conn, *wire.Refusal) {
	type outcome struct {
		owner *websocket.Conn
		err   error
	}
	found := make(chan outcome, 1)
	var finder sync.WaitGroup
	defer finder.Wait()
	patience := time.Now().Add(ownerWait)
	if l.behalf.Unheard {
		patience = l.came.Add(veil)
	}
	ctx, cancel := context.WithDeadline(ctx, patience)
	defer cancel()
	finder.Go(func() {
		owner, err := l.find(ctx)
		found <- outcome{owner, err}
	})
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	unsaid := time.NewTimer(pauseUnsaid)
	defer unsaid.Stop()
	trusted, _ := l.host.store.Trust()
	var err error
	if !trusted {
		err = l.pauses(held)
	}
	for err == nil {
		select {
		case o := <-found:
			if o.err == nil {
				return o.owner, nil
			}
			return nil, l.whyNot(o.err)
		case <-beat.C:
			if l.hello == nil && !l.behalf.Unheard {
				err = l.say(wire.Wait{})
			}
		case <-unsaid.C:
			if l.hello != nil {
				err = l.pauses("the host that has the room cannot be reached: nothing is lost, and it goes on as soon as that one or another can")
			}
		case <-l.gone:
			err = io.EOF
		}
	}
	cancel()
	if o := <-found; o.owner != nil {
		o.owner.Close()
	}
	return nil, nil
}

// pauses tells the client why everything waits, unless it knows. Who is not heard is not
// to learn that there is a room.
func (l *line) pauses(why string) error {
	l.mu.Lock()
	isSaid := l.isPaused || l.behalf.Unheard
	l.isPaused = true
	l.mu.Unlock()
	if isSaid {
		return nil
	}
	return l.say(wire.Wait{Message: why})
}

// resumes has the client be told the next time.
func (l *line) resumes() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isPaused = false
}

// find makes a connection to the room's owner.
func (l *line) find(ctx context.Context) (*websocket.Conn, error) {
	on, err := json.Marshal(l.behalf)
	if err != nil {
		return nil, err
	}
	header := http.Header{relayedHeader: {string(on)}, codeHeader: {access.CanonicalCode(l.code)}}
	dialer := websocket.Dialer{NetDialContext: l.host.dialOwner, ReadBufferSize: 1024, WriteBufferPool: l.host.upgrader.WriteBufferPool}
	for {
		owner, err := l.host.owner(ctx, l.code)
		if err != nil {
			return nil, err
		}
		ws, _, err := dialer.DialContext(ctx, "ws://"+owner+l.path, header)
		if err == nil {
			ws.SetReadLimit(ownerLimit)
			if l.behalf.Unheard {
				ws.SetReadDeadline(l.came.Add(veil)) // until it has let the client in
			}
			if err = ws.WriteMessage(websocket.TextMessage, l.first); err == nil {
				return ws, nil
			}
			ws.Close()
		}
		if !rest(ctx, lookEvery) {
			return nil, ctx.Err()
		}
	}
}

// whyNot is what a client hears that has no owner to be passed on to.
func (l *line) whyNot(err error) *wire.Refusal {
	code := access.CanonicalCode(l.code)
	switch {
	case l.behalf.Unheard:
		rest(l.host.lines, time.Until(l.came.Add(veil)))
		return l.host.limited()
	case !errors.Is(err, errNowhere):
		return &wire.Refusal{Reason: wire.ReasonMoved, Message: "the room's host has stopped", Hint: "programs and pages come back by themselves"}
	case l.host.store.Find(code).State == store.Over:
		return room.Closed(code)
	}
	return l.host.unknown(code)
}

// follow passes on what the owner says. It returns the client's last word if there is
// one, nil if the client or the owner is gone.
func (l *line) follow(ctx context.Context, owner *websocket.Conn) (last *wire.Refusal) {
	stop := context.AfterFunc(ctx, func() { owner.NetConn().Close() })
	defer stop()
	for first := true; ; first = false {
		kind, data, err := owner.ReadMessage()
		if ctx.Err() != nil {
			return l.whyNot(ctx.Err())
		}
		if err != nil {
			return nil
		}
		switch m := l.understood(kind, data).(type) {
		case wire.Refusal:
			if m.Reason == wire.ReasonMoved || l.admitted && first && m.Reason == wire.ReasonBusy {
				return nil
			}
			l.count(ctx, m.Reason)
			return &m
		case wire.Welcome:
			l.welcomed(m)
		}
		if first {
			l.admit(owner)
		}
		l.resumes()
		if l.write(kind, data) != nil {
			l.ws.Close() // and is gone
			return nil
		}
	}
}

// understood is a message of an owner that means something to a gateway, or nil.
func (l *line) understood(kind int, data []byte) (m wire.Message) {
	if kind == websocket.TextMessage && (wire.IsKind(data, wire.Refusal{}) || wire.IsKind(data, wire.Welcome{})) {
		var parser sync.WaitGroup
		parser.Go(func() { m, _ = wire.Unmarshal(wire.Frame{Data: data}) })
		parser.Wait()
	}
	return m
}

// count has what an owner found out about a code count at the client's address, and
// tells the client no sooner than it would hear of a code that no room has.
func (l *line) count(ctx context.Context, reason string) {
	switch {
	case l.admitted:
	case reason == wire.ReasonLimited:
		rest(ctx, time.Until(l.came.Add(veil)))
	case reason == wire.ReasonCode:
		l.host.guard.Judge(l.behalf.Addr, false, time.Now())
	}
	l.host.metrics.Refused(reason)
}

// welcomed keeps the token by which a peer has its place at the next owner, too.
func (l *line) welcomed(w wire.Welcome) {
	if l.hello == nil {
		return
	}
	l.hello.Token = w.Token
	if frame, err := wire.Marshal(*l.hello); err == nil {
		l.first = frame.Data
	}
	if l.admitted {
		l.mu.Lock()
		l.owed++
		l.mu.Unlock()
	}
}

// admit passes on to an owner what the client says from now on.
func (l *line) admit(owner *websocket.Conn) {
	l.changeOwner(owner)
	l.silent = time.Time{}
	if l.admitted {
		return
	}
	l.admitted = true
	l.caller.Welcome()
	l.mu.Lock()
	l.behalf.Unheard = false // of that, the owner has judged
	l.mu.Unlock()
	owner.SetReadDeadline(time.Time{})
	if l.hello != nil {
		l.ws.SetReadLimit(clientLimit)
	}
	l.ws.SetPongHandler(func(string) error { return l.isAlive() })
	pong := l.ws.PingHandler()
	l.ws.SetPingHandler(func(data string) error { return errors.Join(l.isAlive(), pong(data)) })
	l.reader.Go(l.read)
}

func (l *line) isAlive() error {
	select {
	case l.heard <- struct{}{}:
	default:
	}
	return l.ws.SetReadDeadline(time.Now().Add(clientWait))
}

// lives reports whether the client answers.
func (l *line) lives(ctx context.Context) bool {
	select {
	case <-l.heard:
	default:
	}
	l.ping()
	select {
	case <-l.heard:
		return true
	case <-l.gone:
	case <-ctx.Done():
		return true // and hears why
	}
	return false
}

// pingLater asks the client again and again whether it lives.
func (l *line) pingLater() {
	time.AfterFunc(clientPing, func() {
		select {
		case <-l.gone:
		default:
			l.ping()
			l.pingLater()
		}
	})
}

func (l *line) ping() {
	l.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(clientSend)) // the reader notices if it fails
}

// read passes on what the client says, as it comes, until it is gone.
func (l *line) read() {
	defer l.changeOwner(nil)
	defer close(l.gone)
	l.pingLater()
	for {
		if l.isAlive() != nil {
			return
		}
		kind, message, err := l.ws.NextReader()
		if err != nil {
			return
		}
		l.mu.Lock()
		owner, owed := l.owner, l.owed
		l.mu.Unlock()
		switch {
		case owed > 0:
			err = l.await(kind, message)
		case owner == nil:
			_, err = io.Copy(io.Discard, alive{message, l})
		default:
			if passOn(owner, kind, alive{message, l}) != nil {
				owner.NetConn().Close()
				_, err = io.Copy(io.Discard, alive{message, l})
			}
		}
		if err != nil {
			return
		}
	}
}

// await drops what the client says until it begins anew.
func (l *line) await(kind int, message io.Reader) error {
	data, err := io.ReadAll(alive{message, l})
	if err == nil && kind == websocket.TextMessage && wire.IsKind(data, wire.Again{}) {
		l.mu.Lock()
		l.owed--
		l.mu.Unlock()
	}
	return err
}

func passOn(owner *websocket.Conn, kind int, message io.Reader) error {
	if err := owner.SetWriteDeadline(time.Now().Add(clientSend)); err != nil {
		return err
	}
	w, err := owner.NextWriter(kind)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, message); err != nil {
		return err
	}
	return w.Close()
}

// alive is a client's message, whose parts show that the client lives.
type alive struct {
	io.Reader
	line *line
}

func (a alive) Read(b []byte) (int, error) {
	n, err := a.Reader.Read(b)
	if n > 0 && err == nil {
		err = a.line.isAlive()
	}
	return n, err
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

// finish says a last word, if there is one, and good-bye.
func (l *line) finish(last *wire.Refusal) {
	defer l.ws.Close()
	if last != nil && l.say(*last) != nil {
		return
	}
	goodbye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	if l.ws.WriteControl(websocket.CloseMessage, goodbye, time.Now().Add(goodbyeWait)) != nil {
		return
	}
	if l.admitted {
		select {
		case <-l.gone:
		case <-time.After(goodbyeWait):
		}
		return
	}
	l.ws.SetReadDeadline(time.Now().Add(goodbyeWait))
	for {
		if _, _, err := l.ws.NextReader(); err != nil {
			return
		}
	}
}
