package nearby

import (
	"fmt"
	"net/netip"
	"slices"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/wire"
)

// Server is a game server on the host's network, or on the network of the players who found it.
// Players there need its local address, because few routers send packets out and in again. The
// others use its public address, if it has one.
type Server struct {
	Addr netip.AddrPort `json:"addr"`
	// Networks are the networks from where people reach Addr.
	Networks []netip.Prefix `json:"networks"`
	// Public is its address in the internet's lists, invalid if they lack it. Then the server is
	// hidden from everybody elsewhere.
	Public netip.AddrPort `json:"public,omitzero"`
	// Home identifies the network of the players who found the server, and is invalid if the host
	// found it. Name and Seats are the server's own report. They tell it from a server at the same
	// address in another network.
	Home  netip.Addr `json:"home,omitzero"`
	Name  string     `json:"name,omitempty"`
	Seats int        `json:"seats,omitempty"`
	// Info is the server's report if the host found it.
	Info discovery.Info `json:"-"`
	// Server is its index in the round's list.
	Server int `json:"server"`
}

// Hidden returns the addresses of the servers that the internet's lists do not have.
func Hidden(servers []Server) (hidden []netip.AddrPort) {
	for _, s := range servers[:min(len(servers), most)] {
		if s.isHidden() {
			hidden = append(hidden, s.Addr)
		}
	}
	return hidden
}

func (s *Server) isHidden() bool { return !s.Public.IsValid() }

// listed returns the address that the round's list has.
func (s *Server) listed() netip.AddrPort {
	if s.isHidden() {
		return s.Addr
	}
	return s.Public
}

// is reports whether a player found this server, by address, name and seats. Behind a carrier's NAT
// several households may have servers at the same private address.
func (s *Server) is(found wire.NearServer) bool {
	return found.Addr == s.Addr && found.Info.Name == s.Name && found.Info.MaxPlayers == s.Seats
}

// isReachedFrom reports whether somebody at an address reaches the server by its own address. The
// host's machine does, and so do people in one of the server's networks.
func (s *Server) isReachedFrom(from netip.Addr) bool {
	from = from.Unmap().WithZone("")
	return from.IsLoopback() || slices.ContainsFunc(s.Networks, func(p netip.Prefix) bool { return p.Contains(from) })
}

// isReachedBy reports whether a player reaches the server by its own address. Players on the host's
// network do, and so do players whose programs got its answer.
func (s *Server) isReachedBy(p player) bool {
	if s.Home.IsValid() {
		return s.Home == p.Place.home() && slices.ContainsFunc(p.Servers, s.is)
	}
	return s.isReachedFrom(p.Place.Near) || p.Place.home() == atHost && slices.ContainsFunc(p.Servers, s.is)
}

// isHiddenFrom reports whether a player cannot reach the server. The player's own network may have
// another server at that address.
func (s *Server) isHiddenFrom(p player) bool { return s.isHidden() && !s.isReachedBy(p) }

// Found returns a game's servers that players found on their own networks. It leaves out servers
// that the host found or the list has. Each address gets one server. If several networks have the
// address, the server that most players found gets it. Players of the other networks cannot reach
// that server.
func (n *Networks) Found(players []people.ID, game string, listed []discovery.Server, known []Server) []Server {
	isListed := map[netip.AddrPort]bool{}
	for _, s := range listed {
		isListed[s.Addr] = true
	}
	for i := range known {
		isListed[known[i].Addr] = true
	}
	var all []Server
	finders := map[netip.AddrPort]map[netip.Addr]int{} // of a network's first server
	for _, id := range players {
		p := n.state.Players[id]
		for _, found := range p.Servers {
			s := Server{Addr: found.Addr, Home: p.Place.home(), Name: found.Info.Name, Seats: found.Info.MaxPlayers}
			if p.Game != game || !s.Home.IsValid() || isListed[s.Addr] {
				continue
			}
			if finders[s.Addr] == nil {
				finders[s.Addr] = map[netip.Addr]int{}
			}
			first := slices.IndexFunc(all, func(o Server) bool { return o.Addr == s.Addr && o.Home == s.Home })
			switch {
			case first < 0:
				all = append(all, s)
				finders[s.Addr][s.Home] = 1
			case all[first].is(found):
				finders[s.Addr][s.Home]++
			}
		}
	}
	var chosen []Server
	for _, s := range all[:min(len(all), most)] {
		s.Public = publicOf(s, all, isListed)
		isOutvoted := slices.ContainsFunc(all, func(o Server) bool {
			return o.Addr == s.Addr && o.Home != s.Home && !publicOf(o, all, isListed).IsValid() && finders[s.Addr][o.Home] > finders[s.Addr][s.Home]
		})
		isLater := slices.ContainsFunc(chosen, func(o Server) bool { return o.Addr == s.Addr && o.isHidden() })
		if !s.isHidden() || !isOutvoted && !isLater {
			chosen = append(chosen, s)
		}
	}
	return chosen
}

