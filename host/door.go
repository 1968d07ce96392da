package host

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/host/access"
	"muster/host/room"
	"muster/host/store"
	"muster/host/wire"
)

// door lets people into rooms, or says why not.
type door struct {
	rooms *registry
	store store.Store
	guard access.Guard
	// isPublic: codes fall asleep, and refusals tell nobody which codes are right.
	isPublic bool
}

// claim is what somebody at an address says and shows to get at a room.
type claim struct {
	code string
	// shown are a link key, a token, a secret, or what claims to be one.
	shown []string
	from  netip.Addr
	// on tells on whose behalf another host asks, nil if none does.
	on *behalf
}

// named returns the room of a code, or why somebody is not let in. It looks first at what
// cannot be guessed: whoever has that is not held up by what others guess.
func (d *door) named(e claim) (*actor, *wire.Refusal) {
	code := access.CanonicalCode(e.code)
	a := d.rooms.find(code)
	isKnown := a != nil && (!d.isPublic || a.takesCode.Load())
	place := d.store.Find(code).State
	was := place == store.Over || a != nil && a.over.Load()
	if a != nil && a.opensTo(e.shown) {
		return a, nil
	}
	unreadable := d.rooms.whyUnreadable(code)
	// The room has left just now, or the request would have been passed on.
	hasLeft := a == nil && (place == store.Here || place == store.Elsewhere || place == store.Orphaned)
	isKnown = isKnown || unreadable != nil || hasLeft
	isHeard := e.on != nil && !e.on.Unheard
	if e.on == nil { // or the other host has counted it, or will
		isHeard = d.guard.Judge(e.from, isKnown || was, time.Now())
	}
	switch {
	case !isHeard:
		return nil, d.limited()
	case was:
		return nil, room.Closed(code)
	case unreadable != nil && a == nil:
		return nil, unreadable
	case hasLeft:
		return nil, moved()
	case !isKnown:
		return nil, d.unknown(code)
	}
	return a, nil
}

// unknown returns the message for a code that lets nobody in.
func (d *door) unknown(code string) *wire.Refusal {
	if d.isPublic {
		return &wire.Refusal{
			Reason:  wire.ReasonCode,
			Message: fmt.Sprintf("no room takes people in by the code %q now", code),
			Hint:    "is it right? once a group is complete, locked or on its server, only the room's whole link leads in: ask for that",
		}
	}
	return &wire.Refusal{
		Reason:  wire.ReasonCode,
		Message: fmt.Sprintf("no room has the code %q", code),
		Hint:    "ask the organiser for the code; letter case does not matter",
	}
}

// limited returns the message for an address that has tried too many wrong codes.
func (d *door) limited() *wire.Refusal {
	if d.isPublic {
		return &wire.Refusal{
			Reason:  wire.ReasonLimited,
			Message: "too many wrong codes were tried here, or from your network",
			Hint:    "take the room's whole link or its QR code: they are let in at once, whatever others try",
		}
	}
	return &wire.Refusal{
		Reason:  wire.ReasonLimited,
		Message: "too many wrong codes were tried",
		Hint:    "try again in some seconds, or take the room's whole link or its QR code: they are let in at once",
	}
}

// wordFor returns the message for a caller that a room did not let in. A caller with nothing
// but the code may have passed a moment before the code fell asleep, see
// [room.Room.TakesCode], and must not learn from the refusal that the code is right.
func (d *door) wordFor(a *actor, code string, shown []string, refusal *wire.Refusal) *wire.Refusal {
	isTold := refusal.Reason == wire.ReasonFull || refusal.Reason == wire.ReasonLocked
	if !d.isPublic || !isTold || a.opensTo(shown) {
		return refusal
	}
	return d.unknown(code)
}

// opensTo reports whether anything that is shown opens the room without its code.
func (a *actor) opensTo(shown []string) bool {
	view, _ := a.views.get()
	return slices.ContainsFunc(shown, func(credential string) bool {
		_, opens := view.Badges[room.DigestOf(credential)]
		return opens
	})
}

// called returns the room that a peer's hello calls for. Without a code that is the host's
// only room that takes players without one.
func (d *door) called(hello wire.Hello, from netip.Addr, on *behalf) (*actor, *wire.Refusal) {
	if access.CanonicalCode(hello.Code) != "" {
		return d.named(claim{hello.Code, []string{hello.Key, hello.Token}, from, on})
	}
	open := d.rooms.onlyOpen()
	if open == nil {
		return nil, &wire.Refusal{
			Reason:  wire.ReasonCode,
			Message: "the room's code is missing",
			Hint:    "ask the organiser for the code, and say --code CODE",
		}
	}
	return open, nil
}
