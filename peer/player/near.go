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
	// maxOthers is how many servers of other networks a look may name.
	maxOthers = 16
)

// near is what searches of this machine's networks found.
type near struct {
	// waits is how many tasks of a search are under way.
	waits int
	told  wire.Near
	at    time.Time
	// others are the servers of other networks that have answered in the search under way.
	others []wire.NearServer
	// addrs are the servers' addresses, for any game. The map is never changed, only replaced.
	addrs map[netip.AddrPort]bool
}

// lookAround tells the host which servers of a game are nearby, and which of the others it reaches.
func (n *near) lookAround(p *port, game string, others []netip.AddrPort) {
	isFresh := !n.at.IsZero() && n.told.Game == game && p.now.Sub(n.at) < nearFresh
	others = slices.DeleteFunc(slices.Clone(others), func(at netip.AddrPort) bool {
		isKnown := isFresh && slices.ContainsFunc(n.told.Servers, func(s wire.NearServer) bool { return s.Addr == at })
		return isKnown || at.Port() == 0 || discovery.ReachOf(at.Addr()) != discovery.NetworkReach || !mayAsk(p.line.host, at.Addr())
	})
	switch {
	case n.waits > 0:
		return
	case isFresh:
	case !n.at.IsZero() && p.now.Sub(n.at) < lookPause: // a search for another game has just run
		p.send(wire.Near{Game: game, Servers: []wire.NearServer{}})
		return
	default:
		n.waits++
		p.do(LookAround{p.begin(), game})
	}
	if len(others) > 0 {
		n.waits++
		p.do(AskOthers{p.begin(), game, others[:min(len(others), maxOthers)]})
	}
	n.tell(p)
}

// found notes servers on private networks. Public servers belong on lists.
func (n *near) found(p *port, game string, found []wire.NearServer) {
	found = slices.DeleteFunc(append([]wire.NearServer{}, found...), func(f wire.NearServer) bool {
		return f.Addr.Port() == 0 || discovery.ReachOf(f.Addr.Addr()) != discovery.NetworkReach
	})
	found = found[:min(len(found), wire.MaxNear)]
	n.told, n.at = wire.Near{Game: game, Servers: found}, p.now
	n.waits--
	n.know(found)
	n.tell(p)
}

// reached notes the servers of other networks that have answered.
func (n *near) reached(p *port, found []wire.NearServer) {
	n.others = found
	n.waits--
	n.know(found)
	n.tell(p)
}

// tell tells the host what the search has found, once it is over.
func (n *near) tell(p *port) {
	if n.waits > 0 {
		return
	}
	for _, s := range n.others {
		isKnown := slices.ContainsFunc(n.told.Servers, func(o wire.NearServer) bool { return o.Addr == s.Addr })
		if !isKnown && len(n.told.Servers) < wire.MaxNear {
			n.told.Servers = append(slices.Clip(n.told.Servers), s)
		}
	}
	n.others = nil
	p.send(n.told)
}

// know remembers that this machine has found servers itself.
func (n *near) know(found []wire.NearServer) {
	addrs := map[netip.AddrPort]bool{}
	if len(n.addrs) < maxFound {
		maps.Copy(addrs, n.addrs)
	}
	for _, f := range found {
		addrs[f.Addr] = true
	}
	n.addrs = addrs
}
