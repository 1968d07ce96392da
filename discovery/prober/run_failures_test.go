package prober

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
)

func TestRunSendErrors(t *testing.T) {
	always := func(errno syscall.Errno) func(sighting) error {
		return func(sighting) error { return errno }
	}
	answers := func(q sighting) []packet { return []packet{{after: 10 * ms, text: markedReply(q.text)}} }
	tests := []struct {
		name    string
		deny    func(sighting) error
		servers int
		err     error
		states  string
		stats   Stats
	}{
		{"no route to one", func(q sighting) error {
			if q.server == 1 {
				return syscall.ENETUNREACH
			}
			return nil
		}, 3, nil, "map[answered:2 lost:1]", Stats{Unreachable: 1, SendErrors: 1}},
		{"a firewall, long list", always(syscall.EPERM), 100, ErrBlocked, "map[lost:16]", Stats{Unreachable: 16, SendErrors: 16}},
		{"a firewall, short list", always(syscall.EACCES), 2, ErrBlocked, "map[lost:2]", Stats{Unreachable: 2, SendErrors: 2}},
		{"one address is forbidden", func(q sighting) error {
			if q.server == 0 {
				return syscall.EACCES
			}
			return nil
		}, 3, nil, "map[answered:2 lost:1]", Stats{Unreachable: 1, SendErrors: 1}},
		{"no route at all", always(syscall.ENETUNREACH), 20, nil, "map[lost:20]", Stats{Unreachable: 20, SendErrors: 20}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sky := newSky(answers)
				sky.deny = test.deny
				p := virtual(t, Options{Protocol: marked{}}, sky)
				states := map[string]int{}
				err := p.Run(t.Context(), list(test.servers), discovery.NewConventional(test.servers), func(r discovery.Result) {
					states[r.State.String()]++
				})
				if !errors.Is(err, test.err) || fmt.Sprint(states) != test.states {
					t.Errorf("got %v, %v", err, states)
				}
				if got := oddities(p.Stats()); got != test.stats {
					t.Errorf("counted %+v, want %+v", got, test.stats)
				}
			})
		})
	}
}

// A machine without room for packets gets time, and no probe is lost.
func TestRunWaitsForBuffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sky := newSky(func(q sighting) []packet { return []packet{{after: 10 * ms, text: markedReply(q.text)}} })
		sky.deny = func(sighting) error {
			if sky.now() < 100*ms {
				return syscall.ENOBUFS
			}
			return nil
		}
		p := virtual(t, Options{Protocol: marked{}}, sky)
		for _, r := range scan(t, p, list(20)) {
			if r.State != discovery.Answered {
				t.Errorf("server %d is %v", r.Server, r.State)
			}
		}
		if s := p.Stats(); s.SendErrors == 0 || s.SendErrors > 40 || s.Retries > 0 {
			t.Errorf("%d send errors, %d retries", s.SendErrors, s.Retries)
		}
	})
}

// badPlan names what its script says: an index, 'w' for Wait.
type badPlan []int

const wait = -100

func (b *badPlan) Next() (discovery.Probe, discovery.Verdict) {
	if len(*b) == 0 {
		return discovery.Probe{}, discovery.Stop
	}
	next := (*b)[0]
	*b = (*b)[1:]
	if next == wait {
		return discovery.Probe{}, discovery.Wait
	}
	return discovery.Probe{Server: next}, discovery.Go
}

func (*badPlan) Observe(discovery.Result)       {}
func (*badPlan) Summary() discovery.PlanSummary { return discovery.PlanSummary{} }

func TestRunTellsOfBadPlans(t *testing.T) {
	tests := []struct {
		plan badPlan
		want string
	}{
		{badPlan{0, wait, 1, wait, 2}, ""},
		{badPlan{wait}, "waits although"},
		{badPlan{0, wait, wait}, "waits although"},
		{badPlan{0, 0}, "names server 0 twice"},
		{badPlan{0, wait, 0}, "names server 0 twice"},
		{badPlan{3}, "names server 3 of 3"},
		{badPlan{-1}, "names server -1 of 3"},
	}
	for _, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			sky := newSky(func(q sighting) []packet { return []packet{{after: 10 * ms, text: markedReply(q.text)}} })
			p := virtual(t, Options{Protocol: marked{}}, sky)
			err := p.Run(t.Context(), list(3), &test.plan, nil)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// sky is a network in virtual time. The test decides on the answer to the nth query to
// a server, and on its time.
type sky struct {
	clock
	inbox  chan *datagram
	answer func(query sighting) []packet
	deny   func(query sighting) error
	asked  map[netip.AddrPort][]time.Duration
}

// sighting is a query on its way.
type sighting struct {
	server int // last byte of the address
	nth    int // query to this server, from 1
	text   string
	addr   netip.AddrPort
}

// packet is an answer; with no sender it comes from the server that was asked.
type packet struct {
	after   time.Duration
	text    string
	from    netip.AddrPort
	refused bool
}

func (s *sky) send(query []byte, to netip.AddrPort) (time.Duration, error) {
	seen := sighting{int(to.Addr().AsSlice()[to.Addr().BitLen()/8-1]), len(s.asked[to]) + 1, string(query), to}
	if s.deny != nil {
		if err := s.deny(seen); err != nil {
			return s.now(), err
		}
	}
	s.asked[to] = append(s.asked[to], s.now())
	for _, p := range s.answer(seen) {
		if !p.from.IsValid() {
			p.from = to
		}
		time.AfterFunc(p.after, func() {
			s.inbox <- &datagram{peer: p.from, at: arrival{s.now(), s.now()}, refused: p.refused, body: []byte(p.text)}
		})
	}
	return s.now(), nil
}

func (s *sky) takeRefused() []*datagram   { return nil }
func (s *sky) received() <-chan *datagram { return s.inbox }
func (s *sky) giveBack(*datagram)         {}
func (s *sky) release(netip.AddrPort)     {}

func newSky(answer func(sighting) []packet) *sky {
	return &sky{clock: newClock(), inbox: make(chan *datagram, 4096), answer: answer, asked: map[netip.AddrPort][]time.Duration{}}
}

// address returns the address of the nth test server.
func address(n int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), 27960)
}

func list(n int) []discovery.Server {
	servers := make([]discovery.Server, n)
	for i := range servers {
		servers[i].Addr = address(i)
	}
	return servers
}

// scan runs the whole list and returns the results in the order of their end.
func scan(t *testing.T, p *Prober, servers []discovery.Server) []discovery.Result {
	t.Helper()
	var results []discovery.Result
	err := p.Run(context.Background(), servers, discovery.NewConventional(len(servers)), func(r discovery.Result) {
		results = append(results, r)
	})
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func virtual(t *testing.T, options Options, network network) *Prober {
	t.Helper()
	options, err := options.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	return newProber(options, network)
}
