package room

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// venues are places of these names.
func venues(names ...string) (vs wire.Venues) {
	for i, name := range names {
		vs = append(vs, wire.Venue{Name: name, Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, 113, byte(i + 1)}), 7787), Protocol: "beacon"})
	}
	return vs
}

// surveyed has a player answer the newest survey, in ms by place.
func (n *session) surveyed(name string, ms ...int) {
	n.Helper()
	m := wire.Surveyed{Attempt: n.room.survey.Attempt}
	for place, rtt := range ms {
		f := wire.Finalist{Server: place, State: discovery.Lost, RTTs: []float64{}, Sent: 3}
		if rtt > 0 {
			f.State, f.RTTs = discovery.Answered, []float64{float64(rtt) + 5, float64(rtt)}
		}
		m.Places = append(m.Places, f)
	}
	n.says(name, m)
}

// farFromAll is a room of two with places, in which nothing suits: its best server gives
// 10/190.
func farFromAll(t *testing.T, limit time.Duration, places ...string) *session {
	t.Helper()
	s := settings(2)
	s.By, s.Limits, s.Places = "threshold", wire.Limits{limit}, venues(places...)
	n := newSession(t, s)
	n.as["ann"] = n.room.keys.Secret
	n.join("ann", "cat")
	n.listed(2)
	n.informs("ann", 12, 12)
	n.measures("ann", 10, 40)
	n.measures("cat", 190, 185)
	n.done("ann", "cat")
	return n
}

// TestPlaces: where nothing suits, everyone measures the places once, and the room says by
// its rule where a server would.
func TestPlaces(t *testing.T) {
	n := farFromAll(t, 100*time.Millisecond, "London", "Frankfurt", "Sydney", "Paris")
	n.inStage(wire.Failed)
	for _, name := range []string{"ann", "cat"} {
		if got := n.took(name); strings.Count(got, "survey") != 1 {
			t.Errorf("%s is sent %s", name, got)
		}
	}
	if got := n.view().Sites; got == nil || got.Answer != "" && !strings.Contains(got.Answer, "no place") || len(got.Waiting) != 2 {
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
	n.noted("a server of your own would suit all: Frankfurt would give 48/62 ms (average/worst), London 50/60; the best server there is gives 100/190")
	for _, p := range n.view().Room.Places {
		t.Errorf("the page is told where %s is", p.Name)
	}
	if got := n.view().Room.Candidates; !slices.Equal(got, []string{"London", "Frankfurt", "Sydney", "Paris"}) {
		t.Errorf("candidates %q", got)
	}
	same(t, n.room, restored(t, n.room))
}

// TestPlacesAnswers are the sentences for what may come of it.
func TestPlacesAnswers(t *testing.T) {
	tests := []struct {
		name     string
		limit    time.Duration
		ann, cat []int
		want     string
		better   bool
	}{
		{"beyond the limit, too", 100 * time.Millisecond, []int{60, 30}, []int{120, 150}, "a server at one of your places would suit no better: A would give 90/120 ms (average/worst), B 90/150; the best server there is gives 100/190", false},
		{"silent for one", 100 * time.Millisecond, []int{60, lost}, []int{lost, lost}, "no place reaches all of you: A did not answer cat", false},
		{"silent", 100 * time.Millisecond, []int{lost, lost}, []int{lost, lost}, "no place answered: is muster beacon running there, and is its port open for UDP?", false},
		{"much better than what suits", 200 * time.Millisecond, []int{60, 30}, []int{60, 55}, "a server of your own would suit all: B would give 42/55 ms (average/worst), A 60/60; the best server there is gives 100/190", true},
		{"hardly better than what suits", 200 * time.Millisecond, []int{60, 90}, []int{120, 90}, "a server of your own would not be much better: A would give 90/120 ms (average/worst), B 90/90; the best server there is gives 100/190", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := farFromAll(t, tt.limit, "A", "B")
			n.surveyed("ann", tt.ann...)
			n.surveyed("cat", tt.cat...)
			if got := n.view().Sites; got.Answer != tt.want || got.Better != tt.better {
				t.Errorf("better %v: %s", got.Better, got.Answer)
			}
			n.noted(tt.want)
		})
	}
}

