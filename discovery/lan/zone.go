package lan

import (
	"log"
	"log/slog"
	"net"
	"sync/atomic"

	"github.com/hashicorp/mdns"
	"github.com/miekg/dns"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// groups are the addresses of multicast DNS (RFC 6762, section 3).
func groups(v6 bool) (network string, group *net.UDPAddr) {
	if v6 {
		return "udp6", &net.UDPAddr{IP: net.ParseIP("ff02::fb"), Port: 5353}
	}
	return "udp4", &net.UDPAddr{IP: net.IPv4(224, 0, 0, 251), Port: 5353}
}

// cacheFlush in a record's class replaces what caches hold (RFC 6762, 10.2).
const cacheFlush = 1 << 15

// zone is what there is to say of a room on one card. The responder's
// goroutines read it while it changes.
type zone struct {
	service atomic.Pointer[mdns.MDNSService]
	asked   chan<- struct{}
}

// Records answers a question. It is [mdns.Zone].
func (z *zone) Records(q dns.Question) []dns.RR {
	records := z.service.Load().Records(q)
	if len(records) > 0 {
		select {
		case z.asked <- struct{}{}:
		default: // it is known already
		}
	}
	return records
}

// records are the pointer that leads from the service to the room, and then all
// the others.
func (z *zone) records() []dns.RR {
	return z.service.Load().Records(dns.Question{Name: service + ".local.", Qtype: dns.TypePTR, Qclass: dns.ClassINET})
}

// announcement is what is said unasked of a new or changed room.
func announcement(z *zone) []dns.RR {
	records := z.records()
	for _, r := range records[1:] {
		r.Header().Class |= cacheFlush
	}
	return records
}

// goodbye takes rooms back (RFC 6762, section 10.1). It holds no more than the
// pointers: the DNS library's client is blind for the time to live, and takes
// what is whole for a find.
func goodbye(zones []*zone) []dns.RR {
	var records []dns.RR
	for _, z := range zones {
		pointer := z.records()[0]
		pointer.Header().Ttl = 0
		records = append(records, pointer)
	}
	return records
}

// multicast sends records on the card, in each family that it speaks.
func (i Interface) multicast(records []dns.RR, log *slog.Logger) {
	m := dns.Msg{MsgHdr: dns.MsgHdr{Response: true, Authoritative: true}, Compress: true, Answer: records}
	packet, err := m.Pack()
	if err != nil {
		log.Warn("cannot write an announcement", "err", err)
		return
	}
	for _, v6 := range []bool{false, true} {
		if !i.hasFamily(v6) {
			continue
		}
		if err := multicast(&i.card, v6, packet); err != nil {
			log.Debug("cannot multicast on a network card", "card", i.Name, "err", err)
		}
	}
}

// multicast sends a packet from multicast DNS' own port, as all but questions
// must be (RFC 6762, section 6). The DNS library does not lend its socket. The
// machine itself hears the packet too.
func multicast(card *net.Interface, v6 bool, packet []byte) error {
	network, group := groups(v6)
	conn, err := net.ListenMulticastUDP(network, card, group)
	if err != nil {
		return err
	}
	defer conn.Close()
	if v6 {
		p := ipv6.NewPacketConn(conn)
		p.SetMulticastLoopback(true)
		p.SetMulticastHopLimit(255)
	} else {
		p := ipv4.NewPacketConn(conn)
		p.SetMulticastLoopback(true)
		p.SetMulticastTTL(255)
	}
	_, err = conn.WriteToUDP(packet, group)
	return err
}

// quiet makes the DNS library log where it disturbs nobody.
func quiet(to *slog.Logger) *log.Logger { return slog.NewLogLogger(to.Handler(), slog.LevelDebug) }
