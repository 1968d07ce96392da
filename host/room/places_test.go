package room_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/room"
	"muster/host/wire"
)

// venues returns places of these names.
func venues(names ...string) (vs wire.Venues) {
	for i, name := range names {
		vs = append(vs, wire.Venue{
			Name:     name,
			Addr:     hostport.At(netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, 113, byte(i + 1)}), 7787)),
			Protocol: "beacon",
		})
	}
	return vs
}

// surveyed answers the newest survey for a player, in ms by place.
func (n *session) surveyed(name string, ms ...int) {
	n.Helper()
	m := wire.Surveyed{Attempt: n.Surveys[name].Attempt}
	for place, rtt := range ms {
		f := wire.Finalist{Server: place, State: discovery.Lost, RTTs: []float64{}, Sent: 3}
		if rtt > 0 {
			f.State, f.RTTs = discovery.Answered, []float64{float64(rtt) + 5, float64(rtt)}
		}
		m.Places = append(m.Places, f)
	}
	n.Says(name, m)
}

// comesWith joins from somewhere, with a beacon.
func (n *session) comesWith(name string, from room.Origin, beacon uint16) {
	n.Helper()
	hello := n.Hello(name)
	n.Origins[name], hello.Beacon = from, beacon
	n.JoinAs(hello)
}

// TestHomes checks that the players' computers are measured like places while all who are here
// agree, each player's own as next to nothing. A player who does not agree gets nobody's address.
func TestHomes(t *testing.T) {
	n := newSession(t, settings(0))
	n.As["ann"] = n.Room.Keys().Secret
	join := func(name string, last byte, beacon uint16) {
		t.Helper()
		n.comesWith(name, room.Origin{Addr: netip.AddrFrom4([4]byte{203, 0, 113, last})}, beacon)
	}
	join("ann", 1, 7787)
	join("bob", 2, 4000)
	if err := n.Orders(room.Survey{}); err != nil {
		t.Fatal(err)
	}
	for _, m := range n.Sent["bob"] {
		if s, is := m.(wire.Survey); is {
			want := venues("ann's computer", "bob's computer")
			want[1].Addr = hostport.At(netip.AddrPortFrom(want[1].Addr.Addr(), 4000))
			if !s.Places.Equal(want) {
				t.Errorf("bob measures %v", s.Places)
			}
		}
	}
	if got := n.Took("bob"); !strings.Contains(got, "survey") {
		t.Errorf("bob is sent %s", got)
	}
	n.surveyed("ann", lost, 40)
	n.surveyed("bob", lost, lost)
	var got []string
	for _, s := range n.View().Sites.Sites {
		got = append(got, fmt.Sprint(s.Name, " ", s.Figures, " ", s.Silent))
	}
	if want := []string{"bob's computer 20/40 []", "ann's computer 0/0 [bob]"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	n.Noted("your own server: bob's computer would give 20/40 ms (average/worst)")
	if shown := fmt.Sprintf("%+v", n.View()); strings.Contains(shown, "203.0.113") {
		t.Error("a player's address is shown")
	}
	same(t, n.Room, restored(t, n.Room))
	join("cat", 3, 0)
	if got := n.Took("cat"); strings.Contains(got, "survey") || n.View().Sites != nil {
		t.Errorf("who has not agreed is sent %s, and shown %+v", got, n.View().Sites)
	}
	n.Wait(time.Minute)
	if err := n.Orders(room.Survey{}); err == nil {
		t.Error("computers are measured although cat has not agreed")
	}
}
