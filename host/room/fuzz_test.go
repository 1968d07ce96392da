package room_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/plan/topology"
	"muster/discovery/sentence"
	"muster/host/room"
	"muster/host/room/nickname"
	"muster/host/room/outage"
	"muster/host/room/people"
	"muster/host/room/roomtest"
	"muster/host/room/roster"
	"muster/host/room/saved"
	"muster/host/wire"
	"muster/peer/player"
	"muster/selection"
)

// FuzzRoom plays sessions where anybody does anything at any time that a frame can carry. Some
// players run the real program over a simulated line to simulated servers. The frames of the others
// are made up.
//
// The room must not panic, and must not reach a state that cannot be shown, saved or read back. It
// refuses nothing that a real program says, and sends it nothing senseless. When all have left it
// does not wait for ever.
func FuzzRoom(f *testing.F) {
	for seed := range uint64(16) {
		f.Add(randomChoices(seed))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		const most = 1000 // the fuzzer takes a session of 10,000 for a hung one
		e := newFuzzSession(t, choices[:min(len(choices), most)])
		e.Busy, e.honest = len(choices)%3 == 0, everybody[:[]int{0, 2, 4, 4}[len(choices)/3%4]]
		s := settings(e.upTo(3))
		s.Agree = []wire.Decision{wire.Undecided, wire.Yes, wire.No}[e.upTo(2)]
		s.LookAround = e.upTo(1) > 0
		s.By = selection.Rules()[e.upTo(len(selection.Rules())-1)]
		s.Limits = []time.Duration{100 * time.Millisecond}
		if e.upTo(1) > 0 {
			s.Strategy = wire.Coordinated
		}
		if len(e.choices)%2 == 0 {
			s.Webhook = hook
		}
		if len(e.choices)%5 == 1 {
			s.Match, s.Maps = []string{"bo1", "bo3", "bo5"}[len(e.choices)/5%3], []string{"", "dm6, dm17, ztn, dm13, t9"}[len(e.choices)/15%2]
		}
		s.Places = venues([]string{"A", "B"}[:e.upTo(2)]...)
		s.Seeks = []string{"", wire.SeekPlace, wire.SeekEither}[len(choices)/7%3]
		e.Room = room.New(room.Keys{Code: "BAKODI", Link: "the link's key", Secret: "secret"}, s, e.Now)
		for n := 0; len(e.choices) > 0; n++ {
			e.happens()
			if e.isSound(); n%4 == 0 { // comparing rooms takes longer than everything else
				same(t, e.Room, restored(t, e.Room))
			}
		}
		same(t, e.Room, restored(t, e.Room))
		e.hasTwin()
		e.ends()
	})
}

func randomChoices(seed uint64) []byte {
	choices := make([]byte, 100+37*seed)
	for random, i := rand.New(rand.NewPCG(seed, 0)), 0; i < len(choices); i++ {
		choices[i] = byte(random.Uint32())
	}
	return choices
}

// fuzzSession is a room and what is still to happen there.
type fuzzSession struct {
	*testing.T
	roomtest.Driver
	choices []byte
	// stepped is the time of the room's last Step.
	stepped time.Time
	fetches bool
	// shows is the room's snapshot at the revision in viewed.
	shows    wire.Snapshot
	viewed   *room.Room
	revision int
	// honest are the players with real programs, by the names that began them.
	honest   []string
	programs map[string]*program
	// comes is the program whose hello is under way.
	comes *program
	// pages are the credentials of players' pages. looks and attempts are the newest look and
	// survey that each was asked for.
	pages    map[string]string
	open     map[string]int
	looks    map[string]wire.Finalists
	attempts map[string]int
	// told is the number of servers that each player was told will see the address at most, 0 for
	// all. shown are the servers that see it in this round.
	told  map[string]int
	shown map[string]map[int]bool
	round int
	// Since its input the room has had so many outputs, and has saved and published. Before it, had
	// were its players, and went was the way; has and goes are these now.
	outs             int
	saved, published bool
	had, has         []string
	went, goes       string
}

func newFuzzSession(t *testing.T, choices []byte) *fuzzSession {
	e := &fuzzSession{
		T: t, choices: choices, programs: map[string]*program{},
		Driver: roomtest.Driver{Now: time.Unix(1_800_000_000, 0).UTC(), Here: map[string]bool{}},
		pages:  map[string]string{}, open: map[string]int{}, looks: map[string]wire.Finalists{}, attempts: map[string]int{},
	}
	e.Stepped, e.Out, e.Deliver, e.Renamed = e.hasStepped, e.out, e.delivers, e.renames
	return e
}

// program is a player's real program, and the line to it.
type program struct {
	*player.Player
	// name is the player's name in the room.
	name   string
	isHere bool
	lines  int
	// hears are the host's messages that the line has not brought yet.
	hears []wire.Message
	runs  []*run
	// discreet is the number of servers that the program lets anybody ask, at most.
	discreet int
}

// run is a run of questions that a program asks for.
type run struct {
	player.Run
	plan discovery.Plan
	// forbidden are servers that the program lets nobody ask.
	forbidden []discovery.Result
}

// upTo returns the next choice, from 0 to most.
func (e *fuzzSession) upTo(most int) int {
	if len(e.choices) == 0 {
		return 0
	}
	n := int(e.choices[0]) % (most + 1)
	e.choices = e.choices[1:]
	return n
}

var everybody = []string{"ann", "bob", "cat", "dan"}

