package host

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
	"muster/selection"
)

// night drives a room by hand: events, and the time between them.
type night struct {
	*testing.T
	room   *Room
	now    time.Time
	tokens map[string]string
	// origins are where players come from; nobody knows of most.
	origins map[string]Origin
	// sent is what each member would have been sent, and fetches how many lists
	// were asked for.
	sent    map[string][]wire.Message
	fetches int
}

var eight = time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)

func settings(players int) Settings {
	return Settings{Name: "Friday", Game: "openarena", By: selection.Mean, Players: players, Strategy: "conventional"}
}

func newNight(t *testing.T, s Settings) *night {
	return &night{
		T: t, room: NewRoom("BAKODI", "secret", s, eight), now: eight,
		tokens: map[string]string{}, origins: map[string]Origin{}, sent: map[string][]wire.Message{},
	}
}

// perform delivers to members who are connected, as the shell does.
func (n *night) perform(effects []effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case fetch:
			n.fetches++
		case send:
			for _, m := range n.room.Members {
				if m.Connected && (e.to == "" || e.to == m.Name) {
					n.sent[m.Name] = append(n.sent[m.Name], e.message)
				}
			}
		}
	}
}

// took returns what a member was sent since the last time, as the messages'
// names.
func (n *night) took(name string) string {
	var kinds []string
	for _, m := range n.sent[name] {
		kinds = append(kinds, strings.ToLower(reflect.TypeOf(m).Name()))
	}
	delete(n.sent, name)
	return strings.Join(kinds, " ")
}

func (n *night) join(names ...string) {
	n.Helper()
	for _, name := range names {
		if refusal := n.tryJoin(name, n.tokens[name]); refusal != nil {
			n.Fatalf("%s is refused: %v", name, refusal)
		}
	}
}

func (n *night) tryJoin(name, token string) *wire.Refusal {
	hello := wire.Hello{Version: wire.Version, Code: n.room.Code, Name: name, Token: token}
	joined, effects, refusal := n.room.Join(hello, n.origins[name], "token of "+name, n.now)
	if refusal == nil {
		n.tokens[joined] = n.room.member(joined).Token
		n.perform(effects)
	}
	return refusal
}

func (n *night) gone(name string) { n.room.Gone(name, n.now) }

func (n *night) listed(servers int) {
	n.perform(n.room.Listed(listOf(servers), nil, n.now))
}

func listOf(servers int) []discovery.Server {
	list := make([]discovery.Server, servers)
	for i := range list {
		list[i].Addr = addr(i)
	}
	return list
}

func addr(server int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, byte(2 + server>>8), byte(server)}), 27960)
}

// says has a member say something that makes sense.
func (n *night) says(name string, m wire.Message) {
	n.Helper()
	effects, err := n.room.Receive(name, m, n.now)
	if err != nil {
		n.Fatalf("%s says %+v: %v", name, m, err)
	}
	n.perform(effects)
}

// lost stands for a server that does not answer, skip for one not asked.
const (
	lost = -1
	skip = 0
)

// measures reports RTTs in ms, by server.
func (n *night) measures(name string, ms ...int) {
	n.Helper()
	n.says(name, wire.Report{Round: n.room.Round, Results: results(ms)})
}

func results(ms []int) []discovery.Result {
	var results []discovery.Result
	for server, rtt := range ms {
		switch rtt {
		case skip:
		case lost:
			results = append(results, discovery.Result{Server: server, State: discovery.Lost})
		default:
			results = append(results, discovery.Result{Server: server, State: discovery.Answered, RTT: time.Duration(rtt) * time.Millisecond})
		}
	}
	return results
}

func (n *night) done(names ...string) {
	n.Helper()
	for _, name := range names {
		n.says(name, wire.Done{Round: n.room.Round})
	}
}

// informs says how many seats the servers have free, of 16.
func (n *night) informs(name string, free ...int) {
	n.Helper()
	var infos []wire.ServerInfo
	for server, f := range free {
		infos = append(infos, wire.ServerInfo{Server: server, Info: discovery.Info{Map: "oa_dm1", Players: 16 - f, MaxPlayers: 16}})
	}
	n.says(name, wire.Infos{Round: n.room.Round, Servers: infos})
}

// verifies is a second look at all finalists that finds what is known, but for
// the servers that have filled up.
func (n *night) verifies(name string, full ...int) {
	n.Helper()
	m := n.room.member(name)
	v := wire.Verified{Round: n.room.Round, Attempt: n.room.Final.Attempt}
	for _, server := range n.room.Final.Servers {
		seen := wire.Finalist{Server: server, State: m.Results[server].State, Sent: 3, Info: &discovery.Info{
			Name: fmt.Sprint("server ", server), Map: "oa_dm1", Players: 4, MaxPlayers: 16,
		}}
		if slices.Contains(full, server) {
			seen.Info.Players = 16
		}
		if seen.State == discovery.Answered {
			seen.RTTs = []float64{float64(m.Results[server].RTT.Milliseconds())}
		}
		v.Servers = append(v.Servers, seen)
	}
	n.says(name, v)
}

// wait lets time pass, in ticks.
func (n *night) wait(d time.Duration) {
	for end := n.now.Add(d); n.now.Before(end); {
		n.now = n.now.Add(tickEvery)
		n.perform(n.room.Tick(n.now))
	}
}

func (n *night) goes() { n.perform(n.room.Go(n.now)) }

func (n *night) inStage(stage wire.Stage) {
	n.Helper()
	if n.room.Stage != stage {
		n.Fatalf("the room is %s, want %s; its log:\n%s", n.room.Stage, stage, n.log())
	}
}

func (n *night) log() string {
	var b strings.Builder
	for _, note := range n.room.Log {
		fmt.Fprintf(&b, "%s %s\n", note.At.Format(time.TimeOnly), note.Text)
	}
	return b.String()
}

// noted wants lines in the log, in this order.
func (n *night) noted(lines ...string) {
	n.Helper()
	rest := n.log()
	for _, line := range lines {
		_, after, found := strings.Cut(rest, " "+line+"\n")
		if !found {
			n.Errorf("the log does not say %q after what was wanted before:\n%s", line, n.log())
			return
		}
		rest = after
	}
}

func (n *night) goesTo(server int) {
	n.Helper()
	n.inStage(wire.Launching)
	if want := addr(server).String(); n.room.Launch.Address != want {
		n.Errorf("everyone goes to %s, want %s; the log:\n%s", n.room.Launch.Address, want, n.log())
	}
}

// measuring is a room of players that have got a list.
func measuring(t *testing.T, servers int, names ...string) *night {
	t.Helper()
	n := newNight(t, settings(len(names)))
	n.join(names...)
	n.listed(servers)
	n.inStage(wire.Measuring)
	n.informs(names[0], slices.Repeat([]int{12}, servers)...)
	for _, name := range names {
		n.took(name)
	}
	return n
}
