package choice

import (
	"maps"

	"muster/discovery"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection"
)

// maxCulled bounds the culled servers that are listed for each cause. The list has their total.
const maxCulled = 300

// Record has the basis of a choice. It shares nothing that the room still changes, so that others
// may calculate with it while the room goes on. Making it takes as long as choosing. It is small
// compared with the players' measurements.
type Record struct {
	basis selection.Basis
	// found says that there was a server that suits.
	found bool
	// names are the players' names when somebody asked for the record.
	names *people.Names
}

func recordOf(b selection.Basis, found bool) *Record {
	b.Servers.Infos, b.Servers.Lone = maps.Clone(b.Servers.Infos), maps.Clone(b.Servers.Lone)
	return &Record{basis: b, found: found}
}

// Record returns the record of the newest choice, and whether it is known. It is unknown if the
// choice was restored, or if the room has given up since. Before there is a choice the record is
// nil. It is the same one until there is another choice, or somebody has another name.
func (c *Choice) Record(names *people.Names) (record *Record, isKnown bool) {
	if c.state.Newest == nil {
		return nil, true
	}
	if c.record != nil && c.record.names != names {
		named := *c.record // others may share it
		named.names = names
		c.record = &named
	}
	return c.record, c.isRecorded()
}

// isRecorded reports whether there is a choice, and a record of it.
func (c *Choice) isRecorded() bool {
	return c.state.Newest != nil && c.record != nil && c.record.found == (c.state.Newest.Chosen != nil)
}

// Note makes a basis the basis of the newest choice, and returns the record.
func (c *Choice) Note(b selection.Basis, names *people.Names) *Record {
	c.record = recordOf(b, c.state.Newest.Chosen != nil)
	c.record.names = names
	return c.record
}

// ForgetSaid drops the list's facts from the record, except the ones in said.
func (c *Choice) ForgetSaid(said discovery.Said) {
	if c.record != nil {
		record := *c.record // others may share it
		record.basis.Servers.Said = said
		c.record = &record
	}
}

// Culled lists the culled servers by cause.
func (r *Record) Culled() map[selection.Cause]wire.CulledServers {
	lists := map[selection.Cause]wire.CulledServers{}
	if r == nil {
		return lists
	}
	b := r.basis
	b.Criteria.Reasons, b.Criteria.Top = 0, 1
	for _, reason := range b.Select().Reasons {
		list, begun := lists[reason.Cause]
		if !begun {
			list = wire.CulledServers{Cause: reason.Cause.String()}
		}
		if list.Total++; len(list.Servers) < maxCulled {
			culled := wire.CulledServer{
				Addr: reason.Addr.String(), ServerCard: cardOf(&b.Servers, reason.Server),
				Players: r.names.All(people.IDs(reason.Players)), RTT: map[string]float64{},
			}
			for column, player := range b.Table.Players() {
				if state, rtt := b.Table.At(column, reason.Server); state == discovery.Answered && b.Estimated[player] == 0 {
					culled.RTT[r.names.Text(player)] = discovery.MS(rtt)
				}
			}
			list.Servers = append(list.Servers, culled)
		}
		lists[reason.Cause] = list
	}
	return lists
}

func cardOf(servers *selection.Servers, server int) wire.ServerCard {
	return wire.CardOf(servers.List[server], servers.Info(server))
}
