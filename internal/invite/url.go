package invite

import (
	"fmt"
	"net/url"
	"regexp"

	"muster/discovery"
	"muster/internal/hint"
)

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
