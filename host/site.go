package host

import (
	"cmp"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"muster/host/access"
	"muster/host/room"
	"muster/host/wire"
)

// site knows the host's own names and addresses, and decides what to believe of a request: its
// caller, and the name that the caller used.
type site struct {
	// These fields come from [Config].
	names                []string
	publicURL            *url.URL
	address, fingerprint string
	proxies              []netip.Prefix
	home                 func(netip.Addr) bool
	locate               func(netip.Addr) (country string, asn uint32)
	// takesLocal says that browsers may ask for any name that ends in .local. Somebody in the same network
	// says where such a name leads: friends at home, strangers in a data centre.
	takesLocal bool
	unread     *unreadable
}

func newSite(c Config) *site {
	return &site{
		c.Names, c.PublicURL, c.Address, c.Fingerprint, c.Proxies, c.Home, c.Locate, c.Public == nil,
		&unreadable{log: c.Logger, clock: c.Clock},
	}
}

// askedAt returns the HOST[:PORT] that the caller typed: the request's own, or the one that a known
// proxy names.
func (s *site) askedAt(r *http.Request) string {
	socket, err := netip.ParseAddrPort(r.RemoteAddr)
	if lines := r.Header.Values(hostHeader); len(lines) > 0 && err == nil && access.IsIn(socket.Addr(), s.proxies) {
		line := lines[len(lines)-1]
		return strings.TrimSpace(line[strings.LastIndexByte(line, ',')+1:])
	}
	return r.Host
}

// isNamed reports whether HOST[:PORT] certainly means this host: an address, a name that no stranger
// can point at it, or one that the organiser told us.
func (s *site) isNamed(hostport string) bool {
	name := hostname(hostport)
	if _, err := netip.ParseAddr(name); err == nil || name == "" {
		return true // browsers always send one
	}
	known := s.names
	if s.publicURL != nil {
		known = append(slices.Clip(known), s.publicURL.Hostname())
	}
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || s.takesLocal && strings.HasSuffix(name, ".local") ||
		slices.ContainsFunc(known, func(k string) bool { return covers(hostname(k), name) })
}

// hostname returns the name in HOST[:PORT], without a final dot.
func hostname(hostport string) string {
	name, _, err := net.SplitHostPort(hostport)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
	}
	return strings.TrimSuffix(strings.ToLower(name), ".")
}

// covers reports whether a pattern covers a name, as in certificates: *.example covers names with
// one more label.
func covers(pattern, name string) bool {
	if parent, is := strings.CutPrefix(pattern, "*."); is {
		_, rest, _ := strings.Cut(name, ".")
		return rest == parent
	}
	return pattern == name
}

// isSameOrigin reports whether a request comes from the host's own page, or from no page.
func (s *site) isSameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	public := s.publicURL
	return strings.EqualFold(u.Host, s.askedAt(r)) || public != nil && strings.EqualFold(u.Host, public.Host)
}

// isCrossSite reports whether the browser says that another site's page sent the request.
func isCrossSite(fetched string) bool { return fetched == "cross-site" || fetched == "same-site" }

// asker returns the address that a request comes from. Only known proxies are believed about the
// caller behind them, because anybody can write a header.
func (s *site) asker(r *http.Request) netip.Addr {
	if on := relayedCallerOf(r); on != nil {
		return on.Addr
	}
	from, unread := behind(r.RemoteAddr, r.Header.Values(forHeader), s.proxies)
	if unread != "" {
		s.unread.note(from, unread)
	}
	return from
}

