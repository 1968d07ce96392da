package publichost

import (
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"muster/discovery/protocol/beacon"
	"muster/internal/freeport"
	"muster/internal/ingress"
)

// TestBeacon checks that a host answers measurements at its own port where they can come, and is as good without.
func TestBeacon(t *testing.T) {
	at := netip.MustParseAddrPort(freeport.UDP(t))
	host := func(s *Settings) *Host { return &Host{Settings: s, log: slog.New(slog.DiscardHandler)} }
	name := &url.URL{Scheme: "https", Host: "muster.example"}
	answers := &Settings{Beacon: true}
	for name, s := range map[string]*Settings{
		"nobody wants it":   {},
		"a proxy here":      {Beacon: true, Ingress: ingress.Ingress{Public: name}},
		"a proxy elsewhere": {Beacon: true, Ingress: ingress.Ingress{Public: name, Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}}},
	} {
		port, stop := host(s).shine(t.Context(), at)
		stop()
		if port != 0 {
			t.Errorf("%s: it answers at port %d", name, port)
		}
	}
	port, stop := host(answers).shine(t.Context(), at)
	defer stop()
	if port != at.Port() {
		t.Fatalf("it answers at port %d, not %d", port, at.Port())
	}
	if port, _ := host(answers).shine(t.Context(), at); port != 0 {
		t.Error("two hosts answer at one port")
	}
	conn, err := net.Dial("udp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	conn.Write(beacon.Protocol{}.AppendQuery(nil, 7, nil))
	b := make([]byte, 100)
	n, err := conn.Read(b)
	if reply, wrong := (beacon.Protocol{}).Parse([][]byte{b[:n]}); err != nil || wrong != nil || !reply.Answers(7) {
		t.Errorf("%+v, %v, %v", reply, err, wrong)
	}
	stop()
	if port, stop := host(answers).shine(t.Context(), at); port != at.Port() {
		t.Error("the first beacon has kept its port")
	} else {
		stop()
	}
}
