// Package nearby keeps the game servers on local networks. The host finds servers on its own
// network, and players' programs find them on theirs. The internet's lists have few such servers,
// and few people can reach them.
//
//	Ask ─▶ "look around" ─▶ Hear, Expire ─▶ what the players found
//	                                               │
//	the game's list, what the host found ──────────┴─▶ Found ─▶ Place
//	                                                               │
//	ListFor, IsHidden, Around ◀── who reaches which server ◀───────┘
//
// Players behind one public address may be in one network, or behind a carrier's NAT. So a private
// address alone proves nothing. A player reaches a server there only if the player's own program
// found the same server as the others in the network.
//
// A large LAN has several networks, and a broadcast ends at the router between them. So the room
// also asks the programs there which servers of other networks they reach:
//
//	Beyond ─▶ "do you reach these?" ─▶ Hear
//
// Players whose programs get no answer cannot reach the server. They are not asked to measure it,
// and their silence says nothing about it.
package nearby

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
)

const (
	// fresh is how long a player's finding needs no other look.
	fresh = 2 * time.Minute
	// lookTime is how long a player's program may look. It needs two seconds.
	lookTime = 4 * time.Second
	// most is the most local servers that count. No LAN party has more.
	most = 256
	// network is the length of the prefix of a household's or a LAN party's network, in bits.
	network = 24
)

// Networks are the local networks of a group. They know servers by their index in the round's list.
// The zero value is empty.
type Networks struct{ state State }

// State is the saved state of networks.
type State struct {
	Players map[people.ID]player `json:"players,omitempty"`
	Servers []Server             `json:"servers,omitempty"`
}

// State returns the state, to save or restore it.
func (n *Networks) State() *State { return &n.state }

// Validate returns the first fault of saved networks, or nil. listed is the length of the list.
func (s State) Validate(players []people.ID, listed int) error {
	for _, server := range s.Servers {
		if server.Server < 0 || server.Server >= listed {
			return fmt.Errorf("a local server %d of %d", server.Server, listed)
		}
	}
	for id := range s.Players {
		if !slices.Contains(players, id) {
			return fmt.Errorf("servers around %q, who is not here", id)
		}
	}
	return nil
}

// Place is a player's place in the network, as the connection shows it.
type Place struct {
	// Public is the address at which the internet sees the player, invalid if unknown.
	Public netip.Addr `json:"public,omitzero"`
	// AtHost says that the player is in the host's own network.
	AtHost bool `json:"at_host,omitempty"`
	// Near is the connection's own address, invalid if anybody could have it, as through a tunnel.
	Near netip.Addr `json:"near,omitzero"`
}

// atHost stands for the host's network instead of a public address.
var atHost = netip.IPv4Unspecified()

// home identifies the network where the player's program looks around. It is the public address, or
// atHost for players at private addresses. It is invalid if the network is unknown, and then the
// player's finding does not count.
func (p Place) home() netip.Addr {
	switch {
	case p.AtHost, discovery.ReachOf(p.Near) == discovery.NetworkReach:
		return atHost
	case p.Public.IsValid() && discovery.ReachOf(p.Public) == discovery.InternetReach:
		return p.Public
	}
	return netip.Addr{}
}

// isBeside reports whether a private address may be in the player's own network. If the host sees
// the player at a private address, both have to be in the same network. Otherwise a router is in
// between, and other servers may have that address behind other routers.
func (p Place) isBeside(server netip.Addr) bool {
	if p.home() != atHost {
		return true
	}
	beside, err := p.Near.Unmap().WithZone("").Prefix(network)
	return err == nil && server.Is4() && beside.Contains(server)
}

// player is a player's place, and the program's finding there. Unexported fields are not saved.
type player struct {
	Place Place `json:"place,omitzero"`
	Finding
	// tried are the servers of other networks about which the program has been asked since triedAt.
	// isAgain says that the present question is only about these servers.
	tried   []netip.AddrPort
	triedAt roomtime.Time
	isAgain bool
	// lookSince is when the program was asked to look around for the game lookFor, zero once it has
	// answered. Both end with the connection.
	lookSince roomtime.Time
	lookFor   string
}

// Finding lists the servers of a game that a player's program found around it. At is when the
// program reported them.
type Finding struct {
	Game    string            `json:"game,omitempty"`
	Servers []wire.NearServer `json:"servers,omitempty"`
	At      roomtime.Time     `json:"at,omitzero"`
}

func (p player) isLooking() bool { return !p.lookSince.IsZero() }

func (n *Networks) set(id people.ID, p player) {
	if n.state.Players == nil {
		n.state.Players = map[people.ID]player{}
	}
	n.state.Players[id] = p
}

// Move notes that a player is at another place, and forgets the player's finding. It returns the
// servers whose measurements from the old place no longer hold.
func (n *Networks) Move(id people.ID, to Place) (stale []int) {
	before := n.state.Players[id]
	now := player{Place: to}
	n.set(id, now)
	for i := range n.state.Servers {
		if s := &n.state.Servers[i]; s.isHidden() && s.isReachedBy(before) != s.isReachedBy(now) {
			stale = append(stale, s.Server)
		}
	}
	return stale
}

// Drop forgets a player.
func (n *Networks) Drop(id people.ID) { delete(n.state.Players, id) }

// Next returns the networks for the next round, without a list.
func (n *Networks) Next() Networks { return Networks{State{Players: n.state.Players}} }

