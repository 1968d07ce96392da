package host

import (
	"encoding/json"
	"net/http"
	"net/netip"

	"muster/host/public"
	"muster/host/room"
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

// parseSupply reads the organiser's own list. from is the organiser's address.
func (p *pageAPI) parseSupply(body []byte, from netip.Addr) (room.Action, error) {
	if !p.isPublic {
		return nil, nil
	}
	var list struct {
		Game    string   `json:"game"`
		Servers []string `json:"servers"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	servers, err := p.limits.Load().Own(list.Game, list.Servers, from)
	if err != nil {
		return nil, err
	}
	return room.Supply{Game: list.Game, Servers: servers}, nil
}
