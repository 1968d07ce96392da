package selection

import (
	"cmp"
	"slices"

	"muster/discovery"
)

// reasons tells of the culled servers, those that got furthest first, then by
// address.
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
		reasons = append(reasons, r.reason(server))
	}
	return reasons
}

func (r *round) reason(server int) Reason {
	return Reason{
		Server:  server,
		Addr:    r.servers.List[server].Addr,
		Cause:   r.fates[server],
		Players: r.concerned(server, r.fates[server]),
	}
}

// concerned are the players on whose account a server was culled.
func (r *round) concerned(server int, cause Cause) []string {
	switch cause {
	case Unreachable:
		return r.view.where(server, cell.failed)
	case Unmeasured:
		return r.view.where(server, func(c cell) bool { return c == unprobed })
	case OverThreshold:
		return r.view.where(server, func(c cell) bool { return c.answered() && c > r.limit })
	case PingLimits:
		return r.view.where(server, pingLimitsOf(r.servers.Infos[server]).shuts)
	case Vetoed:
		return r.vetoers(r.servers.List[server], r.servers.Infos[server])
	}
	return nil
}

// vetoers are the players who refuse a server.
func (r *round) vetoers(server discovery.Server, info *discovery.Info) []string {
	var names []string
	for i := range r.criteria.Vetoes {
		v := &r.criteria.Vetoes[i]
		if (v.Server == server.Addr || v.hitsMap(info)) && !slices.Contains(names, v.Player) {
			names = append(names, v.Player)
		}
	}
	slices.Sort(names)
	return names
}
