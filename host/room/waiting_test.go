package room_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/plan/topology"
	"muster/discovery/sentence"
	"muster/host/room"
	"muster/host/room/attendance"
	"muster/host/room/roomtest"
	"muster/host/wire"
	"muster/internal/catalogue"
)

// seatSession is a session whose servers have seats by a script, and whose players look when asked.
type seatSession struct {
	*session
	names []string
	began time.Time
	// free returns a server's free seats, of 16, at a time after the beginning, or silent.
	free func(server int, at time.Duration) int
	// lies are what some players report instead.
	lies map[string]func(server int, at time.Duration) int
	// asked are the times at which anybody asked each server. by counts the questions of each
	// player.
	asked map[int][]time.Duration
	by    map[string]int
	// mute are players whose programs answer nothing.
	mute []string
}

const (
	silent   = -1
	overfull = -2 // more players than seats
)

// inFront returns a room that has failed because all servers are full.
func inFront(t *testing.T, s wire.Settings, servers int, names ...string) *seatSession {
	t.Helper()
	f := &seatSession{
		session: newSession(t, s),
		names:   names,
		asked:   map[int][]time.Duration{},
		by:      map[string]int{},
		lies:    map[string]func(int, time.Duration) int{},
	}
	f.free = func(int, time.Duration) int { return 0 }
	f.As[names[0]] = f.Room.Keys().Secret
	f.Join(names...)
	f.Listed(servers)
	f.measuresFull(servers)
	for _, name := range names {
		f.Took(name)
	}
	f.began = f.Now
	return f
}

// measuresFull reports, for everybody, servers that are all full.
func (f *seatSession) measuresFull(servers int) {
	f.Helper()
	for i, name := range f.names {
		f.Informs(name, make([]int, servers)...)
		var ms []int
		for server := range servers {
			ms = append(ms, 20+10*server+i)
		}
		f.Measures(name, ms...)
	}
	f.Done(f.names...)
}

// passes lets time pass while players look.
func (f *seatSession) passes(d time.Duration) {
	f.Helper()
	for end := f.Now.Add(d); f.Now.Before(end); {
		f.Wait(tick)
		for _, name := range f.names {
			var looks []wire.Finalists
			f.Sent[name] = slices.DeleteFunc(f.Sent[name], func(m wire.Message) bool {
				asked, is := m.(wire.Finalists)
				if is {
					looks = append(looks, asked)
				}
				return is
			})
			for _, asked := range looks {
				if !slices.Contains(f.mute, name) {
					f.glances(name, asked)
				}
			}
		}
	}
}

func (f *seatSession) glances(name string, asked wire.Finalists) {
	f.Helper()
	at := f.Now.Sub(f.began)
	v := wire.Verified{Round: asked.Round, Attempt: asked.Attempt}
	for _, server := range asked.Servers {
		f.asked[server] = append(f.asked[server], at)
		f.by[name]++
		say := f.free
		if lie := f.lies[name]; lie != nil {
			say = lie
		}
		free := say(server, at)
		seen := wire.Finalist{
			Server: server,
			State:  discovery.Answered,
			RTTs:   []float64{30},
			Sent:   1,
			Info:   &discovery.Info{Name: fmt.Sprint("server ", server), Map: "oa_dm1", Players: 16 - free, MaxPlayers: 16},
		}
		switch free {
		case silent:
			seen.State, seen.RTTs, seen.Info = discovery.Lost, []float64{}, nil
		case overfull:
			seen.Info.Players = 40
		}
		v.Servers = append(v.Servers, seen)
	}
	f.Says(name, v)
}

// gently requires that no server was asked more often than once every ten seconds, except to check
// an opening and for everybody's last look.
func (f *seatSession) gently(openings int) {
	f.Helper()
	for server, at := range f.asked {
		for i := range at {
			within := 0
			for _, later := range at[i:] {
				within += count(later-at[i] < time.Minute)
			}
			if most := 6 + 3 + openings*len(f.names); within > most {
				f.Errorf("server %d was asked %d times in a minute, by all together: %v", server, within, at)
				return
			}
		}
	}
}

func five() []string { return []string{"ann", "ben", "cat", "dan", "eve"} }

