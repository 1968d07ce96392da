// Package invite is the link that takes friends into a room. It writes links, and reads what people paste.
package invite

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"muster/discovery"
	"muster/host/access"
	"muster/internal/hint"
)

// DefaultPort is where a host listens by default.
const DefaultPort = "7777"

// Link is what a player needs to find a room.
type Link struct {
	// Host is HOST:PORT.
	Host string
	// Code is the room's. Open rooms need none.
	Code string
	// Key is the room's link key. It is empty for people who only heard the code.
	Key string
	TLS bool
	// Pin is the fingerprint of the host's own certificate, or empty.
	Pin string
	// Secret is the end of a personal link, which identifies its owner; empty in others.
	Secret string
	// Side is the side of a match that the link is for, a or b; empty in others.
	Side string
}

// String returns one URL for the browser and for muster join. The key is in the fragment, which browsers do not send to
// servers and proxies do not log.
func (l Link) String() string { return l.Personal("") }

// Personal returns one person's own link to the page: the organiser's with the secret, or a player's with the
// credential of the player's pages.
func (l Link) Personal(secret string) string {
	key := access.Key{Code: l.Code, Link: l.Key, Fingerprint: l.Pin, Secret: secret}
	u := url.URL{Scheme: l.scheme("http"), Host: l.short(), Path: "/", Fragment: key.String()}
	if l.Side != "" {
		u.RawQuery = "side=" + l.Side
	}
	return u.String()
}

// Page returns a page of the host.
func (l Link) Page(path string) string {
	u := url.URL{Scheme: l.scheme("http"), Host: l.Host, Path: path}
	return u.String()
}

// Endpoint returns the address for peers.
func (l Link) Endpoint() string {
	u := url.URL{Scheme: l.scheme("ws"), Host: l.Host, Path: "/peer"}
	return u.String()
}

// short returns the host, without the browsers' default port.
func (l Link) short() string {
	usual := ":80"
	if l.TLS {
		usual = ":443"
	}
	return strings.TrimSuffix(l.Host, usual)
}

func (l Link) scheme(plain string) string {
	if l.TLS {
		return plain + "s"
	}
	return plain
}

// At returns the link with another address. It keeps a name, because a certificate is valid for it.
func (l Link) At(address string) Link {
	if _, err := netip.ParseAddrPort(l.Host); err == nil {
		l.Host = address
	}
	return l
}

// Parse reads a link, or HOST[:PORT] with a separate code if the room needs one.
func Parse(where, code string) (Link, error) {
	l := Link{Host: where}
	port := DefaultPort
	if strings.Contains(where, "://") {
		u, err := url.Parse(where)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return l, hint.With(fmt.Errorf("%q is no link to a room", where), "a link looks like http://192.0.2.1:7777/#TABOMI")
		}
		l.Host, l.TLS, port = u.Host, u.Scheme == "https", "80" // the browsers' default
		if l.TLS {
			port = "443"
		}
		if code == "" {
			code = u.Fragment
		}
		if side := u.Query().Get("side"); side == "a" || side == "b" {
			l.Side = side
		}
	}
	if l.Host = withPort(l.Host, port); l.Host == "" {
		return l, hint.With(fmt.Errorf("%q is no address of a host", where), "an address looks like 192.0.2.1:7777 or [2001:db8::1]:7777")
	}
	key, err := access.ParseKey(code)
	l.Code, l.Key, l.Pin, l.Secret = key.Code, key.Link, key.Fingerprint, key.Secret
	switch isPinned := err != nil || l.Pin != ""; {
	case l.Code == "" && isPinned:
		return l, hint.With(errors.New("the room's code is missing"), "take the whole link, or add --code CODE")
	case err != nil:
		return l, hint.With(errors.New("the link is cut off: it ends within the host's fingerprint"), "take the whole link")
	case isPinned:
		l.TLS = true
	}
	return l, nil
}

// ParseBase reads the beginning of links: scheme and host.
func ParseBase(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || withPort(u.Host, DefaultPort) == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q is no URL such as https://night.example", text)
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return nil, fmt.Errorf("%q says more than where: give scheme and host, such as %s://%s; the page needs "+
			"a host of its own", text, u.Scheme, u.Host)
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

// withPort adds a port if there is none. It returns an empty text unless the input is HOST[:PORT].
func withPort(hostport, standard string) string {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		host, port = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]"), standard
	}
	name := host // without an address's zone
	_, badPort := strconv.ParseUint(port, 10, 16)
	addr, noAddress := netip.ParseAddr(host)
	if noAddress == nil {
		name = addr.Zone()
	}
	if badPort != nil || noAddress != nil && name == "" || strings.ContainsFunc(name, isForeignToNames) {
		return ""
	}
	return net.JoinHostPort(host, port)
}

// isForeignToNames reports whether a character never occurs in a machine's name. Links come from chats: control
// characters would write on the player's terminal, and a blank or a slash would hide where the link goes.
func isForeignToNames(r rune) bool {
	return !unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark) && !strings.ContainsRune("-._", r)
}

// Scheme is the scheme of links that open Muster instead of a browser:
//
//	muster://join/http/192.0.2.1:7777/TABOMI_ABCDEFGHIJKLMNOP
//
// Any site can show such a link, with any text in it. It can express nothing but a room.
const Scheme = "muster"

const (
	// maxURL is longer than any such link, in bytes.
	maxURL = 512
	// maxShown is how much of an invalid link is shown.
	maxShown = 80
)

// joinURL matches the only valid form. It has no blanks, quotes, percent signs or anything else that another program on
// the way might interpret.
var joinURL = regexp.MustCompile(`^(?i:` + Scheme + `)://join/(https?)/([0-9A-Za-z._:\[\]-]{1,260})/([A-Za-z][0-9A-Za-z_~.-]*)/?$`)

// URL returns the link in the form that opens Muster.
func (l Link) URL() string {
	l.Side = ""
	u, err := url.Parse(l.Personal(l.Secret))
	if err != nil {
		return ""
	}
	return Scheme + "://join/" + u.Scheme + "/" + u.Host + "/" + u.Fragment
}

// ParseURL reads a link that opens Muster, from any source.
func ParseURL(text string) (Link, error) {
	part := joinURL.FindStringSubmatch(text)
	if part == nil || len(text) > maxURL {
		shown := discovery.CleanText(text[:min(len(text), maxShown)])
		if len(text) > maxShown {
			shown += "…"
		}
		return Link{}, hint.With(fmt.Errorf("%q is no link to a room, and nothing was done", shown),
			"such links look like muster://join/http/192.0.2.1:7777/TABOMI; ask whoever sent it for the room's own link")
	}
	return Parse(part[1]+"://"+part[2]+"/#"+part[3], "")
}
