package host

import (
	"errors"
	"net/http"
	"net/netip"
	"time"

	"muster/discovery/sentence"
	"muster/host/access"
	"muster/host/room"
	"muster/host/wire"
)

// These bound what pages may ask of rooms. They allow for a household of eager clickers behind one
// address, and for a slider that is dragged in one room. Requests over the limit get a 429, and
// pages wait.
const (
	asksAtOnce, askEvery       = 200, 50 * time.Millisecond
	whatIfsAtOnce, whatIfEvery = 10, 300 * time.Millisecond
	// suppliesAtOnce and supplyEvery limit how often a room's own list is kept apart, because the
	// store forgets lists only after days. Further lists are saved with the room.
	suppliesAtOnce, supplyEvery = 4, 10 * time.Minute
)

// maxOrder bounds the body of a request, in bytes.
const maxOrder = 4 << 10

// actionRequest is the content of an action's request.
type actionRequest struct {
	body []byte
	// from is the address of the caller's page. origin is the place of that address.
	from   netip.Addr
	origin room.Origin
}

// actions are the requests of pages by their names in the URL. Each reads its JSON body. PROTOCOL.md and
// openapi.yaml say what they take.
var actions = map[string]func(*pageAPI, actionRequest) (room.Action, error){
	"enter": func(_ *pageAPI, in actionRequest) (room.Action, error) {
		return parse(in.body, func(a *room.Enter) { a.Token, a.From, a.Origin = access.NewSecret(), in.from, in.origin })
	},
	"rename":    read[room.Rename],
	"count":     read[room.Count],
	"somewhere": read[room.Somewhere],
	"leave":     bare(room.Quit{}),
	"has": func(p *pageAPI, in actionRequest) (room.Action, error) {
		return parse(in.body, func(a *room.Has) {
			if p.editions != nil {
				a.Editions = p.editions(a.Version)
			}
		})
	},
	"whatif":   func(_ *pageAPI, in actionRequest) (room.Action, error) { return room.WhatIf(in.body), nil },
	"vote":     read[room.Vote],
	"veto":     read[room.Veto],
	"move":     read[room.Move],
	"moveon":   read[room.MoveOn],
	"bring":    read[room.Bring],
	"hide":     read[room.Hide],
	"strike":   read[room.Strike],
	"ready":    read[room.Ready],
	"react":    read[room.React],
	"side":     read[room.TakeSide],
	"captain":  read[room.NameCaptain],
	"even":     read[room.EvenPings],
	"ask_look": bare(room.AskLook{}),
	"arrived":  bare(room.Arrived{}),
	"reopen":   bare(room.Reopen{}),
	"go":       read[room.Go],
	"allow":    read[room.Allow],
	"without":  read[room.Without],
	"more":     read[room.More],
	"await":    read[room.AwaitSeats],
	"unwait":   read[room.Unwait],
	"started": func(p *pageAPI, in actionRequest) (room.Action, error) {
		return parse(in.body, func(a *room.Started) {
			a.Known, a.Public = p.name != nil && p.name(a.Game) != "", p.isPublic
		})
	},
	"end":    bare(room.End{}),
	"wake":   bare(room.Wake{}),
	"come":   read[room.Come],
	"like":   read[room.Like],
	"forget": read[room.Forget],
	"apply":  bare(room.Apply{}),
	"settings": func(p *pageAPI, in actionRequest) (room.Action, error) {
		return parse(in.body, func(a *room.Change) {
			a.Posts, a.Places = p.posts, p.places
			for _, g := range p.games {
				a.Games = append(a.Games, g.ID)
			}
			if a.MaxPlaces = wire.MaxVenues; p.isPublic {
				a.MaxPlaces, a.Public = p.limits.Load().Places, true
			}
		})
	},
	"handon": func(_ *pageAPI, in actionRequest) (room.Action, error) {
		return parse(in.body, func(a *room.HandOn) { a.Secret = access.NewSecret() })
	},
	"renew":   func(*pageAPI, actionRequest) (room.Action, error) { return room.Renew{Secret: access.NewSecret()}, nil },
	"remove":  read[room.Remove],
	"trust":   read[room.Trust],
	"lock":    read[room.Lock],
	"servers": (*pageAPI).parseSupply,
}

