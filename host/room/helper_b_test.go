package room_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

const hook = "https://discord.com/api/webhooks/1/token"

// said is a list's word on the first servers, from some time ago: who is there, of 16.
func said(now time.Time, age time.Duration, players ...int) discovery.Said {
	s := discovery.Said{At: now.Add(-age), Infos: map[netip.AddrPort]*discovery.Info{}}
	for server, n := range players {
		s.Infos[addrOf(server)] = &discovery.Info{Name: fmt.Sprint("listed ", server), Map: "haven", Players: n, MaxPlayers: 16, AsListed: true}
	}
	return s
}

// looksAlone wants a player to have been asked to look at servers again.
func (n *session) looksAlone(name string, attempt int, servers ...int) {
	n.Helper()
	if last := n.looks[name]; last.Attempt != attempt || !slices.Equal(last.Servers, servers) || last.Samples != 2 {
		n.Errorf("%s was last asked for %+v, want to look at %v again in attempt %d", name, last, servers, attempt)
	}
}

func bringing(servers ...int) (list []wire.Brought) {
	for _, server := range servers {
		list = append(list, wire.Brought{Addr: addrOf(server)})
	}
	return list
}

// spreadOut is a list of servers each in a network of its own, in the order of addresses.
func spreadOut(servers int) []discovery.Server {
	list := make([]discovery.Server, servers)
	for i := range list {
		list[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{20, byte(i), 0, 1}), 27960)
	}
	return list
}

// measuringOn is a room in which all players but dan have measured twenty servers in networks
// of their own, of which the first is the best; dan is last.
func measuringOn(t *testing.T, list []discovery.Server, limits []time.Duration, honest ...string) *session {
	s := settings(len(honest) + 1)
	s.Limits = limits
	if limits != nil {
		s.By = "threshold"
	}
	n := newSession(t, s)
	n.join(honest...)
	n.join("dan")
	n.gets(list)
	n.inStage(wire.Measuring)
	n.informs(honest[0], slices.Repeat([]int{12}, 20)...)
	for i, name := range honest {
		ms := make([]int, 20)
		for server := range ms {
			ms[server] = 10*server + 10 + i
		}
		n.measures(name, ms...)
		n.done(name)
	}
	return n
}
