package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/peer"
)

// balancer is the address of all hosts together, where a load balancer passes connections on.
const balancer = "192.0.2.1:80"

// pass connects a player to one of the hosts that listen.
func (g *gamer) pass(ctx context.Context, random *rand.Rand) (net.Conn, error) {
	w := g.w
	w.net.mu.Lock()
	var up []int
	for i := range w.machines {
		if w.net.listeners[w.web(i)] != nil {
			up = append(up, i)
		}
	}
	w.net.mu.Unlock()
	if len(up) == 0 {
		return w.net.dial(ctx, g.name, g.ip+":0", balancer)
	}
	host := up[random.IntN(len(up))]
	g.at.Store(int32(host))
	return w.net.dial(ctx, g.name, g.ip+":0", w.web(host))
}

// gamer is somebody in a room, whose program may end and start again.
type gamer struct {
	w        *world
	room     *group
	n        int // of the night
	name, ip string
	random   *rand.Rand
	token    string
	page     string // the credential of the player's pages; the world's lock guards it
	stop     context.CancelFunc
	ended    chan struct{}
	lives    int          // of the program
	at       atomic.Int32 // the host that the program has called last
	// said is what the program has said of the launch last, in the life saidIn; the world's lock guards both.
	said   wire.LaunchState
	saidIn int
	// called is what somebody says who is not the first of that name. isOut says that the program may end.
	called string
	isOut  atomic.Bool
}

func (w *world) gamer(room *group, n int, seed uint64) *gamer {
	return &gamer{w: w, room: room, n: n, name: fmt.Sprintf("p%02d", n), ip: fmt.Sprintf("203.0.113.%d", n+1), random: rand.New(rand.NewPCG(seed, uint64(n)))}
}

// mindChanged is when somebody goes to the server by hand, after all.
const mindChanged = 2600 * time.Millisecond

// play runs the program until its stop is called.
func (g *gamer) play() {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	g.stop, g.ended = stop, ended
	g.lives++
	life := g.lives
	// Each program has a source of its own, because the last one may still be ending.
	random := rand.New(rand.NewPCG(g.random.Uint64(), 0))
	g.w.work.Go(func() {
		defer close(ended)
		err := peer.Run(ctx, peer.Options{
			URL: "ws://" + balancer + "/peer", Code: g.room.code, Key: g.room.key, Name: cmp.Or(g.called, g.name), Token: g.token,
			SaveToken: func(token string) { g.token = token },
			Random:    random,
			Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return g.pass(ctx, random)
			},
			NewProber: func(string, func(time.Duration)) (peer.Prober, error) { return &prober{g.w, g.n}, nil },
			Launch: func(ctx context.Context, l wire.Launch, doubt sentence.Sentence, tell func(wire.LaunchState, sentence.Sentence)) {
				say := func(state wire.LaunchState) {
					tell(state, sentence.Sentence{})
					g.w.mu.Lock()
					defer g.w.mu.Unlock()
					g.said, g.saidIn = state, life
				}
				g.w.see(sighting{who: g.name, room: g.room, round: l.Round, sent: l.Address, life: life})
				if say(wire.LaunchStarted); (g.n+l.Round)%3 == 0 && rest(ctx, mindChanged) { // then somebody goes another way
					say(wire.LaunchByHand)
				}
			},
			Events: g.hear,
		})
		g.w.tell(g.name, "leaves: %v", err)
		if ctx.Err() == nil && errors.Is(err, peer.ErrUnreachable) && rest(ctx, 5*time.Second) {
			g.play() // the player tries again, as people do who could not get in
		} else if ctx.Err() == nil {
			g.w.see(sighting{who: g.name, room: g.room, left: fmt.Sprint(err), isOut: g.isOut.Load()})
		} else {
			g.w.see(sighting{who: g.name, room: g.room, lost: true})
		}
	})
}

