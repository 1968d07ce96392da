package host

import (
	"muster/discovery/sentence"
	"muster/host/page"
	"muster/host/room"
	"muster/host/wire"
	"muster/host/wire/conn"
)

// member returns whose connection it is, even if the player's name has changed since.
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
		return // a newer connection has replaced it
	}
	delete(a.links, name)
	a.step(room.Leave{Player: name}, asker{})
}

// receive is posted for each message of a member.
func (a *actor) receive(by *conn.Conn, message wire.Message) {
	name, is := a.member(by)
	if !is {
		return // from a connection that was replaced
	}
	a.metrics.Received(message)
	a.step(room.Hear{Player: name, Message: message}, asker{tell: func(_ any, err error) {
		if err != nil {
			a.log.Warn("peer makes no sense", "error", discreet(err))
			by.Send(wire.Refusal{Reason: wire.ReasonMalformed, Says: sentence.Plain(err.Error())})
			by.Close(err)
		}
	}})
}

// noteProgress is posted when a part of a long message has come.
func (a *actor) noteProgress(name string, by *conn.Conn) {
	if l := a.links[name]; l != nil && l.conn == by {
		a.step(room.PartialMessage{Player: name}, asker{})
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
	frames := map[news]wire.Frame{}
	a.isBehind = false
	for player, l := range a.links {
		if l.seen == view.Edition {
			continue
		}
		if l.conn.Queued() > viewBacklog || when == inTurn && l.seen > 0 && !l.conn.HasArrived() {
			a.isBehind = true
			continue
		}
		of := news{since: l.seen, isPacked: l.inflates}
		if view.IsPrivate {
			of.player = player
		}
		frame, made := frames[of]
		if !made {
			if frame = view.News(l.seen, player); l.inflates {
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
