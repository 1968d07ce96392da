package netfab

import (
	"encoding/binary"
	"net/netip"
)

// These are the transports that a router knows, by their number in the IP header.
const (
	protoICMP   = 1
	protoTCP    = 6
	protoUDP    = 17
	protoICMPv6 = 58
)

// These are the lengths of headers without options, in bytes.
const (
	ip4Len  = 20
	ip6Len  = 40
	icmpLen = 8
	udpLen  = 8
)

// These are the offsets of fields in an IPv4 header (RFC 791).
const (
	ip4Total    = 2
	ip4Fragment = 6
	ip4Proto    = 9
	ip4Sum      = 10
	ip4Src      = 12
	ip4Dst      = 16
	// dontFragment is a flag. anyFragment is the mask of the bits that are nonzero in fragments.
	dontFragment = 0x4000
	anyFragment  = 0x3fff
)

// These are the offsets of checksums in transport headers.
const (
	tcpSum = 16
	udpSum = 6
)

// header holds the parts of an IP packet's header that the fabric uses.
type header struct {
	is6      bool
	src, dst netip.Addr
	proto    byte
	// body is the offset of the transport's header.
	body int
	// whole says that the packet is not a fragment.
	whole bool
}

// parse reads an IP packet's header. The packet may be cut off behind the header, as in ICMP
// errors.
func parse(b []byte) (h header, ok bool) {
	switch {
	case len(b) >= ip4Len && b[0]>>4 == 4:
		h = header{
			src: netip.AddrFrom4([4]byte(b[ip4Src:])), dst: netip.AddrFrom4([4]byte(b[ip4Dst:])),
			proto: b[ip4Proto], body: int(b[0]&15) * 4,
			whole: binary.BigEndian.Uint16(b[ip4Fragment:])&anyFragment == 0,
		}
		return h, h.body >= ip4Len && h.body <= len(b)
	case len(b) >= ip6Len && b[0]>>4 == 6:
		return header{
			is6: true, src: netip.AddrFrom16([16]byte(b[8:])), dst: netip.AddrFrom16([16]byte(b[24:])),
			proto: b[6], body: ip6Len, whole: true,
		}, true
	}
	return h, false
}

