package fleet

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"net"
	"net/netip"
	"os"
	"strconv"
	"testing"
	"time"

	"muster/discovery"
	"muster/internal/sim"
)

// TestMain lets many tests run at a time, since most of them wait for replies.
func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "16")
	os.Exit(m.Run())
}

// handWorld returns a world of these servers, each as far from place p as rtts[p] says, without
// jitter.
func handWorld(rtts []time.Duration, servers ...sim.Server) *sim.World {
	var places []sim.Place
	for p := range rtts {
		places = append(places, sim.Place{Name: "place " + strconv.Itoa(p)})
	}
	return sim.NewWorld(1, places, servers, func(place, _ int) time.Duration { return rtts[place] })
}

// server returns one at an address of the world, with a few players.
func server(addr string) sim.Server {
	s := sim.Server{Server: discovery.Server{Addr: netip.MustParseAddrPort(addr), Country: "DE", ASN: 3320}}
	s.Info = discovery.Info{Name: "Arena at " + addr, Map: "q3dm17", Mode: "0", Players: 2, Bots: 1, MaxPlayers: 8}
	return s
}

func with(s sim.Server, change func(*sim.Server)) sim.Server {
	change(&s)
	return s
}

// startFleet runs a fleet for the length of a test.
func startFleet(tb testing.TB, o Options) *Fleet {
	tb.Helper()
	o.Kind = cmp.Or(o.Kind, Quake3)
	if o.Game == (Game{}) {
		o.Game = Game{Name: "Quake3Arena", Protocol: 68, AppID: 440, Version: "1.0"}
	}
	f, err := Start(context.Background(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := f.Close(); err != nil {
			tb.Error(err)
		}
	})
	return f
}

// counted returns the fleet's counts so far.
func (f *Fleet) counted() counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts
}

// asker is a player's socket towards one server.
type asker struct {
	testing.TB
	*net.UDPConn
}

func newAsker(tb testing.TB, from netip.Addr, to netip.AddrPort) asker {
	tb.Helper()
	conn, err := net.DialUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(from, 0)), net.UDPAddrFromAddrPort(to))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	return asker{tb, conn}
}

// patience is how long an expected reply may take. silence is how long the asker waits to be sure
// that no unexpected reply comes.
const (
	patience = 20 * time.Second
	silence  = 100 * time.Millisecond
)

func (a asker) ask(request string, wait time.Duration) (reply []byte, rtt time.Duration, err error) {
	a.Helper()
	sent := time.Now()
	a.say(request)
	reply, err = a.next(wait)
	return reply, time.Since(sent), err
}

func (a asker) say(text string) {
	a.Helper()
	if _, err := a.Write([]byte(text)); err != nil {
		a.Fatal(err)
	}
}

func (a asker) next(wait time.Duration) ([]byte, error) {
	a.Helper()
	if err := a.SetReadDeadline(time.Now().Add(wait)); err != nil {
		a.Fatal(err)
	}
	buf := make([]byte, 65535)
	n, err := a.Read(buf)
	return buf[:n], err
}

func (a asker) mustAsk(request string) ([]byte, time.Duration) {
	a.Helper()
	reply, rtt, err := a.ask(request, patience)
	if err != nil {
		a.Fatal(err)
	}
	return reply, rtt
}

func (a asker) mustStaySilent(request string) {
	a.Helper()
	if reply, _, err := a.ask(request, silence); !isTimeout(err) {
		a.Fatalf("reply %q, error %v, want silence", reply, err)
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

const (
	getinfo   = "\xff\xff\xff\xffgetinfo xyzzy"
	getstatus = "\xff\xff\xff\xffgetstatus xyzzy"
)

// manyServers returns servers alone at addresses all over 60.0.0.0/8 and up.
func manyServers(n int) []sim.Server {
	servers := make([]sim.Server, n)
	for i := range servers {
		addr := netip.AddrFrom4([4]byte{60 + byte(i>>16), byte(i >> 8), byte(i) / 4, byte(i%4 + 1)})
		servers[i] = server(netip.AddrPortFrom(addr, 27960).String())
	}
	return servers
}
