// Package homes knows the computers of players who have agreed to host. Where the room looks for a place they
// stand beside the organiser's places:
//
//	program ── beacon port ──▶ Come ────┐
//	        ── router's port ─▶ Outside ─┴─▶ Places ─▶ candidates of the round
package homes

import (
	"cmp"
	"net/netip"
	"slices"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/room/people"
	"muster/host/wire"
)

// Homes has the ports at which players' computers answer. Every hello of their programs names them, so they
// are not saved. The zero value knows of none.
type Homes struct{ doors map[people.ID]door }

// door has the ports at which a player's program answers as a beacon. beacon is the computer's
// port, 0 for none. outside is the router's port that leads there, 0 if it is the same.
type door struct {
	program         string
	beacon, outside uint16
}

// Player has the present facts about a player.
type Player struct {
	people.Person
	// Addr is the address that servers see. Beside is the computer's address for people on the
	// host's networks, invalid if the player comes from elsewhere.
	Addr, Beside netip.Addr
}

// Come notes the beacon port of a player's computer when the program connects. If the program or
// the port is another, it forgets the router's port.
func (h *Homes) Come(player people.ID, program string, beacon uint16) {
	if h.doors == nil {
		h.doors = map[people.ID]door{}
	}
	if d := h.doors[player]; d.program != program || d.beacon != beacon {
		h.doors[player] = door{program: program, beacon: beacon}
	}
}

// Outside notes the router's port by which others reach a player's program.
func (h *Homes) Outside(player people.ID, port uint16) {
	if d, has := h.doors[player]; has {
		d.outside = port
		h.doors[player] = d
	}
}

// Leave forgets a player who no longer plays here.
func (h *Homes) Leave(player people.ID) { delete(h.doors, player) }

// Places returns the organiser's places and the computers of present players who have agreed to host, with
// their owners by the places' names. Everybody reaches addresses on the internet. If all players come from one
// network of the host's they also reach addresses there.
func (h *Homes) Places(listed wire.Venues, players []Player) (places wire.Venues, owners map[string]people.ID) {
	here := slices.DeleteFunc(slices.Clone(players), func(p Player) bool { return !p.IsHere })
	areBeside := areNeighbours(here)
	places, owners = slices.Clip(listed), map[string]people.ID{}
	for _, p := range here {
		d := h.doors[p.ID]
		if d.beacon == 0 {
			continue
		}
		addr, port, name := p.Addr.Unmap().WithZone(""), cmp.Or(d.outside, d.beacon), p.Name+"'s computer"
		if areBeside { // with no router between them
			addr, port = p.Beside, d.beacon
		}
		isTaken := slices.ContainsFunc(listed, func(v wire.Venue) bool { return v.Name == name })
		isReached := areBeside || discovery.ReachOf(addr) == discovery.InternetReach
		if isReached && !isTaken && len(places) < wire.MaxVenues {
			at := hostport.At(netip.AddrPortFrom(addr, port))
			places, owners[name] = append(places, wire.Venue{Name: name, Addr: at, Protocol: "beacon"}), p.ID
		}
	}
	return places, owners
}

// areNeighbours reports whether all players come from one network of the host's, each from an
// address of their own there. If a player comes by another network, such as a VPN, other computers
// in the player's home may have the same addresses. An address that two share is a gateway's.
func areNeighbours(players []Player) bool {
	seen := map[netip.Addr]bool{}
	var network netip.Prefix
	for _, p := range players {
		at := p.Beside
		if !at.IsValid() || seen[at] {
			return false
		}
		bits := 64
		switch {
		case discovery.IsCarrierNAT(at): // mesh VPNs use addresses from all of this range
			bits = 10
		case at.Is4():
			bits = 24
		}
		if network.IsValid() && !network.Contains(at) {
			return false
		}
		network, seen[at] = netip.PrefixFrom(at, bits), true
	}
	return true
}
