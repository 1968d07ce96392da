package roomtest

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
	"muster/discovery/plan/topology"
	"muster/host/room"
	"muster/host/room/evidence"
	"muster/host/room/people"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/memory"
)

// Session plays the part of a host, players' programs and pages for one room. It knows only the
// room's messages and views, as these do.
type Session struct {
	testing.TB
	Driver
	// Tokens are the tokens of players' programs. Welcomes holds each program's newest welcome.
	Tokens   map[string]string
	Welcomes map[string]wire.Welcome
	// Origins are where players come from. Most have none.
	Origins map[string]room.Origin
	// As are the other credentials that somebody's program shows.
	As map[string]string
	// Demand goes into every [room.Tick]. Admitted is the newest player.
	Demand   map[netip.AddrPort]room.Demand
	Admitted string
	// Sent are the messages to each player. Fetches counts the lists that the room asked for, and
	// Fetched is the newest request.
	Sent    map[string][]wire.Message
	Fetches int
	Fetched room.Fetch
	// Asked lists the servers that each player was asked for, in order.
	Asked map[string][]int
	// Seen has each player's view of servers in a round. The newest second look and survey that
	// each player was asked for are in Looks and Surveys. The newest destination of any program is
	// in Launched.
	Seen     map[string]Sight
	Looks    map[string]wire.Finalists
	Surveys  map[string]wire.Survey
	Launched wire.Launch
	// Adjust changes what players see of a server in second looks. It may be nil.
	Adjust func(seen *wire.Finalist)
	// Answer is the answer to the newest order that has one.
	Answer any
	// Dismissed are the players who were sent away.
	Dismissed []string
	// Told are the announcements to the world.
	Told []wire.Announcement
	// Learnt is what the host learns of networks, and Recalls what the room asks of its memory. The
	// memory has Remembered, by player.
	Learnt     []room.Learn
	Recalls    []room.Recall
	Remembered map[people.ID][]memory.Cell

	// shows is the snapshot of a room at a revision.
	shows    wire.Snapshot
	viewed   *room.Room
	revision int
}

// Sight is a player's result for each server in a round.
type Sight struct {
	Round   int
	Results map[int]discovery.Result
}

// Eight is the time at which sessions begin.
var Eight = time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)

// Tick is how often time passes in a session, as on a host.
const Tick = 100 * time.Millisecond

// maxTries is how often players look again at most.
const maxTries = 4

// Keys are the usual keys of a room.
var Keys = room.Keys{Code: "BAKODI", Link: "the link's key", Secret: "secret"}

// Settings returns the settings of a room that begins with so many players.
func Settings(players int) wire.Settings {
	return wire.Settings{Name: "Friday", Game: "openarena", By: selection.Mean, Players: players, Strategy: "conventional"}
}

// New opens a room at eight.
func New(t testing.TB, s wire.Settings) *Session { return Play(t, room.New(Keys, s, Eight), Eight) }

// Play continues a room to which nobody is connected.
func Play(t testing.TB, r *room.Room, at time.Time) *Session {
	n := &Session{
		TB: t, Driver: Driver{Room: r, Now: at, Here: map[string]bool{}},
		Tokens: map[string]string{}, Welcomes: map[string]wire.Welcome{}, Origins: map[string]room.Origin{}, As: map[string]string{},
		Sent: map[string][]wire.Message{}, Asked: map[string][]int{}, Seen: map[string]Sight{},
		Looks: map[string]wire.Finalists{}, Surveys: map[string]wire.Survey{},
	}
	n.Stepped, n.Out, n.Deliver, n.Renamed = n.sees, n.takes, n.delivers, n.renames
	return n
}

func (n *Session) takes(o room.Output) {
	switch o := o.(type) {
	case room.Fetch:
		n.Fetches++
		n.Fetched = o
	case room.Admit:
		n.Admitted = string(o.Player)
	case room.Dismiss:
		n.Dismissed = append(n.Dismissed, string(o.Player))
	case room.Announce:
		n.Told = append(n.Told, o.Announcement)
	case room.Answer:
		n.Answer = o.Document
	case room.Learn:
		n.Learnt = append(n.Learnt, o)
	case room.Recall:
		n.Recalls = append(n.Recalls, o)
		n.Step(room.Recalled{Cells: n.Remembered})
	}
}

// delivers brings a message to a player's program.
func (n *Session) delivers(name string, m wire.Message) {
	n.Sent[name] = append(n.Sent[name], m)
	switch m := m.(type) {
	case wire.Welcome:
		n.Welcomes[name] = m
	case wire.Ask:
		n.Asked[name] = append(n.Asked[name], m.Servers...)
	case wire.Finalists:
		n.Looks[name] = m
	case wire.Survey:
		n.Surveys[name] = m
	case wire.Launch:
		n.Launched = m
	}
}

