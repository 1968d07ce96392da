package seats

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/room/people"
	"muster/host/room/roomtime"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/selection"
)

// waiting returns a wait of ann, ben and cat for seats on two full servers, 3 and 5. Server 7 has
// some.
func waiting() (*Watch, Facts) {
	rank := func(server int) selection.Ranked {
		return selection.Ranked{Server: server, Addr: hostport.At(netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(server)}), 27960))}
	}
	servers := selection.Servers{List: make([]discovery.Server, 8), Infos: map[int]*discovery.Info{
		3: {Players: 16, MaxPlayers: 16}, 5: {Players: 15, MaxPlayers: 16}, 7: {Players: 2, MaxPlayers: 16},
	}}
	ranking := []selection.Ranked{rank(2), rank(3), rank(5), rank(7)}
	w := Begin(Worth(ranking, servers, 3), []selection.Ranked{rank(7), rank(3)}, servers, 0, eight)
	f := Facts{Need: 3, Present: 3, Servers: map[int]Fact{}}
	for _, server := range []int{3, 5, 7} {
		f.Servers[server] = Fact{fmt.Sprint("server ", server), []people.ID{"ann", "ben", "cat"}}
	}
	return w, f
}

// sees returns a player's result for servers with so many free seats of 16.
func sees(free map[int]int) (seen []wire.Finalist) {
	for server, n := range free {
		info := &discovery.Info{Players: 16 - n, MaxPlayers: 16}
		seen = append(seen, wire.Finalist{Server: server, State: discovery.Answered, RTTs: []float64{30}, Sent: 1, Info: info})
	}
	return seen
}

// TestWatch checks that one player looks, another checks, everyone looks, and all go.
func TestWatch(t *testing.T) {
	w, f := waiting()
	if got := w.Servers(); !slices.Equal(got, []int{3, 5, 7}) {
		t.Fatalf("watches %v", got)
	}
	now := eight
	wants := func(got []Event, want ...Event) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("after %v: %+v, want %+v", now.Sub(eight), got, want)
		}
	}
	wants(w.Tick(f, now), Ask{"ann", []int{3, 5, 7}})
	wants(w.Heard("ben", sees(map[int]int{3: 16}), f, now)) // ben has not been asked
	wants(w.Heard("ann", sees(map[int]int{3: 0, 5: 4, 7: 9}), f, now))
	wants(w.Tick(f, now))
	now = w.Next(f)
	wants(w.Tick(f, now), Ask{"cat", []int{5}})
	wants(w.Heard("cat", sees(map[int]int{5: 3}), f, now), Open{5, 3, sentence.Of("room.seats-free", "n", 3, "server", "server 5", "players", []string{"ann", "cat"}, "seconds", 5)})
	if v := w.View(3, nil, roomtime.Clocks{}, nil); v.Target != "192.0.2.5:27960" || v.Servers[1].Asked != 5 || v.Servers[1].Free != 3 || v.Instead[0].Free != 9 {
		t.Errorf("people see %+v", v)
	}
	wants(w.Heard("ann", sees(map[int]int{5: 3}), f, now))
	wants(w.Heard("ann", sees(map[int]int{5: 0}), f, now)) // one word of each
	wants(w.Heard("ben", nil, f, now))
	now = w.Next(f)
	wants(w.Tick(f, now), Go{5, []people.ID{"ann"}})
	wants(w.Drop(5, sentence.Plain("it suits nobody"), f))
	over := w.Drop(3, sentence.Plain("nor does this"), f)[0].(Over)
	const why = "No server left is worth the wait. server 5 had at most 3 seats free, mostly 3"
	if got := catalogue.InEnglish().Say(over.Why); got != why {
		t.Errorf("it is over: %q", got)
	}
}

