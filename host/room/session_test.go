package room_test

import (
	"encoding/json"
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
	"muster/discovery/sentence"
	"muster/host/room"
	"muster/host/room/evidence"
	"muster/host/room/saved"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/memory"
)

// session plays the part of a host, players' programs and pages for one room. It knows only the
// room's messages and views, as these do.
type session struct {
	*testing.T
	room *room.Room
	now  time.Time
	// tokens are those of players' programs. welcomes are the newest welcome of each.
	tokens   map[string]string
	welcomes map[string]wire.Welcome
	// origins are where players come from. Most have none.
	origins map[string]room.Origin
	// as are the other credentials that somebody's program shows.
	as map[string]string
	// demand is that of every [room.Tick].
	demand map[netip.AddrPort]room.Demand
	// here are the players whose programs are connected. admitted is the newest player.
	here     map[string]bool
	admitted string
	// sent are the messages to each player. fetches counts the lists that the room asked for, and
	// fetched is the newest request.
	sent    map[string][]wire.Message
	fetches int
	fetched room.Fetch
	// asked are the servers that each player was asked for, in order.
	asked map[string][]int
	// The field seen has each player's view of servers in a round. The newest second look and
	// survey that each player was asked for are in looks and surveys. The newest destination of any
	// program is in launched.
	seen     map[string]sight
	looks    map[string]wire.Finalists
	surveys  map[string]wire.Survey
	launched wire.Launch
	// answer is the answer to the newest order that has one.
	answer any
	// busy says that the host has no processor time for the room's search. waits says that the
	// search waits for it.
	busy, waits bool
	// dismissed are the players who were sent away.
	dismissed []string
	// told are the announcements to the world.
	told []wire.Announcement
	// learnt is what the host learns of networks, and recalls what the room asks of its memory. The
	// memory has remembered, by player.
	learnt     []room.Learn
	recalls    []room.Recall
	remembered map[string][]memory.Cell
}

// sight is a player's result for each server in a round.
type sight struct {
	round   int
	results map[int]discovery.Result
}

var eight = time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)

// tick is how often time passes in a session, as on a host.
const tick = 100 * time.Millisecond

// The promised times: how long the reveal and the countdown take together, the reveal's part, how
// long a short look may take, and how often players look again at most.
const (
	countdownTime = 11 * time.Second
	revealTime    = 6 * time.Second
	lookTime      = 15 * time.Second
	maxTries      = 4
)

func settings(players int) wire.Settings {
	return wire.Settings{Name: "Friday", Game: "openarena", By: selection.Mean, Players: players, Strategy: "conventional"}
}

func newSession(t *testing.T, s wire.Settings) *session {
	return tuned(t, room.Tuning{}, s)
}

// tuned returns a session in a room that is tuned.
func tuned(t *testing.T, tuning room.Tuning, s wire.Settings) *session {
	return &session{
		T: t, room: tuning.New(room.Keys{Code: "BAKODI", Link: "the link's key", Secret: "secret"}, s, eight), now: eight,
		tokens: map[string]string{}, welcomes: map[string]wire.Welcome{}, origins: map[string]room.Origin{}, as: map[string]string{},
		here: map[string]bool{}, sent: map[string][]wire.Message{}, asked: map[string][]int{}, seen: map[string]sight{},
		looks: map[string]wire.Finalists{}, surveys: map[string]wire.Survey{},
	}
}

// step plays an input and delivers messages to connected players, as a host does.
func (n *session) step(in room.Input) error {
	n.Helper()
	outputs, err := n.room.Step(in, n.now)
	if leave, is := in.(room.Leave); is {
		delete(n.here, leave.Player)
	}
	if err == nil {
		n.sees(in)
	}
	for _, o := range outputs {
		switch o := o.(type) {
		case room.Fetch:
			n.fetches++
			n.fetched = o
		case room.Plan:
			if n.waits = n.busy; !n.busy {
				defer n.step(room.Turn{})
			}
		case room.Admit:
			n.here[o.Player], n.admitted = true, o.Player
		case room.Renamed:
			n.renames(o.From, o.To)
		case room.Dismiss:
			n.dismissed = append(n.dismissed, o.Player)
			delete(n.here, o.Player)
		case room.Announce:
			n.told = append(n.told, o.Announcement)
		case room.Answer:
			n.answer = o.Document
		case room.Learn:
			n.learnt = append(n.learnt, o)
		case room.Recall:
			n.recalls = append(n.recalls, o)
			n.step(room.Recalled{Cells: n.remembered})
		case room.Send:
			for name := range n.here {
				if o.To == "" || o.To == name {
					n.delivers(name, o.Message)
				}
			}
		}
	}
	return err
}