// TestPlacesAnew: who comes later measures them, too; others only when the organiser wants
// it, or has another list.
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
	if err := n.orders(Survey{}); err == nil {
		t.Error("the places are measured again at once")
	}
	n.wait(surveyPause)
	if err := n.acts(n.pageOf("cat"), Survey{}); reason(err) != wire.ReasonSecret {
		t.Errorf("cat orders it: %v", err)
	}
	if err := n.orders(Survey{}); err != nil {
		t.Fatal(err)
	}
	if got := n.view().Sites; !slices.Equal(got.Waiting, []string{"ann", "cat"}) {
		t.Errorf("waiting for %q", got.Waiting)
	}
	if err := n.step(Hear{"ann", wire.Surveyed{Attempt: 1, Places: []wire.Finalist{{Server: 7}}}}); err != nil || len(n.view().Sites.Waiting) != 2 {
		t.Errorf("what was said of the survey before: %v", err)
	}
	if err := n.step(Hear{"ann", wire.Surveyed{Attempt: 2, Places: []wire.Finalist{{Server: 1, State: discovery.Lost}}}}); err == nil {
		t.Error("a place that is none is measured")
	}
	n.took("ann")
	if err := n.orders(Change{Settings: []byte(`{"places":"X, 192.0.2.1\nY, 192.0.2.2"}`), MostPlaces: 2}); err != nil {
		t.Fatal(err)
	}
	if got := n.took("ann"); !strings.Contains(got, "survey") {
		t.Errorf("of another list ann is sent %s", got)
	}
	for patch, why := range map[string]string{`{"places":"X, 192.0.2.1\nY, 192.0.2.2\nZ, 192.0.2.3"}`: "2 places", `{"places":"X, 10.0.0.1"}`: "private network", `{"places":"X"}`: "ADDRESS"} {
		if err := n.orders(Change{Settings: []byte(patch), MostPlaces: 2, Public: true}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", patch, err)
		}
	}
	if err := n.orders(Change{Settings: []byte(`{"places":"none"}`)}); err != nil || n.view().Sites != nil {
		t.Errorf("%v, %+v", err, n.view().Sites)
	}
	if err := n.orders(Survey{}); err == nil {
		t.Error("no places are measured")
	}
	// What comes of a list that was emptied is late for the next one, too.
	n.orders(Change{Settings: []byte(`{"places":"Z, 192.0.2.3"}`), MostPlaces: 2})
	if err := n.orders(Survey{}); err != nil {
		t.Fatal(err)
	}
	n.says("ann", wire.Surveyed{Attempt: 1, Places: []wire.Finalist{{Server: 0, State: discovery.Lost}}})
	if got := n.view().Sites; len(got.Waiting) != 2 {
		t.Errorf("an answer to the first list counts for the third: waiting for %q", got.Waiting)
	}
}

// TestPlacesWhereAServerSuits: everyone measures them along with the second look, which
// waits for nobody's answer.
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
	n.noted("a server of your own would suit all: A would give 15/20 ms (average/worst); the best server there is gives 40/40")
	n.says("bob", wire.Surveyed{Attempt: 1}) // again changes nothing
	if got := n.view().Sites.Sites[0].RTT; !reflect.DeepEqual(got, map[string]float64{"ann": 10, "bob": 20}) {
		t.Errorf("%v", got)
	}
}

// TestPlacesByLeastSacrifice: what one would give up at a place counts from what one has
// on a server, so that near to who is near to one is worth more than the middle.
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
	explained := strings.Join(n.view().Choice.Explain, " ")
	if want := "nobody gives up more than 5.0 ms of their own best"; !strings.Contains(explained, want) {
		t.Errorf("%q is not in %s", want, explained)
	}
}

