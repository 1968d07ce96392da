package room

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// The words of a server in the tests below: servers are better the earlier they stand
// in the list.
const hallServers = 30

func truth(server int) discovery.Info {
	return discovery.Info{Map: "oa_dm1", Mode: "ctf", Players: server % 8, MaxPlayers: 16, MaxPing: 400 * time.Millisecond}
}

// lieAbout are the attacks: what a liar says of a server that says something else.
var lieAbout = map[string]func(*discovery.Info){
	"full":     func(i *discovery.Info) { i.Players = i.MaxPlayers },
	"no seats": func(i *discovery.Info) { i.MaxPlayers, i.Players = 1, 1 },
	"password": func(i *discovery.Info) { i.Password = true },
	"max ping": func(i *discovery.Info) { i.MaxPing = time.Millisecond },
	"min ping": func(i *discovery.Info) { i.MinPing = 900 * time.Millisecond },
	"port":     func(i *discovery.Info) { i.GamePort = 4444 },
	"name":     func(i *discovery.Info) { i.Name = "FREE SKINS AT EVIL.EXAMPLE" },
	"map":      func(i *discovery.Info) { i.Map = "oa_lie" },
	"mode":     func(i *discovery.Info) { i.Mode = "lie" },
}

// hall is a room of honest players and liars, in which everybody measures everything.
type hall struct {
	*session
	honest, liars []string
	lie           func(*discovery.Info)
	// spared are the servers of which the liars tell the truth.
	spared func(server int) bool
}

func newHall(t *testing.T, honest, liars int, lie func(*discovery.Info), spared func(server int) bool) *hall {
	h := &hall{session: newSession(t, settings(honest+liars)), lie: lie, spared: spared}
	h.room.settings.Map, h.room.settings.Mode = "oa_dm1", "ctf"
	for i := range honest {
		h.honest = append(h.honest, fmt.Sprint("honest", i))
	}
	for i := range liars {
		h.liars = append(h.liars, fmt.Sprint("liar", i))
	}
	return h
}

// begins has them all come, and be asked to measure.
func (h *hall) begins() {
	h.join(slices.Concat(h.honest, h.liars)...)
	h.listed(hallServers)
	h.inStage(wire.Measuring)
}

// tells has somebody say what the servers say of themselves.
func (h *hall) tells(name string) {
	var infos []wire.ServerInfo
	for server := range hallServers {
		infos = append(infos, wire.ServerInfo{Server: server, Info: h.told(name, server)})
	}
	h.says(name, wire.Infos{Round: h.room.round.number, Servers: infos})
}

func (h *hall) told(name string, server int) discovery.Info {
	info := truth(server)
	if slices.Contains(h.liars, name) && !h.spared(server) {
		h.lie(&info)
	}
	return info
}

// measure has everybody report the RTTs, which are the same for all.
func (h *hall) measure() {
	for _, name := range slices.Concat(h.honest, h.liars) {
		var ms []int
		for server := range hallServers {
			ms = append(ms, 10+5*server)
		}
		h.measures(name, ms...)
	}
	h.done(slices.Concat(h.honest, h.liars)...)
}

// look has everybody look at the finalists again, in the liars' own way.
func (h *hall) look() {
	for attempt := 0; h.room.round.looks.Save().Attempt != attempt; {
		attempt = h.room.round.looks.Save().Attempt
		for _, name := range slices.Concat(h.honest, h.liars) {
			v := wire.Verified{Round: h.room.round.number, Attempt: attempt}
			for _, server := range h.room.round.looks.Servers() {
				info := truth(server)
				info.Name = fmt.Sprint("server ", server)
				if slices.Contains(h.liars, name) && !h.spared(server) {
					h.lie(&info)
				}
				v.Servers = append(v.Servers, wire.Finalist{Server: server, State: discovery.Answered, RTTs: []float64{float64(10 + 5*server)}, Sent: 3, Info: &info})
			}
			h.says(name, v)
		}
	}
}

