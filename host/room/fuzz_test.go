package room

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/topology"
	"muster/host/room/nickname"
	"muster/host/room/outage"
	"muster/host/room/roster"
	"muster/host/wire"
	"muster/selection"
)

// FuzzRoom plays evenings in which anybody does anything at any time, as far as
// a frame can carry it. The room neither panics nor gets stuck with a state that
// cannot be shown, or saved and read back; and when all have left it waits for
// nothing for ever.
func FuzzRoom(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(randomChoices(seed))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		const most = 1000 // the fuzzer takes an evening of 10,000 for a hung one
		e := &evening{T: t, choices: choices[:min(len(choices), most)], now: time.Unix(1_800_000_000, 0).UTC(), busy: len(choices)%3 == 0}
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
		s.Places = venues([]string{"A", "B"}[:e.upTo(2)]...)
		e.room = New(Keys{Code: "BAKODI", Link: "the link's key", Secret: "secret"}, s, e.now)
		for n := 0; len(e.choices) > 0; n++ {
			e.happens()
			e.isSound()
			if n%4 == 0 { // to compare rooms takes longer than all else
				same(t, e.room, restored(t, e.room))
			}
		}
		same(t, e.room, restored(t, e.room))
		e.ends()
	})
}

func randomChoices(seed uint64) []byte {
	choices := make([]byte, 300)
	for random, i := rand.New(rand.NewPCG(seed, 0)), 0; i < len(choices); i++ {
		choices[i] = byte(random.Uint32())
	}
	return choices
}

// evening is a room and what is still to happen there.
type evening struct {
	*testing.T
	choices []byte
	now     time.Time
	room    *Room
	fetches bool
	// told is how many servers each player was told will see the address at most, 0 for all,
	// and shown are those that do, in the round.
	told  map[string]int
	shown map[string]map[int]bool
	round int
	// busy: the host seldom has the processor time for which the room waits, if it plans.
	busy, plans bool
}

// upTo is the next choice, from 0 to most.
func (e *evening) upTo(most int) int {
	if len(e.choices) == 0 {
		return 0
	}
	n := int(e.choices[0]) % (most + 1)
	e.choices = e.choices[1:]
	return n
}

var everybody = []string{"ann", "bob", "cat", "dan"}

// editionsOf are what some of them have of the game.
var editionsOf = map[string]map[string]discovery.Edition{
	"bob": {"": {Version: "5.6", Protocol: 41}}, "dan": {"openarena": {Version: "1.2"}, "xonotic": {Version: "3"}},
}

func (e *evening) name() string { return everybody[e.upTo(len(everybody)-1)] }

const eveningServers = 12

func (e *evening) server() int { return e.upTo(eveningServers + 1) }

// rests has the time pass until something else happens, or the room needs the time:
// nothing comes of a tick meanwhile, but that a pause lasts, nor does it harm that there
// was none.
func (e *evening) rests() {
	e.Helper()
	next := e.room.Next()
	const justBefore = time.Millisecond // as times travel
	if !next.After(e.room.now.Add(justBefore)) || e.room.now.IsZero() {
		return
	}
	before, revision := e.saved(), e.room.revision
	at := earlier(next.Add(-justBefore), e.now.Add(time.Duration(e.upTo(255))*time.Minute))
	outputs, err := e.room.Step(Tick{}, at)
	isSame := e.room.Snapshot().Room.Paused || e.saved() == before
	if e.now = at; len(outputs) > 0 || err != nil || !isSame || e.room.revision != revision {
		e.Fatalf("the %s room said that it needs no time until %v; at %v a tick comes to %v, and\n%s\nbecomes\n%s", e.room.Stage(), next, at, outputs, before, e.saved())
	}
}

func (e *evening) saved() string {
	data, err := e.room.Save()
	if err != nil {
		e.Fatal(err)
	}
	return string(data)
}

