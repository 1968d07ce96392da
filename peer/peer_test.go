package peer_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/leak"
	"muster/peer"
)

// The best server for ann and the others is the last one that answers: 208 ms for her and 14 for each of them.
const best = 198

func launching(room wire.Document) bool { return room.Stage == wire.Launching }

func allLaunched(room wire.Document) bool {
	for _, m := range room.Members {
		if m.Launch == "" || m.Launch == wire.LaunchAsking {
			return false
		}
	}
	return launching(room)
}

// finishes plays a session to its end.
func finishes(tb *table, seats ...*seat) wire.Document {
	tb.Helper()
	for _, s := range seats {
		if err := s.done(); err != nil {
			tb.Errorf("%s ends with %v", s.options.Name, err)
		}
	}
	room := tb.room("a launch for everyone", allLaunched)
	if want := address(best).String(); room.Connect != want {
		tb.Errorf("everyone goes to %s, want %s", room.Connect, want)
	}
	return room
}

func TestNight(t *testing.T) {
	tb := newTable(t, 3)
	seats := []*seat{newSeat(tb, "ann"), newSeat(tb, "bob"), newSeat(tb, "cat")}
	for _, s := range seats {
		defer s.sit()()
	}
	room := finishes(tb, seats...)
	for _, s := range seats {
		s.askedOnce(listed)
		m := member(room, s.options.Name)
		if m.Probed != listed || m.Answered != listed-29 || !m.Done || m.Launch != wire.LaunchStarted {
			t.Errorf("the room says of %s: %+v", s.options.Name, m)
		}
		var last peer.Progress
		for _, e := range s.events {
			if p, ok := e.(peer.Progress); ok {
				last = p
			}
		}
		if (last != peer.Progress{Probed: listed, Answered: listed - 29, Listed: listed}) || s.joins() != 1 {
			t.Errorf("%s saw %d joins and the progress %+v", s.options.Name, s.joins(), last)
		}
	}
	if room.Server != "server 198 (192.0.2.198:27960)" {
		t.Errorf("the server is called %q: finalists are asked for their names", room.Server)
	}
}