// sum16 returns the Internet checksum (RFC 1071) of b, added to a previous sum.
func sum16(b []byte, sum uint32) uint16 {
	for ; len(b) > 1; b = b[2:] {
		sum += uint32(b[0])<<8 | uint32(b[1])
	}
	if len(b) > 0 {
		sum += uint32(b[0]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

// adjust corrects the checksum at field for a change from one value to another of an even length
// (RFC 1624, equation 3).
func adjust(field, from, to []byte) {
	sum := uint32(^binary.BigEndian.Uint16(field))
	for i := 0; i < len(from); i += 2 {
		sum += uint32(^binary.BigEndian.Uint16(from[i:])) + uint32(binary.BigEndian.Uint16(to[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	binary.BigEndian.PutUint16(field, ^uint16(sum))
}

// end is one side of a packet.
type end uint8

const (
	source end = iota
	destination
)

// port returns a side's port. For ICMP echoes the asking side has the identifier, which routers
// translate, and the other side has 0.
func (h header) port(b []byte, of end) uint16 {
	at, ok := h.portAt(b, of)
	if !ok {
		return 0
	}
	return binary.BigEndian.Uint16(b[at:])
}

// These types of ICMP messages are echoes.
const (
	echoReply   = 0
	echoRequest = 8
	// icmpID is the offset of the identifier.
	icmpID = 4
)

func (h header) portAt(b []byte, of end) (at int, ok bool) {
	switch t := b[h.body:]; {
	case (h.proto == protoTCP || h.proto == protoUDP) && len(t) >= 4:
		return h.body + 2*int(of), true
	case h.proto == protoICMP && len(t) >= icmpLen && (t[0] == echoRequest && of == source || t[0] == echoReply && of == destination):
		return h.body + icmpID, true
	}
	return 0, false
}

// rewrite gives one side of an IPv4 packet another address and port, and corrects the checksums.
func (h header) rewrite(b []byte, of end, to netip.AddrPort) {
	transport := b[h.body:]
	var sum []byte // nil if there is none
	hasPseudo := true
	switch {
	case h.proto == protoTCP && len(transport) >= tcpSum+2:
		sum = transport[tcpSum:][:2]
	case h.proto == protoUDP && len(transport) >= udpLen && (transport[udpSum] != 0 || transport[udpSum+1] != 0):
		sum = transport[udpSum:][:2]
	case h.proto == protoICMP && len(transport) >= icmpLen:
		sum, hasPseudo = transport[2:4], false
	}
	change := func(field, value []byte, counted bool) {
		if sum != nil && counted {
			adjust(sum, field, value)
		}
		copy(field, value)
	}
	addr := to.Addr().As4()
	field := b[ip4Src+4*int(of):][:4]
	adjust(b[ip4Sum:], field, addr[:])
	change(field, addr[:], hasPseudo)
	if at, ok := h.portAt(b, of); ok {
		change(b[at:][:2], binary.BigEndian.AppendUint16(nil, to.Port()), true)
	}
	if h.proto == protoUDP && sum != nil && sum[0] == 0 && sum[1] == 0 {
		sum[0], sum[1] = 0xff, 0xff // zero would mean that there is none
	}
}

// The fabric itself writes these ICMP messages (RFC 1191, RFC 4443).
const (
	unreachable    = 3
	needsFragments = 4
	packetTooBig   = 2
	// quoted4 is how much of a packet ICMP quotes behind its header. quoted6 is the longest ICMPv6
	// error.
	quoted4 = 8
	quoted6 = 1280
	// ttl is the TTL of the fabric's own packets.
	ttl = 64
)

// tooBig returns the message to the sender of a packet over the MTU. It is nil if the packet may be
// fragmented: its sender would not expect a message.
func tooBig(packet []byte, mtu int) []byte {
	h, ok := parse(packet)
	switch {
	case !ok || h.proto == protoICMP && !h.is6 || h.proto == protoICMPv6:
		return nil // errors do not cause errors
	case h.is6:
		return tooBig6(h, packet, mtu)
	case binary.BigEndian.Uint16(packet[ip4Fragment:])&dontFragment == 0:
		return nil
	}
	quote := packet[:min(len(packet), h.body+quoted4)]
	b := make([]byte, ip4Len+icmpLen, ip4Len+icmpLen+len(quote))
	b = append(b, quote...)
	b[0], b[8], b[ip4Proto] = 0x45, ttl, protoICMP
	binary.BigEndian.PutUint16(b[ip4Total:], uint16(len(b)))
	copy(b[ip4Src:], packet[ip4Dst:][:4])
	copy(b[ip4Dst:], packet[ip4Src:][:4])
	binary.BigEndian.PutUint16(b[ip4Sum:], sum16(b[:ip4Len], 0))
	icmp := b[ip4Len:]
	icmp[0], icmp[1] = unreachable, needsFragments
	binary.BigEndian.PutUint16(icmp[6:], uint16(mtu))
	binary.BigEndian.PutUint16(icmp[2:], sum16(icmp, 0))
	return b
}

func tooBig6(h header, packet []byte, mtu int) []byte {
	quote := packet[:min(len(packet), quoted6-ip6Len-icmpLen)]
	b := make([]byte, ip6Len+icmpLen, ip6Len+icmpLen+len(quote))
	b = append(b, quote...)
	icmp := b[ip6Len:]
	b[0], b[6], b[7] = 0x60, protoICMPv6, ttl
	binary.BigEndian.PutUint16(b[4:], uint16(len(icmp)))
	src, dst := h.dst.As16(), h.src.As16()
	copy(b[8:], src[:])
	copy(b[24:], dst[:])
	icmp[0] = packetTooBig
	binary.BigEndian.PutUint32(icmp[4:], uint32(mtu))
	binary.BigEndian.PutUint16(icmp[2:], sum16(icmp, pseudo(h.dst, h.src, protoICMPv6, len(icmp))))
	return b
}

// pseudo returns the sum, not yet folded, of the pseudo-header that transports' checksums include
// (RFC 768, RFC 8200 §8.1).
func pseudo(src, dst netip.Addr, proto byte, length int) (sum uint32) {
	for _, a := range []netip.Addr{src, dst} {
		for b := a.AsSlice(); len(b) > 1; b = b[2:] {
			sum += uint32(b[0])<<8 | uint32(b[1])
		}
	}
	return sum + uint32(proto) + uint32(length)
}