// parseAction reads a request by its name. It returns nil if there is no such action.
func (p *pageAPI) parseAction(name string, in actionRequest) (room.Action, error) {
	if parse := actions[name]; parse != nil {
		return parse(p, in)
	}
	return nil, nil
}

// read reads an action that the body describes whole.
func read[A room.Action](_ *pageAPI, in actionRequest) (room.Action, error) {
	return parse[A](in.body, nil)
}

// bare returns an action whose request says nothing but its name.
func bare(a room.Action) func(*pageAPI, actionRequest) (room.Action, error) {
	return func(*pageAPI, actionRequest) (room.Action, error) { return a, nil }
}

// parse reads an action from JSON, and adds what only the host knows.
func parse[A room.Action](body []byte, add func(*A)) (room.Action, error) {
	var a A
	if len(body) > 0 {
		if err := wire.Read(body, &a); err != nil {
			return nil, err
		}
	}
	if add != nil {
		add(&a)
	}
	return a, nil
}

// serveAction handles POST /api/rooms/CODE/ACTION with a JSON body. The bearer token says who acts.
func (p *pageAPI) serveAction(w http.ResponseWriter, r *http.Request) {
	a := p.addressed(w, r, r.PathValue("code"))
	if a == nil {
		return
	}
	body, err := p.readOrder(w, r, a)
	var action room.Action
	if err == nil {
		action, err = p.parseAction(r.PathValue("action"), actionRequest{body, p.guestFrom(r), p.origin(p.remote(r), "")})
	}
	switch {
	case err != nil:
		var why *wire.Refusal
		if !errors.As(err, &why) {
			why = &wire.Refusal{Reason: wire.ReasonMalformed, Says: sentence.Plain(wire.InJSON(err).Error())}
		}
		p.refuse(w, http.StatusBadRequest, *why)
		return
	case action == nil:
		http.NotFound(w, r)
		return
	}
	credential := bearer(r)
	view, _ := a.views.get()
	by := view.Badges[room.DigestOf(credential)]
	if _, costs := action.(room.WhatIf); costs && by != (room.Badge{}) && p.isTooMuch(w, a.whatIfs, netip.Addr{}) {
		return
	}
	if supply, is := action.(room.Supply); is && by.Organiser && a.supplies.Wait(netip.Addr{}, a.clock.Now()) == 0 {
		supply.Kept = p.lists.KeepOwn(r.Context(), supply.Servers)
		action = supply
	}
	changed := func(error) {}
	if change, is := action.(room.Change); is && by.Organiser {
		told, why := p.changeStay(r, a, change, view.Snapshot.Room.Settings)
		if why != nil {
			p.refuse(w, http.StatusConflict, *why)
			return
		}
		changed = told
	}
	document, err := a.query(room.Order{Credential: credential, Action: action}, nil)
	changed(err)
	if renewal, is := action.(room.Renew); is && err == nil && p.renewed != nil {
		p.renewed(a.code, renewal.Secret)
	}
	var refusal *wire.Refusal
	switch {
	case errors.As(err, &refusal) && refusal.Reason == wire.ReasonSecret:
		p.refuse(w, http.StatusForbidden, *refusal)
	case errors.As(err, &refusal) && (refusal.Reason == wire.ReasonBusy || refusal.Reason == wire.ReasonMoved):
		w.Header().Set("Retry-After", retryAfter)
		p.refuse(w, http.StatusServiceUnavailable, *refusal)
	case errors.As(err, &refusal):
		p.refuse(w, http.StatusConflict, *refusal)
	case err != nil:
		p.refuse(w, http.StatusConflict, wire.Refusal{Reason: wire.ReasonAction, Says: sentence.Plain(err.Error())})
	case document == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		answer(w, http.StatusOK, document)
	}
}

// readOrder reads the body, which may be missing.
func (p *pageAPI) readOrder(w http.ResponseWriter, r *http.Request, a *actor) ([]byte, error) {
	body, err := readBody(w, r, p.longest(r, a))
	if err == nil && len(body) > 0 && !isJSON(r) {
		return nil, wire.Refuse(wire.ReasonMalformed, "refused.order-json")
	}
	return body, err
}
