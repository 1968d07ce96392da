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
	"muster/host/room/attendance"
	"muster/host/room/brought"
	"muster/host/room/nickname"
	"muster/host/room/people"
	"muster/host/room/roomtest"
	"muster/host/room/roster"
	"muster/host/wire"
	"muster/selection"
)

// The limits of a room's memory: the time for a guest without a page, the number of guests, and the
// least length of a token.
const (
	guestStays   = 30 * time.Minute
	mostGuests   = 32
	tokenLetters = 26
)

// TestLists checks that servers that people bring are in the room under their names. A favourite
// wins if it is only a little slower, and a hidden server never wins.
func TestLists(t *testing.T) {
	s := settings(2)
	s.Prefer = discovery.Millis(15 * time.Millisecond)
	n := newSession(t, s)
	n.Join("ann")
	n.Says("ann", wire.Bring{
		Game:       "openarena",
		Favourites: []wire.Brought{{Addr: hostport.At(addrOf(2)), Name: "Ann's\x1b[31m " + strings.Repeat("x", 100)}},
		Hidden:     bringing(1),
	})
	n.Says("ann", wire.Bring{Game: "xonotic", Favourites: bringing(3)}) // of another game
	n.Noted("ann brings 1 server for “Ours”, and 1 never to play on")
	n.Join("bob")
	n.Says("bob", wire.Bring{Game: "openarena", Favourites: bringing(2)})
	n.Listed(4)
	lists := n.View().Lists
	if len(lists.Favourites) != 1 || !slices.Equal(lists.Favourites[0].By, []string{"ann", "bob"}) ||
		len(lists.Favourites[0].Name) > 64 || strings.Contains(lists.Favourites[0].Name, "\x1b") {
		t.Errorf("%+v", lists)
	}
	for _, name := range []string{"ann", "bob"} {
		n.Informs(name, 8, 8, 8, 8)
		n.Measures(name, 40, 20, 52, 70)
		n.Done(name)
	}
	chosen := n.Choice()
	if chosen.Chosen.Server != 2 || chosen.Decided.By != selection.ByOurs || chosen.Culled.Hidden != 1 ||
		!slices.Equal(chosen.Reasons[0].Players, []string{"ann"}) {
		t.Errorf("chosen is %+v, %+v, left out %+v", chosen.Chosen, chosen.Decided, chosen.Reasons)
	}
	same(t, n.Room, restored(t, n.Room))
}

// TestListsOfOthers checks that what the organiser takes off the lists stays off, and that a
// removed person's entries leave too.
func TestListsOfOthers(t *testing.T) {
	n := newSession(t, settings(3))
	n.As["ann"] = n.Room.Keys().Secret
	n.Join("ann", "bob")
	bring := func() {
		n.Says("bob", wire.Bring{Game: "openarena", Favourites: bringing(1, 2), Hidden: bringing(3)})
	}
	bring()
	n.Says("ann", wire.Bring{Game: "openarena", Favourites: bringing(1)})
	if err := n.Acts(n.PageOf("bob"), room.Strike{Addr: hostport.At(addrOf(2))}); reason(err) != wire.ReasonSecret {
		t.Errorf("bob strikes: %v", err)
	}
	if err := n.Orders(room.Strike{Addr: hostport.At(addrOf(2))}); err != nil {
		t.Fatal(err)
	}
	bring()
	if lists := n.View().Lists; len(lists.Favourites) != 1 || len(lists.Hidden) != 1 {
		t.Errorf("%+v", lists)
	}
	n.Orders(room.Remove{Name: "bob"})
	if lists := n.View().Lists; len(lists.Favourites) != 1 || !slices.Equal(lists.Favourites[0].By, []string{"ann"}) ||
		len(lists.Hidden) != 0 {
		t.Errorf("without bob %+v", lists)
	}
	n.Orders(room.Change{Settings: []byte(`{"game":"xonotic"}`), Games: []string{"xonotic"}})
	if lists := n.View().Lists; len(lists.Favourites) != 0 {
		t.Errorf("of another game %+v", lists)
	}
}

// losesPlace keeps a player away for so long that the place is free for others.
func (n *session) losesPlace(name string) {
	n.Helper()
	n.Gone(name)
	n.Wait(attendance.GoneAfter + tick)
	if n.Person(name).Peer {
		n.Fatalf("%s has the place still; the log:\n%s", name, n.Story())
	}
}

// leavesThePage does so with a player whose page is open. The player then stays as a guest.
func (n *session) leavesThePage(name string) {
	n.Helper()
	page := n.PageOf(name)
	n.Step(room.PageOpened{Token: page})
	n.losesPlace(name)
	n.Step(room.PageClosed{Token: page})
	if !slices.Contains(n.Guests(), name) {
		n.Fatalf("%s is no guest; the log:\n%s", name, n.Story())
	}
}

