// Package roomtest drives rooms in virtual time, for tests. It is the one place that knows what a
// host does with a room's outputs: a [Driver] does it, and a [Session] adds players' programs and
// pages, which say what a test wants of them. Both know only a room's inputs, outputs and views.
package roomtest

import (
	"maps"
	"slices"
	"time"

	"muster/host/room"
	"muster/host/wire"
)

// Driver does for one room what a host does.
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
}

// At returns a moment of a driver whose machine's clock is ahead of its own.
func At(now time.Time, ahead time.Duration) room.Moment {
	return room.Moment{Run: now.Sub(Eight), Wall: now.Add(ahead)}
}

// Next returns when the room needs the time again, by the driver's clock.
func (d *Driver) Next() time.Time { return d.Room.Next().Add(-d.Ahead) }

// Step plays an input, and carries out what follows.
func (d *Driver) Step(in room.Input) error {
	outputs, err := d.Room.Step(in, At(d.Now, d.Ahead))
	if leave, is := in.(room.Leave); is {
		delete(d.Here, leave.Player)
	}
	if d.Stepped != nil {
		d.Stepped(in, err)
	}
	for _, o := range outputs {
		if d.Out != nil {
			d.Out(o)
		}
		switch o := o.(type) {
		case room.Plan:
			if d.Waits = d.Busy; !d.Busy {
				defer d.Step(room.Turn{})
			}
		case room.Admit:
			d.Here[o.Player] = true
		case room.Renamed:
			Moves(d.Here, o.From, o.To)
		case room.Dismiss:
			delete(d.Here, o.Player)
		case room.Send:
			if d.Deliver == nil {
				break
			}
			for _, name := range slices.Sorted(maps.Keys(d.Here)) {
				if o.To == "" || o.To == name {
					d.Deliver(name, o.Message)
				}
			}
		}
	}
	return err
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
