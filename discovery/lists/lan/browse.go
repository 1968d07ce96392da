package lan

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/hashicorp/mdns"
	"github.com/miekg/dns"
)

const (
	// roundEvery is the time between questions.
	roundEvery = time.Second
	// firstListen is how long the first round waits for answers: on a cable they take a
	// millisecond, and the first list should come soon.
	firstListen = 250 * time.Millisecond
	// listen is how long all other rounds wait: Wi-Fi delays multicast by up to some
	// hundred milliseconds. The DNS library cannot be interrupted meanwhile.
	listen = 750 * time.Millisecond
	// maxAnswers bounds the answers of a round on one card.
	maxAnswers = 64
	// maxPacket bounds a message of multicast DNS (RFC 6762, section 17), in bytes.
	maxPacket = 9000
)

// errNoCard explains why nothing can be found.
var errNoCard = errors.New("lan: no network card is connected that rooms could be found on")

// Browse looks for rooms on every suitable network card. It yields the whole list after
// the first round, a quarter of a second, and again whenever it has changed: rooms
// come, change and go. It ends within a second after the context, or when its consumer
// stops. The error explains why no card could be asked; Browse goes on after it.
func Browse(ctx context.Context, log *slog.Logger) iter.Seq2[[]Found, error] {
	return func(yield func([]Found, error) bool) {
		var known sightings
		var shown []Found
		var shownErr error
		for wait := firstListen; ; wait = listen {
			next := time.After(roundEvery)
			news, cards, err := askAll(ctx, wait, log)
			if ctx.Err() != nil {
				return
			}
			known.receive(news)
			rooms := known.rooms(cards)
			if known.round == 1 || !areEqual(rooms, shown) || fmt.Sprint(err) != fmt.Sprint(shownErr) {
				if !yield(rooms, err) {
					return
				}
				shown, shownErr = rooms, err
			}
			select {
			case <-ctx.Done():
				return
			case <-next:
			}
		}
	}
}

// way is a card and a family: how a question goes out.
type way struct {
	Interface
	v6 bool
}

func (w way) String() string {
	if w.v6 {
		return w.Name + ", IPv6"
	}
	return w.Name + ", IPv4"
}

// askAll asks once on every suitable card, separately in each family: one that fails
// must not silence the other.
func askAll(ctx context.Context, wait time.Duration, log *slog.Logger) ([]sighting, []Interface, error) {
	all, err := Interfaces()
	if err != nil {
		return nil, nil, err
	}
	cards := used(all)
	if len(cards) == 0 {
		return nil, nil, errNoCard
	}
	news, err := together(waysOf(cards), func(w way) ([]sighting, error) { return ask(ctx, w, wait, log) })
	return news, cards, err
}

// waysOf returns the ways by which these cards ask.
func waysOf(cards []Interface) (ways []way) {
	for _, card := range cards {
		for _, v6 := range []bool{false, true} {
			if card.hasFamily(v6) {
				ways = append(ways, way{card, v6})
			}
		}
	}
	return ways
}

// ask asks in one way, and waits for answers.
func ask(ctx context.Context, w way, wait time.Duration, log *slog.Logger) ([]sighting, error) {
	answers, err := inquire(ctx, w, wait, log)
	if err != nil {
		log.Debug("the DNS library cannot look for rooms", "way", w, "err", err)
		answers, err = overhear(ctx, w, wait, func(netip.Addr) bool { return true })
	}
	if err != nil {
		log.Debug("cannot look for rooms", "way", w, "err", err)
		return nil, fmt.Errorf("lan: cannot look for rooms on %v: %w", w, err)
	}
	return w.sights(answers, log), nil
}

// sights returns the rooms among some answers.
func (w way) sights(answers []answer, log *slog.Logger) (heard []sighting) {
	for _, a := range answers {
		s, err := sight(a, w.Name, w.String())
		if err != nil {
			log.Debug("an announcement that is no room's", "way", w, "err", err)
			continue
		}
		heard = append(heard, s)
	}
	return heard
}

// inquire lets the DNS library ask.
func inquire(ctx context.Context, w way, wait time.Duration, log *slog.Logger) ([]answer, error) {
	entries := make(chan *mdns.ServiceEntry, maxAnswers)
	err := mdns.QueryContext(ctx, &mdns.QueryParam{
		Service:     service,
		Timeout:     wait,
		Interface:   &w.card,
		Entries:     entries,
		DisableIPv4: w.v6,
		DisableIPv6: !w.v6,
		Logger:      quiet(log),
	})
	close(entries)
	// The library may write to delivered answers until it returns, so they are read
	// only now.
	var answers []answer
	for e := range entries {
		a := answer{name: e.Name, port: e.Port, fields: e.InfoFields}
		if v4, ok := netip.AddrFromSlice(e.AddrV4); ok {
			a.addrs = append(a.addrs, v4)
		}
		if e.AddrV6IPAddr != nil {
			if v6, ok := netip.AddrFromSlice(e.AddrV6IPAddr.IP); ok {
				a.addrs = append(a.addrs, v6)
			}
		}
		answers = append(answers, a)
	}
	return answers, err
}

// overhear asks on a card without the DNS library, and reads the multicasts there. The
// library listens on the card that the system prefers. Without a route it does not ask
// over IPv4 at all, as at a party whose only network is a switch. The system may deliver what other
// cards receive, too; isWanted chooses by the sender.
func overhear(ctx context.Context, w way, wait time.Duration, isWanted func(sender netip.Addr) bool) ([]answer, error) {
	network, group := groups(w.v6)
	conn, err := net.ListenMulticastUDP(network, &w.card, group)
	if err != nil {
		return nil, withoutCall(err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	conn.SetDeadline(time.Now().Add(wait))
	question := new(dns.Msg).SetQuestion(service+".local.", dns.TypePTR)
	question.RecursionDesired = false
	packet, err := question.Pack()
	if err != nil {
		return nil, err
	}
	if _, err := conn.WriteToUDP(packet, group); err != nil {
		return nil, withoutCall(err)
	}
	var answers []answer
	buf := make([]byte, maxPacket)
	for len(answers) < maxAnswers {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			break // the time is up
		}
		if isWanted(from.Addr().Unmap()) {
			answers = append(answers, answersIn(buf[:n])...)
		}
	}
	return answers, nil
}

// withoutCall strips the names of the call and the socket from a network error.
func withoutCall(err error) error {
	if op, is := errors.AsType[*net.OpError](err); is {
		return op.Err
	}
	return err
}

// answersIn returns the services that a packet announces, each with its records. Ours
// come complete, in one packet.
func answersIn(packet []byte) (answers []answer) {
	var m dns.Msg
	if m.Unpack(packet) != nil {
		return nil
	}
	records := append(m.Answer, m.Extra...)
	for _, r := range records {
		srv, ok := r.(*dns.SRV)
		if !ok {
			continue
		}
		a := answer{name: srv.Hdr.Name, port: int(srv.Port)}
		for _, r := range records {
			of := func(name string) bool { return strings.EqualFold(r.Header().Name, name) }
			switch r := r.(type) {
			case *dns.TXT:
				if of(srv.Hdr.Name) {
					a.fields = r.Txt
				}
			case *dns.A:
				if addr, ok := netip.AddrFromSlice(r.A); ok && of(srv.Target) {
					a.addrs = append(a.addrs, addr)
				}
			case *dns.AAAA:
				if addr, ok := netip.AddrFromSlice(r.AAAA); ok && of(srv.Target) {
					a.addrs = append(a.addrs, addr)
				}
			}
		}
		answers = append(answers, a)
	}
	return answers
}
