package listing

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"muster/discovery"
	"muster/discovery/lists/master"
	"muster/internal/game"
	"muster/internal/hint"
)

// Own reads a stranger's list of a game's servers, one a line as in files, but with addresses only: the host looks up
// no name that a stranger chose. Too many at one address are thinned out as in a file; more than most in all is an
// error. From is the stranger's address. A stranger on the internet cannot list servers of a local network, which would
// be whatever has that address where a player sits.
func Own(g game.Game, lines []string, from netip.Addr, most int) ([]netip.AddrPort, error) {
	if len(lines) > most {
		return nil, hint.With(fmt.Errorf("%d servers are more than the %d that a list of one's own may have here",
			len(lines), most), "leave out those that nobody wants")
	}
	for _, line := range lines {
		if strings.ContainsAny(line, "\r\n") {
			return nil, errors.New("one server an entry is wanted")
		}
	}
	entries, _, err := master.ParseList(strings.NewReader(strings.Join(lines, "\n")), "the list")
	const wanted = "give addresses, such as 192.0.2.1:27960, one a line"
	var wrong *master.ListError
	switch {
	case errors.As(err, &wrong):
		return nil, hint.With(fmt.Errorf("line %d of the list, %q, is no address", wrong.Line, wrong.Text), wanted)
	case errors.Is(err, master.ErrEmpty):
		return nil, hint.With(errors.New("the list has no server in it"), wanted)
	case err != nil:
		return nil, hint.With(err, wanted)
	}
	var servers []netip.AddrPort
	seen := map[netip.AddrPort]bool{}
	for _, e := range entries {
		addr, err := netip.ParseAddr(e.Host)
		at := discovery.Canonical(netip.AddrPortFrom(addr, e.Port))
		switch {
		case err != nil:
			return nil, hint.With(fmt.Errorf("%q is a name, and a list here is of addresses", discovery.CleanText(e.Host)),
				"give its address, such as 192.0.2.1:27960; or open the room from your own computer, which looks names up: muster host --servers FILE")
		case discovery.ReachOf(addr) < max(discovery.ReachOf(from), discovery.MachineReach) || addr.Zone() != "":
			return nil, hint.With(fmt.Errorf("%v is on somebody's own network: no player elsewhere gets there", addr),
				"open the room on your own computer for those: muster host --servers FILE")
		case !g.Takes(e.Type):
			continue
		case e.Port == 0:
			at = netip.AddrPortFrom(at.Addr(), g.Port)
		}
		if !seen[at] {
			seen[at] = true
			servers = append(servers, at)
		}
	}
	if len(servers) == 0 {
		return nil, hint.With(fmt.Errorf("the list has no server of %s", g.Name), howToList)
	}
	return servers, nil
}
