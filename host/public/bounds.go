package public

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/access"
	"muster/host/room"
	"muster/host/wire"
)

// Listed returns an organiser's own list, with places where they are known. On an error the list
// has no places, but is still usable.
func (p *Limits) Listed(addrs []netip.AddrPort) (servers []discovery.Server, err error) {
	servers = make([]discovery.Server, len(addrs))
	for i, addr := range addrs {
		servers[i].Addr = addr
	}
	if p != nil && p.Annotate != nil {
		err = p.Annotate(servers)
	}
	return servers, err
}

// With returns a list together with the servers that people have added, up to the limit of an own
// list. If nothing is missing, it returns the list unchanged. Its error comes from [Limits.Listed].
func (p *Limits) With(list []discovery.Server, also []netip.AddrPort) ([]discovery.Server, error) {
	if len(also) == 0 {
		return list, nil
	}
	listed := make(map[netip.AddrPort]bool, len(list))
	for i := range list {
		listed[list[i].Addr] = true
	}
	also = slices.DeleteFunc(slices.Clone(also), func(addr netip.AddrPort) bool { return listed[addr] })
	if p != nil {
		also = also[:min(len(also), p.Servers)]
	}
	if len(also) == 0 {
		return list, nil
	}
	more, err := p.Listed(also)
	return append(slices.Clip(list), more...), err
}

// unclaimedKeep is how long a host keeps a standing room that no player has joined, if no one says
// yes to its date.
const unclaimedKeep = 24 * time.Hour

// EndsAt returns when an empty room ends by the host's limit. It is the zero time if there is no
// limit, or if the room has a player.
func (p *Limits) EndsAt(r *room.Room, now time.Time) (at time.Time) {
	if p == nil || p.Idle == 0 {
		return at
	}
	use := r.Use(now)
	if use.IsStanding {
		keep := p.Standing.Keep
		if !use.IsClaimed {
			keep = unclaimedKeep
		}
		if keep == 0 || use.Empty == 0 {
			return at
		}
		return now.Add(keep - use.Unused)
	}
	if use.Empty > 0 {
		at = now.Add(p.Idle - use.Empty)
	}
	return at
}

// IsOver reports whether a room is over, by itself or by the host's limit.
func (p *Limits) IsOver(r *room.Room, now time.Time) bool {
	at := p.EndsAt(r, now)
	return r.Use(now).IsOver || !at.IsZero() && !now.Before(at)
}

// Fitting returns a list that fits into a room's memory, and its note. A coordinated search asks
// players for few servers, so its list fits. If everyone measures a whole list that is too long,
// Fitting takes every nth server, so that each network keeps its share.
func (p *Limits) Fitting(servers []discovery.Server, s wire.Settings, note sentence.Sentence) ([]discovery.Server, sentence.Sentence) {
	if p == nil || p.Memory == 0 || s.Strategy == wire.Coordinated {
		return servers, note
	}
	most := max(1, p.Memory/(room.CellBytes*cmp.Or(s.Players, s.Max, p.Players)))
	if len(servers) <= most {
		return servers, note
	}
	sorted := slices.SortedFunc(slices.Values(servers), func(a, b discovery.Server) int { return a.Addr.Compare(b.Addr) })
	fewer := make([]discovery.Server, most)
	for i := range fewer {
		fewer[i] = sorted[i*len(sorted)/most]
	}
	return fewer, sentence.Of("list.fewer", "n", most, "all", len(servers))
}

// burst is how many seconds' worth of messages a player's program may send at once.
const burst = 4

// Pause returns how long a player must wait after one more message.
func (p *Limits) Pause(said *access.Flow, now time.Time) time.Duration {
	if p == nil || p.Messages == 0 {
		return 0
	}
	return said.Wait(burst*p.Messages, time.Second/time.Duration(p.Messages), now)
}
