package host

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"muster/host/access"
	"muster/host/room"
	"muster/host/store"
	"muster/host/wire"
)

// claim is what somebody at an address says and shows to get at a room.
type claim struct {
	code string
	// shown are a link key, a token, a secret, or what claims to be one.
	shown []string
	from  netip.Addr
	// on is on whose behalf another host asks, nil if none does.
	on *behalf
}

// named is the room of a code, or why somebody is not let in. What cannot be guessed
// is looked at first: whoever has it is not held up by what others guess.
func (h *Host) named(e claim) (*actor, *wire.Refusal) {
	code := access.CanonicalCode(e.code)
	a := h.actor(code)
	isKnown := a != nil && (h.config.Public == nil || a.takesCode.Load())
	place := h.store.Find(code).State
	was := place == store.Over || a != nil && a.over.Load()
	if a != nil && a.opensTo(e.shown) {
		return a, nil
	}
	unreadable := h.rooms.whyUnreadable(code)
	hasLeft := a == nil && (place == store.Here || place == store.Elsewhere || place == store.Orphaned) // just now, or it would have been passed on
	isKnown = isKnown || unreadable != nil || hasLeft
	isHeard := e.on != nil && !e.on.Unheard
	if e.on == nil { // or the other host has counted it, or will
		isHeard = h.guard.Judge(e.from, isKnown || was, time.Now())
	}
	switch {
	case !isHeard:
		return nil, h.limited()
	case was:
		return nil, room.Closed(code)
	case unreadable != nil && a == nil:
		return nil, unreadable
	case hasLeft:
		return nil, moved()
	case !isKnown:
		return nil, h.unknown(code)
	}
	return a, nil
}

// unknown is what those hear by whose code nobody gets in.
func (h *Host) unknown(code string) *wire.Refusal {
	if h.config.Public != nil {
		return &wire.Refusal{Reason: wire.ReasonCode, Message: fmt.Sprintf("no room takes people in by the code %q now", code), Hint: "is it right? once a group is complete, locked or on its server, only the room's whole link leads in: ask for that"}
	}
	return &wire.Refusal{Reason: wire.ReasonCode, Message: fmt.Sprintf("no room has the code %q", code), Hint: "ask the organiser for the code; letter case does not matter"}
}

// limited is what those hear at whose address too many wrong codes were tried.
func (h *Host) limited() *wire.Refusal {
	if h.config.Public != nil {
		return &wire.Refusal{Reason: wire.ReasonLimited, Message: "too many wrong codes were tried here, or from your network", Hint: "take the room's whole link or its QR code: they are let in at once, whatever others try"}
	}
	return &wire.Refusal{Reason: wire.ReasonLimited, Message: "too many wrong codes were tried", Hint: "try again in some seconds, or take the room's whole link or its QR code: they are let in at once"}
}

// wordFor is what somebody hears whom a room did not let in. Who has nothing but the code
// may have been let through a moment before it fell asleep, see [room.Room.TakesCode], and
// is not to learn from the refusal that the code is right.
func (h *Host) wordFor(a *actor, code string, shown []string, refusal *wire.Refusal) *wire.Refusal {
	isTold := refusal.Reason == wire.ReasonFull || refusal.Reason == wire.ReasonLocked
	if h.config.Public == nil || !isTold || a.opensTo(shown) {
		return refusal
	}
	return h.unknown(code)
}

// opensTo reports whether anything that is shown opens the room without its code.
func (a *actor) opensTo(shown []string) bool {
	view, _ := a.views.get()
	return slices.ContainsFunc(shown, func(credential string) bool {
		_, opens := view.Badges[room.DigestOf(credential)]
		return opens
	})
}

// called is the room that a peer's hello calls for. Without a code that is the only
// one of the host that takes players without.
func (h *Host) called(hello wire.Hello, from netip.Addr, on *behalf) (*actor, *wire.Refusal) {
	if access.CanonicalCode(hello.Code) != "" {
		return h.named(claim{hello.Code, []string{hello.Key, hello.Token}, from, on})
	}
	open := h.rooms.onlyOpen()
	if open == nil {
		return nil, &wire.Refusal{Reason: wire.ReasonCode, Message: "the room's code is missing", Hint: "ask the organiser for the code, and say --code CODE"}
	}
	return open, nil
}

