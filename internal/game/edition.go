package game

import (
	"fmt"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/host/wire"
)

// edition returns what the table knows of a version. A plain number is a protocol's, unless the table has such a
// version.
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

// parseProtocol parses an entry VERSION=NUMBER. VERSION.* matches every version with that beginning.
func parseProtocol(entry string) (version string, protocol int, err error) {
	version, number, found := strings.Cut(entry, "=")
	n, bad := strconv.ParseUint(number, 10, 31)
	if !found || version == "" || bad != nil || n == 0 {
		return "", 0, fmt.Errorf("protocols: %q is not VERSION=NUMBER", discovery.CleanText(entry))
	}
	return version, int(n), nil
}

// Editions returns the meaning of a version in each game that has special ones, by game id. The entry without an id is
// for all other games; see [wire.Hello].
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

// Own returns the user's editions of games by id, as the table says; nil if it says nothing.
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
