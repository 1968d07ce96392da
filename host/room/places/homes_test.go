package places

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/host/room/people"
	"muster/host/wire"
)

// homesOf returns the addresses at which players' computers are measured.
func (g *group) homesOf() string {
	var at []string
	for _, h := range g.homesIn(g.scene) {
		at = append(at, h.Place.Addr.String())
	}
	return strings.Join(at, " ")
}

// TestHomesBound checks that players' computers take only the places that the organiser's list
// leaves, and no name twice.
func TestHomesBound(t *testing.T) {
	var names []string
	for i := range wire.MaxVenues - 1 {
		names = append(names, fmt.Sprint("place ", i))
	}
	for _, tt := range []struct{ name, first, want string }{
		{"the last one", "place", "203.0.113.1:7787"},
		{"a name that a place has", "ann's computer", "203.0.113.2:7787"},
	} {
		names[0] = tt.first
		g := &group{T: t, now: eight, scene: Scene{Places: venues(names...)}}
		g.comes("ann", "1", far(1), 7787)
		g.comes("bob", "2", far(2), 7787)
		if got := g.homesOf(); got != tt.want {
			t.Errorf("%s: measured are %q, want %q", tt.name, got, tt.want)
		}
		if g.begins(); g.Count(g.scene.Places) != wire.MaxVenues || len(g.asked("ann")) != 1 {
			t.Errorf("%s: %d places are measured", tt.name, g.Count(g.scene.Places))
		}
	}
}

// TestHomesOfALANParty checks that each computer is measured in the network while all come from one
// network of the host's. Nobody gets a private address if one friend is elsewhere.
func TestHomesOfALANParty(t *testing.T) {
	for _, tt := range []struct {
		name string
		from []Player
		want string
	}{
		{"one network", []Player{near("192.168.1.2"), near("192.168.1.3")}, "192.168.1.2:1001 192.168.1.3:1002"},
		{"another network of the host's", []Player{near("192.168.1.2"), near("192.168.2.3")}, ""},
		{"one by a VPN, who may have such addresses at home", []Player{near("192.168.1.2"), near("192.168.1.3"), near("100.64.0.9")}, ""},
		{"all by a VPN", []Player{near("100.64.0.9"), near("100.101.7.3")}, "100.64.0.9:1001 100.101.7.3:1002"},
		{"all by IPv6", []Player{near("fd00::1"), near("fd00::2")}, "[fd00::1]:1001 [fd00::2]:1002"},
		{"one of them by IPv6", []Player{near("192.168.1.2"), near("fd00::2")}, ""},
		{"two behind one gateway", []Player{near("192.168.1.2"), near("192.168.1.3"), near("192.168.1.3")}, ""},
		{"a friend elsewhere", []Player{near("192.168.1.2"), near("192.168.1.3"), far(1)}, "203.0.113.1:1003"},
		{"one by a tunnel", []Player{near("192.168.1.2"), near("192.168.1.3"), {Person: people.Person{IsHere: true}}}, ""},
		{"one who is away", []Player{near("192.168.1.2"), {}}, "192.168.1.2:1001"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &group{T: t}
			for i, from := range tt.from {
				g.comes(people.ID(fmt.Sprint("p", i)), "1", from, uint16(1001+i))
			}
			if got := g.homesOf(); got != tt.want {
				t.Errorf("measured are %q, want %q", got, tt.want)
			}
		})
	}
}

