// Package roomtest drives rooms in virtual time, for tests. It is the one place that knows what a
// host does with a room's outputs: a [Driver] does it, and a [Session] adds players' programs and
// pages, which say what a test wants of them. Both know only a room's inputs, outputs and views.
package roomtest

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"muster/host/room"
	"muster/host/room/people"
	"muster/host/wire"
)

// Driver does for one room what a host does. In tests players' names stand for their IDs, in inputs
// and in outputs.
type Driver struct {
	Room *room.Room
	Now  time.Time
	// Ahead is how far the machine's clock is ahead of the driver's.
	Ahead time.Duration
	// Here are the players whose programs are connected.
	Here map[string]bool
	// Busy says that the host has no processor time for the room's search. Waits says that the
	// search waits for it.
	Busy, Waits bool
	// Stepped gets each input and the room's refusal. Then Out gets the outputs in their order,
	// each before the driver acts on it, and Deliver the messages that reach a connected program.
	// Each of the three may be nil.
	Stepped func(in room.Input, refusal error)
	Out     func(o room.Output)
	Deliver func(name string, m wire.Message)
	// Renamed gets players' new names before the outputs of the step. It may be nil.
	Renamed func(from, to string)
	// names are the names of all players of the room, now and before.
	names map[people.ID]string
}

// At returns a moment of a driver whose machine's clock is ahead of its own.
func At(now time.Time, ahead time.Duration) room.Moment {
	return room.Moment{Run: now.Sub(Eight), Wall: now.Add(ahead)}
}

// Next returns when the room needs the time again, by the driver's clock.
func (d *Driver) Next() time.Time { return d.Room.Next().Add(-d.Ahead) }

// Step plays an input, and carries out what follows.
func (d *Driver) Step(in room.Input) error {
	outputs, err := d.Room.Step(d.byID(in), At(d.Now, d.Ahead))
	d.rename(outputs)
	if leave, is := in.(room.Leave); is {
		delete(d.Here, string(leave.Player))
	}
	if d.Stepped != nil {
		d.Stepped(in, err)
	}
	for i, o := range outputs {
		if by, admits := o.(room.Admit); admits && slices.ContainsFunc(outputs[:i], func(o room.Output) bool {
			s, is := o.(room.Send)
			return is && s.To == by.Player
		}) {
			panic("roomtest: a player is sent something before the connection is the player's, so it is lost")
		}
		o = d.byName(o)
		if d.Out != nil {
			d.Out(o)
		}
		switch o := o.(type) {
		case room.Plan:
			if d.Waits = d.Busy; !d.Busy {
				defer d.Step(room.Turn{})
			}
		case room.Admit:
			d.Here[string(o.Player)] = true
		case room.Dismiss:
			delete(d.Here, string(o.Player))
		case room.Send:
			if d.Deliver == nil {
				break
			}
			for _, name := range slices.Sorted(maps.Keys(d.Here)) {
				if o.To == "" || string(o.To) == name {
					d.Deliver(name, o.Message)
				}
			}
		}
	}
	return err
}

// ID returns a player's ID; the name if no player has it.
func (d *Driver) ID(name people.ID) people.ID {
	for id := range d.names {
		if d.Room.Names().Of(id) == string(name) {
			return id
		}
	}
	return name
}

// byID returns an input with IDs in place of names.
func (d *Driver) byID(in room.Input) room.Input {
	switch in := in.(type) {
	case room.Leave:
		return room.Leave{Player: d.ID(in.Player)}
	case room.Hear:
		return room.Hear{Player: d.ID(in.Player), Message: in.Message}
	case room.PartialMessage:
		return room.PartialMessage{Player: d.ID(in.Player)}
	case room.Tick:
		in.Mute = slices.Clone(in.Mute)
		for i := range in.Mute {
			in.Mute[i] = d.ID(in.Mute[i])
		}
		in.Lines.RoundTrips = changed(in.Lines.RoundTrips, d.ID)
		return in
	case room.Recalled:
		return room.Recalled{Cells: changed(in.Cells, d.ID)}
	}
	return in
}

// byName returns an output with names in place of IDs.
func (d *Driver) byName(o room.Output) room.Output {
	named := func(id people.ID) people.ID {
		return people.ID(cmp.Or(d.names[id], d.Room.Names().Of(id))) // of those who have just left, too
	}
	switch o := o.(type) {
	case room.Admit:
		return room.Admit{Player: named(o.Player)}
	case room.Send:
		return room.Send{To: named(o.To), Message: o.Message}
	case room.Dismiss:
		return room.Dismiss{Player: named(o.Player), Why: o.Why}
	case room.Recall:
		return room.Recall{Of: changed(o.Of, named), List: o.List}
	}
	return o
}

func changed[V any](of map[people.ID]V, to func(people.ID) people.ID) map[people.ID]V {
	changed := map[people.ID]V{}
	for id, v := range of {
		changed[to(id)] = v
	}
	return changed
}

// rename follows the players' names, those of new players too.
func (d *Driver) rename(outputs []room.Output) {
	if d.names == nil {
		d.names = map[people.ID]string{}
	}
	names := d.Room.Names()
	for id, from := range d.names {
		to := names.Of(id)
		if to == from || to == people.Somebody {
			continue
		}
		d.names[id] = to
		if Moves(d.Here, from, to); d.Renamed != nil {
			d.Renamed(from, to)
		}
	}
	for _, o := range outputs {
		if o, is := o.(room.Admit); is {
			d.names[o.Player] = names.Of(o.Player)
		}
	}
}

// GoesOnWith goes on with another room, to which nobody is connected yet.
func (d *Driver) GoesOnWith(r *room.Room) {
	d.Room, d.Waits = r, false
	clear(d.Here)
}

// Moves moves what a map has under one name to another.
func Moves[T any](of map[string]T, from, to string) {
	if what, is := of[from]; is {
		delete(of, from)
		of[to] = what
	}
}
