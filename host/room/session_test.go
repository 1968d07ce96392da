package room

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/topology"
	"muster/host/room/evidence"
	"muster/host/room/nickname"
	"muster/host/wire"
	"muster/selection"
)

// session drives a room by hand: inputs, and the time between them.
type session struct {
	*testing.T
	room   *Room
	now    time.Time
	tokens map[string]string
	// origins are where players come from; nobody knows of most.
	origins map[string]Origin
	// as is what somebody's program shows of who it is besides.
	as map[string]string
	// crowds are those of every [Tick].
	crowds map[netip.AddrPort]Crowd
	// sent is what each player would have been sent, and fetches how many lists
	// were asked for.
	sent    map[string][]wire.Message
	fetches int
	// answer is what the last order that has one was answered.
	answer any
	// busy: the host has no processor time for the room's search, which waits.
	busy, waits bool
	// dismissed are the players who were sent away.
	dismissed []string
	// told is what the world was told.
	told []wire.Announcement
}

var eight = time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)

// tick is how often time passes in a session, as at a host.
const tick = 100 * time.Millisecond

// lookTime is how long a short look may take.
const lookTime = 15 * time.Second

func settings(players int) wire.Settings {
	return wire.Settings{Name: "Friday", Game: "openarena", By: selection.Mean, Players: players, Strategy: "conventional"}
}

func newSession(t *testing.T, s wire.Settings) *session {
	return &session{
		T: t, room: New(Keys{Code: "BAKODI", Link: "the link's key", Secret: "secret"}, s, eight), now: eight,
		tokens: map[string]string{}, origins: map[string]Origin{}, as: map[string]string{}, sent: map[string][]wire.Message{},
	}
}

// isOut reports whether the round goes on without a player.
func (n *session) isOut(name string) bool { return n.room.round.attendance.Of(name).Out != "" }

// step has something happen, and delivers to players who are connected, as a
// host does.
func (n *session) step(in Input) error {
	n.Helper()
	outputs, err := n.room.Step(in, n.now)
	for _, o := range outputs {
		switch o := o.(type) {
		case Fetch:
			n.fetches++
		case Plan:
			if n.waits = n.busy; !n.busy {
				n.step(Turn{})
			}
		case Dismiss:
			n.dismissed = append(n.dismissed, o.Player)
		case Announce:
			n.told = append(n.told, o.Announcement)
		case Answer:
			n.answer = o.Document
		case Send:
			for _, p := range n.room.round.players {
				if n.room.round.attendance.Of(p.name).Here && (o.To == "" || o.To == p.name) {
					n.sent[p.name] = append(n.sent[p.name], o.Message)
				}
			}
		}
	}
	return err
}

// orders has the organiser's page ask for something.
func (n *session) orders(a Action) error {
	n.Helper()
	return n.step(Order{Credential: n.room.Keys().Secret, Action: a})
}

// page has a guest's page ask for something.
func (n *session) page(name string, a Action) error {
	n.Helper()
	return n.step(Order{Credential: name + "'s token", Action: a})
}

// took returns what a member was sent since the last time, as the messages'
// names.
func (n *session) took(name string) string {
	var kinds []string
	for _, m := range n.sent[name] {
		kinds = append(kinds, strings.ToLower(reflect.TypeOf(m).Name()))
	}
	delete(n.sent, name)
	return strings.Join(kinds, " ")
}

func (n *session) join(names ...string) {
	n.Helper()
	for _, name := range names {
		if refusal := n.tryJoin(name, n.tokens[name]); refusal != nil {
			n.Fatalf("%s is refused: %v", name, refusal)
		}
	}
}

func (n *session) tryJoin(name, token string) (refusal *wire.Refusal) {
	n.Helper()
	hello := wire.Hello{Version: wire.Version, Code: n.room.Keys().Code, Name: name, Token: token, As: n.as[name]}
	err := n.step(Join{Hello: hello, From: n.origins[name], Token: "token of " + name})
	if err != nil {
		if !errors.As(err, &refusal) {
			n.Fatalf("%s is refused: %v", name, err)
		}
		return refusal
	}
	p := n.room.round.player(nickname.Clean(name))
	n.tokens[p.name] = n.tokenOf(p.name)
	return nil
}

func (n *session) gone(name string) { n.step(Leave{name}) }

func (n *session) listed(servers int) { n.gets(listOf(servers)) }

