package room_test

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room"
	"muster/host/wire"
	"muster/internal/catalogue"
)

// venues returns places of these names.
func venues(names ...string) (vs wire.Venues) {
	for i, name := range names {
		vs = append(vs, wire.Venue{
			Name:     name,
			Addr:     netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, 113, byte(i + 1)}), 7787),
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

// farFromAll returns a room of two with places. Nothing suits: its best server is 10 and 190 ms
// away.
func farFromAll(t *testing.T, limit time.Duration, places ...string) *session {
	t.Helper()
	s := settings(2)
	s.By, s.Limits, s.Places = "threshold", wire.Limits{limit}, venues(places...)
	n := newSession(t, s)
	n.As["ann"] = n.Room.Keys().Secret
	n.Join("ann", "cat")
	n.Listed(2)
	n.Informs("ann", 12, 12)
	n.Measures("ann", 10, 40)
	n.Measures("cat", 190, 185)
	n.Done("ann", "cat")
	return n
}

// TestPlaces checks that everyone measures the places once if no server suits, and that the room
// says where one would, by its rule.
func TestPlaces(t *testing.T) {
	n := farFromAll(t, 100*time.Millisecond, "London", "Frankfurt", "Sydney", "Paris")
	n.InStage(wire.Failed)
	for _, name := range []string{"ann", "cat"} {
		if got := n.Took(name); strings.Count(got, "survey") != 1 {
			t.Errorf("%s is sent %s", name, got)
		}
	}
	if got := n.View().Sites; got == nil || !got.Answer.IsZero() && got.Answer.Key != "sites.none-answered" || len(got.Waiting) != 2 {
		t.Errorf("before anybody answered: %+v", got)
	}
	n.surveyed("ann", 40, 34, 300, 20)
	n.surveyed("cat", 60, 62, 20, lost)
	sites := n.View().Sites
	var order []string
	for _, s := range sites.Sites {
		order = append(order, fmt.Sprintf("%s %v %v %v", s.Name, s.Suits, s.Figures, s.Silent))
	}
	want := []string{"Frankfurt true 48/62 []", "London true 50/60 []", "Sydney false 160/300 []", "Paris false 0/0 [cat]"}
	if !slices.Equal(order, want) || !sites.Better || len(sites.Waiting) != 0 || *sites.Now != (wire.Figures{MeanMS: 100, MaxMS: 190}) {
		t.Errorf("%q, %+v", order, sites)
	}
	n.Noted("your own server would suit everyone: Frankfurt would give 48/62 ms (average/worst), London 50/60; " +
		"the best existing server gives 100/190")
	for _, p := range n.View().Room.Places {
		t.Errorf("the page is told where %s is", p.Name)
	}
	if got := n.View().Room.Candidates; !slices.Equal(got, []string{"London", "Frankfurt", "Sydney", "Paris"}) {
		t.Errorf("candidates %q", got)
	}
	same(t, n.Room, restored(t, n.Room))
}

// TestPlacesAnew checks that a player who comes later measures the places too, and that the others
// do so again only for the organiser or for another list.
func TestPlacesAnew(t *testing.T) {
	n := farFromAll(t, 100*time.Millisecond, "A")
	n.surveyed("ann", 20)
	n.surveyed("cat", 30)
	n.Took("ann")
	n.Gone("ann")
	n.Join("ann")
	if got := n.Took("ann"); strings.Contains(got, "survey") {
		t.Errorf("who has measured them is sent %s", got)
	}
	if err := n.Orders(room.Survey{}); err == nil {
		t.Error("the places are measured again at once")
	}
	n.Wait(time.Minute)
	if err := n.Acts(n.PageOf("cat"), room.Survey{}); reason(err) != wire.ReasonSecret {
		t.Errorf("cat orders it: %v", err)
	}
	if err := n.Orders(room.Survey{}); err != nil {
		t.Fatal(err)
	}
	if got := n.View().Sites; !slices.Equal(got.Waiting, []string{"ann", "cat"}) {
		t.Errorf("waiting for %q", got.Waiting)
	}
	if err := n.Step(room.Hear{
		Player:  "ann",
		Message: wire.Surveyed{Attempt: 1, Places: []wire.Finalist{{Server: 7}}},
	}); err != nil || len(n.View().Sites.Waiting) != 2 {
		t.Errorf("what was said of the survey before: %v", err)
	}
	if err := n.Step(room.Hear{
		Player:  "ann",
		Message: wire.Surveyed{Attempt: 2, Places: []wire.Finalist{{Server: 1, State: discovery.Lost}}},
	}); err == nil {
		t.Error("a place that is none is measured")
	}
	n.Took("ann")
	if err := n.Orders(room.Change{Settings: []byte(`{"places":"X, 192.0.2.1\nY, 192.0.2.2"}`), MostPlaces: 2}); err != nil {
		t.Fatal(err)
	}
	if got := n.Took("ann"); !strings.Contains(got, "survey") {
		t.Errorf("of another list ann is sent %s", got)
	}
	for patch, why := range map[string]string{`{"places":"X, 192.0.2.1\nY, 192.0.2.2\nZ, 192.0.2.3"}`: "2 places",
		`{"places":"X, 10.0.0.1"}`: "private network", `{"places":"X"}`: "ADDRESS"} {
		if err := n.Orders(room.Change{Settings: []byte(patch), MostPlaces: 2, Public: true}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", patch, err)
		}
	}
	if err := n.Orders(room.Change{Settings: []byte(`{"places":"none"}`)}); err != nil || n.View().Sites != nil {
		t.Errorf("%v, %+v", err, n.View().Sites)
	}
	if err := n.Orders(room.Survey{}); err == nil {
		t.Error("no places are measured")
	}
	// Results for a list that was emptied are too late for the next one, too.
	n.Orders(room.Change{Settings: []byte(`{"places":"Z, 192.0.2.3"}`), MostPlaces: 2})
	if err := n.Orders(room.Survey{}); err != nil {
		t.Fatal(err)
	}
	n.Says("ann", wire.Surveyed{Attempt: 1, Places: []wire.Finalist{{Server: 0, State: discovery.Lost}}})
	if got := n.View().Sites; len(got.Waiting) != 2 {
		t.Errorf("an answer to the first list counts for the third: waiting for %q", got.Waiting)
	}
}

// TestPlacesWhereAServerSuits checks that everyone measures the places along with the second look,
// which does not wait for the answers.
func TestPlacesWhereAServerSuits(t *testing.T) {
	s := settings(2)
	s.Places = venues("A")
	n := newSession(t, s)
	n.Join("ann", "bob")
	n.Listed(2)
	n.Informs("ann", 12, 12)
	for _, name := range []string{"ann", "bob"} {
		n.Measures(name, 40, 50)
	}
	n.Done("ann", "bob")
	if got := n.Took("ann"); !strings.Contains(got, "survey") {
		t.Errorf("ann is sent %s", got)
	}
	n.LookAgain()
	n.InStage(wire.Launching)
	n.surveyed("ann", 10)
	n.surveyed("bob", 20)
	n.Noted("your own server would suit everyone: A would give 15/20 ms (average/worst); the best existing server gives 40/40")
	n.Says("bob", wire.Surveyed{Attempt: 1}) // again changes nothing
	if got := n.View().Sites.Sites[0].RTT; !reflect.DeepEqual(got, map[string]float64{"ann": 10, "bob": 20}) {
		t.Errorf("%v", got)
	}
}

// TestPlacesByLeastSacrifice checks that the rule of least sacrifice compares a place with the
// player's best server. So a place near one player with a near server can be worth more than the
// middle.
func TestPlacesByLeastSacrifice(t *testing.T) {
	s := settings(2)
	s.By, s.Places = "least-sacrifice", venues("A", "B")
	n := newSession(t, s)
	n.Join("ann", "cat")
	n.Listed(2)
	n.Informs("ann", 12, 12)
	n.Measures("ann", 10, 40)
	n.Measures("cat", 190, 185)
	n.Done("ann", "cat")
	n.LookAgain()
	n.surveyed("ann", 60, 12)
	n.surveyed("cat", 60, 100)
	if got := n.View().Sites; got.Sites[0].Name != "B" {
		t.Errorf("%+v", got)
	}
	explained := strings.Join(catalogue.InEnglish().SayAll(n.View().Choice.Explain), " ")
	if want := "nobody gives up more than 5.0 ms of their own best"; !strings.Contains(explained, want) {
		t.Errorf("%q is not in %s", want, explained)
	}
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
			if got := fmt.Sprint(s.Places); got != "[{ann's computer 203.0.113.1:7787 beacon} {bob's computer 203.0.113.2:4000 beacon}]" {
				t.Errorf("bob measures %s", got)
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

// TestHomesMove checks that results for a port that the router has given up are dropped, and the
// computer is measured at the new one. Players on one network of the host have no router between
// them.
func TestHomesMove(t *testing.T) {
	for _, tt := range []struct {
		name string
		from func(last byte) room.Origin
		want string
	}{
		{"elsewhere", func(last byte) room.Origin { return room.Origin{Addr: netip.AddrFrom4([4]byte{203, 0, 113, last})} },
			"1 [203.0.113.1:7787 203.0.113.2:7787] 2 [203.0.113.1:7787 203.0.113.2:40001]"},
		{"on one network", func(last byte) room.Origin { return room.Origin{Near: netip.AddrFrom4([4]byte{192, 168, 1, last})} },
			"1 [192.168.1.1:7787 192.168.1.2:7787]"},
	} {
		n := newSession(t, settings(0))
		n.As["ann"] = n.Room.Keys().Secret
		for i, name := range []string{"ann", "mal"} {
			n.comesWith(name, tt.from(byte(i+1)), 7787)
		}
		if err := n.Orders(room.Survey{}); err != nil {
			t.Fatal(err)
		}
		n.surveyed("ann", lost, 40)
		n.surveyed("mal", 40, lost)
		n.Says("mal", wire.Outside{Port: 40001})
		var asked []string
		for _, m := range n.Sent["ann"] {
			if s, is := m.(wire.Survey); is {
				var at []netip.AddrPort
				for _, v := range s.Places {
					at = append(at, v.Addr)
				}
				asked = append(asked, fmt.Sprint(s.Attempt, at))
			}
		}
		if got := strings.Join(asked, " "); got != tt.want {
			t.Errorf("%s: ann is asked %s, want %s", tt.name, got, tt.want)
		}
		same(t, n.Room, restored(t, n.Room))
	}
}

// TestHomesOfThoseWhoLeft checks that nobody who comes later gets the address of a player who
// changed their mind, left, or was removed.
func TestHomesOfThoseWhoLeft(t *testing.T) {
	for _, tt := range []struct {
		name string
		does func(n *session, join func(name string, last byte, beacon uint16))
	}{
		{"thought better of it", func(n *session, join func(string, byte, uint16)) { n.Gone("bob"); join("bob", 2, 0) }},
		{"is away", func(n *session, _ func(string, byte, uint16)) { n.Gone("bob") }},
		{"was removed", func(n *session, _ func(string, byte, uint16)) { n.Orders(room.Remove{Name: "bob"}) }},
		{"a restart", func(n *session, join func(string, byte, uint16)) {
			n.Revive()
			n.Step(room.Resume{})
			join("ann", 1, 7787)
			join("bob", 2, 0)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
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
			n.surveyed("ann", lost, 40)
			n.surveyed("bob", lost, lost)
			tt.does(n, join)
			join("mal", 3, 9)
			for _, m := range n.Sent["mal"] {
				if s, is := m.(wire.Survey); is && strings.Contains(fmt.Sprint(s.Places), "203.0.113.2") {
					t.Errorf("mal is told %v", s.Places)
				}
			}
		})
	}
}