// TestHomes: while all who are here agree, their computers are measured like places, each
// their own as next to nothing; who does not agree is told nobody's address.
func TestHomes(t *testing.T) {
	n := newSession(t, settings(0))
	n.as["ann"] = n.room.keys.Secret
	join := func(name string, last byte, beacon uint16) {
		t.Helper()
		hello := wire.Hello{Version: wire.Version, Code: n.room.keys.Code, Name: name, Token: n.tokens[name], As: n.as[name], Beacon: beacon}
		if err := n.step(Join{Hello: hello, From: Origin{Addr: netip.AddrFrom4([4]byte{203, 0, 113, last})}, Token: "token of " + name}); err != nil {
			t.Fatal(err)
		}
		n.tokens[name] = n.room.round.player(name).token
	}
	join("ann", 1, 7787)
	join("bob", 2, 4000)
	if err := n.orders(Survey{}); err != nil {
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
	n.noted("a server of your own: bob's computer would give 20/40 ms (average/worst)")
	if shown := fmt.Sprintf("%+v", n.view()); strings.Contains(shown, "203.0.113") {
		t.Error("a player's address is shown")
	}
	same(t, n.room, restored(t, n.room))
	join("cat", 3, 0)
	if got := n.took("cat"); strings.Contains(got, "survey") || n.view().Sites != nil {
		t.Errorf("who has not agreed is sent %s, and shown %+v", got, n.view().Sites)
	}
	n.wait(surveyPause)
	if err := n.orders(Survey{}); err == nil {
		t.Error("computers are measured although cat has not agreed")
	}
}

// TestHomesOfALANParty: while all came in over one network of the host's, each is measured
// where the connection showed them to be, the host's own player where the others reach the
// host; with one friend elsewhere nobody is told a private address.
func TestHomesOfALANParty(t *testing.T) {
	ip := netip.MustParseAddr
	host := Origin{Addr: ip("127.0.0.1"), Home: true, Near: ip("127.0.0.1"), Here: ip("192.168.1.2")}
	atHome, byVPN := Origin{Addr: ip("192.168.1.3"), Home: true, Near: ip("192.168.1.3")}, Origin{Near: ip("100.64.0.9")}
	for _, tt := range []struct {
		name string
		from []Origin
		want string
	}{
		{"one network", []Origin{host, atHome}, "192.168.1.2:1001 192.168.1.3:1002"},
		{"somebody by a VPN, who may have such addresses at home", []Origin{host, atHome, byVPN}, ""},
		{"another network of the host's", []Origin{host, {Near: ip("192.168.2.3")}}, ""},
		{"all by a VPN", []Origin{{Near: ip("100.64.0.9")}, {Near: ip("100.101.7.3")}}, "100.64.0.9:1001 100.101.7.3:1002"},
		{"all by IPv6", []Origin{{Near: ip("fd00::1")}, {Near: ip("fd00::2")}}, "[fd00::1]:1001 [fd00::2]:1002"},
		{"one of them by IPv6", []Origin{host, {Near: ip("fd00::2")}}, ""},
		{"two behind one gateway", []Origin{host, atHome, atHome}, ""},
		{"a friend elsewhere", []Origin{host, atHome, {Addr: ip("203.0.113.1"), Near: ip("203.0.113.1")}}, "203.0.113.1:1003"},
		{"somebody by a tunnel", []Origin{host, atHome, {}}, ""},
		{"a host that nobody reaches", []Origin{{Addr: ip("127.0.0.1"), Home: true, Near: ip("127.0.0.1"), Here: ip("127.0.0.1")}, atHome}, ""},
		{"an address that needs a zone", []Origin{host, {Near: ip("fe80::1%eth0")}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := newSession(t, settings(0))
			for i, from := range tt.from {
				name := fmt.Sprint("p", i)
				n.step(Join{Hello: wire.Hello{Version: wire.Version, Code: n.room.keys.Code, Name: name, Beacon: uint16(1001 + i)}, From: from, Token: "token of " + name})
			}
			var got []string
			for _, h := range n.room.homes() {
				got = append(got, h.Place.Addr.String())
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("measured are %v, want %q", got, tt.want)
			}
		})
	}
}

// TestHomesOfOneWhoComesAndGoes: a program that comes back at another port each time has the
// others measure a few times, and no more until the organiser wants it or there is a choice.
func TestHomesOfOneWhoComesAndGoes(t *testing.T) {
	n := newSession(t, settings(0))
	n.as["ann"] = n.room.keys.Secret
	n.room.settings.Places = venues("A", "B")
	join := func(name string, last byte, beacon uint16) {
		t.Helper()
		hello := wire.Hello{Version: wire.Version, Code: n.room.keys.Code, Name: name, Token: n.tokens[name], As: n.as[name], Beacon: beacon}
		if err := n.step(Join{Hello: hello, From: Origin{Addr: netip.AddrFrom4([4]byte{203, 0, 113, last})}, Token: "token of " + name}); err != nil {
			t.Fatal(err)
		}
		n.tokens[name] = n.room.round.player(name).token
	}
	join("ann", 1, 7787)
	join("bob", 2, 4000)
	for range 2 {
		n.took("ann")
		if err := n.orders(Survey{}); err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			n.wait(time.Second)
			join("bob", 2, uint16(4001+i))
		}
		if got := strings.Count(n.took("ann"), "survey"); got != 1+mostAnew {
			t.Errorf("ann measures %d times", got)
		}
	}
}

