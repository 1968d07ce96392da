package host

import (
	"encoding/json"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/selection"
)

// FuzzRoom plays evenings in which anybody does anything at any time, as far as
// a frame can carry it. The room neither panics nor gets stuck with a state that
// cannot be shown, or saved and read back; and when all have left it waits for
// nothing for ever.
func FuzzRoom(f *testing.F) {
	for seed := range uint64(10) {
		choices := make([]byte, 300)
		for random, i := rand.New(rand.NewPCG(seed, 0)), 0; i < len(choices); i++ {
			choices[i] = byte(random.Uint32())
		}
		f.Add(choices)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		e := &evening{T: t, choices: choices, now: time.Unix(1_800_000_000, 0)}
		s := settings(e.upTo(3))
		s.Agree = e.upTo(2) > 0
		s.By = selection.Rules()[e.upTo(len(selection.Rules())-1)]
		s.Limits = []time.Duration{100 * time.Millisecond}
		if e.upTo(1) > 0 {
			s.Strategy = wire.Coordinated
		}
		e.room = NewRoom("BAKODI", "secret", s, e.now)
		for len(e.choices) > 0 {
			e.happens()
			e.isSound()
		}
		e.ends()
	})
}

// evening is a room and what is still to happen there.
type evening struct {
	*testing.T
	choices []byte
	now     time.Time
	room    *Room
	fetches bool
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

func (e *evening) name() string { return everybody[e.upTo(len(everybody)-1)] }

const eveningServers = 12

func (e *evening) server() int { return e.upTo(eveningServers + 1) }

// perform fetches no list yet: see isListed. What the room refuses, it refuses.
func (e *evening) perform(effects []effect, _ ...error) {
	e.Helper()
	for _, one := range effects {
		switch one := one.(type) {
		case fetch:
			e.fetches = true
		case send:
			e.canBeSent(one)
		}
	}
}

// canBeSent: what the room says goes to who is here, and they can read it.
func (e *evening) canBeSent(s send) {
	e.Helper()
	frame, err := wire.Marshal(s.message)
	if err == nil {
		_, err = wire.Unmarshal(frame)
	}
	if err != nil || s.to != "" && e.room.member(s.to) == nil {
		e.Fatalf("a %T to %q: %v", s.message, s.to, err)
	}
}

// happens has one thing happen.
func (e *evening) happens() {
	r := e.room
	guest := func() *Guest {
		if g := r.guest(e.name()); g != nil {
			return g
		}
		return &Guest{}
	}
	switch e.upTo(23) {
	case 0, 1:
		name := e.name()
		hello := wire.Hello{Version: wire.Version, Code: r.Code, Name: name, Token: "token of " + name}
		from := Origin{Addr: netip.AddrFrom4([4]byte{203, 0, 113, byte(e.upTo(1))})}
		if e.upTo(1) > 0 {
			from.Near = netip.MustParseAddr("10.9.0.2")
		}
		_, effects, _ := r.Join(hello, from, hello.Token, e.now)
		e.perform(effects)
	case 2, 3, 4, 5, 6:
		if m := r.member(e.name()); m != nil && m.Connected {
			effects, err := r.Receive(m.Name, e.message(), e.now)
			e.perform(effects)
			if err != nil {
				r.Gone(m.Name, e.now)
			}
		}
	case 7, 8:
		longest := []int{2, 60}[e.upTo(1)]
		e.now = e.now.Add(time.Duration(e.upTo(longest)) * time.Second)
		e.perform(r.Tick(e.now))
	case 9:
		e.perform(r.Go(e.now))
	case 10:
		r.Gone(e.name(), e.now)
	case 11:
		e.isListed()
	case 12:
		name := e.name()
		if g, _ := r.Enter(name, "", "page of "+name, e.now); g != nil {
			r.pageOpened(g.Token, e.now)
		}
	case 13:
		if g := guest(); g.Name != "" {
			r.Vote(g, addr(e.server()), e.now)
		}
	case 14:
		if g := guest(); g.Name != "" {
			e.perform(r.Veto(g, selection.Veto{Server: addr(e.server())}, e.now))
		}
	case 15:
		if g := guest(); g.Name != "" {
			r.Ready(g, e.upTo(1) > 0, e.now)
		}
	case 16:
		e.perform(r.Remove(e.name(), e.now))
	case 17:
		e.perform(r.Trust(e.name(), e.now))
	case 18:
		if r.Suppose("ann", selection.Rules()[e.upTo(len(selection.Rules())-1)], []time.Duration{time.Second}) == nil {
			e.perform(r.Apply(e.now))
		}
	case 19:
		e.room = restored(e.T, r)
		e.perform(e.room.Returned(e.now))
	case 20, 21:
		e.everyoneMeasures()
	case 22, 23:
		e.everyoneLooks()
	}
}

// isListed answers what the room asked its shell for.
func (e *evening) isListed() {
	if e.fetches {
		e.fetches = false
		servers := e.upTo(eveningServers)
		if e.upTo(3) == 0 {
			servers = shortList + 1 // which is searched together, if the settings say so
		}
		near := []Neighbour{hidden, shown}[e.upTo(1):]
		e.perform(e.room.Listed(listOf(servers), nil, e.now, near[:e.upTo(len(near))]...))
	}
}

// everyoneMeasures has an evening get on, which chance alone seldom does.
func (e *evening) everyoneMeasures() {
	e.isListed()
	infos := wire.Infos{Round: e.room.Round}
	report := wire.Report{Round: e.room.Round}
	for server := range e.room.Servers {
		rtt := wire.RoundRTT(time.Duration(e.upTo(255)) * time.Millisecond)
		report.Results = append(report.Results, discovery.Result{Server: server, State: discovery.Answered, RTT: rtt})
		infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{Players: 1, MaxPlayers: 8}})
	}
	for _, m := range slices.Clone(e.room.Members) {
		for _, message := range []wire.Message{infos, report, wire.Done{Round: e.room.Round}} {
			effects, err := e.room.Receive(m.Name, message, e.now)
			if err != nil {
				e.Fatalf("an honest %T is refused: %v", message, err)
			}
			e.perform(effects)
		}
	}
}

