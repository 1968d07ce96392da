package host

import (
	"context"
	"time"

	"muster/host/access"
	"muster/host/operating"
	"muster/host/pressure"
	"muster/host/store"
)

// Desk returns what answers an operator about the rooms of this host and of those that share its
// store. keys reads the keys of operators.
func (h *Host) Desk(keys func() (operating.Keys, error)) *operating.Desk {
	own, loads := "", h.config.Loads
	if loads != nil {
		own, _, _ = loads()
	}
	return &operating.Desk{
		Own: own, Rooms: operated{h.rooms, own, loads, h.door.pressed}, Hosts: h.counting.hosts, Others: h.transport, Keys: keys,
		Clock: h.config.Clock, Log: h.config.Logger,
	}
}

// operated are the rooms of this host for an operator.
type operated struct {
	*lifecycle
	// own is this host's name. loads is [Config.Loads].
	own     string
	loads   func() (own string, rooms map[string]int, settled time.Duration)
	pressed *pressure.Table
}

func (o operated) List() (rooms []operating.Room) {
	for _, code := range o.codes() {
		if a := o.find(code); a != nil && !a.over.Load() {
			rooms = append(rooms, o.rowOf(a))
		}
	}
	return rooms
}

func (o operated) rowOf(a *actor) operating.Room {
	view, _ := a.views.get()
	return operating.RoomOf(access.PublicID(a.keys.Link), o.own, &view.Snapshot)
}

func (o operated) Where(id string) (string, error) {
	code := o.keeper.store.FindID(id)
	switch place := o.keeper.store.Find(code); {
	case code == "", place.State == store.Unknown, place.State == store.Over:
		return "", operating.ErrUnknown
	case place.State == store.Orphaned, place.State == store.Here && o.find(code) == nil:
		return "", operating.ErrOrphan
	case place.State == store.Here:
		return o.own, nil
	default:
		return place.Host, nil
	}
}

// known returns the room with a public id, nil if it is not here.
func (o operated) known(id string) *actor {
	if code := o.keeper.store.FindID(id); code != "" {
		return o.find(code)
	}
	return nil
}

func (o operated) Explain(id string) (operating.Explanation, error) {
	a := o.known(id)
	if a == nil {
		return operating.Explanation{}, operating.ErrUnknown
	}
	view, _ := a.views.get()
	return operating.Explain(o.rowOf(a), &view.Snapshot), nil
}

func (o operated) Close(ctx context.Context, id, reason string) error {
	a := o.known(id)
	if a == nil {
		return operating.ErrUnknown
	}
	if a.isHeld() {
		return operating.ErrBusy
	}
	a.log.Info("room closed by an operator", "reason", reason)
	a.closeFor(operating.Closing(reason))
	select {
	case <-a.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	for o.keeper.store.Find(a.code).State == store.Here && rest(ctx, lookEvery) {
	}
	return nil
}

// moveWait is how long the other host may take to have a room that an operator moves.
const moveWait = 10 * time.Second

func (o operated) Move(ctx context.Context, id, to string) error {
	a := o.known(id)
	switch {
	case a == nil:
		return operating.ErrUnknown
	case o.loads == nil:
		return operating.ErrAlone
	case to == o.own:
		return operating.ErrThere
	}
	_, loads, _ := o.loads()
	if _, ready := loads[to]; !ready {
		return operating.ErrHost
	}
	if a.isHeld() {
		return operating.ErrBusy
	}
	isGiven, _ := ask(a, func() bool {
		if a.saving.binding == nil {
			a.heir = to
			a.end(errGiven)
		}
		return a.heir == to
	})
	if !isGiven {
		return operating.ErrBusy
	}
	ctx, cancel := context.WithTimeout(ctx, moveWait)
	defer cancel()
	for {
		if place := o.keeper.store.Find(a.code); place.State == store.Elsewhere && place.Host == to {
			return nil
		}
		if !rest(ctx, lookEvery) {
			return operating.ErrStays
		}
	}
}

// isHeld reports whether the room waits for its store, and so would not hear an order.
func (a *actor) isHeld() bool {
	view, _ := a.views.get()
	return !view.Snapshot.Room.Held.IsZero()
}

func (o operated) Limits() []pressure.Row { return o.pressed.Rows(o.clock.Now()) }