// TestLaunchStates checks that the room learns how each launch ended.
func TestLaunchStates(t *testing.T) {
	tb := newTable(t, 3)
	ann, bob, cat := newSeat(tb, "ann"), newSeat(tb, "bob"), newSeat(tb, "cat")
	ann.says, bob.says, cat.says = wire.LaunchDeclined, wire.LaunchByHand, wire.LaunchFailed
	cat.detail = "exec: \"openarena\":\n\tnot found"
	for _, s := range []*seat{ann, bob, cat} {
		defer s.sit()()
	}
	room := finishes(tb, ann, bob, cat)
	for name, want := range map[string]wire.LaunchState{"ann": wire.LaunchDeclined, "bob": wire.LaunchByHand, "cat": wire.LaunchFailed} {
		if got := member(room, name).Launch; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := member(room, "cat").Detail; got != `exec: "openarena": not found` {
		t.Errorf("cat's detail is %q", got)
	}
}

// TestSecondRound checks that players who stay play the next round and measure again.
func TestSecondRound(t *testing.T) {
	t.Parallel()
	tb := newTable(t, 1)
	ann := newSeat(tb, "ann")
	ann.options.Once = false
	leave := ann.sit()
	launched := func(round int) func(wire.Document) bool {
		return func(r wire.Document) bool { return r.Round == round && member(r, "ann").Launch == wire.LaunchStarted }
	}
	tb.room("the first launch", launched(1))
	tb.host.Go(tb.code)
	tb.room("the second launch", launched(2))
	tb.listener.cut()
	tb.room("ann's return", func(r wire.Document) bool { return ann.joins() == 2 })
	leave()
	if err := ann.done(); err != nil {
		t.Error(err)
	}
	for addr, n := range ann.asked {
		if n != 2 {
			t.Errorf("%s was asked %d times in two rounds", addr, n)
		}
	}
}

func TestRefused(t *testing.T) {
	tb := newTable(t, 2)
	for _, tt := range []struct {
		seat   func(*seat)
		reason string
	}{
		{func(s *seat) { s.options.Code = "NOSUCH" }, wire.ReasonCode},
		{func(s *seat) { s.options.Name = "\x07" }, wire.ReasonName},
	} {
		s := newSeat(tb, "ann")
		tt.seat(s)
		defer s.sit()()
		err := s.done()
		if refusal := (wire.Refusal{}); !errors.As(err, &refusal) || refusal.Reason != tt.reason {
			t.Errorf("it ends with %v, want a refusal for %q", err, tt.reason)
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	t.Run("from the start", func(t *testing.T) {
		leak.Check(t)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listener.Close() // nobody listens there now
		err = peer.Run(t.Context(), peer.Options{URL: "ws://" + listener.Addr().String() + "/peer", Name: "ann"})
		if !errors.Is(err, peer.ErrUnreachable) {
			t.Errorf("Run returns %v", err)
		}
	})
	t.Run("no host of muster", func(t *testing.T) {
		tb := newTable(t, 1)
		s := newSeat(tb, "ann")
		s.options.URL = "ws://" + tb.listener.Addr().String() + "/healthz"
		defer s.sit()()
		if err := s.done(); !errors.Is(err, peer.ErrUnreachable) {
			t.Errorf("Run returns %v", err)
		}
	})
	t.Run("for good", func(t *testing.T) {
		tb := newTable(t, 2)
		s := newSeat(tb, "ann")
		peer.Hurry(&s.options, 50*time.Millisecond)
		defer s.sit()()
		tb.room("ann", func(wire.Document) bool { return s.joins() == 1 }) // ann has read the welcome
		tb.server.Close()
		tb.listener.cut()
		if err := s.done(); !errors.Is(err, peer.ErrUnreachable) {
			t.Errorf("Run returns %v", err)
		}
	})
	t.Run("its machine answers without it", func(t *testing.T) {
		tb := newTable(t, 2)
		s := newSeat(tb, "ann")
		peer.Gone(&s.options, 50*time.Millisecond) // a host that is merely silent would have a minute
		defer s.sit()()
		tb.room("ann", func(wire.Document) bool { return s.joins() == 1 }) // ann has read the welcome
		tb.server.Close()
		tb.listener.cut()
		if err := s.done(); !errors.Is(err, peer.ErrGone) {
			t.Errorf("Run returns %v", err)
		}
		told := false
		s.locked(func() {
			for _, e := range s.events {
				lost, is := e.(peer.Disconnected)
				told = told || is && lost.Gone
			}
		})
		if !told {
			t.Error("the player is not told before")
		}
	})
	t.Run("for a moment, after a long while", func(t *testing.T) {
		tb := newTable(t, 2)
		s := newSeat(tb, "ann")
		peer.Hurry(&s.options, 100*time.Millisecond)
		leave := s.sit()
		tb.room("ann", func(wire.Document) bool { return s.joins() == 1 })
		gone := newTable(t, 1) // bob's patience with it shows that ann has been connected for longer than hers
		bob := newSeat(gone, "bob")
		peer.Hurry(&bob.options, 100*time.Millisecond)
		defer bob.sit()()
		gone.room("bob", func(wire.Document) bool { return bob.joins() == 1 })
		gone.server.Close()
		gone.listener.cut()
		if err := bob.done(); !errors.Is(err, peer.ErrUnreachable) {
			t.Errorf("bob's Run returns %v", err)
		}
		tb.listener.cut()
		tb.room("ann's return", func(r wire.Document) bool { return s.joins() == 2 })
		leave()
		if err := s.done(); err != nil {
			t.Errorf("Run returns %v", err)
		}
	})
}

// TestNothingSuitable checks that a peer that joined for one round returns an error if no server suits.
func TestNothingSuitable(t *testing.T) {
	tb := newTable(t, 1)
	ann := newSeat(tb, "ann")
	ann.options.NewProber = func(string, func(time.Duration)) (peer.Prober, error) { return silent{}, nil }
	defer ann.sit()()
	if err := ann.done(); !errors.Is(err, peer.ErrNothingSuitable) {
		t.Errorf("Run returns %v", err)
	}
}

// silent is a network in which nobody answers.
type silent struct{}

func (silent) Close() error { return nil }

func (silent) Share(int)            {}
func (silent) Lead(discovery.Reach) {}

func (silent) Run(_ context.Context, _ []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error {
	for n := 1; ; n++ {
		probe, verdict := plan.Next()
		if verdict != discovery.Go {
			return nil
		}
		result := discovery.Result{Server: probe.Server, Order: n, State: discovery.Lost}
		plan.Observe(result)
		seen(result)
	}
}

// TestOwnTrouble checks that trouble on the player's side ends Run with its reason.
func TestOwnTrouble(t *testing.T) {
	for name, spoil := range map[string]func(*seat){
		"no plan": func(s *seat) {
			s.options.NewPlan = func(wire.Measure, []discovery.Server) (discovery.Plan, error) { return nil, errBroken }
		},
		"no prober": func(s *seat) {
			s.options.NewProber = func(string, func(time.Duration)) (peer.Prober, error) { return nil, errBroken }
		},
		"a prober that fails": func(s *seat) {
			s.options.NewProber = func(string, func(time.Duration)) (peer.Prober, error) { return failing{}, nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			tb := newTable(t, 1)
			s := newSeat(tb, "ann")
			spoil(s)
			defer s.sit()()
			if err := s.done(); !errors.Is(err, errBroken) {
				t.Errorf("Run returns %v", err)
			}
		})
	}
}

type failing struct{}

func (failing) Close() error { return nil }

func (failing) Share(int)            {}
func (failing) Lead(discovery.Reach) {}

func (failing) Run(context.Context, []discovery.Server, discovery.Plan, func(discovery.Result)) error {
	return errBroken
}

// TestRests checks that the host learns of the pause in which the player's router forgets servers, so that nobody takes
// the silence for the program's end.
func TestRests(t *testing.T) {
	tb := newTable(t, 1)
	ann := newSeat(tb, "ann")
	const told = "ann’s router handles only a few servers at a time: ann goes on in 32 seconds"
	ann.options.NewProber = func(_ string, rests func(time.Duration)) (peer.Prober, error) {
		ann.hold = func(_ context.Context, n int) {
			if n == 3 {
				rests(32 * time.Second)
				tb.room("what ann says of the router", func(r wire.Document) bool {
					return slices.ContainsFunc(r.Log, func(n wire.Note) bool { return n.String() == told })
				})
			}
		}
		return ann, nil
	}
	defer ann.sit()()
	if err := ann.done(); err != nil {
		t.Error(err)
	}
}

// TestLookGoesFirst checks that a host may choose while its questions are unanswered. The remaining questions do not
// delay the look at the finalists.
func TestLookGoesFirst(t *testing.T) {
	servers, _ := list(t.Context(), "")
	asking := newGate(0)
	var looked map[int]discovery.State
	s := scripted(t, func(ws *websocket.Conn) {
		say(t, ws, letIn, wire.List{Round: 1, Servers: servers},
			wire.Measure{Round: 1, Game: "openarena", Strategy: wire.Coordinated},
			wire.Ask{Round: 1, Servers: []int{20, 21, 22}})
		<-asking.reached
		say(t, ws, wire.Finalists{Round: 1, Game: "openarena", Attempt: 1, Servers: []int{6}, Samples: 1})
		looked = verified(t, ws)
		endRoom(t, ws)
	})
	s.hold = asking.hold
	defer s.sit()()
	s.done()
	if looked[6] != discovery.Answered {
		t.Errorf("the player looked again and found %v", looked)
	}
}

// TestDiscreetPlayer checks the player's own bound on the servers that see their address. Plan,
// requests and finalists together stay within the bound. The host learns which servers were not
// asked, and nobody waits.
func TestDiscreetPlayer(t *testing.T) {
	const most = 16
	servers, _ := list(t.Context(), "")
	for _, strategy := range []string{"conventional", wire.Coordinated} {
		t.Run(strategy, func(t *testing.T) {
			var looked map[int]discovery.State
			s := scripted(t, func(ws *websocket.Conn) {
				say(t, ws, letIn, wire.List{Round: 1, Servers: servers},
					wire.Measure{Round: 1, Game: "openarena", Strategy: strategy},
					wire.Ask{Round: 1, Servers: []int{6}, Own: listed})
				asked, unasked, beyond := 0, 0, -1
				for server, state := range reportedOf(t, ws, len(servers)) {
					if state == discovery.Forbidden {
						unasked, beyond = unasked+1, server
					} else {
						asked++
					}
				}
				if asked != most || unasked != len(servers)-most {
					t.Errorf("%d servers asked, %d not, of %d", asked, unasked, len(servers))
				}
				say(t, ws, wire.Finalists{Round: 1, Game: "openarena", Attempt: 1, Servers: []int{6, beyond}, Samples: 1})
				looked = verified(t, ws)
				if looked[beyond] != discovery.Forbidden {
					t.Errorf("finalist %d is %v, want forbidden", beyond, looked[beyond])
				}
				endRoom(t, ws)
			})
			s.options.Discreet = most
			defer s.sit()()
			s.done()
			if len(s.asked) != most {
				t.Errorf("%d servers saw the address, want %d", len(s.asked), most)
			}
			if len(looked) != 2 {
				t.Errorf("the second look found %v", looked)
			}
		})
	}
}

// TestRedirected checks that a player follows a host from http to https, and nowhere else.
func TestRedirected(t *testing.T) {
	t.Parallel()
	tb := newTable(t, 3) // it gathers
	encrypted := httptest.NewTLSServer(tb.host.Handler())
	defer encrypted.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(encrypted.Certificate())
	at, err := url.Parse(encrypted.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, to   string
		isFollowed bool
	}{
		{"ann", encrypted.URL + "/peer", true}, {"bob", encrypted.URL, true}, {"chong", "https://localhost:" + at.Port() + "/peer", false},
		{"dora", "http://127.0.0.1:1/peer", false}, {"eve", "https://evil.example/peer", false},
	} {
		front := httptest.NewServer(http.RedirectHandler(c.to, http.StatusMovedPermanently))
		s := newSeat(tb, c.name)
		s.options.URL, s.options.TLS = "ws"+front.URL[len("http"):]+"/peer", &tls.Config{RootCAs: trusted}
		leave := s.sit()
		if c.isFollowed {
			tb.room(c.name, func(wire.Document) bool { return s.joins() == 1 })
			leave()
		}
		err := s.done()
		var elsewhere *peer.Elsewhere
		if isElsewhere := errors.As(err, &elsewhere); isElsewhere == c.isFollowed {
			t.Errorf("to %s: %v", c.to, err)
		}
		leave()
		front.Close()
	}
}

// TestSilentFinalist checks that a finalist that falls silent is asked once a sample, delays nobody, and is not chosen.
func TestSilentFinalist(t *testing.T) {
	t.Parallel()
	tb := newTable(t, 1)
	ann := newSeat(tb, "ann")
	prober := &deafLook{seat: ann, deaf: address(0)}
	ann.options.NewProber = func(string, func(time.Duration)) (peer.Prober, error) { return prober, nil }
	peer.Impatient(&ann.options, 200*time.Millisecond)
	defer ann.sit()()
	if err := ann.done(); err != nil {
		t.Fatal(err)
	}
	if prober.asked != 3 {
		t.Errorf("the silent finalist was asked %d times, want 3", prober.asked)
	}
	room := tb.room("the launch", func(r wire.Document) bool { return r.Stage == wire.Launching })
	if want := address(1).String(); room.Connect != want {
		t.Errorf("everyone goes to %s, want %s", room.Connect, want)
	}
}

// deafLook is a seat's prober that gets no answer from one server in the second look.
type deafLook struct {
	*seat
	deaf  netip.AddrPort
	asked int
}

func (d *deafLook) Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error {
	if len(servers) == listed {
		return d.seat.Run(ctx, servers, plan, seen)
	}
	waits := false
	err := d.seat.Run(ctx, servers, plan, func(r discovery.Result) {
		if servers[r.Server].Addr == d.deaf {
			d.asked++
			waits = true
			return
		}
		seen(r)
	})
	if waits {
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}
