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
	m := wire.Surveyed{Attempt: n.surveys[name].Attempt}
	for place, rtt := range ms {
		f := wire.Finalist{Server: place, State: discovery.Lost, RTTs: []float64{}, Sent: 3}
		if rtt > 0 {
			f.State, f.RTTs = discovery.Answered, []float64{float64(rtt) + 5, float64(rtt)}
		}
		m.Places = append(m.Places, f)
	}
	n.says(name, m)
}

// farFromAll returns a room of two with places. Nothing suits: its best server is 10 and 190 ms
// away.
func farFromAll(t *testing.T, limit time.Duration, places ...string) *session {
	t.Helper()
	s := settings(2)
	s.By, s.Limits, s.Places = "threshold", wire.Limits{limit}, venues(places...)
	n := newSession(t, s)
	n.as["ann"] = n.room.Keys().Secret
	n.join("ann", "cat")
	n.listed(2)
	n.informs("ann", 12, 12)
	n.measures("ann", 10, 40)
	n.measures("cat", 190, 185)
	n.done("ann", "cat")
	return n
}

// TestPlaces checks that everyone measures the places once if no server suits, and that the room
// says where one would, by its rule.
func TestPlaces(t *testing.T) {
	n := farFromAll(t, 100*time.Millisecond, "London", "Frankfurt", "Sydney", "Paris")
	n.inStage(wire.Failed)
	for _, name := range []string{"ann", "cat"} {
		if got := n.took(name); strings.Count(got, "survey") != 1 {
			t.Errorf("%s is sent %s", name, got)
		}
	}
	if got := n.view().Sites; got == nil || !got.Answer.IsZero() && got.Answer.Key != "sites.none-answered" || len(got.Waiting) != 2 {
		t.Errorf("before anybody answered: %+v", got)
	}
	n.surveyed("ann", 40, 34, 300, 20)
	n.surveyed("cat", 60, 62, 20, lost)
	sites := n.view().Sites
	var order []string
	for _, s := range sites.Sites {
		order = append(order, fmt.Sprintf("%s %v %v %v", s.Name, s.Suits, s.Figures, s.Silent))
	}
	want := []string{"Frankfurt true 48/62 []", "London true 50/60 []", "Sydney false 160/300 []", "Paris false 0/0 [cat]"}
	if !slices.Equal(order, want) || !sites.Better || len(sites.Waiting) != 0 || *sites.Now != (wire.Figures{MeanMS: 100, MaxMS: 190}) {
		t.Errorf("%q, %+v", order, sites)
	}
	n.noted("your own server would suit everyone: Frankfurt would give 48/62 ms (average/worst), London 50/60; " +
		"the best existing server gives 100/190")
	for _, p := range n.view().Room.Places {
		t.Errorf("the page is told where %s is", p.Name)
	}
	if got := n.view().Room.Candidates; !slices.Equal(got, []string{"London", "Frankfurt", "Sydney", "Paris"}) {
		t.Errorf("candidates %q", got)
	}
	same(t, n.room, restored(t, n.room))
}