// step fetches no list yet: see isListed. What the room refuses, it refuses.
// exposes: no more servers see a player's address in a round than the player was told before.
func (e *evening) exposes(o Send) {
	e.Helper()
	if round := e.room.round.number; e.round != round || e.told == nil {
		e.round, e.told, e.shown = round, map[string]int{}, map[string]map[int]bool{}
	}
	show := func(most int, servers []int) {
		if e.shown[o.To] == nil {
			e.shown[o.To] = map[int]bool{}
		}
		for _, server := range servers {
			e.shown[o.To][server] = true
		}
		if most > 0 && len(e.shown[o.To]) > most {
			e.Fatalf("%d servers see the address of %s, who was told of %d", len(e.shown[o.To]), o.To, most)
		}
	}
	switch m := o.Message.(type) {
	case wire.Measure:
		if before, told := e.told[o.To]; told && m.Most > 0 && (before == 0 || m.Most < before) {
			e.Fatalf("%s was told of %d servers, and then of %d", o.To, before, m.Most)
		}
		e.told[o.To] = m.Most
	case wire.Ask:
		show(e.told[o.To], m.Servers)
	case wire.Finalists:
		if m.Most > 0 {
			e.told[o.To] = m.Most
		}
		show(e.told[o.To], m.Servers)
	}
}

func (e *evening) step(in Input) error {
	e.Helper()
	before, phase := names(e.room.round.players), e.room.phase
	outputs, err := e.room.Step(in, e.now)
	saved := false
	for at, o := range outputs {
		switch o := o.(type) {
		case Save:
			saved = true
			if at > 0 {
				e.Fatalf("saved after %T", outputs[0])
			}
		case Admit:
			if !saved && !slices.Contains(before, o.Player) {
				e.Fatalf("%s has a place that is not kept", o.Player)
			}
		case Fetch:
			e.fetches = true
		case Announce:
			if o.Announcement.Text == "" || e.room.settings.Webhook == "" {
				e.Fatalf("the world is told %+v", o.Announcement)
			}
		case Plan:
			if e.plans {
				e.Fatal("the room asks for two turns")
			}
			if e.plans = e.busy; !e.busy {
				defer e.step(Turn{})
			}
		case Send:
			e.canBeSent(o)
			e.exposes(o)
			if launch, is := o.Message.(wire.Launch); is && !saved && e.room.phase != phase {
				e.Fatalf("all are sent to %s, which is not kept", launch.Address)
			}
		}
	}
	return err
}

// canBeSent: what the room says goes to who is here, and they can read it.
func (e *evening) canBeSent(s Send) {
	e.Helper()
	frame, err := wire.Marshal(s.Message)
	if err == nil {
		_, err = wire.Unmarshal(frame)
	}
	if err != nil || s.To != "" && e.room.round.player(s.To) == nil {
		e.Fatalf("a %T to %q: %v", s.Message, s.To, err)
	}
}