// delivers brings a message to a player's program.
func (n *session) delivers(name string, m wire.Message) {
	n.sent[name] = append(n.sent[name], m)
	switch m := m.(type) {
	case wire.Welcome:
		n.welcomes[name] = m
	case wire.Ask:
		n.asked[name] = append(n.asked[name], m.Servers...)
	case wire.Finalists:
		n.looks[name] = m
	case wire.Survey:
		n.surveys[name] = m
	case wire.Launch:
		n.launched = m
	}
}

// sees notes what a player's program saw, by its reports.
func (n *session) sees(in room.Input) {
	hear, is := in.(room.Hear)
	if !is {
		return
	}
	seen := func(round int) map[int]discovery.Result {
		s := n.seen[hear.Player]
		if s.results == nil || s.round != round {
			s = sight{round, map[int]discovery.Result{}}
			n.seen[hear.Player] = s
		}
		return s.results
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

// saw returns a player's result for a server in this round.
func (n *session) saw(name string, server int) discovery.Result {
	if s := n.seen[name]; s.round == n.round() {
		return s.results[server]
	}
	return discovery.Result{Server: server}
}

// renames goes on with a player under another name.
func (n *session) renames(from, to string) {
	moves(n.here, from, to)
	moves(n.welcomes, from, to)
	moves(n.seen, from, to)
	moves(n.looks, from, to)
	moves(n.surveys, from, to)
	moves(n.sent, from, to)
}

func moves[T any](of map[string]T, from, to string) {
	if what, is := of[from]; is {
		delete(of, from)
		of[to] = what
	}
}

// orders orders something on the organiser's page.
func (n *session) orders(a room.Action) error {
	n.Helper()
	return n.acts(n.room.Keys().Secret, a)
}

// page orders something on a guest's page.
func (n *session) page(name string, a room.Action) error {
	n.Helper()
	return n.acts(name+"'s token", a)
}

// acts orders something on the page of a credential.
func (n *session) acts(credential string, a room.Action) error {
	n.Helper()
	return n.step(room.Order{Credential: credential, Action: a})
}

// enters gives somebody with the page a nickname.
func (n *session) enters(name, secret string) error {
	return n.entersFrom(name, secret, netip.AddrFrom4([4]byte{198, 51, 100, name[0]}))
}

func (n *session) entersFrom(name, secret string, from netip.Addr) error {
	return n.step(room.Order{Credential: secret, Action: room.Enter{Name: name, Token: name + "'s token", From: from}})
}

// pageOf returns the credential of a player's pages.
func (n *session) pageOf(name string) string { return n.welcomes[name].Page }

// tokenOf returns the token of a player's program.
func (n *session) tokenOf(name string) string { return n.welcomes[name].Token }

// took returns the names of the messages that a player was sent since the last time.
func (n *session) took(name string) string {
	var kinds []string
	for _, m := range n.sent[name] {
		kinds = append(kinds, strings.ToLower(reflect.TypeOf(m).Name()))
	}
	delete(n.sent, name)
	return strings.Join(kinds, " ")
}

// got returns a player's newest message of type M.
func got[M wire.Message](n *session, name string) M {
	n.Helper()
	newest, found := newestOf[M](n, name)
	if !found {
		n.Errorf("%s was sent no %T", name, newest)
	}
	return newest
}

// newestOf returns a player's newest message of type M, if there is one.
func newestOf[M wire.Message](n *session, name string) (newest M, found bool) {
	for _, m := range n.sent[name] {
		if m, is := m.(M); is {
			newest, found = m, true
		}
	}
	return newest, found
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
	if err := n.step(room.Join{Hello: hello, From: n.origins[name], Token: "token of " + name}); err != nil {
		if !errors.As(err, &refusal) {
			n.Fatalf("%s is refused: %v", name, err)
		}
		return refusal
	}
	n.tokens[n.admitted] = n.tokenOf(n.admitted)
	return nil
}

func (n *session) gone(name string) { n.step(room.Leave{Player: name}) }

func (n *session) listed(servers int) { n.gets(listOf(servers)) }

// gets gives the room the list that it asked for.
func (n *session) gets(servers []discovery.Server, local ...room.LocalServer) {
	n.step(room.Listed{List: topology.New(room.Shared(servers, local)), Local: local})
}

func listOf(servers int) []discovery.Server {
	list := make([]discovery.Server, servers)
	for i := range list {
		list[i].Addr = addrOf(i)
	}
	return list
}

// says sends a player's message, which must make sense.
func (n *session) says(name string, m wire.Message) {
	n.Helper()
	if err := n.step(room.Hear{Player: name, Message: m}); err != nil {
		n.Fatalf("%s says %+v: %v", name, m, err)
	}
}

// lost stands for a server that does not answer, skip for one not asked.
const (
	lost = -1
	skip = 0
)

// measures reports RTTs in ms, by server. A lost server takes the time of a probe.
func (n *session) measures(name string, ms ...int) {
	n.Helper()
	if slices.Contains(ms, lost) {
		n.wait(evidence.LeastProbe)
	}
	report := wire.Report{Round: n.round()}
	for server, rtt := range ms {
		switch rtt {
		case skip:
		case lost:
			report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Lost})
		default:
			report.Results = append(report.Results, discovery.Result{
				Server: server,
				State:  discovery.Answered,
				RTT:    time.Duration(rtt) * time.Millisecond,
			})
		}
	}
	n.says(name, report)
}

