package host

import (
	"time"

	"muster/host/store"
	"muster/host/wire"
)

// keeper knows what of a room the store has.
type keeper struct {
	unsaved bool
	savedAt time.Time
	round   int
	stage   wire.Stage
}

// passes tells that the room is at another stage than in the store.
func (k *keeper) passes(r *Room) bool { return k.stage != r.Stage || k.round != r.Round }

// save puts the room into the store, if it changed since the last time.
func (k *keeper) save(to store.Store, r *Room, now time.Time) error {
	if !k.unsaved && !k.passes(r) {
		return nil
	}
	*k = keeper{savedAt: now, round: r.Round, stage: r.Stage}
	data, err := r.Save()
	if err != nil {
		return err
	}
	return to.Save(r.Code, data)
}
