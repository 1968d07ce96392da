package host

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"

	"muster/host/room"
)

// longest is how long an order to a room may be, in bytes: lists of servers are long, and
// are read from the organiser alone.
func (h *Host) longest(r *http.Request, a *actor) int64 {
	view, _ := a.views.get()
	if view.Badges[room.DigestOf(bearer(r))].Organiser {
		return h.longestOrder(r)
	}
	return maxOrder
}

// longestOrder is how long an order may be, in bytes, whoever gives it.
func (h *Host) longestOrder(r *http.Request) int64 {
	if p := h.limits.Load(); p != nil && r.PathValue("action") == "servers" {
		return p.LongestOpening()
	}
	return maxOrder
}

// readBody reads what somebody sends, which may be compressed. It is as long as that
// either way.
func readBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	body := io.Reader(http.MaxBytesReader(w, r.Body, most))
	switch encoding := r.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		packed, err := gzip.NewReader(body)
		if err != nil {
			return nil, err
		}
		body = packed
	default:
		return nil, fmt.Errorf("the encoding %q is not known here, gzip is", encoding)
	}
	text, err := io.ReadAll(io.LimitReader(body, most+1))
	if err == nil && int64(len(text)) > most {
		err = &http.MaxBytesError{Limit: most}
	}
	return text, err
}

// parseSupply reads the organiser's own list, from an address.
func (h *Host) parseSupply(body []byte, from netip.Addr) (room.Action, error) {
	if h.config.Public == nil {
		return nil, nil
	}
	var list struct {
		Game    string   `json:"game"`
		Servers []string `json:"servers"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	servers, err := h.limits.Load().Own(list.Game, list.Servers, from)
	if err != nil {
		return nil, err
	}
	return room.Supply{Game: list.Game, Servers: servers}, nil
}
