package invite

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"

	"muster/internal/hint"
)

// A program that knows its room has the link in its name, so that a double click joins the room:
//
//	muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP.exe
//	            host      port code   key
//
// An s after the port means https. Then come the fingerprint of the host's own certificate, if it has one, and a t with
// the ticket of the page from which the program came, so that the page notices when the program is in. IPv6
// addresses have dashes for colons, as in Windows' own names. Every file system and browser keeps letters, digits,
// dots, dashes and underscores. Anything they add to a second download, such as " (1)", follows all this.
const (
	filePrefix  = "muster-join_"
	ipv6Literal = ".ipv6-literal.net"
	// maxFileName is the longest name, in bytes, that all common file systems keep with an ending and a "(1)".
	// Encrypted file systems take 143.
	maxFileName = 130
)

var (
	fileName = regexp.MustCompile(
		`^` + filePrefix + `([0-9A-Za-z._-]+)_([0-9]{1,5})([sS]?)_([A-Za-z]+)(?:_([A-Za-z2-7]{16}))?` +
			`(?:_([A-Za-z2-7]{26}))?(?:_[tT]([A-Za-z2-7]{16}))?(?:[^0-9A-Za-z_].*)?$`)
	// ticket matches the only personal part that a name carries. All that it does is to make a program and a page one
	// person.
	ticket = regexp.MustCompile(`^[A-Z2-7]{16}$`)
	// plainHost matches the hosts that such a name can contain.
	plainHost = regexp.MustCompile(`^[0-9A-Za-z._-]+$`)
)

// FileName returns the file name, without its ending, for a program that should know the room. It is empty if no name
// can carry the link: its address has meaning only on this machine, or it is too long.
func (l Link) FileName() string {
	l.Side = "" // the page that gives the program has put its person on the side
	host, port, err := net.SplitHostPort(l.Host)
	if addr, noAddress := netip.ParseAddr(host); noAddress == nil && addr.Is6() && !addr.Is4In6() {
		host = strings.ReplaceAll(host, ":", "-") + ipv6Literal
	}
	if err != nil || l.Code == "" || !plainHost.MatchString(host) {
		return ""
	}
	parts := []string{filePrefix + host, port, l.Code}
	if l.TLS {
		parts[1] += "s"
	}
	for _, part := range []string{l.Key, l.Pin} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	name := strings.Join(parts, "_")
	if ticket.MatchString(l.Secret) && len(name)+len("_t")+len(l.Secret) <= maxFileName {
		name += "_t" + l.Secret
	} else {
		l.Secret = ""
	}
	if again, err := FromFileName(name); err != nil || again != l || len(name) > maxFileName {
		return ""
	}
	return name
}

// ErrPlainName says that a file name contains no link to a room.
var ErrPlainName = errors.New("invite: the file's name carries no link")

// FromFileName returns the room in a program's file name. The error is [ErrPlainName] if the name has none, and another
// if the link is broken.
func FromFileName(name string) (Link, error) {
	if !strings.HasPrefix(name, filePrefix) {
		return Link{}, ErrPlainName
	}
	part := fileName.FindStringSubmatch(name)
	if part == nil {
		return Link{}, hint.With(fmt.Errorf("the name of this program, %q, has lost a part of the room's link", name),
			"download it again from the room's page, or say: muster join LINK")
	}
	host, port, key := part[1], part[2], part[4]
	if literal, is := strings.CutSuffix(host, ipv6Literal); is {
		host = strings.ReplaceAll(literal, "-", ":")
	}
	for i, mark := range []string{5: "_", 6: "~"} {
		if mark != "" && part[i] != "" {
			key += mark + part[i]
		}
	}
	scheme := "http"
	if part[3] != "" {
		scheme = "https"
	}
	if part[7] != "" {
		key += "." + strings.ToUpper(part[7])
	}
	return Parse(scheme+"://"+net.JoinHostPort(host, port)+"/#"+key, "")
}
