package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"time"

	"muster/discovery"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/identify"
	"muster/internal/userfile"
)

// probe asks one address by every protocol, and prints the entry of its game or adds it to a file.
func (g *gamesCommand) probe(ctx context.Context, games game.Table, id string) error {
	if id != "" {
		if err := game.CheckID(id); err != nil {
			return usageError(err)
		}
	}
	at, err := probed(ctx, g.address)
	if err != nil {
		return err
	}
	ways := games.Ways(at.Port())
	q := game.Count(ways, at.Port(), identify.Tries)
	g.screen.Tell("probe.asks", "address", at.Addr(), "protocols", q.Protocols, "packets", q.Packets, "connections", q.Connections,
		"more", identify.More, "ports", q.Ports)
	answers, err := identify.Ask(ctx, ways, at, g.logger())
	if err != nil {
		return err
	}
	best, is := game.Best(answers)
	if !is {
		return nothing{hint.Say("probe.silent", "address", at).Advising("probe.silent-hint")}
	}
	g.tellAnswers(games, answers, best)
	if id == "" {
		id = game.NewID(best)
	}
	remark := fmt.Sprintf("%s: %v answered %s", time.Now().Format(time.DateOnly), at, best.Way.Protocol)
	if best.Info != nil && best.Info.Name != "" {
		remark += " as " + best.Info.Name
	}
	entry := game.EntryOf(id, best, at.Port(), remark)
	if g.file == "" {
		_, err = io.WriteString(g.out, entry)
		return err
	}
	if err := addEntry(g.file, id, entry); err != nil {
		return err
	}
	g.screen.Tell("probe.written", "file", g.file)
	return nil
}

// probed returns the only address that is asked.
func probed(ctx context.Context, text string) (netip.AddrPort, error) {
	host, portText, err := net.SplitHostPort(text)
	port, bad := strconv.ParseUint(portText, 10, 16)
	if err != nil || bad != nil || port == 0 || host == "" {
		return netip.AddrPort{}, usageError(hint.Say("probe.port", "address", discovery.CleanText(text)).
			Advising("probe.port-hint", "example", "192.0.2.1:27015"))
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(found) == 0 {
		return netip.AddrPort{}, hint.Say("probe.no-host", "host", discovery.CleanText(host), "why", hint.Reason(err))
	}
	slices.SortStableFunc(found, func(a, b netip.Addr) int { return a.Unmap().BitLen() - b.Unmap().BitLen() }) // IPv4 first
	return netip.AddrPortFrom(found[0].Unmap(), uint16(port)), nil
}

// tellAnswers says what answered, and which known games that may be.
func (g *gamesCommand) tellAnswers(games game.Table, answers []game.Answer, best game.Answer) {
	var names []string
	for _, a := range answers {
		if !slices.Contains(names, a.Way.Protocol) {
			names = append(names, a.Way.Protocol)
		}
	}
	g.screen.Tell("probe.answers", "protocols", names)
	if best.Info != nil && best.Info.Name != "" {
		g.screen.Tell("probe.named", "server", discovery.CleanText(best.Info.Name))
	}
	if known := games.Known(best); len(known) > 0 {
		g.screen.Tell("probe.known", "games", game.Named(known))
	}
}

// addEntry adds an entry to a table of games in a file, which may not be there yet.
func addEntry(file, id, entry string) error {
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := game.Append(string(old), id, entry, file)
	if err != nil {
		return err
	}
	return userfile.Replace(file, []byte(text))
}