// TestListsOfANameThatIsFree checks that a player who takes a free name cannot take back what its
// last holder brought. The holder can, with the same token.
func TestListsOfANameThatIsFree(t *testing.T) {
	for _, tt := range []struct {
		name, token string
		want        []string
	}{
		{"the one who brought it", strings.Repeat("a", tokenLetters), nil},
		{"another with a token", strings.Repeat("b", tokenLetters), []string{people.Somebody}},
		{"another without one", "", []string{people.Somebody}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := newSession(t, settings(3))
			join := func(token, fresh string) {
				n.Step(room.Join{Hello: wire.Hello{Name: "ann", Token: token}, Token: fresh})
			}
			join(strings.Repeat("a", tokenLetters), "")
			n.Says("ann", wire.Bring{Game: "openarena", Favourites: bringing(1)})
			n.losesPlace("ann")
			n.Revive()
			join(tt.token, strings.Repeat("c", tokenLetters))
			n.Says("ann", wire.Bring{Game: "openarena"})
			var by []string
			for _, one := range n.View().Lists.Favourites {
				by = append(by, one.By...)
			}
			if !slices.Equal(by, tt.want) {
				t.Errorf("what is still in the lists is %q's, want %q's", by, tt.want)
			}
		})
	}
	if nickname.Clean(people.Somebody) == people.Somebody {
		t.Error("a nickname can be what stands for who is gone")
	}
}

// TestListsOfWhoRanOut checks that people who come back get what they brought, whatever became of
// the nickname and however the room knows them, and that nobody else gets it.
func TestListsOfWhoRanOut(t *testing.T) {
	token := strings.Repeat("a", tokenLetters)
	page := roster.PageOf(token)
	left := map[string]func(*session){
		"away for long": func(n *session) {
			n.leavesThePage("ann")
			n.Now = n.Now.Add(guestStays + time.Second)
			n.Step(room.Tick{})
		},
		"gives the page's place up": func(n *session) {
			n.leavesThePage("ann")
			n.Acts(page, room.Quit{})
		},
		"gives way to another guest": func(n *session) {
			n.leavesThePage("ann")
			n.Now = n.Now.Add(time.Minute)
			for i := range mostGuests {
				name := fmt.Sprint("guest ", i)
				n.Step(room.Order{Action: room.Enter{Name: name, Token: name}})
			}
		},
		"leaves": func(n *session) { n.Acts(page, room.Quit{}) },
	}
	joins := func(n *session, name, token, fresh string) error {
		return n.Step(room.Join{Hello: wire.Hello{Name: name, Token: token}, Token: fresh})
	}
	enters := func(n *session, name, was string) error {
		return n.Acts("", room.Enter{Name: name, Was: was, Token: "new"})
	}
	back := []struct {
		name  string
		comes func(*session) error
		want  string
	}{
		{"the program", func(n *session) error { return joins(n, "ann", token, "") }, "ann"},
		{"the program, by another name", func(n *session) error { return joins(n, "eve", token, "") }, "eve"},
		{"the page", func(n *session) error { return enters(n, "ann", page) }, "ann"},
		{"the page, by another name", func(n *session) error { return enters(n, "eve", page) }, "eve"},
		{"the page, then the program", func(n *session) error { enters(n, "eve", page); return joins(n, "ann", token, "") }, "ann"},
		{"another program", func(n *session) error { return joins(n, "ann", "", "another") }, people.Somebody},
		{"another page", func(n *session) error { return enters(n, "ann", roster.PageOf("another")) }, people.Somebody},
		{"another page, and then the program", func(n *session) error {
			enters(n, "ann", "")
			return joins(n, "ann", token, "")
		}, "ann"},
	}
	for how, leaves := range left {
		for _, tt := range back {
			t.Run(how+", "+tt.name, func(t *testing.T) {
				n := newSession(t, settings(40))
				joins(n, "ann", token, "")
				n.Says("ann", wire.Bring{Game: "openarena", Favourites: bringing(1)})
				leaves(n)
				if n.Person("ann").Name != "" {
					t.Fatal("ann is still here")
				}
				n.Revive()
				for i := range mostGuests - 1 { // or the room is full of guests
					n.Acts(fmt.Sprint("guest ", i+1), room.Quit{})
				}
				if err := tt.comes(n); err != nil {
					t.Fatal(err)
				}
				if by := n.View().Lists.Favourites[0].By; !slices.Equal(by, []string{tt.want}) {
					t.Errorf("what ann brought is %q's, want %q's", by, tt.want)
				}
				if tt.want == "ann" || tt.want == "eve" {
					if err := n.Acts(page, room.Rename{Name: "dan"}); err != nil || n.View().Lists.Favourites[0].By[0] != "dan" {
						t.Errorf("the page is not theirs any more: %v, %+v", err, n.View().Lists)
					}
				}
			})
		}
	}
}

