package room

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// far is a list of a thousand servers in ten countries. A server is as far from
// a player as its country says, and a little more by its number.
func far() []discovery.Server {
	servers := make([]discovery.Server, 1000)
	for i := range servers {
		country, host := i/100, i%100
		servers[i] = discovery.Server{
			Addr:    netip.AddrPortFrom(netip.AddrFrom4([4]byte{20, byte(country), byte(host), 1}), 27960),
			Country: fmt.Sprintf("%c%c", 'A'+country, 'A'+country), ASN: uint32(1 + country),
		}
	}
	return servers
}

func farRTT(player, server int) time.Duration {
	country, host := server/100, server%100
	return time.Duration(20+15*abs(country-3*player-2))*time.Millisecond + time.Duration(host*37%101)*200*time.Microsecond
}

func abs(n int) int { return max(n, -n) }

// answers has a member answer all it was asked since the last time.
func (n *session) answers(player int, name string) (asked int) {
	return n.answersAs(player, name, farRTT)
}

// answersAs is the same with other RTTs.
func (n *session) answersAs(player int, name string, rtt func(player, server int) time.Duration) (asked int) {
	messages := n.sent[name]
	delete(n.sent, name)
	for _, m := range messages {
		ask, ok := m.(wire.Ask)
		if !ok {
			continue
		}
		var results []discovery.Result
		infos := wire.Infos{Round: n.room.round.number}
		for _, server := range ask.Servers {
			infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{MaxPlayers: 16}})
			results = append(results, discovery.Result{Server: server, State: discovery.Answered, RTT: rtt(player, server)})
		}
		asked += len(results)
		n.says(name, infos)
		n.says(name, wire.Report{Round: n.room.round.number, Results: results})
	}
	return asked
}

// coordinated is a room of two that has the long list.
func coordinated(t *testing.T) *session {
	s := settings(2)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	n.join("ann", "bob")
	n.gets(far())
	n.inStage(wire.Refining)
	return n
}

// goesOn has two players answer what they are asked until the search is over, and
// returns how much that was of each.
func (n *session) goesOn(most time.Duration) (asked [2]int) {
	n.Helper()
	for end := n.now.Add(most); n.room.phase.stage() == wire.Refining && n.now.Before(end); {
		n.wait(200 * time.Millisecond)
		for player, name := range []string{"ann", "bob"} {
			asked[player] += n.answers(player, name)
		}
	}
	return asked
}

// from is the numbers from first to last.
func from(first, last int) (numbers []int) {
	for n := first; n <= last; n++ {
		numbers = append(numbers, n)
	}
	return numbers
}

// searching is a room of four that searches the long list.
func searching(t *testing.T) *session {
	s := settings(4)
	s.Strategy = wire.Coordinated
	n := newSession(t, s)
	n.join("ann", "bob", "cat", "dan")
	n.gets(far())
	n.inStage(wire.Refining)
	return n
}

func bringing(servers ...int) (list []wire.Brought) {
	for _, server := range servers {
		list = append(list, wire.Brought{Addr: addr(server)})
	}
	return list
}

// spreadOut is a list of servers each in a network of its own, in the order of
// addresses.
func spreadOut(servers int) []discovery.Server {
	list := make([]discovery.Server, servers)
	for i := range list {
		list[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{20, byte(i), 0, 1}), 27960)
	}
	return list
}

// measuringOn is the same with a list of so many in networks of its own.
func measuringOn(t *testing.T, list []discovery.Server, limits []time.Duration, honest ...string) *session {
	s := settings(len(honest) + 1)
	s.Limits = limits
	if limits != nil {
		s.By = "threshold"
	}
	n := newSession(t, s)
	n.join(honest...)
	n.join("dan")
	n.gets(list)
	n.inStage(wire.Measuring)
	n.informs(honest[0], slices.Repeat([]int{12}, 20)...)
	for i, name := range honest {
		ms := make([]int, 20)
		for server := range ms {
			ms[server] = 10*server + 10 + i
		}
		n.measures(name, ms...)
		n.done(name)
	}
	return n
}

// truly is what dan would measure if he told the truth.
func truly(server int) int { return 10*server + 15 }

// looks has all answer their second look, dan as he says: nil is as he measured.
func (n *session) looks(dan func(server int) discovery.State) {
	n.Helper()
	for _, p := range n.room.round.active() {
		v := wire.Verified{Round: n.room.round.number, Attempt: n.room.round.looks.Save().Attempt}
		for _, server := range n.room.round.looks.Servers() {
			rtt, state := p.witness.At(server).RTT, p.witness.At(server).State
			if p.name == "dan" && dan != nil {
				rtt, state = time.Duration(truly(server))*time.Millisecond, dan(server)
			}
			seen := wire.Finalist{Server: server, State: state, Sent: 3}
			if state == discovery.Answered {
				seen.RTTs = []float64{discovery.MS(rtt)}
			}
			if state == discovery.Forbidden {
				seen.Sent = 0
			}
			v.Servers = append(v.Servers, seen)
		}
		n.says(p.name, v)
	}
}

// inVoting is a room whose people agree on one of six servers; ann and bob
// play, zoe and yan have the page. By the mean, server 0 is the best, then 1 …
func inVoting(t *testing.T) *session {
	t.Helper()
	n := newSession(t, settings(2))
	n.room.settings.Agree, n.room.settings.GuestsVote = wire.Yes, true
	for _, name := range []string{"zoe", "yan"} {
		if err := n.enters(name, ""); err != nil {
			t.Fatal(err)
		}
		n.step(PageOpened{name + "'s token"})
	}
	n.join("ann", "bob")
	n.listed(6)
	n.informs("ann", 12, 12, 12, 12, 12, 12)
	n.measures("ann", 10, 20, 30, 40, 50, 60)
	n.measures("bob", 20, 30, 40, 50, 60, 70)
	n.done("ann", "bob")
	n.verifies("ann")
	n.verifies("bob")
	n.inStage(wire.Chosen)
	if !n.room.isVoting() {
		t.Fatalf("nobody is asked; the log:\n%s", n.log())
	}
	return n
}

