package player

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
	"muster/discovery/sentence"
	"muster/host/wire"
)

const ms = time.Millisecond

// script drives a player as a shell does, and records its outputs.
type script struct {
	*testing.T
	player *Player
	now    time.Time
	runs   []Run
	said   []wire.Message
	others []Output
}

func newScript(t *testing.T, o Options) *script {
	o.Pace = RealPace
	o.NewPlan = func(_ wire.Measure, servers []discovery.Server) (discovery.Plan, error) {
		return discovery.NewConventional(len(servers)), nil
	}
	s := &script{T: t, now: time.Unix(0, 0)}
	s.player = New(o, s.now)
	s.step(Connected{1, netip.MustParseAddr("203.0.113.1")})
	s.hears(wire.Welcome{Version: wire.Version, Name: "ann", Token: "token"})
	s.said, s.others = nil, nil
	return s
}

func (s *script) step(in Input) {
	for _, o := range s.player.Step(in, s.now) {
		switch o := o.(type) {
		case Send:
			s.said = append(s.said, o.Message)
		case Run:
			s.runs = append(s.runs, o)
		default:
			s.others = append(s.others, o)
		}
	}
}

func (s *script) hears(messages ...wire.Message) {
	for _, m := range messages {
		s.step(Hear{m})
	}
}

// passes lets time pass, tick by tick.
func (s *script) passes(d time.Duration) {
	for end := s.now.Add(d); ; {
		next := s.player.Next()
		if next.After(end) {
			s.now = end
			return
		}
		s.now = next
		s.step(Tick{})
	}
}

// asks executes the newest run. Servers answer after 20 ms. The ones in silent never answer.
func (s *script) asks(silent ...int) {
	s.Helper()
	run := s.runs[len(s.runs)-1]
	seen := Seen{Task: run.Task}
	plan := run.Watched(func(r discovery.Result) { seen.Results = append(seen.Results, r) })
	for {
		probe, verdict := plan.Next()
		if verdict != discovery.Go {
			break
		}
		if w, is := plan.(discovery.SendObserver); is {
			w.Asked(probe.Server)
		}
		if slices.Contains(silent, int(run.Servers[probe.Server].Addr.Addr().As16()[15])) {
			continue
		}
		r := discovery.Result{
			Server: probe.Server,
			Phase:  probe.Phase,
			State:  discovery.Answered,
			RTT:    20 * ms,
			Info:   &discovery.Info{Name: "x", GamePort: 28000},
		}
		plan.Observe(r)
		seen.Results = append(seen.Results, r)
	}
	s.step(seen)
	s.step(Ran{Task: run.Task})
}

// came returns what the player said and did since the last call, by kind.
func (s *script) came() string {
	var words []string
	for _, m := range s.said {
		words = append(words, strings.TrimPrefix(fmt.Sprintf("%T", m), "wire."))
	}
	for _, o := range s.others {
		if _, isEvent := o.(Tell); !isEvent {
			words = append(words, strings.TrimPrefix(fmt.Sprintf("%T", o), "player."))
		}
	}
	s.said, s.others = nil, nil
	return strings.Join(words, " ")
}

func (s *script) wants(want string) {
	s.Helper()
	if got := s.came(); got != want {
		s.Errorf("there comes %q, want %q", got, want)
	}
}

func serversOf(n int) (servers []discovery.Server) {
	for i := range n {
		servers = append(servers, discovery.Server{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), 27960)})
	}
	return servers
}

var (
	listOfFour = wire.List{Round: 1, Servers: serversOf(4)}
	measureAll = wire.Measure{Round: 1, Game: "openarena", Strategy: "conventional"}
)

func TestRound(t *testing.T) {
	s := newScript(t, Options{})
	s.hears(listOfFour, measureAll, listOfFour, measureAll)
	if len(s.runs) != 1 {
		t.Fatalf("%d runs for a list that is said twice", len(s.runs))
	}
	s.asks(3)
	s.wants("")
	s.passes(100 * ms)
	s.wants("Infos Report Done")
	s.passes(time.Second)
	s.wants("")
	s.step(Lost{})
	s.passes(time.Second)
	s.wants("")
	s.hears(wire.Welcome{Version: wire.Version, Token: "token"})
	s.passes(100 * ms)
	s.wants("Infos Report Done") // the host asked for more
	s.hears(wire.Measure{Round: 2})
	s.wants("Drop")
}