// gets is the list that the room asked for.
func (n *session) gets(servers []discovery.Server, local ...LocalServer) {
	n.step(Listed{List: topology.New(Shared(servers, local)), Local: local})
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

// says has a player say something that makes sense.
func (n *session) says(name string, m wire.Message) {
	n.Helper()
	if err := n.step(Hear{name, m}); err != nil {
		n.Fatalf("%s says %+v: %v", name, m, err)
	}
}

// lost stands for a server that does not answer, skip for one not asked.
const (
	lost = -1
	skip = 0
)

// measures reports RTTs in ms, by server. What is lost takes the time of a probe.
func (n *session) measures(name string, ms ...int) {
	n.Helper()
	if slices.Contains(ms, lost) {
		n.wait(evidence.LeastProbe)
	}
	n.says(name, wire.Report{Round: n.room.round.number, Results: results(ms)})
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

func (n *session) done(names ...string) {
	n.Helper()
	for _, name := range names {
		n.says(name, wire.Done{Round: n.room.round.number})
	}
}

// informs says how many seats the servers have free, of 16.
func (n *session) informs(name string, free ...int) {
	n.Helper()
	var infos []wire.ServerInfo
	for server, f := range free {
		infos = append(infos, wire.ServerInfo{Server: server, Info: discovery.Info{Map: "oa_dm1", Players: 16 - f, MaxPlayers: 16}})
	}
	n.says(name, wire.Infos{Round: n.room.round.number, Servers: infos})
}

// verifies is a second look at all finalists that finds what is known, but for
// the servers that have filled up.
func (n *session) verifies(name string, full ...int) {
	n.Helper()
	m := n.room.round.player(name)
	v := wire.Verified{Round: n.room.round.number, Attempt: n.room.round.looks.Save().Attempt}
	for _, server := range n.room.round.looks.Servers() {
		seen := wire.Finalist{Server: server, State: m.witness.At(server).State, Sent: 3, Info: &discovery.Info{
			Name: fmt.Sprint("server ", server), Map: "oa_dm1", Players: 4, MaxPlayers: 16,
		}}
		if slices.Contains(full, server) {
			seen.Info.Players = 16
		}
		if seen.State == discovery.Answered {
			seen.RTTs = []float64{float64(m.witness.At(server).RTT.Milliseconds())}
		}
		v.Servers = append(v.Servers, seen)
	}
	n.says(name, v)
}

// wait lets time pass, in ticks.
func (n *session) wait(d time.Duration) {
	for end := n.now.Add(d); n.now.Before(end); {
		n.now = n.now.Add(tick)
		n.step(Tick{Crowds: n.crowds})
	}
}

// denies has a member report one state, or 1 ms, for servers, as an attacker's frame does.
func (n *session) denies(name string, state discovery.State, servers ...int) {
	n.Helper()
	report := wire.Report{Round: n.room.round.number}
	for _, server := range servers {
		result := discovery.Result{Server: server, State: state}
		if state == discovery.Answered {
			result.RTT = time.Millisecond
		}
		report.Results = append(report.Results, result)
	}
	n.says(name, report)
}

func (n *session) goes() { n.step(Proceed{}) }

func (n *session) inStage(stage wire.Stage) {
	n.Helper()
	if n.room.phase.stage() != stage {
		n.Fatalf("the room is %s, want %s; its log:\n%s", n.room.phase.stage(), stage, n.log())
	}
}

func (n *session) log() string {
	var b strings.Builder
	for _, note := range n.view().Log {
		fmt.Fprintf(&b, "%s %s\n", note.At.Format(time.TimeOnly), note.Text)
	}
	return b.String()
}

// noted wants lines in the log, in this order.
func (n *session) noted(lines ...string) {
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

// launch is where everyone is sent.
func (n *session) launch() wire.Launch {
	n.Helper()
	l, launching := n.room.phase.(*Launching)
	if !launching {
		n.Fatalf("nobody is sent anywhere; the log:\n%s", n.log())
	}
	return l.Launch
}

func (n *session) goesTo(server int) {
	n.Helper()
	n.inStage(wire.Launching)
	if want := addr(server).String(); n.launch().Address != want {
		n.Errorf("everyone goes to %s, want %s; the log:\n%s", n.launch().Address, want, n.log())
	}
}

// measuring is a room of players that have got a list.
func measuring(t *testing.T, servers int, names ...string) *session {
	t.Helper()
	n := newSession(t, settings(len(names)))
	n.join(names...)
	n.listed(servers)
	n.inStage(wire.Measuring)
	n.informs(names[0], slices.Repeat([]int{12}, servers)...)
	for _, name := range names {
		n.took(name)
	}
	return n
}

func (n *session) view() wire.Snapshot { return n.room.Snapshot() }

// tells says what the world was told since the last time.
func (n *session) tells(kinds ...wire.Announced) {
	n.Helper()
	var got []wire.Announced
	for _, a := range n.told {
		got = append(got, a.Kind)
	}
	if n.told = nil; !slices.Equal(got, kinds) {
		n.Errorf("the world was told of %v, want %v", got, kinds)
	}
}

// probedBy returns how many servers a player knows of.
func probedBy(p *player) int {
	probed, _ := p.witness.Progress()
	return probed
}