// finds reports servers, all with the same outcome.
func (n *session) finds(name string, state discovery.State, rtt time.Duration, servers ...int) {
	n.Helper()
	if state == discovery.Lost {
		n.wait(evidence.LeastProbe)
	}
	report := wire.Report{Round: n.round()}
	for _, server := range servers {
		report.Results = append(report.Results, discovery.Result{Server: server, State: state, RTT: rtt})
	}
	n.says(name, report)
}

func (n *session) done(names ...string) {
	n.Helper()
	for _, name := range names {
		n.says(name, wire.Done{Round: n.round()})
	}
}

// informs reports the servers' free seats, of 16.
func (n *session) informs(name string, free ...int) {
	n.Helper()
	infos := wire.Infos{Round: n.round()}
	for server, f := range free {
		infos.Servers = append(infos.Servers, wire.ServerInfo{
			Server: server,
			Info:   discovery.Info{Map: "oa_dm1", Players: 16 - f, MaxPlayers: 16},
		})
	}
	n.says(name, infos)
}

// verifies answers the newest second look with the player's earlier results, except for servers
// that have filled up.
func (n *session) verifies(name string, full ...int) {
	n.Helper()
	asked := n.looks[name]
	v := wire.Verified{Round: asked.Round, Attempt: asked.Attempt}
	for _, server := range asked.Servers {
		saw := n.saw(name, server)
		look := wire.Finalist{Server: server, State: saw.State, Sent: 3, Info: &discovery.Info{
			Name: fmt.Sprint("server ", server), Map: "oa_dm1", Players: 4, MaxPlayers: 16,
		}}
		if slices.Contains(full, server) {
			look.Info.Players = 16
		}
		if look.State == discovery.Answered {
			look.RTTs = []float64{float64(saw.RTT.Milliseconds())}
		}
		v.Servers = append(v.Servers, look)
	}
	n.says(name, v)
}

// lookAgain lets the players who are here answer all second looks.
func (n *session) lookAgain() {
	for range maxTries {
		for _, p := range n.players() {
			if n.isVerifying() && n.here[p] && !n.isOut(p) {
				n.verifies(p)
			}
		}
	}
}

// wait lets time pass, in ticks.
func (n *session) wait(d time.Duration) {
	for end := n.now.Add(d); n.now.Before(end); {
		n.now = n.now.Add(tick)
		n.step(room.Tick{Demand: n.demand})
	}
}

// until lets time pass as a host does: the room gets it when it asks.
func (n *session) until(at time.Time) (ticks int) {
	n.Helper()
	for {
		next := n.room.Next()
		if !next.After(n.now) {
			next = n.now.Add(tick)
		}
		if next.After(at) {
			n.now = at
			return ticks
		}
		n.now = next
		n.step(room.Tick{})
		if ticks++; ticks > 100_000 {
			n.Fatalf("the room asks for the time again and again, at %v", n.now)
		}
	}
}

// revive goes on with the room as it was saved, without connections.
func (n *session) revive() {
	n.Helper()
	n.room = restored(n.T, n.room)
	clear(n.here)
}

