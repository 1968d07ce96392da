package room_test

import (
	"fmt"
	"maps"
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/plan/topology"
	"muster/host/room"
	"muster/host/wire"
)

// quietly reports servers for a player that tell nothing of themselves.
func (n *session) quietly(name string, ms ...int) {
	n.Helper()
	infos := wire.Infos{Round: n.Round()}
	for server := range ms {
		infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server})
	}
	n.Says(name, infos)
	n.Measures(name, ms...)
}

// looksQuietly sends a player's second look at all finalists. The servers report no facts.
func (n *session) looksQuietly(name string) {
	n.Helper()
	asked := n.Looks[name]
	v := wire.Verified{Round: asked.Round, Attempt: asked.Attempt}
	for _, server := range asked.Servers {
		ms := float64(n.Saw(name, server).RTT.Milliseconds())
		v.Servers = append(v.Servers, wire.Finalist{
			Server: server,
			State:  discovery.Answered,
			RTTs:   []float64{ms},
			Sent:   3,
			Info:   &discovery.Info{},
		})
	}
	n.Says(name, v)
}

// TestSaid checks that the list speaks for servers that tell nothing of themselves. It gives their
// names and maps, keeps the group off full ones, and is marked as the source. An old list keeps the
// group off none.
func TestSaid(t *testing.T) {
	for _, c := range []struct {
		age    time.Duration
		server int
	}{{time.Minute, 1}, {5 * time.Minute, 1}, {5*time.Minute + time.Second, 0}} {
		n := newSession(t, settings(2))
		n.Join("ann", "bob")
		word := said(n.Now, c.age, 16, 3)
		n.Step(room.Listed{List: topology.New(room.Shared(listOf(3), nil)), Said: word})
		n.quietly("ann", 10, 20, 30)
		n.quietly("bob", 10, 20, 30)
		n.Done("ann", "bob")
		n.looksQuietly("ann")
		n.looksQuietly("bob")
		n.GoesTo(c.server)
		if want := fmt.Sprintf("listed %d (%v)", c.server, addrOf(c.server)); n.View().Way.Server != want || n.View().History[0].Map != "haven" {
			t.Errorf("a list of %v ago: everyone is sent to %q, want %q", c.age, n.View().Way.Server, want)
		}
		v := n.View()
		card := v.Choice.Servers[addrOf(c.server).String()]
		if !card.AsListed || card.Map != "haven" || card.MaxPlayers != 16 || !v.Room.Said.Equal(word.At) {
			t.Errorf("a list of %v ago: pages see %+v, of %v", c.age, card, v.Room.Said)
		}
		if other := v.Choice.Servers[addrOf(2).String()]; other.AsListed || other.Name != "" {
			t.Errorf("of a server of which the list says nothing pages see %+v", other)
		}
	}
}

// TestFullAsListed checks that a search of a long list asks nobody for servers that a fresh list
// calls full.
func TestFullAsListed(t *testing.T) {
	list := far()
	full := func(server int) bool { return server%2 == 0 }
	asked := func(age time.Duration) (wasted int) {
		s := settings(1)
		s.Strategy = wire.Coordinated
		n := newSession(t, s)
		n.Join("ann")
		word := discovery.Said{At: n.Now.Add(-age), Infos: map[netip.AddrPort]*discovery.Info{}}
		for server, s := range list {
			word.Infos[s.Addr] = &discovery.Info{Players: 16 * count(full(server)), MaxPlayers: 16, AsListed: true}
		}
		n.Step(room.Listed{List: topology.New(room.Shared(list, nil)), Said: word})
		for range 200 {
			n.Wait(200 * time.Millisecond)
			n.answersAs(0, "ann", func(player, server int) time.Duration {
				wasted += count(full(server))
				return farRTT(player, server)
			})
			if !n.isSearching() {
				break
			}
		}
		n.InStage(wire.Chosen)
		if chosen := n.Chosen().Server; full(chosen) && age == 0 {
			t.Errorf("server %d is chosen, which is full as the list says", chosen)
		}
		return wasted
	}
	if n := asked(0); n > 0 {
		t.Errorf("%d servers are asked that are full as the list says", n)
	}
	if n := asked(time.Hour); n == 0 {
		t.Error("an old list keeps servers from being asked")
	}
}

