package netfab

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"
)

var (
	inside  = netip.MustParseAddrPort("10.0.0.2:5000")
	second  = netip.MustParseAddrPort("10.0.0.3:5000")
	public  = netip.MustParseAddr("203.0.113.9")
	server  = netip.MustParseAddrPort("198.18.0.1:27960")
	another = netip.MustParseAddrPort("198.18.0.2:27960")
)

func at(addr netip.Addr, port uint16) netip.AddrPort { return netip.AddrPortFrom(addr, port) }

// datagram returns an IPv4 packet with correct checksums.
func datagram(proto byte, from, to netip.AddrPort, payload string) []byte {
	head := map[byte]int{protoUDP: udpLen, protoTCP: 20}[proto]
	b := make([]byte, ip4Len+head, ip4Len+head+len(payload))
	b = append(b, payload...)
	b[0], b[8], b[ip4Proto] = 0x45, ttl, proto
	binary.BigEndian.PutUint16(b[ip4Total:], uint16(len(b)))
	binary.BigEndian.PutUint16(b[ip4Fragment:], dontFragment)
	src, dst := from.Addr().As4(), to.Addr().As4()
	copy(b[ip4Src:], src[:])
	copy(b[ip4Dst:], dst[:])
	binary.BigEndian.PutUint16(b[ip4Sum:], sum16(b[:ip4Len], 0))
	transport := b[ip4Len:]
	binary.BigEndian.PutUint16(transport, from.Port())
	binary.BigEndian.PutUint16(transport[2:], to.Port())
	sum := tcpSum
	if proto == protoUDP {
		binary.BigEndian.PutUint16(transport[4:], uint16(len(transport)))
		sum = udpSum
	}
	value := sum16(transport, pseudo(from.Addr(), to.Addr(), proto, len(transport)))
	if value == 0 && proto == protoUDP {
		value = 0xffff
	}
	binary.BigEndian.PutUint16(transport[sum:], value)
	return b
}

// icmp returns an IPv4 packet with an ICMP message.
func icmp(kind, code byte, from, to netip.Addr, rest [4]byte, body []byte) []byte {
	b := make([]byte, ip4Len+icmpLen, ip4Len+icmpLen+len(body))
	b = append(b, body...)
	b[0], b[8], b[ip4Proto] = 0x45, ttl, protoICMP
	binary.BigEndian.PutUint16(b[ip4Total:], uint16(len(b)))
	src, dst := from.As4(), to.As4()
	copy(b[ip4Src:], src[:])
	copy(b[ip4Dst:], dst[:])
	binary.BigEndian.PutUint16(b[ip4Sum:], sum16(b[:ip4Len], 0))
	message := b[ip4Len:]
	message[0], message[1] = kind, code
	copy(message[4:], rest[:])
	sign(message)
	return b
}

// checkSums checks every checksum of a packet, and of a packet that it quotes in full.
func checkSums(t *testing.T, what string, b []byte) {
	t.Helper()
	h, ok := parse(b)
	if !ok {
		t.Fatalf("%s: no IP packet: %x", what, b)
	}
	if h.is6 {
		if h.proto == protoICMPv6 && sum16(b[h.body:], pseudo(h.src, h.dst, h.proto, len(b)-h.body)) != 0 {
			t.Errorf("%s: ICMPv6's checksum is wrong", what)
		}
		return
	}
	if sum16(b[:h.body], 0) != 0 {
		t.Errorf("%s: the IP header's checksum is wrong", what)
	}
	body := b[h.body:]
	if int(binary.BigEndian.Uint16(b[ip4Total:])) != len(b) {
		return // quoted in part
	}
	switch h.proto {
	case protoICMP:
		if sum16(body, 0) != 0 {
			t.Errorf("%s: ICMP's checksum is wrong", what)
		}
		if quoted, is := h.quoted(b); is {
			checkSums(t, what+", quoted", b[quoted:])
		}
	case protoUDP:
		if body[udpSum] == 0 && body[udpSum+1] == 0 {
			return
		}
		fallthrough
	case protoTCP:
		if sum16(body, pseudo(h.src, h.dst, h.proto, len(body))) != 0 {
			t.Errorf("%s: the transport's checksum is wrong", what)
		}
	}
}

