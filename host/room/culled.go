package room

import (
	"maps"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
)

// maxCulled is how many culled servers of one cause are told; the list says how
// many there are.
const maxCulled = 300

// Record is what a choice was made from. It shares nothing that the room still
// changes, so that others may reckon with it while the room goes on. To make it
// takes as long as the choice itself; it is small beside what the players measured.
type Record struct {
	basis selection.Basis
	// measured is how many of the table's columns are measurements, the first.
	measured int
	// found: there was a server that suits.
	found bool
}

// Record is what the newest choice was made from, or nil before there is one.
func (r *Room) Record() *Record {
	if r.round.selection == nil {
		return nil
	}
	if found := r.round.selection.Chosen != nil; r.round.record == nil || r.round.record.found != found {
		group := r.round.chosenFor() // the room was restored, or has given up
		r.record(r.basisFor(group), len(group)).found = found
	}
	return r.round.record
}

// record notes what a choice is made from, and how many of its columns are measured.
func (r *Room) record(b selection.Basis, measured int) *Record {
	b.Servers.Infos, b.Servers.Lone = maps.Clone(b.Servers.Infos), maps.Clone(b.Servers.Lone)
	r.round.record = &Record{basis: b, measured: measured}
	return r.round.record
}

// Culled lists who was culled, for each cause.
func (c *Record) Culled() map[selection.Cause]wire.CulledServers {
	lists := map[selection.Cause]wire.CulledServers{}
	if c == nil {
		return lists
	}
	criteria := c.basis.Criteria
	criteria.Reasons, criteria.Top = 0, 1
	for _, reason := range selection.NewFilter(c.basis.Servers, criteria).Select(c.basis.Table).Reasons {
		list, begun := lists[reason.Cause]
		if !begun {
			list = wire.CulledServers{Cause: reason.Cause.String()}
		}
		if list.Total++; len(list.Servers) < maxCulled {
			culled := wire.CulledServer{Addr: reason.Addr.String(), ServerCard: cardOf(c.basis.Servers, reason.Server), Players: reason.Players, RTT: map[string]float64{}}
			for column, player := range c.basis.Table.Players()[:c.measured] {
				if state, rtt := c.basis.Table.At(column, reason.Server); state == discovery.Answered {
					culled.RTT[player] = rttMS(rtt)
				}
			}
			list.Servers = append(list.Servers, culled)
		}
		lists[reason.Cause] = list
	}
	return lists
}
