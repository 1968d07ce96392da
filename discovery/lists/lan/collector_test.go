package lan

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/miekg/dns"

	"muster/discovery"
	"muster/discovery/protocol/a2s"
	"muster/discovery/protocol/luanti"
	"muster/discovery/protocol/quake3"
	"muster/discovery/protocol/sauerbraten"
)

const ourNonce discovery.Nonce = 0x1234

func newCollector(protocol discovery.Protocol) *collector {
	return &collector{protocol: protocol, nonce: ourNonce, network: netip.MustParsePrefix("192.168.1.5/24"), ports: []uint16{27960, 27961}}
}

// infoResponse returns a Quake 3 server's reply to the query with this nonce.
func infoResponse(name string, nonce discovery.Nonce) []byte {
	request, err := quake3.ParseRequest(quake3.Protocol{}.AppendQuery(nil, nonce, nil))
	if err != nil {
		panic(err)
	}
	return quake3.AppendInfoResponse(nil, discovery.Info{Name: name, Map: "q3dm17", MaxPlayers: 8}, request.Challenge(), 71)
}

func names(c *collector) string {
	var list []string
	for _, s := range c.servers() {
		list = append(list, s.Addr.String()+" "+s.Info.Name)
	}
	slices.Sort(list)
	return fmt.Sprint(list)
}

func TestCollectorReceives(t *testing.T) {
	type packet struct {
		from string
		body []byte
	}
	tests := []struct {
		name    string
		packets []packet
		want    string
	}{
		{"two servers", []packet{{"192.168.1.9:27960", infoResponse("A", ourNonce)}, {"192.168.1.9:27961", infoResponse("B", ourNonce)}},
			"[192.168.1.9:27960 A 192.168.1.9:27961 B]"},
		{"this machine's own", []packet{{"192.168.1.5:27960", infoResponse("A", ourNonce)}}, "[192.168.1.5:27960 A]"},
		{"the first word counts", []packet{{"192.168.1.9:27960", infoResponse("A", ourNonce)},
			{"192.168.1.9:27960", infoResponse("B", ourNonce)}},
			"[192.168.1.9:27960 A]"},
		{"another nonce", []packet{{"192.168.1.9:27960", infoResponse("A", ourNonce+1)}}, "[]"},
		{"from outside", []packet{{"192.168.2.9:27960", infoResponse("A", ourNonce)}}, "[]"},
		{"from a port not asked", []packet{{"192.168.1.9:27962", infoResponse("A", ourNonce)}}, "[]"},
		{"noise, then a reply", []packet{{"192.168.1.9:27960", []byte("\xff\xff\xff\xffprint\n")},
			{"192.168.1.9:27960", infoResponse("A", ourNonce)}},
			"[192.168.1.9:27960 A]"},
	}
	for _, tt := range tests {
		c := newCollector(quake3.Protocol{})
		for _, p := range tt.packets {
			if again := c.receive(netip.MustParseAddrPort(p.from), p.body); again != nil {
				t.Errorf("%s: sends %q", tt.name, again)
			}
		}
		if got := names(c); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestCollectorAnswersChallenges checks that an A2S server's challenge is answered, and
// that a server which sends challenges for ever is left alone.
func TestCollectorAnswersChallenges(t *testing.T) {
	c := newCollector(a2s.Protocol{})
	from := netip.MustParseAddrPort("192.168.1.9:27960")
	challenge := a2s.AppendChallenge(nil, [4]byte{1, 2, 3, 4})
	want := a2s.Protocol{}.AppendQuery(nil, ourNonce, []byte{1, 2, 3, 4})
	for range maxChallenges {
		if again := c.receive(from, challenge); string(again) != string(want) {
			t.Errorf("sends %q, want %q", again, want)
		}
	}
	if again := c.receive(from, challenge); again != nil {
		t.Errorf("sends %q to a server that never stops", again)
	}
	c.receive(from, a2s.AppendInfo(nil, discovery.Info{Name: "A"}))
	if got := names(c); got != "[192.168.1.9:27960 A]" {
		t.Errorf("got %s", got)
	}
}

// TestCollectorIsBounded checks the number of servers, and the size of their replies.
func TestCollectorIsBounded(t *testing.T) {
	c := newCollector(a2s.Protocol{})
	c.network = netip.MustParsePrefix("10.0.0.5/8")
	addr := netip.MustParseAddr("10.0.0.6")
	info := a2s.AppendInfo(nil, discovery.Info{Name: "A"})
	for range 2 * maxServers {
		c.receive(netip.AddrPortFrom(addr, 27960), info)
		addr = addr.Next()
	}
	if n := len(c.servers()); n != maxServers {
		t.Errorf("%d servers, want %d", n, maxServers)
	}

	c = newCollector(endless{})
	from := netip.MustParseAddrPort("192.168.1.9:27960")
	for range 100 {
		c.receive(from, make([]byte, 1400))
	}
	if m := c.members[from]; m.partsLen > maxPartsLen || len(m.parts) > maxParts || len(m.parts) == 0 {
		t.Errorf("%d parts of %d bytes are kept", len(m.parts), m.partsLen)
	}
}

// endless is a protocol whose replies never end.
type endless struct{ discovery.Protocol }

func (endless) Parse([][]byte) (discovery.Reply, error) {
	return discovery.Reply{Incomplete: true}, nil
}

// TestGather asks a server on loopback instead of a network. The server demands a
// challenge and misses the first query.
func TestGather(t *testing.T) {
	server, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	var served []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		served = serveA2S(server)
	}()
	addr := server.LocalAddr().(*net.UDPAddr).AddrPort()
	c := &collector{protocol: a2s.Protocol{}, network: netip.MustParsePrefix("127.0.0.1/8"), ports: []uint16{addr.Port()}}
	if err := c.gather(t.Context(), addr.Addr()); err != nil {
		t.Fatal(err)
	}
	server.Close()
	<-done
	if got, want := names(c), "["+addr.String()+" A]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if want := []string{"25", "25", "29"}; !slices.Equal(served, want) {
		t.Errorf("the server was asked with %v bytes, want %v", served, want)
	}
}

