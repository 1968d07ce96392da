package homes

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"muster/host/room/people"
	"muster/host/wire"
)

// group is people in a room.
type group struct {
	*testing.T
	Homes
	listed  wire.Venues
	players []Player
}

// far returns the origin of a player elsewhere, and near of one on the host's network.
func far(last byte) Player {
	return Player{Person: people.Person{IsHere: true}, Addr: netip.AddrFrom4([4]byte{203, 0, 113, last})}
}
func near(at string) Player {
	return Player{Person: people.Person{IsHere: true}, Beside: netip.MustParseAddr(at)}
}

// comes lets a player's program join from an origin, with a beacon at a port.
func (g *group) comes(player people.ID, program string, from Player, beacon uint16) {
	from.ID, from.Name = player, string(player)
	g.players = append(slices.DeleteFunc(g.players, func(p Player) bool { return p.ID == player }), from)
	g.Come(player, program, beacon)
}

// homesOf returns the addresses at which players' computers are measured.
func (g *group) homesOf() string {
	places, owners := g.Places(g.listed, g.players)
	var at []string
	for _, v := range places[len(g.listed):] {
		if at = append(at, v.Addr.String()); v.Name != string(owners[v.Name])+"'s computer" || v.Protocol != "beacon" {
			g.Errorf("%v is %s's", v, owners[v.Name])
		}
	}
	if len(owners) != len(at) {
		g.Errorf("%d owners of %d", len(owners), len(at))
	}
	return strings.Join(at, " ")
}

