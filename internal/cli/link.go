package cli

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"muster/host"
)

// defaultPort is where a host listens unless told otherwise.
const defaultPort = "7777"

// invitation is what a player needs to find a room.
type invitation struct {
	host string // HOST:PORT
	code string
	tls  bool
}

// link is one URL for the browser and for muster join. The code stands in the
// fragment: browsers do not send it to servers, and proxies do not log it.
func (i invitation) link() string {
	u := url.URL{Scheme: i.scheme("http"), Host: i.host, Path: "/", Fragment: i.code}
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

// parseInvitation reads a link, or HOST[:PORT] to which the code is given apart.
func parseInvitation(where, code string) (invitation, error) {
	i := invitation{host: where}
	if strings.Contains(where, "://") {
		u, err := url.Parse(where)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return i, hinted(usagef("%q is no link to a room", where), "a link looks like http://192.0.2.1:7777/#TABOMI")
		}
		i.host, i.tls = u.Host, u.Scheme == "https"
		if code == "" {
			code = u.Fragment
		}
	}
	i.host = withPort(i.host, i.tls)
	i.code = host.CanonicalCode(code)
	if i.code == "" {
		return i, hinted(usagef("the room's code is missing"), "take the whole link, or add --code CODE")
	}
	return i, nil
}

func withPort(hostport string, tls bool) string {
	if _, _, err := net.SplitHostPort(hostport); err == nil {
		return hostport
	}
	port := defaultPort
	if tls {
		port = "443"
	}
	return net.JoinHostPort(strings.Trim(hostport, "[]"), port)
}

// reachable is the address at which others reach a listener on this machine:
// the one it was bound to, or else the first of a real network.
func reachable(listening netip.AddrPort) string {
	if !listening.Addr().IsUnspecified() {
		return listening.String()
	}
	return netip.AddrPortFrom(localAddress(), listening.Port()).String()
}

func localAddress() netip.Addr {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		if err == nil && prefix.Addr().Is4() && prefix.Addr().IsGlobalUnicast() {
			return prefix.Addr()
		}
	}
	return netip.AddrFrom4([4]byte{127, 0, 0, 1})
}
