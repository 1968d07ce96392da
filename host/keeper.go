package host

import (
	"context"
	"log/slog"
	"time"

	"muster/host/store"
)

// keeper gets the rooms of a host into its store, and knows whether the store keeps them.
type keeper struct {
	store store.Store
	// saves ends when the store is given up: it outlives the rooms.
	saves context.Context
	// handing has a place for each room that may be handed over at the same time.
	handing chan struct{}
	disk    disk
	// mustKeep: what binds waits for the disk, as it always waits for a store that is out of
	// reach. It does on a public host.
	mustKeep bool
}

func newKeeper(s store.Store, saves context.Context, mustKeep bool, log *slog.Logger) *keeper {
	return &keeper{store: s, saves: saves, handing: make(chan struct{}, claimsAtOnce), disk: disk{log: log}, mustKeep: mustKeep}
}

// unkept says why the store keeps nothing just now; empty while it does.
func (k *keeper) unkept() string {
	trusted, _ := k.store.Trust()
	why := k.disk.trouble(time.Now())
	switch {
	case !trusted:
		return "the store is away: rooms pause until it is back"
	case why != "" && k.mustKeep:
		return why + ": what binds waits until it is kept"
	case why != "":
		return why + ": rooms go on, and are not kept"
	}
	return ""
}

// tellUnforgotten tells the operator of a room that is over, and that the store could not
// forget; an empty code stands for one that is tried again with the next start.
func (k *keeper) tellUnforgotten(code string, err error) {
	if !isAway(err) { // or the store has its own word in the log
		k.disk.fails(code, err, time.Now(), k.mustKeep)
	}
}
