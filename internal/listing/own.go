package listing

import (
	"cmp"
	"errors"
	"net/netip"
	"strings"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/lists/address"
	"muster/discovery/lists/master"
	"muster/internal/game"
	"muster/internal/hint"
)

// isLinkLocal reports whether an address in a list means another machine in each network.
func isLinkLocal(text string) bool {
	at, err := address.One(text)
	addr, bad := netip.ParseAddr(at.Host)
	return err == nil && bad == nil && addr.IsLinkLocalUnicast()
}

// Own reads a stranger's list of a game's servers, one a line as in files. The host looks up no name that a stranger
// chose: players' programs do, and none lets a host on the internet lead it into its own network. A name without a dot
// is one of a local network. Too many at one address are thinned out as in a file; more than most in all is an error.
// From is the stranger's address. A stranger on the internet cannot list servers of a local network, which would
// be whatever has that address where a player sits.
func Own(g game.Game, lines []string, from netip.Addr, most int) ([]netip.AddrPort, error) {
	if len(lines) > most {
		return nil, hint.Say("refused.own-most", "n", len(lines), "most", most).Advising("refused.own-most-hint")
	}
	for _, line := range lines {
		if strings.ContainsAny(line, "\r\n") {
			return nil, hint.Say("refused.own-entry").Advising("refused.own-form-hint", "example", example)
		}
	}
	entries, warnings, err := master.ParseList(strings.NewReader(strings.Join(lines, "\n")), "the list")
	var skipped *master.SkippedError
	if errors.As(errors.Join(warnings...), &skipped) { // a form, whose organiser can mend the line
		err = skipped
	}
	var wrong *master.ListError
	switch {
	case errors.As(err, &wrong) && isLinkLocal(wrong.Text):
		return nil, hint.Say("refused.own-network", "address", wrong.Text).
			Advising("refused.own-network-hint", "command", "muster host --servers FILE")
	case errors.As(err, &wrong):
		return nil, hint.Say("refused.own-line", "n", wrong.Line, "line", wrong.Text).Advising("refused.own-form-hint", "example", example)
	case errors.Is(err, master.ErrEmpty):
		return nil, hint.Say("refused.own-empty").Advising("refused.own-form-hint", "example", example)
	case err != nil:
		return nil, hint.Say("refused.own-unread", "why", err).Advising("refused.own-form-hint", "example", example)
	}
	var servers []netip.AddrPort
	seen := map[netip.AddrPort]bool{}
	for _, e := range entries {
		addr, err := netip.ParseAddr(e.Host)
		at := discovery.Canonical(netip.AddrPortFrom(addr, cmp.Or(e.Port, g.Port)))
		switch {
		case err != nil && !strings.Contains(e.Host, "."):
			return nil, hint.Say("refused.own-network", "address", e.Host).
				Advising("refused.own-network-hint", "command", "muster host --servers FILE")
		case err != nil:
			at = hostport.Of(e.Host, cmp.Or(e.Port, g.Port))
		case discovery.ReachOf(addr) < max(discovery.ReachOf(from), discovery.MachineReach) || addr.Zone() != "":
			return nil, hint.Say("refused.own-network", "address", addr).
				Advising("refused.own-network-hint", "command", "muster host --servers FILE")
		}
		if g.Takes(e.Type) && !seen[at] {
			seen[at] = true
			servers = append(servers, at)
		}
	}
	if len(servers) == 0 {
		return nil, hint.Say("refused.own-none", "game", g.Name).Advising("list.one-a-line-hint", "example", example)
	}
	return servers, nil
}
