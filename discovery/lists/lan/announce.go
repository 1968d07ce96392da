package lan

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/mdns"
	"github.com/miekg/dns"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

const (
	// lookEvery is the time between checks for network cards that came or went.
	lookEvery = 2 * time.Second
	// tellEvery is the shortest time between unasked multicasts of a room, and the time
	// between the repeats of a change (RFC 6762, sections 6 and 8.3).
	tellEvery = time.Second
	// tellTimes is how often a change is multicast: a packet may get lost.
	tellTimes = 2
	// idLen random bytes distinguish an announcement from all others, and reveal
	// nothing else.
	idLen = 6
	// linkTTL is the hop limit of multicast DNS (RFC 6762, section 11).
	linkTTL = 255
)

// Announce announces a room on every suitable network card until the context ends or
// the channel is closed, and then withdraws it. The channel sends the room first, and
// again whenever it has changed; nothing is announced before. Announce follows cards
// that come and go. It stops receiving when it returns, so the sender must watch the
// context as well.
//
// The error reports that a room cannot be announced at all. A network card that fails
// is logged and tried again.
func Announce(ctx context.Context, rooms <-chan Room, log *slog.Logger) error {
	var id [idLen]byte
	rand.Read(id[:])
	a := &announcer{id: hex.EncodeToString(id[:]), log: log, asked: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(ctx)
	defer a.hearing.Wait()
	defer cancel()
	defer a.close()
	look, tell, hear := time.NewTicker(lookEvery), time.NewTicker(tellEvery), time.NewTicker(hearEvery)
	defer look.Stop()
	defer tell.Stop()
	defer hear.Stop()
	var heard <-chan []sighting
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
		case <-hear.C:
			a.unheard = true
		case all := <-heard:
			heard = nil
			a.hush(all)
		case <-look.C:
			a.follow()
		case <-a.asked:
			a.untold = max(a.untold, 1)
		case <-tell.C:
			a.tell()
		}
		if a.unheard && heard == nil && a.room.Via != "" {
			a.unheard, heard = false, a.hear(ctx)
		}
	}
}

// announcer announces one room.
type announcer struct {
	id   string
	log  *slog.Logger
	room Room // its port is 0 before the first room
	// responders answer, one for each network card.
	responders []*responder
	// asked receives when a responder has answered.
	asked chan struct{}
	// untold is how many multicasts of the room are due.
	untold int
	// unheard says that a look at who else announces the room is due; see [announcer.hush]. hearing is
	// the look under way.
	unheard bool
	hearing sync.WaitGroup
}

// update changes what is announced.
func (a *announcer) update(room Room) error {
	if room.Port == 0 {
		return fmt.Errorf("lan: a room without a port cannot be announced")
	}
	if room.Via != "" && (!isHost(room.Host.Addr()) || room.Host.Addr().IsLinkLocalUnicast()) {
		return fmt.Errorf("lan: no other machine reaches a host at %v", room.Host.Addr())
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

// follow starts responders on new cards. It ends those of cards that have gone or have
// other addresses.
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
		a.untold, a.unheard = tellTimes, true
	}
}

// tell multicasts the room, if that is due. The DNS library answers only the asker. The
// multicast is for those that such an answer does not reach, because of a firewall or
// another program on the machine.
func (a *announcer) tell() {
	if a.untold == 0 {
		return
	}
	a.untold--
	for _, r := range a.responders {
		if !r.zone.quiet.Load() {
			r.on.multicast(announcement(r.zone), a.log)
		}
	}
}

// close withdraws the room (RFC 6762, section 10.1), everywhere under each of its
// names: systems give a question to the responders of all cards, whichever it came in
// on. It sends only the pointers. The DNS library's client ignores the time to live,
// and would take a complete set of records for a room.
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
	r.zone.quiet.Store(room.Via != "") // until others have been heard
	if err := r.set(id, room); err != nil {
		return nil, err
	}
	var err error
	r.server, err = mdns.NewServer(&mdns.Config{Zone: r.zone, Iface: &r.on.card, Logger: quiet(log)})
	return r, err
}

// set changes the answers. Each card has a name of its own, because other addresses
// hold there.
func (r *responder) set(id string, room Room) error {
	instance := fmt.Sprintf("muster-%s-%d", id, r.on.card.Index)
	at := r.on.announced()
	if room.Via != "" {
		at = []net.IP{room.Host.Addr().Unmap().AsSlice()}
	}
	fields := appendTXT(nil, cmp.Or(room.ID, id), room)
	s, err := mdns.NewMDNSService(instance, service, "local.", instance+".local.", int(room.Port), at, fields)
	if err != nil {
		return fmt.Errorf("lan: cannot announce the room: %w", err)
	}
	r.zone.service.Store(s)
	return nil
}

// instance returns the room's name in DNS-SD on this card, as others hear it.
func (r *responder) instance() string { return r.zone.records()[0].(*dns.PTR).Ptr }

// serves reports whether the responder matches the card as it is now.
func (r *responder) serves(card Interface) bool {
	return r.on.card.Index == card.card.Index && r.on.Name == card.Name &&
		slices.EqualFunc(r.on.announced(), card.announced(), net.IP.Equal)
}

// groups returns the addresses of multicast DNS, and its port (RFC 6762, section 3).
func groups(v6 bool) (network string, group *net.UDPAddr) {
	if v6 {
		return "udp6", &net.UDPAddr{IP: net.ParseIP("ff02::fb"), Port: mdnsPort}
	}
	return "udp4", &net.UDPAddr{IP: net.IPv4(224, 0, 0, 251), Port: mdnsPort}
}

const mdnsPort = 5353

// cacheFlush in a record's class replaces what caches hold (RFC 6762, 10.2).
const cacheFlush = 1 << 15

// zone holds the records of a room on one card. The responder's goroutines read it
// while it changes.
type zone struct {
	service atomic.Pointer[mdns.MDNSService]
	quiet   atomic.Bool // others announce the room there
	asked   chan<- struct{}
}

// Records answers a question. It implements [mdns.Zone].
func (z *zone) Records(q dns.Question) []dns.RR {
	if z.quiet.Load() {
		return nil
	}
	records := z.service.Load().Records(q)
	if len(records) > 0 {
		select {
		case z.asked <- struct{}{}:
		default: // the room is known already
		}
	}
	return records
}

// records returns the pointer from the service to the room, and then all other records.
func (z *zone) records() []dns.RR {
	return z.service.Load().Records(dns.Question{Name: service + ".local.", Qtype: dns.TypePTR, Qclass: dns.ClassINET})
}

// announcement returns the records that are multicast for a new or changed room.
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

// multicast sends a packet from multicast DNS's own port, which is required for all but
// questions (RFC 6762, section 6). The DNS library does not lend its socket. The
// machine itself receives the packet too.
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

// quiet returns a logger that hides the DNS library's messages at debug level.
func quiet(to *slog.Logger) *log.Logger { return slog.NewLogLogger(to.Handler(), slog.LevelDebug) }
