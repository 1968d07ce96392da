package host

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/host/wire"
)

// Guest is a person who has the page open under a nickname. A guest and a
// player of the same name are one person: friends open the page on the phone
// and play on the computer.
type Guest struct {
	Name  string `json:"name"`
	Token string `json:"token"`
	// Organiser: the guest may decide for the room.
	Organiser bool `json:"organiser,omitempty"`
	// Pages is how many pages are open.
	Pages int       `json:"-"`
	Seen  time.Time `json:"seen"`

	// What the guest says about the round's choice.
	Ready  bool           `json:"ready,omitempty"`
	Vetoed bool           `json:"vetoed,omitempty"`
	Vote   netip.AddrPort `json:"vote,omitzero"`
	// ByHand: the guest has joined the game server without Muster.
	ByHand bool `json:"by_hand,omitempty"`
}

const (
	// maxGuests bounds who has a nickname without a peer.
	maxGuests = 2 * maxMembers
	// guestGone is how long a nickname is kept for somebody without an open page.
	guestGone = 30 * time.Minute
)

// Enter gives someone with the page a nickname, and says why not if it cannot
// be. Who shows the organiser's secret is the organiser from then on.
func (r *Room) Enter(name, secret, token string, now time.Time) (*Guest, *wire.Refusal) {
	name = playerName(name)
	switch {
	case name == "":
		return nil, &wire.Refusal{Reason: wire.ReasonName, Message: "a nickname is missing"}
	case r.guest(name) != nil:
		return nil, &wire.Refusal{Reason: wire.ReasonNameTaken, Message: fmt.Sprintf("%s has the page open already", name), Hint: "choose another nickname"}
	case r.Locked && !r.isSecret(secret):
		return nil, r.lockedOut()
	case len(r.Guests) >= maxGuests:
		return nil, &wire.Refusal{Reason: wire.ReasonFull, Message: "the room is full"}
	}
	g := &Guest{Name: name, Token: token, Seen: now}
	r.Guests = append(r.Guests, g)
	if r.isSecret(secret) {
		r.appoint(name)
	}
	r.note(now, "%s has the page open", name)
	return g, nil
}

func (r *Room) lockedOut() *wire.Refusal {
	return &wire.Refusal{Reason: wire.ReasonLocked, Message: "the organiser has locked the room", Hint: "ask the organiser to unlock it"}
}

func (r *Room) isSecret(s string) bool { return sameToken(r.Secret, s) }

func (r *Room) guest(name string) *Guest {
	i := slices.IndexFunc(r.Guests, func(g *Guest) bool { return strings.EqualFold(g.Name, name) })
	if i < 0 {
		return nil
	}
	return r.Guests[i]
}

// guestWith is whose token it is, or nil.
func (r *Room) guestWith(token string) *Guest {
	for _, g := range r.Guests {
		if sameToken(g.Token, token) {
			return g
		}
	}
	return nil
}

// appoint makes one person the organiser, and nobody else.
func (r *Room) appoint(name string) {
	for _, g := range r.Guests {
		g.Organiser = strings.EqualFold(g.Name, name)
	}
	for _, m := range r.Members {
		m.Organiser = strings.EqualFold(m.Name, name)
	}
}

// HandOn makes someone else the organiser. The secret of before opens nothing
// any more.
func (r *Room) HandOn(name, secret string, now time.Time) error {
	g := r.guest(name)
	if g == nil {
		return fmt.Errorf("%s has no page open to steer the room with", playerName(name))
	}
	r.Secret = secret
	r.appoint(g.Name)
	r.note(now, "%s is the organiser now", g.Name)
	return nil
}

// Remove sends a person away. A locked room is closed to them for good.
func (r *Room) Remove(name string, now time.Time) ([]effect, error) {
	m, g := r.member(name), r.guest(name)
	if m == nil && g == nil {
		return nil, fmt.Errorf("%s is not here", playerName(name))
	}
	if g != nil && g.Organiser {
		return nil, fmt.Errorf("%s is the organiser: hand that on first", g.Name)
	}
	r.note(now, "the organiser has removed %s", playerName(name))
	r.Guests = slices.DeleteFunc(r.Guests, func(other *Guest) bool { return other == g })
	if m == nil {
		return nil, nil
	}
	r.Members = slices.DeleteFunc(r.Members, func(other *Member) bool { return other == m })
	effects := []effect{dismiss{m.Name, wire.Refusal{Reason: wire.ReasonRemoved, Message: "the organiser has removed you from the room"}}}
	return append(effects, r.withoutWaiting(m.Name, now)...), nil
}

// withoutWaiting goes on without someone whom the others waited for.
func (r *Room) withoutWaiting(name string, now time.Time) []effect {
	if r.Stage != wire.Chosen || r.Agreement != nil {
		return nil
	}
	r.Final.Waiting = slices.DeleteFunc(r.Final.Waiting, func(other string) bool { return other == name })
	return r.settle(now)
}

// Lock closes the room to new people, or opens it again. A name does not open it:
// whoever was removed could come back under a friend's, who has the page but no
// player in the room, or the other way round.
func (r *Room) Lock(locked bool, now time.Time) {
	if r.Locked == locked {
		return
	}
	r.Locked = locked
	if locked {
		r.note(now, "the room is locked")
	} else {
		r.note(now, "the room is open again")
	}
}

// pageOpened and pageClosed keep count of a guest's open pages.
func (r *Room) pageOpened(token string, now time.Time) {
	if g := r.guestWith(token); g != nil {
		g.Pages++
		g.Seen = now
	}
}

func (r *Room) pageClosed(token string, now time.Time) {
	if g := r.guestWith(token); g != nil {
		g.Pages = max(0, g.Pages-1)
		g.Seen = now
	}
}

// tickGuests forgets who closed the page long ago.
func (r *Room) tickGuests(now time.Time) {
	r.Guests = slices.DeleteFunc(r.Guests, func(g *Guest) bool {
		return g.Pages == 0 && !g.Organiser && now.Sub(g.Seen) > guestGone
	})
}
