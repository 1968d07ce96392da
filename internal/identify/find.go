package identify

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/lists/address"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/term"
)

// Found is what answered at an address.
type Found struct {
	At netip.AddrPort
	// Best is the answer that tells the most. IsSilent says that there is none.
	Best     game.Answer
	IsSilent bool
}

// Find asks the server at HOST:PORT in every way that the table of games knows. The screen shows what it sends, and what
// answered.
func Find(ctx context.Context, games game.Table, address string, screen *term.Screen, log *slog.Logger) (found Found, err error) {
	if found.At, err = lookUp(ctx, address); err != nil {
		return found, err
	}
	ways := games.Ways(found.At.Port())
	q := game.Count(ways, found.At.Port(), tries)
	screen.Tell("probe.asks", "address", found.At.Addr(), "protocols", q.Protocols, "packets", q.Packets, "connections", q.Connections,
		"more", more, "ports", q.Ports)
	answers, err := ask(ctx, ways, found.At, log)
	if err != nil {
		return found, err
	}
	best, is := game.Best(answers)
	if found.Best, found.IsSilent = best, !is; !is {
		return found, nil
	}
	var names []string
	for _, a := range answers {
		if !slices.Contains(names, a.Way.Protocol) {
			names = append(names, a.Way.Protocol)
		}
	}
	screen.Tell("probe.answers", "protocols", names)
	if best.Info != nil && best.Info.Name != "" {
		screen.Tell("probe.named", "server", discovery.CleanText(best.Info.Name))
	}
	if known := games.Known(best); len(known) > 0 {
		screen.Tell("probe.known", "games", game.Named(known))
	}
	return found, nil
}

// lookUp returns the only address that is asked.
func lookUp(ctx context.Context, text string) (netip.AddrPort, error) {
	at, err := address.One(text)
	if err != nil || at.Port == 0 {
		return netip.AddrPort{}, hint.Usage(hint.Say("probe.port", "address", discovery.CleanText(text)).
			Advising("probe.port-hint", "example", "192.0.2.1:27015"))
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", at.Host)
	if err != nil || len(addrs) == 0 {
		return netip.AddrPort{}, hint.Say("probe.no-host", "host", at.Host, "why", hint.Reason(err))
	}
	slices.SortStableFunc(addrs, func(a, b netip.Addr) int { return a.Unmap().BitLen() - b.Unmap().BitLen() }) // IPv4 first
	return netip.AddrPortFrom(addrs[0].Unmap(), at.Port), nil
}

// Entry returns the entry for games.toml, and the id that it has: the given one or, if that is empty, a new one.
func (f Found) Entry(id string, now time.Time) (chosen, entry string) {
	if id == "" {
		id = game.NewID(f.Best)
	}
	remark := fmt.Sprintf("%s: %v answered %s", now.Format(time.DateOnly), f.At, f.Best.Way.Protocol)
	if f.Best.Info != nil && f.Best.Info.Name != "" {
		remark += " as " + f.Best.Info.Name
	}
	return id, game.EntryOf(id, f.Best, f.At.Port(), remark)
}
