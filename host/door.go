package host

import (
	"net"
	"net/netip"
	"net/url"
	"slices"

	"muster/host/access"
	"muster/host/pressure"
	"muster/host/room"
	"muster/host/store"
	"muster/host/wire"
	"muster/internal/clock"
)

// door admits people to rooms, or says why not.
type door struct {
	rooms *registry
	store store.Store
	guard access.Guard
	// isPublic says that idle codes stop working, and that refusals do not reveal which codes are
	// right.
	isPublic bool
	// pressed counts the networks whose wrong codes are too many.
	pressed *pressure.Table
	clock   clock.Clock
}

// claim is what a caller says and shows to reach a room.
type claim struct {
	code string
	// shown are the caller's link keys, tokens and secrets, whether they are valid or not.
	shown []string
	from  netip.Addr
	// on says for which caller another host asks, nil if none does.
	on *relayedCaller
}

// named returns the room of a code, or a refusal. It first checks what cannot be guessed, so that
// guessers never delay a caller who has a link key, token or secret.
func (d *door) named(e claim) (*actor, *wire.Refusal) {
	code := access.CanonicalCode(e.code)
	a := d.rooms.find(code)
	isKnown := a != nil && (!d.isPublic || a.takesCode.Load())
	place := d.store.Find(code)
	was := place.State == store.Over || a != nil && a.over.Load()
	if a != nil && a.opensTo(e.shown) {
		return a, nil
	}
	unreadable := d.rooms.whyUnreadable(code)
	// The room has just left; otherwise the request would have been passed on.
	hasLeft := a == nil && (place.State == store.Here || place.State == store.Elsewhere || place.State == store.Orphaned)
	isKnown = isKnown || unreadable != nil || hasLeft
	isHeard := e.on != nil && !e.on.Unheard
	if e.on == nil { // otherwise the other host counts it
		isHeard = d.guard.Judge(e.from, isKnown || was, d.clock.Now())
	}
	switch {
	case !isHeard && e.on == nil:
		return nil, d.limitedFrom(e.from)
	case !isHeard:
		return nil, d.limited()
	case was:
		return nil, room.Closed(code)
	case unreadable != nil && a == nil:
		return nil, unreadable
	case hasLeft:
		return nil, moved()
	case a == nil && place.Unsure:
		return nil, unsure()
	case !isKnown:
		return nil, d.unknown(code)
	}
	return a, nil
}

// unsure returns the message for a caller whose room this host may not have heard of.
func unsure() *wire.Refusal {
	return wire.Refuse(wire.ReasonBusy, "refused.unreached").Advising("refused.come-back-hint")
}

// unknown returns the message for a code that admits nobody.
func (d *door) unknown(code string) *wire.Refusal {
	if d.isPublic {
		return wire.Refuse(wire.ReasonCode, "refused.code-now", "code", code).Advising("refused.code-now-hint")
	}
	return wire.Refuse(wire.ReasonCode, "refused.code", "code", code).Advising("refused.code-hint")
}

// limitedFrom is limited, and notes the network for the operator.
func (d *door) limitedFrom(from netip.Addr) *wire.Refusal {
	d.pressed.Note(pressure.Codes, from, d.clock.Now())
	return d.limited()
}

// limited returns the message for an address that has tried too many wrong codes.
func (d *door) limited() *wire.Refusal {
	if d.isPublic {
		return wire.Refuse(wire.ReasonLimited, "refused.guesses-network").Advising("refused.guesses-network-hint")
	}
	return wire.Refuse(wire.ReasonLimited, "refused.guesses").Advising("refused.guesses-hint")
}

// wordFor returns the message for a caller that a room did not admit. The code may have been valid
// a moment before it stopped working, see [room.Room.TakesCode]. A caller with nothing but the code
// must not learn from the refusal that the code is right.
func (d *door) wordFor(a *actor, code string, shown []string, refusal *wire.Refusal) *wire.Refusal {
	isTold := refusal.Reason == wire.ReasonFull || refusal.Reason == wire.ReasonLocked
	if !d.isPublic || !isTold || a.opensTo(shown) {
		return refusal
	}
	return d.unknown(code)
}

// opensTo reports whether anything that the caller shows opens the room without its code.
func (a *actor) opensTo(shown []string) bool {
	view, _ := a.views.get()
	return slices.ContainsFunc(shown, func(credential string) bool {
		_, opens := view.Badges[room.DigestOf(credential)]
		return opens
	})
}

// roomFor returns the room for a peer's hello. Without a code, that is the host's only room that
// takes players without one.
func (d *door) roomFor(hello wire.Hello, from netip.Addr, on *relayedCaller) (*actor, *wire.Refusal) {
	if access.CanonicalCode(hello.Code) != "" {
		return d.named(claim{hello.Code, []string{hello.Key, hello.Token}, from, on})
	}
	open := d.rooms.onlyOpen()
	if open == nil {
		return nil, wire.Refuse(wire.ReasonCode, "refused.code-missing").Advising("refused.code-missing-hint")
	}
	return open, nil
}

// entrance makes the links through which friends enter.
type entrance struct {
	url         url.URL
	fingerprint string
}

func (e entrance) link(keys room.Keys) string {
	keys.Secret = ""
	return e.personal(keys)
}

// page returns the URL of another page of the host.
func (e entrance) page(path string) string {
	e.url.Path = "/" + path
	return e.url.String()
}

// personal returns a person's own link, which contains their secret.
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
