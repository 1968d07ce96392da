package lan

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hashicorp/mdns"
	"github.com/miekg/dns"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

const (
	// lookEvery is how often network cards are looked for that came or went.
	lookEvery = 2 * time.Second
	// tellEvery is how often at most a room is multicast unasked, and how far
	// apart a change is told (RFC 6762, sections 6 and 8.3).
	tellEvery = time.Second
	// tellTimes is how often a change is told: a packet may get lost.
	tellTimes = 2
	// idLen random bytes distinguish an announcement from all others, and say
	// nothing else.
	idLen = 6
	// linkTTL is the hop limit of multicast DNS (RFC 6762, section 11).
	linkTTL = 255
)

// Announce announces a room on every suitable network card until the context
// ends or the channel is closed, and then takes it back. The channel brings the
// room, and again whenever it has changed; nothing is announced before. Cards
// that come and go are followed. Nobody takes from the channel once Announce
// has returned: whoever sends must look to the context as well.
//
// The error says that a room cannot be announced at all. A network card that
// does not work is logged and tried again.
func Announce(ctx context.Context, rooms <-chan Room, log *slog.Logger) error {
	var id [idLen]byte
	rand.Read(id[:])
	a := &announcer{id: hex.EncodeToString(id[:]), log: log, asked: make(chan struct{}, 1)}
	defer a.close()
	look, tell := time.NewTicker(lookEvery), time.NewTicker(tellEvery)
	defer look.Stop()
	defer tell.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case room, isOpen := <-rooms:
			if !isOpen {
				return nil
			}
			if err := a.update(room); err != nil {
				return err
			}
		case <-look.C:
			a.follow()
		case <-a.asked:
			a.untold = max(a.untold, 1)
		case <-tell.C:
			a.tell()
		}
	}
}

// announcer announces one room.
type announcer struct {
	id   string
	log  *slog.Logger
	room Room // its port is 0 before there is one
	// responders answer, one a network card.
	responders []*responder
	// asked is sent to when a responder has answered.
	asked chan struct{}
	// untold is how often the room is still to be multicast.
	untold int
}

// update changes what is announced.
func (a *announcer) update(room Room) error {
	if room.Port == 0 {
		return fmt.Errorf("lan: a room without a port cannot be announced")
	}
	a.room = room
	for _, r := range a.responders {
		if err := r.set(a.id, room); err != nil {
			return err
		}
	}
	a.untold = tellTimes
	a.follow()
	return nil
}

// follow starts responders on cards that have come, and ends those of cards
// that have gone or have other addresses.
func (a *announcer) follow() {
	if a.room.Port == 0 {
		return
	}
	all, err := Interfaces()
	if err != nil {
		a.log.Warn("cannot look for network cards", "err", err)
		return
	}
	cards := used(all)
	a.responders = slices.DeleteFunc(a.responders, func(r *responder) bool {
		gone := !slices.ContainsFunc(cards, r.serves)
		if gone {
			a.log.Debug("a network card is gone", "card", r.on.Name)
			r.server.Shutdown()
		}
		return gone
	})
	for _, card := range cards {
		if slices.ContainsFunc(a.responders, func(r *responder) bool { return r.serves(card) }) {
			continue
		}
		r, err := respond(card, a.id, a.room, a.asked, a.log)
		if err != nil {
			a.log.Debug("cannot announce on a network card", "card", card.Name, "err", err)
			continue
		}
		a.log.Debug("announcing a room", "card", card.Name, "addrs", card.announced())
		a.responders = append(a.responders, r)
		a.untold = tellTimes
	}
}

// tell multicasts the room, if there is something to tell. The DNS library
// answers the asker alone: this is for those whom such an answer does not
// reach, because a firewall or another program on the machine is in its way.
func (a *announcer) tell() {
	if a.untold == 0 {
		return
	}
	a.untold--
	for _, r := range a.responders {
		r.on.multicast(announcement(r.zone), a.log)
	}
}

// close takes the room back (RFC 6762, section 10.1), everywhere under each of
// its names: systems hand a question to the responders of all cards, whichever
// it came in on. It sends no more than the pointers: the DNS library's client is
// blind for the time to live, and takes what is whole for a find.
func (a *announcer) close() {
	var goodbye []dns.RR
	for _, r := range a.responders {
		r.server.Shutdown()
		pointer := r.zone.records()[0]
		pointer.Header().Ttl = 0
		goodbye = append(goodbye, pointer)
	}
	for _, r := range a.responders {
		r.on.multicast(goodbye, a.log)
	}
}

// responder answers questions about a room on one network card.
type responder struct {
	on     Interface
	zone   *zone
	server *mdns.Server
}

func respond(on Interface, id string, room Room, asked chan<- struct{}, log *slog.Logger) (*responder, error) {
	r := &responder{on: on, zone: &zone{asked: asked}}
	if err := r.set(id, room); err != nil {
		return nil, err
	}
	var err error
	r.server, err = mdns.NewServer(&mdns.Config{Zone: r.zone, Iface: &r.on.card, Logger: quiet(log)})
	return r, err
}

// set changes what is answered. The name is the card's own: it stands for the
// addresses that hold there.
func (r *responder) set(id string, room Room) error {
	instance := fmt.Sprintf("muster-%s-%d", id, r.on.card.Index)
	s, err := mdns.NewMDNSService(instance, service, "local.", instance+".local.", int(room.Port), r.on.announced(), appendTXT(nil, id, room))
	if err != nil {
		return fmt.Errorf("lan: cannot announce the room: %w", err)
	}
	r.zone.service.Store(s)
	return nil
}

// serves reports whether the responder does for the card as it is now.
func (r *responder) serves(card Interface) bool {
	return r.on.card.Index == card.card.Index && r.on.Name == card.Name &&
		slices.EqualFunc(r.on.announced(), card.announced(), net.IP.Equal)
}

// groups are the addresses of multicast DNS, and its port (RFC 6762, section 3).
func groups(v6 bool) (network string, group *net.UDPAddr) {
	if v6 {
		return "udp6", &net.UDPAddr{IP: net.ParseIP("ff02::fb"), Port: mdnsPort}
	}
	return "udp4", &net.UDPAddr{IP: net.IPv4(224, 0, 0, 251), Port: mdnsPort}
}

const mdnsPort = 5353

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
		p.SetMulticastHopLimit(linkTTL)
	} else {
		p := ipv4.NewPacketConn(conn)
		p.SetMulticastLoopback(true)
		p.SetMulticastTTL(linkTTL)
	}
	_, err = conn.WriteToUDP(packet, group)
	return err
}

// quiet makes the DNS library log where it disturbs nobody.
func quiet(to *slog.Logger) *log.Logger { return slog.NewLogLogger(to.Handler(), slog.LevelDebug) }