// everyoneLooks has the finalists answer everyone.
func (e *evening) everyoneLooks() {
	for _, m := range slices.Clone(e.room.Members) {
		if e.room.Final == nil {
			return
		}
		verified := wire.Verified{Round: e.room.Round, Attempt: e.room.Final.Attempt}
		for _, server := range e.room.Final.Servers {
			info := discovery.Info{Players: e.upTo(4), MaxPlayers: 8}
			verified.Servers = append(verified.Servers, wire.Finalist{Server: server, State: discovery.Answered, RTTs: []float64{50}, Sent: 3, Info: &info})
		}
		effects, err := e.room.Receive(m.Name, verified, e.now)
		if err != nil {
			e.Fatalf("an honest look is refused: %v", err)
		}
		e.perform(effects)
	}
}

// message is what a peer's frame can say.
func (e *evening) message() wire.Message {
	round := e.room.Round
	switch e.upTo(6) {
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
		if e.room.Final == nil {
			return verified
		}
		verified.Attempt = e.room.Final.Attempt
		for _, server := range e.room.Final.Servers {
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
	return wire.Done{Round: round}
}

// isSound: the room can be shown, and saved and read back, and counts right.
func (e *evening) isSound() {
	e.Helper()
	if !e.room.isWhole() {
		e.Fatalf("%s without what that needs", e.room.Stage)
	}
	for _, m := range e.room.Members {
		answered := 0
		for _, result := range e.room.measured(m) {
			answered += count(result.State == discovery.Answered)
		}
		if measured := len(e.room.measured(m)); m.Probed != measured || m.Answered != answered {
			e.Fatalf("%s has %d results, %d of them answers, and is said to have %d and %d", m.Name, measured, answered, m.Probed, m.Answered)
		}
	}
	if _, err := json.Marshal(e.room.View()); err != nil {
		e.Fatal(err)
	}
	if _, err := e.room.snapshotOf(&snapshot{}, &Config{}); err != nil {
		e.Fatal(err)
	}
	e.room.culledFor(selection.Unreachable)
	same(e.T, e.room, restored(e.T, e.room))
}

// ends has all leave. Only people who vote may take their time.
func (e *evening) ends() {
	e.Helper()
	e.isListed()
	for _, m := range slices.Clone(e.room.Members) {
		e.room.Gone(m.Name, e.now)
	}
	for range 120 {
		e.now = e.now.Add(5 * time.Second)
		e.perform(e.room.Tick(e.now))
	}
	switch r := e.room; {
	case r.Stage == wire.Gathering, r.Stage == wire.Launching, r.Stage == wire.Failed:
	case r.Agreement != nil && r.Agreement.LaunchAt.IsZero():
	default:
		e.Errorf("ten minutes after everybody left the room is still %s", r.Stage)
	}
}