// editionsOf are some players' versions of the game.
var editionsOf = map[string]map[string]discovery.Edition{
	"bob": {"": {Version: "5.6", Protocol: 41}}, "dan": {"openarena": {Version: "1.2"}, "xonotic": {Version: "3"}},
}

func (e *fuzzSession) name() string { return everybody[e.upTo(len(everybody)-1)] }

const fuzzServers = 12

func (e *fuzzSession) server() int { return e.upTo(fuzzServers + 1) }

// players returns the players in their order.
func (e *fuzzSession) players() (names []string) {
	for _, p := range e.view().People {
		if p.Peer {
			names = append(names, p.Name)
		}
	}
	return names
}

// view returns the room's snapshot. It makes a new one only after a change.
func (e *fuzzSession) view() wire.Snapshot {
	if revision := e.Room.Revision(); e.viewed != e.Room || e.revision != revision {
		e.viewed, e.revision, e.shows = e.Room, revision, e.Room.Snapshot()
	}
	return e.shows
}

func (e *fuzzSession) number() int { return e.view().Room.Round }

// rests lets time pass until something else happens, or the room needs the time. A tick before that
// must change nothing but the length of a pause, so leaving it out must do no harm.
func (e *fuzzSession) rests() {
	e.Helper()
	next := e.Room.Next()
	const justBefore = time.Millisecond // as times travel
	if e.stepped.IsZero() || !next.After(e.stepped.Add(justBefore)) {
		return
	}
	before, revision := e.keepsApart(), e.Room.Revision()
	at := next.Add(-justBefore)
	if sooner := e.Now.Add(time.Duration(e.upTo(255)) * time.Minute); sooner.Before(at) {
		at = sooner
	}
	outputs, err := e.Room.Step(room.Tick{}, roomtest.At(at, 0))
	isSame := e.Room.Snapshot().Room.Paused || e.keepsApart() == before
	if e.Now, e.stepped = at, at; len(outputs) > 0 || err != nil || !isSame || e.Room.Revision() != revision {
		e.Fatalf("the %s room said that it needs no time until %v; at %v a tick comes to %v, and\n%s\nbecomes\n%s",
			e.Room.Stage(), next, at, outputs, before, e.keepsApart())
	}
}

func (e *fuzzSession) keeps() string { return string(roomtest.Saved(e, e.Room)) }

// keepsApart returns what is saved of the room, apart from the time.
func (e *fuzzSession) keepsApart() string {
	e.Helper()
	var kept map[string]json.RawMessage
	if err := json.Unmarshal(roomtest.Saved(e, e.Room), &kept); err != nil {
		e.Fatal(err)
	}
	delete(kept, "at")
	delete(kept, "now")
	data, err := json.Marshal(kept)
	if err != nil {
		e.Fatal(err)
	}
	return string(data)
}

// exposes requires that no more servers see a player's address in a round than the player was told
// before.
func (e *fuzzSession) exposes(o room.Send) {
	e.Helper()
	if round := e.number(); e.round != round || e.told == nil {
		e.round, e.told, e.shown = round, map[string]int{}, map[string]map[int]bool{}
	}
	show := func(most int, servers []int) {
		if e.shown[string(o.To)] == nil {
			e.shown[string(o.To)] = map[int]bool{}
		}
		for _, server := range servers {
			e.shown[string(o.To)][server] = true
		}
		if most > 0 && len(e.shown[string(o.To)]) > most {
			e.Fatalf("%d servers see the address of %s, who was told of %d", len(e.shown[string(o.To)]), o.To, most)
		}
	}
	switch m := o.Message.(type) {
	case wire.Measure:
		if before, told := e.told[string(o.To)]; told && m.Max > 0 && (before == 0 || m.Max < before) {
			e.Fatalf("%s was told of %d servers, and then of %d", o.To, before, m.Max)
		}
		e.told[string(o.To)] = m.Max
	case wire.Ask:
		show(e.told[string(o.To)], m.Servers)
	case wire.Finalists:
		if m.Max > 0 {
			e.told[string(o.To)] = m.Max
		}
		show(e.told[string(o.To)], m.Servers)
	}
}

// way identifies the launch: where the room sends everybody, and in which round.
func (e *fuzzSession) way() string {
	s := e.view()
	if s.Way == nil {
		return ""
	}
	return fmt.Sprint(s.Room.Round, s.Way.Connect)
}

// step fetches no list yet: see isListed. It ignores the room's refusals.
func (e *fuzzSession) step(in room.Input) error {
	e.Helper()
	switch in := in.(type) {
	case room.Leave:
		e.parts(string(in.Player))
	case room.PageOpened:
		e.open[in.Token]++
	case room.PageClosed:
		e.open[in.Token]--
	}
	return e.Step(in)
}

// hasStepped notes what an input has changed.
func (e *fuzzSession) hasStepped(room.Input, error) {
	e.stepped, e.outs, e.saved, e.published = e.Now, 0, false, false
	e.had, e.has = e.has, e.players()
	e.went, e.goes = e.goes, e.way()
}

