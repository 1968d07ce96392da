// Package hostport says where a server is, as people and programs write it: by its IP address, or by
// the name that it is listed under.
//
//	192.0.2.1:27960     [2001:db8::1]:27960     play.example.org:25565
//
// A name stays a name all the way to the player's game. Proxies route by it, it may lead to another
// machine tomorrow, and to another address for each player. Several names may lead to one machine, and
// each is a server of its own.
//
// So that a server has one kind of key everywhere, a name is a [netip.AddrPort], too: an address for
// documentation that no machine has, with the name as its zone. Nothing can be sent there. The one who
// asks looks the name up first; see discovery/names.
package hostport

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"net/netip"
	"strconv"
	"strings"
)

// block holds the addresses of names (RFC 3849).
var block = netip.MustParsePrefix("2001:db8:6e61::/48")

// Of returns the key of a server that is listed under a host name. It returns the zero value if the
// text is not a host name, or the port is 0. Names that differ only in letter case have the same
// key. Different names are in different networks, because nothing is known of their distance.
func Of(host string, port uint16) (key netip.AddrPort) {
	if !IsHostName(host) || port == 0 {
		return key
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	sum := fnv.New64a()
	sum.Write([]byte(host)) // never fails
	b := block.Addr().As16()
	binary.LittleEndian.PutUint64(b[6:], sum.Sum64())
	return netip.AddrPortFrom(netip.AddrFrom16(b).WithZone(host), port)
}

// IsName reports whether an address is the key of a name.
func IsName(a netip.Addr) bool { return a.Zone() != "" && block.Contains(a.WithZone("")) }

// HasZone reports whether an address is one only on a network of this machine.
func HasZone(a netip.Addr) bool { return a.Zone() != "" && !IsName(a) }

// Host returns an address as people write it without its port: the name, or the IP address.
func Host(a netip.Addr) string {
	if IsName(a) {
		return a.Zone()
	}
	return a.String()
}

// Text returns an address as people write it.
func Text(at netip.AddrPort) string {
	if IsName(at.Addr()) {
		return at.Addr().Zone() + ":" + strconv.Itoa(int(at.Port()))
	}
	return at.String()
}

// Parse reads what [Text] writes.
func Parse(text string) (netip.AddrPort, error) {
	at, err := netip.ParseAddrPort(text)
	switch {
	case err == nil && at.Addr().Zone() == "":
		return at, nil
	case err == nil:
		return netip.AddrPort{}, fmt.Errorf("hostport: %q is on a network of its own", text)
	}
	host, digits, _ := strings.Cut(text, ":")
	port, bad := strconv.ParseUint(digits, 10, 16)
	if at = Of(host, uint16(port)); bad != nil || !at.IsValid() {
		return netip.AddrPort{}, fmt.Errorf("hostport: %q is no IP:PORT or NAME:PORT", text)
	}
	return at, nil
}

// maxName and maxLabel are the longest that a host name and each label of it may be, in bytes
// (RFC 1035, section 3.1).
const (
	maxName  = 253
	maxLabel = 63
)

// IsHostName reports whether the domain name system can know a name: labels of letters, digits, hyphens
// and, as some users have them, underscores (RFC 1123, 2.1).
func IsHostName(s string) bool {
	if len(s) == 0 || len(s) > maxName {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
		if label == "" || len(label) > maxLabel || label[0] == '-' ||
			strings.Trim(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			return false
		}
	}
	// An almost valid address, such as 1.2.3 or 1.2.3.400, is an error and no name.
	return strings.Trim(s, "0123456789.") != ""
}

// AddrPort is a [netip.AddrPort] with the text of [Text], for documents that people and other
// programs read.
type AddrPort struct{ netip.AddrPort }

// At returns an address for a document.
func At(at netip.AddrPort) AddrPort { return AddrPort{at} }

func (a AddrPort) String() string { return Text(a.AddrPort) }

// MarshalText writes the text; that of the zero value is empty.
func (a AddrPort) MarshalText() ([]byte, error) { return a.AppendText(nil) }

// AppendText is [AddrPort.MarshalText] behind b.
func (a AddrPort) AppendText(b []byte) ([]byte, error) {
	if IsName(a.Addr()) {
		return append(b, Text(a.AddrPort)...), nil
	}
	return a.AddrPort.AppendText(b)
}

// UnmarshalText reads the text; the empty one is the zero value.
func (a *AddrPort) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*a = AddrPort{}
		return nil
	}
	a.AddrPort, err = Parse(string(text))
	return err
}
