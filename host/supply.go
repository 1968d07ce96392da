package host

import (
	"net/http"

	"muster/host/public"
	"muster/host/room"
	"muster/host/wire"
)

// longest returns the length limit of a request to a room, in bytes. Lists of servers are long, and
// only the organiser may send them.
func (p *pageAPI) longest(r *http.Request, a *actor) int64 {
	view, _ := a.views.get()
	if view.Badges[room.DigestOf(bearer(r))].Organiser {
		return longestOrder(p.limits.Load(), r)
	}
	return maxOrder
}

// longestOrder returns the length limit of any caller's request, in bytes.
func longestOrder(limits *public.Limits, r *http.Request) int64 {
	if limits != nil && r.PathValue("action") == "servers" {
		return limits.LongestOpening()
	}
	return maxOrder
}

// parseSupply reads the organiser's own list.
func (p *pageAPI) parseSupply(in actionRequest) (room.Action, error) {
	if !p.isPublic {
		return nil, nil
	}
	var list wire.Supply
	if err := wire.Read(in.body, &list); err != nil {
		return nil, err
	}
	servers, err := p.limits.Load().Own(list.Game, list.Servers, in.from)
	if err != nil {
		return nil, err
	}
	return room.Supply{Game: list.Game, Servers: servers}, nil
}
