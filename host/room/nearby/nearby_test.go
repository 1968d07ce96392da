package nearby

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/internal/catalogue"
)

const game = "openarena"

var (
	eight = roomtime.Opening

	// Two households, as a public host sees them, and two LAN parties that it sees from within.
	house, other = outside("203.0.113.1"), outside("198.51.100.1")
	party, far   = inside("192.168.1.2"), inside("10.0.0.7")
	nowhere      = Place{}

	office = []netip.Prefix{netip.MustParsePrefix("10.9.0.0/24"), netip.MustParsePrefix("fd00:9::/64")}
	hidden = Server{Addr: at("10.9.0.5:27960"), Networks: office, Info: discovery.Info{Name: "Hidden", MaxPlayers: 16}}
	shown  = Server{
		Addr:     at("10.9.0.6:27960"),
		Networks: office,
		Public:   at("192.0.2.1:27960"),
		Info:     discovery.Info{Name: "Shown", MaxPlayers: 16},
	}

	five = den("192.168.1.5:27960", "Den")
)

func outside(addr string) Place { return Place{Public: netip.MustParseAddr(addr)} }
func inside(addr string) Place  { return Place{Near: netip.MustParseAddr(addr)} }
func at(addr string) netip.AddrPort {
	return netip.MustParseAddrPort(addr)
}

// den returns a server that a player's program found.
func den(addr, name string) wire.NearServer {
	return wire.NearServer{Addr: at(addr), Info: discovery.Info{Name: name, Map: "oa_dm1", MaxPlayers: 16}}
}

func listOf(addrs ...string) (list []discovery.Server) {
	for _, addr := range addrs {
		list = append(list, discovery.Server{Addr: at(addr)})
	}
	return list
}

// findings returns networks with the servers that players at some places found.
func findings(t testing.TB, places map[people.ID]Place, found map[people.ID][]wire.NearServer) *Networks {
	t.Helper()
	n := &Networks{}
	for id, place := range places {
		n.Move(id, place)
		if servers, has := found[id]; has && n.Ask(id, game, eight) && !n.Hear(id, wire.Near{Game: game, Servers: servers}, eight) {
			t.Fatalf("what %s found is not heard", id)
		}
	}
	return n
}

// place puts the found servers into a list of these and others.
func (n *Networks) place(players []people.ID, known []Server, listed ...string) []discovery.Server {
	list := listOf(listed...)
	found := append(slices.Clip(known), n.Found(players, game, list, known)...)
	for _, addr := range Hidden(found) {
		list = append(list, discovery.Server{Addr: addr})
	}
	n.Place(found, list)
	return list
}

func TestReaches(t *testing.T) {
	for from, want := range map[string]bool{
		"10.9.0.2": true, "::ffff:10.9.0.2": true, "fd00:9::2": true, "127.0.0.1": true, "::1": true,
		"10.9.1.2": false, "198.51.100.1": false, "fd00:8::2": false,
	} {
		if got := hidden.isReachedBy(player{Place: inside(from)}); got != want {
			t.Errorf("from %s: %v", from, got)
		}
	}
	if hidden.isReachedBy(player{}) {
		t.Error("from nowhere")
	}
}