func ends(t *testing.T, b []byte) (from, to netip.AddrPort) {
	t.Helper()
	h, ok := parse(b)
	if !ok {
		t.Fatalf("no IP packet: %x", b)
	}
	return at(h.src, h.port(b, source)), at(h.dst, h.port(b, destination))
}

// TestNATTranslates checks both directions, with correct checksums, for each transport.
func TestNATTranslates(t *testing.T) {
	for _, mapping := range []Mapping{PerEndpoint, PerFlow, Symmetric} {
		for name, proto := range map[string]byte{"UDP": protoUDP, "TCP": protoTCP} {
			for _, payload := range []string{"", "x", "getinfo xxx"} {
				r := newRouter(NAT{Public: public, Mapping: mapping})
				b := datagram(proto, inside, server, payload)
				if !r.out(b, 0) {
					t.Fatalf("%s, mapping %d: did not get out", name, mapping)
				}
				checkSums(t, name+" out", b)
				from, to := ends(t, b)
				if from.Addr() != public || to != server {
					t.Fatalf("%s, mapping %d: out from %v to %v", name, mapping, from, to)
				}
				back := datagram(proto, server, from, payload)
				if !r.in(back, ms) {
					t.Fatalf("%s, mapping %d: the answer did not get in", name, mapping)
				}
				checkSums(t, name+" in", back)
				if from, to := ends(t, back); from != server || to != inside {
					t.Errorf("%s, mapping %d: in from %v to %v", name, mapping, from, to)
				}
			}
		}
	}
}

// TestNATKeepsNoChecksum checks that a UDP packet without a checksum gets none.
func TestNATKeepsNoChecksum(t *testing.T) {
	b := datagram(protoUDP, inside, server, "x")
	b[ip4Len+udpSum], b[ip4Len+udpSum+1] = 0, 0
	if newRouter(NAT{Public: public}).out(b, 0); b[ip4Len+udpSum] != 0 || b[ip4Len+udpSum+1] != 0 {
		t.Error("it has one")
	}
}

// TestNATChecksumNeverZero checks that a checksum of zero is sent as its other zero. Zero would
// mean that there is none.
func TestNATChecksumNeverZero(t *testing.T) {
	zeros := 0
	for n := range 1 << 16 {
		b := datagram(protoUDP, inside, server, string([]byte{byte(n >> 8), byte(n)}))
		newRouter(NAT{Public: public}).out(b, 0)
		field := binary.BigEndian.Uint16(b[ip4Len+udpSum:])
		if field == 0 {
			t.Fatalf("payload %04x: no checksum", n)
		}
		if field == 0xffff {
			zeros++
			checkSums(t, "the other zero", b)
		}
	}
	if zeros == 0 {
		t.Error("no payload sums up to zero")
	}
}

