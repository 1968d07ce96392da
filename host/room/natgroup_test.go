package room_test

import (
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
	"muster/selection"
)

func public(addr string) room.Origin { return room.Origin{Addr: netip.MustParseAddr(addr)} }

// together returns a room of two behind one address, and cat alone behind another.
func together(t *testing.T, s wire.Settings) *session {
	n := newSession(t, s)
	n.Origins = map[string]room.Origin{"ann": public("192.0.2.1"), "bob": public("192.0.2.1"), "cat": public("192.0.2.3")}
	n.Join("ann", "bob", "cat")
	return n
}

// lists lets everyone hear of free seats on a list of servers.
func (n *session) lists(servers int) {
	n.Listed(servers)
	for _, name := range n.Players() { // results that the room did not ask for do not count
		n.Informs(name, slices.Repeat([]int{12}, servers)...)
	}
}

// takesAsked returns the servers that a player was asked for since the last time.
func (n *session) takesAsked(name string) (servers []int) {
	for _, ask := range n.takes(name) {
		servers = append(servers, ask.Servers...)
	}
	return servers
}

// TestSiteSharesTheList checks that players behind one address ask each server once, together, and
// that a result of one counts for both.
func TestSiteSharesTheList(t *testing.T) {
	n := together(t, settings(3))
	n.lists(10)
	if m := n.Sent["cat"][2].(wire.Measure); m.Strategy != "conventional" {
		t.Errorf("cat, who is alone, is to measure %q", m.Strategy)
	}
	if m := n.Sent["ann"][2].(wire.Measure); m.Strategy != wire.Coordinated {
		t.Errorf("ann is to measure %q", m.Strategy)
	}
	ann, bob := n.takesAsked("ann"), n.takesAsked("bob")
	if len(ann) != 5 || !slices.Equal(slices.Sorted(slices.Values(append(slices.Clone(ann), bob...))), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Fatalf("ann is asked for %v and bob for %v", ann, bob)
	}
	n.Done("ann", "bob") // the end of a player's own plan is not the group's
	n.Measures("cat", 50, 50, 50, 50, 50, 50, 50, 50, 50, 50)
	n.Done("cat")
	n.Finds("ann", discovery.Answered, 30*time.Millisecond, ann...)
	n.InStage(wire.Measuring)
	n.Finds("bob", discovery.Answered, 30*time.Millisecond, bob...)
	n.InStage(wire.Chosen)
	n.Noted("2 players behind one address have measured 10 servers together, 10 answered")
	if c := n.Chosen(); c.RTT["ann"] != 30 || c.RTT["bob"] != 30 || c.RTT["cat"] != 50 {
		t.Errorf("chosen with %v", c.RTT)
	}
	for _, m := range n.View().People {
		if m.Probed != 10 || m.Answered != 10 {
			t.Errorf("%s knows of %d servers, %d answered", m.Name, m.Probed, m.Answered)
		}
	}
}

// TestSharedLost checks that a server that is silent to one player is asked by the other, and is
// lost only if it is silent to both. A player's own second look counts more.
func TestSharedLost(t *testing.T) {
	n := together(t, settings(3))
	n.lists(4)
	ann, bob := n.takesAsked("ann"), n.takesAsked("bob")
	n.Measures("cat", 50, 50, 50, 50)
	n.Done("cat")
	n.Finds("ann", discovery.Lost, 0, ann...)
	if again := n.takesAsked("bob"); !slices.Equal(again, ann) {
		t.Fatalf("bob is asked for %v, want what was silent for ann: %v", again, ann)
	}
	n.Finds("bob", discovery.Answered, 30*time.Millisecond, append(bob, ann[0])...)
	n.InStage(wire.Measuring)
	n.Finds("bob", discovery.Lost, 0, ann[1])
	if again := n.takesAsked("ann"); len(again) > 0 {
		t.Errorf("ann is asked again for %v", again)
	}
	n.InStage(wire.Chosen)
	if s := n.Choice(); s.Culled.Unreachable != 1 || len(s.Ranking) != 3 {
		t.Errorf("culled %+v, ranked %d", s.Culled, len(s.Ranking))
	}
	n.Says("ann", wire.Verified{Round: 1, Attempt: 1, Servers: []wire.Finalist{
		{Server: ann[0], State: discovery.Lost, Sent: 3},
		{Server: bob[0], State: discovery.Answered, RTTs: []float64{31}, Sent: 3},
	}})
	n.Verifies("bob")
	n.Verifies("cat")
	n.looksAlone("ann", 2, ann[0])
	n.Says("ann", wire.Verified{Round: 1, Attempt: 2, Servers: []wire.Finalist{{Server: ann[0], State: discovery.Lost, Sent: 2}}})
	n.InStage(wire.Launching)
	// Ann reaches bob's two servers, and bob all but the one that was silent for both.
	reaches := map[int]string{}
	for _, culled := range n.Room.View().Record.Culled()[selection.Unreachable].Servers {
		for _, name := range []string{"ann", "bob"} {
			if _, is := culled.RTT[name]; is {
				reaches[slices.IndexFunc(listOf(4), func(s discovery.Server) bool { return s.Addr.String() == culled.Addr })] += name
			}
		}
	}
	if want := map[int]string{ann[0]: "bob"}; !maps.Equal(reaches, want) {
		t.Errorf("of what is out of reach for some these reach: %v, want %v", reaches, want)
	}
	for server, want := range map[int][]float64{ann[0]: nil, bob[0]: {31, 30}, bob[1]: {30, 30}} {
		at := slices.IndexFunc(n.Choice().Ranking, func(c selection.Ranked) bool { return c.Server == server })
		switch {
		case (at >= 0) != (want != nil):
			t.Errorf("server %d is ranked: %v, and ann lost it in her own look: %v", server, at >= 0, want == nil)
		case at >= 0:
			if rtt := n.Choice().Ranking[at].RTT; rtt["ann"] != want[0] || rtt["bob"] != want[1] {
				t.Errorf("server %d has %v, want %v", server, rtt, want)
			}
		}
	}
}

