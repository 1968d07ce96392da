package peer

import (
	"context"

	"muster/host/wire"
)

// launch takes the player to the server, once a round.
func (p *peer) launch(m wire.Launch) {
	if p.launched != nil && p.launched.Round == m.Round {
		p.send(*p.launched)
		return
	}
	p.launched = &wire.Launched{Round: m.Round, State: wire.LaunchAsking}
	p.inBackground(func(ctx context.Context) {
		p.options.Launch(ctx, m, func(state wire.LaunchState, detail string) {
			p.post(func() { p.sayLaunched(wire.Launched{Round: m.Round, State: state, Detail: detail}) })
		})
		if p.options.Once {
			p.post(p.finish)
		}
	})
}

// finish leaves the room, but not before the host knows what came of the launch.
func (p *peer) finish() {
	if p.finishing = p.conn == nil; !p.finishing {
		p.leave(errFinished)
	}
}

// sayLaunched tells the host how far the newest launch got, now and after a
// lost connection.
func (p *peer) sayLaunched(launched wire.Launched) {
	if launched.Round == p.launched.Round {
		p.launched = &launched
		p.send(launched)
	}
}
