package room

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room/brought"
	"muster/host/room/nickname"
	"muster/host/room/roster"
	"muster/host/wire"
	"muster/selection"
)

func bringing(servers ...int) (list []wire.Brought) {
	for _, server := range servers {
		list = append(list, wire.Brought{Addr: addr(server)})
	}
	return list
}

// TestLists: what people bring is the room's, with who brought it; a limit of
// milliseconds later one of theirs is chosen, and never what somebody hides.
func TestLists(t *testing.T) {
	s := settings(2)
	s.Prefer = discovery.Millis(15 * time.Millisecond)
	n := newSession(t, s)
	n.join("ann")
	n.says("ann", wire.Bring{Game: "openarena", Favourites: []wire.Brought{{Addr: addr(2), Name: "Ann's\x1b[31m " + strings.Repeat("x", 100)}}, Hidden: bringing(1)})
	n.says("ann", wire.Bring{Game: "xonotic", Favourites: bringing(3)}) // which is another game's
	n.noted("ann brings 1 server that the room may call its own, and 1 never to play on")
	n.join("bob")
	n.says("bob", wire.Bring{Game: "openarena", Favourites: bringing(2)})
	n.listed(4)
	lists := n.view().Lists
	if len(lists.Favourites) != 1 || !slices.Equal(lists.Favourites[0].By, []string{"ann", "bob"}) || len(lists.Favourites[0].Name) > 64 || strings.Contains(lists.Favourites[0].Name, "\x1b") {
		t.Errorf("%+v", lists)
	}
	for _, name := range []string{"ann", "bob"} {
		n.informs(name, 8, 8, 8, 8)
		n.measures(name, 40, 20, 52, 70)
		n.done(name)
	}
	chosen := n.room.round.choice.Newest()
	if chosen.Chosen.Server != 2 || chosen.Decided.By != selection.ByOurs || chosen.Culled.Hidden != 1 || !slices.Equal(chosen.Reasons[0].Players, []string{"ann"}) {
		t.Errorf("chosen is %+v, %+v, left out %+v", chosen.Chosen, chosen.Decided, chosen.Reasons)
	}
	same(t, n.room, restored(t, n.room))
}

// TestListsOfOthers: the organiser takes off the lists what others brought, and it stays
// off; who is removed takes it along.
func TestListsOfOthers(t *testing.T) {
	n := newSession(t, settings(3))
	n.as["ann"] = n.room.Keys().Secret
	n.join("ann", "bob")
	bring := func() {
		n.says("bob", wire.Bring{Game: "openarena", Favourites: bringing(1, 2), Hidden: bringing(3)})
	}
	bring()
	n.says("ann", wire.Bring{Game: "openarena", Favourites: bringing(1)})
	if err := n.acts(n.pageOf("bob"), Strike{addr(2)}); reason(err) != wire.ReasonSecret {
		t.Errorf("bob strikes: %v", err)
	}
	if err := n.orders(Strike{addr(2)}); err != nil {
		t.Fatal(err)
	}
	bring()
	if lists := n.view().Lists; len(lists.Favourites) != 1 || len(lists.Hidden) != 1 {
		t.Errorf("%+v", lists)
	}
	n.orders(Remove{"bob"})
	if lists := n.view().Lists; len(lists.Favourites) != 1 || !slices.Equal(lists.Favourites[0].By, []string{"ann"}) || len(lists.Hidden) != 0 {
		t.Errorf("without bob %+v", lists)
	}
	n.orders(Change{Settings: []byte(`{"game":"xonotic"}`), Games: []string{"xonotic"}})
	if lists := n.view().Lists; len(lists.Favourites) != 0 {
		t.Errorf("of another game %+v", lists)
	}
}

// TestListsOfANameThatIsFree: who takes a name that became free takes nothing back that its
// holder brought; the holder does, who comes back with the same token.
func TestListsOfANameThatIsFree(t *testing.T) {
	for _, tt := range []struct {
		name, token string
		want        []string
	}{
		{"the one who brought it", strings.Repeat("a", tokenLength), nil},
		{"another with a token", strings.Repeat("b", tokenLength), []string{brought.Nobody}},
		{"another without one", "", []string{brought.Nobody}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := newSession(t, settings(3))
			join := func(token, fresh string) {
				n.step(Join{Hello: wire.Hello{Name: "ann", Token: token}, Token: fresh})
			}
			join(strings.Repeat("a", tokenLength), "")
			n.says("ann", wire.Bring{Game: "openarena", Favourites: bringing(1)})
			n.room.unseat(n.room.round.player("ann"), false)
			n.room = restored(t, n.room)
			join(tt.token, strings.Repeat("c", tokenLength))
			n.says("ann", wire.Bring{Game: "openarena"})
			var by []string
			for _, one := range n.view().Lists.Favourites {
				by = append(by, one.By...)
			}
			if !slices.Equal(by, tt.want) {
				t.Errorf("what is still in the lists is %q's, want %q's", by, tt.want)
			}
		})
	}
	if nickname.Clean(brought.Nobody) == brought.Nobody {
		t.Error("a nickname can be what stands for who is gone")
	}
}