// TestListsAreBounded checks that the room keeps no more than it tells everybody, whether one
// player brings very many or many bring some each.
func TestListsAreBounded(t *testing.T) {
	if err := (wire.Bring{Favourites: bringing(make([]int, wire.MaxBrought+1)...)}).Check(); err == nil {
		t.Error("more than the most are brought at once")
	}
	n := newSession(t, settings(8))
	for i, name := range []string{"ann", "bob", "cat", "dan", "eve"} {
		n.Join(name)
		var servers []int
		for server := range wire.MaxBrought {
			servers = append(servers, 200*i+server)
		}
		n.Says(name, wire.Bring{Game: "openarena", Favourites: bringing(servers...)})
	}
	if got := len(n.View().Lists.Favourites); got != brought.Most {
		t.Errorf("%d favourites", got)
	}
	n.Noted("eve added 100 servers that can’t be shared: they’re on a private network, the organiser removed them, or " +
		"they’re more than the 100 per player and 400 in all that a room keeps")
}

// TestListsOfManyWhoLeave checks that the lists do not grow as somebody comes and goes under one
// new name after the other, in rooms that end and rooms that stay. The first of these players have
// theirs again when they come back.
func TestListsOfManyWhoLeave(t *testing.T) {
	for name, leave := range map[string]func(n *session, name string){
		"by the page":          func(n *session, name string) { n.Acts(n.PageOf(name), room.Quit{}) },
		"as the session ends":  func(n *session, _ string) { n.Orders(room.End{}) },
		"as others need seats": (*session).losesPlace,
	} {
		t.Run(name, func(t *testing.T) {
			s := settings(0)
			s.Every = "whenever"
			n := newSession(t, s)
			n.As["ann"] = n.Room.Keys().Secret
			for i := range 3 * wire.MaxPlayers {
				name := fmt.Sprint("player ", i)
				n.Join(name)
				n.Says(name, wire.Bring{Game: "openarena", Favourites: bringing(1), Hidden: bringing(2)})
				leave(n, name)
			}
			lists := n.View().Lists
			if by := len(lists.Favourites[0].By); by > wire.MaxPlayers+1 || len(lists.Hidden[0].By) != by {
				t.Errorf("in the lists stand %d and %d names", by, len(lists.Hidden[0].By))
			}
			n.Join("player 0")
			n.Says("player 0", wire.Bring{Game: "openarena"})
			if slices.Contains(n.View().Lists.Favourites[0].By, "player 0") {
				t.Error("a player who comes back cannot take back what they brought")
			}
		})
	}
}

// TestListsFromAfar checks that nobody on the internet makes the others ask servers of a local
// network, and that players at home may name those that are there.
func TestListsFromAfar(t *testing.T) {
	private, loopback := netip.MustParseAddrPort("192.168.1.1:27960"), netip.MustParseAddrPort("127.0.0.1:27960")
	for _, tt := range []struct {
		from room.Origin
		addr netip.AddrPort
		is   bool
	}{
		{publicly("198.51.100.7"), addrOf(1), true}, {publicly("198.51.100.7"), private, false}, {publicly("198.51.100.7"), loopback, false},
		{room.Origin{}, addrOf(1), true}, {room.Origin{}, private, false},
		{room.Origin{Near: netip.MustParseAddr("192.168.1.5")}, private, true},
		{room.Origin{Near: netip.MustParseAddr("192.168.1.5")}, loopback, false},
		{room.Origin{Addr: netip.MustParseAddr("127.0.0.1")}, loopback, true},
	} {
		n := newSession(t, settings(2))
		n.Origins["ann"] = tt.from
		n.Join("ann")
		n.Says("ann", wire.Bring{Game: "openarena", Favourites: []wire.Brought{{Addr: hostport.At(tt.addr)}}})
		if got := len(n.View().Lists.Favourites) == 1; got != tt.is {
			t.Errorf("from %+v %v is taken: %v", tt.from, tt.addr, got)
		}
	}
}

// TestListsAreFetched checks that servers that people bring are on the list from the next fetch on.
func TestListsAreFetched(t *testing.T) {
	n := newSession(t, settings(2))
	n.Join("ann")
	n.Says("ann", wire.Bring{Game: "openarena", Favourites: bringing(7), Hidden: bringing(8)})
	outputs, err := n.Room.Step(room.Join{Hello: wire.Hello{Version: wire.Version, Code: "BAKODI", Name: "bob"}, Token: "token of bob"}, roomtest.At(n.Now, 0))
	at := slices.IndexFunc(outputs, func(o room.Output) bool { _, is := o.(room.Fetch); return is })
	if err != nil || at < 0 || !slices.Equal(outputs[at].(room.Fetch).Also, []netip.AddrPort{addrOf(7)}) {
		t.Errorf("%+v, %v", outputs, err)
	}
}

