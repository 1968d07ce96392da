package host

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"muster/host/access"
	"muster/host/admission"
	"muster/host/page"
	"muster/host/pressure"
	"muster/host/room"
	"muster/host/wire"
)

const (
	// framePause is the shortest time between two states for one page.
	framePause = 100 * time.Millisecond
	// beatEvery is how often a page hears from the host when nothing happens. After a few missing
	// beats it says that it is offline.
	beatEvery = 2 * time.Second
	// pageWriteWait is how long one frame to a page may take.
	pageWriteWait = 10 * time.Second
	// pageReadLimit is enough for a page's only message: a code and a token.
	pageReadLimit = 1 << 10
	// traceChunk is how many probes one frame has, in about 100 kB.
	traceChunk = 30_000
)

// serveLive serves a page's stream. The page first says which room it wants, and what it has:
//
//	{"code": "…", "key": "…", "token": "…"}   the link key, if the page was opened by a link;
//	                                          a guest's token, the organiser's secret, or nothing
//
// So no code stands in a URL, which proxies log. The host refuses the page as it would a peer, or
// sends it the room: changed sections in text frames, and new probes of each player in binary
// frames. A page that falls behind gets the newest state, and not a queue.
//
//	{"type":"state","now":ms,"you":{…},"room":{…},"people":[…],…}
//	length of name │ name │ report frame, see wire.AppendReport
func (h *Host) serveLive(w http.ResponseWriter, r *http.Request) {
	ws, err := h.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has sent the error
	}
	admission.CallerOf(ws.NetConn()).ComesFrom(h.forwardedFor(r))
	v := &viewer{
		host:    h,
		ws:      ws,
		from:    h.asker(r),
		network: admission.PageNetwork(h.guestFrom(r)),
		at:      h.entrance(r),
		cursors: map[string]int{},
	}
	if v.on = relayedCallerOf(r); h.config.Relay != nil && v.on == nil {
		v.as = h.relayedCaller(r)
	}
	if !h.begin(v.run) {
		ws.Close()
	}
}

// viewer is an open page. Only its own goroutine touches it.
type viewer struct {
	host *Host
	ws   *websocket.Conn
	from netip.Addr
	// network is the network for which the page counts, see [admission.Page].
	network netip.Prefix
	at      entrance
	// on says for whose page another host asks, nil if none does. as says for whose page this host
	// would ask another.
	on    *relayedCaller
	as    relayedCaller
	actor *actor // set by its first message
	token string
	seen  page.View
	// cursors say how much of each player's trace the page has.
	cursors map[string]int
	you     room.Badge
	outside string // the room's link for friends on the internet, as the page shows it
}

