package cli

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"muster/discovery"
	"muster/discovery/lan"
	"muster/discovery/master"
	"muster/host"
	"muster/internal/game"
)

// lanMode is whether game servers are looked for on the local network, too.
type lanMode string

const (
	lanAuto lanMode = "auto" // where the list is the game's own masters'
	lanOn   lanMode = "on"
	lanOff  lanMode = "off"
)

// looksAround tells whether everybody on the local network is asked. Who says
// where the servers are means those.
func (s *sources) looksAround() bool {
	return s.lan == lanOn || s.lan == lanAuto && len(s.files) == 0 && len(s.masters) == 0
}

// all are the server list for a game, and the servers around. Without a list those
// have to do: a LAN party may have no internet, and a game no master.
func (s *sources) all(ctx context.Context, c *screen, g game.Game) (master.Listing, []lan.Server, error) {
	if s.looksAround() || len(s.files) == 0 {
		c.say("looking for %s servers …", g.Name) // for seconds
	}
	var near []lan.Server
	var looking sync.WaitGroup
	if s.looksAround() {
		looking.Go(func() {
			var err error
			if near, err = lan.Servers(ctx, g.Protocol(), g.LANPorts(), c.logger()); err != nil {
				c.logger().Debug("cannot look for servers on the local network", "err", err)
			}
		})
	}
	listing, err := s.list(ctx, g, c.streams.In)
	looking.Wait()
	if err != nil && len(near) > 0 && ctx.Err() == nil {
		listing.Warnings = []error{fmt.Errorf("only the servers on the local network are listed: %s", withoutPackage(err.Error()))}
		err = nil
	}
	return listing, near, err
}

// withThose is a list with the servers around at its end, those that it has not.
func withThose(listed []discovery.Server, near []lan.Server) []discovery.Server {
	for _, s := range near {
		if !slices.ContainsFunc(listed, func(l discovery.Server) bool { return l.Addr == s.Addr }) {
			listed = append(listed, s.Server)
		}
	}
	return listed
}

// apart are the servers around that only this network reaches, and the others.
func apart(near []lan.Server) (hidden, public []lan.Server) {
	for _, s := range near {
		if isPublic(s.Addr.Addr()) {
			public = append(public, s)
		} else {
			hidden = append(hidden, s)
		}
	}
	return hidden, public
}

// neighbours are the hidden servers around as a room knows them. The one server here of
// a port that the list has at this network's public address is that very server:
// the router leads there.
func neighbours(near []lan.Server, listed []discovery.Server, public netip.Addr) []host.Neighbour {
	var list []host.Neighbour
	for _, s := range near {
		n := host.Neighbour{Addr: s.Addr, Networks: s.Networks, Info: s.Info}
		outside := netip.AddrPortFrom(public, s.Addr.Port())
		rivals := slices.ContainsFunc(near, func(o lan.Server) bool { return o.Addr != s.Addr && o.Addr.Port() == s.Addr.Port() })
		if !rivals && slices.ContainsFunc(listed, func(l discovery.Server) bool { return l.Addr == outside }) {
			n.Public = outside
		}
		list = append(list, n)
	}
	return list
}

// isPublic tells an address of the internet from one behind a router.
func isPublic(a netip.Addr) bool { return discovery.ReachOf(a) == discovery.InternetReach }

// indexesOf are the places of the servers around in a list.
func indexesOf(near []lan.Server, servers []discovery.Server) []int {
	var list []int
	for i, s := range servers {
		if slices.ContainsFunc(near, func(n lan.Server) bool { return n.Addr == s.Addr }) {
			list = append(list, i)
		}
	}
	return list
}