// TestHideHere checks that the next server takes over when the organiser hides the one ahead during
// the vote, and that the last one left cannot be hidden.
func TestHideHere(t *testing.T) {
	n := inVoting(t)
	for {
		server, ranked := n.Chosen().Server, len(n.Choice().Ranking)
		hidden := len(n.View().Lists.Hidden)
		err := n.Orders(room.Hide{Addr: hostport.At(addrOf(server)), Hidden: true})
		if ranked == 1 {
			if err == nil || n.Chosen().Server != server || len(n.View().Lists.Hidden) != hidden {
				t.Errorf("all are hidden: %v, %+v", err, n.View().Lists)
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if after := n.Chosen().Server; after == server {
			t.Fatalf("%d is still chosen; the log:\n%s", after, n.Story())
		}
		n.LookAgain()
	}
	first := addrOf(0)
	if err := n.Orders(room.Hide{Addr: hostport.At(first)}); err != nil || slices.ContainsFunc(n.View().Lists.Hidden, func(b wire.Brought) bool {
		return b.Addr.AddrPort == first
	}) {
		t.Errorf("shown again: %v, %+v", err, n.View().Lists)
	}
}

// TestOursAreAsked checks that everybody measures the group's own servers of a long list, wherever
// they are, and that one wins though the search finds a better one.
func TestOursAreAsked(t *testing.T) {
	s := settings(2)
	s.Strategy, s.Prefer = wire.Coordinated, discovery.Millis(time.Second)
	n := newSession(t, s)
	list, ours := far(), []int{3, 996}
	n.Join("ann")
	n.Says("ann", wire.Bring{Game: "openarena", Favourites: []wire.Brought{{Addr: hostport.At(list[ours[0]].Addr)}, {Addr: hostport.At(list[ours[1]].Addr)}}})
	n.Join("bob")
	n.Gets(list)
	n.InStage(wire.Refining)
	n.searchesOn("ann", "bob")
	n.InStage(wire.Chosen)
	for _, server := range ours {
		for _, name := range n.Players() {
			if traceOf(n.Room, name)[server].State != discovery.Answered {
				t.Errorf("%s has not measured %v", name, list[server].Addr)
			}
		}
	}
	if !n.Chosen().Ours {
		t.Errorf("chosen is %+v", n.Chosen())
	}
}

// TestOnePlayersLists checks that one player cannot fill the room's lists, keep all from playing,
// or make everybody ask more by bringing the same servers again.
func TestOnePlayersLists(t *testing.T) {
	n := newSession(t, settings(3))
	n.As["ann"] = n.Room.Keys().Secret
	n.Join("ann", "mal")
	mal := n.PageOf("mal")
	for i := range 4 {
		var servers []int
		for server := range wire.MaxBrought {
			servers = append(servers, 200*i+server)
		}
		if err := n.Acts(mal, room.Bring{Favourites: bringing(servers...), Hidden: bringing(servers...), Adds: true}); err != nil {
			t.Fatal(err)
		}
	}
	if lists := n.View().Lists; len(lists.Favourites) != wire.MaxBrought || len(lists.Hidden) != wire.MaxBrought {
		t.Errorf("mal has brought %d and %d", len(lists.Favourites), len(lists.Hidden))
	}
	n.Acts(mal, room.Bring{Hidden: bringing(0, 1, 2)})
	n.Join("bob")
	n.Listed(3)
	notes := strings.Count(n.Story(), "mal")
	for range 5 {
		again := room.Hear{Player: n.ID("mal"), Message: wire.Bring{Game: "openarena", Hidden: bringing(2, 1, 0)}}
		outputs, err := n.Room.Step(again, roomtest.At(n.Now, 0))
		if err != nil || slices.Contains(outputs, room.Output(room.Save{})) || strings.Count(n.Story(), "mal") != notes {
			t.Errorf("the same again is kept, or told: %+v, %v; the log:\n%s", outputs, err, n.Story())
		}
	}
	for _, name := range []string{"ann", "mal", "bob"} {
		n.Informs(name, 12, 12, 12)
		n.Measures(name, 10, 20, 30)
	}
	n.Done("ann", "mal", "bob")
	if got := n.Choice().Culled.Hidden; got != 0 {
		t.Errorf("all are hidden: %d", got)
	}
	n.Acts(mal, room.Bring{Hidden: bringing(1)})
	n.LookAgain()
	n.Goes()
	n.Listed(3)
	for _, name := range []string{"ann", "mal", "bob"} {
		n.Informs(name, 12, 12, 12)
		n.Measures(name, 10, 20, 30)
	}
	n.Done("ann", "mal", "bob")
	if got := n.Choice().Culled.Hidden; got != 1 {
		t.Errorf("one of three is hidden: %d; the log:\n%s", got, n.Story())
	}
}
