package simulated

import (
	"context"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host"
	"muster/host/wire"
	"muster/internal/sim"
	"muster/peer"
	"muster/selection"
)

// instantly probes servers that answer as a vantage sees them, without delay.
type instantly struct{ *sim.Vantage }

func (p instantly) Close() error { return nil }

func (p instantly) Share(int)            {}
func (p instantly) Lead(discovery.Reach) {}

func (p instantly) Run(ctx context.Context, servers []discovery.Server, plan discovery.Plan, seen func(discovery.Result)) error {
	at := map[netip.AddrPort]int{}
	for i, s := range p.Servers {
		at[s.Addr] = i
	}
	for order := 1; ctx.Err() == nil; order++ {
		probe, verdict := plan.Next()
		if verdict != discovery.Go {
			return nil
		}
		result := discovery.Result{Server: probe.Server, Order: order, Phase: probe.Phase, State: discovery.Lost}
		if i := at[servers[probe.Server].Addr]; p.RTT[i] >= 0 {
			result.State, result.RTT, result.Info = discovery.Answered, p.RTT[i], &p.Infos[i]
		}
		plan.Observe(result)
		seen(result)
	}
	return ctx.Err()
}

// TestTheRealHostChoosesTheSame checks that a host and peers over loopback sockets choose the same
// server as a group in virtual time. Their servers answer as the group's do.
func TestTheRealHostChoosesTheSame(t *testing.T) {
	for name, servers := range map[string]int{"a short list": 400, "a longer one": 1000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sim.Night2005(servers, 3)
			var vantages []*sim.Vantage
			for place := range w.Places {
				v := w.Vantage(place) // without its jitter
				vantages = append(vantages, &sim.Vantage{Name: v.Name, Servers: v.Servers, Infos: v.Infos, RTT: v.RTT})
			}
			group, err := sim.NewGroup(vantages...)
			if err != nil {
				t.Fatal(err)
			}
			criteria := selection.Criteria{By: selection.Mean, Seats: len(vantages), Wishes: selection.Wishes{NoPassword: true}}
			scripted, err := group.Run(sim.Coordinated, sim.GroupOptions{Criteria: criteria}, 0)
			if err != nil || !scripted.Found || scripted.Rounds < 2 {
				t.Fatalf("%+v, %v", scripted, err)
			}
			if want, got := group.Vantages[0].Servers[scripted.Server].Addr.String(), goWith(t, w.List(), vantages); got != want {
				t.Errorf("the real host went to %s, in virtual time all went to %s, %.2f ms worse than the best", got, want, scripted.Regret)
			}
		})
	}
}

// goWith returns the server that a real host sends the players at some vantages to.
func goWith(t *testing.T, list []discovery.Server, vantages []*sim.Vantage) (address string) {
	h, err := host.New(host.Config{List: func(context.Context, string) ([]discovery.Server, error) { return list, nil }})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h.Handler())
	defer server.Close()
	defer h.Close()
	code, _, _ := h.Open(wire.Settings{Game: "simulated", By: selection.Mean, Players: len(vantages), Strategy: wire.Coordinated})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var mu sync.Mutex
	var playing sync.WaitGroup
	for _, v := range vantages {
		playing.Go(func() {
			err := peer.Run(ctx, peer.Options{
				URL: "ws" + strings.TrimPrefix(server.URL, "http") + "/peer", Code: code, Name: v.Name, Once: true,
				NewProber: func(string, func(time.Duration)) (peer.Prober, error) { return instantly{v}, nil },
				Launch: func(_ context.Context, l wire.Launch, doubt sentence.Sentence, tell func(wire.LaunchState, sentence.Sentence)) {
					if !doubt.IsZero() {
						t.Errorf("%s doubts the launch: %v", v.Name, doubt)
					}
					mu.Lock()
					address = l.Address
					mu.Unlock()
					tell(wire.LaunchStarted, sentence.Sentence{})
				},
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	playing.Wait()
	return address
}
