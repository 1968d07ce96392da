package host

import (
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"muster/host/wire"
)

// How many wrong codes are put up with. A guesser needs six days on average to
// find a room from one address, and two from any number of them.
var (
	// guessesByAddress are those of one address: people mistype.
	guessesByAddress = limit{burst: 10, every: 6 * time.Second}
	// guessesByAll are those that the host's rooms take together, whoever makes
	// them: a wrong code names no room, so it is a try at each.
	guessesByAll = limit{burst: 100, every: 2 * time.Second}
)

// maxAddresses is how many addresses are told apart before those that have
// nothing on their account are forgotten.
const maxAddresses = 4096

// limit is what a token bucket holds, and how fast a token comes back.
type limit struct {
	burst float64
	every time.Duration
}

// bucket is how many tokens were taken of a full one, at a time. The zero value
// is full.
type bucket struct {
	taken float64
	at    time.Time
}

// refilled is the bucket after the time that has passed.
func (l limit) refilled(b bucket, now time.Time) bucket {
	back := float64(max(0, now.Sub(b.at))) / float64(l.every)
	return bucket{taken: max(0, b.taken-back), at: now}
}

// allows tells whether a token is left.
func (l limit) allows(b bucket, now time.Time) bool {
	return l.refilled(b, now).taken+1 <= l.burst
}

// take takes a token.
func (l limit) take(b bucket, now time.Time) bucket {
	b = l.refilled(b, now)
	b.taken++
	return b
}

// guard counts wrong codes. Its zero value is ready.
type guard struct {
	mu        sync.Mutex // guards following
	all       bucket
	addresses map[netip.Addr]record
}

// record is what is known of an address.
type record struct {
	bucket
	// welcome: a right code came from there. It need not suffer for what others
	// guess.
	welcome bool
}

// judge tells whether someone may say a code, right or wrong, and notes it. Who
// has tried too often is not told whether the code is right.
func (g *guard) judge(from netip.Addr, right bool, now time.Time) (allowed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := site(from)
	r := g.addresses[key]
	if !guessesByAddress.allows(r.bucket, now) || !r.welcome && !guessesByAll.allows(g.all, now) {
		return false
	}
	if right {
		r.welcome = true
	} else {
		r.bucket = guessesByAddress.take(r.bucket, now)
		g.all = guessesByAll.take(g.all, now)
	}
	g.note(key, r, now)
	return true
}

func (g *guard) note(key netip.Addr, r record, now time.Time) {
	if g.addresses == nil {
		g.addresses = map[netip.Addr]record{}
	}
	if len(g.addresses) >= maxAddresses {
		maps.DeleteFunc(g.addresses, func(_ netip.Addr, old record) bool {
			return guessesByAddress.refilled(old.bucket, now).taken == 0
		})
	}
	if _, known := g.addresses[key]; known || len(g.addresses) < maxAddresses {
		g.addresses[key] = r
	}
}

// site is whom an address stands for: whoever has an IPv6 address has 2⁶⁴ of
// them.
func site(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		return netip.PrefixFrom(a, 64).Masked().Addr()
	}
	return a
}

// named is the room of a code that somebody at an address says, or why they are
// not let in.
func (h *Host) named(code string, from netip.Addr) (*actor, *wire.Refusal) {
	code = CanonicalCode(code)
	a := h.actor(code)
	was := h.wasRoom(code)
	switch {
	case !h.guard.judge(from, a != nil || was, time.Now()):
		return nil, &wire.Refusal{Reason: wire.ReasonLimited, Message: "too many wrong codes", Hint: "wait a minute, then try again with the code that the organiser has"}
	case was:
		return nil, closed(code)
	case a == nil:
		return nil, &wire.Refusal{Reason: wire.ReasonCode, Message: fmt.Sprintf("no room has the code %q", code), Hint: "ask the organiser for the code; letter case does not matter"}
	}
	return a, nil
}

// called is the room that a peer's hello calls for: a code may be missing only
// if there is no question which room is meant, and it takes everybody.
func (h *Host) called(code string, from netip.Addr) (*actor, *wire.Refusal) {
	if CanonicalCode(code) == "" {
		return h.onlyOpen()
	}
	return h.named(code, from)
}

// onlyOpen is the room that takes players without a code, if it is the only one
// of the host.
func (h *Host) onlyOpen() (*actor, *wire.Refusal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var open *actor
	count := 0
	for _, a := range h.rooms {
		if a.open {
			open = a
			count++
		}
	}
	if count != 1 {
		return nil, &wire.Refusal{Reason: wire.ReasonCode, Message: "the room's code is missing", Hint: "ask the organiser for the code, and say --code CODE"}
	}
	return open, nil
}

// asker is the address that a request comes from. Only proxies of our own are
// believed whom they speak for: anybody can write a header.
func (h *Host) asker(r *http.Request) netip.Addr {
	return behind(r.RemoteAddr, r.Header.Values("X-Forwarded-For"), h.config.Proxies)
}

// behind follows X-Forwarded-For from its end, where our proxy wrote, to the
// first address that is none of our proxies.
func behind(socket string, forwarded []string, proxies []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(socket)
	if err != nil {
		return netip.Addr{} // a test's pipe
	}
	at, rest := peer.Addr().Unmap(), strings.Join(forwarded, ",")
	for rest != "" && isProxy(at, proxies) {
		comma := strings.LastIndexByte(rest, ',')
		next, err := netip.ParseAddr(strings.TrimSpace(rest[comma+1:]))
		if err != nil {
			break
		}
		at, rest = next.Unmap(), rest[:max(0, comma)]
	}
	return at
}

func isProxy(a netip.Addr, proxies []netip.Prefix) bool {
	for _, p := range proxies {
		if p.Contains(a.WithZone("")) {
			return true
		}
	}
	return false
}