// rewrites goes on with the room as it was saved and then changed.
func (n *session) rewrites(change func(s *saved.Room)) {
	n.Helper()
	data, err := n.room.Save()
	if err != nil {
		n.Fatal(err)
	}
	s, err := saved.Read(data)
	if err != nil {
		n.Fatal(err)
	}
	change(&s)
	if data, err = json.Marshal(s); err != nil {
		n.Fatal(err)
	}
	if n.room, err = room.Restore(data, topology.New); err != nil {
		n.Fatal(err)
	}
	clear(n.here)
}

// restarts lets another program go on with the room, after a time.
func (n *session) restarts(after time.Duration) {
	n.Helper()
	n.revive()
	n.now = n.now.Add(after)
	n.step(room.Resume{})
}

func (n *session) goes() { n.step(room.Proceed{}) }

func (n *session) view() wire.Snapshot { return n.room.Snapshot() }

func (n *session) round() int { return n.view().Room.Round }

// players returns the names of those whose programs take part, in their order.
func (n *session) players() (names []string) {
	for _, p := range n.view().People {
		if p.Peer {
			names = append(names, p.Name)
		}
	}
	return names
}

// guests returns the names of those who have only the page.
func (n *session) guests() (names []string) {
	for _, p := range n.view().People {
		if !p.Peer {
			names = append(names, p.Name)
		}
	}
	return names
}

func (n *session) hasGuest(name string) bool { return slices.Contains(n.guests(), name) }

// person returns a person as everyone sees them.
func (n *session) person(name string) wire.Person {
	for _, p := range n.view().People {
		if p.Name == name {
			return p
		}
	}
	return wire.Person{}
}

// isOut reports whether the round goes on without a player.
func (n *session) isOut(name string) bool { return n.person(name).LeftOut }

// isVoting reports whether people vote, or see the countdown; isVerifying whether players look
// again at the best.
func (n *session) isVoting() bool    { return n.view().Voting.Open }
func (n *session) isVerifying() bool { return n.room.Stage() == wire.Chosen && !n.isVoting() }

// choice returns the newest choice, as everyone sees it.
func (n *session) choice() selection.Selection {
	n.Helper()
	choice := n.view().Choice
	if choice == nil {
		n.Fatalf("nothing was chosen; the log:\n%s", n.log())
	}
	return choice.Selection
}

// chosen returns the server of the newest choice.
func (n *session) chosen() selection.Ranked {
	n.Helper()
	chosen := n.choice().Chosen
	if chosen == nil {
		n.Fatalf("nothing was chosen; the log:\n%s", n.log())
	}
	return *chosen
}

// leads returns the address of the server that the group goes to, or would.
func (n *session) leads() string { return n.view().Choice.Target }

// isAsleep reports whether everybody sees that the session is over.
func (n *session) isAsleep() bool { return !n.view().Room.Ended.IsZero() }

func (n *session) inStage(stage wire.Stage) {
	n.Helper()
	if n.room.Stage() != stage {
		n.Fatalf("the room is %s, want %s; its log:\n%s", n.room.Stage(), stage, n.log())
	}
}

func (n *session) log() string {
	var b strings.Builder
	for _, note := range n.view().Log {
		fmt.Fprintf(&b, "%s %s\n", note.At.Format(time.TimeOnly), note.String())
	}
	return b.String()
}

// noted requires lines in the log, in this order.
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

// goesTo requires that everyone is sent to a server of [listOf].
func (n *session) goesTo(server int) {
	n.Helper()
	n.inStage(wire.Launching)
	if way, want := n.view().Way, addrOf(server).String(); way == nil || way.Connect != want {
		n.Errorf("everyone goes to %+v, want %s; the log:\n%s", way, want, n.log())
	}
}

// tells requires these announcements since the last time.
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

// measuring returns a room of players that have got a list.
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

// choosing returns a room of two whose players have measured the same. The nearest servers come
// first.
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

// toChosen brings ann and bob to their second look at two servers.
func toChosen(n *session) {
	n.join("ann", "bob")
	n.listed(2)
	n.informs("bob", 12, 12)
	n.measures("ann", 10, 20)
	n.measures("bob", 10, 20)
	n.done("ann", "bob")
}

// inVoting returns a room whose people vote on six servers. Ann and bob play, zoe and yan have the
// page. By the mean, server 0 is the best, then 1 …
func inVoting(t *testing.T) *session {
	t.Helper()
	s := settings(2)
	s.Agree, s.GuestsVote = wire.Yes, true
	return votingBy(t, s)
}

// inBans returns a match whose captains have just begun to ban.
func inBans(t *testing.T) *session {
	t.Helper()
	s := settings(2)
	s.Match = "bo1"
	return lookedBy(t, s)
}