// happens has one thing happen.
func (e *evening) happens() {
	r := e.room
	page := func(a Action) {
		name := e.name()
		credential := "page of " + name
		if p := r.round.player(name); p != nil {
			credential = r.roster.PageOf(p.name)
		}
		e.step(Order{Credential: credential, Action: a})
	}
	organiser := func(a Action) { e.step(Order{Credential: "secret", Action: a}) }
	rule := func() WhatIf {
		return WhatIf(fmt.Sprintf(`{"by":%q,"limits_ms":[1000]}`, selection.Rules()[e.upTo(len(selection.Rules())-1)]))
	}
	switch e.upTo(30) {
	case 29, 30:
		e.stands(page, organiser)
	case 27, 28:
		e.rests()
	case 0, 1:
		name := e.name()
		hello := wire.Hello{Version: wire.Version, Code: r.Keys().Code, Name: name, Token: "token of " + name}
		if name == "cat" {
			hello.Discreet = wire.LeastDiscreet
		}
		hello.Editions = editionsOf[name]
		from := Origin{Addr: netip.AddrFrom4([4]byte{203, 0, 113, byte(e.upTo(1))}), Country: "DE", ASN: berlin.ASN}
		if e.upTo(1) > 0 {
			from.Near = netip.MustParseAddr("10.9.0.2")
		}
		e.step(Join{hello, from, hello.Token})
	case 2, 3, 4, 5, 6:
		if p := r.round.player(e.name()); p != nil && r.round.attendance.Of(p.name).Here {
			if e.step(Hear{p.name, e.message()}) != nil {
				e.step(Leave{p.name})
			}
		}
	case 7, 8:
		longest := []int{2, 60}[e.upTo(1)]
		for left := time.Duration(e.upTo(longest)) * time.Second; left >= 0; left -= outage.LateStep {
			e.wait(min(left, outage.LateStep)) // more at once would be taken for a pause of the host's
		}
	case 9:
		e.step(Proceed{})
	case 10:
		e.step(Leave{e.name()})
	case 11:
		e.isListed()
	case 12:
		name := e.name()
		e.step(Order{Action: Enter{Name: name, Token: "page of " + name, Origin: berlin}})
		e.step(PageOpened{"page of " + name})
		organiser(Count{name, true})
	case 13:
		page(Vote{addr(e.server())})
	case 14:
		server := e.server()
		page(Veto{Addr: addr(server)})
		switch one := []wire.Brought{{Addr: addr(server), Name: "server"}}; e.now.Second() % 5 {
		case 1:
			page(Bring{Favourites: one, Adds: true})
		case 2:
			page(Bring{Hidden: one})
		case 3:
			organiser(Hide{addr(server), e.now.Minute()%2 == 0})
		case 4:
			organiser(Strike{addr(server)})
		}
	case 15:
		page(Ready{e.upTo(1) > 0})
	case 16:
		name := e.name()
		if e.now.Second()%3 == 0 { // what chance alone has already decided, lest what was found before means something else
			organiser(Without{name})
		} else {
			organiser(Remove{name})
		}
	case 17:
		organiser(Trust{e.name()})
		if e.now.Second()%3 == 0 {
			organiser(Allow{LimitMS: 180})
		} else if e.now.Second()%3 == 1 {
			organiser(More{Servers: 200})
		}
	case 18:
		organiser(rule())
		organiser(Apply{})
	case 19:
		e.room, e.plans = restored(e.T, r), false
		e.step(Resume{})
	case 20, 21:
		e.everyoneMeasures()
	case 22, 23:
		e.everyoneLooks()
	case 24:
		e.changesWhoIsWho(page, organiser)
	case 25:
		organiser(Change{Settings: []byte(fmt.Sprintf(`{"agree":%v,"players":%d}`, e.upTo(1) > 0, e.upTo(4)))})
		versions := []string{`{"any_version":true}`, `{"any_version":false}`, `{"version":"1.3"}`, `{"version":"41"}`, `{"version":""}`, `{"mod":"x"}`, `{"mod":"","tags":"-old"}`}
		organiser(Change{Settings: []byte(versions[e.upTo(len(versions)-1)])})
		if times := []string{`{"prefer_ms":15}`, `{"prefer_ms":0}`, `{"long_look_ms":30000}`, `{"long_look_ms":0}`}; e.now.Second()%2 == 0 {
			organiser(Change{Settings: []byte(times[e.now.Second()/2%len(times)])})
		}
	case 26:
		page(rule())
		organiser(Survey{})
		organiser(Started{Game: "openarena", Addr: addr(e.upTo(1))})
		organiser(Change{Settings: []byte([]string{`{"places":"A, 192.0.2.1\nC, 192.0.2.2"}`, `{"places":"none"}`}[e.upTo(1)]), MostPlaces: 2})
		switch e.now.Second() % 6 {
		case 0, 1:
			organiser(AwaitSeats{})
		case 2:
			organiser(AwaitSeats{Addr: addr(e.now.Minute() % 4)})
		case 3:
			organiser(AwaitSeats{Names: []string{everybody[e.now.Minute()%len(everybody)]}})
		case 4:
			organiser(Unwait{Instead: e.now.Minute()%2 == 0})
		}
		if e.now.Second()%7 == 0 {
			organiser(Change{Settings: []byte(`{"wait_ms":120000}`)})
		}
	}
}