// out checks an output. Nobody may hear of what is neither kept nor shown.
func (e *fuzzSession) out(o room.Output) {
	e.Helper()
	e.outs++
	switch o := o.(type) {
	case room.Publish:
		e.published = true
	case room.Save:
		if e.saved = true; e.outs > 1 {
			e.Fatal("saved after something else")
		}
	case room.Admit:
		if !e.saved && !slices.Contains(e.had, string(o.Player)) {
			e.Fatalf("%s has a place that is not kept", o.Player)
		}
		e.admits(string(o.Player))
	case room.Dismiss:
		e.parts(string(o.Player))
	case room.Fetch:
		e.fetches = true
	case room.Announce:
		if o.Announcement.Text == "" || e.Room.Settings().Webhook == "" {
			e.Fatalf("the world is told %+v", o.Announcement)
		}
	case room.Plan:
		if e.Waits {
			e.Fatal("the room asks for two turns")
		}
	case room.Send:
		e.canBeSent(o)
		e.exposes(o)
		switch o.Message.(type) {
		case wire.Measure, wire.Finalists, wire.Launch:
			if !e.published {
				e.Fatalf("%s gets a %T and has not seen the room", o.To, o.Message)
			}
		}
		if launch, is := o.Message.(wire.Launch); is && !e.saved && e.goes != e.went {
			e.Fatalf("all are sent to %s, which is not kept", launch.Address)
		}
	}
}

// canBeSent requires that the room's message can be read, and goes to a player of the room.
func (e *fuzzSession) canBeSent(s room.Send) {
	e.Helper()
	frame, err := wire.Marshal(s.Message)
	if err == nil {
		_, err = wire.Unmarshal(frame)
	}
	if err != nil || s.To != "" && !slices.Contains(e.players(), string(s.To)) {
		e.Fatalf("a %T to %q: %v", s.Message, s.To, err)
	}
}

// admits notes that a player's program is connected. An earlier connection of the player's ends.
func (e *fuzzSession) admits(name string) {
	e.parts(name)
	e.Here[name] = true
	if p := e.comes; p != nil {
		p.name, p.isHere, e.comes = name, true, nil
	}
}

// parts notes that the connection to a player's program has ended.
func (e *fuzzSession) parts(name string) {
	delete(e.Here, name)
	if p := e.programOf(name); p != nil {
		p.isHere, p.hears = false, nil
		e.does(p, player.Lost{})
	}
}

// renames goes on with a player under another name.
func (e *fuzzSession) renames(from, to string) {
	for _, p := range e.programs {
		if p.name == from {
			p.name = to
		}
	}
	roomtest.Moves(e.pages, from, to)
	roomtest.Moves(e.looks, from, to)
	roomtest.Moves(e.attempts, from, to)
	roomtest.Moves(e.told, from, to)
	roomtest.Moves(e.shown, from, to)
}

// programOf returns the real program that is connected as a player, if there is one.
func (e *fuzzSession) programOf(name string) *program {
	for _, p := range e.programs {
		if p.isHere && p.name == name {
			return p
		}
	}
	return nil
}

// delivers puts a message on the line to a player's program.
func (e *fuzzSession) delivers(name string, m wire.Message) {
	switch m := m.(type) {
	case wire.Welcome:
		e.pages[name] = m.Page
	case wire.Finalists:
		e.looks[name] = m
	case wire.Survey:
		e.attempts[name] = m.Attempt
	}
	if p := e.programOf(name); p != nil {
		p.hears = append(p.hears, m)
	}
}

// connects brings an honest player's program in, or back in. Now and then the program is a new
// start.
func (e *fuzzSession) connects(name string, from room.Origin) {
	p := e.programs[name]
	if p == nil || e.upTo(3) == 0 {
		hello := wire.Hello{Version: wire.Version, Code: e.Room.Keys().Code, Name: name, Token: "token of " + name, Editions: editionsOf[name]}
		if name == "cat" {
			hello.Discreet = wire.MinDiscreet
		}
		fresh := &program{
			Player:   player.New(player.Options{Hello: hello, HasPlaces: true, Pace: player.RealPace, Seed: uint64(e.upTo(255))}, e.Now),
			discreet: hello.Discreet,
		}
		if p != nil {
			fresh.lines = p.lines
			if p.isHere {
				e.step(room.Leave{Player: people.ID(p.name)})
			}
		}
		p = fresh
		e.programs[name] = p
	}
	if p.isHere { // and the host does not know yet that the line is down
		e.does(p, player.Lost{})
		p.isHere, p.hears = false, nil
	}
	p.lines++
	for _, o := range p.Step(player.Connected{Line: p.lines, Host: netip.IPv6Loopback()}, e.Now) {
		if hello, is := o.(player.Send); is {
			e.comes = p
			e.step(room.Join{Hello: hello.Message.(wire.Hello), From: from, Token: "token of " + name})
			e.comes = nil
		}
	}
	e.hear(p)
}

// hear lets a program hear what the line has brought.
func (e *fuzzSession) hear(p *program) {
	for n := 0; len(p.hears) > 0; n++ {
		m := p.hears[0]
		p.hears = p.hears[1:]
		e.does(p, player.Hear{Message: m})
		if n > 1000 {
			e.Fatalf("the room and %s talk without an end", p.name)
		}
	}
}

// does tells a program what happens, and does what the program asks for.
func (e *fuzzSession) does(p *program, in player.Input) {
	e.Helper()
	for _, o := range p.Step(in, e.Now) {
		switch o := o.(type) {
		case player.Send:
			if !p.isHere {
				break
			}
			if err := e.step(room.Hear{Player: people.ID(p.name), Message: o.Message}); err != nil {
				e.Fatalf("the %s room refuses a %T of %s's real program: %v\n%+v", e.Room.Stage(), o.Message, p.name, err, o.Message)
			}
		case player.Drop:
			e.Fatalf("%s's program cannot act on what the room says: %v", p.name, o.Err)
		case player.Leave:
			e.Fatalf("%s's program ends: %v", p.name, o.Err)
		case player.Run:
			e.runs(p, o)
		case player.Stop:
			p.runs = slices.DeleteFunc(p.runs, func(r *run) bool { return r.Task == o.Task })
			e.does(p, player.Ran{Task: o.Task})
		case player.Launch:
			e.does(p, player.Progressed{
				Task:  o.Task,
				State: []wire.LaunchState{wire.LaunchStarted, wire.LaunchFailed, wire.LaunchByHand, wire.LaunchDeclined}[e.upTo(3)],
			})
			e.does(p, player.Launched{Task: o.Task})
		case player.LookAround:
			e.does(p, player.Found{Game: o.Game, Servers: e.around()})
		}
	}
}

