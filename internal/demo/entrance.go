package demo

import (
	"net"
	"net/netip"

	"muster/internal/invite"
	"muster/internal/sim"
)

// An entrance is the listener through which one player comes. The host sees the player's address, as it would see one
// from the internet, though all players are on this machine. So it knows their countries, and the page has its map.
type entrance struct {
	net.Listener
	from netip.Addr
}

// open opens a player's entrance.
func open(place int) (entrance, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	return entrance{listener, addressOf(place)}, err
}

// Accept waits for the player.
func (e entrance) Accept() (net.Conn, error) {
	conn, err := e.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return visitor{conn, e.from}, nil
}

// visitor is a connection that comes from elsewhere, as far as the host sees.
type visitor struct {
	net.Conn
	from netip.Addr
}

// RemoteAddr returns the player's address.
func (v visitor) RemoteAddr() net.Addr {
	port := uint16(v.Conn.RemoteAddr().(*net.TCPAddr).Port)
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(v.from, port))
}

// playersPrefix holds the players' addresses. It is for documentation (RFC 5737), so nobody has them.
var playersPrefix = netip.MustParsePrefix("203.0.113.0/24")

func addressOf(place int) netip.Addr {
	at := playersPrefix.Addr().As4()
	at[3] = byte(place + 1)
	return netip.AddrFrom4(at)
}

// locate returns where an address is, as a host's tables would.
func locate(places []sim.Place) func(netip.Addr) (country string, asn uint32) {
	return func(addr netip.Addr) (country string, asn uint32) {
		for i, place := range places {
			if addressOf(i) == addr {
				return place.Country, 0
			}
		}
		return "", 0
	}
}

// through returns the way to the room through an entrance.
func through(to invite.Link, e entrance) invite.Link {
	to.Host = e.Addr().String()
	return to
}