// TestListsOfWhoRanOut: whoever was in the room has what they brought again when they come
// back, however their nickname went and by whatever it is known that it is them; nobody else
// has it.
func TestListsOfWhoRanOut(t *testing.T) {
	token := strings.Repeat("a", tokenLength)
	page := roster.PageOf(token)
	left := map[string]func(*session){
		"away for long": func(n *session) {
			n.room.unseat(n.room.round.player("ann"), true)
			n.now = n.now.Add(guestGone + time.Second)
			n.step(Tick{})
		},
		"gives the page's place up": func(n *session) {
			n.room.unseat(n.room.round.player("ann"), true)
			n.acts(page, Quit{})
		},
		"gives way to another guest": func(n *session) {
			n.room.unseat(n.room.round.player("ann"), true)
			n.now = n.now.Add(time.Minute)
			for i := range guestsUnknown {
				name := fmt.Sprint("guest ", i)
				n.step(Order{Action: Enter{Name: name, Token: name}})
			}
		},
		"leaves": func(n *session) { n.acts(page, Quit{}) },
	}
	back := []struct {
		name  string
		comes func(*session) error
		want  string
	}{
		{"the program", func(n *session) error { return n.step(Join{Hello: wire.Hello{Name: "ann", Token: token}}) }, "ann"},
		{"the program, by another name", func(n *session) error { return n.step(Join{Hello: wire.Hello{Name: "eve", Token: token}}) }, "eve"},
		{"the page", func(n *session) error { return n.step(Order{Action: Enter{Name: "ann", Was: page, Token: "new"}}) }, "ann"},
		{"the page, by another name", func(n *session) error { return n.step(Order{Action: Enter{Name: "eve", Was: page, Token: "new"}}) }, "eve"},
		{"the page, then the program", func(n *session) error {
			n.step(Order{Action: Enter{Name: "eve", Was: page, Token: "new"}})
			return n.step(Join{Hello: wire.Hello{Name: "ann", Token: token}})
		}, "ann"},
		{"another program", func(n *session) error { return n.step(Join{Hello: wire.Hello{Name: "ann"}, Token: "another"}) }, brought.Nobody},
		{"another page", func(n *session) error {
			return n.step(Order{Action: Enter{Name: "ann", Was: roster.PageOf("another"), Token: "new"}})
		}, brought.Nobody},
		{"another page, and then the program", func(n *session) error {
			n.step(Order{Action: Enter{Name: "ann", Token: "new"}})
			return n.step(Join{Hello: wire.Hello{Name: "ann", Token: token}})
		}, brought.Nobody},
	}
	for how, leaves := range left {
		for _, tt := range back {
			t.Run(how+", "+tt.name, func(t *testing.T) {
				n := newSession(t, settings(40))
				n.step(Join{Hello: wire.Hello{Name: "ann", Token: token}})
				n.says("ann", wire.Bring{Game: "openarena", Favourites: bringing(1)})
				leaves(n)
				if n.room.roster.Person("ann").Name != "" {
					t.Fatal("ann is still here")
				}
				n.room = restored(t, n.room)
				for _, name := range n.guests() {
					if name != "guest 0" {
						n.room.apply(n.room.roster.Drop(name))
					}
				}
				if err := tt.comes(n); err != nil {
					t.Fatal(err)
				}
				if by := n.view().Lists.Favourites[0].By; !slices.Equal(by, []string{tt.want}) {
					t.Errorf("what ann brought is %q's, want %q's", by, tt.want)
				}
				if tt.want == "ann" || tt.want == "eve" {
					if err := n.acts(page, Rename{"dan"}); err != nil || n.view().Lists.Favourites[0].By[0] != "dan" {
						t.Errorf("the page is not theirs any more: %v, %+v", err, n.view().Lists)
					}
				}
			})
		}
	}
}

