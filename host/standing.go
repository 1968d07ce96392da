package host

import (
	"cmp"
	"context"
	"net/http"

	"muster/host/access"
	"muster/host/openers"
	"muster/host/room"
	"muster/host/wire"
)

// changeStay is what keeps a change from having a room stay, nil if nothing does. Told is
// for what came of the change: the places of rooms that stay are counted by who opened them,
// and, of rooms that were opened elsewhere or before this host began, by who has them stay.
func (p *pageAPI) changeStay(r *http.Request, a *actor, change room.Change, now wire.Settings) (told func(error), why *wire.Refusal) {
	begins, ends := makesStay(change, now)
	if !p.isPublic || !begins && !ends {
		return func(error) {}, nil
	}
	about := openers.Opening{From: cmp.Or(a.opener, access.Subscriber(p.asker(r))), Code: a.code, Changes: true}
	giveUp := func() { p.counting.ask(context.WithoutCancel(r.Context()), about) }
	if ends {
		return func(err error) {
			if err == nil {
				giveUp()
			}
		}, nil
	}
	done, why := p.rooms.mayStay(p.limits.Load())
	if why != nil {
		return nil, why
	}
	stays := about
	stays.Stays = true
	if tooMany := p.counting.ask(r.Context(), stays); tooMany != nil {
		done()
		return nil, &tooMany.Refusal
	}
	return func(err error) {
		if done(); err != nil {
			giveUp()
		}
	}, nil
}

// makesStay reports whether a change has a room stay that does not yet, or no longer: by what
// the room makes of it, which takes no other key than "every", and no blanks for a date.
func makesStay(change room.Change, now wire.Settings) (begins, ends bool) {
	s, err := now.Patched(change.Settings, wire.OnPage)
	if err != nil { // the room refuses it, too
		return false, false
	}
	return s.Every != "" && now.Every == "", s.Every == "" && now.Every != ""
}