// TestSharerLeaves checks that the other player of a NAT group asks the servers that a player who
// left did not reach.
func TestSharerLeaves(t *testing.T) {
	n := together(t, settings(3))
	n.lists(10)
	ann, bob := n.takesAsked("ann"), n.takesAsked("bob")
	n.Finds("bob", discovery.Answered, 30*time.Millisecond, bob[0])
	n.Gone("bob")
	n.Wait(tick)
	if got := n.takesAsked("ann"); !slices.Equal(got, bob[1:]) {
		t.Fatalf("ann is asked for %v, want the rest of bob's: %v", got, bob[1:])
	}
	n.Finds("ann", discovery.Answered, 30*time.Millisecond, append(ann, bob[1:]...)...)
	n.Measures("cat", 50, 50, 50, 50, 50, 50, 50, 50, 50, 50)
	n.Done("cat")
	n.InStage(wire.Chosen) // bob has left, and has nothing left to do
	if got := n.Choice().Players; len(got) != 3 {
		t.Errorf("chosen for %v", got)
	}
}

// TestSharerReturns checks that a player who comes back within a moment is asked again, even if the
// host was restarted meanwhile.
func TestSharerReturns(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		n := together(t, settings(3))
		n.lists(10)
		n.takesAsked("ann")
		bob := n.takesAsked("bob")
		wanted := map[bool][]int{false: bob, true: {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}} // a restarted host knows of no open questions
		if restarted {
			n.Restarts(0)
			n.Join("ann", "cat")
		}
		n.Join("bob")
		n.Wait(tick)
		asked := slices.Sorted(slices.Values(append(n.takesAsked("ann"), n.takesAsked("bob")...)))
		if want := wanted[restarted]; !slices.Equal(asked, want) {
			t.Errorf("restarted %v: the two are asked for %v, want %v", restarted, asked, want)
		}
	}
}

// TestLatecomer checks that a player who joins a NAT group that has measured gets its results.
func TestLatecomer(t *testing.T) {
	n := newSession(t, settings(3))
	n.Origins = map[string]room.Origin{"ann": public("192.0.2.1"), "bob": public("192.0.2.1"), "eve": public("192.0.2.1")}
	n.Join("ann", "bob")
	n.Goes()
	n.lists(10)
	n.Finds("ann", discovery.Answered, 30*time.Millisecond, n.takesAsked("ann")...)
	n.Join("eve")
	n.Wait(tick)
	if got := n.takesAsked("eve"); len(got) > 0 {
		t.Errorf("eve is asked for %v", got)
	}
	n.Finds("bob", discovery.Answered, 30*time.Millisecond, n.takesAsked("bob")...)
	n.InStage(wire.Chosen)
	if got := n.Chosen().RTT["eve"]; got != 30 {
		t.Errorf("eve's RTT is %v", got)
	}
}

