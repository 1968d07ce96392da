package room_test

import (
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
)

func public(addr string) room.Origin { return room.Origin{Addr: netip.MustParseAddr(addr)} }

// together returns a room of two behind one address, and cat alone behind another.
func together(t *testing.T, s wire.Settings) *session {
	n := newSession(t, s)
	n.Origins = map[string]room.Origin{"ann": public("192.0.2.1"), "bob": public("192.0.2.1"), "cat": public("192.0.2.3")}
	n.Join("ann", "bob", "cat")
	return n
}

// takesAsked returns the servers that a player was asked for since the last time.
func (n *session) takesAsked(name string) (servers []int) {
	for _, ask := range n.takes(name) {
		servers = append(servers, ask.Servers...)
	}
	return servers
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