func (e *fuzzSession) runs(p *program, o player.Run) {
	r := &run{Run: o}
	r.plan = o.Watched(func(result discovery.Result) {
		if !o.IsPlaces && p.discreet == 0 {
			e.Fatalf("more servers are to see the address of %s than the player was told of", p.name)
		}
		r.forbidden = append(r.forbidden, result)
	})
	p.runs = append(p.runs, r)
}

// asks executes some of a program's questions.
func (e *fuzzSession) asks(p *program, most int) {
	if len(p.runs) == 0 {
		return
	}
	r := p.runs[0]
	seen := player.Seen{Task: r.Task}
	for range most {
		probe, verdict := r.plan.Next()
		seen.Results, r.forbidden = append(seen.Results, r.forbidden...), nil
		if verdict != discovery.Go {
			if verdict == discovery.Stop {
				p.runs = p.runs[1:]
				e.does(p, seen)
				e.does(p, player.Ran{Task: r.Task})
				return
			}
			break
		}
		if w, is := r.plan.(discovery.SendObserver); is {
			w.Asked(probe.Server)
		}
		result := discovery.Result{Server: probe.Server, Phase: probe.Phase, State: discovery.Lost, At: e.Now.Sub(r.Began)}
		if choice := e.upTo(255); choice%16 > 0 {
			result.State, result.RTT = discovery.Answered, wire.RoundRTT(time.Duration(1+choice)*time.Millisecond)
			result.Info = &discovery.Info{Name: "server", Players: choice % 5, MaxPlayers: 8, Version: "1.3", Protocol: 41 - probe.Server%4/3}
		}
		r.plan.Observe(result)
		seen.Results = append(seen.Results, result)
	}
	e.does(p, seen)
}

// ticks gives the programs the time, and the messages on their lines.
func (e *fuzzSession) ticks() {
	for _, name := range e.honest {
		p := e.programs[name]
		if p == nil {
			continue
		}
		if e.hear(p); !p.Next().After(e.Now) {
			e.does(p, player.Tick{})
		}
		e.hear(p)
	}
}

// around returns the servers that somebody finds on their own network.
func (e *fuzzSession) around() (servers []wire.NearServer) {
	for range e.upTo(3) {
		servers = append(servers, wire.NearServer{
			Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 9, 0, byte(5 + e.upTo(2))}), 27960),
			Info: discovery.Info{Name: e.name()},
		})
	}
	return servers
}

// credential returns the credential of somebody's page.
func (e *fuzzSession) credential(name string) string {
	if page := e.pages[name]; page != "" && slices.Contains(e.players(), name) {
		return page
	}
	return "page of " + name
}