// forwardedFor returns the caller's address as a proxy or a tunnel on this machine gives it. The
// address is good enough to count strangers, because anyone able to forge it counts as a stranger
// anyway.
func (s *site) forwardedFor(r *http.Request) netip.Addr {
	proxies := append(slices.Clip(s.proxies), netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"))
	from, _ := behind(r.RemoteAddr, r.Header.Values(forHeader), proxies)
	return from
}

// behind follows X-Forwarded-For from its end, where the known proxy wrote, to the first address
// that is not a known proxy's. If it cannot read what a known proxy wrote, it returns that too.
func behind(socket string, forwarded []string, proxies []netip.Prefix) (from netip.Addr, unread string) {
	peer, err := netip.ParseAddrPort(socket)
	if err != nil {
		return netip.Addr{}, "" // a test's pipe
	}
	at, rest := peer.Addr().Unmap(), strings.Join(forwarded, ",")
	for rest != "" && access.IsIn(at, proxies) {
		comma := strings.LastIndexByte(rest, ',')
		next, err := hop(rest[comma+1:])
		if err != nil {
			return at, cmp.Or(strings.TrimSpace(rest[comma+1:]), "nothing")
		}
		at, rest = next, rest[:max(0, comma)]
	}
	return at, ""
}

// remote is the source of a connection.
type remote struct {
	addr netip.Addr
	// forwards says that the connection carries other people's requests, but comes from no known
	// proxy.
	forwards bool
}

func (s *site) remote(r *http.Request) remote {
	c := remote{addr: s.asker(r)}
	if on := relayedCallerOf(r); on != nil {
		c.forwards = on.Forwards
	}
	if socket, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		c.forwards = c.addr == socket.Addr().Unmap() && r.Header.Get(forHeader) != ""
	}
	return c
}

// guestFrom returns the address of a page's owner. It is the zero value if many share the address,
// as for a tunnel's end on this machine.
func (s *site) guestFrom(r *http.Request) netip.Addr {
	c := s.remote(r)
	if c.forwards || c.addr.IsLoopback() {
		return netip.Addr{}
	}
	return access.Subscriber(c.addr)
}

// origin returns the source of a player's probes.
func (s *site) origin(c remote, probes wire.Probes) room.Origin {
	if c.forwards {
		return room.Origin{}
	}
	o := room.OriginOf(c.addr, probes, s.home != nil && s.home(c.addr)).LocatedBy(s.locate)
	if at, err := netip.ParseAddrPort(s.address); err == nil && c.addr.IsLoopback() && probes == wire.ProbesAtHost {
		o.Here = at.Addr()
	}
	return o
}

// entrance returns where friends can enter: at the host's public URL, or at the address at which
// the page was opened. If that is this machine's, it is the host's own address.
func (s *site) entrance(r *http.Request) entrance {
	if on := relayedCallerOf(r); on != nil {
		return on.entrance()
	}
	e := entrance{url: url.URL{Scheme: "http", Host: s.askedAt(r), Path: "/"}}
	if r.TLS != nil {
		e.fingerprint = s.fingerprint
	}
	socket, err := netip.ParseAddrPort(r.RemoteAddr)
	viaProxy := err == nil && access.IsIn(socket.Addr(), s.proxies)
	if r.TLS != nil || viaProxy && r.Header.Get(protoHeader) == "https" {
		e.url.Scheme = "https"
	}
	switch public := s.publicURL; {
	case public != nil:
		e.url.Scheme, e.url.Host = public.Scheme, public.Host
	case s.address != "" && isLoopback(e.url.Host):
		e.url.Host = s.address
	}
	return e
}

// fromVisitor gives a handler the visitor's address instead of a proxy's.
func (s *site) fromVisitor(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if from := s.forwardedFor(r); from.IsValid() {
			r = r.WithContext(r.Context()) // a copy
			r.RemoteAddr = netip.AddrPortFrom(from, 0).String()
		}
		next.ServeHTTP(w, r)
	})
}

// isFromHere reports whether a request comes from this machine itself, and not from a client that a
// proxy or a tunnel on it names.
func isFromHere(r *http.Request) bool {
	socket, err := netip.ParseAddrPort(r.RemoteAddr)
	for _, name := range [...]string{
		"Forwarded", "Via", forHeader, hostHeader, protoHeader, "X-Real-Ip", "Cf-Connecting-Ip",
	} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	from := socket.Addr().Unmap()
	if err != nil || from.IsLoopback() {
		return err == nil && isLoopback(strings.ToLower(r.Host))
	}
	own, is := r.Context().Value(http.LocalAddrContextKey).(net.Addr) // if the host does not listen on loopback
	if !is {
		return false
	}
	at, err := netip.ParseAddrPort(own.String())
	return err == nil && at.Addr().Unmap() == from && hostname(r.Host) == from.String()
}