// TestOutside checks that players who are outside wait for seats until they are in, and that the
// wait does not end while they are about to go.
func TestOutside(t *testing.T) {
	_, f := waiting()
	servers := selection.Servers{List: make([]discovery.Server, 8), Infos: map[int]*discovery.Info{3: {Players: 16, MaxPlayers: 16}}}
	w := BeginOutside([]people.ID{"dan", "eve"}, selection.Ranked{Server: 3}, servers, time.Minute, eight)
	if got, want := catalogue.InEnglish().Say(w.Describe(f)),
		"waiting for 3 seats for dan and eve on server 3, for up to a minute: one of you checks at a time, every 10s at first"; got != want {
		t.Errorf("people are told %q", got)
	}
	if v := w.View(5, nil, roomtime.Clocks{}, nil); v.Need != 2 || !slices.Equal(v.For, []string{"dan", "eve"}) || w.Need(5) != 2 {
		t.Errorf("people see %+v", v)
	}
	if data, err := json.Marshal(w.State()); err != nil || !strings.Contains(string(data), `"for":["dan","eve"]`) {
		t.Errorf("it is saved as %s, %v", data, err)
	}
	w.state.Going = &going{Server: 3}
	if w.Enter([]people.ID{"dan", "eve"}) || len(w.Outside()) != 2 {
		t.Error("those who are about to go are in")
	}
	w.state.Going = nil
	if w.Enter([]people.ID{"eve"}) || w.Need(5) != 1 {
		t.Errorf("%v are outside", w.Outside())
	}
	if !w.Enter([]people.ID{"dan"}) {
		t.Error("it is not over")
	}
	everyone, _ := waiting()
	if everyone.Enter([]people.ID{"ann"}) || everyone.Need(5) != 5 {
		t.Error("a wait of everyone is over")
	}
}

// TestView checks that people see names.
func TestView(t *testing.T) {
	ann, ben := people.Nth(1), people.Nth(2)
	server := selection.Ranked{Server: 0, RTT: map[string]float64{string(ann): 20, string(ben): 30}}
	w := BeginOutside([]people.ID{ann}, server, selection.Servers{List: make([]discovery.Server, 1)}, time.Minute, eight)
	w.state.Look = &look{By: ben}
	w.state.News = sentence.Of("seats.contradicted", "player", ben, "n", 3, "server", "server 0")
	w.state.Servers[0].Dropped = sentence.Of("room.did-not-look", "player", ben)
	names := people.NewNames(map[people.ID]string{ann: "ann", ben: "ben"})
	v := w.View(5, nil, roomtime.Clocks{}, names)
	if !slices.Equal(v.For, []string{"ann"}) || v.By != "ben" || fmt.Sprint(v.Servers[0].RTT) != "map[ann:20 ben:30]" ||
		v.News != sentence.Of("seats.contradicted", "player", "ben", "n", 3, "server", "server 0") ||
		v.Servers[0].Dropped != sentence.Of("room.did-not-look", "player", "ben") {
		t.Errorf("people see %+v", v)
	}
}

// TestLooksAreNoUse checks that a player who reports nothing is asked last, and nobody goes by one
// player's word.
func TestLooksAreNoUse(t *testing.T) {
	w, f := waiting()
	asked := map[people.ID]int{}
	for now := eight; now.Before(eight.Add(5 * time.Minute)); now = now.Add(time.Second) {
		for _, e := range w.Tick(f, now) {
			ask, is := e.(Ask)
			if !is {
				t.Fatalf("%+v", e)
			}
			asked[ask.By]++
			switch ask.By {
			case "ben":
				w.Heard("ben", sees(map[int]int{3: 9, 5: 9, 7: 9}), f, now)
			case "cat":
				w.Heard("cat", sees(map[int]int{3: 0, 5: 0, 7: 9}), f, now)
			}
		}
	}
	if asked["ann"] > 4 || asked["ben"] > 2 || asked["cat"] < 20 || w.State().News.IsZero() {
		t.Errorf("asked by player: %v; news: %v", asked, w.State().News)
	}
}

