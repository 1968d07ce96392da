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

// changeStay says why a change may not make a room a standing one, nil if it may. told takes the
// result of the change. The places of standing rooms are counted by opener. For rooms opened
// elsewhere, or before this host began, the caller who makes them stay counts instead.
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

// makesStay reports whether a change makes a room a standing one, or ends that. It judges the
// change as the room does, which accepts only the key "every", and no blank date.
func makesStay(change room.Change, now wire.Settings) (begins, ends bool) {
	s, err := now.Patched(change.Settings, wire.OnPage)
	if err != nil { // the room refuses it, too
		return false, false
	}
	return s.Every != "" && now.Every == "", s.Every == "" && now.Every != ""
}
