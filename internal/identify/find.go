package identify

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/lists/address"
	"muster/discovery/names"
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
	ways := games.QueryMethods(found.At.Port())
	q := game.Count(ways, found.At.Port(), tries)
	screen.Tell("probe.asks", "address", hostport.Host(found.At.Addr()), "protocols", q.Protocols, "packets", q.Packets, "connections", q.Connections,
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
		if !slices.Contains(names, a.Method.Protocol) {
			names = append(names, a.Method.Protocol)
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

// lookUp returns the only server that is asked: at an address, or under a name, wherever that leads.
func lookUp(ctx context.Context, text string) (netip.AddrPort, error) {
	at, err := address.One(text)
	if err != nil || at.Port == 0 {
		return netip.AddrPort{}, hint.Usage(hint.Say("probe.port", "address", discovery.CleanText(text)).
			Advising("probe.port-hint", "example", "192.0.2.1:27015"))
	}
	if addr, err := netip.ParseAddr(at.Host); err == nil {
		return netip.AddrPortFrom(addr.Unmap(), at.Port), nil
	}
	if _, err := (names.Resolver{}).Addrs(ctx, at.Host); err != nil {
		return netip.AddrPort{}, hint.Say("probe.no-host", "host", at.Host, "why", hint.Reason(err))
	}
	return hostport.Of(at.Host, at.Port), nil
}

// Entry returns the entry for games.toml, and the id that it has: the given one or, if that is empty, a new one.
func (f Found) Entry(id string, now time.Time) (chosen, entry string) {
	if id == "" {
		id = game.NewID(f.Best)
	}
	remark := fmt.Sprintf("%s: %s answered %s", now.Format(time.DateOnly), hostport.Text(f.At), f.Best.Method.Protocol)
	if f.Best.Info != nil && f.Best.Info.Name != "" {
		remark += " as " + f.Best.Info.Name
	}
	return id, game.EntryOf(id, f.Best, f.At.Port(), remark)
}