// happens makes one thing happen.
func (e *fuzzSession) happens() {
	page := func(a room.Action) { e.step(room.Order{Credential: e.credential(e.name()), Action: a}) }
	organiser := func(a room.Action) { e.step(room.Order{Credential: "secret", Action: a}) }
	rule := func() room.WhatIf {
		return room.WhatIf(fmt.Sprintf(`{"by":%q,"limits_ms":[1000]}`, selection.Rules()[e.upTo(len(selection.Rules())-1)]))
	}
	switch e.upTo(30) {
	case 29, 30:
		e.stands(page, organiser)
	case 27, 28:
		e.rests()
	case 0, 1:
		e.joins(e.name())
	case 2, 3, 4, 5, 6:
		e.speaks(e.name())
	case 7, 8:
		longest := []int{2, 60}[e.upTo(1)]
		for left := time.Duration(e.upTo(longest)) * time.Second; left >= 0; left -= outage.LateStep {
			e.wait(min(left, outage.LateStep)) // more at once would pass for a pause of the host
		}
	case 9:
		e.step(room.Proceed{})
	case 10:
		e.step(room.Leave{Player: people.ID(e.name())})
	case 11:
		e.isListed()
	case 12:
		name := e.name()
		e.step(room.Order{Action: room.Enter{Name: name, Token: "page of " + name, Origin: berlin}})
		e.step(room.PageOpened{Token: "page of " + name})
		organiser(room.Count{Name: name, Counted: true})
	case 13:
		page(room.Vote{Addr: hostport.At(addrOf(e.server()))})
	case 14:
		server := e.server()
		page(room.Veto{Addr: hostport.At(addrOf(server))})
		switch one := []wire.Brought{{Addr: hostport.At(addrOf(server)), Name: "server"}}; e.Now.Second() % 5 {
		case 1:
			page(room.Bring{Favourites: one, Adds: true})
		case 2:
			page(room.Bring{Hidden: one})
		case 3:
			organiser(room.Hide{Addr: hostport.At(addrOf(server)), Hidden: e.Now.Minute()%2 == 0})
		case 4:
			organiser(room.Strike{Addr: hostport.At(addrOf(server))})
		}
	case 15:
		page(room.Ready{Ready: e.upTo(1) > 0})
	case 16:
		name := e.name()
		if e.Now.Second()%3 == 0 { // by chance alone, so that inputs found before keep their meaning
			organiser(room.Without{Name: name})
		} else {
			organiser(room.Remove{Name: name})
		}
	case 17:
		organiser(room.Trust{Name: e.name()})
		if e.Now.Second()%3 == 0 {
			organiser(room.Allow{LimitMS: 180})
		} else if e.Now.Second()%3 == 1 {
			organiser(room.More{Servers: 200})
		}
	case 18:
		organiser(rule())
		organiser(room.Apply{})
	case 19:
		for _, name := range everybody {
			e.parts(name)
		}
		e.GoesOnWith(restored(e, e.Room))
		e.step(room.Resume{})
	case 20, 21:
		e.takesSides(page, organiser)
		e.everyoneMeasures()
	case 22, 23:
		e.takesSides(page, organiser)
		e.everyoneLooks()
		e.takesSides(page, organiser)
	case 24:
		e.changesWhoIsWho(page, organiser)
		e.takesSides(page, organiser)
	case 25:
		organiser(room.Change{Settings: []byte(fmt.Sprintf(`{"agree":%v,"players":%d}`, e.upTo(1) > 0, e.upTo(4)))})
		versions := []string{`{"any_version":true}`, `{"any_version":false}`, `{"version":"1.3"}`, `{"version":"41"}`,
			`{"version":""}`, `{"mod":"x"}`, `{"mod":"","tags":"-old"}`}
		organiser(room.Change{Settings: []byte(versions[e.upTo(len(versions)-1)])})
		if times := []string{`{"prefer_ms":15}`, `{"prefer_ms":0}`, `{"long_look_ms":30000}`, `{"long_look_ms":0}`}; e.Now.Second()%2 == 0 {
			organiser(room.Change{Settings: []byte(times[e.Now.Second()/2%len(times)])})
		}
	case 26:
		page(rule())
		organiser(room.Started{Game: "openarena", Addr: hostport.At(addrOf(e.upTo(1)))})
		organiser(room.Change{
			Settings:  []byte([]string{`{"places":"A, 192.0.2.1\nC, 192.0.2.2"}`, `{"places":"none"}`}[e.upTo(1)]),
			MaxPlaces: 2,
		})
		switch e.Now.Second() % 6 {
		case 0, 1:
			organiser(room.AwaitSeats{})
		case 2:
			organiser(room.AwaitSeats{Addr: hostport.At(addrOf(e.Now.Minute() % 4))})
		case 3:
			organiser(room.AwaitSeats{Names: []string{everybody[e.Now.Minute()%len(everybody)]}})
		case 4:
			organiser(room.Unwait{Instead: e.Now.Minute()%2 == 0})
		}
		if e.Now.Second()%7 == 0 {
			organiser(room.Change{Settings: []byte(`{"wait_ms":120000}`)})
		}
	}
	if e.upTo(2) > 0 { // else the lines are slow
		e.ticks()
	}
}

// takesSides changes something about the sides of a match, by chance of the time alone, so that
// inputs found before keep their meaning.
func (e *fuzzSession) takesSides(page, organiser func(room.Action)) {
	m := e.view().Match
	if m == nil {
		organiser(room.TakeSide{Side: wire.SideA, Name: everybody[0]})
		return
	}
	chance := int(e.Now.UnixMilli()/100) + len(e.choices)
	name, side := everybody[chance%len(everybody)], []wire.Side{wire.SideA, wire.SideB, ""}[chance/4%3]
	page(room.TakeSide{Side: side})
	organiser(room.TakeSide{Side: []wire.Side{wire.SideA, wire.SideB}[chance%2], Name: name})
	page(room.TakeSide{Side: side, Name: name})
	page(room.NameCaptain{Name: name})
	if chance%3 == 0 {
		page(room.AskLook{})
		page(room.EvenPings{On: true})
	}
	if m = e.view().Match; m.Turn == nil {
		return
	}
	for _, camp := range m.Camps {
		if token := e.pages[camp.Captain]; token != "" {
			what := "dm17"
			if at := chance % max(1, len(m.Servers)); m.Turn.Of == wire.OfServer && at < len(m.Servers) {
				what = m.Servers[at].Addr
			}
			e.step(room.Order{Credential: token, Action: room.Move{Number: m.Turn.Number - chance%2, What: what}})
		}
	}
}

// joins brings a player in, or back in.
func (e *fuzzSession) joins(name string) {
	from := room.Origin{Addr: netip.AddrFrom4([4]byte{203, 0, 113, byte(e.upTo(1))}), Country: "DE", ASN: berlin.ASN}
	if e.upTo(1) > 0 {
		from.Near = netip.MustParseAddr("10.9.0.2")
	}
	if slices.Contains(e.honest, name) {
		e.connects(name, from)
		return
	}
	hello := wire.Hello{Version: wire.Version, Code: e.Room.Keys().Code, Name: name, Token: "token of " + name, Editions: editionsOf[name]}
	hello.Side = []wire.Side{wire.SideA, wire.SideB, ""}[len(e.choices)%3]
	hello.Browser, hello.Beacon = len(e.choices)%4 == 1, uint16(len(e.choices)%5%2)
	if name == "cat" {
		hello.Discreet = wire.MinDiscreet
	}
	e.step(room.Join{Hello: hello, From: from, Token: hello.Token})
}