// TestListsAreBounded: neither one who brings very many, nor many who bring some each,
// have the room keep more than it tells everybody.
func TestListsAreBounded(t *testing.T) {
	if err := (wire.Bring{Favourites: bringing(make([]int, wire.MaxBrought+1)...)}).Check(); err == nil {
		t.Error("more than the most are brought at once")
	}
	n := newSession(t, settings(8))
	for i, name := range []string{"ann", "bob", "cat", "dan", "eve"} {
		n.join(name)
		var servers []int
		for server := range wire.MaxBrought {
			servers = append(servers, 200*i+server)
		}
		n.says(name, wire.Bring{Game: "openarena", Favourites: bringing(servers...)})
	}
	if got := len(n.view().Lists.Favourites); got != brought.Most {
		t.Errorf("%d favourites", got)
	}
	n.noted("100 servers of eve cannot be shared: on a network of their own, taken off by the organiser, or beyond the 100 of a player and the 400 that a room keeps")
}

// TestListsOfManyWhoLeave: who comes and goes under ever other names does not have the lists
// grow, in a room that ends no more than in one that stays; the first of them have theirs
// again when they come back.
func TestListsOfManyWhoLeave(t *testing.T) {
	for name, leave := range map[string]func(n *session, name string){
		"by the page":          func(n *session, name string) { n.acts(n.pageOf(name), Quit{}) },
		"as the evening ends":  func(n *session, _ string) { n.orders(End{}) },
		"as others need seats": func(n *session, name string) { n.room.unseat(n.room.round.player(name), false) },
	} {
		t.Run(name, func(t *testing.T) {
			n := standing(t, "whenever")
			for i := range 3 * wire.MaxPlayers {
				name := fmt.Sprint("player ", i)
				n.join(name)
				n.says(name, wire.Bring{Game: "openarena", Favourites: bringing(1), Hidden: bringing(2)})
				leave(n, name)
			}
			lists := n.room.lists.Save()
			if by := len(lists.Favourites[0].By); by > wire.MaxPlayers+1 || len(lists.Hidden[0].By) != by || len(lists.Left) > wire.MaxPlayers {
				t.Errorf("in the lists stand %d names, and the room knows whose %d were", by, len(lists.Left))
			}
			n.join("player 0")
			n.says("player 0", wire.Bring{Game: "openarena"})
			if slices.Contains(n.view().Lists.Favourites[0].By, "player 0") {
				t.Error("who comes back cannot take back what they brought")
			}
		})
	}
}

// TestListsFromAfar: nobody on the internet has the others ask servers of a local network,
// and who is at home may name those that are there.
func TestListsFromAfar(t *testing.T) {
	private, loopback := netip.MustParseAddrPort("192.168.1.1:27960"), netip.MustParseAddrPort("127.0.0.1:27960")
	for _, tt := range []struct {
		from Origin
		addr netip.AddrPort
		is   bool
	}{
		{public("198.51.100.7"), addr(1), true}, {public("198.51.100.7"), private, false}, {public("198.51.100.7"), loopback, false},
		{Origin{}, addr(1), true}, {Origin{}, private, false},
		{Origin{Near: netip.MustParseAddr("192.168.1.5")}, private, true}, {Origin{Near: netip.MustParseAddr("192.168.1.5")}, loopback, false},
		{Origin{Addr: netip.MustParseAddr("127.0.0.1")}, loopback, true},
	} {
		n := newSession(t, settings(2))
		n.origins["ann"] = tt.from
		n.join("ann")
		n.says("ann", wire.Bring{Game: "openarena", Favourites: []wire.Brought{{Addr: tt.addr}}})
		if got := len(n.view().Lists.Favourites) == 1; got != tt.is {
			t.Errorf("from %+v %v is taken: %v", tt.from, tt.addr, got)
		}
	}
}

// TestListsAreFetched: what is brought belongs on the list, from the next on.
func TestListsAreFetched(t *testing.T) {
	r := New(Keys{Code: "BAKODI"}, settings(1), eight)
	r.takes("ann", Origin{}, bringing(7), bringing(8), false)
	outputs, err := r.Step(Join{Hello: wire.Hello{Version: wire.Version, Code: "BAKODI", Name: "ann"}, Token: "token of ann"}, eight)
	at := slices.IndexFunc(outputs, func(o Output) bool { _, is := o.(Fetch); return is })
	if err != nil || at < 0 || !slices.Equal(outputs[at].(Fetch).Also, []netip.AddrPort{addr(7)}) {
		t.Errorf("%+v, %v", outputs, err)
	}
}