func (n *session) votes(name string, server int) error {
	return n.page(name, Vote{addr(server)})
}

// leads is the address of the server that the group goes to, or would.
func (n *session) leads() string { return n.view().Choice.Target }

// enters gives somebody with the page a nickname.
func (n *session) enters(name, secret string) error {
	return n.entersFrom(name, secret, netip.AddrFrom4([4]byte{198, 51, 100, name[0]}))
}

func (n *session) entersFrom(name, secret string, from netip.Addr) error {
	return n.step(Order{Credential: secret, Action: Enter{Name: name, Token: name + "'s token", From: from}})
}

// pageOf is the credential of a player's pages.
func (n *session) pageOf(name string) string { return n.room.roster.PageOf(name) }

// tokenOf is that of a player's program.
func (n *session) tokenOf(name string) string {
	for _, p := range n.room.roster.Save().Players {
		if p.Name == name {
			return p.Token
		}
	}
	return ""
}

// said is a list's word on the first servers, from some time ago: who is there, of 16.
func said(now time.Time, age time.Duration, players ...int) discovery.Said {
	s := discovery.Said{At: now.Add(-age), Infos: map[netip.AddrPort]*discovery.Info{}}
	for server, n := range players {
		s.Infos[addr(server)] = &discovery.Info{Name: fmt.Sprint("listed ", server), Map: "haven", Players: n, MaxPlayers: 16, AsListed: true}
	}
	return s
}

// searches has ann and bob answer until the search is over.
func (n *session) searches() {
	n.Helper()
	for range 400 {
		if n.room.phase.stage() != wire.Refining {
			return
		}
		n.wait(200 * time.Millisecond)
		n.answers(0, "ann")
		n.answers(1, "bob")
	}
	n.Fatalf("the search does not end; the log:\n%s", n.log())
}

// foyer is a session whose servers have seats as a script says, and whose players look when
// they are asked.
type foyer struct {
	*session
	names []string
	began time.Time
	// free is how many seats of 16 a server has at a time after the beginning, or silent.
	free func(server int, at time.Duration) int
	// lies, by player, are what somebody says in place of that.
	lies map[string]func(server int, at time.Duration) int
	// asked is when each server was asked, by anybody, and by whom.
	asked map[int][]time.Duration
	by    map[string]int
	// mute are players whose program answers nothing.
	mute []string
}

const (
	silent  = -1
	crowded = -2 // more players than seats
)

// inFront is a room of players before servers that are all full, which has failed.
func inFront(t *testing.T, s wire.Settings, servers int, names ...string) *foyer {
	t.Helper()
	f := &foyer{session: newSession(t, s), names: names, asked: map[int][]time.Duration{}, by: map[string]int{}, lies: map[string]func(int, time.Duration) int{}}
	f.free = func(int, time.Duration) int { return 0 }
	f.as[names[0]] = f.room.Keys().Secret
	f.join(names...)
	f.listed(servers)
	for i, name := range names {
		f.informs(name, make([]int, servers)...)
		var ms []int
		for server := range servers {
			ms = append(ms, 20+10*server+i)
		}
		f.measures(name, ms...)
	}
	f.done(names...)
	for _, name := range names {
		f.took(name)
	}
	f.began = f.now
	return f
}

// passes lets time pass in which players look.
func (f *foyer) passes(d time.Duration) {
	f.Helper()
	for end := f.now.Add(d); f.now.Before(end); {
		f.wait(tick)
		for _, name := range f.names {
			var looks []wire.Finalists
			f.sent[name] = slices.DeleteFunc(f.sent[name], func(m wire.Message) bool {
				asked, is := m.(wire.Finalists)
				if is {
					looks = append(looks, asked)
				}
				return is
			})
			for _, asked := range looks {
				if !slices.Contains(f.mute, name) {
					f.looks(name, asked)
				}
			}
		}
	}
}

func (f *foyer) looks(name string, asked wire.Finalists) {
	f.Helper()
	at := f.now.Sub(f.began)
	v := wire.Verified{Round: asked.Round, Attempt: asked.Attempt}
	for _, server := range asked.Servers {
		f.asked[server] = append(f.asked[server], at)
		f.by[name]++
		say := f.free
		if lie := f.lies[name]; lie != nil {
			say = lie
		}
		free := say(server, at)
		seen := wire.Finalist{Server: server, State: discovery.Answered, RTTs: []float64{30}, Sent: 1, Info: &discovery.Info{Name: fmt.Sprint("server ", server), Map: "oa_dm1", Players: 16 - free, MaxPlayers: 16}}
		switch free {
		case silent:
			seen.State, seen.RTTs, seen.Info = discovery.Lost, []float64{}, nil
		case crowded:
			seen.Info.Players = 40
		}
		v.Servers = append(v.Servers, seen)
	}
	f.says(name, v)
}

func five() []string { return []string{"ann", "ben", "cat", "dan", "eve"} }

// choosing is a room of two whose players have measured the same; the nearest
// servers come first.
func choosing(t *testing.T, servers int) *session {
	n := measuring(t, servers, "ann", "bob")
	ms := make([]int, servers)
	for i := range ms {
		ms[i] = 10 * (i + 1)
	}
	for _, name := range []string{"ann", "bob"} {
		n.measures(name, ms...)
	}
	n.done("ann", "bob")
	n.inStage(wire.Chosen)
	return n
}