// speaks lets a player's program do some of its work. If the program is not a real one, it sends
// anything.
func (e *fuzzSession) speaks(name string) {
	switch p := e.programOf(name); {
	case p != nil:
		e.hear(p)
		e.asks(p, e.upTo(20))
		e.hear(p)
	case e.Here[name]:
		if e.step(room.Hear{Player: people.ID(name), Message: e.message(name)}) != nil {
			e.step(room.Leave{Player: people.ID(name)})
		}
	}
}

func (e *fuzzSession) wait(d time.Duration) {
	e.Now = e.Now.Add(d)
	e.step(room.Tick{})
	e.ticks()
	if e.Waits && e.Now.Second()%4 == 0 {
		e.Waits = false
		e.step(room.Turn{})
	}
}

// stands turns a room into a standing one, and does what people do there.
func (e *fuzzSession) stands(page, organiser func(room.Action)) {
	said := []*bool{nil, new(bool)}[e.upTo(1)]
	switch e.upTo(8) {
	case 0, 1:
		every := []string{"fri 20:00 Europe/Berlin", "whenever", "2027-01-15 20:00 UTC", ""}[e.upTo(3)]
		organiser(room.Change{Settings: []byte(fmt.Sprintf(`{"every":%q}`, every))})
	case 2, 3:
		if e.Room.Use(e.Now).IsStanding { // or it would be over
			organiser(room.End{})
		}
	case 4:
		page(room.Wake{})
	case 5:
		page(room.Come{Comes: said})
	case 6:
		page(room.Like{Liked: said})
	case 7:
		page(room.Forget{})
	case 8:
		if !e.Room.Snapshot().Room.Ended.IsZero() {
			e.wait(max(0, e.Room.Next().Sub(e.Now)))
		}
	}
}

// changesWhoIsWho lets people come, go and change their names.
func (e *fuzzSession) changesWhoIsWho(page, organiser func(room.Action)) {
	switch e.upTo(7) {
	case 0:
		page(room.Arrived{})
		page(room.Has{Version: "1.3"})
		page(room.Count{Name: e.name(), Counted: false})
	case 1, 2:
		page(room.Rename{Name: e.name()})
		page(room.React{Sign: "hello"})
	case 3:
		page(room.Quit{})
	case 4:
		organiser(room.HandOn{Name: e.name(), Secret: "secret"})
	case 5:
		organiser(room.Renew{Secret: "secret"})
	case 6:
		name := e.name()
		if slices.Contains(e.honest, name) {
			break // its program sends no such thing by itself
		}
		hello := wire.Hello{Version: wire.Version, Name: name, As: []string{"secret", roster.TicketOf("page of " + e.name())}[e.upTo(1)]}
		e.step(room.Join{Hello: hello, Token: "token of " + name})
	case 7:
		e.step(room.PageClosed{Token: "page of " + e.name()})
	}
}

// isListed answers the room's requests to its driver.
func (e *fuzzSession) isListed() {
	if e.fetches {
		e.fetches = false
		servers := e.upTo(fuzzServers)
		if e.upTo(3) == 0 {
			servers = 500 + 1 // the group searches it together, if the settings say so
		}
		local := []room.LocalServer{hidden, shown}[e.upTo(1):]
		local = local[:e.upTo(len(local))]
		e.step(room.Listed{
			List:  topology.New(room.Shared(listOf(servers), local)),
			Local: local,
			Said:  said(e.Now, time.Duration(servers)*time.Minute, 16, 3, 16),
		})
	}
}

// everyoneMeasures moves a session on, which chance alone seldom does.
func (e *fuzzSession) everyoneMeasures() {
	e.isListed()
	shown := e.view().Room
	infos, report := wire.Infos{Round: shown.Round}, wire.Report{Round: shown.Round}
	for server := range shown.Listed {
		rtt := wire.RoundRTT(time.Duration(e.upTo(255)) * time.Millisecond)
		report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Answered, RTT: rtt})
		infos.Servers = append(infos.Servers, wire.ServerInfo{
			Server: server,
			Info:   discovery.Info{Players: 1, MaxPlayers: 8, Version: "1.3", Protocol: 41 - server%4/3},
		})
	}
	for _, name := range e.players() {
		if p := e.programOf(name); p != nil {
			e.hear(p)
			for range 4 { // runs
				e.asks(p, shown.Listed+1)
			}
			continue
		}
		for _, message := range []wire.Message{infos, report, wire.Done{Round: shown.Round}} {
			if err := e.step(room.Hear{Player: people.ID(name), Message: message}); err != nil {
				e.Fatalf("an honest %T is refused: %v", message, err)
			}
		}
	}
	e.wait(player.RealPace.Flush)
}

func (e *fuzzSession) everyoneLooks() {
	for _, name := range e.players() {
		look := e.looks[name]
		if e.programOf(name) != nil || look.Round != e.number() {
			continue
		}
		verified := wire.Verified{Round: look.Round, Attempt: look.Attempt}
		for _, server := range look.Servers {
			info := discovery.Info{Players: e.upTo(4), MaxPlayers: 8}
			verified.Servers = append(verified.Servers, wire.Finalist{
				Server: server,
				State:  discovery.Answered,
				RTTs:   []float64{50},
				Sent:   3,
				Info:   &info,
			})
		}
		if err := e.step(room.Hear{Player: people.ID(name), Message: verified}); err != nil {
			e.Fatalf("an honest look is refused: %v", err)
		}
	}
	for range 8 { // several samples of a real program
		for _, name := range e.honest {
			if p := e.programs[name]; p != nil && p.isHere {
				e.asks(p, 30)
			}
		}
		e.wait(player.RealPace.Sample / 2)
	}
}

