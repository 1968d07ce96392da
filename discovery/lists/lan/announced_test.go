package lan

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"testing"

	"muster/discovery"
	"muster/discovery/protocol/minecraft"
	"muster/internal/await"
)

func newListener() *listener {
	return &listener{
		protocol: minecraft.Protocol{},
		card:     []netip.Prefix{netip.MustParsePrefix("192.168.1.0/24"), netip.MustParsePrefix("fe80::/64")},
	}
}

func world(name string, port int) []byte {
	return fmt.Appendf(nil, "[MOTD]%s[/MOTD][AD]%d[/AD]", name, port)
}

// TestAnnouncements checks that a world counts once, at the sender's address, if that
// is in a network of the card.
func TestAnnouncements(t *testing.T) {
	l := newListener()
	for _, told := range []struct {
		from string
		text []byte
	}{
		{"192.168.1.9", world("Home", 54321)},
		{"192.168.1.9", world("another name", 54321)},
		{"192.168.1.9", world("Second", 54322)},
		{"192.168.1.8", world("", 54321)},
		{"10.1.1.1", world("of another network", 1)},
		{"8.8.8.8", world("of the internet", 1)},
		{"192.168.1.7", []byte("[MOTD]broken[/MOTD]")},
		{"192.168.1.7", nil},
	} {
		l.receive(netip.MustParseAddr(told.from), told.text)
	}
	var got []string
	for _, s := range l.servers {
		got = append(got, s.Addr.String()+" "+s.Info.Name)
	}
	if want := []string{"192.168.1.9:54321 Home", "192.168.1.9:54322 Second", "192.168.1.8:54321 "}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for port := range 2 * maxServers {
		l.receive(netip.MustParseAddr("192.168.1.66"), world("one of many", 1+port))
	}
	if len(l.servers) != maxServers {
		t.Errorf("%d servers are remembered", len(l.servers))
	}
}

// signalling is Minecraft's protocol. It signals that it parsed an announcement.
type signalling struct {
	minecraft.Protocol
	parsed chan struct{}
}

func (s signalling) ParseAnnouncement(datagram []byte) (port uint16, info discovery.Info, err error) {
	select {
	case s.parsed <- struct{}{}:
	default:
	}
	return s.Protocol.ParseAnnouncement(datagram)
}

// TestAnnouncementOnLoopback receives a real multicast, and ends with its context.
func TestAnnouncementOnLoopback(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("loopback has another name here, and carries no multicast everywhere")
	}
	loopback, err := net.InterfaceByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	parsed := make(chan struct{}, 1)
	l := &listener{protocol: signalling{minecraft.Protocol{}, parsed}, card: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	conn, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}, net.UDPAddrFromAddrPort(l.protocol.Group()))
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("no multicast here: ", err)
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.gather(ctx, loopback) }()
	await.Until(t, func() bool {
		conn.Write(world("Home", 54321)) // again, because the listener may not be ready
		return len(parsed) > 0
	}, "the multicast did not arrive")
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(l.servers) != 1 || l.servers[0].Addr.String() != "127.0.0.1:54321" || l.servers[0].Info.Name != "Home" {
		t.Errorf("%+v", l.servers)
	}
}