// serveA2S answers from the second query on, and returns the sizes of all queries.
func serveA2S(conn *net.UDPConn) (sizes []string) {
	buf := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			return sizes
		}
		sizes = append(sizes, strconv.Itoa(n))
		switch {
		case n > 25:
			conn.WriteToUDPAddrPort(a2s.AppendInfo(nil, discovery.Info{Name: "A"}), from)
		case len(sizes) > 1:
			conn.WriteToUDPAddrPort(a2s.AppendChallenge(nil, [4]byte{1, 2, 3, 4}), from)
		}
	}
}

// TestGatherIsCutShort checks that the end of the context cuts it short, without error.
func TestGatherIsCutShort(t *testing.T) {
	c := &collector{protocol: quake3.Protocol{}, network: netip.MustParsePrefix("127.0.0.1/8"), ports: []uint16{9}}
	took := broadcastWait
	for try := 0; took >= broadcastWait && try < 20; try++ { // a busy machine may be late, though not always
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		start := time.Now()
		err := c.gather(ctx, netip.MustParseAddr("127.0.0.1"))
		took = time.Since(start)
		if cancel(); err != nil {
			t.Fatal(err)
		}
	}
	if took >= broadcastWait {
		t.Errorf("it took %v", took)
	}
}

// TestAsideAndTaciturn checks two protocols. Sauerbraten's servers are asked one port above the
// players' port. Luanti's servers only tell that they exist, and want a goodbye.
func TestAsideAndTaciturn(t *testing.T) {
	c := &collector{protocol: sauerbraten.Protocol{}, nonce: ourNonce, network: netip.MustParsePrefix("192.168.1.5/24"), ports: []uint16{28785}}
	reply := sauerbraten.Answer(c.protocol.AppendQuery(nil, ourNonce, nil), discovery.Info{Name: "A"})
	c.receive(netip.MustParseAddrPort("192.168.1.9:28785"), reply)
	if got := c.servers(); len(got) != 0 {
		t.Errorf("a reply from the players' port counts: %v", got)
	}
	c.receive(netip.MustParseAddrPort("192.168.1.9:28786"), reply)
	if got := c.servers(); len(got) != 1 || got[0].Addr.Port() != 28785 || got[0].Info.Name != "A" {
		t.Errorf("%+v", got)
	}
	c = &collector{protocol: luanti.Protocol{}, nonce: ourNonce, network: netip.MustParsePrefix("192.168.1.5/24"), ports: []uint16{30000}}
	goodbye := c.receive(netip.MustParseAddrPort("192.168.1.9:30000"), luanti.Answer(c.protocol.AppendQuery(nil, 0, nil)))
	if got := c.servers(); len(got) != 1 || string(goodbye) != "\x4f\x45\x74\x03\x00\x02\x00\x00\x03" {
		t.Errorf("%+v, goodbye %x", got, goodbye)
	}
}

