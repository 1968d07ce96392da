package player

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// nearFresh is how long a search of this machine's networks stays valid. A host may ask as often as it likes, but each
// search bothers every machine there.
const nearFresh = time.Minute

// lookPause is the shortest time between two searches, whatever the game. maxFound bounds the remembered addresses.
const (
	lookPause = 6 * time.Second
	maxFound  = 1024
)

// near is what searches of this machine's networks found.
type near struct {
	looking bool
	told    wire.Near
	at      time.Time
	// addrs are the servers' addresses, for any game. The map is never changed, only replaced.
	addrs map[netip.AddrPort]bool
}

// lookAround tells the host which servers of a game are nearby.
func (n *near) lookAround(p *port, game string) {
	switch {
	case n.looking:
	case !n.at.IsZero() && n.told.Game == game && p.now.Sub(n.at) < nearFresh:
		p.send(n.told)
	case !n.at.IsZero() && p.now.Sub(n.at) < lookPause: // a search for another game has just run
		p.send(wire.Near{Game: game, Servers: []wire.NearServer{}})
	default:
		n.looking = true
		p.do(LookAround{p.begin(), game})
	}
}

// found reports servers on private networks. Public servers belong on lists.
func (n *near) found(p *port, game string, found []wire.NearServer) {
	found = slices.DeleteFunc(append([]wire.NearServer{}, found...), func(f wire.NearServer) bool {
		return f.Addr.Port() == 0 || discovery.ReachOf(f.Addr.Addr()) != discovery.NetworkReach
	})
	found = found[:min(len(found), wire.MaxNear)]
	addrs := map[netip.AddrPort]bool{}
	if len(n.addrs) < maxFound {
		maps.Copy(addrs, n.addrs)
	}
	for _, f := range found {
		addrs[f.Addr] = true
	}
	*n = near{told: wire.Near{Game: game, Servers: found}, at: p.now, addrs: addrs}
	p.send(n.told)
}
