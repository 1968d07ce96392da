package sim

import (
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
)

// Vantage is one place's view of a list of servers. Replays run on it.
type Vantage struct {
	Name    string
	Servers []discovery.Server
	// Infos are the servers' facts about themselves, in parallel to Servers, or nil.
	Infos []discovery.Info
	// RTT is the shortest round trip to each server, negative if it never answers.
	RTT []time.Duration
	// Sample returns a packet pair to a server. If it is nil that is always RTT.
	Sample func(server int, n uint64) (rtt time.Duration, lost bool)
	// Tree returns the servers' topology. It is nil until it is made.
	Tree func() *topology.Tree
}

// Silent is the RTT of a server that never answers.
const Silent time.Duration = -1

// Vantage returns the world's view from one of its places.
func (w *World) Vantage(place int) *Vantage { return w.vantages(place)[0] }

// Vantages returns the world's view from each of its places.
func (w *World) Vantages() []*Vantage {
	places := make([]int, len(w.Places))
	for place := range places {
		places[place] = place
	}
	return w.vantages(places...)
}

func (w *World) vantages(places ...int) (vantages []*Vantage) {
	list, infos := w.List(), make([]discovery.Info, len(w.Servers))
	tree := sync.OnceValue(func() *topology.Tree { return topology.New(list) })
	for i := range infos {
		infos[i] = w.Servers[i].Info
	}
	for _, place := range places {
		v := &Vantage{Name: w.Places[place].Name, Servers: list, Infos: infos, RTT: make([]time.Duration, len(list)), Tree: tree}
		v.Sample = func(server int, n uint64) (time.Duration, bool) { return w.Sample(place, server, n) }
		for i := range list {
			if v.RTT[i] = w.RTT(place, i); w.Servers[i].Silent || w.Servers[i].Refusing {
				v.RTT[i] = Silent
			}
		}
		vantages = append(vantages, v)
	}
	return vantages
}

// Topology returns the topology of the servers.
func (v *Vantage) Topology() *topology.Tree {
	if v.Tree == nil {
		return topology.New(v.Servers)
	}
	return v.Tree()
}

// Pair returns the n-th packet pair to a server.
func (v *Vantage) Pair(server int, n uint64) (rtt time.Duration, lost bool) {
	if v.RTT[server] < 0 {
		return 0, true
	}
	if v.Sample == nil {
		return v.RTT[server], false
	}
	return v.Sample(server, n)
}
