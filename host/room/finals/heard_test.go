package finals

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
)

// TestHear checks that the right parts of an answer count.
func TestHear(t *testing.T) {
	const ms = time.Millisecond
	of := func(rtt time.Duration) discovery.Result {
		return discovery.Result{Server: 0, State: discovery.Answered, RTT: rtt}
	}
	unprobed := Known{}
	hidden := answered(0, 30)
	hidden.IsHidden = true
	again := answered(0, 30)
	again.Look = &Look{Result: of(20 * ms), RTTs: []float64{30, 20}}
	for _, tt := range []struct {
		name   string
		search Search
		known  Known
		seen   wire.Finalist
		want   *Look
	}{
		{"the lowest sample counts", Unsearched, unprobed, saw(0, 3, 25, 24, 26), &Look{
			Result:  of(24 * ms),
			Quality: selection.Quality{Jitter: 1500 * time.Microsecond},
		}},
		{"or what was lower before", Unsearched, answered(0, 22), saw(0, 3, 25, 24, 26), &Look{
			Result:  of(22 * ms),
			Quality: selection.Quality{Jitter: 1500 * time.Microsecond},
		}},
		{"a server that is silent counts later", Unsearched, answered(0, 22), saw(0, 3), nil},
		{"one that refuses counts now", Unsearched, answered(0, 22), wire.Finalist{State: discovery.Refused, Sent: 1},
			&Look{Result: discovery.Result{State: discovery.Refused}}},
		{"one that nobody asked", Unsearched, answered(0, 22), wire.Finalist{}, nil},
		{"an answer without a ping", Unsearched, answered(0, 22), wire.Finalist{State: discovery.Answered, Sent: 1}, nil},
		{"one that the player cannot get to", Unsearched, hidden, saw(0, 3, 1, 1, 1), nil},
		{"all samples are kept after a short search", SearchedShort, answered(0, 30), saw(0, 1, 55),
			&Look{Result: of(30 * ms), RTTs: []float64{30, 55}}},
		{"with those of the looks before", SearchedShort, again, saw(0, 1, 45), &Look{Result: of(20 * ms), RTTs: []float64{30, 20, 45}}},
		{"which show jitter once they are enough", SearchedShort, again, saw(0, 1, 60), &Look{Result: of(20 * ms), RTTs: []float64{30, 20, 60}}},
	} {
		s := &session{T: t, Facts: facts("ann bob", 50)}
		s.Players[0].Known[0] = tt.known
		s.Begin(Setup{Servers: []int{0}, Search: tt.search}, s.Facts)
		h := s.says("ann", tt.seen)
		if !h.Counts || !h.IsLast || len(h.Seen) != 1 || slices.Contains(s.state.Waiting, "ann") {
			t.Errorf("%s: heard is %+v", tt.name, h)
			continue
		}
		got, _ := json.Marshal(h.Seen[0].Look)
		want, _ := json.Marshal(tt.want)
		if string(got) != string(want) {
			t.Errorf("%s: %s counts, want %s", tt.name, got, want)
		}
	}
}

// TestHearNothing checks that an answer to no or another look changes nothing.
func TestHearNothing(t *testing.T) {
	for _, tt := range []struct {
		name   string
		player people.ID
		v      wire.Verified
		counts bool
	}{
		{"another look", "ann", wire.Verified{Attempt: 2, Servers: []wire.Finalist{saw(0, 1, 10)}}, false},
		{"another look of that number", "ann", wire.Verified{Attempt: 1, Servers: []wire.Finalist{saw(0, 1, 10), saw(1, 1, 10)}}, false},
		{"somebody else", "eve", wire.Verified{Attempt: 1, Servers: []wire.Finalist{saw(0, 1, 10)}}, false},
		{"nothing yet", "ann", wire.Verified{Attempt: 1, Servers: []wire.Finalist{saw(0, 1)}, More: true}, true},
		{"nothing at all", "ann", wire.Verified{Attempt: 1}, true},
	} {
		s := &session{T: t, Facts: facts("ann bob", 10)}
		s.Begin(Setup{Servers: []int{0}}, s.Facts)
		h := s.Hear(tt.player, tt.v, s.Facts)
		if h.Counts != tt.counts || len(h.Seen) > 0 || h.IsLast != tt.counts || len(s.state.Missed) > 0 {
			t.Errorf("%s: heard is %+v", tt.name, h)
		}
	}
}

