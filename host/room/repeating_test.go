package room_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// darkplaces are servers that answer all of a session's players as one address, once a second.
type darkplaces struct{ last map[int]time.Time }

// answers reports whether a server answers a packet that comes at a time.
func (d *darkplaces) answers(server int, at time.Time) bool {
	if last, asked := d.last[server]; asked && at.Sub(last) < time.Second {
		return false
	}
	d.last[server] = at
	return true
}

// look lets all players who were asked look at the servers of these names, each at the given time,
// and then report what they saw. It reports whether anybody was asked.
func (d *darkplaces) look(n *session, names []string) (looked bool) {
	type packet struct {
		at     time.Time
		player string
		server int
	}
	var packets []packet
	asked, answered := map[string]wire.Finalists{}, map[packet]int{}
	const own = 1100 * time.Millisecond // a program's own time between samples
	for i, name := range names {
		for _, m := range n.Sent[name] {
			if f, ok := m.(wire.Finalists); ok {
				asked[name] = f
			}
		}
		delete(n.Sent, name)
		f := asked[name]
		for _, server := range f.Servers {
			for sample := range f.Samples {
				after := time.Duration(f.After) + time.Duration(sample)*max(own, time.Duration(f.Every))
				packets = append(packets, packet{n.Now.Add(after + time.Duration(i)*time.Millisecond), name, server})
			}
		}
	}
	slices.SortStableFunc(packets, func(a, b packet) int { return a.at.Compare(b.at) })
	for _, p := range packets {
		if d.answers(p.server, p.at) {
			answered[packet{player: p.player, server: p.server}]++
		}
		n.Wait(max(0, p.at.Sub(n.Now)))
	}
	for _, name := range names {
		f, isAsked := asked[name]
		if !isAsked {
			continue
		}
		v := wire.Verified{Round: f.Round, Attempt: f.Attempt}
		for _, server := range f.Servers {
			seen := wire.Finalist{Server: server, State: discovery.Lost, Sent: f.Samples}
			if times := answered[packet{player: name, server: server}]; times > 0 {
				seen.State, seen.RTTs = discovery.Answered, slices.Repeat([]float64{30}, times)
				seen.Info = &discovery.Info{Name: "x", MaxPlayers: 16}
			}
			v.Servers = append(v.Servers, seen)
		}
		n.Says(name, v)
		looked = true
	}
	return looked
}

// TestOneAddress checks that players who share an address go to a server, though each server
// answers them only once a second and the room does not know that they share.
func TestOneAddress(t *testing.T) {
	for players := 2; players <= 6; players++ {
		for _, servers := range []int{1, 2, 8} {
			t.Run(fmt.Sprintf("%d players, %d servers", players, servers), func(t *testing.T) {
				n := newSession(t, settings(players))
				names := []string{"ann", "bob", "cat", "dan", "eve", "fay"}[:players]
				n.Join(names...)
				n.Listed(servers)
				for _, name := range names {
					n.Informs(name, slices.Repeat([]int{12}, servers)...)
					n.Measures(name, slices.Repeat([]int{30}, servers)...)
					n.Done(name)
				}
				d := darkplaces{map[int]time.Time{}}
				for d.look(n, names) {
				}
				n.InStage(wire.Launching)
			})
		}
	}
}