func (e *evening) wait(d time.Duration) {
	e.now = e.now.Add(d)
	e.step(Tick{})
	if e.plans && e.now.Second()%4 == 0 {
		e.plans = false
		e.step(Turn{})
	}
}

// stands has a room stay, and what is done in one that does.
func (e *evening) stands(page, organiser func(Action)) {
	said := []*bool{nil, new(bool)}[e.upTo(1)]
	switch e.upTo(8) {
	case 0, 1:
		every := []string{"fri 20:00 Europe/Berlin", "whenever", "2027-01-15 20:00 UTC", ""}[e.upTo(3)]
		organiser(Change{Settings: []byte(fmt.Sprintf(`{"every":%q}`, every))})
	case 2, 3:
		if e.room.Use(e.now).IsStanding { // or it would be over
			organiser(End{})
		}
	case 4:
		page(Wake{})
	case 5:
		page(Come{said})
	case 6:
		page(Like{said})
	case 7:
		page(Forget{})
	case 8:
		if e.room.calendar.IsAsleep() {
			e.wait(max(0, e.room.Next().Sub(e.now)))
		}
	}
}

// changesWhoIsWho has people come, go and be called otherwise.
func (e *evening) changesWhoIsWho(page, organiser func(Action)) {
	switch e.upTo(7) {
	case 0:
		page(Arrived{})
		page(Has{Version: "1.3"})
		page(Count{e.name(), false})
	case 1, 2:
		page(Rename{e.name()})
	case 3:
		page(Quit{})
	case 4:
		organiser(HandOn{e.name(), "secret"})
	case 5:
		organiser(Renew{"secret"})
	case 6:
		name := e.name()
		hello := wire.Hello{Version: wire.Version, Name: name, As: []string{"secret", roster.TicketOf("page of " + e.name())}[e.upTo(1)]}
		e.step(Join{Hello: hello, Token: "token of " + name})
	case 7:
		e.step(PageClosed{"page of " + e.name()})
	}
}

// isListed answers what the room asked its shell for.
func (e *evening) isListed() {
	if e.fetches {
		e.fetches = false
		servers := e.upTo(eveningServers)
		if e.upTo(3) == 0 {
			servers = 500 + 1 // which is searched together, if the settings say so
		}
		local := []LocalServer{hidden, shown}[e.upTo(1):]
		local = local[:e.upTo(len(local))]
		e.step(Listed{List: topology.New(Shared(listOf(servers), local)), Local: local, Said: said(e.now, time.Duration(servers)*time.Minute, 16, 3, 16)})
	}
}

// everyoneMeasures has an evening get on, which chance alone seldom does.
func (e *evening) everyoneMeasures() {
	e.isListed()
	infos := wire.Infos{Round: e.room.round.number}
	report := wire.Report{Round: e.room.round.number}
	for server := range e.room.round.servers.List {
		rtt := wire.RoundRTT(time.Duration(e.upTo(255)) * time.Millisecond)
		report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Answered, RTT: rtt})
		infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{Players: 1, MaxPlayers: 8, Version: "1.3", Protocol: 41 - server%4/3}})
	}
	for _, m := range slices.Clone(e.room.round.players) {
		for _, message := range []wire.Message{infos, report, wire.Done{Round: e.room.round.number}} {
			if err := e.step(Hear{m.name, message}); err != nil {
				e.Fatalf("an honest %T is refused: %v", message, err)
			}
		}
	}
}

// everyoneLooks has the finalists answer everyone.
func (e *evening) everyoneLooks() {
	for _, m := range slices.Clone(e.room.round.players) {
		verified := wire.Verified{Round: e.room.round.number, Attempt: e.room.round.looks.Save().Attempt}
		for _, server := range e.room.round.looks.Servers() {
			info := discovery.Info{Players: e.upTo(4), MaxPlayers: 8}
			verified.Servers = append(verified.Servers, wire.Finalist{Server: server, State: discovery.Answered, RTTs: []float64{50}, Sent: 3, Info: &info})
		}
		if err := e.step(Hear{m.name, verified}); err != nil {
			e.Fatalf("an honest look is refused: %v", err)
		}
	}
}

