package prober

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/names"
	"muster/discovery/prober/probertest"
	"muster/discovery/protocol/minecraft"
)

// nameServer knows a few names, and counts how often it is asked for each.
type nameServer struct {
	mu    sync.Mutex // guards the fields below
	known map[string]string
	asked map[string]int
}

func (n *nameServer) lookup(_ context.Context, host string) (addrs []netip.Addr, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.asked == nil {
		n.asked = map[string]int{}
	}
	n.asked[host]++
	for _, text := range strings.Fields(n.known[host]) {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	if addrs == nil {
		return nil, errors.New("no such host")
	}
	return addrs, nil
}

func (n *nameServer) set(host, addrs string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known[host] = addrs
}

func called(host string, port uint16) discovery.Server {
	return discovery.Server{Addr: hostport.Of(host, port)}
}

// outcomes describes results by the servers of a list.
func outcomes(servers []discovery.Server, results []discovery.Result) (lines []string) {
	for _, r := range results {
		line := hostport.Text(servers[r.Server].Addr) + " " + r.State.String()
		if r.Info != nil {
			line += " " + r.Info.Name
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// routing is a Minecraft proxy: it shows the world of the name in the handshake, and refuses all others. It
// notes the names.
type routing struct {
	worlds map[string]string
	mu     sync.Mutex
	heard  []string
}

func (p *routing) serve(conn net.Conn) {
	var heard []byte
	sent := 0
	for buf := make([]byte, 4096); ; {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		heard = append(heard, buf[:n]...)
		host, port, ok := handshake(heard)
		if !ok {
			continue
		}
		world, known := p.worlds[host]
		if sent == 0 {
			p.mu.Lock()
			p.heard = append(p.heard, fmt.Sprint(host, ":", port))
			p.mu.Unlock()
		}
		if !known {
			conn.Close()
			return
		}
		answer := minecraft.Answer(heard, sent, discovery.Info{Name: world, MaxPlayers: 20})
		conn.Write(answer)
		sent += len(answer)
	}
}

// handshake reads the host and port that a client says it came to.
func handshake(b []byte) (host string, port uint16, ok bool) {
	if len(b) < 8 || len(b) < 1+int(b[0]) {
		return "", 0, false
	}
	b = b[1 : 1+int(b[0])]
	_, n := binary.Uvarint(b[1:]) // the version
	size := int(b[1+n])
	host = string(b[2+n : 2+n+size])
	return host, binary.BigEndian.Uint16(b[2+n+size:]), true
}

// TestNamesReachAProxy checks that servers whose names lead to one Minecraft proxy are as many servers: each is
// asked under its own name, and the bare address, which the proxy does not serve, under that.
func TestNamesReachAProxy(t *testing.T) {
	proxy := &routing{worlds: map[string]string{"anna.example.org": "Anna's", "ben.example.org": "Ben's", "node.example.org": "SRV"}}
	at := talking(t, proxy.serve).Addr
	dns := &nameServer{known: map[string]string{"anna.example.org": "127.0.0.1", "ben.example.org": "127.0.0.1", "node.example.org": "127.0.0.1"}}
	const own = 25565
	resolver := names.Resolver{Lookup: dns.lookup, Service: "_minecraft._tcp", Port: own,
		LookupSRV: func(_ context.Context, service, domain string) (string, uint16, error) {
			if service == "_minecraft._tcp" && domain == "srv.example.org" {
				return "node.example.org.", at.Port(), nil
			}
			return "", 0, errors.New("no such service")
		}}
	p := streamProber(t, Options{Protocol: minecraft.Protocol{}, Timeout: 5 * time.Second, Retries: -1, Names: resolver})
	servers := []discovery.Server{called("anna.example.org", at.Port()), called("ben.example.org", at.Port()),
		called("srv.example.org", own), called("nobody.example.org", at.Port())}
	got := outcomes(servers, scan(t, p, servers))
	want := []string{
		fmt.Sprintf("anna.example.org:%d answered Anna's", at.Port()), fmt.Sprintf("ben.example.org:%d answered Ben's", at.Port()),
		fmt.Sprintf("nobody.example.org:%d lost", at.Port()), "srv.example.org:25565 answered SRV",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	slices.Sort(proxy.heard)
	if heard := []string{fmt.Sprint("anna.example.org:", at.Port()), fmt.Sprint("ben.example.org:", at.Port()),
		fmt.Sprint("node.example.org:", at.Port())}; !slices.Equal(proxy.heard, heard) {
		t.Errorf("the proxy hears %q, want %q", proxy.heard, heard)
	}

	bare := streamProber(t, Options{Protocol: minecraft.Protocol{}, Timeout: 100 * ms, Retries: -1})
	if got := scan(t, bare, []discovery.Server{{Addr: at}}); got[0].State != discovery.Lost {
		t.Errorf("by its bare address the proxy is %v", got[0].State)
	}
}

// TestNameIsLookedUpAtEachVisit checks that a name which leads elsewhere is followed.
func TestNameIsLookedUpAtEachVisit(t *testing.T) {
	at := talking(t, answers(0, 0)).Addr
	dns := &nameServer{known: map[string]string{"home.example.org": "127.0.0.2"}}
	p := streamProber(t, Options{Protocol: probertest.Lines{}, Timeout: 5 * time.Second, Retries: -1, Names: names.Resolver{Lookup: dns.lookup}})
	servers := []discovery.Server{called("home.example.org", at.Port())}
	if got := scan(t, p, servers)[0]; got.State != discovery.Refused {
		t.Errorf("nobody listens there, and it is %v", got.State)
	}
	dns.set("home.example.org", "127.0.0.1")
	if got := scan(t, p, servers)[0]; got.State != discovery.Answered || dns.asked["home.example.org"] != 2 {
		t.Errorf("it is %v after %d lookups", got.State, dns.asked["home.example.org"])
	}
}

// TestOtherAddressesOfAName checks that a server is found at whichever of its addresses it is.
func TestOtherAddressesOfAName(t *testing.T) {
	at := talking(t, answers(0, 0)).Addr
	for name, c := range map[string]struct {
		addrs string
		local string
		want  discovery.State
	}{
		"the first refuses":              {"127.0.0.2 127.0.0.3 127.0.0.1", "", discovery.Answered},
		"there is no way to IPv6":        {"2001:db8::1 127.0.0.1", "127.0.0.1", discovery.Answered},
		"all refuse":                     {"127.0.0.2 127.0.0.3", "", discovery.Refused},
		"nothing at the only address":    {"127.0.0.2", "", discovery.Refused},
		"this machine has the other one": {"127.0.0.1", "::1", discovery.Lost},
	} {
		dns := &nameServer{known: map[string]string{"many.example.org": c.addrs}}
		options := Options{Protocol: probertest.Lines{}, Timeout: 5 * time.Second, Retries: -1, Names: names.Resolver{Lookup: dns.lookup}}
		if c.local != "" {
			options.LocalAddr = netip.MustParseAddr(c.local)
		}
		p := streamProber(t, options)
		if got := scan(t, p, []discovery.Server{called("many.example.org", at.Port())})[0]; got.State != c.want {
			t.Errorf("%s: %v, want %v", name, got.State, c.want)
		}
	}
}

// TestIPv6PlayerGetsIPv6 checks that a player without IPv4 is at the server's IPv6 address at once.
func TestIPv6PlayerGetsIPv6(t *testing.T) {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("this machine has no IPv6: ", err)
	}
	defer l.Close()
	done := make(chan struct{})
	defer func() { <-done }()
	defer l.Close()
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			answers(0, 0)(conn)
			conn.Close()
		}
	}()
	dns := &nameServer{known: map[string]string{"both.example.org": "::1 127.0.0.1"}}
	p := streamProber(t, Options{Protocol: probertest.Lines{}, Timeout: 5 * time.Second, Retries: -1,
		LocalAddr: netip.IPv6Loopback(), Names: names.Resolver{Lookup: dns.lookup}})
	if got := scan(t, p, []discovery.Server{called("both.example.org", l.Addr().(*net.TCPAddr).AddrPort().Port())})[0]; got.State != discovery.Answered {
		t.Errorf("it is %v", got.State)
	}
}

// TestNamesStayAway checks that a stranger's name does not lead into our own networks.
func TestNamesStayAway(t *testing.T) {
	at := talking(t, answers(0, 0)).Addr
	dns := &nameServer{known: map[string]string{"trap.example.org": "127.0.0.1 192.168.1.1"}}
	p := streamProber(t, Options{Protocol: probertest.Lines{}, Timeout: 5 * time.Second, Retries: -1, Names: names.Resolver{Lookup: dns.lookup}})
	p.Lead(discovery.InternetReach)
	if got := scan(t, p, []discovery.Server{called("trap.example.org", at.Port())})[0]; got.State != discovery.Lost {
		t.Errorf("it is %v", got.State)
	}
}

// TestNamesOverUDP checks by a clock that is held how long a server's other addresses take, who is asked where, and
// that two names of one address are asked in turn.
func TestNamesOverUDP(t *testing.T) {
	const dead, alive, refuses = "10.1.0.1:27960", "10.1.0.2:27960", "10.1.0.3:27960"
	for name, c := range map[string]struct {
		known   map[string]string
		servers []discovery.Server
		options Options
		want    []string
		took    time.Duration
	}{
		"its first address is silent": {map[string]string{"a": "10.1.0.1 10.1.0.2"}, []discovery.Server{called("a", 27960)},
			Options{}, []string{"a:27960 answered arena"}, 1030 * ms},
		"without repeats, too": {map[string]string{"a": "10.1.0.1 10.1.0.2"}, []discovery.Server{called("a", 27960)},
			Options{Retries: -1}, []string{"a:27960 answered arena"}, 1030 * ms},
		"its first address refuses": {map[string]string{"a": "10.1.0.3 10.1.0.2"}, []discovery.Server{called("a", 27960)},
			Options{}, []string{"a:27960 answered arena"}, 40 * ms},
		"all are silent": {map[string]string{"a": "10.1.0.1"}, []discovery.Server{called("a", 27960)},
			Options{}, []string{"a:27960 lost"}, 3 * time.Second},
		"two names of one address": {map[string]string{"a": "10.1.0.2", "b": "10.1.0.2"},
			[]discovery.Server{called("a", 27960), called("b", 27960)},
			Options{}, []string{"a:27960 answered arena", "b:27960 answered arena"}, 0},
		"a name and its address": {map[string]string{"a": "10.1.0.2"},
			[]discovery.Server{called("a", 27960), {Addr: netip.MustParseAddrPort(alive)}},
			Options{}, []string{"10.1.0.2:27960 answered arena", "a:27960 answered arena"}, 0},
		"two names that share addresses crosswise": {map[string]string{"a": "10.1.0.1 10.1.0.4", "b": "10.1.0.4 10.1.0.1"},
			[]discovery.Server{called("a", 27960), called("b", 27960)},
			Options{Retries: 1}, []string{"a:27960 lost", "b:27960 lost"}, 0},
		"nobody knows it": {nil, []discovery.Server{called("a", 27960)}, Options{}, []string{"a:27960 lost"}, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			dns := &nameServer{known: c.known}
			c.options.Protocol, c.options.Names = marked{}, names.Resolver{Lookup: dns.lookup}
			sky := newSky(func(q sighting) []packet {
				switch q.addr.String() {
				case alive:
					return say(30*ms, markedReply(q.text))
				case refuses:
					return []packet{{after: 10 * ms, text: q.text, refused: true}}
				}
				return nil
			})
			began := time.Now()
			got := outcomes(c.servers, scan(t, virtual(t, c.options, sky), c.servers))
			if at := netip.MustParseAddrPort(alive); len(c.servers) == 2 && len(sky.asked[at]) == 2 && sky.asked[at][1]-sky.asked[at][0] < 30*ms {
				t.Errorf("%s: both are asked at once: %v", name, sky.asked[at])
			}
			if took := time.Since(began); !slices.Equal(got, c.want) || c.took > 0 && took != c.took {
				t.Errorf("%s: %q after %v, want %q after %v", name, got, took, c.want, c.took)
			}
		})
	}
}

// TestNameStaysWhereItAnswered checks that a look of one packet goes to the address that answered before.
func TestNameStaysWhereItAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dns := &nameServer{known: map[string]string{"a": "10.1.0.1 10.1.0.2"}}
		sky := newSky(func(q sighting) []packet {
			if q.addr.Addr() == netip.MustParseAddr("10.1.0.2") {
				return say(30*ms, markedReply(q.text))
			}
			return nil
		})
		p := virtual(t, Options{Protocol: marked{}, Retries: -1, Names: names.Resolver{Lookup: dns.lookup}}, sky)
		servers := []discovery.Server{called("a", 27960)}
		scan(t, p, servers)
		began := time.Now()
		if got := scan(t, p, servers)[0]; got.State != discovery.Answered || time.Since(began) != 30*ms {
			t.Errorf("%v after %v", got.State, time.Since(began))
		}
	})
}