// TestHomesBehindRouters checks that a player elsewhere is measured at the port that their router
// gave, at their own address and no other. Within one network there is no router in between.
func TestHomesBehindRouters(t *testing.T) {
	type does func(g *group)
	outside := func(player people.ID, port uint16) does {
		return func(g *group) { g.news.add(g.Outside(player, port, g.scene, g.now)) }
	}
	comes := func(player people.ID, program string, from Player, beacon uint16) does {
		return func(g *group) { g.comes(player, program, from, beacon) }
	}
	for _, tt := range []struct {
		name string
		does []does
		want string
	}{
		{"one router", []does{comes("ann", "1", far(1), 7787), comes("bob", "2", far(2), 7787), outside("bob", 40001)},
			"203.0.113.1:7787 203.0.113.2:40001"},
		{"another port later", []does{comes("bob", "2", far(2), 7787), outside("bob", 40001), outside("bob", 40002)}, "203.0.113.2:40002"},
		{"the same port", []does{comes("bob", "2", far(2), 7787), outside("bob", 7787)}, "203.0.113.2:7787"},
		{"a connection that comes back",
			[]does{comes("bob", "2", far(2), 7787), outside("bob", 40001), comes("bob", "2", far(2), 7787)}, "203.0.113.2:40001"},
		{"a program that was started again",
			[]does{comes("bob", "2", far(2), 7787), outside("bob", 40001), comes("bob", "3", far(2), 7787)}, "203.0.113.2:7787"},
		{"a beacon at another port",
			[]does{comes("bob", "2", far(2), 7787), outside("bob", 40001), comes("bob", "2", far(2), 4000)}, "203.0.113.2:4000"},
		{"another address", []does{comes("bob", "2", far(2), 7787), outside("bob", 40001), comes("bob", "2", far(9), 7787)}, "203.0.113.9:40001"},
		{"one who could not host", []does{comes("bob", "2", far(2), 0), outside("bob", 40001)}, ""},
		{"one network", []does{comes("ann", "1", near("192.168.1.1"), 7787),
			comes("bob", "2", near("192.168.1.2"), 7788), outside("bob", 40001)}, "192.168.1.1:7787 192.168.1.2:7788"},
		{"in a private network, with one elsewhere",
			[]does{comes("ann", "1", far(1), 7787), comes("bob", "2", near("192.168.1.2"), 7788), outside("bob", 40001)}, "203.0.113.1:7787"},
		{"on this machine", []does{comes("bob", "2", Player{Person: people.Person{IsHere: true}}, 7787), outside("bob", 22)}, ""},
		{"one who is nobody", []does{outside("bob", 22)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &group{T: t}
			for _, does := range tt.does {
				does(g)
			}
			if got := g.homesOf(); got != tt.want {
				t.Errorf("measured are %q, want %q", got, tt.want)
			}
		})
	}
}

