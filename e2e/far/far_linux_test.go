// Package far asks servers behind links between network namespaces, with distances and losses.
package far

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/prober"
	"muster/discovery/prober/probertest"
	"muster/e2e/netfab"
)

const ms = time.Millisecond

// The tests of this file ask servers behind links with distances and losses, in network
// namespaces. On a busy machine packets cross the links late, and never early: the best
// of several RTTs must be the link's. The tests need a machine with time to spare:
//
//	go -C e2e test ./far -run TestFar -far    (as root)
var far = flag.Bool("far", false, "measure behind links between network namespaces")

const (
	farPort, farClosed = 27015, 27016
	// farPatience is how long a test looks for a better measurement.
	farPatience = time.Minute
	// farError is how far the best RTT may be from the link's.
	farError = ms
)

// farServer returns the address of a far server. Each is in another /24 than the one
// before it, so that no network is asked too often.
func farServer(i int) netip.Addr {
	const networks = 250
	return netip.AddrFrom4([4]byte{12, 18, byte(i % networks), byte(1 + i/networks)})
}

// farRTTs are the RTTs of the links to far servers, by the server's number.
var farRTTs = [...]time.Duration{10 * ms, 25 * ms, 80 * ms, 200 * ms}

// farRTT returns the RTT of the link to an address.
func farRTT(addr netip.Addr) time.Duration { return farRTTs[int(addr.As4()[2])%len(farRTTs)] }

// roleEnv makes the test's binary the player's program, or the servers'.
const roleEnv = "MUSTER_FAR"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "far-servers":
		runFarServers()
	case "far-player":
		runFarPlayer()
	default:
		os.Exit(m.Run())
	}
}

// farNet is a player's machine and the machine of all far servers.
type farNet struct{ player, servers *netfab.Machine }

// startFar connects the two by a line, and starts the servers.
func startFar(t testing.TB, line netfab.Line) farNet {
	t.Helper()
	if _, isTest := t.(*testing.T); isTest && !*far {
		t.Skip("for -far")
	}
	fabric := netfab.New(1, func(from, to netip.Addr) time.Duration {
		if from.As4()[0] == 12 {
			return farRTT(from) / 2
		}
		return farRTT(to) / 2
	})
	home, away := fabric.AddSite(netfab.Site{Name: "home", Up: line, Down: line}), fabric.AddSite(netfab.Site{Name: "away"})
	n := netfab.Start(fabric)
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := netfab.Missing(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	add := func(site int, name, prefix string) *netfab.Machine {
		m, err := n.Add(site, fmt.Sprintf("prober-%s-%d", name, os.Getpid()), netip.MustParsePrefix(prefix))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	f := farNet{add(home, "player", "203.0.113.7/32"), add(away, "servers", "12.18.0.0/16")} // no packet leaves the namespaces
	talkers := f.servers.Command(os.Args[0])
	talkers.Env, talkers.Stderr = append(os.Environ(), roleEnv+"=far-servers"), os.Stderr
	in, noIn := talkers.StdinPipe()
	out, noOut := talkers.StdoutPipe()
	if err := errors.Join(noIn, noOut, talkers.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); talkers.Wait() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return f
}

// farDatagrams is how many servers answer datagrams, too.
const farDatagrams = 40

// runFarServers answers connections to all far servers, and datagrams to some.
func runFarServers() {
	go func() { io.Copy(io.Discard, os.Stdin); os.Exit(0) }()
	l, err := net.Listen("tcp4", fmt.Sprintf("0.0.0.0:%d", farPort))
	if err != nil {
		panic(err)
	}
	for i := range farDatagrams {
		conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(farServer(i), farPort)))
		if err != nil {
			panic(err)
		}
		go func() {
			b := make([]byte, 100) // longer than a question
			for {
				if n, from, err := conn.ReadFromUDPAddrPort(b); err == nil {
					conn.WriteToUDPAddrPort(append([]byte("info "), b[len("ask "):n]...), from)
				}
			}
		}()
	}
	fmt.Println("ready")
	for {
		if conn, err := l.Accept(); err == nil {
			go func() {
				defer conn.Close()
				probertest.Talk(conn)
			}()
		}
	}
}