// TestNATErrors checks that ICMP errors reach the right machine, and that their quotes are
// translated, too.
func TestNATErrors(t *testing.T) {
	for _, mapping := range []Mapping{PerEndpoint, PerFlow, Symmetric} {
		for name, proto := range map[string]byte{"UDP": protoUDP, "TCP": protoTCP} {
			r := newRouter(NAT{Public: public, Mapping: mapping})
			sent := datagram(proto, inside, server, "getinfo xxx")
			r.out(sent, 0)
			refused := icmp(unreachable, 3, server.Addr(), public, [4]byte{}, sent)
			if !r.in(refused, ms) {
				t.Fatalf("%s, mapping %d: the error did not get in", name, mapping)
			}
			checkSums(t, name+" refused", refused)
			h, _ := parse(refused)
			if from, to := ends(t, refused[ip4Len+icmpLen:]); h.dst != inside.Addr() || from != inside || to != server {
				t.Errorf("%s, mapping %d: the error went to %v and quotes %v to %v", name, mapping, h.dst, from, to)
			}

			mapped, _ := ends(t, sent)
			got := datagram(proto, server, mapped, "infoResponse")
			r.in(got, 2*ms)
			closed := icmp(unreachable, 3, inside.Addr(), server.Addr(), [4]byte{}, got)
			if !r.out(closed, 3*ms) {
				t.Fatalf("%s, mapping %d: the machine's error did not get out", name, mapping)
			}
			checkSums(t, name+" closed", closed)
			h, _ = parse(closed)
			if from, to := ends(t, closed[ip4Len+icmpLen:]); h.src != public || from != server || to != mapped {
				t.Errorf("%s, mapping %d: the error came from %v and quotes %v to %v, want the quote's end %v", name, mapping, h.src, from, to, mapped)
			}
		}
		r := newRouter(NAT{Public: public, Mapping: mapping})
		if foreign := icmp(unreachable, 3, server.Addr(), public, [4]byte{},
			datagram(protoUDP, at(public, 5000), server, "x")); r.in(foreign, 0) {
			t.Errorf("mapping %d: an error about what nobody sent got in", mapping)
		}
	}
}

// TestNATEcho checks pings.
func TestNATEcho(t *testing.T) {
	for _, mapping := range []Mapping{PerEndpoint, PerFlow, Symmetric} {
		r := newRouter(NAT{Public: public, Mapping: mapping})
		ping := icmp(echoRequest, 0, inside.Addr(), server.Addr(), [4]byte{0x12, 0x34, 0, 1}, []byte("ping"))
		if !r.out(ping, 0) {
			t.Fatalf("mapping %d: did not get out", mapping)
		}
		checkSums(t, "echo out", ping)
		pong := icmp(echoReply, 0, server.Addr(), public, [4]byte(ping[ip4Len+4:]), []byte("ping"))
		if !r.in(pong, ms) {
			t.Fatalf("mapping %d: the answer did not get in", mapping)
		}
		checkSums(t, "echo in", pong)
		if h, _ := parse(pong); h.dst != inside.Addr() || binary.BigEndian.Uint16(pong[ip4Len+4:]) != 0x1234 {
			t.Errorf("mapping %d: the answer went to %v with %x", mapping, h.dst, pong[ip4Len+4:][:2])
		}
	}
}

// TestNATMappings checks the mappings of each kind of router, and which partners they let in.
func TestNATMappings(t *testing.T) {
	for name, test := range map[string]struct {
		mapping                   Mapping
		samePort, othersIn        bool
		mappingsOfTwo, ofNeighbor int
	}{
		"per endpoint": {PerEndpoint, true, true, 1, 2},
		"per flow":     {PerFlow, true, false, 2, 3},
		"symmetric":    {Symmetric, false, false, 2, 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRouter(NAT{Public: public, Mapping: test.mapping})
			first, other := datagram(protoUDP, inside, server, ""), datagram(protoUDP, inside, another, "")
			r.out(first, 0)
			fromFirst, _ := ends(t, first)
			stranger := datagram(protoUDP, another, fromFirst, "")
			if got := r.in(stranger, ms); got != test.othersIn {
				t.Errorf("who was not asked gets in: %v, want %v", got, test.othersIn)
			}
			r.out(other, 2*ms)
			fromSecond, _ := ends(t, other)
			if got := fromFirst == fromSecond; got != test.samePort {
				t.Errorf("%v and %v: the same port: %v, want %v", fromFirst, fromSecond, got, test.samePort)
			}
			if got := len(r.outward); got != test.mappingsOfTwo {
				t.Errorf("%d mappings, want %d", got, test.mappingsOfTwo)
			}
			neighbor := datagram(protoUDP, second, server, "")
			r.out(neighbor, 3*ms)
			if from, _ := ends(t, neighbor); from == fromFirst {
				t.Error("two machines share a mapping")
			}
			if got := len(r.outward); got != test.ofNeighbor {
				t.Errorf("%d mappings with the neighbor's, want %d", got, test.ofNeighbor)
			}
		})
	}
}