// Ask reports whether a player's program should look around for a game, and notes that it begins.
// It need not if its finding is fresh, or if it is looking already.
func (n *Networks) Ask(id people.ID, game string, now roomtime.Time) bool {
	p := n.state.Players[id]
	isKnown := p.Game == game && !p.At.IsZero() && now.Sub(p.At) < fresh
	isUnderWay := p.isLooking() && p.lookFor == game
	if !p.Place.home().IsValid() || isKnown || isUnderWay {
		return false
	}
	p.lookSince, p.lookFor = now, game
	p.tried, p.isAgain = nil, false
	n.set(id, p)
	return true
}

// IsBeyond reports whether a player is in a private network other than the host's own: on the other
// side of a router in a large LAN, or of a tunnel.
func (n *Networks) IsBeyond(id people.ID) bool {
	p := n.state.Players[id].Place
	return !p.AtHost && discovery.ReachOf(p.Near) == discovery.NetworkReach
}

// Question asks a player's program which of these servers it reaches.
type Question struct {
	Player people.ID
	At     []netip.AddrPort
}

// maxBeyond is how many servers of other networks a program is asked about.
const maxBeyond = 16

// Beyond asks the programs of players in the host's LAN whether they reach the servers that the
// host or other players found. It notes the questions. It asks a program about a server only once
// in a while. A program that has not looked around yet does so now. In the host's own network it
// need not before.
func (n *Networks) Beyond(players []people.ID, game string, known []Server, now roomtime.Time) (asks []Question) {
	var there []netip.AddrPort
	add := func(at netip.AddrPort) {
		if discovery.ReachOf(at.Addr()) == discovery.NetworkReach && !slices.Contains(there, at) {
			there = append(there, at)
		}
	}
	for _, list := range [][]Server{known, n.state.Servers} {
		for i := range list {
			if s := &list[i]; s.isHidden() && (!s.Home.IsValid() || s.Home == atHost) {
				add(s.Addr)
			}
		}
	}
	for _, id := range players {
		if p := n.state.Players[id]; p.Game == game && p.Place.home() == atHost {
			for _, s := range p.Servers {
				add(s.Addr)
			}
		}
	}
	for _, id := range players {
		p := n.state.Players[id]
		if p.Place.home() != atHost || p.isLooking() {
			continue
		}
		if now.Sub(p.triedAt) >= fresh {
			p.tried, p.triedAt = nil, now
		}
		missing := slices.DeleteFunc(slices.Clone(there), func(at netip.AddrPort) bool {
			isFound := p.Game == game && slices.ContainsFunc(p.Servers, func(s wire.NearServer) bool { return s.Addr == at })
			isLocal := func(s Server) bool { return s.Addr == at && !s.Home.IsValid() && s.isReachedFrom(p.Place.Near) }
			return isFound || slices.Contains(p.tried, at) || slices.ContainsFunc(known, isLocal) || slices.ContainsFunc(n.state.Servers, isLocal)
		})
		if missing = missing[:min(len(missing), maxBeyond-min(len(p.tried), maxBeyond))]; len(missing) == 0 {
			continue
		}
		p.tried = append(slices.Clip(p.tried), missing...)
		p.lookSince, p.lookFor, p.isAgain = now, game, p.Game == game
		n.set(id, p)
		asks = append(asks, Question{id, missing})
	}
	return asks
}

// IsLate reports whether others found servers in a player's network, but the player has not looked
// for the game there. Then the player's program has to look around before it gets the list.
func (n *Networks) IsLate(id people.ID, game string) bool {
	p := n.state.Players[id]
	isShared := func(s Server) bool { return s.Home.IsValid() && s.Home == p.Place.home() }
	return p.Game != game && slices.ContainsFunc(n.state.Servers, isShared)
}

// IsLooking reports whether a player's program is looking around, or any program if id is empty.
func (n *Networks) IsLooking(id people.ID) bool {
	if id != "" {
		return n.state.Players[id].isLooking()
	}
	for _, p := range n.state.Players {
		if p.isLooking() {
			return true
		}
	}
	return false
}

// Expire ends a look around that takes too long, and reports whether it did. The program then
// counts as having found nothing.
func (n *Networks) Expire(id people.ID, now roomtime.Time) bool {
	p := n.state.Players[id]
	if !p.isLooking() || now.Sub(p.lookSince) <= lookTime {
		return false
	}
	late := player{Place: p.Place, Finding: Finding{Game: p.lookFor, At: now}, tried: p.tried, triedAt: p.triedAt}
	if p.isAgain { // its earlier finding still counts
		late.Finding = p.Finding
	}
	n.set(id, late)
	return true
}

// Leave notes that a player's connection has ended: the program will not tell its finding.
func (n *Networks) Leave(id people.ID) {
	if p, is := n.state.Players[id]; is {
		p.lookSince, p.lookFor = roomtime.Time(0), ""
		n.state.Players[id] = p
	}
}

// Hear takes a program's finding, and reports whether the program was asked. It ignores other
// findings, because the players' list relies on the known ones.
func (n *Networks) Hear(id people.ID, m wire.Near, now roomtime.Time) bool {
	p := n.state.Players[id]
	if !p.isLooking() || m.Game != p.lookFor {
		return false
	}
	heard := player{Place: p.Place, Finding: Finding{Game: m.Game, At: now}, tried: p.tried, triedAt: p.triedAt}
	if p.isAgain {
		heard.At = p.At
	}
	for _, s := range m.Servers {
		isThere := slices.ContainsFunc(heard.Servers, func(o wire.NearServer) bool { return o.Addr == s.Addr })
		if !isThere && (p.Place.isBeside(s.Addr.Addr()) || slices.Contains(p.tried, s.Addr)) {
			heard.Servers = append(heard.Servers, wire.NearServer{Addr: s.Addr, Info: wire.TidyInfo(s.Info)})
		}
	}
	n.set(id, heard)
	return true
}
