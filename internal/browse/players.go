package browse

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"muster/discovery"
	"muster/discovery/prober"
	"muster/internal/hint"
)

// playersWait is how long a server may take to say who plays.
const playersWait = 4 * time.Second

// Players asks a server who plays there. The engine's protocol is that of a [discovery.Roll].
func Players(ctx context.Context, engine *prober.Prober, at netip.AddrPort) ([]discovery.Player, error) {
	ctx, cancel := context.WithTimeout(ctx, playersWait)
	defer cancel()
	var people *discovery.Roster
	err := engine.Run(ctx, []discovery.Server{{Addr: at}}, discovery.NewConventional(1), func(r discovery.Result) {
		if r.Info != nil {
			people = r.Info.Roster
		}
	})
	switch {
	case people != nil:
		return people.Players, nil
	case err == nil || errors.Is(err, context.DeadlineExceeded):
		return nil, hint.Say("find.who-untold-there")
	}
	return nil, err
}