// endsWell: all go to the best server and by its own name, nobody honest is named, and
// the liars are if they have to be.
func (h *hall) endsWell(named bool) {
	h.Helper()
	h.goesTo(0)
	if got := h.launch().Name; got != "server 0 (192.0.2.0:27960)" {
		h.Errorf("all go to %q", got)
	}
	for _, p := range h.view().People {
		if isLiar := slices.Contains(h.liars, p.Name); (p.Doubt != "") != (isLiar && named) {
			h.Errorf("of %s is said %q, want it for liars: %v; the log:\n%s", p.Name, p.Doubt, named, h.log())
		}
	}
	for _, name := range h.honest {
		for _, m := range h.sent[name] {
			if launch, is := m.(wire.Launch); is && launch.Address != addr(0).String() {
				h.Errorf("%s is sent to %s", name, launch.Address)
			}
		}
	}
	if len(h.honest) == 3 { // large rooms take long to compare
		same(h, h.room, restored(h.T, h.room))
	}
}

// TestLiarsAboutServers: what a minority says of servers, of all but one or of the best
// only, and whenever it says so, sends nobody elsewhere, and is named where it
// contradicts the others about many.
func TestLiarsAboutServers(t *testing.T) {
	t.Parallel()
	const favourite = 20
	about := map[string]func(server int) bool{
		"all but one": func(server int) bool { return server == favourite },
		"the best":    func(server int) bool { return server > 0 },
	}
	whens := map[string]func(h *hall){
		"first": func(h *hall) {
			h.begins()
			for _, name := range slices.Concat(h.liars, h.honest) {
				h.tells(name)
			}
			h.measure()
			h.look()
		},
		"last": func(h *hall) {
			h.begins()
			for _, name := range slices.Concat(h.honest, h.liars) {
				h.tells(name)
			}
			h.measure()
			h.look()
		},
		"voting": func(h *hall) {
			h.room.settings.Agree = wire.Yes
			honestly(h)
			for range 3 {
				h.tellAll(h.liars)
				h.wait(time.Second)
			}
			h.goes()
			h.wait(countdownTime + time.Second)
		},
		"countdown": func(h *hall) {
			h.room.settings.Agree = wire.Yes
			honestly(h)
			h.wait(time.Minute)
			h.goes()
			h.wait(time.Second)
			h.look()
			h.tellAll(h.liars)
			h.wait(countdownTime)
		},
		"after the launch": func(h *hall) {
			honestly(h)
			h.tellAll(h.liars)
			h.gone("honest0")
			h.join("honest0")
		},
	}
	for _, of := range []struct{ honest, liars int }{{3, 1}, {7, 1}, {6, 2}} {
		for what, lie := range lieAbout {
			for which, spared := range about {
				for when, do := range whens {
					t.Run(fmt.Sprintf("%d of %d/%s/%s/%s", of.liars, of.honest+of.liars, what, which, when), func(t *testing.T) {
						h := newHall(t, of.honest, of.liars, lie, spared)
						do(h)
						h.endsWell(which == "all but one" && when != "after the launch")
					})
				}
			}
		}
	}
}

// honestly plays until everybody has looked, the liars telling the truth so far.
func honestly(h *hall) {
	liars := h.liars
	h.liars, h.honest = nil, slices.Concat(h.honest, liars)
	h.begins()
	h.tellAll(h.honest)
	h.measure()
	h.look()
	h.honest, h.liars = h.honest[:len(h.honest)-len(liars)], liars
}

func (h *hall) tellAll(names []string) {
	for _, name := range names {
		h.tells(name)
	}
}

// TestTwoContradict: of two players nobody can tell who is right. No word of one
// rules a server out for both, and each goes where they themselves were told.
func TestTwoContradict(t *testing.T) {
	for what, lie := range lieAbout {
		t.Run(what, func(t *testing.T) {
			h := newHall(t, 1, 1, lie, func(server int) bool { return server == 20 })
			h.begins()
			h.tellAll([]string{"liar0", "honest0"})
			h.measure()
			h.look()
			h.inStage(wire.Launching)
			sent := map[string]string{}
			for name, messages := range h.sent {
				for _, m := range messages {
					if launch, is := m.(wire.Launch); is {
						sent[name] = launch.Address
					}
				}
			}
			theirs := addr(0)
			if what == "port" {
				theirs = netip.AddrPortFrom(theirs.Addr(), 4444)
			}
			if sent["honest0"] != addr(0).String() || sent["liar0"] != theirs.String() {
				t.Errorf("they go to %v; the log:\n%s", sent, h.log())
			}
		})
	}
}