// TestHomesMove checks that results for a port that the router has given up are dropped at once,
// and that a late answer does not count for another. A player who names another port a thousand
// times makes everyone measure a few times, and then no more until the organiser wants it.
func TestHomesMove(t *testing.T) {
	g := &group{T: t, now: eight}
	g.comes("ann", "1", far(1), 7787)
	g.comes("mal", "2", far(2), 7787)
	asked := func(want ...string) {
		t.Helper()
		var got []string
		for _, s := range g.asked("ann") {
			got = append(got, fmt.Sprint(s.Attempt, " ", machines(s.Places)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("ann is asked %q, want %q", got, want)
		}
	}
	at := func(attempt int, port uint16) string {
		return fmt.Sprintf("%d [{ann's computer 203.0.113.1:7787 beacon} {mal's computer 203.0.113.2:%d beacon}]", attempt, port)
	}
	names := func(port uint16) { g.news.add(g.Outside("mal", port, g.scene, g.now)) }
	g.begins()
	asked(at(1, 7787))
	g.noted()
	g.says("ann", 1, lost, 40)
	g.says("mal", 1, 40, lost)
	if got := g.noted(); got != "your own server: ann's computer would give 20/40 ms (average/worst), mal's computer 20/40" {
		t.Errorf("noted is %q", got)
	}
	names(40001)
	asked(at(2, 40001))
	g.says("ann", 1, lost, 1)
	if sites := g.sites(); sites == nil || len(sites.Waiting) != 2 {
		t.Errorf("what was measured at the port before counts: %+v", sites)
	}
	g.says("ann", 2, lost, 60)
	g.says("mal", 2, 40, lost)
	names(40001)
	asked()
	for port := range uint16(1000) {
		names(1 + port)
	}
	asked(at(3, 1), at(4, 2))
	if sites := g.sites(); sites != nil {
		t.Errorf("what was measured before still shows: %+v", sites)
	}
	g.begins()
	asked(at(5, 1000))
	g.says("ann", 5, lost, 60)
	g.says("mal", 5, 40, lost)
	if sites := g.sites(); sites == nil || len(sites.Waiting) > 0 {
		t.Errorf("in the end there is %+v", sites)
	}
}

// TestHomesOfOneWhoComesAndGoes checks that a program that comes back at another port each time
// makes the others measure a few times, and no more until the organiser wants it.
func TestHomesOfOneWhoComesAndGoes(t *testing.T) {
	g := &group{T: t, now: eight, scene: Scene{Places: venues("A", "B")}}
	g.comes("ann", "1", far(1), 7787)
	g.comes("bob", "2", far(2), 4000)
	for range 2 {
		g.now = g.now.Add(pause)
		g.begins()
		for i := range 20 {
			g.comes("bob", "2", far(2), uint16(4001+i))
		}
		if got := len(g.asked("ann")); got != 1+maxAnew {
			t.Errorf("ann measures %d times", got)
		}
	}
}

// TestHomesOfThoseWhoLeft checks that nobody who comes later gets the address of a player who no
// longer agrees, is away, has left or has another name.
func TestHomesOfThoseWhoLeft(t *testing.T) {
	for _, tt := range []struct {
		name string
		does func(g *group)
		want string // mal's questions
	}{
		{"nothing has changed", func(*group) {}, "[{ann's computer 203.0.113.1:7787 beacon} {bob's computer 203.0.113.2:4000 beacon}]"},
		{"no longer agrees", func(g *group) { g.comes("bob", "3", far(2), 0) }, ""},
		{"is away", func(g *group) {
			g.player("bob").IsHere = false
		}, "[{ann's computer 203.0.113.1:7787 beacon} {mal's computer 203.0.113.3:9 beacon}]"},
		{"has left", func(g *group) {
			g.Leave("bob")
			g.scene.Players = g.scene.Players[:1]
		}, "[{ann's computer 203.0.113.1:7787 beacon} {mal's computer 203.0.113.3:9 beacon}]"},
		{"has another name", func(g *group) {
			g.player("bob").Name = "ben"
		}, "[{ann's computer 203.0.113.1:7787 beacon} {ben's computer 203.0.113.2:4000 beacon} {mal's computer 203.0.113.3:9 beacon}]"},
		{"after a restart", func(g *group) {
			g.Survey = Survey{state: *g.State()}
			for i := range g.scene.Players {
				g.scene.Players[i].IsHere = false
			}
			g.comes("ann", "1", far(1), 7787)
		}, "[{ann's computer 203.0.113.1:7787 beacon} {mal's computer 203.0.113.3:9 beacon}]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &group{T: t, now: eight}
			g.comes("ann", "1", far(1), 7787)
			g.comes("bob", "2", far(2), 4000)
			g.begins()
			g.says("ann", 1, lost, 40)
			g.says("bob", 1, lost, lost)
			tt.does(g)
			g.comes("mal", "4", far(3), 9)
			got := ""
			for _, s := range g.asked("mal") {
				got += machines(s.Places)
			}
			if got != tt.want {
				t.Errorf("mal is told %q, want %q", got, tt.want)
			}
		})
	}
}

// TestPlayersGo checks that a player's findings are forgotten when the player leaves.
func TestPlayersGo(t *testing.T) {
	g, _ := chosen(t, 0, "A")
	g.says("ann", 1, 20)
	if got := g.waiting(g.scene); !slices.Equal(got, []people.ID{"cat"}) {
		t.Errorf("the survey waits for %q", got)
	}
	g.Leave("ann")
	if got := g.waiting(g.scene); !slices.Equal(got, []people.ID{"ann", "cat"}) || len(g.doors) != 1 {
		t.Errorf("left, the survey waits for %q, and knows of %d doors", got, len(g.doors))
	}
}

// TestNames checks that people read the names of today, while notes have IDs. The note on a
// player's computer tells of the player.
func TestNames(t *testing.T) {
	g := &group{T: t, now: eight}
	ann, bob := people.Nth(1), people.Nth(2)
	g.comes(ann, "1", far(1), 7787)
	g.comes(bob, "2", far(2), 4000)
	g.player(ann).Name, g.player(bob).Name = "ann", "bob"
	g.begins()
	names := people.NewNames(map[people.ID]string{ann: "ann", bob: "bobby"})
	if _, sites := g.View(g.scene, names); !slices.Equal(sites.Waiting, []string{"ann", "bobby"}) {
		t.Errorf("waiting are %q", sites.Waiting)
	}
	g.news = News{}
	g.says(ann, 1, lost, lost)
	g.says(bob, 1, 30, lost)
	candidates, sites := g.View(g.scene, names)
	var got []string
	for _, s := range sites.Sites {
		got = append(got, fmt.Sprintf("%s %v %v", s.Name, s.RTT, s.Silent))
	}
	want := []string{"ann's computer map[ann:0.1 bobby:30] []", "bob's computer map[bobby:0.1] [ann]"}
	if !slices.Equal(got, want) || !slices.Equal(candidates, []string{"ann's computer", "bob's computer"}) {
		t.Errorf("people see %q, %q", candidates, got)
	}
	if people.IsAbout(sites.Answer, ann) {
		t.Errorf("people read %v", sites.Answer)
	}
	if len(g.news.Notes) != 1 || !people.IsAbout(g.news.Notes[0], ann) || people.IsAbout(g.news.Notes[0], bob) {
		t.Errorf("noted is %v", g.news.Notes)
	}
}

// FuzzHeard checks that the survey shows everything that players say, in any order, asks a bounded
// number of times, and can be saved.
func FuzzHeard(f *testing.F) {
	f.Add([]byte("0123456789abcdefghij"))
	f.Fuzz(func(t *testing.T, script []byte) {
		next := func(below int) int {
			if len(script) == 0 {
				return 0
			}
			b := script[0]
			script = script[1:]
			return int(b) % below
		}
		everybody := []people.ID{"ann", "bob", "cat"}
		g := &group{T: t, now: eight, scene: Scene{Places: venues("A", "B")}}
		for len(script) > 0 {
			player, surveys := everybody[next(3)], g.state.Attempt+g.state.Before
			switch next(6) {
			case 0:
				g.comes(player, fmt.Sprint(next(2)), far(byte(next(3))), uint16(next(3)))
			case 1:
				g.news.add(g.Outside(player, uint16(next(4)), g.scene, g.now))
			case 2:
				g.Begin(g.scene, g.now)
				surveys = g.state.Attempt + g.state.Before
			case 3:
				m := wire.Surveyed{Attempt: g.state.Attempt - next(2)}
				for range next(4) {
					found := wire.Finalist{Server: next(6) - 1}
					found.State.UnmarshalText([]byte([]string{"answered", "lost", "refused"}[next(3)]))
					for range next(3) {
						found.RTTs = append(found.RTTs, float64(next(256)))
					}
					m.Places = append(m.Places, found)
				}
				g.Heard(player, m, g.scene)
			case 4:
				g.player(player).IsHere = next(2) == 0
			case 5:
				g.Leave(player)
				g.scene.Players = slices.DeleteFunc(g.scene.Players, func(p Player) bool { return p.ID == player })
			}
			if g.state.Attempt+g.state.Before > surveys+1 {
				t.Errorf("one word began %d surveys", g.state.Attempt+g.state.Before-surveys)
			}
			if sites := g.sites(); sites != nil && len(sites.Sites) != g.Count(g.scene.Places) {
				t.Errorf("%d places are shown, of %d", len(sites.Sites), g.Count(g.scene.Places))
			}
			if err := g.State().Validate(); err != nil {
				t.Error(err)
			}
		}
	})
}