// TestServerTwice checks that an answer that names a server twice counts like two answers.
func TestServerTwice(t *testing.T) {
	s := &session{T: t, Facts: facts("ann bob", 30)}
	s.Begin(Setup{Servers: []int{0}, Search: SearchedShort}, s.Facts)
	h := s.says("ann", saw(0, 1, 20), saw(0, 1, 40))
	if last := h.Seen[1].Look; last.RTT != 20*time.Millisecond || !slices.Equal(last.RTTs, []float64{30, 20, 40}) {
		t.Errorf("it counts as %+v", last)
	}
}

// TestIsElsewhere checks that a player measures alone whose looks mostly contradict the looks of
// the others behind the same address.
func TestIsElsewhere(t *testing.T) {
	mates := func(own bool, isAsked bool) Known {
		k := Known{MatesRTT: 30 * time.Millisecond}
		if own {
			k.Probe, k.IsAsked = answered(0, 30).Probe, isAsked
		}
		return k
	}
	for _, tt := range []struct {
		name  string
		known []Known
		seen  []float64
		want  bool
	}{
		{"as the others", []Known{mates(false, false), mates(false, false)}, []float64{33, 60}, false},
		{"far away", []Known{mates(false, false), mates(false, false), mates(false, false)}, []float64{140, 140, 31}, true},
		{"half of them", []Known{mates(false, false), mates(false, false)}, []float64{140, 31}, false},
		{"what the player measured says nothing", []Known{mates(true, true)}, []float64{140}, false},
		{"but what nobody asked for does not count", []Known{mates(true, false)}, []float64{140}, true},
		{"nobody else has measured it", []Known{{}}, []float64{140}, false},
	} {
		s := &session{T: t, Facts: facts("ann bob")}
		var servers []int
		var seen []wire.Finalist
		for server, k := range tt.known {
			s.Players[1].Known[server] = k
			servers, seen = append(servers, server), append(seen, saw(server, 1, tt.seen[server]))
		}
		s.Begin(Setup{Servers: servers}, s.Facts)
		h := s.says("bob", seen...)
		const note = "what the others behind bob’s address measured isn’t right for bob, who now measures alone"
		if h.IsElsewhere != tt.want || (catalogue.InEnglish().Say(h.Note) == note) != tt.want {
			t.Errorf("%s: %v, %q", tt.name, h.IsElsewhere, h.Note)
		}
	}
}

// TestSettle checks that the right servers have had their look, the right players look again, and
// the right servers are lost.
func TestSettle(t *testing.T) {
	none, three := []float64{}, []float64{10, 10, 10}
	for _, tt := range []struct {
		name string
		// ann, bob and cat are their samples of server 0.
		ann, bob, cat []float64
		search        Search
		sent          int
		seen          bool
		lost          int
		note          string
	}{
		{"it answers all", three, three, three, Unsearched, 3, true, 0, ""},
		{"it answers nobody", none, none, none, Unsearched, 3, false, 0, ""},
		{"it answers the others", three, none, three, Unsearched, 3, false, 0, "1 server answered others, but not bob: bob looks again"},
		{"it answers one", three, none, none, Unsearched, 3, false, 0,
			"1 server answered others, but not bob and cat: they look again, one at a time"},
		{"one packet of one is lost", three[:1], none, three[:1], Searched, 1, true, 0, ""},
		{"one packet of two is lost", three[:1], none, none, Searched, 1, false, 0,
			"1 server answered others, but not bob and cat: they look again, one at a time"},
		{"a sample is in doubt", []float64{80}, three[:1], three[:1], Searched, 1, false, 0, ""},
		{"a sample is in doubt after a short search", []float64{21}, three[:1], three[:1], SearchedShort, 1, false, 0, ""},
		{"samples are near enough after a short search", []float64{19}, three[:1], three[:1], SearchedShort, 1, true, 0, ""},
	} {
		s := &session{T: t, Facts: facts("ann bob cat", 10, 20)}
		s.Begin(Setup{Servers: []int{0}, Search: tt.search}, s.Facts)
		for player, rtts := range map[people.ID][]float64{"bob": tt.bob, "cat": tt.cat} {
			s.says(player, saw(0, tt.sent, rtts...))
		}
		slices.SortFunc(s.state.Missed, func(a, b miss) int { return int(a.Player[0]) - int(b.Player[0]) })
		if _, isSettled := s.Settle(s.Facts); isSettled {
			t.Errorf("%s: nobody waits for ann", tt.name)
		}
		s.says("ann", saw(0, tt.sent, tt.ann...))
		o := s.settles()
		if slices.Contains(s.Seen(), 0) != tt.seen || len(o.Lost) != tt.lost || catalogue.InEnglish().Say(o.Note) != tt.note || (len(o.Asks) > 0) != (tt.note != "") {
			t.Errorf("%s: seen are %v, outcome %+v", tt.name, s.Seen(), o)
		}
	}
}

