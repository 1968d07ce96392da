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
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
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

// Networks are the local networks of a group. It knows players by name, and servers by their
// index in the round's list. The zero value is empty.
type Networks struct {
	players map[string]player
	servers []Server
}

// Place is a player's place in the network, by the connection.
type Place struct {
	// Public is the address at which the internet sees the player, invalid if unknown.
	Public netip.Addr
	// AtHost says that the player is in the host's own network.
	AtHost bool
	// Near is the connection's own address, invalid if it may be anybody's.
	Near netip.Addr
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

// player is a player's place, and the program's finding there.
type player struct {
	place Place
	Finding
	// tried are the servers of other networks about which the program has been asked since triedAt.
	// isAgain says that it is asked only about them right now.
	tried   []netip.AddrPort
	triedAt roomtime.Time
	isAgain bool
	// lookSince is when the program was asked to look around for lookFor, zero once it has
	// answered. It belongs to a connection, and is not saved.
	lookSince roomtime.Time
	lookFor   string
}

// Finding lists the servers of a game that a player's program found around it. It says when the
// program told.
type Finding struct {
	Game    string            `json:"game"`
	Servers []wire.NearServer `json:"servers,omitempty"`
	At      roomtime.Time     `json:"at"`
}

func (p player) isLooking() bool { return !p.lookSince.IsZero() }

func (n *Networks) set(name string, p player) {
	if n.players == nil {
		n.players = map[string]player{}
	}
	n.players[name] = p
}

// Move notes that a player is at another place, and forgets the player's finding. It returns the
// servers whose measurements from the old place no longer hold.
func (n *Networks) Move(name string, to Place) (stale []int) {
	before := n.players[name]
	now := player{place: to}
	n.set(name, now)
	for i := range n.servers {
		if s := &n.servers[i]; s.isHidden() && s.isReachedBy(before) != s.isReachedBy(now) {
			stale = append(stale, s.Server)
		}
	}
	return stale
}

// Rename knows a player by another name.
func (n *Networks) Rename(from, to string) {
	if p, is := n.players[from]; is {
		delete(n.players, from)
		n.players[to] = p
	}
}

// Drop forgets a player.
func (n *Networks) Drop(name string) { delete(n.players, name) }

// Next returns the networks for the next round, without a list.
func (n *Networks) Next() Networks { return Networks{players: n.players} }

// Ask reports whether a player's program should look around for a game, and notes that it begins.
// It need not if its finding is fresh, or if it is looking already.
func (n *Networks) Ask(name, game string, now roomtime.Time) bool {
	p := n.players[name]
	isKnown := p.Game == game && !p.At.IsZero() && now.Sub(p.At) < fresh
	isUnderWay := p.isLooking() && p.lookFor == game
	if !p.place.home().IsValid() || isKnown || isUnderWay {
		return false
	}
	p.lookSince, p.lookFor = now, game
	p.tried, p.isAgain = nil, false
	n.set(name, p)
	return true
}

// IsBeyond reports whether a player is in a private network other than the host's own: on the other
// side of a router in a large LAN, or of a tunnel.
func (n *Networks) IsBeyond(name string) bool {
	p := n.players[name].place
	return !p.AtHost && discovery.ReachOf(p.Near) == discovery.NetworkReach
}

// Question asks a player's program which of these servers it reaches.
type Question struct {
	Player string
	At     []netip.AddrPort
}

// mostBeyond is how many servers of other networks a program is asked about.
const mostBeyond = 16

// Beyond returns what to ask the programs of some players: the servers for a game that the host or
// others found, where the players are in private networks of the host's LAN. It notes that the
// programs are asked. Each is asked about a server once in a while. A program that has not looked
// around yet does so then: those in the host's own network need not before.
func (n *Networks) Beyond(names []string, game string, known []Server, now roomtime.Time) (asks []Question) {
	var there []netip.AddrPort
	add := func(at netip.AddrPort) {
		if discovery.ReachOf(at.Addr()) == discovery.NetworkReach && !slices.Contains(there, at) {
			there = append(there, at)
		}
	}
	for _, list := range [][]Server{known, n.servers} {
		for i := range list {
			if s := &list[i]; s.isHidden() && (!s.Home.IsValid() || s.Home == atHost) {
				add(s.Addr)
			}
		}
	}
	for _, name := range names {
		if p := n.players[name]; p.Game == game && p.place.home() == atHost {
			for _, s := range p.Servers {
				add(s.Addr)
			}
		}
	}
	for _, name := range names {
		p := n.players[name]
		if p.place.home() != atHost || p.isLooking() {
			continue
		}
		if now.Sub(p.triedAt) >= fresh {
			p.tried, p.triedAt = nil, now
		}
		missing := slices.DeleteFunc(slices.Clone(there), func(at netip.AddrPort) bool {
			isFound := p.Game == game && slices.ContainsFunc(p.Servers, func(s wire.NearServer) bool { return s.Addr == at })
			isLocal := func(s Server) bool { return s.Addr == at && !s.Home.IsValid() && s.isReachedFrom(p.place.Near) }
			return isFound || slices.Contains(p.tried, at) || slices.ContainsFunc(known, isLocal) || slices.ContainsFunc(n.servers, isLocal)
		})
		if missing = missing[:min(len(missing), mostBeyond-min(len(p.tried), mostBeyond))]; len(missing) == 0 {
			continue
		}
		p.tried = append(slices.Clip(p.tried), missing...)
		p.lookSince, p.lookFor, p.isAgain = now, game, p.Game == game
		n.set(name, p)
		asks = append(asks, Question{name, missing})
	}
	return asks
}

// IsLate reports whether others found servers in the network of a player who has not looked for the
// game there. The program of such a player has to look around before it gets the list.
func (n *Networks) IsLate(name, game string) bool {
	p := n.players[name]
	isShared := func(s Server) bool { return s.Home.IsValid() && s.Home == p.place.home() }
	return p.Game != game && slices.ContainsFunc(n.servers, isShared)
}

// IsLooking reports whether a player's program is looking around, or any program if name is empty.
func (n *Networks) IsLooking(name string) bool {
	if name != "" {
		return n.players[name].isLooking()
	}
	for _, p := range n.players {
		if p.isLooking() {
			return true
		}
	}
	return false
}

// Expire reports whether a player's program has looked around for too long. Then nobody waits for
// it any longer, and it has found nothing.
func (n *Networks) Expire(name string, now roomtime.Time) bool {
	p := n.players[name]
	if !p.isLooking() || now.Sub(p.lookSince) <= lookTime {
		return false
	}
	late := player{place: p.place, Finding: Finding{Game: p.lookFor, At: now}, tried: p.tried, triedAt: p.triedAt}
	if p.isAgain { // what it found itself still counts
		late.Finding = p.Finding
	}
	n.set(name, late)
	return true
}

// Leave notes that a player's connection has ended: the program will not tell its finding.
func (n *Networks) Leave(name string) {
	if p, is := n.players[name]; is {
		p.lookSince, p.lookFor = roomtime.Time(0), ""
		n.players[name] = p
	}
}

// Hear takes a program's finding, and reports whether the program was asked. It ignores other
// findings, because the players' list relies on those that were known.
func (n *Networks) Hear(name string, m wire.Near, now roomtime.Time) bool {
	p := n.players[name]
	if !p.isLooking() || m.Game != p.lookFor {
		return false
	}
	heard := player{place: p.place, Finding: Finding{Game: m.Game, At: now}, tried: p.tried, triedAt: p.triedAt}
	if p.isAgain {
		heard.At = p.At
	}
	for _, s := range m.Servers {
		isThere := slices.ContainsFunc(heard.Servers, func(o wire.NearServer) bool { return o.Addr == s.Addr })
		if !isThere && (p.place.isBeside(s.Addr.Addr()) || slices.Contains(p.tried, s.Addr)) {
			heard.Servers = append(heard.Servers, wire.NearServer{Addr: s.Addr, Info: wire.TidyInfo(s.Info)})
		}
	}
	n.set(name, heard)
	return true
}