// sees notes what a player's program saw, by its reports.
func (n *Session) sees(in room.Input, refusal error) {
	hear, is := in.(room.Hear)
	if !is || refusal != nil {
		return
	}
	player := string(hear.Player)
	seen := func(round int) map[int]discovery.Result {
		s := n.Seen[player]
		if s.Results == nil || s.Round != round {
			s = Sight{round, map[int]discovery.Result{}}
			n.Seen[player] = s
		}
		return s.Results
	}
	switch m := hear.Message.(type) {
	case wire.Report:
		for _, result := range m.Results {
			seen(m.Round)[result.Server] = result
		}
	case wire.Verified:
		for _, f := range m.Servers {
			result := discovery.Result{Server: f.Server, State: f.State}
			if len(f.RTTs) > 0 {
				result.RTT = time.Duration(slices.Min(f.RTTs) * float64(time.Millisecond))
			}
			seen(m.Round)[f.Server] = result
		}
	}
}

// Saw returns a player's result for a server in this round.
func (n *Session) Saw(name string, server int) discovery.Result {
	if s := n.Seen[name]; s.Round == n.Round() {
		return s.Results[server]
	}
	return discovery.Result{Server: server}
}

// renames goes on with a player under another name.
func (n *Session) renames(from, to string) {
	Moves(n.Welcomes, from, to)
	Moves(n.Seen, from, to)
	Moves(n.Looks, from, to)
	Moves(n.Surveys, from, to)
	Moves(n.Sent, from, to)
}

// Orders orders something on the organiser's page.
func (n *Session) Orders(a room.Action) error {
	n.Helper()
	return n.Acts(n.Room.Keys().Secret, a)
}

// OnPage orders something on a guest's page.
func (n *Session) OnPage(name string, a room.Action) error {
	n.Helper()
	return n.Acts(name+"'s token", a)
}

// Acts orders something on the page of a credential.
func (n *Session) Acts(credential string, a room.Action) error {
	n.Helper()
	return n.Step(room.Order{Credential: credential, Action: a})
}

// Enters gives somebody with the page a nickname.
func (n *Session) Enters(name, secret string) error {
	return n.EntersFrom(name, secret, netip.AddrFrom4([4]byte{198, 51, 100, name[0]}))
}

// EntersFrom is [Session.Enters] from an address.
func (n *Session) EntersFrom(name, secret string, from netip.Addr) error {
	return n.Step(room.Order{Credential: secret, Action: room.Enter{Name: name, Token: name + "'s token", From: from}})
}

// PageOf returns the credential of a player's pages.
func (n *Session) PageOf(name string) string { return n.Welcomes[name].Page }

// Took returns the names of the messages that a player was sent since the last time.
func (n *Session) Took(name string) string {
	var kinds []string
	for _, m := range n.Sent[name] {
		kinds = append(kinds, strings.ToLower(reflect.TypeOf(m).Name()))
	}
	delete(n.Sent, name)
	return strings.Join(kinds, " ")
}

// Join brings players in, who must be let in.
func (n *Session) Join(names ...string) {
	n.Helper()
	for _, name := range names {
		n.JoinAs(n.Hello(name))
	}
}

// TryJoin brings a player in with a token, or returns the refusal.
func (n *Session) TryJoin(name, token string) (refusal *wire.Refusal) {
	n.Helper()
	hello := n.Hello(name)
	hello.Token = token
	return n.TryJoinAs(hello)
}

// Hello returns the hello of a player's program.
func (n *Session) Hello(name string) wire.Hello {
	return wire.Hello{Version: wire.Version, Code: n.Room.Keys().Code, Name: name, Token: n.Tokens[name], As: n.As[name]}
}

// JoinAs brings in a player whose program says hello, and who must be let in.
func (n *Session) JoinAs(hello wire.Hello) {
	n.Helper()
	if refusal := n.TryJoinAs(hello); refusal != nil {
		n.Fatalf("%s is refused: %v", hello.Name, refusal)
	}
}

// TryJoinAs brings in a player whose program says hello, or returns the refusal.
func (n *Session) TryJoinAs(hello wire.Hello) (refusal *wire.Refusal) {
	n.Helper()
	if err := n.Step(room.Join{Hello: hello, From: n.Origins[hello.Name], Token: "token of " + hello.Name}); err != nil {
		if !errors.As(err, &refusal) {
			n.Fatalf("%s is refused: %v", hello.Name, err)
		}
		return refusal
	}
	n.Tokens[n.Admitted] = n.Welcomes[n.Admitted].Token
	return nil
}