func TestAsks(t *testing.T) {
	s := newScript(t, Options{})
	measure := measureAll
	measure.Strategy = wire.Coordinated
	s.hears(listOfFour, measure, wire.Ask{Round: 1, Servers: []int{2}})
	s.asks()
	s.passes(100 * ms)
	s.wants("Infos Report Done")
	s.hears(wire.Ask{Round: 1, Servers: []int{1, 2}})
	if len(s.runs) != 2 {
		t.Fatalf("%d runs after the host asked twice", len(s.runs))
	}
	s.asks()
	s.passes(100 * ms)
	s.wants("Infos Report")
	if p := s.player.round; len(p.results) != 2 {
		t.Errorf("results %+v, want those of 2 and 1", p.results)
	}
	s.hears(wire.Ask{Round: 1, Servers: []int{4}})
	s.wants("Drop")
}

// TestLineDown checks that a player asks servers again, once, that were silent while the host was away, unless another
// measuring has begun.
func TestLineDown(t *testing.T) {
	back := wire.Welcome{Version: wire.Version, Token: "token"}
	lost := func(servers ...int) (results []discovery.Result) {
		for _, server := range servers {
			results = append(results, discovery.Result{Server: server, State: discovery.Lost})
		}
		return results
	}
	for _, tt := range []struct {
		name   string
		before []wire.Message
		isOver bool // the run has ended before the host is back
		want   []int
	}{
		{"the run is over", nil, true, []int{2, 3}},
		{"the run goes on", nil, false, []int{2, 3}},
		{"everyone looks at finalists", []wire.Message{wire.Finalists{Round: 1, Servers: []int{1}, Samples: 1}}, true, nil},
		{"the group plays", []wire.Message{wire.Launch{Round: 1, Address: "192.0.2.1:27960"}}, true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t, Options{})
			measure := measureAll
			measure.Strategy = wire.Coordinated
			s.hears(listOfFour, measure, wire.Ask{Round: 1, Servers: []int{0, 1, 2, 3}})
			run := s.runs[0]
			for range 4 {
				run.Plan.Next()
			}
			answered := discovery.Result{Server: 1, State: discovery.Answered, RTT: 20 * ms}
			results := slices.Concat(lost(0), []discovery.Result{answered}, lost(2, 3))
			for _, r := range results {
				run.Plan.Observe(r)
			}
			s.step(Seen{Task: run.Task, Results: results})
			if tt.isOver {
				s.step(Ran{Task: run.Task})
			}
			for range 2 { // the second time nobody is asked
				s.hears(tt.before...)
				s.step(Lost{})
				s.hears(back)
				if !tt.isOver && len(s.runs) == 1 {
					s.step(Ran{Task: run.Task})
				}
				var asked []int
				for newest := s.runs[len(s.runs)-1]; newest.Task != run.Task && newest.Plan == run.Plan; {
					probe, verdict := newest.Plan.Next()
					if verdict != discovery.Go {
						s.step(Seen{Task: newest.Task, Results: lost(asked...)})
						s.step(Ran{Task: newest.Task})
						break
					}
					asked = append(asked, probe.Server)
					newest.Plan.Observe(lost(probe.Server)[0])
				}
				if !slices.Equal(asked, tt.want) {
					t.Errorf("servers %v are asked again, want %v", asked, tt.want)
				}
				tt.want, run = nil, s.runs[len(s.runs)-1]
			}
		})
	}
}

func TestLook(t *testing.T) {
	s := newScript(t, Options{Seed: 1})
	look := wire.Finalists{Round: 1, Game: "openarena", Attempt: 1, Servers: []int{1, 3}, Samples: 3}
	s.hears(listOfFour, measureAll, look)
	s.wants("Stop") // the run belongs to the look
	for n := range 3 {
		if len(s.runs) != n+2 {
			t.Fatalf("%d runs before sample %d", len(s.runs)-1, n)
		}
		if n < 2 {
			s.asks(3)
		} else {
			s.asks(1, 3)
		}
		if n < 2 {
			s.wants("")
			s.passes(s.runs[n+1].Began.Add(1099 * ms).Sub(s.now))
			if len(s.runs) != n+2 {
				t.Error("a sample comes too soon")
			}
			s.passes(300 * ms) // the exact moment is random
		}
	}
	verified, is := s.said[0].(wire.Verified)
	if !is || len(verified.Servers) != 2 || verified.Servers[0].Sent != 3 || len(verified.Servers[0].RTTs) != 2 ||
		verified.Servers[1].State != discovery.Lost {
		t.Fatalf("the host is told %+v", s.said)
	}
	s.wants("Verified")
	s.hears(look)
	s.wants("Verified")
	other := look // of another host, which has not heard of this one
	other.Servers = []int{0, 2}
	before := len(s.runs)
	s.hears(other)
	if s.wants(""); len(s.runs) == before {
		t.Error("a look at other servers is answered by an earlier one")
	}
	look.Attempt = 2
	s.hears(look, wire.Finalists{Round: 1})
	s.wants("Stop Stop")
	s.passes(time.Minute)
	s.wants("")
}