// TestHomesBehindRouters: who is elsewhere is measured at the port that their router gave,
// at their own address and no other; on one network there is no router between them.
func TestHomesBehindRouters(t *testing.T) {
	ip := netip.MustParseAddr
	near := func(last byte) Origin { return Origin{Near: netip.AddrFrom4([4]byte{192, 168, 1, last})} }
	far := func(last byte) Origin { return Origin{Addr: netip.AddrFrom4([4]byte{203, 0, 113, last})} }
	type does func(n *session)
	outside := func(name string, port uint16) does {
		return func(n *session) { n.says(name, wire.Outside{Port: port}) }
	}
	comes := func(name, program string, from Origin, beacon uint16) does {
		return func(n *session) {
			hello := wire.Hello{Version: wire.Version, Code: n.room.keys.Code, Name: name, Token: n.tokens[name], Program: program, Beacon: beacon}
			if err := n.step(Join{Hello: hello, From: from, Token: "token of " + name}); err != nil {
				n.Fatal(err)
			}
			n.tokens[name] = n.room.round.player(name).token
		}
	}
	for _, tt := range []struct {
		name string
		does []does
		want string
	}{
		{"one router", []does{comes("ann", "1", far(1), 7787), comes("bob", "2", far(2), 7787), outside("bob", 40001)}, "203.0.113.1:7787 203.0.113.2:40001"},
		{"another port later", []does{comes("bob", "2", far(2), 7787), outside("bob", 40001), outside("bob", 40002)}, "203.0.113.2:40002"},
		{"the same port", []does{comes("bob", "2", far(2), 7787), outside("bob", 7787)}, "203.0.113.2:7787"},
		{"a connection that comes back", []does{comes("bob", "2", far(2), 7787), outside("bob", 40001), comes("bob", "2", far(2), 7787)}, "203.0.113.2:40001"},
		{"a program that was started again", []does{comes("bob", "2", far(2), 7787), outside("bob", 40001), comes("bob", "3", far(2), 7787)}, "203.0.113.2:7787"},
		{"a beacon at another port", []does{comes("bob", "2", far(2), 7787), outside("bob", 40001), comes("bob", "2", far(2), 4000)}, "203.0.113.2:4000"},
		{"another address", []does{comes("bob", "2", far(2), 7787), outside("bob", 40001), comes("bob", "2", far(9), 7787)}, "203.0.113.9:40001"},
		{"who could not host", []does{comes("bob", "2", far(2), 0), outside("bob", 40001)}, ""},
		{"one network", []does{comes("ann", "1", near(1), 7787), comes("bob", "2", near(2), 7788), outside("bob", 40001)}, "192.168.1.1:7787 192.168.1.2:7788"},
		{"in a private network, with somebody elsewhere", []does{comes("ann", "1", far(1), 7787), comes("bob", "2", near(2), 7788), outside("bob", 40001)}, "203.0.113.1:7787"},
		{"on this machine", []does{comes("bob", "2", Origin{Near: ip("127.0.0.1")}, 7787), outside("bob", 22)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := newSession(t, settings(0))
			for _, does := range tt.does {
				does(n)
			}
			var got []string
			for _, h := range n.room.homes() {
				got = append(got, h.Place.Addr.String())
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("measured are %v, want %q", got, tt.want)
			}
		})
	}
}