// Gone ends the connection of a player's program.
func (n *Session) Gone(name string) { n.Step(room.Leave{Player: people.ID(name)}) }

// Listed gives the room a list of so many servers.
func (n *Session) Listed(servers int) { n.Gets(ListOf(servers)) }

// Gets gives the room the list that it asked for.
func (n *Session) Gets(servers []discovery.Server, local ...room.LocalServer) {
	n.Step(room.Listed{List: topology.New(room.Shared(servers, local)), Local: local})
}

// ListOf returns so many servers.
func ListOf(servers int) []discovery.Server {
	list := make([]discovery.Server, servers)
	for i := range list {
		list[i].Addr = AddrOf(i)
	}
	return list
}

// AddrOf returns the address of a server of [ListOf].
func AddrOf(server int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, byte(2 + server>>8), byte(server)}), 27960)
}

// Says sends a player's message, which must make sense.
func (n *Session) Says(name string, m wire.Message) {
	n.Helper()
	if err := n.Step(room.Hear{Player: people.ID(name), Message: m}); err != nil {
		n.Fatalf("%s says %+v: %v", name, m, err)
	}
}

// Lost stands for a server that does not answer, Skip for one not asked.
const (
	Lost = -1
	Skip = 0
)

// Measures reports RTTs in ms, by server. A Lost server takes the time of a probe.
func (n *Session) Measures(name string, ms ...int) {
	n.Helper()
	if slices.Contains(ms, Lost) {
		n.Wait(evidence.MinProbe)
	}
	report := wire.Report{Round: n.Round()}
	for server, rtt := range ms {
		switch rtt {
		case Skip:
		case Lost:
			report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Lost})
		default:
			report.Results = append(report.Results, discovery.Result{
				Server: server,
				State:  discovery.Answered,
				RTT:    time.Duration(rtt) * time.Millisecond,
			})
		}
	}
	n.Says(name, report)
}

// Finds reports servers, all with the same outcome.
func (n *Session) Finds(name string, state discovery.State, rtt time.Duration, servers ...int) {
	n.Helper()
	report := wire.Report{Round: n.Round()}
	for _, server := range servers {
		report.Results = append(report.Results, discovery.Result{Server: server, State: state, RTT: rtt})
	}
	n.Says(name, report)
}

// Done says that players have measured all that they want.
func (n *Session) Done(names ...string) {
	n.Helper()
	for _, name := range names {
		n.Says(name, wire.Done{Round: n.Round()})
	}
}

// Informs reports the servers' free seats, of 16.
func (n *Session) Informs(name string, free ...int) {
	n.Helper()
	infos := wire.Infos{Round: n.Round()}
	for server, f := range free {
		infos.Servers = append(infos.Servers, wire.ServerInfo{
			Server: server,
			Info:   discovery.Info{Map: "oa_dm1", Players: 16 - f, MaxPlayers: 16},
		})
	}
	n.Says(name, infos)
}

// Verifies answers the newest second look with the player's earlier results, except for servers
// that have filled up.
func (n *Session) Verifies(name string, full ...int) {
	n.Helper()
	asked := n.Looks[name]
	v := wire.Verified{Round: asked.Round, Attempt: asked.Attempt}
	for _, server := range asked.Servers {
		saw := n.Saw(name, server)
		look := wire.Finalist{Server: server, State: saw.State, Sent: 3, Info: &discovery.Info{
			Name: fmt.Sprint("server ", server), Map: "oa_dm1", Players: 4, MaxPlayers: 16,
		}}
		if slices.Contains(full, server) {
			look.Info.Players = 16
		}
		if look.State == discovery.Answered {
			look.RTTs = []float64{float64(saw.RTT) / float64(time.Millisecond)}
		}
		if n.Adjust != nil {
			n.Adjust(&look)
		}
		v.Servers = append(v.Servers, look)
	}
	n.Says(name, v)
}

// LookAgain lets the players who are here answer all second looks.
func (n *Session) LookAgain() {
	for range maxTries {
		for _, p := range n.Players() {
			if n.IsVerifying() && n.Here[p] && !n.IsOut(p) {
				n.Verifies(p)
			}
		}
	}
}

// Wait lets time pass, in ticks.
func (n *Session) Wait(d time.Duration) {
	for end := n.Now.Add(d); n.Now.Before(end); {
		n.Now = n.Now.Add(Tick)
		n.Step(room.Tick{Demand: n.Demand})
	}
}

