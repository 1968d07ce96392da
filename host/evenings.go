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
func (h *Host) changeStay(r *http.Request, a *actor, change room.Change, now wire.Settings) (told func(error), why *wire.Refusal) {
	begins, ends := makesStay(change, now)
	if h.config.Public == nil || !begins && !ends {
		return func(error) {}, nil
	}
	about := openers.Opening{From: cmp.Or(a.opener, access.Subscriber(h.asker(r))), Code: a.code, Changes: true}
	giveUp := func() { h.counting.ask(context.WithoutCancel(r.Context()), about) }
	if ends {
		return func(err error) {
			if err == nil {
				giveUp()
			}
		}, nil
	}
	done, why := h.rooms.mayStay(h.limits.Load())
	if why != nil {
		return nil, why
	}
	stays := about
	stays.Stays = true
	if tooMany := h.counting.ask(r.Context(), stays); tooMany != nil {
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

// serveEvenings is the history of a standing room, for its own people: GET
// /api/rooms/CODE/evenings, as JSON or, with ?format=csv, as a table. Whoever only knows the
// code, or the link, does not learn who plays when.
func (h *Host) serveEvenings(w http.ResponseWriter, r *http.Request) {
	a := h.addressed(w, r, r.PathValue("code"))
	if a == nil {
		return
	}
	view, _ := a.views.get()
	if by := view.Badges[room.DigestOf(bearer(r))]; !by.Belongs && !by.Organiser {
		h.refuse(w, http.StatusForbidden, wire.Refusal{Reason: wire.ReasonSecret, Message: "who has played here reads where and with whom", Hint: "open the page by your own link, which muster join shows"})
		return
	}
	evenings, here := ask(a, func() wire.Evenings { return a.room.Evenings() })
	if !here {
		h.refuse(w, http.StatusServiceUnavailable, *a.tooLate())
		return
	}
	if r.URL.Query().Get("format") != "csv" {
		answer(w, http.StatusOK, evenings)
		return
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="evenings.csv"`)
	w.Header().Set("Cache-Control", "no-store")
	evenings.CSV(w) // fails only if the client is gone
}
