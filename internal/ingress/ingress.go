// Package ingress is how players reach a host: unencrypted or over TLS; directly, through a proxy or a tunnel, or by a
// port that the router opens.
package ingress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"muster/discovery"
	"muster/discovery/lists/lan"
	"muster/host"
	"muster/host/access"
	"muster/internal/announcing"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/internal/netinfo"
)

// Ingress is how players reach one host.
type Ingress struct {
	// Public is the URL for friends who reach the host through a proxy or a tunnel; nil without one.
	Public *url.URL
	// MoreNames are names of the host that neither its certificate nor its machine has.
	MoreNames []string
	// Proxies are trusted. Programs in the networks MetricsFrom may read the metrics.
	Proxies, MetricsFrom []netip.Prefix
	// pair is the certificate; nil without TLS. It is the host's own, or valid for host names if isNamed.
	pair    *tls.Certificate
	isNamed bool
	// certificate returns another certificate for a connection; nil uses pair.
	certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// renew checks for a newer certificate at once; nil if no certificate comes from files.
	renew func()
	// protocols are those that TLS negotiates besides HTTP.
	protocols []string
	// router is the router's address towards the internet; nil if unknown.
	router atomic.Pointer[netip.Addr]
	// mapped is the port that the router opened; nil without one.
	mapped atomic.Pointer[netip.AddrPort]
}

// Encrypt makes the host use the certificate in one file, with its key in another.
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

// EncryptByOwn makes the host use its own certificate, which a file keeps.
func (in *Ingress) EncryptByOwn(file string) error {
	pair, err := access.OwnCertificate(file, time.Now())
	if err != nil {
		return hint.With(err, fmt.Sprintf(
			"if %s is damaged, delete it: a new one is made, and links with the old fingerprint hold no more", file))
	}
	in.pair = &pair
	return nil
}

// TLS returns how the host encrypts; nil without a certificate.
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

// Names returns the names for which the certificate is valid.
func (in *Ingress) Names() []string {
	if in.pair == nil {
		return in.MoreNames
	}
	return slices.Concat(in.pair.Leaf.DNSNames, in.MoreNames)
}

// Fingerprint returns that of the host's own certificate, or an empty text. The system judges other certificates.
func (in *Ingress) Fingerprint() string {
	if in.pair == nil || in.isNamed {
		return ""
	}
	return access.Fingerprint(in.pair.Leaf.Raw)
}

// Outside returns the link to a room for friends anywhere, given a listener's address.
func (in *Ingress) Outside(at netip.AddrPort, room access.Key) invite.Link {
	l := in.direct(at, room)
	if in.Public != nil {
		l.Host, l.TLS = in.Public.Host, in.Public.Scheme == "https"
	}
	return l
}

// direct returns the link for friends who need no proxy or tunnel. A certificate from a file is valid for a name, so
// the link contains that name.
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

// Mapped returns the link for friends on the internet, with the port that the router opened. It is
// empty while no port is open.
func (in *Ingress) Mapped(at netip.AddrPort, room access.Key) string {
	mapped := in.mapped.Load()
	if mapped == nil {
		return ""
	}
	return in.direct(at, room).At(mapped.String()).String()
}

// Inside returns the link for this machine. It is unencrypted, because no certificate is valid for
// this machine's own addresses.
func (in *Ingress) Inside(at netip.AddrPort, room access.Key) invite.Link {
	l := invite.Link{Host: netinfo.Loopback(at).String(), Code: room.Code, Key: room.Link}
	if in.pair != nil {
		l.TLS, l.Pin = true, access.Fingerprint(in.pair.Leaf.Raw)
	}
	return l
}

// Addresses returns all addresses by which players may now reach a listener.
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

// PublicAddress returns this network's public address, if known: from the router, from the public URL, or because it is
// this machine's own.
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

// Announce announces a room on the local network until stop is called. stop withdraws the announcement and waits for
// that. Everything in besides is constant.
func (in *Ingress) Announce(ctx context.Context, rooms *host.Host, code string, besides lan.Room, log *slog.Logger,
	warn func(...error)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	news := make(chan lan.Room)
	besides.Fingerprint = in.Inside(netip.AddrPort{}, access.Key{}).Pin
	var work sync.WaitGroup
	work.Go(func() {
		if err := lan.Announce(ctx, news, log); err != nil {
			warn(err)
		}
		cancel() // nobody reads the snapshots any more
	})
	work.Go(func() {
		var told lan.Room
		for room := range rooms.Watch(ctx, code) {
			next := announcing.Describe(&room, besides)
			if next == told {
				continue
			}
			select {
			case news <- next:
				told = next
			case <-ctx.Done():
			}
		}
		cancel() // the room is over
	})
	return func() { cancel(); work.Wait() }
}
