package game

import (
	"fmt"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/host/wire"
)

// edition is what a version of the game is. A plain number is its protocol's, unless the
// table has it as a version.
func (g Game) edition(version string) discovery.Edition {
	e := discovery.Edition{Version: discovery.CleanText(version)}
	if n, err := strconv.ParseUint(e.Version, 10, 31); err == nil {
		e.Protocol = int(n)
	}
	for _, entry := range g.Protocols {
		known, protocol, _ := parseProtocol(entry)
		all, isAll := strings.CutSuffix(known, ".*")
		if e.Version == known || isAll && (e.Version == all || strings.HasPrefix(e.Version, all+".")) {
			e.Protocol = protocol
			break
		}
	}
	return e
}

// parseProtocol reads an entry VERSION=NUMBER, where VERSION.* is all that begins so.
func parseProtocol(entry string) (version string, protocol int, err error) {
	version, number, found := strings.Cut(entry, "=")
	n, bad := strconv.ParseUint(number, 10, 31)
	if !found || version == "" || bad != nil || n == 0 {
		return "", 0, fmt.Errorf("protocols: %q is not VERSION=NUMBER", discovery.CleanText(entry))
	}
	return version, int(n), nil
}

// Editions are what a version is of each game of whose versions the table knows more, by
// their ids, and, without an id, of any other; see [wire.Hello].
func (t Table) Editions(version string) map[string]discovery.Edition {
	any := Game{}.edition(version)
	editions := map[string]discovery.Edition{"": any}
	for _, g := range t.games {
		if e := g.edition(version); e != any && len(editions) < wire.MaxEditions {
			editions[g.ID] = e
		}
	}
	return editions
}

// Own are what the user has of games, by their ids, as the table says; nil if it says
// nothing.
func (t Table) Own() map[string]discovery.Edition {
	var own map[string]discovery.Edition
	for _, g := range t.games {
		if g.Version == "" || len(own) == wire.MaxEditions {
			continue
		}
		if own == nil {
			own = map[string]discovery.Edition{}
		}
		own[g.ID] = g.edition(g.Version)
	}
	return own
}
