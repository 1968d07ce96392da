package lobby

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/wire"
	"muster/peer/delayed"
)

// delaying is the delay line between the player's game and its server. The zero value has none.
type delaying struct {
	mu   sync.Mutex // guards the fields below
	held time.Duration
	line *delayed.Line // to the server at to
	to   netip.AddrPort
}

// hold changes how long packets are held. With 0 an open line passes everything on at once, and the next
// game goes directly.
func (d *delaying) hold(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held = by; d.line != nil {
		d.line.SetDelay(by)
	}
}

// through returns the launch by way of a line to the same server, or unchanged if packets are not held.
func (d *delaying) through(to wire.Launch, desk *Desk) wire.Launch {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held == 0 {
		return to
	}
	at, err := net.ResolveUDPAddr("udp", to.Address)
	if err == nil && (d.line == nil || d.to != at.AddrPort()) { // an earlier game elsewhere loses its line
		d.end()
		d.to = at.AddrPort()
		d.line, err = delayed.Open(d.to, desk.Screen.Print)
	}
	if err != nil {
		d.end()
		desk.Logger.Warn("the game goes directly, without a delay", "error", err)
		return to
	}
	d.line.SetDelay(d.held)
	desk.Screen.Tell("even.through", "server", to.Address, "here", d.line.Addr().String(), "ms", int(d.held.Milliseconds()))
	to.Address, to.QueryPort = d.line.Addr().String(), 0
	return to
}

func (d *delaying) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end()
}

// end closes the line, if there is one. The caller holds the lock.
func (d *delaying) end() {
	if d.line != nil {
		_ = d.line.Close()
		d.line = nil
	}
}

// status returns the pings that a game's server tells of its players.
func (y *Player) status(ctx context.Context, to wire.Launch, least discovery.Reach) map[string]time.Duration {
	g, err := y.Launcher.Games.Find(to.Game)
	at, bad := hostport.Parse(to.Address)
	if err != nil || bad != nil {
		return nil
	}
	roll, tells := g.Protocol().(discovery.Roll)
	if !tells {
		return nil
	}
	engine, err := y.Asking.Prober(roll.Roll(), g.Names(), nil)
	if err != nil {
		return nil
	}
	defer engine.Close()
	engine.Lead(least)
	if to.QueryPort != 0 {
		at = netip.AddrPortFrom(at.Addr(), to.QueryPort)
	}
	var roster *discovery.Roster
	err = engine.Run(ctx, []discovery.Server{{Addr: at}}, discovery.NewConventional(1), func(r discovery.Result) {
		if r.Info != nil {
			roster = r.Info.Roster
		}
	})
	if err != nil {
		y.Desk.Logger.Debug("the game's server tells no pings", "err", err)
	}
	return roster.Pings()
}
