package room

import (
	"fmt"
	"net/netip"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// What the list says of its servers is shared by all rooms that have the list, and is
// large. A room that is saved, or that has launched, keeps of it what was of use: the
// list's word on servers that somebody has asked, and that tell less themselves. Of the
// others it is forgotten: a room that comes back asks them, and one that goes on gets a
// new list.

// saidCounts is for how long what the list says of a server's seats or map leaves it out
// of a round that begins: services renew their lists about once a minute, and a map lasts
// ten. Older words are shown, and leave nothing out.
const saidCounts = 5 * time.Minute

// take has the list's word count in the round, from the beginning of its measuring.
func (r *round) take(said discovery.Said) {
	r.servers.Said, r.servers.Dated = said, r.measuring.Sub(said.At) > saidCounts
}

// useful is what the list says that was of use.
func (r *round) useful() []wire.ServerInfo {
	if len(r.servers.Said.Infos) == 0 {
		return nil
	}
	asked := make([]bool, len(r.servers.List))
	for _, p := range r.players {
		for _, probe := range p.witness.Probes() { // also what does not count
			asked[probe.Server] = true
		}
		for server := range p.witness.Servers() {
			asked[server] = true
		}
	}
	var useful []wire.ServerInfo
	for server := range r.servers.List {
		if !asked[server] {
			continue
		}
		listed := r.servers.Said.Infos[r.servers.List[server].Addr]
		if listed != nil && r.servers.Info(server).AsListed {
			useful = append(useful, wire.ServerInfo{Server: server, Info: *listed})
		}
	}
	return useful
}

// forgetSaid keeps no more than that.
func (r *round) forgetSaid() {
	r.keepSaid(r.useful(), r.servers.Said.At)
	if r.record != nil { // others may have it
		record := *r.record
		record.basis.Servers.Said = r.servers.Said
		r.record = &record
	}
}

// keepSaid has the list have said this alone.
func (r *round) keepSaid(useful []wire.ServerInfo, at time.Time) {
	said := discovery.Said{}
	if len(useful) > 0 {
		said = discovery.Said{At: at, Infos: make(map[netip.AddrPort]*discovery.Info, len(useful))}
	}
	for _, one := range useful {
		one.Info.AsListed = true
		said.Infos[r.servers.List[one.Server].Addr] = &one.Info
	}
	r.take(said)
}

// saveSaid is what was of use as a frame of [wire.Infos]; empty if nothing was.
func (r *round) saveSaid() ([]byte, error) {
	useful := r.useful()
	if len(useful) == 0 {
		return nil, nil
	}
	return pack(wire.Infos{Round: r.number, Servers: useful})
}

// restoreSaid takes back what saveSaid wrote.
func (r *round) restoreSaid(frame []byte, at time.Time) error {
	if len(frame) == 0 {
		return nil
	}
	kept, err := unpack[wire.Infos](frame)
	if err != nil {
		return err
	}
	for _, one := range kept.Servers {
		if one.Server >= len(r.servers.List) {
			return fmt.Errorf("what the list says of server %d of %d", one.Server, len(r.servers.List))
		}
	}
	r.keepSaid(kept.Servers, at)
	return nil
}