// TestSeatsForAll checks that one player asks at a time while the whole group waits, and that all
// go once together.
func TestSeatsForAll(t *testing.T) {
	f := inFront(t, settings(5), 2, five()...)
	f.InStage(wire.Failed)
	advice := f.View().Choice.Advice
	at := slices.IndexFunc(advice, func(a wire.Advice) bool { return a.Action == "await" })
	if at < 0 || advice[at].Seats != 5 || advice[at].Servers != 2 || advice[at].Addr != addrOf(0).String() {
		t.Fatalf("the organiser is advised to %+v", advice)
	}
	if err := f.Orders(room.AwaitSeats{}); err != nil {
		t.Fatal(err)
	}
	f.InStage(wire.Waiting)
	f.free = func(server int, at time.Duration) int {
		switch {
		case server == 1 && at > 4*time.Minute:
			return 6
		case server == 0 && at > time.Minute:
			return 3
		}
		return 0
	}
	f.passes(3 * time.Minute)
	seats := f.View().Seats
	if seats == nil || seats.Need != 5 || len(seats.Servers) != 2 || seats.Servers[0].Free != 3 ||
		seats.Servers[0].Most != 3 || seats.Servers[1].Free != 0 || seats.Servers[0].Asked < 15 || seats.Servers[0].Asked > 19 {
		t.Fatalf("people see %+v", seats)
	}
	f.gently(0)
	fewest, most := 1000, 0
	for _, name := range f.names {
		fewest, most = min(fewest, f.by[name]), max(most, f.by[name])
	}
	if most-fewest > 2 {
		t.Errorf("not all take turns: %v", f.by)
	}
	f.passes(90 * time.Second)
	f.GoesTo(1)
	f.gently(1)
	f.Noted("waiting for 5 seats for everyone on 192.0.2.0:27960, or 192.0.2.1:27960, for up to 30 minutes: " +
		"one of you checks at a time, every 10s at first")
	for _, name := range f.names {
		if n := strings.Count(f.Took(name), "launch"); n != 1 {
			t.Errorf("%s was sent there %d times", name, n)
		}
	}
	if f.View().Choice.Target != addrOf(1).String() || f.View().Seats != nil {
		t.Errorf("people are shown %+v", f.View().Choice)
	}
}

// TestGentleForAnyNumber checks that two players ask as often as sixteen.
func TestGentleForAnyNumber(t *testing.T) {
	asked := map[int]int{}
	for _, players := range []int{2, 16} {
		var names []string
		for i := range players {
			names = append(names, fmt.Sprintf("player %d", i))
		}
		f := inFront(t, settings(players), 1, names...)
		f.Orders(room.AwaitSeats{})
		f.passes(20 * time.Minute)
		f.InStage(wire.Waiting)
		f.gently(0)
		asked[players] = len(f.asked[0])
	}
	// 30 in the first five minutes, 30 in the next ten, ten in the last five.
	if asked[2] != asked[16] || asked[2] > 70 || asked[2] < 60 {
		t.Errorf("questions in 20 minutes, by players: %v", asked)
	}
}