// TestHideHere: while people vote the organiser hides what they are about to go to, the
// next takes its place, and the last one left cannot be hidden.
func TestHideHere(t *testing.T) {
	n := inVoting(t)
	before := n.room.round.choice.Newest().Chosen.Server
	if err := n.orders(Hide{Addr: addr(before), Hidden: true}); err != nil {
		t.Fatal(err)
	}
	if after := n.room.round.choice.Newest().Chosen.Server; after == before {
		t.Errorf("%d is still chosen", after)
	}
	n = inVoting(t)
	for _, ranked := range n.room.round.choice.Newest().Ranking[1:] {
		n.room.lists.Hide(ranked.Addr, "", n.room.organiserName())
	}
	if err := n.orders(Hide{Addr: addr(before), Hidden: true}); err == nil || n.room.round.choice.Newest().Chosen == nil || len(n.room.lists.Hidden(n.room.round.servers.List, n.room.organiserName())) != len(n.room.round.choice.Newest().Ranking)-1 {
		t.Errorf("all are hidden: %v, %+v", err, n.room.lists)
	}
	if err := n.orders(Hide{Addr: addr(before)}); err != nil || slices.ContainsFunc(n.view().Lists.Hidden, func(b wire.Brought) bool { return b.Addr == addr(before) }) {
		t.Errorf("shown again: %v, %+v", err, n.view().Lists)
	}
}

// TestOursAreAsked: of a long list everybody measures the group's own servers, wherever
// those are, and one is chosen though the search finds a better one.
func TestOursAreAsked(t *testing.T) {
	s := settings(2)
	s.Strategy, s.Prefer = wire.Coordinated, discovery.Millis(time.Second)
	n := newSession(t, s)
	list := far()
	ours := []wire.Brought{{Addr: list[3].Addr}, {Addr: list[996].Addr}}
	n.join("ann")
	n.says("ann", wire.Bring{Game: "openarena", Favourites: ours})
	n.join("bob")
	n.gets(list)
	n.inStage(wire.Refining)
	for end := n.now.Add(time.Minute); n.room.phase.stage() == wire.Refining && n.now.Before(end); {
		n.wait(200 * time.Millisecond)
		n.answers(0, "ann")
		n.answers(1, "bob")
	}
	n.inStage(wire.Chosen)
	for _, one := range ours {
		for _, p := range n.room.round.players {
			if p.witness.IsUnprobed(n.room.round.indexOf(one.Addr)) {
				t.Errorf("%s has not measured %v", p.name, one.Addr)
			}
		}
	}
	if !n.room.round.choice.Newest().Chosen.Ours {
		t.Errorf("chosen is %+v", n.room.round.choice.Newest().Chosen)
	}
}

// TestOnePlayersLists: one player neither fills the room's lists, nor keeps all from
// playing, nor has everybody asked for more by bringing the same again and again.
func TestOnePlayersLists(t *testing.T) {
	n := newSession(t, settings(3))
	n.as["ann"] = n.room.Keys().Secret
	n.join("ann", "mal")
	mal := n.pageOf("mal")
	for i := range 4 {
		var servers []int
		for server := range wire.MaxBrought {
			servers = append(servers, 200*i+server)
		}
		if err := n.acts(mal, Bring{Favourites: bringing(servers...), Hidden: bringing(servers...), Adds: true}); err != nil {
			t.Fatal(err)
		}
	}
	if lists := n.view().Lists; len(lists.Favourites) != wire.MaxBrought || len(lists.Hidden) != wire.MaxBrought {
		t.Errorf("mal has brought %d and %d", len(lists.Favourites), len(lists.Hidden))
	}
	n.acts(mal, Bring{Hidden: bringing(0, 1, 2)})
	n.join("bob")
	n.listed(3)
	if hidden := n.room.lists.Hidden(n.room.round.servers.List, n.room.organiserName()); len(hidden) != 0 {
		t.Errorf("all are hidden: %v", hidden)
	}
	notes := strings.Count(n.log(), "mal")
	n.room.binds = false
	for range 5 {
		n.says("mal", wire.Bring{Game: "openarena", Hidden: bringing(2, 1, 0)})
	}
	if n.room.binds || strings.Count(n.log(), "mal") != notes {
		t.Errorf("the same again is kept, or told: %s", n.log())
	}
	n.acts(mal, Bring{Hidden: bringing(1)})
	if hidden := n.room.lists.Hidden(n.room.round.servers.List, n.room.organiserName()); len(hidden) != 1 {
		t.Errorf("one of three is hidden: %v", hidden)
	}
}
