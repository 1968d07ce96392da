// Package nearby keeps the game servers on local networks: the host finds them on its own network,
// and players' programs on theirs. The internet's lists have few of them, and few people can reach
// them.
//
//	Ask ─▶ "look around" ─▶ Hear, Expire ─▶ what the players found
//	                                               │
//	the game's list, what the host found ──────────┴─▶ Found ─▶ Place
//	                                                               │
//	ListFor, IsHidden, Around ◀── who reaches which server ◀───────┘
//
// Players behind one public address may be in one network, or behind a carrier's NAT. So a
// private address means nothing alone: a player reaches a server there if the player's own
// program found it, and found what the others in the network found.
//
// A large LAN has several networks, and a broadcast ends at the router between them. So the programs
// there are asked, too, which servers of the others they reach:
//
//	Beyond ─▶ "do you reach these?" ─▶ Hear
//
// The route decides, and only an answer counts. Players without one cannot reach the server: they are
// not asked to measure it, and their silence says nothing about it.
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
	// fresh is how long a player's finding is as good as another look.
	fresh = 2 * time.Minute
	// lookTime is how long a player's program may look. It needs two seconds.
	lookTime = 4 * time.Second
	// most is more servers than a LAN party has.
	most = 256
	// network is the length of the prefix of a household's or a LAN party's network, in bits.
	network = 24
)

// Networks are the local networks of a group. They know servers by their index in the round's list.
// The zero value is empty.
type Networks struct{ state State }

// State is what a saved room keeps of networks.
type State struct {
	Players map[people.ID]player `json:"players,omitempty"`
	Servers []Server             `json:"servers,omitempty"`
}

// State returns the state, to save or restore it.
func (n *Networks) State() *State { return &n.state }

// Validate returns the first fault of saved networks of these players and a list of so many
// servers, or nil.
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

// Place is a player's place in the network, by the connection.
type Place struct {
	// Public is the address at which the internet sees the player, invalid if unknown.
	Public netip.Addr `json:"public,omitzero"`
	// AtHost says that the player is in the host's own network.
	AtHost bool `json:"at_host,omitempty"`
	// Near is the connection's own address, invalid if it may be anybody's.
	Near netip.Addr `json:"near,omitzero"`
}

// atHost stands for the host's network instead of a public address.
var atHost = netip.IPv4Unspecified()

// home returns a value for the network where the player's program looks around: the public address,
// or the host's own network for players at private addresses. It is invalid if unknown. Then the
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
	// lookSince is when the program was asked to look around for lookFor, zero once it has
	// answered. It belongs to a connection.
	lookSince roomtime.Time
	lookFor   string
}

// Finding lists the servers of a game that a player's program found around it. It says when the
// program told.
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

// mostBeyond is how many servers of other networks a program is asked about.
const mostBeyond = 16

// Beyond returns questions to the programs of players in private networks of the host's LAN: which
// servers do they reach that the host or others found? It notes that the programs are asked. Each
// is asked about a server once in a while. A program that has not looked around yet does so then:
// those in the host's own network need not before.
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
		if missing = missing[:min(len(missing), mostBeyond-min(len(p.tried), mostBeyond))]; len(missing) == 0 {
			continue
		}
		p.tried = append(slices.Clip(p.tried), missing...)
		p.lookSince, p.lookFor, p.isAgain = now, game, p.Game == game
		n.set(id, p)
		asks = append(asks, Question{id, missing})
	}
	return asks
}

// IsLate reports whether others found servers in the network of a player who has not looked for the
// game there. The program of such a player has to look around before it gets the list.
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

// Expire reports whether a player's program has looked around for too long. Then nobody waits for
// it any longer, and it has found nothing.
func (n *Networks) Expire(id people.ID, now roomtime.Time) bool {
	p := n.state.Players[id]
	if !p.isLooking() || now.Sub(p.lookSince) <= lookTime {
		return false
	}
	late := player{Place: p.Place, Finding: Finding{Game: p.lookFor, At: now}, tried: p.tried, triedAt: p.triedAt}
	if p.isAgain { // what it found itself still counts
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