func (v *viewer) run() {
	defer v.ws.Close()
	var first struct {
		Code  string `json:"code"`
		Key   string `json:"key"`
		Token string `json:"token"`
	}
	l := line{host: v.host, ws: v.ws, caller: admission.CallerOf(v.ws.NetConn()), path: "/live", relayedCaller: v.as}
	said, err := l.readFirst(pageReadLimit)
	if err != nil || json.Unmarshal(said.Data, &first) != nil || v.ws.SetReadDeadline(time.Time{}) != nil {
		return
	}
	shown := []string{first.Key, first.Token}
	var refusal *wire.Refusal
	isRemote := false
	if v.on == nil {
		isRemote, refusal = v.host.direct(v.host.lines, l.came, &l.relayedCaller, first.Code, shown, true)
	}
	if isRemote {
		l.code, l.first = first.Code, said.Data
	} else if refusal == nil {
		v.actor, refusal = v.host.named(claim{first.Code, shown, v.from, v.on})
	}
	if refusal == nil && v.on == nil && v.host.asks.Wait(v.from, v.host.config.Clock.Now()) > 0 {
		v.host.door.pressed.Note(pressure.Requests, v.from, v.host.config.Clock.Now())
		refusal = busy()
	}
	if refusal != nil {
		v.host.metrics.Refused(*refusal)
		if v.send(*refusal) == nil {
			v.ws.WriteControl(websocket.CloseMessage, nil, time.Now().Add(pageWriteWait)) // on failure it ends without one
		}
		return
	}
	if l.first != nil {
		defer v.host.pages.Remove(v.count("", "", l.yield))
		l.run()
		return
	}
	admission.CallerOf(v.ws.NetConn()).Welcome()
	v.host.metrics.Pages.Inc()
	defer v.host.metrics.Pages.Dec()
	v.token = first.Token
	ctx, end := context.WithCancelCause(v.actor.ctx)
	cancel := func() { end(nil) }
	page := v.count(v.actor.code, v.person(), func() {
		end(errGaveWay)
		time.AfterFunc(goodbyeWait, func() { v.ws.NetConn().Close() }) // in case the page reads nothing
	})
	defer v.host.pages.Remove(page)
	var reader sync.WaitGroup
	reader.Go(func() {
		defer cancel()
		for { // a page may only close
			if _, _, err := v.ws.NextReader(); err != nil {
				return
			}
		}
	})
	opened := make(chan struct{})
	var opening sync.WaitGroup
	opening.Go(func() {
		v.actor.post(func() {
			v.actor.step(room.PageOpened{Token: v.token}, asker{tell: func(any, error) { v.actor.publish(inTurn); close(opened) }})
		})
	})
	if v.awaitNoted(opened) { // otherwise its first state could be older than its arrival
		v.follow(ctx)
	}
	if context.Cause(ctx) == errGaveWay {
		v.host.metrics.Refused(*crowdedRefusal())
		v.send(*crowdedRefusal()) // fails if the page is gone
	}
	if why := (*closedError)(nil); errors.As(context.Cause(v.actor.ctx), &why) {
		v.host.metrics.Refused(*why.why)
		v.send(*why.why) // fails if the page is gone
	}
	cancel()
	v.ws.Close()
	reader.Wait()
	opening.Wait()
	v.actor.post(func() { v.actor.step(room.PageClosed{Token: v.token}, asker{}) })
}

// count counts the page until it is removed. yield ends it in favour of another one.
func (v *viewer) count(room, person string, yield func()) *admission.Page {
	page := &admission.Page{Room: room, Person: person, Network: v.network, Yield: yield}
	v.host.pages.Add(page, admission.CallerOf(v.ws.NetConn()).IsScarce())
	return page
}

// person returns the credential that gives the page a seat in its room, empty without one.
func (v *viewer) person() string {
	view, _ := v.actor.views.get()
	if badge := view.Badges[room.DigestOf(v.token)]; badge.Organiser || badge.Name != "" {
		return v.token
	}
	return ""
}

// awaitNoted waits until the room has noted the page, and reports whether it has. While the room
// waits for its store, the page learns that and sees no state, because another host may have the
// room by then, and may have said more.
func (v *viewer) awaitNoted(opened <-chan struct{}) bool {
	beat := v.host.config.Clock.NewTicker(beatEvery)
	defer beat.Stop()
	said := false
	for {
		view, changed := v.actor.views.get()
		if trusted, _ := v.host.store.Trust(); !said && (!trusted || !view.Snapshot.Room.Held.IsZero()) {
			if said = true; v.send(wire.Wait{Notice: wire.Notice{Says: heldSentence}}) != nil {
				return false
			}
		}
		select {
		case <-opened:
			return true
		case <-changed:
		case <-beat.C:
			if v.send(wire.Wait{}) != nil {
				return false
			}
		case <-v.actor.ctx.Done():
			return false
		}
	}
}

// follow sends the newest state whenever there is one.
func (v *viewer) follow(ctx context.Context) {
	beat := v.host.config.Clock.NewTicker(beatEvery)
	defer beat.Stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		newest, changed := v.actor.views.get()
		if err := v.show(newest); err != nil {
			return
		}
		pause.Reset(framePause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			v.last()
			return
		}
		select {
		case <-changed:
		case <-beat.C:
		case <-ctx.Done():
			v.last()
			return
		}
	}
}

