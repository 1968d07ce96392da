package room

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/topology"
	"muster/host/wire"
	"muster/selection"
)

// said is a list's word on the first servers, from some time ago: who is there, of 16.
func said(now time.Time, age time.Duration, players ...int) discovery.Said {
	s := discovery.Said{At: now.Add(-age), Infos: map[netip.AddrPort]*discovery.Info{}}
	for server, n := range players {
		s.Infos[addr(server)] = &discovery.Info{Name: fmt.Sprint("listed ", server), Map: "haven", Players: n, MaxPlayers: 16, AsListed: true}
	}
	return s
}

// quietly has players measure servers that tell nothing of themselves.
func (n *session) quietly(name string, ms ...int) {
	n.Helper()
	infos := wire.Infos{Round: n.room.round.number}
	for server := range ms {
		infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server})
	}
	n.says(name, infos)
	n.measures(name, ms...)
}

// looksQuietly is a second look at all finalists, which tell nothing of themselves.
func (n *session) looksQuietly(name string) {
	n.Helper()
	v := wire.Verified{Round: n.room.round.number, Attempt: n.room.round.looks.Save().Attempt}
	for _, server := range n.room.round.looks.Servers() {
		rtt := n.room.round.player(name).witness.At(server).RTT
		v.Servers = append(v.Servers, wire.Finalist{Server: server, State: discovery.Answered, RTTs: []float64{float64(rtt.Milliseconds())}, Sent: 3, Info: &discovery.Info{}})
	}
	n.says(name, v)
}

// TestSaid: of servers that tell nothing the list does: it gives them their names and
// maps, keeps the group off those that are full, and is marked. An old list keeps it
// off none.
func TestSaid(t *testing.T) {
	for _, c := range []struct {
		age    time.Duration
		server int
	}{{time.Minute, 1}, {5 * time.Minute, 1}, {5*time.Minute + time.Second, 0}} {
		n := newSession(t, settings(2))
		n.join("ann", "bob")
		n.step(Listed{List: topology.New(Shared(listOf(3), nil)), Said: said(n.now, c.age, 16, 3)})
		n.quietly("ann", 10, 20, 30)
		n.quietly("bob", 10, 20, 30)
		n.done("ann", "bob")
		n.looksQuietly("ann")
		n.looksQuietly("bob")
		n.goesTo(c.server)
		if want := fmt.Sprintf("listed %d (%v)", c.server, addr(c.server)); n.launch().Name != want || n.view().History[0].Map != "haven" {
			t.Errorf("a list of %v ago: everyone is sent to %q, want %q", c.age, n.launch().Name, want)
		}
		v := n.view()
		card := v.Choice.Servers[addr(c.server).String()]
		if !card.AsListed || card.Map != "haven" || card.MaxPlayers != 16 || !v.Room.Said.Equal(n.room.round.servers.Said.At) {
			t.Errorf("a list of %v ago: pages see %+v, of %v", c.age, card, v.Room.Said)
		}
		if other := v.Choice.Servers[addr(2).String()]; other.AsListed || other.Name != "" {
			t.Errorf("of a server of which the list says nothing pages see %+v", other)
		}
	}
}

// TestHeardBeforeSaid: what players hear goes before what the list says, and the list
// gives names to whom nobody has asked for one.
func TestHeardBeforeSaid(t *testing.T) {
	n := newSession(t, settings(2))
	n.join("ann", "bob")
	n.step(Listed{List: topology.New(Shared(listOf(2), nil)), Said: said(n.now, 0, 16, 0)})
	n.informs("ann", 12, 0) // the list has them the other way round
	n.informs("bob", 12, 0)
	n.measures("ann", 20, 10)
	n.measures("bob", 20, 10)
	n.done("ann", "bob")
	card := n.view().Choice.Servers[addr(0).String()]
	if card.Name != "listed 0" || card.Map != "oa_dm1" || card.Players != 4 || !card.AsListed {
		t.Errorf("pages see %+v", card)
	}
	n.verifies("ann")
	n.verifies("bob")
	n.goesTo(0)
	if card = n.view().Choice.Servers[addr(0).String()]; card.Name != "server 0" || card.AsListed {
		t.Errorf("after the second look pages see %+v", card)
	}
}

