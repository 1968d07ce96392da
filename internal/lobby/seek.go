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

// LookTime is how long to search the local network: Wi-Fi delays multicast, and phones sleep.
const LookTime = 3 * time.Second

// maxSought limits how many addresses are tried in turn, because anybody may announce rooms.
const maxSought = 16

// seek returns a function that searches the local network for a link's host, because routers assign
// new addresses. The peer checks whether it is really the host.
func seek(to invite.Link, log *slog.Logger) func(context.Context) []peer.Place {
	return func(ctx context.Context) (places []peer.Place) {
		if to.TLS && to.Pin == "" {
			return nil // only its name proves that it is the same host
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

// LinkTo returns the link to a room that was found, at one of its addresses.
func LinkTo(f lan.Found, at netip.AddrPort, code string) invite.Link {
	return invite.Link{Host: at.String(), Code: code, Pin: f.Fingerprint, TLS: f.Fingerprint != ""}
}
