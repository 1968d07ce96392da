package selection

import (
	"cmp"
	"slices"

	"muster/discovery/hostport"
)

// reasons returns those of the culled servers, the ones that got furthest first, then by address.
func (r *round) reasons() []Reason {
	reasons := []Reason{}
	if r.criteria.Reasons < 0 {
		return reasons
	}
	furthest := top[int]{limit: r.criteria.Reasons, compare: func(a, b int) int {
		if r.fates[a] != r.fates[b] {
			return cmp.Compare(r.fates[b], r.fates[a])
		}
		return r.servers.compare(a, b)
	}}
	for server := range r.fates {
		if !r.suits(server) {
			furthest.add(server)
		}
	}
	for _, server := range furthest.sorted() {
		cause := r.fates[server]
		reason := Reason{Server: server, Addr: hostport.At(r.servers.List[server].Addr), Cause: cause, Players: r.concerned(server, cause)}
		if cause == Lawless {
			reason.Breaks = r.judge(server)
		}
		reasons = append(reasons, reason)
	}
	return reasons
}

// concerned returns the players who have a cause against a server.
func (r *round) concerned(server int, cause Cause) []string {
	so := func(cell) bool { return false }
	switch cause {
	case Unreachable:
		so = cell.failed
	case Unmeasured:
		so = func(c cell) bool { return c == unprobed || c == forbidden }
	case OverThreshold:
		so = func(c cell) bool { return c.answered() && c > r.limit }
	case PingLimits:
		so = pingLimitsOf(r.servers.Infos[server]).shuts
	case WrongVersion:
		return r.criteria.shutOut(r.servers.Info(server))
	case Hidden:
		return r.refusing(r.criteria.Hidden, server)
	case Vetoed:
		return r.refusing(r.criteria.Vetoes, server)
	}
	return r.view.names(r.view.playersWhere(server, so))
}

// refusing returns, by name, the players who refuse a server or its map.
func (r *round) refusing(vetoes []Veto, server int) (names []string) {
	for i := range vetoes {
		if v := &vetoes[i]; v.Server == r.servers.List[server].Addr || v.hitsMap(r.servers.Info(server)) {
			names = append(names, v.Player)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