// TestTwoLost checks that two lost single packets prove nothing about a server, and that it gets
// another look.
func TestTwoLost(t *testing.T) {
	for silent, seen := range []bool{true, true, false} {
		s := &session{T: t, Facts: facts("ann bob cat dan", 10)}
		s.Begin(Setup{Servers: []int{0}, Search: Searched}, s.Facts)
		for i, p := range s.Players {
			if i < silent {
				s.says(p.ID, saw(0, 1))
			} else {
				s.says(p.ID, saw(0, 1, 10))
			}
		}
		if o := s.settles(); len(o.Asks) > 0 || len(o.Lost) > 0 || slices.Contains(s.Seen(), 0) != seen {
			t.Errorf("%d lost: outcome %+v, seen %v", silent, o, s.Seen())
		}
	}
}

// TestAlone checks that players who missed a server look one at a time, and that a second miss
// loses it.
func TestAlone(t *testing.T) {
	s := &session{T: t, Facts: facts("ann bob cat dan", 10, 20)}
	s.Begin(Setup{Servers: []int{0, 1}}, s.Facts)
	s.Players[3].IsHere = false
	s.says("ann", saw(0, 3, 10, 10, 10), saw(1, 3, 20, 20, 20))
	s.says("bob", saw(0, 3), saw(1, 3, 20, 20, 20))
	s.says("cat", saw(0, 3, 10, 10, 10), saw(1, 3))
	s.says("dan", saw(0, 3), saw(1, 3)) // dan leaves after this
	s.Passed = 5 * time.Second
	o := s.settles()
	if catalogue.InEnglish().Say(o.Note) != "2 servers answered others, but not bob and cat: they look again, one at a time" || len(o.Asks) != 2 || s.Tries() != 1 {
		t.Fatalf("outcome is %+v", o)
	}
	for i, want := range []struct {
		player people.ID
		server int
		after  time.Duration
	}{{"bob", 0, 1100 * time.Millisecond}, {"cat", 1, 3300 * time.Millisecond}} {
		ask := o.Asks[i]
		if ask.Player != want.player || !slices.Equal(ask.Servers, []int{want.server}) ||
			time.Duration(ask.After) != want.after || ask.Samples != 2 || ask.Attempt != 2 {
			t.Errorf("%+v, want %+v", ask, want)
		}
	}
	s.Passed = 2 * time.Second
	if _, isAsked := s.Ask("ann", s.Facts); isAsked {
		t.Error("ann is asked, who missed nothing")
	}
	if ask, isAsked := s.Ask("cat", s.Facts); !isAsked || time.Duration(ask.After) != 1300*time.Millisecond {
		t.Errorf("cat is back, and asked for %+v", ask)
	}
	if h := s.says("ann", saw(0, 3)); h.Counts {
		t.Error("ann's word counts")
	}
	if h := s.says("bob", saw(0, 2)); h.Seen[0].Look == nil || h.Seen[0].Look.State != discovery.Lost {
		t.Errorf("what bob missed twice is %+v", h.Seen)
	}
	s.says("cat", saw(1, 2, 20))
	if o := s.settles(); len(s.State().Missed) > 0 || len(o.Asks) > 0 || len(o.Lost) > 0 ||
		!slices.Contains(s.Seen(), 0) || !slices.Contains(s.Seen(), 1) {
		t.Errorf("outcome is %+v, seen %v", o, s.Seen())
	}
}

