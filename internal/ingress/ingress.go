// Package ingress is how players get at a host: in the clear or by TLS; straight,
// through a proxy or a tunnel, or by a port that the router opens.
package ingress

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"muster/discovery"
	"muster/host/access"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/internal/netinfo"
)

// Ingress is how players get at one host.
type Ingress struct {
	// Public is what friends reach the host by through a proxy or a tunnel; nil
	// without one.
	Public *url.URL
	// pair is the certificate; nil without TLS. It is the host's own or, isNamed,
	// holds for host names.
	pair    *tls.Certificate
	isNamed bool
	// certificate is what takes its place for a connection; nil without one.
	certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// renew looks for a newer certificate at once; nil where none is in files.
	renew func()
	// protocols are those that TLS speaks for it besides HTTP.
	protocols []string
	// router is where the router lets friends in; nil if that is not known.
	router atomic.Pointer[netip.Addr]
	// mapped is the port that it opened; nil without one.
	mapped atomic.Pointer[netip.AddrPort]
}

// Encrypt has the host show the certificate in one file, with its key in another.
func (in *Ingress) Encrypt(cert, key string) error {
	pair, err := tls.LoadX509KeyPair(cert, key)
	var unread *fs.PathError
	switch {
	case errors.As(err, &unread):
		return fmt.Errorf("cannot read %s: %w", unread.Path, unread.Err)
	case err != nil:
		return fmt.Errorf("no certificate in %s with its key in %s: %s", cert, key, strings.TrimPrefix(err.Error(), "tls: "))
	}
	in.pair, in.isNamed = &pair, true
	return nil
}

// EncryptByOwn has the host show its own certificate, which a file keeps.
func (in *Ingress) EncryptByOwn(file string) error {
	pair, err := access.OwnCertificate(file, time.Now())
	if err != nil {
		return hint.With(err, fmt.Sprintf(
			"if %s is damaged, delete it: a new one is made, and links with the old fingerprint hold no more", file))
	}
	in.pair = &pair
	return nil
}

// TLS is how the host encrypts; nil without a certificate.
func (in *Ingress) TLS() *tls.Config {
	config := &tls.Config{
		GetCertificate: in.certificate,
		MinVersion:     tls.VersionTLS12,
		NextProtos:     append([]string{"http/1.1"}, in.protocols...),
	}
	switch {
	case in.certificate != nil:
		return config
	case in.pair == nil:
		return nil
	}
	config.Certificates = []tls.Certificate{*in.pair}
	return config
}

// Names are those that the certificate holds for.
func (in *Ingress) Names() []string {
	if in.pair == nil {
		return nil
	}
	return in.pair.Leaf.DNSNames
}

// Fingerprint is that of the host's own certificate, or empty: those of others
// are for the system to judge.
func (in *Ingress) Fingerprint() string {
	if in.pair == nil || in.isNamed {
		return ""
	}
	return access.Fingerprint(in.pair.Leaf.Raw)
}

// Outside is the link for friends, wherever they are, to a room at a listener.
func (in *Ingress) Outside(at netip.AddrPort, room access.Key) invite.Link {
	l := in.direct(at, room)
	if in.Public != nil {
		l.Host, l.TLS = in.Public.Host, in.Public.Scheme == "https"
	}
	return l
}

// direct is the link for friends who need no proxy or tunnel. A certificate by
// file holds for a name, so that the name stands in the link.
func (in *Ingress) direct(at netip.AddrPort, room access.Key) invite.Link {
	at = netinfo.Reachable(at)
	l := invite.Link{Host: at.String(), Code: room.Code, Key: room.Link, TLS: in.pair != nil, Pin: in.Fingerprint()}
	if !in.isNamed {
		return l
	}
	for _, name := range in.pair.Leaf.DNSNames {
		if !strings.HasPrefix(name, "*.") {
			l.Host = net.JoinHostPort(name, fmt.Sprint(at.Port()))
			break
		}
	}
	return l
}

// Mapped is the link for friends on the internet by the port that the router opened, empty
// while there is none.
func (in *Ingress) Mapped(at netip.AddrPort, room access.Key) string {
	mapped := in.mapped.Load()
	if mapped == nil {
		return ""
	}
	return in.direct(at, room).At(mapped.String()).String()
}

// Inside is the link for this machine, by whose addresses no certificate holds.
func (in *Ingress) Inside(at netip.AddrPort, room access.Key) invite.Link {
	l := invite.Link{Host: netinfo.Loopback(at).String(), Code: room.Code, Key: room.Link}
	if in.pair != nil {
		l.TLS, l.Pin = true, access.Fingerprint(in.pair.Leaf.Raw)
	}
	return l
}

// Addresses are all by which players may get at a listener, as it is now.
func (in *Ingress) Addresses(at netip.AddrPort) []netip.AddrPort {
	if at.Addr().IsLoopback() {
		return nil
	}
	addrs := []netip.AddrPort{netinfo.Reachable(at)}
	if mapped := in.mapped.Load(); mapped != nil {
		addrs = append(addrs, *mapped)
	}
	if own := netinfo.Source6(); at.Addr().IsUnspecified() && discovery.ReachOf(own) == discovery.InternetReach {
		addrs = append(addrs, netip.AddrPortFrom(own, at.Port()))
	}
	return addrs
}

// PublicAddress is this network's, as far as it is known: by the router, by the
// public URL, or because it is this machine's own.
func (in *Ingress) PublicAddress() netip.Addr {
	if outside := in.router.Load(); outside != nil {
		return *outside
	}
	if in.Public != nil {
		if addr, err := netip.ParseAddr(in.Public.Hostname()); err == nil {
			return addr.Unmap()
		}
	}
	if own := netinfo.Source4(); discovery.ReachOf(own) == discovery.InternetReach {
		return own
	}
	return netip.Addr{}
}
