package room_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
)

// named lets a player report the leaders' names that the room asks for.
func (n *session) named(name string) (asked []int) {
	for _, m := range n.Sent[name] {
		if ask, is := m.(wire.Ask); is && len(ask.Names) > 0 {
			infos := wire.Infos{Round: n.Round()}
			for _, server := range ask.Names {
				infos.Servers = append(infos.Servers, wire.ServerInfo{
					Server: server,
					Info:   discovery.Info{Name: fmt.Sprintf("server %d", server), MaxPlayers: 16},
				})
			}
			n.Says(name, infos)
			asked = append(asked, ask.Names...)
		}
	}
	return asked
}

// TestLeaders checks that pages show the three best servers while a search goes on, by name, with
// everybody's ping and the servers' places. They show no addresses, and the room shows nothing
// while no page is open.
func TestLeaders(t *testing.T) {
	n := coordinated(t)
	play := func(seconds int) {
		for range 5 * seconds {
			n.Wait(200 * time.Millisecond)
			n.named("ann")
			n.named("bob")
			n.answers(0, "ann")
			n.answers(1, "bob")
		}
	}
	play(2)
	if n.View().Standing != nil {
		t.Error("the room looks who leads for nobody")
	}
	n.Step(room.PageOpened{})
	play(3)
	s := n.View()
	if s.Standing == nil || len(s.Standing.Leaders) != 3 {
		t.Fatalf("who leads: %+v", s.Standing)
	}
	for i, leader := range s.Standing.Leaders {
		if leader.Name != fmt.Sprintf("server %d", leader.ID) || len(leader.RTT) != 2 || !leader.Complete || leader.Country == "" {
			t.Errorf("place %d: %+v", i+1, leader)
		}
		if i > 0 && leader.MeanMS < s.Standing.Leaders[i-1].MeanMS {
			t.Errorf("place %d is better than the one before", i+1)
		}
	}
	listed, answered, open := 0, 0, 0
	for _, place := range s.Standing.Places {
		listed, answered, open = listed+place.Listed, answered+place.Answered, open+place.Open
	}
	if listed != len(far()) || answered != s.Standing.Answered || answered == 0 || open < 3 || open > answered {
		t.Errorf("%d listed, %d and %d answered, %d could win", listed, answered, s.Standing.Answered, open)
	}
	if s.Room.Stage == wire.Refining && s.Room.Search == nil {
		t.Error("no bound")
	}
}

// TestLeadersUnmeasured checks that the leading servers are those that most players have measured,
// with their pings so far, before all have measured the same ones.
func TestLeadersUnmeasured(t *testing.T) {
	n := newSession(t, settings(2))
	n.Join("ann", "bob")
	n.Step(room.PageOpened{})
	n.Gets(far())
	n.Says("ann", wire.Report{Round: 1, Results: []discovery.Result{
		{Server: 1, State: discovery.Answered, RTT: 20 * time.Millisecond}, {Server: 2, State: discovery.Answered, RTT: 10 * time.Millisecond},
	}})
	n.Says("bob", wire.Report{Round: 1, Results: []discovery.Result{{Server: 3, State: discovery.Answered, RTT: 30 * time.Millisecond}}})
	n.Wait(time.Second)
	var got []string
	for _, leader := range n.View().Standing.Leaders {
		got = append(got, fmt.Sprint(leader.ID, leader.Complete, leader.RTT))
	}
	if got, want := strings.Join(got, "; "), "2 false map[ann:10]; 1 false map[ann:20]; 3 false map[bob:30]"; got != want {
		t.Errorf("%s lead, not %s", got, want)
	}
}
