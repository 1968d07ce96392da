package room

import (
	"slices"
	"time"

	"muster/host/wire"
)

// asked notes when a look asks a player's servers for the last time.
func (l *look) asked(player string, now time.Time, m wire.Finalists) {
	every := max(time.Duration(m.Every), betweenMates)
	if l.Asked == nil {
		l.Asked = map[string]time.Time{}
	}
	l.Asked[player] = now.Add(time.Duration(m.After) + time.Duration(max(0, m.Samples-1))*every)
}

// rest is how long a look has to wait, so that none of its servers hears twice within a
// second from one address: the strictest stay silent then.
func (r *round) rest(now time.Time) (rest time.Duration) {
	groups := r.natGroups(r.lookers())
	for i, group := range groups {
		begins := now.Add(slotOf(0, mostPlaces(groups), i, len(groups)).after)
		for _, p := range group {
			if last := r.lastAsked(p); !last.IsZero() {
				rest = max(rest, last.Add(betweenMates).Sub(begins))
			}
		}
	}
	return min(rest, betweenMates)
}

// lastAsked is when a player asked a server of this look before.
func (r *round) lastAsked(p *player) (last time.Time) {
	servers := r.wanted(p)
	for _, server := range servers {
		if probe, probed := p.witness.Probe(server); probed {
			if asked := r.measuring.Add(probe.At - probe.RTT); asked.After(last) {
				last = asked
			}
		}
	}
	isSeen := func(server int) bool { _, looked := p.witness.Looked(server); return looked }
	if asked := r.look.Asked[p.name]; asked.After(last) && slices.ContainsFunc(servers, isSeen) {
		last = asked
	}
	return last
}