// TestNext checks that a server that everybody has looked at is decided when it is due, and that
// nothing is due if nobody is there.
func TestNext(t *testing.T) {
	w, f := waiting()
	for i := range w.state.Servers {
		w.state.Servers[i].Next = eight.Add(time.Duration(i+1) * time.Minute)
	}
	w.state.Servers[1].Words = []word{{"ann", 5}, {"ben", 0}, {"cat", 5}}
	for _, tt := range []struct {
		lookers bool
		want    roomtime.Time
		watches []int
	}{
		{true, eight.Add(time.Minute), []int{3, 5, 7}},
		{false, eight.Add(2 * time.Minute), []int{5}},
	} {
		if !tt.lookers {
			f.Servers = nil
		}
		if got := w.Next(f); got != tt.want || !slices.Equal(w.Watches(f), tt.watches) {
			t.Errorf("next is %v, of %v", got, w.Watches(f))
		}
	}
}

// golden is a wait in its saved form.
const golden = `{"began":31536000000000000,"until":31537800000000000,"servers":[` +
	`{"server":3,"ranked":{"addr":"192.0.2.3:27960","score":0,"mean_ms":0,"max_ms":0,"stdev_ms":0,"rtt_ms":null},` +
	`"asked":1,"next":31536010000000000,"free":0,"at":31536000000000000,"counts":[1],"most_at":31536000000000000},` +
	`{"server":5,"ranked":{"addr":"192.0.2.5:27960","score":0,"mean_ms":0,"max_ms":0,"stdev_ms":0,"rtt_ms":null},` +
	`"asked":2,"since":2,"next":31536002000000000,"words":[{"by":"ann","free":4}],"free":1}` +
	`],"turn":2,"look":{"by":"cat","servers":[5],"at":31536002000000000},"demerits":{"ben":1}}`

// TestSaved checks that the saved form stays the same, and comes back whole.
func TestSaved(t *testing.T) {
	w, f := waiting()
	w.state.Servers = w.state.Servers[:2]
	w.Tick(f, eight)
	w.Heard("ann", sees(map[int]int{3: 0, 5: 4}), f, eight)
	w.Tick(f, w.Next(f))
	w.blame("ben")
	data, err := json.Marshal(w.State())
	if err != nil || string(data) != golden {
		t.Errorf("%v, and not\n%v\n%v", string(data), golden, err)
	}
	var s State
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(8); err != nil {
		t.Fatal(err)
	}
	back := &Watch{s}
	if got, want := back.Next(f), w.Next(f); got != want ||
		!reflect.DeepEqual(back.View(3, nil, roomtime.Clocks{}, nil), w.View(3, nil, roomtime.Clocks{}, nil)) || back.state.Turn != 2 || back.state.Demerits["ben"] != 1 {
		t.Errorf("%+v has become %+v", w, back)
	}
	for _, spoil := range []func(*State){
		func(s *State) { s.Turn = -7 },
		func(s *State) { s.Servers[0].Since = -1 },
		func(s *State) { s.Servers[0].Silent = -1 },
		func(s *State) { s.Servers[0].Misses = -1 },
		func(s *State) { s.Servers[0].Server = 8 },
		func(s *State) { s.Servers[0].Counts = make([]int, countedSeats+2) },
		func(s *State) { s.Going = &going{Server: 4} },
	} {
		spoilt := s
		spoilt.Servers = slices.Clone(s.Servers)
		if spoil(&spoilt); spoilt.Validate(8) == nil {
			t.Errorf("%+v is taken for a wait", spoilt)
		}
	}
}

