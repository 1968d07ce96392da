package lobby

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/listing"
)

// Supply sends the organiser's own list of servers to a room on a public host, again for each
// round.
type Supply struct {
	Lists *listing.Rooms
	// Near says that the host is on this machine or in its network.
	Near bool
	Warn func(...error)

	stage wire.Stage
	// begun receives the game of each round that begins.
	begun chan string
}

// NewSupply returns a supply for a host at an address.
func NewSupply(lists *listing.Rooms, host string, warn func(...error)) *Supply {
	return &Supply{Lists: lists, Near: IsNear(host), Warn: warn, begun: make(chan string, 1)}
}

// sees notes the room's stage. One goroutine at a time calls it.
func (s *Supply) sees(room wire.Snapshot) {
	before := s.stage
	s.stage = room.Room.Stage
	if s.stage == wire.Listing && before != wire.Listing {
		select {
		case s.begun <- room.Room.Game:
		default: // one is under way
		}
	}
}

// bring sends the room the list whenever a round begins, until ctx ends.
func (s *Supply) bring(ctx context.Context, order func(ctx context.Context, action string, with any) error) {
	for {
		var id string
		select {
		case id = <-s.begun:
		case <-ctx.Done():
			return
		}
		g, err := s.Lists.Games.Find(id)
		if err != nil {
			continue // the organiser chose this game on the page, and the host lists it
		}
		servers, err := s.servers(ctx, g)
		if err == nil {
			err = order(ctx, "servers", map[string]any{"game": g.ID, "servers": servers})
		}
		if err != nil && ctx.Err() == nil {
			s.Warn(hint.Say("term.list-from-before", "why", err))
		}
	}
}

// servers returns the newest list of a game as addresses and names. Addresses in private networks are left
// out, because players there find those servers themselves.
func (s *Supply) servers(ctx context.Context, g game.Game) ([]hostport.AddrPort, error) {
	list, err := s.Lists.List(ctx, g.ID)
	if err != nil {
		return nil, err
	}
	var addrs []hostport.AddrPort
	for _, server := range list {
		if s.Near || discovery.ReachOf(server.Addr.Addr()) == discovery.InternetReach {
			addrs = append(addrs, hostport.At(discovery.Canonical(server.Addr)))
		}
	}
	if n := len(list) - len(addrs); n > 0 {
		s.Warn(hint.Say("term.list-local", "n", n))
	}
	if len(addrs) == 0 {
		return nil, hint.Say("term.list-empty").Advising("term.here-hint", "here", "--here")
	}
	return addrs, nil
}

// isOwn reports whether the host cannot get this list itself: it comes from files, from masters
// that the host does not use, or the game is in the user's own table.
func (s *Supply) isOwn(g game.Game) bool {
	if len(s.Lists.Files)+len(s.Lists.Masters) > 0 {
		return true
	}
	builtIn, err := game.Load(nil, "")
	if err != nil {
		return false
	}
	known, err := builtIn.Find(g.ID)
	return err == nil && !slices.Equal(known.Masters, g.Masters)
}

// IsNear reports whether an address is on this machine or in a private network.
func IsNear(hostport string) bool {
	name, _, err := net.SplitHostPort(hostport)
	if err != nil {
		name = hostport
	}
	addr, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return name == "localhost" || err == nil && discovery.ReachOf(addr) != discovery.InternetReach
}
