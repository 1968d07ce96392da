package lan

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// maxPacket is what a message of multicast DNS may take (RFC 6762, section 17).
const maxPacket = 9000

// overhear asks on a card by itself, and takes what is multicast there. The DNS
// library listens on the card that the system prefers: where no route says which,
// at a party whose switch is all the network there is, it does not ask at all
// over IPv4.
func overhear(ctx context.Context, w way, wait time.Duration) ([]answer, error) {
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
		n, err := conn.Read(buf)
		if err != nil {
			break // the time is up
		}
		answers = append(answers, answersIn(buf[:n])...)
	}
	return answers, nil
}

// withoutCall is an error of the network without which call failed on which
// socket.
func withoutCall(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// answersIn are the services that a packet announces. Ours come whole, in one.
func answersIn(packet []byte) (answers []answer) {
	var m dns.Msg
	if m.Unpack(packet) != nil {
		return nil
	}
	records := append(m.Answer, m.Extra...)
	for _, r := range records {
		if srv, ok := r.(*dns.SRV); ok {
			answers = append(answers, answerAbout(srv, records))
		}
	}
	return answers
}

// answerAbout is a service with what the records say of it.
func answerAbout(srv *dns.SRV, records []dns.RR) answer {
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
	return a
}
