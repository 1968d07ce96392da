package room_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/room"
	"muster/host/wire"
)

// far returns a list of a thousand servers in ten countries. A server is as far from a player as
// its country says, and a little more by its number.
func far() []discovery.Server { return farIn(10) }

// farIn returns such a list of so many countries, of a hundred servers each.
func farIn(countries int) []discovery.Server {
	servers := make([]discovery.Server, 100*countries)
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

// meanFor returns the mean ping, in ms, of the first players to a server of the long list.
func meanFor(players, server int) (ms float64) {
	for player := range players {
		ms += discovery.MS(farRTT(player, server)) / float64(players)
	}
	return ms
}

// bestFor returns the lowest mean ping of any server, in ms, for so many players.
func bestFor(players int) float64 {
	best := meanFor(players, 0)
	for server := range 1000 {
		best = min(best, meanFor(players, server))
	}
	return best
}

// isBestFor requires the choice to be hardly worse than the best for the first players.
func (n *session) isBestFor(players int) {
	n.Helper()
	if got, best := n.Chosen().MeanMS, bestFor(players); got > best+2 {
		n.Errorf("chosen with %.1f ms, the best has %.1f; the log:\n%s", got, best, n.Story())
	}
}

// coordinated returns a room of two that searches the long list.
func coordinated(t *testing.T) *session {
	t.Helper()
	return searchingFor(t, room.Tuning{}, settings(2), "ann", "bob")
}

// searchingFor returns a room of players that searches the long list.
func searchingFor(t *testing.T, tuning room.Tuning, s wire.Settings, names ...string) *session {
	t.Helper()
	s.Strategy = wire.Coordinated
	n := tuned(t, tuning, s)
	n.Join(names...)
	if n.Room.Stage() == wire.Gathering {
		n.Goes()
	}
	n.Gets(far())
	n.InStage(wire.Refining)
	return n
}

// answers answers everything that a player was asked since the last time, and returns how much that
// was.
func (n *session) answers(player int, name string) (asked int) {
	n.Helper()
	return n.answersAs(player, name, farRTT)
}

// answersAs answers with other pings.
func (n *session) answersAs(player int, name string, rtt func(player, server int) time.Duration) (asked int) {
	n.Helper()
	return n.answersBut(player, name, rtt, func(int) bool { return false })
}

// answersBut answers for a player with pings from rtt, and skips some servers.
func (n *session) answersBut(player int, name string, rtt func(player, server int) time.Duration,
	isSilent func(server int) bool) (asked int) {
	n.Helper()
	for _, ask := range n.takes(name) {
		infos, report := wire.Infos{Round: ask.Round}, wire.Report{Round: ask.Round}
		for _, server := range ask.Servers {
			if !isSilent(server) {
				infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{MaxPlayers: 16}})
				report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Answered, RTT: rtt(player, server)})
			}
		}
		asked += len(report.Results)
		n.Says(name, infos)
		n.Says(name, report)
	}
	return asked
}

// takes returns what a player was asked since the last time, and forgets what else was sent.
func (n *session) takes(name string) (asks []wire.Ask) {
	for _, m := range n.Sent[name] {
		if ask, is := m.(wire.Ask); is {
			asks = append(asks, ask)
		}
	}
	delete(n.Sent, name)
	return asks
}

// ownFinds returns how many finds of its own discovery a player was allowed to bring up since
// the last time.
func ownFinds(n *session, name string) (own int) {
	for _, m := range n.Sent[name] {
		if ask, is := m.(wire.Ask); is {
			own += ask.Own
		}
	}
	return own
}

// isSearching reports whether the search goes on that the choice waits for.
func (n *session) isSearching() bool { return n.Room.Stage() == wire.Refining }

// searchesOn lets players answer until the search is over.
func (n *session) searchesOn(names ...string) {
	n.Helper()
	for range 400 {
		if !n.isSearching() {
			return
		}
		n.Wait(200 * time.Millisecond)
		for player, name := range names {
			n.answers(player, name)
		}
	}
	n.Fatalf("the search does not end; the log:\n%s", n.Story())
}

func (n *session) wasAsked(name string, server int) bool {
	return slices.Contains(n.Asked[name], server)
}

// unasked returns a server that none of the players was asked for.
func (n *session) unasked(names ...string) (server int) {
	for slices.ContainsFunc(names, func(name string) bool { return n.wasAsked(name, server) }) {
		server++
	}
	return server
}

// from returns the numbers from first to last.
func from(first, last int) (numbers []int) {
	for n := first; n <= last; n++ {
		numbers = append(numbers, n)
	}
	return numbers
}

// denies reports some servers in one state, each 1 ms away if they answer.
func (n *session) denies(name string, state discovery.State, servers ...int) {
	n.Helper()
	report := wire.Report{Round: n.Round()}
	for _, server := range servers {
		result := discovery.Result{Server: server, State: state}
		if state == discovery.Answered {
			result.RTT = time.Millisecond
		}
		report.Results = append(report.Results, result)
	}
	n.Says(name, report)
}

// probesOf returns a player's probes as a room has them, in the order of their ends.
func probesOf(r *room.Room, name string) []discovery.Result {
	for player, probes := range r.View().Traces {
		if player == name {
			return probes
		}
	}
	return nil
}

func traceOf(r *room.Room, name string) map[int]discovery.Result {
	probes := map[int]discovery.Result{}
	for _, probe := range probesOf(r, name) {
		probes[probe.Server] = probe
	}
	return probes
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

const hook = "https://discord.com/api/webhooks/1/token"

// said returns a list's facts about its first servers, of some age: their players, of 16.
func said(now time.Time, age time.Duration, players ...int) discovery.Said {
	s := discovery.Said{At: now.Add(-age), Infos: map[netip.AddrPort]*discovery.Info{}}
	for server, n := range players {
		s.Infos[addrOf(server)] = &discovery.Info{Name: fmt.Sprint("listed ", server), Map: "haven", Players: n, MaxPlayers: 16, AsListed: true}
	}
	return s
}

// looksAlone requires that a player was asked to look at servers again.
func (n *session) looksAlone(name string, attempt int, servers ...int) {
	n.Helper()
	if last := n.Looks[name]; last.Attempt != attempt || !slices.Equal(last.Servers, servers) || last.Samples != 2 {
		n.Errorf("%s was last asked for %+v, want to look at %v again in attempt %d", name, last, servers, attempt)
	}
}

func bringing(servers ...int) (list []wire.Brought) {
	for _, server := range servers {
		list = append(list, wire.Brought{Addr: hostport.At(addrOf(server))})
	}
	return list
}

// spreadOut returns a list of servers each in a network of its own, in the order of addresses.
func spreadOut(servers int) []discovery.Server {
	list := make([]discovery.Server, servers)
	for i := range list {
		list[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{20, byte(i), 0, 1}), 27960)
	}
	return list
}