// packetOf returns the multicast of a room on a card with these addresses.
func packetOf(t testing.TB, room Room, addrs ...string) []byte {
	t.Helper()
	r := &responder{on: Interface{Name: "eth0", Addrs: prefixes(addrs...)}, zone: &zone{}}
	if err := r.set("a1", room); err != nil {
		t.Fatal(err)
	}
	packet, err := (&dns.Msg{MsgHdr: dns.MsgHdr{Response: true}, Compress: true, Answer: announcement(r.zone)}).Pack()
	if err != nil {
		t.Fatal(err)
	}
	return packet
}

// TestAnswersIn checks that announcements are read without the DNS library's client.
func TestAnswersIn(t *testing.T) {
	room := Room{Name: "Friday, 8 \"pm\" ü", Game: "openarena", Organiser: "olga", Players: 2, Seats: 4, Port: 7777}
	packet := packetOf(t, room, "192.168.1.9/24", "fe80::9/64")
	answers := answersIn(packet)
	if len(answers) != 1 {
		t.Fatalf("%d answers: %+v", len(answers), answers)
	}
	s, err := sight(answers[0], "eth0", "eth0, IPv4")
	if err != nil || s.id != "a1" || s.room != room || fmt.Sprint(s.addrs) != "[192.168.1.9:7777 [fe80::9%eth0]:7777]" {
		t.Errorf("%+v, %v, want %+v", s, err, room)
	}
	for n := range packet {
		answersIn(packet[:n])
	}
}

// TestAnswersAreTheirOwn checks that records of other services in a packet are not
// mixed in.
func TestAnswersAreTheirOwn(t *testing.T) {
	records := []dns.RR{}
	for _, text := range []string{
		"a._muster._tcp.local. 120 IN SRV 0 0 7777 a.local.", "b._ipp._tcp.local. 120 IN SRV 0 0 631 b.local.",
		"b._ipp._tcp.local. 120 IN TXT \"v=1\"", "a._muster._tcp.local. 120 IN TXT \"v=1\" \"id=a\" \"name=N\"",
		"b.local. 120 IN A 192.168.1.8", "A.local. 120 IN A 192.168.1.9",
	} {
		r, err := dns.NewRR(text)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	packet, err := (&dns.Msg{Answer: records[:2], Extra: records[2:]}).Pack()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range answersIn(packet) {
		got = append(got, fmt.Sprintf("%s %d %v %v %d", a.name, a.port, a.fields, a.addrs[0], len(a.addrs)))
	}
	if want := "[a._muster._tcp.local. 7777 [v=1 id=a name=N] 192.168.1.9 1 b._ipp._tcp.local. 631 [v=1] " +
		"192.168.1.8 1]"; fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
}

func FuzzAnswersIn(f *testing.F) {
	f.Add(packetOf(f, Room{Name: "N", Port: 1}, "192.168.1.9/24"))
	f.Fuzz(func(t *testing.T, packet []byte) {
		for _, a := range answersIn(packet) {
			sight(a, "eth0", "eth0, IPv4") // must not panic
		}
	})
}