// TestPlacesAnew checks that a player who comes later measures the places too, and that the others
// do so again only for the organiser or for another list.
func TestPlacesAnew(t *testing.T) {
	n := farFromAll(t, 100*time.Millisecond, "A")
	n.surveyed("ann", 20)
	n.surveyed("cat", 30)
	n.took("ann")
	n.gone("ann")
	n.join("ann")
	if got := n.took("ann"); strings.Contains(got, "survey") {
		t.Errorf("who has measured them is sent %s", got)
	}
	if err := n.orders(room.Survey{}); err == nil {
		t.Error("the places are measured again at once")
	}
	n.wait(time.Minute)
	if err := n.acts(n.pageOf("cat"), room.Survey{}); reason(err) != wire.ReasonSecret {
		t.Errorf("cat orders it: %v", err)
	}
	if err := n.orders(room.Survey{}); err != nil {
		t.Fatal(err)
	}
	if got := n.view().Sites; !slices.Equal(got.Waiting, []string{"ann", "cat"}) {
		t.Errorf("waiting for %q", got.Waiting)
	}
	if err := n.step(room.Hear{
		Player:  "ann",
		Message: wire.Surveyed{Attempt: 1, Places: []wire.Finalist{{Server: 7}}},
	}); err != nil || len(n.view().Sites.Waiting) != 2 {
		t.Errorf("what was said of the survey before: %v", err)
	}
	if err := n.step(room.Hear{
		Player:  "ann",
		Message: wire.Surveyed{Attempt: 2, Places: []wire.Finalist{{Server: 1, State: discovery.Lost}}},
	}); err == nil {
		t.Error("a place that is none is measured")
	}
	n.took("ann")
	if err := n.orders(room.Change{Settings: []byte(`{"places":"X, 192.0.2.1\nY, 192.0.2.2"}`), MostPlaces: 2}); err != nil {
		t.Fatal(err)
	}
	if got := n.took("ann"); !strings.Contains(got, "survey") {
		t.Errorf("of another list ann is sent %s", got)
	}
	for patch, why := range map[string]string{`{"places":"X, 192.0.2.1\nY, 192.0.2.2\nZ, 192.0.2.3"}`: "2 places",
		`{"places":"X, 10.0.0.1"}`: "private network", `{"places":"X"}`: "ADDRESS"} {
		if err := n.orders(room.Change{Settings: []byte(patch), MostPlaces: 2, Public: true}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", patch, err)
		}
	}
	if err := n.orders(room.Change{Settings: []byte(`{"places":"none"}`)}); err != nil || n.view().Sites != nil {
		t.Errorf("%v, %+v", err, n.view().Sites)
	}
	if err := n.orders(room.Survey{}); err == nil {
		t.Error("no places are measured")
	}
	// Results for a list that was emptied are too late for the next one, too.
	n.orders(room.Change{Settings: []byte(`{"places":"Z, 192.0.2.3"}`), MostPlaces: 2})
	if err := n.orders(room.Survey{}); err != nil {
		t.Fatal(err)
	}
	n.says("ann", wire.Surveyed{Attempt: 1, Places: []wire.Finalist{{Server: 0, State: discovery.Lost}}})
	if got := n.view().Sites; len(got.Waiting) != 2 {
		t.Errorf("an answer to the first list counts for the third: waiting for %q", got.Waiting)
	}
}