// TestNotAlone checks that a player who did not look in time does not look alone either, but that a
// long look stays one.
func TestNotAlone(t *testing.T) {
	s := &session{T: t, Facts: facts("ann bob cat", 10, 20)}
	s.Long = time.Minute
	s.Begin(Setup{Servers: []int{1, 0}, Search: SearchedShort}, s.Facts)
	s.says("ann", saw(1, 3, 20, 20, 20), saw(0, 3, 10, 10, 10))
	s.says("bob", saw(1, 3), saw(0, 3))
	s.Passed = time.Hour
	s.Tick(s.Facts)
	s.says("cat", saw(0, 3), saw(1, 3)) // this is too late
	if h := s.says("ann", saw(1, 3, 20, 20, 20)); h.Seen[0].Look.RTTs != nil {
		t.Errorf("a long look keeps samples for short ones: %+v", h.Seen[0].Look)
	}
	o := s.settles()
	if catalogue.InEnglish().Say(o.Note) != "2 servers answered others, but not bob: bob looks again" || len(o.Asks) != 1 ||
		!slices.Equal(s.Servers(), []int{0, 1}) || o.LookedS != 0 {
		t.Errorf("outcome is %+v of servers %v", o, s.Servers())
	}
	s.Passed = 5 * time.Second
	s.says("bob", saw(1, 2, 20), saw(0, 2, 20))
	if o := s.settles(); o.LookedS != 5 {
		t.Errorf("everyone looked for %v s", o.LookedS)
	}
}

// TestQuickCheck checks that a look by one packet is no try, asks one player or all in turn, and
// measures a path only if nothing else has.
func TestQuickCheck(t *testing.T) {
	s := &session{T: t, Facts: facts("ann bob cat dan eve fay gus", 10)}
	s.Players[1].IsHere = false
	s.Passed = time.Hour
	asks := s.QuickCheck([]int{0, 1}, "eve", Unsearched, s.Facts)
	if len(asks) != 1 || asks[0].Player != "eve" || asks[0].Samples != 1 || asks[0].After != 0 || asks[0].Every != 0 || s.Tries() != 0 {
		t.Fatalf("asked are %+v in try %d", asks, s.Tries())
	}
	h := s.says("eve", saw(0, 1, 5), saw(1, 1, 30))
	if h.Seen[0].Look != nil || h.Seen[1].Look == nil {
		t.Errorf("what counts is %+v", h.Seen)
	}
	asks = s.QuickCheck([]int{0}, "", Unsearched, s.Facts)
	var after []time.Duration
	for _, ask := range asks {
		after = append(after, time.Duration(ask.After))
	}
	if want := []time.Duration{0, 0, 0, 0, betweenWaves, betweenWaves}; !slices.Equal(after, want) || asks[1].Player != "cat" {
		t.Errorf("they look after %v, want %v", after, want)
	}
	if ask, isAsked := s.Ask("bob", s.Facts); !isAsked || ask.After != 0 || ask.Samples != 1 {
		t.Errorf("bob is back, and asked for %+v", ask)
	}
}