// TestAloneIsBelieved: who plays alone is contradicted by nobody.
func TestAloneIsBelieved(t *testing.T) {
	h := newHall(t, 1, 0, nil, nil)
	h.begins()
	info := truth(0)
	info.GamePort = 27015
	h.tells("honest0")
	h.says("honest0", wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: 0, Info: info}, {Server: 1, Info: discovery.Info{MaxPlayers: 1, Players: 1}}}})
	h.measure()
	h.says("honest0", wire.Verified{Round: 1, Attempt: 1})
	if got := h.launch().Address; got != "192.0.2.0:27015" {
		t.Errorf("goes to %s", got)
	}
	if got := h.room.round.choice.Newest().Culled.Filtered + h.room.round.choice.Newest().Culled.Full; got != 1 {
		t.Errorf("%d servers are culled for what they say, want 1", got)
	}
}

// TestLoneWordIsChecked: what only one of several players has heard against a server
// that would be the best culls it no sooner than everybody has looked.
func TestLoneWordIsChecked(t *testing.T) {
	for _, truly := range []bool{false, true} {
		t.Run(fmt.Sprint("it is so: ", truly), func(t *testing.T) {
			n := newSession(t, settings(3))
			n.join("ann", "bob", "cat")
			n.listed(12)
			free := slices.Repeat([]int{12}, 12)
			n.informs("ann", free...)
			for server := range 4 { // what ann heard of the first four was lost
				n.room.round.hearsay.Keep(server, nil)
			}
			n.informs("bob", 0, 0, 0, 0)
			for _, name := range []string{"ann", "bob", "cat"} {
				n.measures(name, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120)
			}
			n.done("ann", "bob", "cat")
			n.noted("and at 3 servers that only one player has heard to be of no use")
			if got, want := n.room.round.looks.Servers(), []int{4, 5, 6, 7, 8, 0, 1, 2}; !slices.Equal(got, want) {
				t.Fatalf("all look at %v, want %v", got, want)
			}
			full := []int{0, 1, 2}
			if !truly {
				full = nil
			}
			for _, name := range []string{"ann", "bob", "cat"} {
				n.verifies(name, full...)
			}
			if truly {
				n.goesTo(4)
			} else {
				n.goesTo(0)
			}
		})
	}
}

