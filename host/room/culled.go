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
	servers  selection.Servers
	criteria selection.Criteria
	table    *selection.Table
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
		r.record(r.round.chosenFor(), r.counted()).found = found // the room was restored, or has given up
	}
	return r.round.record
}

// record notes what a choice is made from, for a group and guests who are counted in.
func (r *Room) record(group []*player, guests []*guest) *Record {
	c := &Record{servers: r.round.servers, criteria: r.criteria(r.settings, group), table: r.tableFor(group, guests), measured: len(group)}
	c.servers.Infos, c.servers.Lone = maps.Clone(c.servers.Infos), maps.Clone(c.servers.Lone)
	r.round.record = c
	return c
}

// Culled lists who was culled, for each cause.
func (c *Record) Culled() map[selection.Cause]wire.CulledServers {
	lists := map[selection.Cause]wire.CulledServers{}
	if c == nil {
		return lists
	}
	criteria := c.criteria
	criteria.Reasons, criteria.Top = 0, 1
	for _, reason := range selection.NewFilter(c.servers, criteria).Select(c.table).Reasons {
		list, begun := lists[reason.Cause]
		if !begun {
			list = wire.CulledServers{Cause: reason.Cause.String()}
		}
		if list.Total++; len(list.Servers) < maxCulled {
			culled := wire.CulledServer{Addr: reason.Addr.String(), ServerCard: cardOf(c.servers, reason.Server), Players: reason.Players, RTT: map[string]float64{}}
			for column, player := range c.table.Players()[:c.measured] {
				if state, rtt := c.table.At(column, reason.Server); state == discovery.Answered {
					culled.RTT[player] = rttMS(rtt)
				}
			}
			list.Servers = append(list.Servers, culled)
		}
		lists[reason.Cause] = list
	}
	return lists
}