// TestGap checks the time between samples: as short as the host's pace of servers allows, but never shorter than
// servers tolerate, nor than players who take turns need.
func TestGap(t *testing.T) {
	for _, tt := range []struct{ gap, every, least, most time.Duration }{
		{300 * ms, 0, 300 * ms, 400 * ms},
		{ms, 0, 250 * ms, 350 * ms},
		{300 * ms, 900 * ms, 900 * ms, 1000 * ms},
		{time.Minute, 0, 1100 * ms, 1400 * ms},
		{0, 0, 1100 * ms, 1400 * ms},
	} {
		s := newScript(t, Options{Seed: 1})
		s.hears(listOfFour, measureAll, wire.Finalists{
			Round:   1,
			Game:    "openarena",
			Attempt: 1,
			Servers: []int{1},
			Samples: 2,
			Gap:     discovery.Millis(tt.gap),
			Every:   discovery.Millis(tt.every),
		})
		s.asks(1)
		s.passes(s.runs[1].Began.Add(tt.least - ms).Sub(s.now))
		if len(s.runs) != 2 {
			t.Errorf("%+v: the second sample comes too soon", tt)
		}
		if s.passes(tt.most - tt.least); len(s.runs) != 3 {
			t.Errorf("%+v: the second sample is late", tt)
		}
	}
}

func TestUnknownTarget(t *testing.T) {
	to := func(address string) wire.Launch { return wire.Launch{Round: 1, Game: "openarena", Address: address} }
	for _, tt := range []struct {
		name   string
		launch wire.Launch
		asks   int
		silent []int
		err    error
		want   sentence.Sentence
	}{
		{"it answers", to("192.0.2.1:27960"), 1, nil, nil, sentence.Sentence{}},
		{"its game port", to("192.0.2.1:28000"), 1, nil, nil, sentence.Sentence{}},
		{"another port", to("192.0.2.1:22"), 3, nil, nil, sentence.Of("start.doubt-port")},
		{"it is silent", to("192.0.2.1:27960"), 3, []int{1}, nil, sentence.Of("start.doubt-silent")},
		{"no server of the list", to("198.51.100.1:27960"), 0, nil, nil, sentence.Of("start.doubt-elsewhere")},
		{"no address", to("example.org"), 0, nil, nil, sentence.Of("start.doubt-address")},
		{"no socket", to("192.0.2.1:27960"), 0, nil, errors.New("a firewall"), sentence.Of("start.doubt-unasked", "why", "a firewall")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t, Options{})
			s.hears(listOfFour, tt.launch)
			for range tt.asks {
				s.asks(tt.silent...)
			}
			if tt.err != nil {
				s.step(Ran{Task: s.runs[0].Task, Err: tt.err})
			}
			i := slices.IndexFunc(s.others, func(o Output) bool { _, is := o.(Launch); return is })
			if i < 0 || tt.err == nil && len(s.runs) != tt.asks {
				t.Fatalf("after %d runs there comes %+v", len(s.runs), s.others)
			}
			if got := s.others[i].(Launch).Doubt; got != tt.want {
				t.Errorf("the doubt is %v, want %v", got, tt.want)
			}
		})
	}
}

func TestOnce(t *testing.T) {
	for _, isHeard := range []bool{true, false} {
		s := newScript(t, Options{Once: true})
		s.hears(wire.Launch{Round: 1, Address: "192.0.2.1:27960"})
		task := s.others[0].(Launch).Task
		if !isHeard {
			s.step(Lost{})
		}
		s.came()
		s.step(Progressed{Task: task, State: wire.LaunchStarted})
		s.step(Launched{task})
		if isHeard {
			s.wants("Launched Leave")
			continue
		}
		s.wants("")
		if !s.player.IsFinishing() {
			t.Error("a program whose host is away does not wait for it")
		}
		s.hears(wire.Welcome{Version: wire.Version, Token: "token"})
		s.wants("Launched Leave")
	}
}

