package room_test

import (
	"strings"
	"testing"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
	"muster/selection/anomaly"
)

// alone returns a room of five players along a line of sixty servers, one every 10 ms. Dan is at
// its beginning. He contradicts the others about a favourite, in the look or before.
func alone(t *testing.T, favourite int, reported, looked float64) *session {
	const servers = 60
	places := map[string]int{"ann": 250, "bob": 300, "cat": 350, "eve": 300, "dan": 0}
	n := newSession(t, settings(len(places)))
	names := []string{"ann", "bob", "cat", "eve", "dan"}
	n.Join(names...)
	n.Gets(spreadOut(servers))
	n.InStage(wire.Measuring)
	informed := make([]int, servers)
	for server := range informed {
		informed[server] = 12
	}
	n.Informs("ann", informed...)
	for _, name := range names {
		n.Took(name)
		ms := make([]int, servers)
		for server := range ms {
			ms[server] = 5 + max(places[name]-10*server, 10*server-places[name])
		}
		if name == "dan" {
			ms[favourite] = int(reported)
		}
		n.Measures(name, ms...)
	}
	n.Done(names...)
	n.InStage(wire.Chosen)
	for _, name := range names {
		if name != "dan" {
			n.Verifies(name)
			continue
		}
		look := n.Looks[name]
		v := wire.Verified{Round: 1, Attempt: look.Attempt}
		for _, server := range look.Servers {
			rtt := float64(5 + 10*server)
			if server == favourite {
				rtt = looked
			}
			v.Servers = append(v.Servers, wire.Finalist{Server: server, State: discovery.Answered, Sent: 3, RTTs: []float64{rtt, rtt}})
		}
		n.Says(name, v)
	}
	return n
}

// TestOneAloneIsSoNear checks that a server is not chosen for a ping that only one player has, if
// all other measurements contradict it. The room says so, and the organiser may overrule it.
func TestOneAloneIsSoNear(t *testing.T) {
	n := alone(t, 39, 1, 1)
	isChosen := func(server int) {
		t.Helper()
		if chosen := n.Chosen().Server; chosen != server {
			t.Errorf("server %d is chosen, want %d; the log:\n%s", chosen, server, n.Story())
		}
	}
	n.Noted("dan’s ping for 20.39.0.1:27960 is too low: servers right next to it for everyone else are much " +
		"farther from dan. It counts as 385 ms, not as 1")
	same(t, n.Room, restored(t, n.Room))
	isChosen(30)
	if doubts := n.Choice().Doubts; len(doubts) != 1 || doubts[0].Player != "dan" || doubts[0].Sign != anomaly.Nearer {
		t.Errorf("doubts are %v", doubts)
	}
	for _, p := range n.View().People {
		if !p.Doubt.IsZero() != (p.Name == "dan") || p.LeftOut {
			t.Errorf("%s is doubted: %q, left out: %v", p.Name, p.Doubt, p.LeftOut)
		}
	}
	if rtt := n.Chosen().RTT["dan"]; rtt != 305 {
		t.Errorf("dan's other pings count, too: %v ms", rtt)
	}
	if err := n.Orders(room.Trust{Name: "dan"}); err != nil {
		t.Fatal(err)
	}
	isChosen(39)
	same(t, n.Room, restored(t, n.Room))
}

// TestNearerIsNoLie checks that a ping that a better route may explain counts as it is.
func TestNearerIsNoLie(t *testing.T) {
	n := alone(t, 39, 345, 345)
	if strings.Contains(n.Story(), "too low") {
		t.Errorf("the log:\n%s", n.Story())
	}
}

// TestOnlyOneToSay checks that a group of three ignores nobody's ping: two players cannot tell
// which server is near to the third.
func TestOnlyOneToSay(t *testing.T) {
	n := measuringOn(t, spreadOut(20), nil, "ann", "bob")
	made := make([]int, 20)
	for server := range made {
		made[server] = 200 - 10*server
	}
	n.Measures("dan", made...)
	n.Done("ann", "bob", "dan")
	n.InStage(wire.Chosen)
	for _, ranked := range n.Choice().Ranking {
		if rtt := ranked.RTT["dan"]; rtt != float64(made[ranked.Server]) {
			t.Errorf("dan's ping for server %d is raised: %v ms", ranked.Server, rtt)
		}
	}
}

// TestLookBesideTheReport checks that a second look is not believed if it finds a server next door
// that everybody, the player included, had measured far away.
func TestLookBesideTheReport(t *testing.T) {
	const favourite = 27
	n := alone(t, favourite, 5+10*favourite, 0.1)
	n.Noted("dan’s ping for 20.27.0.1:27960 is too low: servers right next to it for everyone else are much " +
		"farther from dan. It counts as 275 ms, not as 0")
	if server := n.Chosen().Server; server == favourite {
		t.Errorf("that is chosen; the log:\n%s", n.Story())
	}
}