func (g *gamer) hear(e peer.Event) {
	switch e := e.(type) {
	case peer.RoomChanged:
		s := sighting{who: g.name, room: g.room, round: e.Room.Room.Round, phase: e.Room.Phase.Name, held: !e.Room.Room.Held.IsZero()}
		for _, limit := range e.Room.Room.Limits {
			s.limit = fmt.Sprint(float64(limit) / 1e6)
		}
		if e.Room.Choice != nil {
			s.choice = e.Room.Choice
		}
		g.w.see(s)
	case peer.Joined:
		if g.called != "" {
			g.w.see(sighting{who: g.name, room: g.room, left: "in a full room as " + e.Name})
		}
		g.w.mu.Lock()
		g.page = e.Page
		g.w.mu.Unlock()
		g.w.tell(g.name, "joins")
		g.w.see(sighting{who: g.name, room: g.room, joined: true})
	case peer.Disconnected:
		g.w.tell(g.name, "is cut off") // several reasons may come at the same time
		g.w.see(sighting{who: g.name, room: g.room, lost: true})
	case peer.Waiting:
		g.w.tell(g.name, "waits: %s", e.Says.Key)
		g.w.see(sighting{who: g.name, room: g.room, waits: true})
	}
}

// prober answers for the world's servers.
type prober struct {
	w *world
	n int
}

// ping returns the shortest round trip between a player and a server.
func ping(player, server int) time.Duration {
	apart := (player*5 + server%cities*7) % 19
	return time.Duration(15+11*apart)*time.Millisecond + time.Duration((player*131+server*977)%4000)*time.Microsecond
}

// noise is how much longer a round trip may be. With it, a host that chooses anew chooses otherwise, and
// nobody can hide that it has forgotten a choice.
const noise = 15 * time.Millisecond

// measured returns the round trip that a player measures now.
func measured(player, server int) time.Duration {
	h := fnv.New32a()
	fmt.Fprint(h, player, "/", server, "/", time.Now().UnixNano())
	return ping(player, server) + time.Duration(h.Sum32())%noise
}

// info is what a server says of itself. Some are full, and some are silent.
func info(server int) (of discovery.Info, isSilent bool) {
	of = discovery.Info{Name: fmt.Sprint("server ", server), MaxPlayers: 16, Players: server % 5}
	switch server % 7 {
	case 3:
		of.Players = of.MaxPlayers
	case 5: // it would be full with a group
		of.Players = of.MaxPlayers - players
	}
	return of, server%11 == 5
}

func (*prober) Share(int)            {}
func (*prober) Lead(discovery.Reach) {}
func (*prober) Close() error         { return nil }

// Run asks one server each 10 ms.
func (p *prober) Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error {
	type answer struct {
		at time.Time
		discovery.Result
	}
	var waiting []answer
	var woken <-chan struct{}
	if w, is := plan.(discovery.Waker); is {
		woken = w.Woken()
	}
	// A run that ended as it began, or together with a timer of its player, would be heard of by chance.
	if !rest(ctx, 1017*time.Microsecond) {
		return ctx.Err()
	}
	for order := 1; ; {
		probe, verdict := plan.Next()
		now := time.Now()
		wake := now.Add(10 * time.Millisecond)
		if verdict == discovery.Go {
			if o, is := plan.(discovery.SendObserver); is {
				o.Asked(probe.Server)
			}
			server := slices.IndexFunc(p.w.servers, func(s discovery.Server) bool { return s.Addr == servers[probe.Server].Addr })
			r := discovery.Result{Server: probe.Server, Order: order, Phase: probe.Phase, State: discovery.Answered, RTT: measured(p.n, server)}
			order++
			at := now.Add(r.RTT)
			if of, isSilent := info(server); isSilent {
				r.State, r.RTT, at = discovery.Lost, 0, now.Add(time.Second)
			} else {
				r.Info = &of
			}
			waiting = append(waiting, answer{at, r})
			slices.SortStableFunc(waiting, func(a, b answer) int { return a.at.Compare(b.at) })
		} else if len(waiting) > 0 {
			wake = waiting[0].at
		} else if verdict == discovery.Stop {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-woken:
		case <-time.After(time.Until(wake)):
		}
		for len(waiting) > 0 && !waiting[0].at.After(time.Now()) {
			plan.Observe(waiting[0].Result)
			seen(waiting[0].Result)
			waiting = waiting[1:]
		}
	}
}