// publicOf returns the public address of a server in a player's network. It has one if the list has
// its port at the network's public address, and no other server there has the port.
func publicOf(s Server, all []Server, isListed map[netip.AddrPort]bool) netip.AddrPort {
	outside := netip.AddrPortFrom(s.Home, s.Addr.Port())
	isRival := func(o Server) bool {
		return o.Home == s.Home && o.Addr != s.Addr && o.Addr.Port() == s.Addr.Port()
	}
	if s.Home == atHost || !isListed[outside] || slices.ContainsFunc(all, isRival) {
		return netip.AddrPort{}
	}
	return outside
}

// Place finds servers in the round's list. It returns the reports of the servers that the host
// found.
func (n *Networks) Place(servers []Server, list []discovery.Server) (said []wire.ServerInfo) {
	if len(servers) == 0 {
		return nil
	}
	places := map[netip.AddrPort]int{}
	for i, s := range list {
		places[s.Addr] = i
	}
	for _, s := range servers[:min(len(servers), most)] {
		var isListed bool
		if s.Server, isListed = places[s.listed()]; !isListed {
			continue
		}
		if !s.Home.IsValid() {
			info := wire.TidyInfo(s.Info)
			said = append(said, wire.ServerInfo{Server: s.Server, Info: info})
			s.Name, s.Seats = info.Name, info.MaxPlayers
		}
		s.Info = discovery.Info{}
		n.state.Servers = append(n.state.Servers, s)
	}
	return said
}

// Notes returns notes on the local servers in the list: their number, their networks, and the
// servers that some players cannot reach. Titles are the servers' names.
func (n *Networks) Notes(players []people.ID, titles map[int]string) (notes []sentence.Sentence) {
	there := map[netip.Addr]int{}
	var homes []netip.Addr
	for i := range n.state.Servers {
		home := n.state.Servers[i].Home
		if there[home]++; there[home] == 1 && home.IsValid() {
			homes = append(homes, home)
		}
	}
	if here := there[netip.Addr{}]; here > 0 {
		notes = append(notes, sentence.Of("room.local", "n", here))
	}
	for _, home := range homes {
		finders := n.filtered(players, func(p player) bool { return p.Place.home() == home && len(p.Servers) > 0 })
		notes = append(notes, sentence.Of("room.local-of", "n", there[home], "players", people.Texts(finders)))
	}
	for i := range n.state.Servers {
		s := &n.state.Servers[i]
		outside := n.filtered(players, s.isHiddenFrom)
		if s.Home.IsValid() { // the note above names its network
			outside = n.filtered(outside, func(p player) bool { return s.Home == atHost && p.Place.home() == atHost })
		}
		if len(outside) > 0 {
			title := titles[s.Server]
			if s.Home.IsValid() {
				title = fmt.Sprintf("%s (%v)", s.Name, s.Addr)
			}
			notes = append(notes, sentence.Of("room.local-unreachable", "server", title, "players", people.Texts(outside)))
		}
	}
	return notes
}

// filtered returns the players who fulfil a condition.
func (n *Networks) filtered(players []people.ID, is func(player) bool) []people.ID {
	return people.Filtered(players, func(id people.ID) bool { return is(n.state.Players[id]) })
}

// IsHidden reports whether a player cannot reach a server.
func (n *Networks) IsHidden(id people.ID, server int) bool {
	return slices.Contains(n.HiddenFrom(id), server)
}

// HiddenFrom returns the servers that a player cannot reach.
func (n *Networks) HiddenFrom(id people.ID) (hidden []int) {
	p := n.state.Players[id]
	for i := range n.state.Servers {
		if s := &n.state.Servers[i]; s.isHiddenFrom(p) {
			hidden = append(hidden, s.Server)
		}
	}
	return hidden
}

// Around returns the local servers that a player can reach by any address.
func (n *Networks) Around(id people.ID) (around []int) {
	p := n.state.Players[id]
	for i := range n.state.Servers {
		if s := &n.state.Servers[i]; !s.isHiddenFrom(p) {
			around = append(around, s.Server)
		}
	}
	return around
}

// Addresses returns the local addresses of servers on the player's own network.
func (n *Networks) Addresses(id people.ID) map[int]netip.AddrPort {
	p := n.state.Players[id]
	addresses := map[int]netip.AddrPort{}
	for i := range n.state.Servers {
		if s := &n.state.Servers[i]; s.isReachedBy(p) {
			addresses[s.Server] = s.Addr
		}
	}
	return addresses
}

// ListFor returns a list with the addresses that are right for a player.
func (n *Networks) ListFor(id people.ID, list []discovery.Server) []discovery.Server {
	isOwn := false
	for server, addr := range n.Addresses(id) {
		if list[server].Addr == addr {
			continue
		}
		if !isOwn {
			list, isOwn = slices.Clone(list), true
		}
		list[server].Addr = addr
	}
	return list
}

// HasTwoAddresses reports whether the internet reaches a local server by another address. Then
// players get different lists.
func (n *Networks) HasTwoAddresses() bool {
	return slices.ContainsFunc(n.state.Servers, func(s Server) bool { return !s.isHidden() })
}
