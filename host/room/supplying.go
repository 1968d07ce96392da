package room

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

const (
	// supplyFresh is how long the organiser's own list is as good as a new one, and
	// supplyWait how long the organiser's program has to get one: masters take seconds.
	supplyFresh = time.Minute
	supplyWait  = 12 * time.Second
)

// Supply gives the room the organiser's own list anew. The organiser's program does that
// as each round begins. Kept is as in [OwnKept].
type Supply struct {
	Game    string
	Servers []netip.AddrPort
	Kept    string
}

// OwnKept says by which hash the store has the organiser's own list, as it is: the room is
// saved without it from then on.
type OwnKept struct{ Kept string }

func (in OwnKept) step(r *Room) error {
	if len(r.settings.Servers) > 0 {
		r.ownKept = in.Kept
	}
	return nil
}

func (Supply) steers() {}

func (a Supply) do(r *Room, _ caller) error {
	switch {
	case a.Game != r.settings.Game:
		return fmt.Errorf("the room plays %s, and the list is for another game", r.settings.Game)
	case len(a.Servers) == 0:
		return errors.New("the list is empty")
	}
	r.settings.Servers, r.settings.Renews, r.supplied, r.binds = a.Servers, true, r.now, true
	r.ownKept, r.isOwnLost = a.Kept, false
	if listing, is := r.phase.(*Listing); is && listing.Awaits {
		listing.fetch(r)
	}
	return nil
}

// awaitsSupply reports whether the organiser's program is to give the list anew.
func (r *Room) awaitsSupply() bool {
	last := r.supplied
	if last.Before(r.opened) {
		last = r.opened
	}
	return r.settings.Renews && (r.isOwnLost || len(r.settings.Servers) > 0 && r.now.Sub(last) > supplyFresh)
}

// fetch gets the list, whatever was waited for. A group that has an own list goes on no
// other without a word.
func (l *Listing) fetch(r *Room) {
	l.Awaits = false
	switch {
	case r.started.IsValid():
		r.do(Fetch{Game: r.settings.Game, Servers: []netip.AddrPort{r.started}})
		return
	case r.isOwnLost:
		r.fail(false, "the organiser's own list of servers is gone: open a new room with it")
		return
	}
	r.do(Fetch{r.settings.Game, r.settings.Servers, r.lists.Ours()})
}

// await waits no longer for a program that gives no list: it is not running any more,
// and is not waited for again until it has given one.
func (l *Listing) await(r *Room) {
	if l.Awaits && r.now.Sub(r.since) > supplyWait {
		r.settings.Renews, r.binds = false, true
		if !r.isOwnLost {
			r.note("the organiser's program gives no new list of servers: taking the one from before")
		}
		l.fetch(r)
	}
}
