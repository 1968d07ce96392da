package admission

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"

	"muster/host/pressure"
)

// knocks is a listener that accepts the connections a test sends on the channel.
type knocks chan net.Conn

func (k knocks) Accept() (net.Conn, error) {
	conn, open := <-k
	if !open {
		return nil, io.EOF
	}
	return conn, nil
}

func (k knocks) Close() error   { return nil }
func (k knocks) Addr() net.Addr { return &net.TCPAddr{} }

// knock is a connection without a peer; it notes that it was cut.
type knock struct {
	net.Conn
	from netip.Addr
	cut  bool
}

func (k *knock) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(k.from, 5555))
}
func (k *knock) Close() error { k.cut = true; return nil }

// street is a gate with the callers that came to it.
type street struct {
	listener gated
	arrivals knocks
}

func newStreet() street {
	arrivals := make(knocks, 1)
	proxies := []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
	return street{gated{arrivals, newGate(proxies, BoundsOf(0))}, arrivals}
}

func (s street) comes(from string) (*Caller, *knock) {
	k := &knock{from: netip.MustParseAddr(from)}
	s.arrivals <- k
	conn, _ := s.listener.Accept()
	return CallerOf(conn), k
}

// TestGate checks that a flooding address loses its own connections, and nobody else's.
func TestGate(t *testing.T) {
	for name, c := range map[string]struct {
		flood func(i int) string
		keeps int // connections of the flood
		// spares is how many connections arrive before another address loses one; 0 means never.
		spares int
	}{
		"one address":              {func(int) string { return "198.51.100.7" }, maxOfOne, 0},
		"a household's IPv6":       {func(i int) string { return fmt.Sprintf("2001:db8::%x", i+1) }, maxOfOne, 0},
		"eight addresses":          {func(i int) string { return fmt.Sprintf("198.51.100.%d", i%8) }, maxStrangers - 2, 0},
		"a tunnel's end":           {func(int) string { return "127.0.0.1" }, maxStrangers - 2, 0},
		"our proxy":                {func(int) string { return "192.0.2.1" }, maxStrangers - 2, 0},
		"a thousand IPv6 prefixes": {func(i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i%1000) }, maxStrangers - 1, maxStrangers - 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStreet()
			_, friend := s.comes("203.0.113.9")
			_, other := s.comes("203.0.113.9")
			member, seat := s.comes(c.flood(0))
			member.Welcome()
			var flood []*knock
			for i := range 10_000 {
				_, k := s.comes(c.flood(i))
				flood = append(flood, k)
				if i < c.spares && (friend.cut || other.cut) {
					t.Fatalf("who waits is cut when %d have come", i)
				}
			}
			if c.spares == 0 && (friend.cut || other.cut) || seat.cut {
				t.Errorf("who waits is cut: %v, %v, who plays: %v", friend.cut, other.cut, seat.cut)
			}
			kept := 0
			for i, k := range flood {
				if !k.cut {
					kept++
				} else if kept > 0 && c.keeps == maxOfOne {
					t.Fatalf("connection %d was cut before older ones", i)
				}
			}
			if kept != c.keeps {
				t.Errorf("%d of the flood are kept, want %d", kept, c.keeps)
			}
		})
	}
}

// TestGateBehindProxy checks that the gate counts a caller behind a proxy at the address that the
// proxy names. So a flood through the proxy keeps no other caller out.
func TestGateBehindProxy(t *testing.T) {
	s := newStreet()
	friend, waits := s.comes("192.0.2.1")
	friend.ComesFrom(netip.MustParseAddr("203.0.113.9"))
	kept := map[*knock]bool{}
	for range 10_000 {
		c, k := s.comes("192.0.2.1")
		kept[k] = true
		c.ComesFrom(netip.MustParseAddr("198.51.100.7"))
	}
	open := 0
	for k := range kept {
		if !k.cut {
			open++
		}
	}
	if waits.cut || open != maxOfOne {
		t.Errorf("the friend is cut: %v; %d of the flood are kept, want %d", waits.cut, open, maxOfOne)
	}
}

// TestGateCounts checks that the gate's count equals the number of waiting strangers, whatever the
// order in which callers come, move, are admitted and leave.
func TestGateCounts(t *testing.T) {
	s := newStreet()
	random := rand.New(rand.NewPCG(1, 2))
	var here []*Caller
	for range 20_000 {
		somewhere := netip.AddrFrom4([4]byte{198, 51, 100, byte(random.IntN(12))})
		switch n := random.IntN(10); {
		case n < 6 || len(here) == 0:
			c, _ := s.comes(somewhere.String())
			here = append(here, c)
		case n == 6:
			here[random.IntN(len(here))].ComesFrom(somewhere)
		case n == 7:
			here[random.IntN(len(here))].Welcome()
		default:
			at := random.IntN(len(here))
			here[at].Close()
			here = append(here[:at], here[at+1:]...)
		}
		g, waiting := s.listener.gate, 0
		for _, of := range g.waiting {
			waiting += of.Len()
			if of.Len() == 0 || of.Len() > maxOfOne {
				t.Fatalf("%d wait at one address", of.Len())
			}
		}
		if waiting != g.strangers || waiting > maxStrangers {
			t.Fatalf("%d wait, %d are counted", waiting, g.strangers)
		}
	}
	for _, c := range here {
		c.Close()
	}
	if g := s.listener.gate; g.strangers != 0 || len(g.waiting) != 0 {
		t.Errorf("%d are counted at %d addresses after all have gone", g.strangers, len(g.waiting))
	}
}

// TestGateTells checks that the gate tells where the connections that it cuts came from.
func TestGateTells(t *testing.T) {
	s := newStreet()
	cut := map[netip.Addr]int{}
	s.listener.gate.bounds.Bit = func(limit pressure.Limit, from netip.Addr) {
		if limit != pressure.Connections {
			t.Error(limit)
		}
		cut[from]++
	}
	for range maxOfOne + 3 {
		s.comes("198.51.100.7")
	}
	s.comes("203.0.113.9")
	if len(cut) != 1 || cut[netip.MustParseAddr("198.51.100.7")] != 3 {
		t.Errorf("%v", cut)
	}
}