// FuzzWatch checks that the wait asks only players who can look, for servers that it watches, and
// ends in time, whatever players say and the saved room holds.
func FuzzWatch(f *testing.F) {
	f.Add([]byte(golden), []byte{0, 5, 0, 9, 200, 16, 200, 3})
	f.Add([]byte("{}"), []byte{0, 200, 16, 200, 16, 200, 16, 200, 5})
	f.Fuzz(func(t *testing.T, saved, script []byte) {
		w, facts := waiting()
		var s State
		if json.Unmarshal(saved, &s) == nil && len(s.Servers) > 0 {
			if s.Validate(8) != nil {
				return
			}
			w = &Watch{s}
		}
		now, isOver := eight, false
		servers := w.Servers()
		last, isAsked := Ask{}, false
		takes := func(events []Event) {
			for _, e := range events {
				switch e := e.(type) {
				case Ask:
					for _, server := range e.Servers {
						if !slices.Contains(servers, server) || !slices.Contains(facts.Servers[server].Lookers, e.By) {
							t.Fatalf("%s is asked to look at %v of %v", e.By, e.Servers, servers)
						}
					}
					last, isAsked = e, true
				case Open:
					if e.Free < facts.Need {
						t.Fatalf("%+v where %d seats are needed", e, facts.Need)
					}
					last, isAsked = Ask{"ann", []int{e.Server}}, true
				case Go, Over:
					isOver = true
				}
			}
		}
		for i := 0; i+1 < len(script) && !isOver; i += 2 {
			now = now.Add(time.Duration(script[i]) * 100 * time.Millisecond)
			takes(w.Tick(facts, now))
			if isAsked && !isOver && script[i+1] < 40 {
				free := map[int]int{}
				for _, server := range last.Servers {
					free[server] = int(script[i+1]) - 10
				}
				isAsked = false
				takes(w.Heard(last.By, sees(free), facts, now))
			}
			w.View(facts.Need, nil, roomtime.Clocks{Room: now}, nil)
		}
		for range 3 { // time for a last look in between
			if now = now.Add(wire.MaxWait); !isOver {
				takes(w.Tick(facts, now))
			}
		}
		if !isOver {
			t.Fatalf("no end: %+v", w.State())
		}
	})
}

// TestGentleWithOthers checks that rooms of one host that wait for the same server look at it in
// turn. None of them waits long, even after a restart of the host. A room that does not know of the
// others looks for itself.
func TestGentleWithOthers(t *testing.T) {
	const tick, restart, end = 250 * time.Millisecond, 8 * time.Minute, 14 * time.Minute
	for _, tt := range []struct {
		rooms int
		// apart is the time from the beginning of one wait to that of the next.
		apart time.Duration
		// isTold says that each room knows of the others. Else it looks for itself.
		isTold bool
		// most is the largest number of looks in ten seconds. longest is the longest time between a
		// room's looks.
		most    int
		longest time.Duration
	}{
		{1, 0, true, 1, 32 * time.Second},
		{30, 0, true, 11, 62 * time.Second},
		{30, time.Second, true, 11, 62 * time.Second},
		{150, 0, true, 14, 4 * time.Minute},
		{30, 0, false, 30, 40 * time.Second},
		{150, 0, false, 150, 40 * time.Second},
	} {
		t.Run(fmt.Sprintf("%d rooms, %v apart, told of the others: %v", tt.rooms, tt.apart, tt.isTold), func(t *testing.T) {
			full := []selection.Ranked{{Server: 0}}
			servers := selection.Servers{List: make([]discovery.Server, 1), Infos: map[int]*discovery.Info{0: {Players: 16, MaxPlayers: 16}}}
			f := Facts{Need: 2, Present: 2, Servers: map[int]Fact{0: {"server 0", []people.ID{"ann", "ben"}}}}
			rooms, asked := make([]*Watch, tt.rooms), make([]people.ID, tt.rooms)
			looks, last := []time.Duration(nil), make([]time.Duration, tt.rooms)
			for at := time.Duration(0); at < end; at += tick {
				now := eight.Add(at)
				for i := range rooms {
					if begins := tt.apart * time.Duration(i); at >= begins && at-tick < begins {
						rooms[i], last[i] = Begin(full, nil, servers, 0, now), at
					}
					if at == restart {
						rooms[i].Resume(now)
					}
					if asked[i] != "" {
						rooms[i].Heard(asked[i], sees(map[int]int{0: 0}), f, now)
						asked[i] = ""
					}
				}
				var watch []*Watch
				for _, w := range rooms {
					if w != nil && len(w.Watches(f)) > 0 {
						watch = append(watch, w)
					}
				}
				for i, w := range rooms {
					if w == nil {
						continue
					}
					if tt.isTold {
						w.Share(map[int]Demand{0: {Rooms: len(watch), Place: slices.Index(watch, w)}}, 0)
					}
					if now.Before(w.Next(f)) { // the host gives it no time until then
						continue
					}
					for _, e := range w.Tick(f, now) {
						ask, is := e.(Ask)
						if !is {
							t.Fatalf("after %v: %+v", at, e)
						}
						if at-last[i] > tt.longest {
							t.Errorf("room %d looks at %v, and before at %v", i, at, last[i])
						}
						looks, last[i] = append(looks, at), at
						asked[i] = ask.By
					}
				}
			}
			most := 0
			first := slices.IndexFunc(looks, func(at time.Duration) bool { return tt.apart == 0 || at > time.Minute }) // all have come by then
			for i := first; i < len(looks); i++ {
				for looks[i]-looks[first] >= 10*time.Second {
					first++
				}
				most = max(most, i-first+1)
			}
			t.Logf("%d looks in %v, at most %d in ten seconds", len(looks), end, most)
			if least := tt.rooms * int(end/tt.longest) / 2; most > tt.most || len(looks) < least {
				t.Errorf("%d looks, %d of them in ten seconds, not at most %d", len(looks), most, tt.most)
			}
		})
	}
}