// TestHonestVolatility: players who tell what they saw when they saw it are not named,
// however servers change their maps, fill up and empty in between, start again with
// other settings now and then, and however late somebody's words come.
func TestHonestVolatility(t *testing.T) {
	t.Parallel()
	const evenings, players, servers = 200, 8, 60
	for seed := range uint64(evenings) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := newSession(t, settings(players))
		var names []string
		for i := range players {
			names = append(names, fmt.Sprint("p", i))
		}
		n.join(names...)
		n.listed(servers)
		type state struct {
			discovery.Info
			next time.Time // map
		}
		world := make([]state, servers)
		for i := range world {
			world[i] = state{discovery.Info{Map: "m0", MaxPlayers: 16, Players: rng.IntN(17)}, n.now.Add(time.Duration(rng.IntN(600)) * time.Second)}
		}
		pass := func(d time.Duration) {
			for range int(d / time.Second) {
				n.now = n.now.Add(time.Second)
				for i := range world {
					s := &world[i]
					if n.now.After(s.next) { // a new map, and some leave at its end
						s.Map, s.next = fmt.Sprint("m", rng.IntN(1000)), n.now.Add(10*time.Minute)
						s.Players -= rng.IntN(s.Players + 1)
					}
					switch at := rng.Float64(); {
					case at < 1.0/60:
						s.Players = min(s.Players+1, s.MaxPlayers)
					case at < 2.0/60:
						s.Players = max(s.Players-1, 0)
					case at < 2.2/60: // a group
						s.Players = min(s.Players+2+rng.IntN(7), s.MaxPlayers)
					case at < 2.2/60+1.0/86400: // the server starts again
						s.MaxPlayers, s.Password, s.Players = 8+rng.IntN(16), rng.IntN(2) == 0, 0
					}
				}
			}
		}
		next, late := map[string]int{}, map[string][]wire.ServerInfo{}
		for left := players; left > 0; {
			pass(time.Second)
			for i, name := range names {
				first := next[name]
				if first >= servers {
					continue
				}
				next[name] = min(first+1+rng.IntN(4), servers)
				for server := first; server < next[name]; server++ {
					late[name] = append(late[name], wire.ServerInfo{Server: server, Info: world[server].Info})
				}
				if i > 0 || next[name] == servers { // the first one's line is down meanwhile
					n.says(name, wire.Infos{Round: 1, Servers: late[name]})
					late[name] = nil
				}
				left -= count(next[name] == servers)
			}
			n.room.discredit()
		}
		pass(20 * time.Second)
		for _, name := range names { // and five are looked at, in turn
			pass(time.Second)
			for server := range 5 {
				n.says(name, wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: server, Info: world[server].Info}}})
			}
		}
		n.room.discredit()
		if log := n.log(); strings.Contains(log, "does not count") {
			t.Fatalf("evening %d: an honest player is named:\n%s", seed, log)
		}
	}
}

// TestVouchedWord: who is vouched for is heeded again, and not named twice.
func TestVouchedWord(t *testing.T) {
	h := newHall(t, 3, 1, lieAbout["password"], func(server int) bool { return server == 20 })
	h.begins()
	h.tellAll(slices.Concat(h.honest, h.liars))
	h.measure()
	h.noted("liar0 says other things of 29 of 30 servers than most players heard: that does not count")
	if err := h.orders(Trust{"liar0"}); err != nil {
		t.Fatal(err)
	}
	h.noted("the organiser vouches for liar0")
	h.look()
	h.endsWell(false)
}

// TestRemovedWord: a player who is removed has said nothing.
func TestRemovedWord(t *testing.T) {
	n := measuring(t, 3, "ann", "bob", "cat")
	n.informs("bob", 0, 0, 0)
	if err := n.orders(Remove{"bob"}); err != nil {
		t.Fatal(err)
	}
	if !n.room.round.servers.Lone[0] {
		t.Error("more is kept of a server than what ann alone heard")
	}
	same(t, n.room, restored(t, n.room))
}

// TestLoneWordsAgainstAll: where single players speak against all that suits, everybody
// looks before the round fails, and it fails if they were right.
func TestLoneWordsAgainstAll(t *testing.T) {
	for _, truly := range []bool{false, true} {
		t.Run(fmt.Sprint("it is so: ", truly), func(t *testing.T) {
			n := newSession(t, settings(3))
			n.join("ann", "bob", "cat")
			n.listed(2)
			n.informs("bob", 0, 0)
			for _, name := range []string{"ann", "bob", "cat"} {
				n.measures(name, 10, 20)
			}
			n.done("ann", "bob", "cat")
			n.noted("no server suits everyone as far as single players heard: everyone looks at 2 servers")
			same(t, n.room, restored(t, n.room))
			full := []int{0, 1}
			if !truly {
				full = nil
			}
			for _, name := range []string{"ann", "bob", "cat"} {
				n.verifies(name, full...)
			}
			if !truly {
				n.goesTo(0)
				return
			}
			n.inStage(wire.Failed)
		})
	}
}