func TestErrands(t *testing.T) {
	s := newScript(t, Options{})
	room := func(game string) wire.Room {
		return wire.Room{"room": []byte(`{"code":"BAKODI","game":"` + game + `","stage":"gathering"}`)}
	}
	s.hears(room("a"), room("a"))
	first, _ := s.others[1].(Try)
	s.wants("Try Collect")
	s.hears(room("b"), room("c"))
	s.wants("Stop Stop")
	s.step(Tried{Task: first.Task, Able: wire.Able{Why: sentence.Plain("of a")}})
	next, _ := s.others[0].(Try)
	s.wants("Try")
	s.step(Tried{Task: next.Task})
	if next.Game != "c" || len(s.said) != 1 || s.said[0] != (wire.Able{Game: "c"}) {
		t.Errorf("of %+v the host is told %+v", next, s.said)
	}
}

func TestMayAsk(t *testing.T) {
	const internet, network, machine = "203.0.113.1", "192.168.1.2", "127.0.0.1"
	tests := []struct {
		host, server string
		want         bool
	}{
		{internet, "192.0.2.1", true},
		{internet, "2001:db8::1", true},
		{internet, "192.168.1.1", false},
		{internet, "fd00::1", false},
		{internet, "169.254.169.254", false},
		{internet, "100.100.100.100", false},
		{internet, "127.0.0.1", false},
		{internet, "0.0.0.0", false},
		{network, "192.0.2.1", true},
		{network, "10.0.0.1", true}, // another network, known to the host
		{network, "127.0.0.1", false},
		{machine, "127.1.0.2", true},
		{machine, "192.168.1.1", true},
		{machine, "0.0.0.0", false},
		{machine, "224.0.0.251", false},
		{machine, "255.255.255.255", false},
	}
	for _, tt := range tests {
		if got := mayAsk(netip.MustParseAddr(tt.host), netip.MustParseAddr(tt.server)); got != tt.want {
			t.Errorf("a host at %s may have us ask %s: %t", tt.host, tt.server, got)
		}
	}
}

// TestDelay checks what a host's delays and its questions for a status come to.
func TestDelay(t *testing.T) {
	s := newScript(t, Options{})
	servers := serversOf(2)
	to := wire.Launch{Round: 1, Game: "openarena", Address: servers[0].Addr.String()}
	asked := func(n int) {
		t.Helper()
		found := 0
		for _, o := range s.others {
			if ask, is := o.(AskStatus); is && ask.Launch == to {
				found++
			}
		}
		if found != n {
			t.Errorf("%d questions, want %d, in %v", found, n, s.others)
		}
		s.others = nil
	}
	s.hears(wire.Status{Round: 1}) // nobody is sent anywhere
	asked(0)
	s.hears(wire.List{Round: 1, Servers: servers}, wire.Delay{Round: 1, By: 30}, to)
	if !slices.Contains(s.others, Output(Hold{30})) { // nanoseconds
		t.Errorf("it does %v", s.others)
	}
	s.hears(wire.Status{Round: 2}) // another round
	asked(0)
	s.hears(wire.Status{Round: 1}, wire.Status{Round: 1})
	asked(1)
	s.said = nil
	s.step(StatusTold{Task: s.player.launch.status, Pings: map[string]time.Duration{"zoe": 40 * ms, "anna": 31 * ms}})
	want := wire.Pings{Round: 1, Pings: []wire.NamedPing{{Name: "anna", MS: 31}, {Name: "zoe", MS: 40}}}
	if len(s.said) != 1 || !reflect.DeepEqual(s.said[0], want) {
		t.Errorf("it says %v", s.said)
	}
	s.hears(wire.Status{Round: 1}) // too soon
	asked(0)
	s.passes(statusGap)
	s.others = nil
	s.hears(wire.Status{Round: 1})
	asked(1)
	s.step(StatusTold{Task: s.player.launch.status})
	s.hears(wire.List{Round: 2, Servers: servers}, wire.Launch{Round: 2, Game: "openarena", Address: "10.0.0.1:27960"})
	if !slices.Contains(s.others, Output(Hold{})) {
		t.Errorf("in another round it does %v", s.others)
	}
	s.passes(statusGap)
	s.hears(wire.Status{Round: 2}) // a host on the internet has no program ask a private address
	asked(0)
}