// FuzzHear hears what strangers say of looks of all kinds. Nobody sees a server without a question,
// no look waits for ever, and all looks can be saved and read back.
func FuzzHear(f *testing.F) {
	f.Add([]byte{0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Add([]byte{1, 0x80, 0x12, 0x33, 0x54, 0x75, 2, 0x81, 0x22, 0x10, 0x90, 5, 0xa0, 0xb1, 0xc2, 6, 7})
	f.Add([]byte{2, 0x13, 0x40, 0x17, 0x83, 3, 4, 0x55, 0x91, 0xfe, 0x03, 0xff, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15})
	f.Fuzz(func(t *testing.T, said []byte) {
		const servers = 4
		s := &session{T: t, Facts: facts("ann bob cat dan", 10, 20, 30)}
		s.Players[1].Group = s.Players[0].Group
		next := func() (n int) {
			if len(said) > 0 {
				n, said = int(said[0]), said[1:]
			}
			return n
		}
		for len(said) > 0 {
			player := s.Players[next()%len(s.Players)].ID
			switch what := next(); what % 8 {
			case 0:
				s.Long = time.Duration(what/64) * 10 * time.Second
				setup := Setup{Servers: []int{0, what / 8 % servers, 3}, Search: Search(what / 32 % 3), IsFair: what&64 > 0, IsLast: what&128 > 0}
				s.Begin(setup, s.Facts)
				s.Passed = 0
			case 1:
				s.QuickCheck([]int{what / 8 % servers}, player, Search(what/32%3), s.Facts)
			case 2:
				s.Players[what/8%4].IsHere = what&128 > 0
				s.Passed += time.Duration(what) * 100 * time.Millisecond
				s.Now = s.Now.Add(time.Duration(what) * 100 * time.Millisecond)
			case 3:
				if o, isSettled := s.Settle(s.Facts); isSettled {
					for _, lost := range o.Lost {
						s.looked(lost.Player, lost.Look)
					}
				}
			case 4:
				s.CutShort(s.Facts)
				s.StopAwaiting(player)
			default:
				v := wire.Verified{Attempt: s.state.Attempt - what/128, More: what&64 > 0}
				for range what / 8 % 4 {
					seen := wire.Finalist{Server: next() % (servers + 1), State: discovery.State(next() % 4), Sent: next() % 16}
					for range min(seen.Sent, next()%16) {
						seen.RTTs = append(seen.RTTs, float64(next()))
					}
					v.Servers = append(v.Servers, seen)
				}
				for _, seen := range s.Hear(player, v, s.Facts).Seen {
					if !slices.Contains(s.Servers(), seen.Server) {
						t.Fatalf("server %d is seen of %v", seen.Server, s.Servers())
					}
					if seen.Look == nil {
						continue
					}
					if q := seen.Look.Quality; q.Loss < 0 || q.Loss > 1 || q.Jitter < 0 || q.Worst < 0 || seen.Look.RTT < 0 {
						t.Fatalf("a look counts as %+v", seen.Look)
					}
					s.looked(player, *seen.Look)
				}
			}
			for _, p := range s.Players {
				ask, _ := s.Ask(p.ID, s.Facts)
				if ask.After < 0 || ask.Every < 0 || ask.Samples < 0 || ask.Samples > wire.MaxSamples {
					t.Fatalf("%s is asked for %+v", p.ID, ask)
				}
			}
			s.View(s.Facts, roomtime.Clocks{}, nil)
			data, err := json.Marshal(s.State())
			if err != nil {
				t.Fatal(err)
			}
			if err := s.State().Validate(servers); err != nil {
				t.Fatalf("%s: %v", data, err)
			}
		}
		for range 3 {
			s.Passed += time.Hour
			s.Tick(s.Facts)
			o, isSettled := s.Settle(s.Facts)
			if !isSettled {
				t.Fatalf("%v are waited for after an hour", s.state.Waiting)
			}
			if len(o.Asks) == 0 {
				return
			}
		}
		t.Fatal("they look one at a time again and again")
	})
}

func TestJudgeMisses(t *testing.T) {
	for _, c := range []struct {
		name        string
		look        look
		players     int
		lost, again []miss
	}{
		{"nothing missed", look{Reached: []int{1}}, 2, nil, nil},
		{"it answers nobody", look{Missed: []miss{{"ann", 1, 3}, {"bob", 1, 3}}}, 2, []miss{{"ann", 1, 3}, {"bob", 1, 3}}, nil},
		{"it answers the other", look{Missed: []miss{{"bob", 1, 3}}, Reached: []int{1}}, 2, nil, []miss{{"bob", 1, 3}}},
		{"another answers", look{Missed: []miss{{"bob", 1, 3}}, Reached: []int{2}}, 2, []miss{{"bob", 1, 3}}, nil},
		{"a single packet of half of them", look{Missed: []miss{{"bob", 1, 1}}, Reached: []int{1}}, 2, nil, nil},
		{"a single packet of most of them", look{Missed: []miss{{"bob", 1, 1}, {"cat", 1, 1}}, Reached: []int{1}}, 3,
			nil, []miss{{"bob", 1, 1}, {"cat", 1, 1}}},
		{"a single packet, and nobody else looked", look{Missed: []miss{{"ann", 1, 1}}}, 1, []miss{{"ann", 1, 1}}, nil},
		{"again", look{Missed: []miss{{"bob", 1, 2}}, Reached: []int{1}, Alone: []people.ID{"bob"}}, 2, nil, nil},
	} {
		l := Looks{state: State{look: c.look}}
		if lost, again := l.judge(c.players); !reflect.DeepEqual(lost, c.lost) || !reflect.DeepEqual(again, c.again) {
			t.Errorf("%s: lost %v, again %v, want %v and %v", c.name, lost, again, c.lost, c.again)
		}
	}
}

// TestQualityOf checks that a single lost packet proves nothing, and that more do. A packet that
// met a full queue does not count if another sample or an earlier measurement shows that.
func TestQualityOf(t *testing.T) {
	none := discovery.Result{}
	of := func(ms int) discovery.Result {
		return discovery.Result{State: discovery.Answered, RTT: time.Duration(ms) * time.Millisecond}
	}
	for _, test := range []struct {
		before discovery.Result
		rtts   []float64
		sent   int
		want   selection.Quality
	}{
		{none, nil, 0, selection.Quality{}},
		{none, []float64{20, 21, 23}, 3, selection.Quality{Jitter: 1500 * time.Microsecond}},
		{none, []float64{20, 120, 21}, 3, selection.Quality{Jitter: time.Millisecond}},
		{none, []float64{20, 60, 120}, 3, selection.Quality{Jitter: 50 * time.Millisecond}},
		{none, []float64{20, 21}, 3, selection.Quality{Jitter: time.Millisecond}},
		{none, []float64{20}, 3, selection.Quality{Loss: 1.0 / 3}},
		{none, nil, 3, selection.Quality{Loss: 2.0 / 3}},
		{none, []float64{20, 120}, 2, selection.Quality{Jitter: 100 * time.Millisecond}},
		{of(21), []float64{20, 120}, 2, selection.Quality{Jitter: time.Millisecond}},
		{of(21), []float64{20, 25}, 2, selection.Quality{Jitter: 5 * time.Millisecond}},
		{of(60), []float64{20, 120}, 2, selection.Quality{Jitter: 100 * time.Millisecond}},
		{of(20), []float64{20}, 2, selection.Quality{}},
		{of(20), []float64{24}, 1, selection.Quality{}},
	} {
		if got := qualityOf(wire.Finalist{RTTs: test.rtts, Sent: test.sent}, test.before); got != test.want {
			t.Errorf("%v of %d after %v: %+v, want %+v", test.rtts, test.sent, test.before.RTT, got, test.want)
		}
	}
}

func TestQualityOfFew(t *testing.T) {
	tests := []struct {
		name   string
		rtts   []float64
		jitter time.Duration
		doubt  bool
	}{
		{"one", []float64{50}, 0, false},
		{"two that agree", []float64{50, 55}, 0, false},
		{"two that do not", []float64{50, 70}, 0, true},
		{"one met a queue", []float64{50, 90, 52}, 0, false},
		{"none agrees", []float64{50, 90, 70}, 30 * time.Millisecond, false},
	}
	for _, tt := range tests {
		if q := qualityOfFew(tt.rtts); q.Jitter != tt.jitter || disagree(tt.rtts) != tt.doubt {
			t.Errorf("%s: jitter %v, in doubt %v", tt.name, q.Jitter, disagree(tt.rtts))
		}
	}
}
