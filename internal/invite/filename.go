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

// The name of a program that knows its room, so that a double click joins it:
//
//	muster-join_192.0.2.1_7777_TABOMI_ABCDEFGHIJKLMNOP.exe
//	            host      port code   key
//
// An s behind the port means https, and the fingerprint of the host's own certificate
// stands last if it has one. An IPv6 address is written as in Windows' own names, with
// dashes for colons. Letters, digits, dots, dashes and underscores are what every file
// system and browser leaves alone; what they add to a second download of a name, such as
// " (1)", stands after all this.
const (
	filePrefix  = "muster-join_"
	ipv6Literal = ".ipv6-literal.net"
	// maxFileName is the longest name, in bytes, that all common file systems keep with
	// an ending and a "(1)": encrypted ones take 143.
	maxFileName = 130
)

var (
	fileName = regexp.MustCompile(
		`^` + filePrefix + `([0-9A-Za-z._-]+)_([0-9]{1,5})([sS]?)_([A-Za-z]+)(?:_([A-Za-z2-7]{16}))?(?:_([A-Za-z2-7]{26}))?(?:[^0-9A-Za-z_].*)?$`)
	// plainHost matches the hosts that such a name can have.
	plainHost = regexp.MustCompile(`^[0-9A-Za-z._-]+$`)
)

// FileName is what to call a program that is to know the room, without the ending. It is
// empty if no name can carry the link: one to an address that only means something on
// this machine, or to a very long name.
func (l Link) FileName() string {
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
	if again, err := FromFileName(name); err != nil || again != l.anybodys() || len(name) > maxFileName {
		return ""
	}
	return name
}

// anybodys is the link without what makes it one person's.
func (l Link) anybodys() Link {
	l.Secret = ""
	return l
}

// ErrPlainName is the error of a file name that is of no program for a room.
var ErrPlainName = errors.New("invite: the file's name carries no link")

// FromFileName is the room that a program's file name leads to. The error is
// [ErrPlainName] if it leads to none, another if it was meant to.
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
	return Parse(scheme+"://"+net.JoinHostPort(host, port)+"/#"+key, "")
}
