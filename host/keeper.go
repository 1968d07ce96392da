package host

import (
	"context"
	"sync"

	"muster/host/store"
	"muster/internal/clock"
)

// keeper saves a host's rooms in its store, and knows whether the store keeps them.
type keeper struct {
	store store.Store
	// saves ends when the store is given up. It outlives the rooms.
	saves context.Context
	// handing has a slot for each room that may be handed over at the same time. unhanded waits for
	// the rooms that have not left this host, and goodbyes ends when their people may be told.
	handing  chan struct{}
	unhanded sync.WaitGroup
	goodbyes context.Context
	disk     disk
	// mustKeep makes binding steps wait for the disk, as they always wait for a store that is out
	// of reach. A public host sets it.
	mustKeep bool
	clock    clock.Clock
}

func newKeeper(s store.Store, during *lifetime, c Config) *keeper {
	return &keeper{
		store: s, saves: during.saves, goodbyes: during.goodbyes, handing: make(chan struct{}, claimsAtOnce),
		disk: disk{log: c.Logger}, mustKeep: c.Public != nil, clock: c.Clock,
	}
}

// storeTrouble says why the store keeps nothing at the moment; it is empty while the store works.
func (k *keeper) storeTrouble() string {
	trusted, _ := k.store.Trust()
	why := k.disk.trouble(k.clock.Now())
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

// logUndeleted tells the operator that the store could not forget an ended room. An empty code
// stands for one that the host retries at its next start.
func (k *keeper) logUndeleted(code string, err error) {
	if !isAway(err) { // the store logs its own outages
		k.disk.noteFailure(code, err, k.clock.Now(), k.mustKeep)
	}
}
