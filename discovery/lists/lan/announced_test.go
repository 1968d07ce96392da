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
	"time"

	"muster/discovery/protocol/minecraft"
)

func newHearsay() *hearsay {
	return &hearsay{
		protocol: minecraft.Protocol{},
		card:     []netip.Prefix{netip.MustParsePrefix("192.168.1.0/24"), netip.MustParsePrefix("fe80::/64")},
	}
}

func world(name string, port int) []byte {
	return fmt.Appendf(nil, "[MOTD]%s[/MOTD][AD]%d[/AD]", name, port)
}

// TestHearsay: a world counts once, at the address that it tells of itself from, in a
// network of the card that it is heard on.
func TestHearsay(t *testing.T) {
	h := newHearsay()
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
		h.hear(netip.MustParseAddr(told.from), told.text)
	}
	var got []string
	for _, s := range h.servers {
		got = append(got, s.Addr.String()+" "+s.Info.Name)
	}
	if want := []string{"192.168.1.9:54321 Home", "192.168.1.9:54322 Second", "192.168.1.8:54321 "}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for port := range 2 * maxCrowd {
		h.hear(netip.MustParseAddr("192.168.1.66"), world("one of many", 1+port))
	}
	if len(h.servers) != maxCrowd {
		t.Errorf("%d servers are remembered", len(h.servers))
	}
}

// TestHearsayOnLoopback hears a real multicast, and ends in its time, or sooner.
func TestHearsayOnLoopback(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("loopback has another name here, and carries no multicast everywhere")
	}
	loopback, err := net.InterfaceByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	h := &hearsay{protocol: minecraft.Protocol{}, card: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	conn, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}, net.UDPAddrFromAddrPort(h.protocol.Group()))
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("no multicast here: ", err)
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.gather(ctx, loopback) }()
	for range 10 {
		conn.Write(world("Home", 54321))
		time.Sleep(20 * time.Millisecond)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(h.servers) != 1 || h.servers[0].Addr.String() != "127.0.0.1:54321" || h.servers[0].Info.Name != "Home" {
		t.Errorf("%+v", h.servers)
	}
}