var eight = roomtime.Opening

func words(free ...int) (words []word) {
	for i, f := range free {
		words = append(words, word{people.ID(rune('a' + i)), f})
	}
	return words
}

// TestJudge checks that at least two players have to have seen the seats if several can look, and
// more than have not.
func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		name   string
		free   []int // the players' words in order, -1 for nothing
		others int   // the number of further players who could look
		want   verdict
	}{
		{"too few", []int{4}, 4, shut},
		{"nothing heard", []int{-1}, 4, shut},
		{"seats, unchecked", []int{5}, 4, check},
		{"seats, checked", []int{5, 6}, 3, open},
		{"seats, denied", []int{5, 4}, 3, check},
		{"seats, denied by two", []int{5, 4, 0}, 2, shut},
		{"seats, denied by one of three", []int{5, 4, 5}, 2, open},
		{"seats, the checker hears nothing", []int{5, -1}, 3, check},
		{"seats, only one of all hears anything", []int{5, -1, -1}, 0, shut},
		{"one who is alone", []int{5}, 0, open},
		{"one who is alone, too few", []int{4}, 0, shut},
		{"of two one denies it", []int{5, 4}, 0, shut},
		{"of two both say so", []int{9, 5}, 0, open},
		{"undecided to the end", []int{5, 4, 5, 4}, 0, shut},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := judge(words(tt.free...), 5, tt.others); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// TestSettles checks that the looks count, and that a server that is silent, or was checked, has
// peace for longer.
func TestSettles(t *testing.T) {
	s := watched{Free: -1}
	for _, tt := range []struct {
		free           []int
		since          int
		next           time.Duration
		now, most      int
		from, to       int
		dropped, known bool
	}{
		{[]int{0}, 1, 10 * time.Second, 0, 0, 0, 0, false, true},
		{[]int{3}, 1, 10 * time.Second, 3, 3, 0, 3, false, true},
		{[]int{1}, 1, 10 * time.Second, 1, 3, 0, 3, false, true},
		{[]int{9, 1, 1}, 3, 30 * time.Second, 1, 3, 1, 1, false, true}, // the contradicted word does not count
		{[]int{-1}, 1, 20 * time.Second, -1, 3, 1, 1, false, false},
		{[]int{-1}, 1, 40 * time.Second, -1, 3, 1, 1, false, false},
		{[]int{-1}, 1, 80 * time.Second, -1, 3, 1, 1, false, false},
		{[]int{-1}, 1, 2 * time.Minute, -1, 3, 1, 1, false, false},
		{[]int{-1}, 1, 2 * time.Minute, -1, 3, 1, 1, false, false},
		{[]int{-1}, 1, 2 * time.Minute, -1, 3, 1, 1, true, false},
	} {
		s.Words, s.Since = words(tt.free...), tt.since
		s.settle(eight, 0)
		most, from, to := s.mostFree()
		if s.Next.Sub(eight) != tt.next || s.Free != tt.now || most != tt.most || from != tt.from || to != tt.to ||
			(!s.Dropped.IsZero()) != tt.dropped {
			t.Errorf("after %v: next in %v, %d free, at most %d, mostly %d to %d, dropped: %q", tt.free,
				s.Next.Sub(eight), s.Free, most, from, to, s.Dropped)
		}
	}
}