// culledNames returns the names of the servers that were ruled out, by their places in the list.
func culledNames(n *session) map[int]string {
	names := map[int]string{}
	for _, culled := range n.Room.View().Record.Culled() {
		for _, one := range culled.Servers {
			for server, listed := range listOf(n.View().Room.Listed) {
				if one.Addr == listed.Addr.String() {
					names[server] = one.Name
				}
			}
		}
	}
	return names
}

// TestSaidForgotten checks that a room that has launched or failed forgets the rest of the list's
// facts, because lists are long and rooms stay. Other rooms of the list lose nothing.
func TestSaidForgotten(t *testing.T) {
	for _, launches := range []bool{true, false} {
		n := newSession(t, settings(1))
		n.Join("ann")
		shared := said(n.Now, time.Minute, 3, 4, 5, 6)
		if !launches {
			shared.Infos[addrOf(0)].Players, shared.Infos[addrOf(1)].Players = 16, 16
		}
		n.Step(room.Listed{List: topology.New(room.Shared(listOf(4), nil)), Said: shared})
		n.quietly("ann", 10, 20)
		n.Done("ann")
		want := map[int]string{2: "", 3: ""}
		if launches {
			n.looksQuietly("ann")
			n.GoesTo(0)
			if card := n.View().Choice.Servers[addrOf(1).String()]; card.Name != "listed 1" {
				t.Errorf("of a server that was asked people see %+v", card)
			}
		} else {
			n.InStage(wire.Failed)
			want[0], want[1] = "listed 0", "listed 1"
		}
		if got := culledNames(n); !maps.Equal(got, want) {
			t.Errorf("launched: %v: servers are called %v, want %v", launches, got, want)
		}
		if len(shared.Infos) != 4 {
			t.Errorf("launched: %v: other rooms have no more than %v", launches, shared)
		}
		same(t, n.Room, restored(t, n.Room))
	}
}

// TestHeardBeforeSaid checks that players' own results go before the list's, and that the list
// names servers that nobody has asked for a name.
func TestHeardBeforeSaid(t *testing.T) {
	n := newSession(t, settings(2))
	n.Join("ann", "bob")
	n.Step(room.Listed{List: topology.New(room.Shared(listOf(2), nil)), Said: said(n.Now, 0, 16, 0)})
	n.Informs("ann", 12, 0) // the other way round than on the list
	n.Informs("bob", 12, 0)
	n.Measures("ann", 20, 10)
	n.Measures("bob", 20, 10)
	n.Done("ann", "bob")
	card := n.View().Choice.Servers[addrOf(0).String()]
	if card.Name != "listed 0" || card.Map != "oa_dm1" || card.Players != 4 || !card.AsListed {
		t.Errorf("pages see %+v", card)
	}
	n.Verifies("ann")
	n.Verifies("bob")
	n.GoesTo(0)
	if card = n.View().Choice.Servers[addrOf(0).String()]; card.Name != "server 0" || card.AsListed {
		t.Errorf("after the second look pages see %+v", card)
	}
}

// venues returns places of these names.
func venues(names ...string) (vs wire.Venues) {
	for i, name := range names {
		addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, 113, byte(i + 1)}), 7787)
		vs = append(vs, wire.Venue{Name: name, Addr: hostport.At(addr), Protocol: "beacon"})
	}
	return vs
}

// TestHomes checks that nobody is shown the addresses of players' computers, and that a program which names ever new
// ports of its router makes the others measure a few times only.
func TestHomes(t *testing.T) {
	s := settings(0)
	s.Seeks, s.Places = wire.SeekPlace, venues("London")
	n := newSession(t, s)
	for i, name := range []string{"ann", "bob"} {
		hello := n.Hello(name)
		n.Origins[name], hello.Beacon = room.Origin{Addr: netip.AddrFrom4([4]byte{203, 0, 113, byte(7 + i)})}, 7787
		n.JoinAs(hello)
	}
	asked := 0
	for port := range uint16(1000) {
		n.Says("bob", wire.Outside{Port: port + 1})
		asked += strings.Count(n.Took("ann"), "survey")
	}
	if places := n.Surveys["ann"].Places; asked == 0 || asked > 9 || places[len(places)-1].Name != "bob's computer" {
		t.Errorf("ann is asked %d times, at last for %v", asked, places)
	}
	if shown := fmt.Sprintf("%+v", n.View()); strings.Contains(shown, "203.0.113") {
		t.Error("a player's address is shown")
	}
	same(t, n.Room, restored(t, n.Room))
}