// Until lets time pass until at, as a host does. The room gets a tick whenever it asks for one.
func (n *Session) Until(at time.Time) (ticks int) {
	n.Helper()
	for {
		next := n.Next()
		if !next.After(n.Now) {
			next = n.Now.Add(Tick)
		}
		if next.After(at) {
			n.Now = at
			return ticks
		}
		n.Now = next
		n.Step(room.Tick{})
		if ticks++; ticks > 100_000 {
			n.Fatalf("the room asks for the time again and again, at %v", n.Now)
		}
	}
}

// Revive goes on with the room as it was saved, without connections.
func (n *Session) Revive() {
	n.Helper()
	n.GoesOnWith(Restored(n, n.Room))
}

// Restarts lets another program go on with the room, after a time.
func (n *Session) Restarts(after time.Duration) {
	n.Helper()
	n.Revive()
	n.Now = n.Now.Add(after)
	n.Step(room.Resume{})
}

// Goes says that everybody may go on.
func (n *Session) Goes() { n.Step(room.Proceed{}) }

// View returns what everyone sees.
func (n *Session) View() wire.Snapshot {
	if revision := n.Room.Revision(); n.viewed != n.Room || n.revision != revision {
		n.viewed, n.revision, n.shows = n.Room, revision, n.Room.Snapshot()
	}
	return n.shows
}

// Round returns the number of the round.
func (n *Session) Round() int { return n.View().Room.Round }

// Players returns the names of those whose programs take part, in their order.
func (n *Session) Players() (names []string) {
	for _, p := range n.View().People {
		if p.Peer {
			names = append(names, p.Name)
		}
	}
	return names
}

// Guests returns the names of the people who have only the page.
func (n *Session) Guests() (names []string) {
	for _, p := range n.View().People {
		if !p.Peer {
			names = append(names, p.Name)
		}
	}
	return names
}

// Person returns a person as everyone sees them.
func (n *Session) Person(name string) wire.Person {
	for _, p := range n.View().People {
		if p.Name == name {
			return p
		}
	}
	return wire.Person{}
}

// IsOut reports whether the round goes on without a player.
func (n *Session) IsOut(name string) bool { return n.Person(name).LeftOut }

// IsVoting reports whether people vote, or see the countdown. IsVerifying reports whether players
// look again at the best.
func (n *Session) IsVoting() bool    { return n.View().Voting.Open }
func (n *Session) IsVerifying() bool { return n.Room.Stage() == wire.Chosen && !n.IsVoting() }

// Choice returns the newest choice, as everyone sees it.
func (n *Session) Choice() selection.Selection {
	n.Helper()
	choice := n.View().Choice
	if choice == nil {
		n.Fatalf("nothing was chosen; the log:\n%s", n.Story())
	}
	return choice.Selection
}

// Chosen returns the server of the newest choice.
func (n *Session) Chosen() selection.Ranked {
	n.Helper()
	chosen := n.Choice().Chosen
	if chosen == nil {
		n.Fatalf("nothing was chosen; the log:\n%s", n.Story())
	}
	return *chosen
}

// IsAsleep reports whether everybody sees that the session is over.
func (n *Session) IsAsleep() bool { return !n.View().Room.Ended.IsZero() }

// InStage requires a stage.
func (n *Session) InStage(stage wire.Stage) {
	n.Helper()
	if n.Room.Stage() != stage {
		n.Fatalf("the room is %s, want %s; its log:\n%s", n.Room.Stage(), stage, n.Story())
	}
}

// Story returns the log, with the time of each line.
func (n *Session) Story() string {
	var b strings.Builder
	for _, note := range n.View().Log {
		fmt.Fprintf(&b, "%s %s\n", note.At.Format(time.TimeOnly), note.String())
	}
	return b.String()
}

// Noted requires lines in the log, in this order.
func (n *Session) Noted(lines ...string) {
	n.Helper()
	rest := n.Story()
	for _, line := range lines {
		_, after, found := strings.Cut(rest, " "+line+"\n")
		if !found {
			n.Errorf("the log does not say %q after what was wanted before:\n%s", line, n.Story())
			return
		}
		rest = after
	}
}

// GoesTo requires that everyone is sent to a server of [ListOf].
func (n *Session) GoesTo(server int) {
	n.Helper()
	n.InStage(wire.Launching)
	if way, want := n.View().Way, AddrOf(server).String(); way == nil || way.Connect != want {
		n.Errorf("everyone goes to %+v, want %s; the log:\n%s", way, want, n.Story())
	}
}

// Reason returns a refusal's reason, or nothing.
func Reason(err error) string {
	var refusal *wire.Refusal
	errors.As(err, &refusal)
	if refusal == nil {
		return ""
	}
	return refusal.Reason
}