// TestPlacesWhereAServerSuits checks that everyone measures the places along with the second look,
// which does not wait for the answers.
func TestPlacesWhereAServerSuits(t *testing.T) {
	s := settings(2)
	s.Places = venues("A")
	n := newSession(t, s)
	n.join("ann", "bob")
	n.listed(2)
	n.informs("ann", 12, 12)
	for _, name := range []string{"ann", "bob"} {
		n.measures(name, 40, 50)
	}
	n.done("ann", "bob")
	if got := n.took("ann"); !strings.Contains(got, "survey") {
		t.Errorf("ann is sent %s", got)
	}
	n.lookAgain()
	n.inStage(wire.Launching)
	n.surveyed("ann", 10)
	n.surveyed("bob", 20)
	n.noted("your own server would suit everyone: A would give 15/20 ms (average/worst); the best existing server gives 40/40")
	n.says("bob", wire.Surveyed{Attempt: 1}) // again changes nothing
	if got := n.view().Sites.Sites[0].RTT; !reflect.DeepEqual(got, map[string]float64{"ann": 10, "bob": 20}) {
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
	n.join("ann", "cat")
	n.listed(2)
	n.informs("ann", 12, 12)
	n.measures("ann", 10, 40)
	n.measures("cat", 190, 185)
	n.done("ann", "cat")
	n.lookAgain()
	n.surveyed("ann", 60, 12)
	n.surveyed("cat", 60, 100)
	if got := n.view().Sites; got.Sites[0].Name != "B" {
		t.Errorf("%+v", got)
	}
	explained := strings.Join(catalogue.InEnglish().SayAll(n.view().Choice.Explain), " ")
	if want := "nobody gives up more than 5.0 ms of their own best"; !strings.Contains(explained, want) {
		t.Errorf("%q is not in %s", want, explained)
	}
}

// TestHomes checks that the players' computers are measured like places while all who are here
// agree, each player's own as next to nothing. A player who does not agree gets nobody's address.
func TestHomes(t *testing.T) {
	n := newSession(t, settings(0))
	n.as["ann"] = n.room.Keys().Secret
	join := func(name string, last byte, beacon uint16) {
		t.Helper()
		hello := wire.Hello{Version: wire.Version, Code: n.room.Keys().Code, Name: name, Token: n.tokens[name], As: n.as[name], Beacon: beacon}
		if err := n.step(room.Join{
			Hello: hello,
			From:  room.Origin{Addr: netip.AddrFrom4([4]byte{203, 0, 113, last})},
			Token: "token of " + name,
		}); err != nil {
			t.Fatal(err)
		}
		n.tokens[name] = n.tokenOf(name)
	}
	join("ann", 1, 7787)
	join("bob", 2, 4000)
	if err := n.orders(room.Survey{}); err != nil {
		t.Fatal(err)
	}
	for _, m := range n.sent["bob"] {
		if s, is := m.(wire.Survey); is {
			if got := fmt.Sprint(s.Places); got != "[{ann's computer 203.0.113.1:7787 beacon} {bob's computer 203.0.113.2:4000 beacon}]" {
				t.Errorf("bob measures %s", got)
			}
		}
	}
	if got := n.took("bob"); !strings.Contains(got, "survey") {
		t.Errorf("bob is sent %s", got)
	}
	n.surveyed("ann", lost, 40)
	n.surveyed("bob", lost, lost)
	var got []string
	for _, s := range n.view().Sites.Sites {
		got = append(got, fmt.Sprint(s.Name, " ", s.Figures, " ", s.Silent))
	}
	if want := []string{"bob's computer 20/40 []", "ann's computer 0/0 [bob]"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	n.noted("your own server: bob's computer would give 20/40 ms (average/worst)")
	if shown := fmt.Sprintf("%+v", n.view()); strings.Contains(shown, "203.0.113") {
		t.Error("a player's address is shown")
	}
	same(t, n.room, restored(t, n.room))
	join("cat", 3, 0)
	if got := n.took("cat"); strings.Contains(got, "survey") || n.view().Sites != nil {
		t.Errorf("who has not agreed is sent %s, and shown %+v", got, n.view().Sites)
	}
	n.wait(time.Minute)
	if err := n.orders(room.Survey{}); err == nil {
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
		n.as["ann"] = n.room.Keys().Secret
		for i, name := range []string{"ann", "mal"} {
			hello := wire.Hello{Version: wire.Version, Code: n.room.Keys().Code, Name: name, As: n.as[name], Beacon: 7787}
			if err := n.step(room.Join{Hello: hello, From: tt.from(byte(i + 1)), Token: "token of " + name}); err != nil {
				t.Fatal(err)
			}
		}
		if err := n.orders(room.Survey{}); err != nil {
			t.Fatal(err)
		}
		n.surveyed("ann", lost, 40)
		n.surveyed("mal", 40, lost)
		n.says("mal", wire.Outside{Port: 40001})
		var asked []string
		for _, m := range n.sent["ann"] {
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
		same(t, n.room, restored(t, n.room))
	}
}

// TestHomesOfThoseWhoLeft checks that nobody who comes later gets the address of a player who
// changed their mind, left, or was removed.
func TestHomesOfThoseWhoLeft(t *testing.T) {
	for _, tt := range []struct {
		name string
		does func(n *session, join func(name string, last byte, beacon uint16))
	}{
		{"thought better of it", func(n *session, join func(string, byte, uint16)) { n.gone("bob"); join("bob", 2, 0) }},
		{"is away", func(n *session, _ func(string, byte, uint16)) { n.gone("bob") }},
		{"was removed", func(n *session, _ func(string, byte, uint16)) { n.orders(room.Remove{Name: "bob"}) }},
		{"a restart", func(n *session, join func(string, byte, uint16)) {
			n.revive()
			n.step(room.Resume{})
			join("ann", 1, 7787)
			join("bob", 2, 0)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := newSession(t, settings(0))
			n.as["ann"] = n.room.Keys().Secret
			join := func(name string, last byte, beacon uint16) {
				t.Helper()
				hello := wire.Hello{Version: wire.Version, Code: n.room.Keys().Code, Name: name, Token: n.tokens[name], As: n.as[name], Beacon: beacon}
				if err := n.step(room.Join{
					Hello: hello,
					From:  room.Origin{Addr: netip.AddrFrom4([4]byte{203, 0, 113, last})},
					Token: "token of " + name,
				}); err != nil {
					t.Fatal(err)
				}
				n.tokens[name] = n.tokenOf(name)
			}
			join("ann", 1, 7787)
			join("bob", 2, 4000)
			if err := n.orders(room.Survey{}); err != nil {
				t.Fatal(err)
			}
			n.surveyed("ann", lost, 40)
			n.surveyed("bob", lost, lost)
			tt.does(n, join)
			join("mal", 3, 9)
			for _, m := range n.sent["mal"] {
				if s, is := m.(wire.Survey); is && strings.Contains(fmt.Sprint(s.Places), "203.0.113.2") {
					t.Errorf("mal is told %v", s.Places)
				}
			}
		})
	}
}
