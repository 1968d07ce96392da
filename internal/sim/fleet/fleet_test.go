package fleet

import (
	"context"
	"errors"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/internal/await"
	"muster/internal/sim"
)

// layouts are the ways for a fleet to spread on this system.
var layouts = map[string]bool{"by address": false, "one address": true}

func TestAnswersAfterThePlacesRTT(t *testing.T) {
	t.Parallel()
	rtts := []time.Duration{15 * time.Millisecond, 150 * time.Millisecond, 300 * time.Millisecond}
	w := handWorld(rtts, server("203.0.113.7:27960"), server("203.0.113.7:27961"), server("198.51.100.1:27960"))
	for name, oneAddress := range layouts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startFleet(t, Options{World: w, OneAddress: oneAddress})
			for place, want := range rtts {
				for i, s := range f.Servers() {
					a := newAsker(t, f.Source(place), s.Addr)
					f.Seat(localAddr(a.UDPConn), place)
					for begun, late := time.Now(), true; late; { // a busy machine may be late, though not always
						reply, rtt := a.mustAsk(getinfo)
						if !strings.Contains(string(reply), `\hostname\`+w.Servers[i].Info.Name+`\`) {
							t.Errorf("server %d answered %q", i, reply)
						}
						late = rtt > want+100*time.Millisecond
						if rtt < want || late && time.Since(begun) > patience {
							t.Fatalf("place %d, server %d: RTT %v, want %v", place, i, rtt, want)
						}
					}
				}
			}
		})
	}
}

func TestTellsPlacesBySeat(t *testing.T) {
	w := handWorld([]time.Duration{1, 2, 3}, server("203.0.113.7:27960"))
	seen := make(chan Exchange, 1)
	f := startFleet(t, Options{World: w, Home: 2, Sent: func(e Exchange) { seen <- e }})
	a := newAsker(t, loopback, f.Servers()[0].Addr)
	for _, want := range []int{2, 1, 0} {
		switch want {
		case 1:
			f.Seat(netip.AddrPortFrom(loopback, 0), 1)
		case 0:
			f.Seat(localAddr(a.UDPConn), 0)
		}
		a.mustAsk(getinfo)
		e := <-seen
		if e.Place != want || e.Source != localAddr(a.UDPConn) || e.RTT != w.RTT(want, 0) || e.Held < e.RTT {
			t.Errorf("%+v, want place %d", e, want)
		}
	}
}

func TestKeepsStates(t *testing.T) {
	t.Parallel()
	w := handWorld([]time.Duration{time.Millisecond},
		with(server("203.0.113.1:27960"), func(s *sim.Server) { s.Silent = true }),
		with(server("203.0.113.2:27960"), func(s *sim.Server) { s.Refusing = true }),
		with(server("203.0.113.2:27961"), func(s *sim.Server) { s.Refusing = true }),
		with(server("203.0.113.3:27960"), func(s *sim.Server) { s.Loss = 1 }),
		server("203.0.113.3:27961"))
	for name, oneAddress := range layouts {
		t.Run(name, func(t *testing.T) {
			f := startFleet(t, Options{World: w, OneAddress: oneAddress})
			var got []string
			want := []string{"lost", "refused", "refused", "lost", "answered"}
			for i, s := range f.Servers() {
				wait := patience
				if want[i] == "lost" {
					wait = silence
				}
				_, _, err := newAsker(t, f.Source(0), s.Addr).ask(getinfo, wait)
				got = append(got, outcome(err))
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "answered"
	case isTimeout(err):
		return "lost"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	}
	return err.Error()
}

func TestLimitsBySourceAddress(t *testing.T) {
	t.Parallel()
	w := handWorld([]time.Duration{0}, with(server("203.0.113.1:27960"), func(s *sim.Server) { s.Limited = true }))
	f := startFleet(t, Options{World: w})
	addr := f.Servers()[0].Addr
	first, second := newAsker(t, f.Source(0), addr), newAsker(t, f.Source(0), addr)
	began, answered := time.Now(), 0
	for f.counted().limited == 0 && answered < 10*limitBurst {
		asker, question := first, getinfo
		if answered%2 == 1 {
			asker, question = second, getstatus
		}
		asker.say(question)
		await.Until(t, func() bool {
			got := f.counted()
			return got.replies+got.limited > answered
		}, "question %d is not counted", answered+1)
		answered = f.counted().replies
	}
	if most := limitBurst + int(time.Since(began)/limitPeriod); answered < limitBurst || answered > most {
		t.Errorf("it answers %d times, want %d to %d", answered, limitBurst, most)
	}
	newAsker(t, f.Source(0).Next(), addr).mustAsk(getinfo)
	_ = f.Close() // so that everything is counted
	if got := f.counted(); got.limited != 1 || got.replies != answered+1 || got.queries != answered+2 {
		t.Errorf("stats %+v, after %d answers", got, answered)
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	w := handWorld([]time.Duration{0}, server("203.0.113.1:27960"))
	f := startFleet(t, Options{World: w})
	a := newAsker(t, f.Source(0), f.Servers()[0].Addr)
	f.Update(0, func(s *sim.Server) { s.Silent, s.Refusing = true, true })
	a.mustStaySilent(getinfo)
	f.Update(0, func(s *sim.Server) { s.Silent, s.Info.Players, s.Info.Map = false, 8, "oa_dm1" })
	reply, _ := a.mustAsk(getinfo)
	if got := string(reply); !strings.Contains(got, `\clients\8\`) || !strings.Contains(got, `\mapname\oa_dm1\`) {
		t.Errorf("reply %q", got)
	}
	if w.Servers[0].Info.Players != 2 {
		t.Error("the update changed the world it came from")
	}
}

func TestStatusNamesPlayers(t *testing.T) {
	w := handWorld([]time.Duration{0}, server("203.0.113.1:27960"))
	f := startFleet(t, Options{World: w})
	a := newAsker(t, f.Source(0), f.Servers()[0].Addr)
	reply, _ := a.mustAsk(getstatus)
	again, _ := a.mustAsk(getstatus)
	lines := strings.Split(strings.TrimSuffix(string(reply), "\n"), "\n")
	if len(lines) != 4 || lines[0] != "\xff\xff\xff\xffstatusResponse" {
		t.Fatalf("reply %q", reply)
	}
	if !strings.HasSuffix(lines[2], `"`) || !strings.Contains(lines[3], ` 0 "`) {
		t.Errorf("players %q, want a human, then a bot with ping 0", lines[2:])
	}
	for i, name := range f.Players(0) {
		if !strings.HasSuffix(lines[2+i], `"`+name+`"`) {
			t.Errorf("player %d is %q, and is %q in the reply", i, name, lines[2+i])
		}
	}
	if string(reply) != string(again) {
		t.Error("two replies differ")
	}
}

func TestIgnoresNoise(t *testing.T) {
	w := handWorld([]time.Duration{0}, server("203.0.113.1:27960"))
	for kind, sense := range map[Kind]string{Quake3: getinfo, A2S: a2sInfo} {
		f := startFleet(t, Options{World: w, Kind: kind})
		a := newAsker(t, f.Source(0), f.Servers()[0].Addr)
		for _, noise := range []string{"", "x", "\xff\xff\xff\xff", "\xff\xff\xff\xffgetservers 68", strings.Repeat("\xff", 9000)} {
			a.say(noise)
		}
		a.mustAsk(sense) // everything before it has been handled
		_ = f.Close()
		if got := f.counted(); got.malformed != 5 || got.replies != 1 {
			t.Errorf("%s: stats %+v", kind, got)
		}
	}
}

func TestEndsWithItsContext(t *testing.T) {
	before, files := runtime.NumGoroutine(), openFiles(t)
	ctx, cancel := context.WithCancel(context.Background())
	f, err := Start(ctx, Options{Kind: Quake3, World: handWorld([]time.Duration{time.Hour}, server("203.0.113.1:27960"))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newAsker(t, f.Source(0), f.Servers()[0].Addr).Write([]byte(getinfo)); err != nil {
		t.Fatal(err)
	}
	cancel()
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	// A goroutine that has finished its work may still be exiting.
	for end := time.Now().Add(patience); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
	if after := openFiles(t) - 1; after > files { // the asker's
		t.Errorf("%d open files, %d before", after, files)
	}
}

func TestNeedsFreePorts(t *testing.T) {
	w := handWorld([]time.Duration{0}, server("203.0.113.1:27960"))
	f := startFleet(t, Options{World: w})
	before := openFiles(t)
	_, err := Start(context.Background(), Options{World: w, Kind: Quake3, Port: f.Servers()[0].Addr.Port()})
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("error %v, want port in use", err)
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d open files, %d before", after, before)
	}
}

func TestRefusesNonsense(t *testing.T) {
	w := handWorld([]time.Duration{0}, server("203.0.113.1:27960"))
	crammed := handWorld([]time.Duration{0}, server("203.0.113.1:27960"), server("203.0.113.1:27961"))
	for name, o := range map[string]Options{
		"no world":   {Kind: Quake3},
		"no servers": {Kind: Quake3, World: handWorld([]time.Duration{0})},
		"no places":  {Kind: Quake3, World: handWorld(nil, server("203.0.113.1:27960"))},
		"no kind":    {World: w},
		"no home":    {World: w, Kind: Quake3, Home: 1},
		"no ports":   {World: crammed, Kind: Quake3, Port: 65535},
	} {
		if _, err := Start(context.Background(), o); err == nil {
			t.Errorf("%s: started", name)
		}
	}
}