// TestRefiningTogether checks that a NAT group counts as one player of the search. No server is
// asked twice, and the choice is the same as without it.
func TestRefiningTogether(t *testing.T) {
	s := settings(3)
	s.Strategy = wire.Coordinated
	n := together(t, s)
	n.Gets(far())
	n.InStage(wire.Refining)
	asked := map[int]int{}
	for range 200 {
		n.Wait(200 * time.Millisecond)
		for _, name := range []string{"ann", "bob"} {
			for _, m := range n.Sent[name] {
				if ask, ok := m.(wire.Ask); ok {
					for _, server := range ask.Servers {
						asked[server]++
					}
				}
			}
			n.answers(0, name)
		}
		n.answers(1, "cat")
		if n.Room.Stage() != wire.Refining {
			break
		}
	}
	n.InStage(wire.Chosen)
	for server, times := range asked {
		if times > 1 {
			t.Errorf("server %d was asked %d times from one address", server, times)
		}
	}
	best := n.Chosen()
	for server := range far() {
		mean := float64(2*farRTT(0, server)+farRTT(1, server)) / 3e6
		if mean < best.MeanMS-2 {
			t.Fatalf("chosen with %.1f ms, server %d has %.1f", best.MeanMS, server, mean)
		}
	}
}

// TestOnePacket checks that the loss of a single packet counts for nobody if each of many players
// behind one address sends one, and that a server's silence does count.
func TestOnePacket(t *testing.T) {
	for lost, want := range map[int]int{1: 2, 3: 2, 4: 1, 6: 1} {
		n := newSession(t, settings(6))
		names := []string{"ann", "bob", "cat", "dan", "eve", "fay"}
		for _, name := range names {
			n.Origins[name] = public("192.0.2.1")
		}
		n.Join(names...)
		n.Listed(2)
		for _, name := range names {
			n.Informs(name, 12, 12)
			n.Finds(name, discovery.Answered, 30*time.Millisecond, n.takesAsked(name)...)
		}
		n.InStage(wire.Chosen)
		for i, name := range names {
			for _, m := range n.Sent[name] {
				if f := m.(wire.Finalists); f.Samples != 1 {
					t.Fatalf("%s is to send %d packets", name, f.Samples)
				}
			}
			v := wire.Verified{Round: 1, Attempt: 1, Servers: []wire.Finalist{
				{Server: 0, State: discovery.Answered, RTTs: []float64{30}, Sent: 1},
				{Server: 1, State: discovery.Answered, RTTs: []float64{30}, Sent: 1},
			}}
			if i < lost {
				v.Servers[1] = wire.Finalist{Server: 1, State: discovery.Lost, Sent: 1}
			}
			n.Says(name, v)
		}
		for _, name := range names[:lost] {
			if again := 2*lost > len(names) && lost < len(names); again { // some got an answer: the shared line may be at fault
				n.looksAlone(name, 2, 1)
				n.Says(name, wire.Verified{Round: 1, Attempt: 2, Servers: []wire.Finalist{{Server: 1, State: discovery.Lost, Sent: 2}}})
			}
		}
		n.InStage(wire.Launching)
		if got := len(n.Choice().Ranking); got != want {
			t.Errorf("%d of 6 packets lost: %d servers are left, want %d", lost, got, want)
		}
	}
}

// TestElsewhere checks that the room notices that homes far from each other share an address.
func TestElsewhere(t *testing.T) {
	n := together(t, settings(3))
	n.lists(4)
	ann, bob := n.takesAsked("ann"), n.takesAsked("bob")
	n.Measures("cat", 50, 50, 50, 50)
	n.Done("cat")
	n.Finds("ann", discovery.Answered, 30*time.Millisecond, ann...)
	n.Finds("bob", discovery.Answered, 30*time.Millisecond, bob...)
	n.InStage(wire.Chosen)
	looks := func(ms float64) wire.Verified {
		v := wire.Verified{Round: 1, Attempt: 1}
		for server := range 4 {
			v.Servers = append(v.Servers, wire.Finalist{Server: server, State: discovery.Answered, RTTs: []float64{ms}, Sent: 1})
		}
		return v
	}
	n.Says("ann", looks(35))
	n.Says("bob", looks(140))
	n.Noted("what the others behind bob’s address measured isn’t right for bob, who now measures alone")
	n.Verifies("cat")
	n.InStage(wire.Launching)
	n.Goes()
	n.Took("ann")
	n.Took("bob")
	n.Listed(4)
	for _, name := range []string{"ann", "bob"} {
		if m := got[wire.Measure](n, name); m.Strategy != "conventional" {
			t.Errorf("in the next round %s shares a list with nobody, and is to measure %q", name, m.Strategy)
		}
	}
}
