package lan

import (
	"context"
	"net/netip"
	"slices"
	"time"
)

const (
	// hearEvery is the time between two looks at who else announces the room on this machine's networks.
	hearEvery = 15 * time.Second
	// hearFor is how long a look takes: others multicast a room within [tellEvery] of a question.
	hearFor = 2 * tellEvery
	// speakers is how many players' programs announce a room on a network. One program is not
	// enough, because it may leave any time. With a hundred programs nobody would hear of other
	// rooms.
	speakers = 2
)

// hear asks on this machine's networks who announces rooms there, in the background, and delivers what
// it hears.
func (a *announcer) hear(ctx context.Context) <-chan []sighting {
	heard := make(chan []sighting, 1)
	a.hearing.Go(func() {
		all, err := Interfaces()
		if err != nil {
			a.log.Debug("cannot look for network cards", "err", err)
		}
		found, err := together(waysOf(used(all)), func(w way) ([]sighting, error) {
			answers, err := overhear(ctx, w, hearFor, w.isFrom)
			return w.sights(answers, a.log), err
		})
		if err != nil {
			a.log.Debug("cannot hear who else announces the room", "err", err)
		}
		heard <- found
	})
	return heard
}

// isFrom reports whether a sender is on a network of the card. Otherwise the packet came in on another.
func (w way) isFrom(sender netip.Addr) bool {
	return sender.Zone() == w.Name || sender.Zone() == "" &&
		slices.ContainsFunc(w.networks(), func(p netip.Prefix) bool { return p.Contains(sender) })
}

// hush keeps a responder silent while others announce the room on its network, and lets the rest speak.
func (a *announcer) hush(heard []sighting) {
	for _, r := range a.responders {
		isQuiet := isSuperfluous(r.instance(), r.on.Name, a.room, heard)
		if was := r.zone.quiet.Swap(isQuiet); was && !isQuiet {
			a.untold = tellTimes
		}
	}
}

// isSuperfluous reports whether a player's program need not announce a room on a card: the host does so
// there, or enough programs whose names sort before its own. Only an announcement that leads to the same
// place counts. So a forged one silences nobody.
func isSuperfluous(instance, card string, room Room, heard []sighting) bool {
	leads := netip.AddrPortFrom(room.Host.Addr().Unmap(), room.Port)
	var others []string
	for _, h := range heard {
		isSame := h.id == room.ID && h.room.Fingerprint == room.Fingerprint && slices.Contains(h.addrs, leads)
		switch {
		case h.card != card || !isSame:
		case h.room.Via == "":
			return true
		case h.instance < instance && !slices.Contains(others, h.instance):
			others = append(others, h.instance)
		}
	}
	return len(others) >= speakers
}
