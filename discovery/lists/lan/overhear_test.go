package lan

import (
	"fmt"
	"testing"

	"github.com/miekg/dns"
)

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