// TestGentleWithOthers checks that a host's rooms that wait for one server look in turn, a second
// apart, even after a restart. Each still looks once in two minutes and a look's time.
func TestGentleWithOthers(t *testing.T) {
	t.Parallel()
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
		{4, 0, true, 4, 36 * time.Second},
		{12, time.Second, true, 11, 45 * time.Second},
		{12, 0, false, 12, 40 * time.Second},
	} {
		t.Run(fmt.Sprintf("%d rooms, %v apart, told of the others: %v", tt.rooms, tt.apart, tt.isTold), func(t *testing.T) {
			rooms := make([]*seatSession, tt.rooms)
			for i := range rooms {
				rooms[i] = inFront(t, settings(2), 1, "ann", "ben")
				if watches := rooms[i].Room.Watches(); watches != nil {
					t.Fatalf("a room that has failed watches %v", watches)
				}
			}
			var looks []time.Duration // the looks of all rooms
			last := make([]time.Duration, tt.rooms)
			const restart, end = 8 * time.Minute, 14 * time.Minute
			for now := time.Duration(0); now < end; now += tick {
				for i, f := range rooms {
					if begins := tt.apart * time.Duration(i); now >= begins && now-tick < begins {
						f.Orders(room.AwaitSeats{})
						last[i] = now
					}
					if now == restart {
						f.Gone("ann")
						f.Gone("ben")
						if watches := f.Room.Watches(); watches != nil {
							t.Fatalf("a room with nobody in it watches %v", watches)
						}
						f.Step(room.Resume{})
						f.Join("ann", "ben")
					}
				}
				var watch []*seatSession
				for _, f := range rooms {
					if slices.Equal(f.Room.Watches(), []netip.AddrPort{addrOf(0)}) {
						watch = append(watch, f)
					}
				}
				for i, f := range rooms {
					f.Demand = nil
					if place := slices.Index(watch, f); place >= 0 && tt.isTold {
						f.Demand = map[netip.AddrPort]room.Demand{addrOf(0): {Rooms: len(watch), Place: place}}
					}
					if f.Now.Add(tick).Before(f.Room.Next()) { // the host gives it no time until then
						f.Now = f.Now.Add(tick)
						continue
					}
					before := len(f.asked[0])
					f.passes(tick)
					for range f.asked[0][before:] {
						if now-last[i] > tt.longest {
							t.Errorf("room %d looks at %v, and before at %v", i, now, last[i])
						}
						looks, last[i] = append(looks, now), now
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

// TestSeatsAreChecked checks that a room that waits is safe from attackers and odd servers.
func TestSeatsAreChecked(t *testing.T) {
	always := func(free int) func(int, time.Duration) int { return func(int, time.Duration) int { return free } }
	soon := func(_ int, at time.Duration) int { return 16 * count(at > 5*time.Minute) }
	tests := []struct {
		name  string
		names []string
		free  func(int, time.Duration) int
		lies  map[string]func(int, time.Duration) int
		mute  []string
		goes  bool
		most  int // questions in a quarter of an hour
	}{
		{"one says that there are seats, and there are none", five(), always(0),
			map[string]func(int, time.Duration) int{"ben": always(16)}, nil, false, 66},
		{"one of two says so", five()[:2], always(0), map[string]func(int, time.Duration) int{"ben": always(16)}, nil, false, 66},
		{"one says that there are none, and there are", five(), soon, map[string]func(int, time.Duration) int{"ben": always(0)}, nil, true, 66},
		{"two of five keep the room waiting", five(), soon,
			map[string]func(int, time.Duration) int{"ann": always(0), "eve": always(0)}, nil, true, 66},
		{"one hears nothing", five(), soon, map[string]func(int, time.Duration) int{"ben": always(silent)}, nil, true, 66},
		{"one answers nothing", five(), soon, nil, []string{"ben"}, true, 66},
		{"three answer nothing, and called it full before", five(), soon, nil, []string{"ben", "cat", "dan"}, true, 66},
		{"more players than seats", five(), always(overfull), nil, nil, false, 66},
		{"somebody who is alone", []string{"ann"}, soon, nil, nil, true, 66},
		{"the server is silent", five(), always(silent), nil, nil, false, 10},
		{"the server flaps", five(), func(_ int, at time.Duration) int { return 16 * int(at/time.Second%2) }, nil, nil, false, 120},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := inFront(t, settings(len(tt.names)), 1, tt.names...)
			f.Orders(room.AwaitSeats{})
			f.free, f.mute = tt.free, tt.mute
			if tt.lies != nil {
				f.lies = tt.lies
			}
			f.passes(15 * time.Minute)
			if went := f.Room.Stage() == wire.Launching; went != tt.goes && tt.name != "the server flaps" {
				t.Errorf("everybody goes: %v, want %v; the log:\n%s", went, tt.goes, f.Story())
			}
			f.gently(3)
			if n := len(f.asked[0]); n > tt.most {
				t.Errorf("%d questions, at %v", n, f.asked[0])
			}
		})
	}
}

// TestFilledUpAgain checks that seats that are gone in the last look send nobody anywhere, and that
// the room gives up after three times.
func TestFilledUpAgain(t *testing.T) {
	f := inFront(t, settings(5), 1, five()...)
	f.Orders(room.AwaitSeats{})
	f.free = func(int, time.Duration) int { // the seats are there for the two who check, and gone when all look
		if seats := f.View().Seats; seats != nil && seats.Target != "" {
			return 2
		}
		return 5
	}
	f.passes(time.Minute)
	f.InStage(wire.Waiting)
	f.Noted("server 0 (192.0.2.0:27960) filled up again at the last moment: 2 of 5 seats free; still waiting")
	f.passes(5 * time.Minute)
	f.InStage(wire.Failed)
	f.gently(2)
	seats := f.View().Seats
	if seats == nil || seats.Over.IsZero() || seats.Servers[0].Dropped != sentence.Of("seats.dropped-filled", "n", 3) {
		t.Errorf("people see %+v", seats)
	}
}

// TestGivesUp checks that the room gives up after the organiser's time, and says what it saw.
func TestGivesUp(t *testing.T) {
	s := settings(5)
	s.Wait = discovery.Millis(10 * time.Minute)
	f := inFront(t, s, 1, five()...)
	f.InStage(wire.Waiting) // the room begins by itself, because the organiser wants that
	f.free = func(_ int, at time.Duration) int {
		return 3*count(at > 5*time.Minute && at < 6*time.Minute) + count(at > 8*time.Minute)
	}
	f.passes(11 * time.Minute)
	f.InStage(wire.Failed)
	f.Noted("There were never 5 seats at once in 10 minutes. server 0 (192.0.2.0:27960) had at most 3 seats free, mostly 0")
	if seats := f.View().Seats; seats.Over.IsZero() || !strings.Contains(catalogue.InEnglish().Say(seats.Chance), "at most 3 seats free") || !f.View().Room.Retry.IsZero() {
		t.Errorf("people see %+v", seats)
	}
	f.passes(time.Minute)
	if err := f.Orders(room.AwaitSeats{}); err != nil { // and once more
		t.Error(err)
	}
	f.InStage(wire.Waiting)
	if err := f.Orders(room.Unwait{}); err != nil {
		t.Error(err)
	}
	f.InStage(wire.Failed)
	if err := f.Orders(room.Unwait{}); err == nil {
		t.Error("a wait is ended that is over")
	}
}

// TestGroupChanges checks that a player who comes needs a seat too, and that one who left needs
// none.
func TestGroupChanges(t *testing.T) {
	s := settings(0)
	s.Players = 0
	f := newSession(t, s)
	f.As["ann"] = f.Room.Keys().Secret
	f.Join("ann", "ben", "cat")
	f.Goes()
	f.Listed(1)
	for _, name := range []string{"ann", "ben", "cat"} {
		f.Informs(name, 0)
		f.Measures(name, 20)
	}
	f.Done("ann", "ben", "cat")
	f.Orders(room.AwaitSeats{})
	for _, tt := range []struct {
		what string
		does func()
		need int
	}{
		{"as many as are there", func() {}, 3},
		{"one comes", func() { f.Join("dan") }, 4},
		{"one is away for a moment", func() { f.Gone("ben"); f.Wait(attendance.GoneAfter / 2) }, 4},
		{"one has left", func() { f.Wait(attendance.GoneAfter) }, 3},
		{"and is back", func() { f.Join("ben") }, 4},
		{"the organiser removes one", func() { f.Orders(room.Remove{Name: "dan"}) }, 3},
	} {
		if tt.does(); f.View().Seats.Need != tt.need {
			t.Errorf("%s: %d seats are wanted, not %d; the log:\n%s", tt.what, f.View().Seats.Need, tt.need, f.Story())
		}
		if isOut := f.IsOut("ben"); isOut != (tt.what == "one has left") {
			t.Errorf("%s: ben has no say: %v", tt.what, isOut)
		}
	}
}

// TestThoseLeft checks that players who did not get in wait for a seat, and that the others are
// left alone.
func TestThoseLeft(t *testing.T) {
	f := inFront(t, settings(5), 1, five()...)
	f.Orders(room.AwaitSeats{})
	f.free = func(_ int, at time.Duration) int {
		return map[bool]int{true: 5, false: 0}[at < time.Minute] + 2*count(at > 5*time.Minute)
	}
	f.passes(time.Minute)
	f.GoesTo(0)
	for _, name := range f.names {
		f.Took(name)
		f.Says(name, wire.Launched{Round: 1, State: wire.LaunchStarted})
	}
	for _, bad := range [][]string{nil, {"nobody"}} {
		if err := f.Orders(room.AwaitSeats{Names: bad}); err == nil {
			t.Errorf("seats are awaited for %v", bad)
		}
	}
	if err := f.Orders(room.AwaitSeats{Names: []string{"dan", "eve", "dan"}}); err != nil {
		t.Fatal(err)
	}
	if seats := f.View().Seats; seats.Need != 2 || !slices.Equal(seats.For, []string{"dan", "eve"}) {
		t.Errorf("people see %+v", seats)
	}
	f.passes(8 * time.Minute)
	f.GoesTo(0)
	f.gently(1)
	for _, name := range f.names {
		want := count(name == "dan" || name == "eve")
		if n := strings.Count(f.Took(name), "launch"); n != want {
			t.Errorf("%s was sent there %d times, not %d", name, n, want)
		}
	}
	f.Noted("there’s a seat now for dan and eve: off to server 0 (192.0.2.0:27960)")
	f.free = func(int, time.Duration) int { return 0 }
	f.Orders(room.AwaitSeats{Names: []string{"eve"}})
	f.passes(15 * time.Second)
	for _, name := range f.names {
		f.Took(name)
	}
	if err := f.Acts(f.PageOf("eve"), room.Arrived{}); err != nil {
		t.Error(err)
	}
	f.Now = f.Room.Next() // when a host gives the room the time
	f.Step(room.Tick{})
	f.InStage(wire.Launching)
	for _, name := range f.names { // she is in, so nobody asks any more
		if got := f.Took(name); got != "" {
			t.Errorf("once she is in %s is sent %q", name, got)
		}
	}
	f.Noted("nobody is left outside: no more waiting for seats")
}

// TestInstead checks that the next best server with seats is shown while the room waits for the
// best, and that one order goes there.
func TestInstead(t *testing.T) {
	f := inFront(t, settings(5), 3, five()...)
	f.free = func(server int, _ time.Duration) int { return 9 * count(server == 2) }
	f.Orders(room.AwaitSeats{})
	for _, name := range f.names { // the room learns only now that the third has seats
		f.Says(name, wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: 2, Info: discovery.Info{Players: 7, MaxPlayers: 16}}}})
	}
	f.Orders(room.Unwait{})
	f.Orders(room.AwaitSeats{})
	f.passes(3 * time.Minute)
	seats := f.View().Seats
	if len(seats.Servers) != 2 || len(seats.Instead) != 1 || seats.Instead[0].Addr != addrOf(2).String() ||
		seats.Instead[0].Free != 9 || seats.Instead[0].RTT["ann"] != 40 {
		t.Fatalf("people see %+v", seats)
	}
	if n := len(f.asked[2]); n > 4 {
		t.Errorf("what is only shown was asked %d times", n)
	}
	if err := f.Orders(room.Unwait{Instead: true}); err != nil {
		t.Fatal(err)
	}
	f.passes(5 * time.Second)
	f.GoesTo(2)
}

// TestNamedServer checks that the organiser can wait for one named server, even while people vote
// on others with seats.
func TestNamedServer(t *testing.T) {
	s := settings(5)
	s.Agree = wire.Yes
	f := inFront(t, s, 3, five()...)
	f.free = func(server int, _ time.Duration) int { return 9 * count(server == 2) }
	for _, name := range f.names {
		f.Says(name, wire.Infos{Round: 1, Servers: []wire.ServerInfo{{Server: 2, Info: discovery.Info{Players: 7, MaxPlayers: 16}}}})
	}
	f.Orders(room.AwaitSeats{})
	f.Orders(room.Unwait{Instead: true})
	f.passes(10 * time.Second)
	if !f.IsVoting() {
		t.Fatalf("nobody votes; the log:\n%s", f.Story())
	}
	advice := f.View().Choice.Advice
	at := slices.IndexFunc(advice, func(a wire.Advice) bool { return a.Action == "await" })
	if at < 0 || advice[at].Seats != 5 || advice[at].Addr != addrOf(0).String() {
		t.Errorf("the organiser is advised to %+v", advice)
	}
	for _, bad := range []netip.AddrPort{addrOf(7), netip.MustParseAddrPort("[::1]:1")} {
		if err := f.Orders(room.AwaitSeats{Addr: hostport.At(bad)}); err == nil {
			t.Errorf("the room waits for seats on %v", bad)
		}
	}
	if err := f.Orders(room.AwaitSeats{Addr: hostport.At(addrOf(1))}); err != nil {
		t.Fatal(err)
	}
	if seats := f.View().Seats; len(seats.Servers) != 1 || seats.Servers[0].Addr != addrOf(1).String() {
		t.Errorf("people see %+v", seats)
	}
	f.free = func(int, time.Duration) int { return 9 } // the best has seats now, too
	f.passes(time.Minute)
	f.GoesTo(1)
	if f.View().Choice.Target != addrOf(1).String() {
		t.Errorf("people are shown %+v", f.View().Choice.Target)
	}
}

// TestWaitingIsSaved checks that a restarted host goes on waiting, and that its absence takes nothing
// from the wait.
func TestWaitingIsSaved(t *testing.T) {
	f := inFront(t, settings(5), 1, five()...)
	f.Orders(room.AwaitSeats{})
	f.free = func(_ int, at time.Duration) int { return 5 * count(at > 4*time.Minute) }
	f.passes(95 * time.Second)
	before := f.View().Seats
	f.Restarts(time.Minute)
	f.Join(f.names...)
	after := f.View().Seats
	if after.Need != 5 || !after.Until.Equal(before.Until.Add(time.Minute)) || after.Servers[0].Asked != before.Servers[0].Asked {
		t.Errorf("%+v has become %+v", before, after)
	}
	f.passes(3 * time.Minute)
	f.GoesTo(0)
	f.gently(1)
}

// TestWaitingWakes checks that a waiting room asks for the time exactly when there is something to
// do.
func TestWaitingWakes(t *testing.T) {
	f := inFront(t, settings(5), 1, five()...)
	f.Orders(room.AwaitSeats{})
	f.passes(time.Second)
	if seats := f.View().Seats; !f.Room.Next().Equal(seats.Servers[0].Next) {
		t.Errorf("the next look is at %v, and the room wakes at %v", seats.Servers[0].Next, f.Room.Next())
	}
	for _, name := range f.names {
		f.Gone(name)
	}
	f.Wait(2 * attendance.GoneAfter)
	if next := f.Room.Next(); !next.Equal(f.View().Seats.Until) {
		t.Errorf("nobody is here, and the room wakes in %v", next.Sub(f.Now))
	}
	f.Join("ann")
	f.Wait(tick)
	if need := f.View().Seats.Need; need != 1 {
		t.Errorf("only one has come back, and %d seats are wanted", need)
	}
}

// TestUnwholeWait checks that an invalid wait in a saved room that somebody edited ends nothing.
func TestUnwholeWait(t *testing.T) {
	f := inFront(t, settings(5), 1, five()...)
	f.Orders(room.AwaitSeats{})
	for _, spoil := range [][2]string{
		{`"turn":0`, `"turn":-7`},
		{`"wait":{"began":`, `"settled":{"began":`},
	} {
		data, err := f.Room.Save()
		if err != nil || !strings.Contains(string(data), spoil[0]) {
			t.Fatalf("no %s in the saved room: %v", spoil[0], err)
		}
		data = []byte(strings.Replace(string(data), spoil[0], spoil[1], 1))
		if _, err := room.Restore(data, topology.New); err == nil {
			t.Errorf("with %s it is taken for a room", spoil[1])
		}
	}
}

// TestWaitWithoutList checks that a room that has given up its wait still stands after it loses its
// list.
func TestWaitWithoutList(t *testing.T) {
	f := &seatSession{session: newSession(t, settings(5)), names: five()}
	f.Join(f.names...)
	f.Step(room.Listed{List: topology.New(room.Shared(listOf(1), nil)), Kept: "gone"})
	f.measuresFull(1)
	f.Orders(room.AwaitSeats{})
	f.InStage(wire.Waiting)
	f.Orders(room.Unwait{})
	if f.View().Seats == nil {
		t.Fatalf("nobody sees the wait that is over; the log:\n%s", f.Story())
	}
	data := roomtest.Saved(t, f.Room)
	r, err := room.RestoreKept(data, topology.New, room.Kept{
		List: func(string) (*topology.Tree, error) { return nil, nil },
		Own:  func(string) ([]netip.AddrPort, error) { return nil, nil },
	})
	if err != nil || r.Stage() != wire.Failed || r.Snapshot().Seats != nil {
		t.Errorf("the room is %v: %v", r, err)
	}
}
