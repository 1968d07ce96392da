// Package address reads servers' addresses as people write them: in chats and forums,
// for a game's console, in configuration files, in spreadsheets, and as links.
//
//	line ─▶ scan: words, gaps, links ─▶ which words may be addresses ─▶ the surest of them
//	                                     ports beside them ─▶ addresses, QStat's type, name
//
// A port that stands in a line belongs to the address, and no other number becomes one.
// A line that can be read in two ways is refused, with what to write in its place.
package address

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"muster/discovery"
	"muster/discovery/hostport"
)

// Address is where a server is, as somebody wrote it.
type Address struct {
	// Host is an IP address, or a host name in ASCII and small letters.
	Host string
	// Port is 0 if none was written.
	Port uint16
}

// String returns HOST[:PORT] in the form that is always read as this address.
func (a Address) String() string {
	switch isSix := strings.Contains(a.Host, ":"); {
	case a.Port == 0 && isSix:
		return "[" + a.Host + "]"
	case a.Port == 0:
		return a.Host
	case isSix:
		return fmt.Sprintf("[%s]:%d", a.Host, a.Port)
	}
	return fmt.Sprintf("%s:%d", a.Host, a.Port)
}

// Join joins a host and a port that stand apart. The port may be empty.
func Join(host, port string) string {
	switch {
	case port == "":
		return host
	case strings.Count(host, ":") > 1 && !strings.HasPrefix(host, "["):
		return "[" + host + "]:" + port
	}
	return host + ":" + port
}

// Error says why a line was not read.
type Error struct {
	// Text is the part that was not understood, cleaned for display.
	Text string
	// Want describes a valid text, or says what to write.
	Want string
}

func (e *Error) Error() string { return fmt.Sprintf("address: %q is not %s", e.Text, e.Want) }

// Unwrap returns [discovery.ErrMalformed].
func (e *Error) Unwrap() error { return discovery.ErrMalformed }

func wrong(text, want string, args ...any) *Error {
	return &Error{discovery.CleanText(text), fmt.Sprintf(want, args...)}
}

const (
	wantLine    = "[TYPE ]ADDRESS[:PORT], ADDRESS[:PORT] NAME, or a link to a server"
	wantAddress = "an ADDRESS[:PORT] such as 192.0.2.1:27960, [2001:db8::1]:27960 or games.example.org"
)

// rank says how surely a word is an address.
type rank int

const (
	noAddress rank = iota
	broken         // it looks like an address, and is none
	bareName       // a word that could be a host in the local network
	bareFull       // such a word with a port
	dotted         // a name with a dot, which may be a web site's
	sure           // an IP address, or a name with a dot and a port
)

// rankOf reads a single word.
func rankOf(word string) (Address, rank) {
	if inner, ok := strings.CutPrefix(word, "["); ok {
		inner, port, ok := strings.Cut(inner, "]")
		addr, err := netip.ParseAddr(inner)
		if !ok || err != nil || port != "" && port[0] != ':' {
			return Address{}, broken
		}
		return ipAt(addr, strings.TrimPrefix(port, ":"), port != "")
	}
	if addr, err := netip.ParseAddr(word); err == nil {
		if _, isPort := gluedPort(word); isPort || word == "::" {
			return Address{}, broken
		}
		return ipAt(addr, "", false)
	}
	host, port, hasPort := cutLast(word, ":")
	if addr, err := netip.ParseAddr(host); hasPort && err == nil {
		if addr.Is6() && len(port) < len("10000") { // a group of the address has at most four digits
			return Address{}, broken
		}
		return ipAt(addr, port, true)
	}
	return nameAt(host, port, hasPort)
}

// ipAt returns the rank of an IP address, with the digits after it.
func ipAt(addr netip.Addr, digits string, hasPort bool) (Address, rank) {
	port, ok := portOf(digits)
	if addr.Zone() != "" || discovery.ReachOf(addr) == discovery.NoReach || hasPort && !ok {
		return Address{}, broken
	}
	return Address{addr.Unmap().String(), port}, sure
}

// nameAt returns the rank of a name, with the digits after it.
func nameAt(name, digits string, hasPort bool) (Address, rank) {
	if strings.Trim(name, "0123456789.") == "" { // 192.0.2.400; but 20:00 and 1.20 mean other things
		if strings.Count(name, ".") == 3 || hasPort && strings.Contains(name, ".") {
			return Address{}, broken
		}
		return Address{}, noAddress
	}
	host, ok := hostName(name)
	isDotted := strings.Contains(host, ".")
	port, isPort := portOf(digits)
	before, _, _ := strings.Cut(name, ":")
	switch {
	case !ok && strings.Count(before, ".") == 3 && strings.Trim(before, "0123456789.") == "": // 192.0.2.1:1:2
		return Address{}, broken
	case !ok, !hasPort && (isFile(host) || isReserved(host)), hasPort && !isPort && !isDotted:
		return Address{}, noAddress
	case hasPort && !isPort:
		return Address{}, broken
	case hasPort && isDotted:
		return Address{host, port}, sure
	case hasPort:
		return Address{host, port}, bareFull
	case isDotted && hasTopLevel(host):
		return Address{Host: host}, dotted
	}
	return Address{Host: host}, bareName
}

// gluedPort returns the port that may stand at the end of an IPv6 address without
// brackets, as in 2001:db8::1:7777.
func gluedPort(word string) (as Address, is bool) {
	host, digits, _ := cutLast(word, ":")
	addr, err := netip.ParseAddr(host)
	port, ok := portOf(digits)
	return Address{host, port}, err == nil && addr.Is6() && ok && port >= firstPort
}

// portOf reads a port. Spreadsheets write some as 27015.0.
func portOf(digits string) (uint16, bool) {
	digits = strings.TrimSuffix(digits, ".0")
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return 0, false
	}
	return uint16(n), n > 0
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// hostName returns a name as the domain name system knows it.
func hostName(name string) (string, bool) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if !isASCII(name) {
		var err error
		if name, err = idna.Lookup.ToASCII(name); err != nil {
			return "", false
		}
	}
	return name, hostport.IsHostName(name)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// hasTopLevel reports whether a name ends in letters, as all do on the internet.
func hasTopLevel(name string) bool {
	_, last, _ := cutLast(name, ".")
	return strings.HasPrefix(last, "xn--") || len(last) > 1 && strings.Trim(last, "abcdefghijklmnopqrstuvwxyz") == ""
}
