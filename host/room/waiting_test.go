package room_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/discovery/sentence"
	"muster/host/room"
	"muster/host/room/attendance"
	"muster/host/room/roomtest"
	"muster/host/wire"
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

// TestFilledUpAgain checks that the room gives up a server whose seats are gone three times as everybody
// looks.
func TestFilledUpAgain(t *testing.T) {
	f := inFront(t, settings(5), 1, five()...)
	f.Orders(room.AwaitSeats{})
	f.free = func(int, time.Duration) int { // the seats are there for the two who check
		if seats := f.View().Seats; seats != nil && seats.Target != "" {
			return 2
		}
		return 5
	}
	f.passes(6 * time.Minute)
	f.InStage(wire.Failed)
	f.gently(2)
	if seats := f.View().Seats; seats == nil || seats.Over.IsZero() || seats.Servers[0].Dropped != sentence.Of("seats.dropped-filled", "n", 3) {
		t.Errorf("people see %+v", seats)
	}
}

// TestWatches checks that a waiting room says which servers it watches, asks for the time exactly when
// there is something to do, and looks later than other rooms before it in the row.
func TestWatches(t *testing.T) {
	first := map[int]time.Duration{}
	for _, place := range []int{0, 5} {
		f := inFront(t, settings(5), 1, five()...)
		if watches := f.Room.Watches(); watches != nil {
			t.Errorf("a room that has failed watches %v", watches)
		}
		f.Orders(room.AwaitSeats{})
		if watches := f.Room.Watches(); !slices.Equal(watches, []netip.AddrPort{addrOf(0)}) {
			t.Errorf("it watches %v", watches)
		}
		f.Demand = map[netip.AddrPort]room.Demand{addrOf(0): {Rooms: 6, Place: place}}
		f.passes(time.Minute)
		if seats := f.View().Seats; !f.Room.Next().Equal(seats.Servers[0].Next) {
			t.Errorf("the next look is at %v, and the room wakes at %v", seats.Servers[0].Next, f.Room.Next())
		}
		first[place] = f.asked[0][0]
		for _, name := range f.names {
			f.Gone(name)
		}
		f.Wait(2 * attendance.GoneAfter)
		if next := f.Room.Next(); f.Room.Watches() != nil || !next.Equal(f.View().Seats.Until) {
			t.Errorf("nobody is here, and the room wakes in %v, and watches %v", next.Sub(f.Now), f.Room.Watches())
		}
		f.Join("ann")
		f.Wait(tick)
		if need := f.View().Seats.Need; need != 1 {
			t.Errorf("only one has come back, and %d seats are wanted", need)
		}
	}
	if first[5] <= first[0] {
		t.Errorf("the first room looks after %v, the last after %v", first[0], first[5])
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