// farAsked is the task of a player's program. farHeard is the outcome.
type farAsked struct {
	Servers []netip.AddrPort
	// Words is the way to ask: datagrams, connections, or conversations over them.
	Words   string
	Rate    float64
	Retries int
	Timeout time.Duration
}

type farHeard struct {
	States []discovery.State
	RTTs   []time.Duration
	Stats  prober.Stats
	// Files is the most files open at once besides those before, and Left those after.
	Files, Left int
	Took        time.Duration
}

// ask makes the player's program ask servers.
func (f farNet) ask(t testing.TB, asked farAsked) (heard farHeard) {
	t.Helper()
	task, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	cmd := f.player.Command(os.Args[0])
	cmd.Env, cmd.Stderr, cmd.Stdin = append(os.Environ(), roleEnv+"=far-player"), os.Stderr, strings.NewReader(string(task))
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &heard)
	}
	if err != nil {
		t.Fatal(err)
	}
	return heard
}

func runFarPlayer() {
	var asked farAsked
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		panic(err)
	}
	var protocol discovery.Protocol = marked{}
	switch asked.Words {
	case "connections":
		protocol = probertest.Connecting{}
	case "conversations":
		protocol = probertest.Lines{}
	}
	p, err := prober.New(prober.Options{Protocol: protocol, Rate: asked.Rate, Retries: asked.Retries, Timeout: asked.Timeout})
	if err != nil {
		panic(err)
	}
	list := make([]discovery.Server, len(asked.Servers))
	for i, addr := range asked.Servers {
		list[i].Addr = addr
	}
	files := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			panic(err)
		}
		return len(open)
	}
	before := files()
	var most atomic.Int64
	go func() {
		for range time.Tick(10 * ms) {
			most.Store(max(most.Load(), int64(files()-before)))
		}
	}()
	heard := farHeard{States: make([]discovery.State, len(list)), RTTs: make([]time.Duration, len(list))}
	began := time.Now()
	err = p.Run(context.Background(), list, discovery.NewConventional(len(list)), func(r discovery.Result) {
		heard.States[r.Server], heard.RTTs[r.Server] = r.State, r.RTT
	})
	if err != nil {
		panic(err)
	}
	heard.Took, heard.Stats, heard.Files, heard.Left = time.Since(began), p.Stats(), int(most.Load()), files()-before
	if err := json.NewEncoder(os.Stdout).Encode(heard); err != nil {
		panic(err)
	}
}

// errors returns the differences between the RTTs of answers and those of the links, in
// order.
func (h farHeard) errors(asked farAsked) (off []time.Duration) {
	for i, state := range h.States {
		if state == discovery.Answered {
			off = append(off, h.RTTs[i]-farRTT(asked.Servers[i].Addr()))
		}
	}
	slices.Sort(off)
	return off
}

// listening returns the first far servers.
func listening(n int) (servers []netip.AddrPort) {
	for i := range n {
		servers = append(servers, netip.AddrPortFrom(farServer(i), farPort))
	}
	return servers
}

// nearest is, for each link, the difference between the best RTT so far and the link's.
type nearest [len(farRTTs)]time.Duration

func newNearest() (n nearest) {
	for i := range n {
		n[i] = time.Hour
	}
	return n
}

func (n *nearest) learn(asked farAsked, heard farHeard) {
	for i, state := range heard.States {
		if state == discovery.Answered {
			addr := asked.Servers[i].Addr()
			link := slices.Index(farRTTs[:], farRTT(addr))
			n[link] = min(n[link], heard.RTTs[i]-farRTT(addr))
		}
	}
}

