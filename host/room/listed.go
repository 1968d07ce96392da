package room

import (
	"fmt"
	"net/netip"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// What the list says of its servers is shared by all rooms that have the list, and is no
// part of any. A room that is saved keeps of it what was of use: the list's word on
// servers that somebody has asked, and that tell less themselves. Of the others it is
// forgotten, and they are asked.

// saidCounts is for how long what the list says of a server's seats or map leaves it out
// of a round that begins: services renew their lists about once a minute, and a map lasts
// ten. Older words are shown, and leave nothing out.
const saidCounts = 5 * time.Minute

// take has the list's word count in the round, from the beginning of its measuring.
func (r *round) take(said discovery.Said) {
	r.servers.Said, r.servers.Dated = said, r.measuring.Sub(said.At) > saidCounts
}

// saveSaid is that as a frame of [wire.Infos]; empty if there is none.
func (r *round) saveSaid() ([]byte, error) {
	if len(r.servers.Said.Infos) == 0 {
		return nil, nil
	}
	var asked serverSet
	for _, p := range r.players {
		for server := range p.places {
			asked.add(server)
		}
		for server := range p.looks {
			asked.add(server)
		}
	}
	kept := wire.Infos{Round: r.number}
	for server := range r.servers.List {
		listed := r.servers.Said.Infos[r.servers.List[server].Addr]
		if listed != nil && asked.has(server) && r.servers.Info(server).AsListed {
			kept.Servers = append(kept.Servers, wire.ServerInfo{Server: server, Info: *listed})
		}
	}
	if len(kept.Servers) == 0 {
		return nil, nil
	}
	return pack(kept)
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
	said := discovery.Said{At: at, Infos: make(map[netip.AddrPort]*discovery.Info, len(kept.Servers))}
	for i := range kept.Servers {
		one := &kept.Servers[i]
		if one.Server >= len(r.servers.List) {
			return fmt.Errorf("what the list says of server %d of %d", one.Server, len(r.servers.List))
		}
		one.Info.AsListed = true
		said.Infos[r.servers.List[one.Server].Addr] = &one.Info
	}
	r.take(said)
	return nil
}
