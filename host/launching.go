package host

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
)

// launch sends everyone to the chosen server.
func (r *Room) launch(server int, now time.Time) []effect {
	r.enter(wire.Launching, now)
	r.Launch = &wire.Launch{
		Round: r.Round, Game: r.Settings.Game, Address: r.connect(server).String(),
		Name: r.serverName(server), Password: r.Settings.Password,
	}
	r.Target = r.Servers[server].Addr
	r.remember(server, now)
	c := r.rankedAt(server)
	r.note(now, "everyone to %s: %.0f ms on average, %.0f at worst", r.serverName(server), c.MeanMS, c.MaxMS)
	return r.launchMessages()
}

// connect is where players connect to: the game's port, which need not be the
// one that answers queries.
func (r *Room) connect(server int) netip.AddrPort {
	addr := r.Servers[server].Addr
	if info := r.Infos[server]; info != nil && info.GamePort != 0 {
		return netip.AddrPortFrom(addr.Addr(), info.GamePort)
	}
	return addr
}

// serverName is what people call the server.
func (r *Room) serverName(server int) string {
	addr := r.connect(server).String()
	if info := r.Infos[server]; info != nil && info.Name != "" {
		return fmt.Sprintf("%s (%s)", info.Name, addr)
	}
	return addr
}

func (r *Room) launched(m *Member, launched wire.Launched, now time.Time) {
	repeated := launched.State == m.Launch && launched.Detail == m.Detail
	if launched.Round != r.Round || r.Stage != wire.Launching || repeated {
		return
	}
	m.Launch, m.Detail = launched.State, launched.Detail
	if text, ok := launchTexts[m.Launch]; ok {
		r.note(now, text, m.Name)
	}
	if m.Launch == wire.LaunchFailed {
		r.note(now, "%s could not start the game: %s", m.Name, m.Detail)
	}
}

// launchTexts are what the log says of the states worth a line.
var launchTexts = map[wire.LaunchState]string{
	wire.LaunchStarted:  "%s is on the way",
	wire.LaunchDeclined: "%s stays behind",
	wire.LaunchByHand:   "%s joins by hand",
}

func (r *Room) indexOf(addr netip.AddrPort) int {
	return slices.IndexFunc(r.Servers, func(s discovery.Server) bool { return s.Addr == addr })
}

// culledText says how many servers went, and what for.
func culledText(c selection.Culled) string {
	text := ""
	for _, part := range []struct {
		n    int
		what string
	}{
		{c.Unreachable, "unreachable for someone"},
		{c.Full, "without enough free seats"},
		{c.Filtered + c.Unknown + c.WrongVersion, "of the wrong kind"},
		{c.Passworded, "with a password"},
		{c.Hygiene + c.Blacklisted + c.Vetoed, "unwanted"},
		{c.PingLimits, "that refuse someone's RTT"},
		{c.OverThreshold, "too far for someone"},
		{c.Unmeasured, "not measured by everyone"},
	} {
		if part.n == 0 {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%d %s", part.n, part.what)
	}
	return text
}