// last shows that the session has ended, if it has: nothing else comes after it.
func (v *viewer) last() {
	if newest, _ := v.actor.views.get(); !newest.Snapshot.Room.Ended.IsZero() && newest.Edition > v.seen.Edition {
		v.show(newest)
	}
}

// show brings the page up to date.
func (v *viewer) show(s *page.View) error {
	if s.Edition == 0 {
		return nil // the room's first view is on its way
	}
	if err := v.write(websocket.TextMessage, v.state(s)); err != nil {
		return err
	}
	round := s.Snapshot.Room.Round
	if v.seen.Snapshot.Room.Round != round {
		clear(v.cursors)
	}
	v.seen = *s
	for _, t := range s.Traces {
		if s.IsPrivate && t.Player != v.you.Name {
			continue
		}
		if err := v.sendTrace(t, round); err != nil {
			return err
		}
	}
	return nil
}

// state returns what the page has not seen of a room, as one JSON object.
func (v *viewer) state(s *page.View) []byte {
	b := fmt.Appendf(nil, `{"type":"state","now":%d`, v.host.config.Clock.Now().UnixMilli())
	if v.seen.Edition == 0 { // even if another host showed it the room before
		b = append(b, `,"whole":true`...)
	}
	you, outside := room.BadgeOf(s.Badges, v.token), ""
	if you.Organiser && v.host.config.Outside != nil {
		outside = v.host.config.Outside(access.Key{Code: v.actor.keys.Code, Link: v.actor.keys.Link})
	}
	ownSince := v.seen.Edition
	if you.Name != v.you.Name {
		ownSince = 0
	}
	if v.seen.Edition == 0 || you != v.you || outside != v.outside {
		v.you, v.outside = you, outside
		mine := v.actor.keys
		mine.Secret = you.Ticket
		badge, _ := json.Marshal(struct { // cannot fail: texts and booleans
			room.Badge
			Link string `json:"link"`
			// Join is the link for this person's own program.
			Join string `json:"join"`
			// Outside is the link for friends on the internet, if it differs.
			Outside string `json:"outside,omitempty"`
		}{you, v.at.link(v.actor.keys), v.at.personal(mine), outside})
		b = fmt.Appendf(b, `,"you":%s`, badge)
	}
	return append(s.AppendOwn(s.AppendSince(b, v.seen.Edition), you.Name, ownSince), '}')
}

// sendTrace sends new probes of a player's trace.
func (v *viewer) sendTrace(t page.Trace, round int) error {
	from := v.cursors[t.Player]
	if from > len(t.Probes) {
		from = 0 // the player started over
	}
	for from < len(t.Probes) {
		to := min(from+traceChunk, len(t.Probes))
		b := binary.AppendUvarint(nil, uint64(len(t.Player)))
		b = append(b, t.Player...)
		b = wire.AppendReport(b, wire.Report{Round: round, First: from, Results: t.Probes[from:to]})
		if err := v.write(websocket.BinaryMessage, b); err != nil {
			return err
		}
		from = to
	}
	v.cursors[t.Player] = from
	return nil
}

// send sends the page a message of the kind that peers get.
func (v *viewer) send(m wire.Message) error {
	frame, err := wire.Marshal(m)
	if err != nil {
		return err
	}
	return v.write(websocket.TextMessage, frame.Data)
}

func (v *viewer) write(kind int, data []byte) error {
	if err := v.ws.SetWriteDeadline(time.Now().Add(pageWriteWait)); err != nil {
		return err
	}
	return v.ws.WriteMessage(kind, data)
}

// errGaveWay ends a page in favour of another one.
var errGaveWay = errors.New("host: the page gave way")

// crowdedRefusal returns the message for a page that gives way, or finds no place.
func crowdedRefusal() *wire.Refusal {
	return wire.Refuse(wire.ReasonCrowded, "refused.crowded").Advising("refused.crowded-hint")
}