// message is what a peer's frame can say.
func (e *evening) message() wire.Message {
	round := e.room.round.number
	switch e.upTo(10) {
	case 10:
		return wire.Outside{Port: uint16(1 + e.upTo(1))}
	case 9:
		surveyed := wire.Surveyed{Attempt: e.room.survey.Save().Attempt - e.upTo(1)}
		for range e.upTo(3) {
			found := wire.Finalist{Server: e.upTo(2), State: discovery.State(e.upTo(3)), Sent: 3}
			if found.State == discovery.Answered {
				found.RTTs = []float64{float64(e.upTo(255))}
			}
			surveyed.Places = append(surveyed.Places, found)
		}
		return surveyed
	case 8:
		able := wire.Able{Game: []string{e.room.settings.Game, "xonotic", ""}[e.upTo(2)]}
		able.Why = []string{"", "there is no program openarena", "it lacks its data"}[e.upTo(2)]
		return able
	case 7:
		near := wire.Near{Game: "openarena"}
		for range e.upTo(3) {
			near.Servers = append(near.Servers, wire.NearServer{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 9, 0, byte(5 + e.upTo(2))}), 27960), Info: discovery.Info{Name: e.name()}})
		}
		return near
	case 0, 1, 2:
		report := wire.Report{Round: round}
		for range e.upTo(eveningServers) {
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
		verified := wire.Verified{Round: round}
		verified.Attempt = e.room.round.looks.Save().Attempt
		for _, server := range e.room.round.looks.Servers() {
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

// isSound: the room can be shown, and saved and read back, and counts right.
func (e *evening) isSound() {
	e.Helper()
	if err := e.room.isWhole(); err != nil {
		e.Fatal(err)
	}
	for _, p := range e.room.round.players {
		probed, answered := 0, 0
		for server := range p.witness.Servers() {
			probed += count(p.witness.At(server).State.Asked())
			answered += count(p.witness.At(server).State == discovery.Answered)
		}
		if saidProbed, saidAnswered := p.witness.Progress(); saidProbed != probed || saidAnswered != answered {
			e.Fatalf("%s has %d results, %d of them answers, and is said to have %d and %d", p.name, probed, answered, saidProbed, saidAnswered)
		}
	}
	if _, err := json.Marshal(e.room.Snapshot()); err != nil {
		e.Fatal(err)
	}
	organisers := 0
	people, players := slices.Collect(e.room.roster.People()), []string{}
	for i, p := range people {
		organisers += count(p.IsOrganiser)
		if p.IsPlayer {
			players = append(players, p.Name)
		}
		isTaken := slices.ContainsFunc(people[:i], func(other roster.Person) bool { return nickname.Alike(other.Name, p.Name) })
		if isTaken || organisers > 1 || e.room.roster.PageOf(p.Name) == "" {
			e.Fatalf("%s is not the only one: %+v", p.Name, people)
		}
	}
	if !slices.Equal(players, names(e.room.round.players)) {
		e.Fatalf("the roster has the players %v, the round %v", players, names(e.room.round.players))
	}
	e.room.Evenings()
	e.room.Record().Culled()
}

// ends has all leave. Only people who vote may take their time.
func (e *evening) ends() {
	e.Helper()
	e.isListed()
	for _, m := range slices.Clone(e.room.round.players) {
		e.step(Leave{m.name})
	}
	for range (outage.LongestAbsence + 10*time.Minute) / outage.LateStep {
		switch e.room.phase.(type) {
		case *Gathering, *Launching, *Failed, *Voting, *Waiting: // whose end TestGivesUp has
			return
		}
		e.wait(outage.LateStep)
	}
	e.Errorf("ten minutes after everybody was given up the room is still %T", e.room.phase)
}