// TestHomesMove: what was measured at a port that the router has given up is dropped at
// once, and what is late is of no other; whoever says another port a thousand times has
// everyone measure a few times, and then no more until the organiser wants it.
func TestHomesMove(t *testing.T) {
	n := newSession(t, settings(0))
	n.as["ann"] = n.room.keys.Secret
	for i, name := range []string{"ann", "mal"} {
		hello := wire.Hello{Version: wire.Version, Code: n.room.keys.Code, Name: name, As: n.as[name], Beacon: 7787}
		if err := n.step(Join{Hello: hello, From: Origin{Addr: netip.AddrFrom4([4]byte{203, 0, 113, byte(i + 1)})}, Token: "token of " + name}); err != nil {
			t.Fatal(err)
		}
	}
	asked := func() (surveys []string) {
		for _, m := range n.sent["ann"] {
			if s, is := m.(wire.Survey); is {
				surveys = append(surveys, fmt.Sprint(s.Attempt, s.Places))
			}
		}
		delete(n.sent, "ann")
		return surveys
	}
	at := func(attempt int, port uint16) string {
		return fmt.Sprintf("%d [{ann's computer 203.0.113.1:7787 beacon} {mal's computer 203.0.113.2:%d beacon}]", attempt, port)
	}
	if err := n.orders(Survey{}); err != nil {
		t.Fatal(err)
	}
	if got, want := asked(), []string{at(1, 7787)}; !slices.Equal(got, want) {
		t.Fatalf("ann is asked %q, want %q", got, want)
	}
	n.surveyed("ann", lost, 40)
	n.surveyed("mal", 40, lost)
	n.noted("a server of your own: ann's computer would give 20/40 ms (average/worst), mal's computer 20/40")

	n.says("mal", wire.Outside{Port: 40001})
	if got, want := asked(), []string{at(2, 40001)}; !slices.Equal(got, want) {
		t.Errorf("ann is asked %q, want %q", got, want)
	}
	n.says("ann", wire.Surveyed{Attempt: 1, Places: []wire.Finalist{{Server: 0, State: discovery.Lost, Sent: 3}, {Server: 1, State: discovery.Answered, RTTs: []float64{1}, Sent: 3}}})
	if sites := n.view().Sites; sites == nil || len(sites.Waiting) != 2 {
		t.Errorf("what was measured at the port before counts: %+v", sites)
	}
	n.surveyed("ann", lost, 60)
	n.surveyed("mal", 40, lost)
	n.says("mal", wire.Outside{Port: 40001})
	if got := asked(); len(got) > 0 {
		t.Errorf("for the port that is known ann is asked %q", got)
	}

	for port := range uint16(1000) {
		n.says("mal", wire.Outside{Port: 1 + port})
	}
	if got, want := asked(), []string{at(3, 1), at(4, 2)}; !slices.Equal(got, want) {
		t.Errorf("ann is asked %q, want %q", got, want)
	}
	if sites := n.view().Sites; sites != nil {
		t.Errorf("what was measured before still shows: %+v", sites)
	}
	same(t, n.room, restored(t, n.room))
	if err := n.orders(Survey{}); err != nil {
		t.Fatal(err)
	}
	if got, want := asked(), []string{at(5, 1000)}; !slices.Equal(got, want) {
		t.Errorf("the organiser has ann asked %q, want %q", got, want)
	}
	n.surveyed("ann", lost, 60)
	n.surveyed("mal", 40, lost)
	if sites := n.view().Sites; sites == nil || len(sites.Waiting) > 0 {
		t.Errorf("in the end there is %+v", sites)
	}
}

// TestHomesOfThoseWhoLeft: nobody who comes later is told the address of somebody who has
// thought better of it, has left, or was removed.
func TestHomesOfThoseWhoLeft(t *testing.T) {
	for _, tt := range []struct {
		name string
		does func(n *session, join func(name string, last byte, beacon uint16))
	}{
		{"thought better of it", func(n *session, join func(string, byte, uint16)) { n.gone("bob"); join("bob", 2, 0) }},
		{"is away", func(n *session, _ func(string, byte, uint16)) { n.gone("bob") }},
		{"was removed", func(n *session, _ func(string, byte, uint16)) { n.orders(Remove{"bob"}) }},
		{"a restart", func(n *session, join func(string, byte, uint16)) {
			n.room = restored(n.T, n.room)
			n.step(Resume{})
			join("ann", 1, 7787)
			join("bob", 2, 0)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := newSession(t, settings(0))
			n.as["ann"] = n.room.keys.Secret
			join := func(name string, last byte, beacon uint16) {
				t.Helper()
				hello := wire.Hello{Version: wire.Version, Code: n.room.keys.Code, Name: name, Token: n.tokens[name], As: n.as[name], Beacon: beacon}
				if err := n.step(Join{Hello: hello, From: Origin{Addr: netip.AddrFrom4([4]byte{203, 0, 113, last})}, Token: "token of " + name}); err != nil {
					t.Fatal(err)
				}
				n.tokens[name] = n.room.round.player(name).token
			}
			join("ann", 1, 7787)
			join("bob", 2, 4000)
			if err := n.orders(Survey{}); err != nil {
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