// TestFarServers checks that the RTT over TCP is the link's, as it is by datagrams. A
// closed port refuses, and one behind a filter is lost.
func TestFarServers(t *testing.T) {
	f := startFar(t, netfab.Line{})
	for _, words := range []string{"datagrams", "connections", "conversations"} {
		asked := farAsked{Words: words, Rate: 400, Timeout: 400 * ms, Retries: 1, Servers: listening(farDatagrams)}
		const closed, filtered = 3, 3
		for i := range closed {
			asked.Servers = append(asked.Servers, netip.AddrPortFrom(farServer(i), farClosed))
		}
		for i := range filtered {
			asked.Servers = append(asked.Servers, netip.AddrPortFrom(netip.AddrFrom4([4]byte{12, 19, byte(i), 1}), farPort))
		}
		best := newNearest()
		for begun := time.Now(); time.Since(begun) < farPatience; {
			heard := f.ask(t, asked)
			best.learn(asked, heard)
			for i, got := range heard.States {
				want := discovery.Answered
				switch {
				case i >= farDatagrams+closed:
					want = discovery.Lost
				case i >= farDatagrams && words == "datagrams":
					continue // a kernel sends few of the messages that say so
				case i >= farDatagrams:
					want = discovery.Refused
				}
				if got != want {
					t.Errorf("%s: %v is %v, want %v", words, asked.Servers[i], got, want)
				}
			}
			if slices.Max(best[:]) <= farError {
				break
			}
		}
		if slices.Min(best[:]) < -farError/10 || slices.Max(best[:]) > farError {
			t.Errorf("%s: the best RTTs of links of %v are off by %v", words, farRTTs, best)
		}
	}
}

// TestFarLosses checks that servers are asked again on a line that loses packets. The
// RTT of a later connection or echo is still the link's. It never includes the time of
// a packet that TCP sent again, which is 200 ms later at the least.
func TestFarLosses(t *testing.T) {
	const servers, most = 100, 95
	f := startFar(t, netfab.Line{Loss: 0.05})
	for _, words := range []string{"connections", "conversations"} {
		asked := farAsked{Words: words, Rate: 400, Timeout: 500 * ms, Servers: listening(servers)}
		best, retries, answered, near := newNearest(), 0, 0, 0
		for begun := time.Now(); time.Since(begun) < farPatience; {
			heard := f.ask(t, asked)
			best.learn(asked, heard)
			off := heard.errors(asked)
			retries, answered, near = retries+heard.Stats.Retries, len(off), 0
			for _, o := range off {
				if o < 150*ms {
					near++
				}
			}
			if t.Logf("%s: %d answered, %d of them off by less than 150 ms, asked again %d times", words, answered,
				near, heard.Stats.Retries); retries > 0 && slices.Max(best[:]) <= farError && answered >= most && near >= most {
				break
			}
		}
		if retries == 0 || answered < most || near < most || slices.Min(best[:]) < -farError/10 || slices.Max(best[:]) > farError {
			t.Errorf("%s: asked again %d times, %d answered, %d of them not far off; the best of links are off by %v",
				words, retries, answered, near, best)
		}
	}
}

// quantile returns the value, in microseconds, that a share of sorted times stay within.
func quantile(sorted []time.Duration, share float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return float64(sorted[int(share*float64(len(sorted)-1))]) / 1000
}

// BenchmarkFar measures the errors of RTTs behind real links, the open files while
// connections are under way, and the cost of losses.
//
//	go -C e2e test -run '^$' -bench Far -benchtime 1x ./far    (as root)
func BenchmarkFar(b *testing.B) {
	for _, c := range []struct {
		name    string
		line    netfab.Line
		servers int
		rate    float64
		words   []string
	}{
		{"distance", netfab.Line{}, farDatagrams, 100, []string{"datagrams", "connections", "conversations"}},
		{"distance, 2 % lost", netfab.Line{Loss: 0.01}, farDatagrams, 100, []string{"datagrams", "connections", "conversations"}},
		{"10,000", netfab.Line{}, 10_000, 4000, []string{"connections", "conversations"}},
		{"10,000, 2 % lost", netfab.Line{Loss: 0.01}, 10_000, 4000, []string{"connections"}},
	} {
		for _, words := range c.words {
			b.Run(c.name+"/"+words, func(b *testing.B) {
				f := startFar(b, c.line)
				for b.Loop() {
					asked := farAsked{Words: words, Rate: c.rate, Servers: listening(c.servers)}
					heard := f.ask(b, asked)
					off := heard.errors(asked)
					b.ReportMetric(quantile(off, 0.5), "off-p50-us")
					b.ReportMetric(quantile(off, 0.99), "off-p99-us")
					b.ReportMetric(float64(c.servers-len(off)), "lost")
					b.ReportMetric(float64(heard.Stats.Retries), "again")
					b.ReportMetric(float64(heard.Files), "files-most")
					b.ReportMetric(float64(heard.Left), "files-left")
					b.ReportMetric(heard.Took.Seconds(), "wall-s")
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