// TestNATRoom checks a router when its table is full, and when mappings are idle.
func TestNATRoom(t *testing.T) {
	ask := func(r *router, to netip.AddrPort, now time.Duration) bool {
		return r.out(datagram(protoUDP, inside, to, ""), now)
	}
	answers := func(r *router, from netip.AddrPort, now time.Duration) bool {
		return r.in(datagram(protoUDP, from, at(public, inside.Port()), ""), now)
	}
	third := netip.MustParseAddrPort("198.18.0.3:27960")
	t.Run("evicts", func(t *testing.T) {
		r := newRouter(NAT{Public: public, Mapping: PerFlow, Room: 2})
		ask(r, server, 0)
		ask(r, another, ms)
		ask(r, server, 2*ms) // now another is idle longest
		if !ask(r, third, 3*ms) {
			t.Fatal("there is no room for a third")
		}
		if !answers(r, server, 4*ms) || answers(r, another, 4*ms) || !answers(r, third, 4*ms) {
			t.Error("not the longest idle was evicted")
		}
		if r.evicted != 1 || r.refused != 0 {
			t.Errorf("evicted %d, refused %d", r.evicted, r.refused)
		}
	})
	t.Run("refuses", func(t *testing.T) {
		r := newRouter(NAT{Public: public, Mapping: PerFlow, Room: 2, Full: Refuse, Idle: time.Second})
		ask(r, server, 0)
		ask(r, another, ms)
		if ask(r, third, 2*ms) || !ask(r, server, 3*ms) || !answers(r, another, 4*ms) {
			t.Error("what had room lost it, or a third had")
		}
		if !ask(r, third, ms+time.Second+1) {
			t.Error("an idle mapping keeps its room")
		}
		if r.evicted != 0 || r.refused != 1 {
			t.Errorf("evicted %d, refused %d", r.evicted, r.refused)
		}
	})
	t.Run("forgets", func(t *testing.T) {
		r := newRouter(NAT{Public: public, Mapping: PerFlow, Idle: time.Second})
		ask(r, server, 0)
		if !answers(r, server, time.Second) || answers(r, server, time.Second+1) {
			t.Error("a mapping does not end after a second")
		}
	})
	t.Run("leaves connections alone", func(t *testing.T) {
		r := newRouter(NAT{Public: public, Mapping: PerFlow, Room: 1})
		r.out(datagram(protoTCP, inside, server, ""), 0)
		ask(r, server, 0)
		ask(r, another, 0)
		if !r.in(datagram(protoTCP, server, at(public, inside.Port()), ""), time.Hour) {
			t.Error("the connection was forgotten")
		}
	})
}

// FuzzRouter checks that no packet in either direction makes a router fail. A packet that passes
// has correct sums if it had them before.
func FuzzRouter(f *testing.F) {
	f.Add(datagram(protoUDP, inside, server, "getinfo"))
	f.Add(datagram(protoTCP, inside, server, ""))
	f.Add(icmp(unreachable, 3, server.Addr(), public, [4]byte{}, datagram(protoUDP, at(public, 5000), server, "x")))
	f.Add(icmp(echoRequest, 0, inside.Addr(), server.Addr(), [4]byte{1, 2, 3, 4}, nil))
	f.Add(tooBig6(header{src: netip.IPv6Loopback(), dst: netip.IPv6Loopback()}, make([]byte, 1500), 1280))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, mapping := range []Mapping{PerEndpoint, PerFlow, Symmetric} {
			r := newRouter(NAT{Public: public, Mapping: mapping, Room: 1})
			r.out(datagram(protoUDP, inside, server, ""), 0)
			for _, pass := range []func([]byte, time.Duration) bool{r.out, r.in} {
				packet := append([]byte(nil), b...)
				h, ok := parse(packet)
				right := ok && !h.is6 && sum16(packet[:h.body], 0) == 0
				if pass(packet, ms) && right && sum16(packet[:h.body], 0) != 0 {
					t.Errorf("the header's sum of %x was right, of %x no more", b, packet)
				}
			}
			tooBig(b, 1280)
		}
	})
}
