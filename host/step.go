package host

import (
	"maps"
	"slices"
	"time"

	"muster/host/networks"
	"muster/host/room"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection/memory"
)

// asker is the source of an input: a link for a hello, and a function to call once everything is
// saved and sent.
type asker struct {
	by   *link
	tell func(answer any, err error)
}

// step applies an input to the room and handles the outputs in order. If they are binding, it first
// waits until the room is kept.
func (a *actor) step(in room.Input, who asker) {
	began, now, phase := time.Now(), a.moment(), a.room.Stage()
	outputs, err := a.room.Step(in, now)
	a.takesCode.Store(a.room.TakesCode())
	a.metrics.Stepped(a.room, in, phase, time.Since(began), now.Wall)
	result := outcome{outputs, err, who}
	if len(outputs) > 0 {
		if _, binds := outputs[0].(room.Save); binds {
			result.outputs = outputs[1:]
			a.bind(result)
			return
		}
	}
	a.say(result)
}

// outcome is the result of a step.
type outcome struct {
	outputs []room.Output
	err     error
	who     asker
}

// say handles the outputs of a step.
func (a *actor) say(result outcome) {
	var answer any
	var recall *room.Recall
	for _, o := range result.outputs {
		switch o := o.(type) {
		case room.Publish:
			a.publish(atOnce)
		case room.Admit:
			if old := a.links[o.Player]; old != nil {
				replaced := *wire.Refuse(wire.ReasonReplaced, "refused.replaced", "player", a.room.Names().Of(o.Player))
				old.conn.Send(replaced)
				old.conn.Close(replaced)
			}
			a.links[o.Player] = result.who.by
			a.isBehind = true
			answer = o.Player
		case room.Send:
			a.send(o)
		case room.Dismiss:
			if l := a.links[o.Player]; l != nil {
				l.conn.Send(o.Why)
				l.conn.Close(o.Why)
				delete(a.links, o.Player)
			}
		case room.Fetch:
			settings := a.room.Settings()
			a.work.Go(func() {
				listed := a.lists.Fetch(a.ctx, a.source, a.limits.Load(), o, settings)
				a.post(func() { a.step(listed, asker{}) })
			})
		case room.Plan:
			a.plan = &o
		case room.Announce:
			a.announce(o.Announcement)
		case room.Answer:
			answer = o.Document
		case room.Recall:
			recall = &o
		case room.Learn:
			a.networks.Learn(a.code, o.From, networks.Network(o.Network), o.Cells, a.clock.Now())
		}
	}
	if result.who.tell != nil {
		result.who.tell(answer, result.err)
	}
	if recall != nil && a.networks != nil { // before the search begins
		a.step(recalled(a.networks, *recall, a.clock.Now()), asker{})
	}
}

// recalled returns the answer of a memory to a room's question.
func recalled(m *networks.Memory, asked room.Recall, now time.Time) room.Recalled {
	players := slices.Sorted(maps.Keys(asked.Of))
	of := make([]networks.Network, len(players))
	for i, player := range players {
		of[i] = networks.Network(asked.Of[player])
	}
	answer := room.Recalled{Cells: map[people.ID][]memory.Cell{}}
	for i, cells := range m.Known(of, asked.List, now) {
		if len(cells) > 0 {
			answer.Cells[players[i]] = cells
		}
	}
	return answer
}
