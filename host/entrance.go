package host

import (
	"net"
	"net/netip"
	"net/url"

	"muster/host/access"
	"muster/host/room"
)

// entrance makes the links through which friends enter.
type entrance struct {
	url         url.URL
	fingerprint string
}

func (e entrance) link(keys room.Keys) string {
	keys.Secret = ""
	return e.personal(keys)
}

// page returns the URL of another page of the host.
func (e entrance) page(path string) string {
	e.url.Path = "/" + path
	return e.url.String()
}

// personal returns a person's own link, which contains their secret.
func (e entrance) personal(keys room.Keys) string {
	e.url.Fragment = access.Key{Code: keys.Code, Link: keys.Link, Fingerprint: e.fingerprint, Secret: keys.Secret}.String()
	return e.url.String()
}

func isLoopback(hostport string) bool {
	name, _, err := net.SplitHostPort(hostport)
	if err != nil {
		name = hostport
	}
	addr, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && addr.IsLoopback()
}