// message returns anything that a frame can carry.
func (e *fuzzSession) message(name string) wire.Message {
	round := e.number()
	switch e.upTo(10) {
	case 10:
		return wire.Outside{Port: uint16(1 + e.upTo(1))}
	case 9:
		surveyed := wire.Surveyed{Attempt: e.attempts[name] - e.upTo(1), More: len(e.choices)%4 == 0}
		for range e.upTo(3) {
			found := wire.Finalist{Server: e.upTo(2), State: discovery.State(e.upTo(3)), Sent: 3}
			if found.State == discovery.Answered {
				found.RTTs = []float64{float64(e.upTo(255))}
			}
			surveyed.Places = append(surveyed.Places, found)
		}
		return surveyed
	case 8:
		able := wire.Able{Game: []string{e.Room.Settings().Game, "xonotic", ""}[e.upTo(2)]}
		able.Why = sentence.Plain([]string{"", "there is no program openarena", "it lacks its data"}[e.upTo(2)])
		return able
	case 7:
		return wire.Near{Game: "openarena", Servers: e.around()}
	case 0, 1, 2:
		report := wire.Report{Round: round}
		for range e.upTo(fuzzServers) {
			result := discovery.Result{Server: e.server(), State: discovery.State(1 + e.upTo(2))}
			if result.State == discovery.Answered {
				result.RTT = wire.RoundRTT(time.Duration(e.upTo(255)) * time.Millisecond)
			}
			report.Results = append(report.Results, result)
		}
		return report
	case 3:
		info := wire.TidyInfo(discovery.Info{
			Name: "server", Players: e.upTo(8), MaxPlayers: e.upTo(8), Password: e.upTo(1) > 0,
			MaxPing: time.Duration(e.upTo(200)) * time.Millisecond,
		})
		return wire.Infos{Round: round, Servers: []wire.ServerInfo{{Server: e.server(), Info: info}}}
	case 4:
		look := e.looks[name]
		verified := wire.Verified{Round: round, Attempt: look.Attempt}
		for _, server := range look.Servers {
			seen := wire.Finalist{Server: server + e.upTo(8)/8, State: discovery.State(e.upTo(3)), Sent: 3}
			if seen.State == discovery.Answered {
				seen.RTTs = []float64{float64(e.upTo(255)), float64(e.upTo(255))}
			}
			verified.Servers = append(verified.Servers, seen)
		}
		return verified
	case 5:
		return wire.Launched{Round: round, State: wire.LaunchStarted}
	}
	switch e.upTo(15) {
	case 14:
		return wire.Late{By: discovery.Millis(time.Duration(e.upTo(200)) * time.Millisecond)}
	case 7, 15:
		return wire.Rests{Round: round, For: discovery.Millis(time.Duration(e.upTo(80)) * time.Second)}
	}
	return wire.Done{Round: round}
}

// isSound requires that the room can be shown, saved and read back whole, and has nobody twice.
func (e *fuzzSession) isSound() {
	e.Helper()
	shown := e.view()
	if data, err := json.Marshal(shown); err != nil || bytes.Contains(data, []byte(`"\u0001`)) {
		e.Fatalf("everybody sees an ID, or %v:\n%s", err, data)
	}
	s, err := saved.Read([]byte(e.keeps()))
	if err != nil {
		e.Fatal(err)
	}
	if shown.Room.Listed < 100 { // or this takes long
		restored(e, e.Room)
	}
	organisers, names := 0, []string{}
	for _, p := range s.Roster.Players {
		names = append(names, p.Name)
	}
	for _, p := range s.Roster.Guests {
		names = append(names, p.Name)
	}
	for i, name := range names {
		if slices.ContainsFunc(names[:i], func(other string) bool { return nickname.Alike(other, name) }) {
			e.Fatalf("%s is not the only one of %v", name, names)
		}
	}
	for _, p := range shown.People {
		organisers += count(p.Organiser)
		if !slices.Contains(names, p.Name) || organisers > 1 || p.Peer && e.pages[p.Name] == "" {
			e.Fatalf("%s is one of %+v, and not of %v", p.Name, shown.People, names)
		}
		if p.Answered > p.Probed || p.Probed > shown.Room.Listed {
			e.Fatalf("%s has %d answers of %d servers of %d", p.Name, p.Answered, p.Probed, shown.Room.Listed)
		}
	}
	var players []string
	for _, p := range s.Players {
		players = append(players, e.Room.Names().Of(p.ID))
	}
	if !slices.Equal(players, e.players()) || !slices.Equal(players, names[:len(players)]) {
		e.Fatalf("the roster has %v, the round %v, and the page %v", names, players, e.players())
	}
	e.Room.History()
	e.Room.View().Record.Culled()
}

// ends lets all leave. Only people who vote may take their time.
func (e *fuzzSession) ends() {
	e.Helper()
	e.isListed()
	for _, name := range e.players() {
		e.step(room.Leave{Player: people.ID(name)})
	}
	for range (outage.LongestAbsence + 10*time.Minute) / outage.LateStep {
		switch e.Room.Stage() {
		case wire.Gathering, wire.Launching, wire.Failed, wire.Waiting: // the scenarios patience.txt and instead.txt have the end of that
			return
		case wire.Refining:
			if e.view().Places != nil { // it waits for people, as a group that gathers does
				return
			}
		case wire.Chosen:
			if shown := e.view(); shown.Voting.Open && shown.Voting.LaunchAt.IsZero() {
				return
			}
		}
		e.wait(outage.LateStep)
	}
	e.Errorf("ten minutes after everybody was given up the room is still %s", e.Room.Stage())
}