// TestFindings checks that the right findings of a player's program count.
func TestFindings(t *testing.T) {
	found := func(servers ...wire.NearServer) []wire.NearServer { return servers }
	for _, c := range []struct {
		name     string
		from     Place
		servers  []wire.NearServer
		other    Place
		also     []wire.NearServer
		ann, zoe int // numbers of servers that each has found
	}{
		{"one household", house, found(five), house, found(five), 1, 1},
		{"one of them found nothing", house, found(five), house, found(), 1, 0},
		{"two households behind a carrier's NAT", house, found(five), house, found(den("192.168.1.5:27960", "Zoe's")), 1, 0},
		{"another number of seats", house, found(five), house, found(wire.NearServer{Addr: five.Addr, Info: discovery.Info{Name: "Den"}}), 1, 0},
		{"two households", house, found(five), other, found(five), 1, 0},
		{"two servers each", house, found(five, den("192.168.1.6:1", "A")), other,
			found(den("192.168.1.6:1", "A"), den("192.168.1.7:1", "B")), 2, 1},
		{"the same twice", house, found(five, five), other, found(), 1, 0},
		{"nobody knows where they are", nowhere, found(five), nowhere, found(five), 0, 0},
		{"a host in the same party", party, found(five), inside("192.168.1.3"), found(five), 1, 1},
		{"a host in the same party, by its public address", Place{Public: house.Public, AtHost: true, Near: party.Near},
			found(five), party, found(five), 1, 1},
		{"a router between the host and them", far, found(five), inside("10.0.0.8"), found(five), 0, 0},
		{"an address of the next generation in the party", party, found(den("[fd00::1]:27960", "Den")), party, found(), 0, 0},
		{"a listed address", house, found(wire.NearServer{Addr: at("192.0.2.0:27960")}), other, found(), 0, 0},
		{"an address that the host found", house, found(wire.NearServer{Addr: hidden.Addr}), other, found(), 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			places := map[people.ID]Place{"ann": c.from, "zoe": c.other}
			n := findings(t, places, map[people.ID][]wire.NearServer{"ann": c.servers, "zoe": c.also})
			n.place([]people.ID{"ann", "zoe"}, []Server{hidden}, "192.0.2.0:27960")
			got := []int{len(n.Addresses("ann")), len(n.Addresses("zoe"))}
			if want := []int{c.ann, c.zoe}; !slices.Equal(got, want) {
				t.Errorf("they reach %v servers around, want %v", got, want)
			}
			if err := n.State().Validate([]people.ID{"ann", "zoe"}, 9); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBeyond checks that the programs on a large LAN are asked which servers of other networks they
// reach, once, and that only an answer counts.
func TestBeyond(t *testing.T) {
	east, home := den("10.2.0.9:27960", "East"), Place{AtHost: true, Near: netip.MustParseAddr("10.1.0.2")}
	local := Server{
		Addr: at("10.1.0.9:27960"), Networks: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/24")}, Info: discovery.Info{Name: "Home", MaxPlayers: 16},
	}
	there := den("10.1.0.9:27960", "Home")
	n := findings(t, map[people.ID]Place{
		"ann": home, "bob": inside("10.2.0.2"), "ben": inside("10.2.0.3"), "cat": inside("10.3.0.2"), "zoe": house,
	}, map[people.ID][]wire.NearServer{"ann": {}, "bob": {east}, "ben": {east}, "cat": {}, "zoe": {five}})
	players := []people.ID{"ann", "bob", "ben", "cat", "zoe"}
	beyond := map[people.ID]bool{}
	for _, id := range players {
		beyond[id] = n.IsBeyond(id)
	}
	if want := (map[people.ID]bool{"ann": false, "bob": true, "ben": true, "cat": true, "zoe": false}); !maps.Equal(beyond, want) {
		t.Errorf("beyond the host's network are %v", beyond)
	}
	asks := n.Beyond(players, game, []Server{local}, eight)
	if got, want := fmt.Sprint(asks), "[{ann [10.2.0.9:27960]} {bob [10.1.0.9:27960]} {ben [10.1.0.9:27960]} "+
		"{cat [10.1.0.9:27960 10.2.0.9:27960]}]"; got != want {
		t.Fatalf("asked are %s, want %s", got, want)
	}
	if again := n.Beyond(players, game, []Server{local}, eight); again != nil {
		t.Errorf("asked again are %v", again)
	}
	// ann reaches the server, bob and ben that of the host. cat's program is too late.
	n.Hear("ann", wire.Near{Game: game, Servers: []wire.NearServer{east}}, eight)
	n.Hear("bob", wire.Near{Game: game, Servers: []wire.NearServer{east, there}}, eight)
	n.Hear("ben", wire.Near{Game: game, Servers: []wire.NearServer{east, there, den("10.9.9.9:27960", "Unasked")}}, eight)
	if !n.Expire("cat", eight.Add(time.Minute)) || n.IsLooking("") {
		t.Error("cat's program is still awaited")
	}
	if again := n.Beyond(players, game, []Server{local}, eight); again != nil {
		t.Errorf("asked after the answers are %v", again)
	}
	n.place(players, []Server{local})
	for id, want := range map[people.ID]int{"ann": 2, "bob": 2, "ben": 2, "cat": 0, "zoe": 0} {
		if got := n.Around(id); len(got) != want && id != "zoe" {
			t.Errorf("%s reaches %v, want %d", id, got, want)
		}
	}
	told := catalogue.InEnglish().SayAll(n.Notes(players, map[int]string{0: "Home", 1: "East", 2: "Den"}))
	for _, want := range []string{"Home is on a local network that cat and zoe can’t reach"} {
		if !slices.Contains(told, want) {
			t.Errorf("people read %q, want %q", told, want)
		}
	}
	// A latecomer is asked about the servers in the list.
	n.Move("dan", inside("10.4.0.2"))
	n.Ask("dan", game, eight)
	n.Hear("dan", wire.Near{Game: game}, eight)
	if asks := n.Beyond([]people.ID{"dan"}, game, nil, eight); len(asks) != 1 || len(asks[0].At) != 2 {
		t.Errorf("a latecomer is asked about %v", asks)
	}
	// A new look begins anew.
	later := eight.Add(time.Hour)
	if !n.Ask("cat", game, later) || !n.Hear("cat", wire.Near{Game: game}, later) {
		t.Error("cat's program does not look again")
	}
	if asks := n.Beyond([]people.ID{"cat"}, game, nil, later); len(asks) != 1 {
		t.Errorf("after another look cat is asked about %v", asks)
	}
}

// TestOutvoted checks that nobody elsewhere can take a household's server off the list by claiming
// another at its address.
func TestOutvoted(t *testing.T) {
	all := []wire.NearServer{five}
	n := findings(t, map[people.ID]Place{"mallory": other, "ann": house, "bob": house, "eve": house}, map[people.ID][]wire.NearServer{
		"mallory": all, "ann": all, "bob": all, "eve": {den("192.168.1.5:27960", "Not that one")},
	})
	for _, c := range []struct {
		players []people.ID
		want    Place
	}{
		{[]people.ID{"mallory", "ann", "bob"}, house},
		{[]people.ID{"mallory", "ann"}, other}, // the first of two equals
		{[]people.ID{"ann", "mallory"}, house},
		{[]people.ID{"mallory", "ann", "eve"}, other}, // eve has found a third server
	} {
		if found := n.Found(c.players, game, nil, nil); len(found) != 1 || found[0].Home != c.want.Public {
			t.Errorf("of %v the list has %+v", c.players, found)
		}
	}
	if found := n.Found([]people.ID{"ann"}, "xonotic", nil, nil); found != nil {
		t.Errorf("for another game the list has %+v", found)
	}
}

// TestPublicServers checks that a server that the internet lists at a household's address counts as
// the only one of its port there.
func TestPublicServers(t *testing.T) {
	const list = "203.0.113.1:27960"
	six := den("192.168.1.6:27960", "Six")
	for _, c := range []struct {
		name    string
		places  map[people.ID]Place
		found   map[people.ID][]wire.NearServer
		public  []string
		hidden  int
		listFor map[people.ID]string // each player's other address for it
	}{
		{
			"one server", map[people.ID]Place{"ann": house, "bob": house, "zoe": other}, map[people.ID][]wire.NearServer{"ann": {five}},
			[]string{list}, 0, map[people.ID]string{"ann": "192.168.1.5:27960", "bob": list, "zoe": list},
		},
		{
			"two of its port", map[people.ID]Place{"ann": house}, map[people.ID][]wire.NearServer{"ann": {five, six}},
			[]string{"invalid AddrPort", "invalid AddrPort"}, 2, map[people.ID]string{"ann": list},
		},
		{
			"another household has one there, too", map[people.ID]Place{"ann": house, "zoe": other},
			map[people.ID][]wire.NearServer{"ann": {five}, "zoe": {five}},
			[]string{list, "invalid AddrPort"}, 1, map[people.ID]string{"ann": "192.168.1.5:27960", "zoe": list},
		},
		{
			"in the host's party", map[people.ID]Place{"ann": party}, map[people.ID][]wire.NearServer{"ann": {five}},
			[]string{"invalid AddrPort"}, 1, map[people.ID]string{"ann": list},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := findings(t, c.places, c.found)
			players := slices.Sorted(maps.Keys(c.places))
			var public []string
			for _, s := range n.Found(players, game, listOf(list), nil) {
				public = append(public, s.Public.String())
			}
			if !slices.Equal(public, c.public) {
				t.Errorf("their public addresses are %v, want %v", public, c.public)
			}
			servers := n.place(players, nil, list)
			if len(servers) != 1+c.hidden || n.HasTwoAddresses() != (c.hidden < len(public)) {
				t.Errorf("the list is %v; two addresses: %v", servers, n.HasTwoAddresses())
			}
			for id, want := range c.listFor {
				if got := n.ListFor(id, servers)[0].Addr.String(); got != want {
					t.Errorf("%s is told %s, want %s", id, got, want)
				}
			}
			if servers[0].Addr != at(list) {
				t.Error("the list that all share has changed")
			}
		})
	}
}

// TestHostsServers checks that only the right people reach the servers of the host's network, and
// that people are told.
func TestHostsServers(t *testing.T) {
	n := findings(t, map[people.ID]Place{"ann": inside("10.9.0.2"), "yan": other, "zoe": other, "bob": house},
		map[people.ID][]wire.NearServer{"bob": {five}})
	players := []people.ID{"ann", "zoe", "yan", "bob"}
	known := []Server{hidden, shown, {Addr: at("10.9.0.7:1"), Public: at("192.0.2.9:1")}} // the last is not listed
	list := listOf("192.0.2.0:27960", "192.0.2.1:27960", "10.9.0.5:27960", "192.168.1.5:27960")
	said := n.Place(append(known, n.Found(players, game, list[:2], known)...), list)
	want := []wire.ServerInfo{{Server: 2, Info: hidden.Info}, {Server: 1, Info: shown.Info}}
	if !reflect.DeepEqual(said, want) {
		t.Errorf("the host's servers say %+v, want %+v", said, want)
	}
	notes := []string{"2 of them on the local network", "1 of them on the network of bob",
		"Hidden is on a local network that zoe, yan and bob can’t reach"}
	got := catalogue.InEnglish().SayAll(n.Notes(players, map[int]string{2: "Hidden", 1: "Shown"}))
	if !slices.Equal(got, notes) {
		t.Errorf("people read %q, want %q", got, notes)
	}
	for id, want := range map[people.ID]string{
		"ann":    "[3] [2 1] map[1:10.9.0.6:27960 2:10.9.0.5:27960]",
		"zoe":    "[2 3] [1] map[]",
		"bob":    "[2] [1 3] map[3:192.168.1.5:27960]",
		"nobody": "[2 3] [1] map[]",
	} {
		if got := fmt.Sprint(n.HiddenFrom(id), n.Around(id), n.Addresses(id)); got != want {
			t.Errorf("to %s are hidden, are around, and are reached by their own addresses: %s, want %s", id, got, want)
		}
	}
	if !n.IsHidden("zoe", 2) || n.IsHidden("zoe", 1) || n.IsHidden("zoe", 0) {
		t.Error("zoe gets to other servers than she does")
	}
	if got := n.ListFor("ann", list); got[1].Addr != shown.Addr || got[2].Addr != hidden.Addr || list[1].Addr != shown.Public {
		t.Errorf("ann is told %v of %v", got, list)
	}
	if got := n.ListFor("zoe", list); &got[0] != &list[0] {
		t.Error("zoe is told a list of her own")
	}
	next := n.Next()
	if next.HiddenFrom("zoe") != nil || next.Around("ann") != nil || len(next.Found(players, game, nil, nil)) != 1 {
		t.Errorf("the next round begins with %+v", next)
	}
}

// TestMany checks that no list has more local servers than a LAN party.
func TestMany(t *testing.T) {
	var known []Server
	var found []wire.NearServer
	var list []discovery.Server
	for i := range 2 * most {
		addr := netip.AddrPortFrom(hidden.Addr.Addr(), uint16(i+1))
		known, list = append(known, Server{Addr: addr}), append(list, discovery.Server{Addr: addr})
		found = append(found, wire.NearServer{Addr: netip.AddrPortFrom(five.Addr.Addr(), uint16(i+1))})
	}
	n := findings(t, map[people.ID]Place{"ann": house}, map[people.ID][]wire.NearServer{"ann": found})
	if got := n.Found([]people.ID{"ann"}, game, nil, nil); len(got) != most {
		t.Errorf("ann has found %d", len(got))
	}
	if n.Place(known, list); len(n.state.Servers) != most || len(Hidden(known)) != most {
		t.Errorf("%d are in the list, and %d are hidden", len(n.state.Servers), len(Hidden(known)))
	}
}

// TestMove checks that measurements of hidden servers hold nowhere else, and that findings there
// are forgotten.
func TestMove(t *testing.T) {
	n := findings(t, map[people.ID]Place{"ann": inside("10.9.0.2"), "bob": house}, map[people.ID][]wire.NearServer{"bob": {five}})
	n.place([]people.ID{"ann", "bob"}, []Server{shown, hidden}, "192.0.2.1:27960")
	for _, step := range []struct {
		player people.ID
		to     Place
		stale  []int
	}{
		{"ann", inside("10.9.0.3"), nil},
		{"ann", other, []int{1}},
		{"ann", house, nil},
		{"ann", inside("10.9.0.2"), []int{1}},
		{"bob", other, []int{2}},
		{"bob", house, nil}, // bob has not looked around there
	} {
		if stale := n.Move(step.player, step.to); !slices.Equal(stale, step.stale) {
			t.Errorf("%s moves to %v: what is known of %v is stale, want %v", step.player, step.to, stale, step.stale)
		}
	}
	for id, p := range n.State().Players {
		if p.Servers != nil || !p.At.IsZero() {
			t.Errorf("%s has found %+v", id, p.Finding)
		}
	}
}

// TestAsk checks that programs are asked to look around at the right times.
func TestAsk(t *testing.T) {
	const asked, isNot = true, false
	var n Networks
	n.Move("ann", house)
	n.Move("nan", nowhere)
	n.Move("pat", outside("10.0.0.1")) // a private address that is not near
	for _, step := range []struct {
		player people.ID
		game   string
		after  time.Duration
		want   bool
	}{
		{"nan", game, 0, isNot},
		{"pat", game, 0, isNot},
		{"nobody", game, 0, isNot},
		{"ann", game, 0, asked},
		{"ann", game, time.Second, isNot}, // ann's program is looking
		{"ann", "xonotic", time.Second, asked},
	} {
		if got := n.Ask(step.player, step.game, eight.Add(step.after)); got != step.want {
			t.Errorf("after %v %s is asked for %s: %v", step.after, step.player, step.game, got)
		}
	}
	if !n.IsLooking("ann") || n.IsLooking("nan") || !n.IsLooking("") {
		t.Error("not ann looks around, or not ann alone")
	}
	if n.Hear("ann", wire.Near{Game: game, Servers: []wire.NearServer{five}}, eight) {
		t.Error("it is heard what was found for the game before")
	}
	told := eight.Add(3 * time.Second)
	if !n.Hear("ann", wire.Near{Game: "xonotic", Servers: []wire.NearServer{five}}, told) || n.IsLooking("") {
		t.Error("it is not heard what was found")
	}
	if n.Hear("ann", wire.Near{Game: "xonotic"}, told) {
		t.Error("it is heard what nobody asked for")
	}
	for after, want := range map[time.Duration]bool{0: isNot, fresh - 1: isNot, fresh: asked} {
		again := Networks{State{Players: maps.Clone(n.state.Players)}}
		if got := again.Ask("ann", "xonotic", told.Add(after)); got != want {
			t.Errorf("ann is asked again after %v: %v", after, got)
		}
	}
}

// TestExpire checks that the room does not wait for a player who reports nothing, or has left.
func TestExpire(t *testing.T) {
	n := findings(t, map[people.ID]Place{"ann": house, "bob": other}, map[people.ID][]wire.NearServer{"ann": {five}})
	later := eight.Add(fresh)
	n.Ask("ann", game, later)
	n.Ask("bob", game, later)
	if n.Expire("ann", later.Add(lookTime)) || n.Expire("nobody", later.Add(lookTime+1)) {
		t.Error("a program is given up too early")
	}
	if !n.Expire("ann", later.Add(lookTime+1)) || n.IsLooking("ann") || n.Expire("ann", later.Add(time.Hour)) {
		t.Error("ann's program is waited for, or given up twice")
	}
	if found := n.State().Players["ann"]; found.Servers != nil || found.Game != game || found.At != later.Add(lookTime+1) {
		t.Errorf("what ann found before counts: %+v", found)
	}
	n.Leave("bob")
	n.Leave("nobody")
	if n.IsLooking("") {
		t.Error("bob's program is waited for, who has left")
	}
	if !n.Ask("bob", game, later) {
		t.Error("bob is not asked when he is back")
	}
}

// TestIsLate checks that a player who comes to a network with servers looks around first.
func TestIsLate(t *testing.T) {
	n := findings(t, map[people.ID]Place{"ann": house, "bob": house, "zoe": other, "dan": house},
		map[people.ID][]wire.NearServer{"ann": {five}, "dan": {}})
	if n.IsLate("bob", game) {
		t.Error("bob is late, though nothing is in the list")
	}
	n.place([]people.ID{"ann"}, []Server{hidden})
	for id, want := range map[people.ID]bool{"ann": false, "bob": true, "zoe": false, "dan": false, "nobody": false} {
		if got := n.IsLate(id, game); got != want {
			t.Errorf("%s is late: %v", id, got)
		}
	}
}

// TestDrop checks that a player's finding is forgotten with the player.
func TestDrop(t *testing.T) {
	n := findings(t, map[people.ID]Place{"ann": house}, map[people.ID][]wire.NearServer{"ann": {five}})
	n.Drop("ann")
	if len(n.state.Players) != 0 {
		t.Errorf("what is left is %v", n.state.Players)
	}
}

// TestSaved checks the form of the saved section.
func TestSaved(t *testing.T) {
	places := map[people.ID]Place{"ann": house, "bob": house, "cat": other}
	n := findings(t, places, map[people.ID][]wire.NearServer{"ann": {{Addr: five.Addr,
		Info: discovery.Info{Name: "Den", MaxPlayers: 16}}}, "bob": {}})
	n.Ask("cat", game, eight)
	n.place([]people.ID{"ann", "bob"}, []Server{shown}, "192.0.2.1:27960")
	got, err := json.Marshal(n.State())
	if err != nil {
		t.Fatal(err)
	}
	info, _ := json.Marshal(discovery.Info{Name: "Den", MaxPlayers: 16})
	want := `{"players":{` +
		`"ann":{"place":{"public":"203.0.113.1"},"game":"openarena","servers":[{"addr":"192.168.1.5:27960","info":` + string(info) + `}],"at":31536000000000000},` +
		`"bob":{"place":{"public":"203.0.113.1"},"game":"openarena","at":31536000000000000},` +
		`"cat":{"place":{"public":"198.51.100.1"}}},` +
		`"servers":[{"addr":"10.9.0.6:27960","networks":["10.9.0.0/24","fd00:9::/64"],"public":"192.0.2.1:27960","name":"Shown","seats":16,"server":0},` +
		`{"addr":"192.168.1.5:27960","networks":null,"home":"203.0.113.1","name":"Den","seats":16,"server":1}]}`
	if string(got) != want {
		t.Errorf("saved is\n%s, want\n%s", got, want)
	}
	var back Networks
	if err := json.Unmarshal(got, back.State()); err != nil || len(back.Addresses("ann")) != 1 || back.IsLooking("") {
		t.Errorf("restored is %+v, %v", back, err)
	}
	players := []people.ID{"ann", "bob", "cat"}
	if err := back.State().Validate(players, 2); err != nil {
		t.Error(err)
	}
	for name, s := range map[string]State{
		"a server outside the list": {Servers: []Server{{Server: 2}}},
		"a server before the list":  {Servers: []Server{{Server: -1}}},
		"a player who is not here":  {Players: map[people.ID]player{"dan": {}}},
	} {
		if s.Validate(players, 2) == nil {
			t.Errorf("%s is valid", name)
		}
	}
}

// FuzzNetworks lets players' programs say anything. A player's list differs from the shared one
// only where the player's own program found a server.
func FuzzNetworks(f *testing.F) {
	f.Add([]byte{0, 1, 1, 0, 2, 1, 1, 3})
	f.Add([]byte{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7})
	f.Fuzz(func(t *testing.T, data []byte) {
		players := []people.ID{"ann", "bob", "zoe"}
		places := []Place{house, other, party, far, nowhere, {Public: house.Public, AtHost: true, Near: party.Near}}
		at := map[people.ID]Place{}
		var n Networks
		now := eight
		list := n.place(players, []Server{hidden, shown}, "192.0.2.1:27960", "203.0.113.1:1")
		for len(data) >= 3 {
			op, id, of := data[0]%7, players[int(data[1])%len(players)], int(data[2])
			data = data[3:]
			switch op {
			case 0:
				at[id] = places[of%len(places)]
				n.Move(id, at[id])
			case 1:
				n.Ask(id, game, now)
			case 2, 3:
				m := wire.Near{Game: game}
				for i := range of % 4 {
					addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 168, 1, byte(of>>i) % 4}), uint16(of>>(2*i)%3))
					m.Servers = append(m.Servers, wire.NearServer{Addr: addr, Info: discovery.Info{Name: strings.Repeat("x", of%3)}})
				}
				n.Hear(id, m, now)
			case 4:
				now = now.Add(time.Duration(of) * time.Second)
				n.Expire(id, now)
			case 5:
				n.Leave(id)
			case 6:
				n = n.Next()
				list = n.place(players, []Server{hidden, shown}, "192.0.2.1:27960", "203.0.113.1:1")
			}
			for _, id := range players {
				for server, s := range n.ListFor(id, list) {
					own := func(f wire.NearServer) bool { return f.Addr == s.Addr }
					if s.Addr != list[server].Addr && !slices.ContainsFunc(n.state.Players[id].Servers, own) && s.Addr != shown.Addr {
						t.Fatalf("%s is told of %v, which nobody there has found", id, s.Addr)
					}
				}
				if slices.ContainsFunc(n.Around(id), func(server int) bool { return n.IsHidden(id, server) }) {
					t.Fatalf("a server is around %s and hidden", id)
				}
				n.IsLate(id, game)
			}
			n.Notes(players, nil)
			if err := n.State().Validate(slices.Collect(maps.Keys(at)), len(list)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