// TestFullAsListed: a search of a long list asks nobody for servers that are full as the
// list says, unless that is old.
func TestFullAsListed(t *testing.T) {
	list := far()
	full := func(server int) bool { return server%2 == 0 }
	asked := func(age time.Duration) (wasted int) {
		s := settings(1)
		s.Strategy = wire.Coordinated
		n := newSession(t, s)
		n.join("ann")
		word := discovery.Said{At: n.now.Add(-age), Infos: map[netip.AddrPort]*discovery.Info{}}
		for server, s := range list {
			word.Infos[s.Addr] = &discovery.Info{Players: 16 * count(full(server)), MaxPlayers: 16, AsListed: true}
		}
		n.step(Listed{List: topology.New(Shared(list, nil)), Said: word})
		for range 200 {
			n.wait(200 * time.Millisecond)
			n.answersAs(0, "ann", func(player, server int) time.Duration {
				wasted += count(full(server))
				return farRTT(player, server)
			})
			if n.room.phase.stage() != wire.Refining {
				break
			}
		}
		n.inStage(wire.Chosen)
		if chosen := n.room.round.choice.Newest().Chosen.Server; full(chosen) && age == 0 {
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

// TestSaidSaved: a room that comes back knows what the list said of servers that somebody
// has asked and that tell less themselves, and no more.
func TestSaidSaved(t *testing.T) {
	n := newSession(t, settings(2))
	n.join("ann", "bob")
	n.step(Listed{List: topology.New(Shared(listOf(4), nil)), Said: said(n.now, time.Minute, 3, 4, 5, 6)})
	for _, name := range []string{"ann", "bob"} {
		n.says(name, wire.Infos{Round: 1, Servers: []wire.ServerInfo{
			{Server: 0}, {Server: 1, Info: discovery.Info{Name: "own", Map: "own", Mode: "own", Version: "own", MaxPlayers: 2}},
		}})
	}
	n.measures("ann", 10, 20)
	n.measures("bob", skip, 20, lost)
	back := restored(t, n.room)
	same(t, n.room, back)
	var kept []int
	for server, s := range back.round.servers.List {
		if info := back.round.servers.Said.Infos[s.Addr]; info != nil {
			kept = append(kept, server)
			if *info != *n.room.round.servers.Said.Infos[s.Addr] {
				t.Errorf("of server %d the list said %+v", server, info)
			}
		}
	}
	if !slices.Equal(kept, []int{0, 2}) || !back.round.servers.Said.At.Equal(n.room.round.servers.Said.At) {
		t.Errorf("what the list said at %v of %v is kept", back.round.servers.Said.At, kept)
	}
	same(t, back, restored(t, back))
}

// TestSaidForgotten: a room that has launched, or failed, holds no more of a list's word
// than that, as lists are long and rooms stay; other rooms of the list lose nothing.
func TestSaidForgotten(t *testing.T) {
	for _, launches := range []bool{true, false} {
		n := newSession(t, settings(1))
		n.join("ann")
		shared := said(n.now, time.Minute, 3, 4, 5, 6)
		if !launches {
			shared.Infos[addr(0)].Players, shared.Infos[addr(1)].Players = 16, 16
		}
		n.step(Listed{List: topology.New(Shared(listOf(4), nil)), Said: shared})
		n.quietly("ann", 10, 20)
		n.done("ann")
		if launches {
			n.looksQuietly("ann")
			n.goesTo(0)
		} else {
			n.inStage(wire.Failed)
		}
		r := &n.room.round
		if len(r.servers.Said.Infos) != 2 || len(shared.Infos) != 4 || r.servers.Said.Infos[addr(0)] == shared.Infos[addr(0)] {
			t.Errorf("launched: %v: the room holds %v of %v", launches, r.servers.Said, shared)
		}
		unmeasured := n.room.Record().Culled()[selection.Unmeasured].Servers
		if len(unmeasured) != 2 || unmeasured[0].Name != "" || unmeasured[1].Name != "" {
			t.Errorf("launched: %v: the record of the choice holds %+v", launches, unmeasured)
		}
		if r.servers.Called(1) != "listed 1 ("+addr(1).String()+")" {
			t.Errorf("launched: %v: a server that was asked is called %s", launches, r.servers.Called(1))
		}
		same(t, n.room, restored(t, n.room))
	}
}