// hasTwin stops the host when all are away. The room that it reads then must show and send the same
// as the one that it had, when all are back and in the next round.
func (e *fuzzSession) hasTwin() {
	e.Helper()
	if e.view().Room.Strategy == wire.Coordinated {
		return // a new search asks other questions
	}
	for _, name := range e.players() {
		e.step(room.Leave{Player: people.ID(name)})
	}
	for token, times := range e.open {
		for range times {
			e.step(room.PageClosed{Token: token})
		}
	}
	rooms := [2]*room.Room{e.Room, restored(e, e.Room)}
	var servers int
	asks, looks := false, map[string]wire.Finalists{}
	both := func(in room.Input) {
		var did [2]string
		for i, r := range rooms {
			outputs, err := r.Step(in, roomtest.At(e.Now, 0))
			did[i] = fmt.Sprint(r.Stage(), " ", err)
			for _, o := range outputs {
				switch o := o.(type) {
				case room.Send:
					frame, err := wire.Marshal(o.Message)
					did[i] += fmt.Sprintf("\n%T to %s: %x %v", o.Message, o.To, frame.Data, err)
					if look, is := o.Message.(wire.Finalists); is {
						looks[string(o.To)] = look
					}
				case room.Fetch:
					asks = true
				case room.Plan:
				default:
					data, err := json.Marshal(o)
					did[i] += fmt.Sprintf("\n%T %s %v", o, data, err)
				}
			}
		}
		if is, was := roomtest.Differ(e, did[1], did[0]); is != was {
			e.Fatalf("a room that was restored comes by a %T to %s; the other to %s\n%s", in, is, was, did[0])
		}
	}
	both(room.Resume{})
	for second := range 60 {
		e.Now = e.Now.Add(time.Second)
		both(room.Tick{})
		round := rooms[0].Snapshot().Room.Round
		switch second {
		case 1:
			for _, name := range everybody {
				both(room.Join{
					Hello: wire.Hello{Version: wire.Version, Code: rooms[0].Keys().Code, Name: name, Token: "token of " + name},
					Token: "token of " + name,
				})
			}
		case 3, 20:
			both(room.Proceed{})
		}
		if asks {
			asks, servers = false, 7
			both(room.Listed{List: topology.New(room.Shared(listOf(servers), nil))})
		}
		for i, name := range e.players() {
			if look, is := looks[name]; is {
				delete(looks, name)
				v := wire.Verified{Round: look.Round, Attempt: look.Attempt}
				for _, server := range look.Servers {
					v.Servers = append(v.Servers, wire.Finalist{Server: server, State: discovery.Answered, RTTs: []float64{float64(30 + server)}, Sent: 3})
				}
				both(room.Hear{Player: people.ID(name), Message: v})
			}
			if second%5 == 4 && servers > 0 {
				infos, report := wire.Infos{Round: round}, wire.Report{Round: round}
				for server := range servers {
					infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{Players: 1, MaxPlayers: 16}})
					report.Results = append(report.Results, discovery.Result{
						Server: server,
						State:  discovery.Answered,
						RTT:    time.Duration(20+5*server+i) * time.Millisecond,
					})
				}
				both(room.Hear{Player: people.ID(name), Message: infos})
				both(room.Hear{Player: people.ID(name), Message: report})
				both(room.Hear{Player: people.ID(name), Message: wire.Done{Round: round}})
			}
		}
	}
}

// FuzzRestore reads rooms that anything may have written: an older program, a failing disk,
// somebody's editor. If the bytes pass for a room, it can be shown and saved again, and goes on.
func FuzzRestore(f *testing.F) {
	golden, err := os.ReadFile("testdata/room-1.json")
	if err != nil {
		f.Fatal(err)
	}
	for at := range uint16(40) {
		f.Add(golden, 7*at, []byte(`-1`))
		f.Add(golden, 7*at, []byte(`null`))
	}
	for seed := range uint64(4) {
		e := newFuzzSession(&testing.T{}, randomChoices(seed))
		e.Room = room.New(room.Keys{Code: "BAKODI", Secret: "secret"}, settings(2), e.Now)
		for len(e.choices) > 0 {
			e.happens()
		}
		f.Add(roomtest.Saved(f, e.Room), uint16(seed), []byte(`{"x":[1e9,"y"]}`))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint16, value []byte) {
		data = withValue(data, int(at), value)
		r, err := room.Restore(data, topology.New)
		if err != nil {
			return
		}
		if _, err := json.Marshal(r.Snapshot()); err != nil {
			t.Fatal(err)
		}
		r = restored(t, r) // as this program writes it
		same(t, r, restored(t, r))
		e := newFuzzSession(t, nil)
		e.Room, e.Now = r, r.Snapshot().Room.Since.Add(time.Second)
		e.step(room.Resume{})
		e.ends()
	})
}

// withValue returns a document with another value at one of its places, if both are JSON. A fuzzer
// that changes bytes hardly ever finds a whole document.
func withValue(data []byte, at int, value []byte) []byte {
	var document, other any
	if json.Unmarshal(data, &document) != nil || json.Unmarshal(value, &other) != nil {
		return data
	}
	var change func(v any) any
	change = func(v any) any {
		if at--; at == 0 {
			return other
		}
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				v[key] = change(v[key])
			}
		case []any:
			for i := range v {
				v[i] = change(v[i])
			}
		}
		return v
	}
	changed, err := json.Marshal(change(document))
	if err != nil {
		return data
	}
	return changed
}
