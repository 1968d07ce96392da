package lobby

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"muster/discovery/lists/lan"
	"muster/internal/invite"
	"muster/peer"
)

// LookTime is how long the local network is looked over: Wi-Fi keeps multicast back, and
// phones sleep.
const LookTime = 3 * time.Second

// maxSought is how many addresses are tried in turn: anybody may announce rooms.
const maxSought = 16

// seek returns what finds on the local network where a link's host may be by now: routers give
// machines other addresses. Whether it is the host, the peer finds out.
func seek(to invite.Link, log *slog.Logger) func(context.Context) []peer.Place {
	return func(ctx context.Context) (places []peer.Place) {
		if to.TLS && to.Pin == "" {
			return nil // only its name shows that it is the one
		}
		looking, stop := context.WithTimeout(ctx, LookTime)
		defer stop()
		var found []lan.Found
		for found = range lan.Browse(looking, log) {
		}
		for _, f := range found {
			for _, at := range f.Addrs {
				if f.Fingerprint != to.Pin || len(places) == maxSought {
					continue
				}
				place := peer.Place{URL: LinkTo(f, at, to.Code).Endpoint()}
				if to.Pin != "" {
					place.TLS = peer.Pinned(to.Pin)
				}
				places = append(places, place)
			}
		}
		return places
	}
}

// LinkTo is the link to a room that was found, at one of its addresses.
func LinkTo(f lan.Found, at netip.AddrPort, code string) invite.Link {
	return invite.Link{Host: at.String(), Code: code, Pin: f.Fingerprint, TLS: f.Fingerprint != ""}
}