// asker is the address that a request comes from. Only proxies of our own are
// believed whom they speak for: anybody can write a header.
func (h *Host) asker(r *http.Request) netip.Addr {
	if on := behalfOf(r); on != nil {
		return on.Addr
	}
	return behind(r.RemoteAddr, r.Header.Values("X-Forwarded-For"), h.config.Proxies)
}

// forwardedFor is the address that a proxy or a tunnel's end on this machine says
// that a request comes from: to count strangers it may be believed, as who could
// write it counts as one already.
func (h *Host) forwardedFor(r *http.Request) netip.Addr {
	proxies := append(slices.Clip(h.config.Proxies), netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"))
	return behind(r.RemoteAddr, r.Header.Values("X-Forwarded-For"), proxies)
}

// behind follows X-Forwarded-For from its end, where our proxy wrote, to the
// first address that is none of our proxies.
func behind(socket string, forwarded []string, proxies []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(socket)
	if err != nil {
		return netip.Addr{} // a test's pipe
	}
	at, rest := peer.Addr().Unmap(), strings.Join(forwarded, ",")
	for rest != "" && access.IsIn(at, proxies) {
		comma := strings.LastIndexByte(rest, ',')
		next, err := netip.ParseAddr(strings.TrimSpace(rest[comma+1:]))
		if err != nil {
			break
		}
		at, rest = next.Unmap(), rest[:max(0, comma)]
	}
	return at
}

// remote is who connects.
type remote struct {
	addr netip.Addr
	// forwards: it says that it speaks for others, and is no proxy of ours.
	forwards bool
}

func (h *Host) remote(r *http.Request) remote {
	c := remote{addr: h.asker(r)}
	if on := behalfOf(r); on != nil {
		c.forwards = on.Forwards
	}
	if socket, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		c.forwards = c.addr == socket.Addr().Unmap() && r.Header.Get("X-Forwarded-For") != ""
	}
	return c
}

// guestFrom is the address of a page's owner; the zero value if it stands for many, as
// that of a tunnel's end on this machine does.
func (h *Host) guestFrom(r *http.Request) netip.Addr {
	c := h.remote(r)
	if c.forwards || c.addr.IsLoopback() {
		return netip.Addr{}
	}
	return access.Subscriber(c.addr)
}

// origin is where a player's probes come from.
func (h *Host) origin(c remote, probes wire.Probes) room.Origin {
	if c.forwards {
		return room.Origin{}
	}
	o := room.OriginOf(c.addr, probes, h.config.Home != nil && h.config.Home(c.addr)).LocatedBy(h.config.Locate)
	if at, err := netip.ParseAddrPort(h.config.Address); err == nil && c.addr.IsLoopback() && probes == wire.ProbesAtHost {
		o.Here = at.Addr()
	}
	return o
}

// entrance is where friends get in.
type entrance struct {
	url         url.URL
	fingerprint string
}

// entrance is where friends can get in as somebody asks: at the host's public URL,
// or on the address that the page was opened at, or on the host's own if that was
// this machine's.
func (h *Host) entrance(r *http.Request) entrance {
	if on := behalfOf(r); on != nil {
		return on.entrance()
	}
	e := entrance{url: url.URL{Scheme: "http", Host: h.askedAt(r), Path: "/"}}
	if r.TLS != nil {
		e.fingerprint = h.config.Fingerprint
	}
	socket, err := netip.ParseAddrPort(r.RemoteAddr)
	viaProxy := err == nil && access.IsIn(socket.Addr(), h.config.Proxies)
	if r.TLS != nil || viaProxy && r.Header.Get("X-Forwarded-Proto") == "https" {
		e.url.Scheme = "https"
	}
	switch public := h.config.PublicURL; {
	case public != nil:
		e.url.Scheme, e.url.Host = public.Scheme, public.Host
	case h.config.Address != "" && isLoopback(e.url.Host):
		e.url.Host = h.config.Address
	}
	return e
}

// link is a room's.
func (e entrance) link(keys room.Keys) string {
	keys.Secret = ""
	return e.personal(keys)
}

// page is another page of the host.
func (e entrance) page(path string) string {
	e.url.Path = "/" + path
	return e.url.String()
}

// personal is the link of one person, whose secret it has.
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
