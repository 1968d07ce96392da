package cli

import (
	"cmp"
	"crypto/tls"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"muster/host/access"
	"muster/peer"
)

// defaultPort is where a host listens unless told otherwise.
const defaultPort = "7777"

// invitation is what a player needs to find a room.
type invitation struct {
	host string // HOST:PORT
	code string
	tls  bool
	pin  string // the fingerprint of the host's own certificate, or empty
}

// link is one URL for the browser and for muster join. The code stands in the
// fragment: browsers do not send it to servers, and proxies do not log it. The
// fingerprint of the host's own certificate comes after it.
func (i invitation) link() string {
	return i.steering("")
}

// steering is the organiser's own link to the page.
func (i invitation) steering(secret string) string {
	key := access.Key{Code: i.code, Fingerprint: i.pin, Secret: secret}
	u := url.URL{Scheme: i.scheme("http"), Host: i.host, Path: "/", Fragment: key.String()}
	return u.String()
}

// endpoint is where peers connect.
func (i invitation) endpoint() string {
	u := url.URL{Scheme: i.scheme("ws"), Host: i.host, Path: "/peer"}
	return u.String()
}

func (i invitation) scheme(plain string) string {
	if i.tls {
		return plain + "s"
	}
	return plain
}

// trust is whose certificate counts: the pinned one, or nil for what the system
// trusts.
func (i invitation) trust() *tls.Config {
	if i.pin == "" {
		return nil
	}
	return peer.Pinned(i.pin)
}

// parseInvitation reads a link, or HOST[:PORT] to which the code is given apart,
// if the room needs one.
func parseInvitation(where, code string) (invitation, error) {
	i := invitation{host: where}
	port := defaultPort
	if strings.Contains(where, "://") {
		u, err := url.Parse(where)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return i, hinted(usagef("%q is no link to a room", where), "a link looks like http://192.0.2.1:7777/#TABOMI")
		}
		i.host, i.tls, port = u.Host, u.Scheme == "https", "80" // where browsers go
		if i.tls {
			port = "443"
		}
		if code == "" {
			code = u.Fragment
		}
	}
	if i.host = withPort(i.host, port); i.host == "" {
		return i, hinted(usagef("%q is no address of a host", where), "an address looks like 192.0.2.1:7777 or [2001:db8::1]:7777")
	}
	key, err := access.ParseKey(code)
	i.code, i.pin = key.Code, key.Fingerprint
	switch pinned := err != nil || i.pin != ""; {
	case i.code == "" && pinned:
		return i, hinted(usagef("the room's code is missing"), "take the whole link, or add --code CODE")
	case err != nil:
		return i, hinted(usagef("the link is cut off: it ends within the host's fingerprint"), "take the whole link")
	case pinned:
		i.tls = true
	}
	return i, nil
}

// withPort adds a port if there is none; what is no HOST[:PORT] is empty.
func withPort(hostport, standard string) string {
	name, port, err := net.SplitHostPort(hostport)
	if err != nil {
		name, port = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]"), standard
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil || !isHost(name) {
		return ""
	}
	return net.JoinHostPort(name, port)
}

// isHost tells what may be an address or a name from what cannot.
func isHost(name string) bool {
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return name != "" && !strings.ContainsAny(name, ":/?#[]@ ")
}

// from is the invitation by another address. A name stays: a certificate is for it.
func (i invitation) from(address string) invitation {
	if _, err := netip.ParseAddrPort(i.host); err == nil {
		i.host = address
	}
	return i
}

// reachable is the address at which others reach a listener on this machine:
// the one it was bound to, or else the likeliest of this machine's. It is a
// loopback address if the machine is on no network.
func reachable(listening netip.AddrPort) netip.AddrPort {
	if !listening.Addr().IsUnspecified() {
		return listening
	}
	return netip.AddrPortFrom(likeliest(sourceTowards(somewhere4), sourceTowards(somewhere6), ownAddresses()), listening.Port())
}

// likeliest is the address by which others reach a machine with those towards the
// internet, zero if no way leads there, and its own: most others have IPv4.
func likeliest(route4, route6 netip.Addr, own []netip.Addr) netip.Addr {
	first := func(is4 bool) netip.Addr {
		for _, a := range own {
			if a.Is4() == is4 && a.IsGlobalUnicast() {
				return a
			}
		}
		return netip.Addr{}
	}
	return cmp.Or(route4, first(true), route6, first(false), localhost)
}

// ownAddresses are those of all this machine's cards.
func ownAddresses() (own []netip.Addr) {
	addrs, _ := net.InterfaceAddrs() // without there are none
	for _, a := range addrs {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, prefix.Addr())
		}
	}
	return own
}

var localhost = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// Documentation addresses (RFC 5737, RFC 3849) are routed like any other.
const (
	somewhere4 = "192.0.2.1:9"
	somewhere6 = "[2001:db8::1]:9"
)

// sourceTowards is the address that this machine would use towards another; zero
// if no way leads there: on a machine with bridges and tunnels the first address
// is often not the right one. Connecting a UDP socket sends nothing.
func sourceTowards(address string) netip.Addr {
	conn, err := net.Dial("udp", address)
	if err != nil {
		return netip.Addr{}
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
}
