package player

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// nearFresh is how long what was found on the networks of this machine holds. A host may
// ask as often as it likes; looking is a question to everybody there.
const nearFresh = time.Minute

// lookPause is how long nobody is asked again, whatever the game, and maxFound how many
// addresses are remembered.
const (
	lookPause = 6 * time.Second
	maxFound  = 1024
)

// near is what was found on the networks of this machine.
type near struct {
	looking bool
	told    wire.Near
	at      time.Time
	// addrs are where servers were found, of whatever game. It is never changed.
	addrs map[netip.AddrPort]bool
}

// lookAround tells the host which servers of a game are around.
func (n *near) lookAround(p *port, game string) {
	switch {
	case n.looking:
	case !n.at.IsZero() && n.told.Game == game && p.now.Sub(n.at) < nearFresh:
		p.send(n.told)
	case !n.at.IsZero() && p.now.Sub(n.at) < lookPause: // another game, a moment later
		p.send(wire.Near{Game: game, Servers: []wire.NearServer{}})
	default:
		n.looking = true
		p.do(LookAround{p.begin(), game})
	}
}

// found tells of servers on private networks: what the internet reaches is for lists
// to name.
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