// TestHomesBound checks that players' computers take only the places that the organiser's list
// leaves, and no name twice.
func TestHomesBound(t *testing.T) {
	for _, tt := range []struct{ name, first, want string }{
		{"the last one", "place", "203.0.113.1:7787"},
		{"a name that a place has", "ann's computer", "203.0.113.2:7787"},
	} {
		g := &group{T: t, listed: make(wire.Venues, wire.MaxVenues-1)}
		g.listed[0].Name = tt.first
		g.comes("ann", "1", far(1), 7787)
		g.comes("bob", "2", far(2), 7787)
		if got := g.homesOf(); got != tt.want {
			t.Errorf("%s: measured are %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestHomesOfThoseWhoLeft checks that nobody is shown the address of a player who no longer agrees, is away, or
// has left.
func TestHomesOfThoseWhoLeft(t *testing.T) {
	for _, tt := range []struct {
		name string
		does func(g *group)
	}{
		{"never agreed", func(g *group) { g.comes("bob", "2", far(2), 0) }},
		{"no longer agrees", func(g *group) { g.comes("bob", "3", far(2), 0) }},
		{"is away", func(g *group) { g.players[1].IsHere = false }},
		{"has left", func(g *group) { g.Leave("bob") }},
	} {
		g := &group{T: t}
		g.comes("ann", "1", far(1), 7787)
		g.comes("bob", "2", far(2), 4000)
		if tt.does(g); g.homesOf() != "203.0.113.1:7787" {
			t.Errorf("%s: measured are %q", tt.name, g.homesOf())
		}
	}
}

// TestHomesOfALANParty checks that each computer is measured in the network while all come from one
// network of the host's. Nobody gets a private address if one friend is elsewhere.
func TestHomesOfALANParty(t *testing.T) {
	for _, tt := range []struct {
		name string
		from []Player
		want string
	}{
		{"one network", []Player{near("192.168.1.2"), near("192.168.1.3")}, "192.168.1.2:1001 192.168.1.3:1002"},
		{"another network of the host's", []Player{near("192.168.1.2"), near("192.168.2.3")}, ""},
		{"one by a VPN, who may have such addresses at home", []Player{near("192.168.1.2"), near("192.168.1.3"), near("100.64.0.9")}, ""},
		{"all by a VPN", []Player{near("100.64.0.9"), near("100.101.7.3")}, "100.64.0.9:1001 100.101.7.3:1002"},
		{"all by IPv6", []Player{near("fd00::1"), near("fd00::2")}, "[fd00::1]:1001 [fd00::2]:1002"},
		{"one of them by IPv6", []Player{near("192.168.1.2"), near("fd00::2")}, ""},
		{"two behind one gateway", []Player{near("192.168.1.2"), near("192.168.1.3"), near("192.168.1.3")}, ""},
		{"a friend elsewhere", []Player{near("192.168.1.2"), near("192.168.1.3"), far(1)}, "203.0.113.1:1003"},
		{"one by a tunnel", []Player{near("192.168.1.2"), near("192.168.1.3"), {Person: people.Person{IsHere: true}}}, ""},
		{"one who is away", []Player{near("192.168.1.2"), {}}, "192.168.1.2:1001"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &group{T: t}
			for i, from := range tt.from {
				g.comes(people.ID(fmt.Sprint("p", i)), "1", from, uint16(1001+i))
			}
			if got := g.homesOf(); got != tt.want {
				t.Errorf("measured are %q, want %q", got, tt.want)
			}
		})
	}
}

// TestHomesBehindRouters checks that a player elsewhere is measured at the port that their router
// gave, at their own address and no other. Within one network there is no router in between.
func TestHomesBehindRouters(t *testing.T) {
	type does func(g *group)
	outside := func(player people.ID, port uint16) does {
		return func(g *group) { g.Outside(player, port) }
	}
	comes := func(player people.ID, program string, from Player, beacon uint16) does {
		return func(g *group) { g.comes(player, program, from, beacon) }
	}
	for _, tt := range []struct {
		name string
		does []does
		want string
	}{
		{"one router", []does{comes("ann", "1", far(1), 7787), comes("bob", "2", far(2), 7787), outside("bob", 40001)},
			"203.0.113.1:7787 203.0.113.2:40001"},
		{"another port later", []does{comes("bob", "2", far(2), 7787), outside("bob", 40001), outside("bob", 40002)}, "203.0.113.2:40002"},
		{"the same port", []does{comes("bob", "2", far(2), 7787), outside("bob", 7787)}, "203.0.113.2:7787"},
		{"a connection that comes back",
			[]does{comes("bob", "2", far(2), 7787), outside("bob", 40001), comes("bob", "2", far(2), 7787)}, "203.0.113.2:40001"},
		{"a program that was started again",
			[]does{comes("bob", "2", far(2), 7787), outside("bob", 40001), comes("bob", "3", far(2), 7787)}, "203.0.113.2:7787"},
		{"a beacon at another port",
			[]does{comes("bob", "2", far(2), 7787), outside("bob", 40001), comes("bob", "2", far(2), 4000)}, "203.0.113.2:4000"},
		{"another address", []does{comes("bob", "2", far(2), 7787), outside("bob", 40001), comes("bob", "2", far(9), 7787)}, "203.0.113.9:40001"},
		{"one who could not host", []does{comes("bob", "2", far(2), 0), outside("bob", 40001)}, ""},
		{"one network", []does{comes("ann", "1", near("192.168.1.1"), 7787),
			comes("bob", "2", near("192.168.1.2"), 7788), outside("bob", 40001)}, "192.168.1.1:7787 192.168.1.2:7788"},
		{"in a private network, with one elsewhere",
			[]does{comes("ann", "1", far(1), 7787), comes("bob", "2", near("192.168.1.2"), 7788), outside("bob", 40001)}, "203.0.113.1:7787"},
		{"on this machine", []does{comes("bob", "2", Player{Person: people.Person{IsHere: true}}, 7787), outside("bob", 22)}, ""},
		{"one who is nobody", []does{outside("bob", 22)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &group{T: t}
			for _, does := range tt.does {
				does(g)
			}
			if got := g.homesOf(); got != tt.want {
				t.Errorf("measured are %q, want %q", got, tt.want)
			}
		})
	}
}