// votingBy returns the same as inVoting with other settings.
func votingBy(t *testing.T, s wire.Settings) *session {
	t.Helper()
	n := lookedBy(t, s)
	if !n.isVoting() {
		t.Fatalf("nobody is asked; the log:\n%s", n.log())
	}
	return n
}

// lookedBy returns a room with settings in which two players have looked at the finalists.
func lookedBy(t *testing.T, s wire.Settings) *session {
	t.Helper()
	n := newSession(t, s)
	for _, name := range []string{"zoe", "yan"} {
		if err := n.enters(name, ""); err != nil {
			t.Fatal(err)
		}
		n.step(room.PageOpened{Token: name + "'s token"})
	}
	n.join("ann", "bob")
	if n.room.Stage() == wire.Gathering {
		n.goes()
	}
	n.listed(6)
	n.informs("ann", 12, 12, 12, 12, 12, 12)
	n.measures("ann", 10, 20, 30, 40, 50, 60)
	n.measures("bob", 20, 30, 40, 50, 60, 70)
	n.done("ann", "bob")
	n.verifies("ann")
	n.verifies("bob")
	n.inStage(wire.Chosen)
	return n
}

func (n *session) votes(name string, server int) error {
	return n.page(name, room.Vote{Addr: addrOf(server)})
}

// reason returns a refusal's reason, or nothing.
func reason(err error) string {
	var refusal *wire.Refusal
	errors.As(err, &refusal)
	if refusal == nil {
		return ""
	}
	return refusal.Reason
}

// restored returns the room that a host reads which takes it over.
func restored(t testing.TB, r *room.Room) *room.Room {
	t.Helper()
	data, err := r.Save()
	if err != nil {
		t.Fatal(err)
	}
	back, err := room.Restore(data, topology.New)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// same requires that two rooms show and save the same, apart from what ends with a connection.
func same(t testing.TB, a, b *room.Room) {
	t.Helper()
	for what, of := range map[string]func(*room.Room) any{
		"save": func(r *room.Room) any {
			data, err := r.Save()
			if err != nil {
				t.Fatal(err)
			}
			var document any
			if err := json.Unmarshal(data, &document); err != nil {
				t.Fatal(err)
			}
			return pruned(document)
		},
		"show": func(r *room.Room) any { return lasting(r.Snapshot()) },
	} {
		x, err := json.MarshalIndent(of(a), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		y, err := json.MarshalIndent(of(b), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if is, was := differ(string(x), string(y)); is != was {
			t.Errorf("the rooms %s different things: %s\n%s", what, is, was)
		}
	}
}

// pruned returns a document without empty values, because nothing and an empty list mean the same.
func pruned(document any) any {
	switch d := document.(type) {
	case map[string]any:
		for key, value := range d {
			if d[key] = pruned(value); d[key] == nil {
				delete(d, key)
			}
		}
		if len(d) == 0 {
			return nil
		}
	case []any:
		for i, value := range d {
			d[i] = pruned(value)
		}
		if len(d) == 0 {
			return nil
		}
	}
	return document
}

// lasting returns the parts of a snapshot that outlive the connections, and do not depend on the
// clock, which a restored room does not know before its first step.
func lasting(s wire.Snapshot) wire.Snapshot {
	s.Reactions = nil // nothing keeps them
	s.Room.Search, s.Room.Forecast, s.Standing = nil, sentence.Sentence{}, nil
	s.Look, s.Sites, s.Room.Candidates, s.Room.Said, s.Meeting = nil, nil, nil, time.Time{}, nil
	for _, choice := range []**wire.Choice{&s.Choice, &s.WhatIf} {
		if *choice != nil {
			of := **choice
			of.Servers = nil // a list may say more than the room keeps
			*choice = &of
		}
	}
	s.People = slices.Clone(s.People)
	for i := range s.People {
		p := &s.People[i]
		p.Connected, p.Page, p.Asked, p.Able, p.Unable, p.TypesPassword = false, false, false, false, sentence.Sentence{}, false
	}
	return s
}

// differ returns the first lines that differ.
func differ(x, y string) (string, string) {
	xs, ys := strings.Split(x, "\n"), strings.Split(y, "\n")
	for i := range min(len(xs), len(ys)) {
		if xs[i] != ys[i] {
			return xs[i], ys[i]
		}
	}
	return fmt.Sprint(len(xs), " lines"), fmt.Sprint(len(ys), " lines")
}
