package prober

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
)

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
