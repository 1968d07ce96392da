package host

import (
	"muster/discovery/sentence"
	"muster/host/page"
	"muster/host/room"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/host/wire/conn"
)

// isOf reports whether a connection is a member's, and no newer one has replaced it.
func (a *actor) isOf(player people.ID, by *conn.Conn) bool {
	l := a.links[player]
	return l != nil && l.conn == by
}

// handleEnd notes that a member's connection has ended.
func (a *actor) handleEnd(player people.ID, by *conn.Conn) {
	if a.isOf(player, by) {
		delete(a.links, player)
		a.step(room.Leave{Player: player}, asker{})
	}
}

// receive is posted for each message of a member.
func (a *actor) receive(player people.ID, by *conn.Conn, message wire.Message) {
	if !a.isOf(player, by) {
		return
	}
	a.metrics.Received(message)
	a.step(room.Hear{Player: player, Message: message}, asker{tell: func(_ any, err error) {
		if err != nil {
			a.log.Warn("peer makes no sense", "error", discreet(err))
			by.Send(wire.Refusal{Reason: wire.ReasonMalformed, Says: sentence.Plain(err.Error())})
			by.Close(err)
		}
	}})
}

// noteProgress is posted when a part of a long message has come.
func (a *actor) noteProgress(player people.ID, by *conn.Conn) {
	if a.isOf(player, by) {
		a.step(room.PartialMessage{Player: player}, asker{})
	}
}

func (a *actor) send(s room.Send) {
	if s.To != "" {
		switch m := s.Message.(type) {
		case wire.Welcome:
			m.Epoch = a.claim.Epoch()
			if a.addresses != nil {
				m.Hosts = a.addresses()
			}
			s.Message = m
		case wire.Launch:
			m.Epoch = a.claim.Epoch()
			s.Message = m
		}
		if l := a.links[s.To]; l != nil {
			l.conn.Send(s.Message)
		}
		return
	}
	var frame wire.Frame
	var err error
	if list, is := s.Message.(wire.List); is {
		frame, err = a.lists.Frame(list)
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

// publish shows the room's newest state to all who have not seen it. It leaves out binding steps
// that are not kept yet.
func (a *actor) publish(when urgency) {
	if a.saving.binding != nil {
		return
	}
	view, _ := a.views.get()
	if revision := a.room.Revision(); revision != a.shown || view.Edition == 0 {
		a.shown = revision
		var err error
		if view, err = view.Next(a.room, a.page); err != nil {
			a.log.Error("room not shown", "error", err)
			return
		}
	}
	a.show(view, when)
}

// urgency says which members miss a state. None misses the last one.
type urgency int

const (
	// inTurn is for the states of every day: after its first, a member gets one when the last has
	// arrived.
	inTurn urgency = iota
	// atOnce is for a state that has to come before what follows, such as the choice before the
	// launch. Only a member with a long queue misses it.
	atOnce
)

// show sends a view to all who have not seen it, and notes whether somebody misses it.
func (a *actor) show(view *page.View, when urgency) {
	before, _ := a.views.get()
	type news struct {
		since    int // the edition seen before
		isPacked bool
		// player is whose own pings are in it, empty in a room where everyone sees all.
		player string
	}
	frames, names := map[news]wire.Frame{}, a.room.Names()
	a.isBehind = false
	for id, l := range a.links {
		if l.seen == view.Edition {
			continue
		}
		if l.conn.Queued() > viewBacklog || when == inTurn && l.seen > 0 && !l.conn.HasArrived() {
			a.isBehind = true
			continue
		}
		of := news{since: l.seen, isPacked: l.inflates}
		if view.IsPrivate {
			of.player = names.Of(id)
		}
		frame, made := frames[of]
		if !made {
			if frame = view.News(l.seen, names.Of(id)); l.inflates {
				frame = a.packer.Pack(frame)
			}
			frames[of] = frame
		}
		if frame.Data != nil {
			l.conn.SendFrame(frame)
		}
		l.seen = view.Edition
	}
	if view != before {
		a.views.show(view) // last, because a watcher may end the host, and by then all must know why
	}
}