// TestUnaskedWords: what a player was not asked for it has not heard.
func TestUnaskedWords(t *testing.T) {
	n := coordinated(t)
	n.took("ann")
	unasked := 0
	for n.room.round.player("ann").witness.IsAsked(unasked) || n.room.round.player("bob").witness.IsAsked(unasked) {
		unasked++
	}
	word := wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: unasked, Info: discovery.Info{Players: 16, MaxPlayers: 16}}}}
	n.says("ann", word)
	n.says("bob", word)
	if info := n.room.round.servers.Infos[unasked]; info != nil {
		t.Errorf("the room has it from nobody who knows that the server is %+v", *info)
	}
	same(t, n.room, restored(t, n.room))
	n.room.ask(n.room.round.player("ann"), []int{unasked})
	if !n.room.round.servers.Lone[unasked] {
		t.Error("once asked, ann has heard nothing")
	}
	n.room.ask(n.room.round.player("bob"), []int{unasked})
	if info := n.room.round.servers.Infos[unasked]; info == nil || info.Players != 16 || n.room.round.servers.Lone[unasked] {
		t.Errorf("of what two have heard the room has %+v", info)
	}
}

// TestNobodyIsFramed: two of eight name nobody honest by contradicting them about
// servers that nobody else was asked for.
func TestNobodyIsFramed(t *testing.T) {
	s := settings(8)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	three := []string{"liar0", "liar1", "honest0"}
	n.join(append(three, "honest1", "honest2", "honest3", "honest4", "honest5")...)
	n.gets(far())
	for i, name := range three {
		word := wire.Infos{Round: 1}
		for server := 100; server < 130; server++ {
			info := discovery.Info{MaxPlayers: 16, Password: i < 2}
			word.Servers = append(word.Servers, wire.ServerInfo{Server: server, Info: info})
			n.room.ask(n.room.round.player(name), []int{server})
		}
		n.says(name, word)
	}
	n.room.discredit()
	for _, p := range n.room.round.players {
		if why := n.room.round.trust.Reason(p.name, &n.room.round.servers); why != "" {
			t.Errorf("of %s is said: %v", p.name, why)
		}
	}
}

// TestLiarsInASearch: one liar of four, or two of eight, who call full whatever there
// is but for one server, asked for it or not, cost a search of a long list next to
// nothing, and are named.
func TestLiarsInASearch(t *testing.T) {
	const favourite = 950
	for _, of := range []struct{ honest, liars int }{{3, 1}, {6, 2}} {
		for _, unasked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d of %d, also unasked: %v", of.liars, of.honest+of.liars, unasked), func(t *testing.T) {
				s := settings(of.honest + of.liars)
				s.Strategy = wire.Coordinated
				n := newSession(t, s)
				var honest, liars []string
				for i := range of.honest {
					honest = append(honest, fmt.Sprint("honest", i))
				}
				for i := range of.liars {
					liars = append(liars, fmt.Sprint("liar", i))
				}
				n.join(slices.Concat(honest, liars)...)
				n.gets(far())
				for range 300 {
					n.wait(200 * time.Millisecond)
					for i, name := range honest {
						n.answersAs(i%3, name, farRTT)
					}
					for _, name := range liars {
						n.answersAs(1, name, farRTT)
						full := wire.Infos{Round: 1}
						for server := range 1000 {
							if server != favourite && (unasked || !n.room.round.player(name).witness.IsUnprobed(server)) {
								full.Servers = append(full.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{Players: 16, MaxPlayers: 16}})
							}
						}
						n.says(name, full)
					}
					if n.room.phase.stage() != wire.Refining {
						break
					}
				}
				n.inStage(wire.Chosen)
				mean := func(server int) (sum float64) {
					for i := range honest {
						sum += float64(farRTT(i%3, server)) / 1e6 / float64(of.honest)
					}
					return sum
				}
				best := mean(0)
				for server := range 1000 {
					best = min(best, mean(server))
				}
				const cost = 2 // ms, the liars' own RTTs included
				if got := mean(n.room.round.choice.Newest().Chosen.Server); got > best+cost {
					t.Errorf("the honest play at %.1f ms, the best is %.1f ms; the log:\n%s", got, best, n.log())
				}
				for _, p := range n.room.round.players {
					why := n.room.round.trust.Reason(p.name, &n.room.round.servers)
					if isLiar := slices.Contains(liars, p.name); strings.Contains(why, "says other things") != isLiar {
						t.Errorf("of %s is said %q; the log:\n%s", p.name, why, n.log())
					}
				}
			})
		}
	}
}
