package master

import (
	"encoding/binary"
	"net"
	"net/netip"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/protocol/quake3"
)

func TestUsable(t *testing.T) {
	const public, private, loopback = "198.51.100.1", "192.168.1.1", "127.0.0.1"
	tests := []struct {
		server, master string
		want           bool
	}{
		{"192.0.2.1:27960", public, true},
		{"[2001:db8::1]:27960", public, true},
		{"192.0.2.1:0", public, false},
		{"0.0.0.0:27960", loopback, false},
		{"224.0.0.1:27960", loopback, false},
		{"255.255.255.255:27960", loopback, false},
		{"[::]:27960", loopback, false},
		{"[ff02::1]:27960", loopback, false},
		{"169.254.1.2:27015", private, false}, // Steam's FakeIP
		{"[fe80::1]:27960", private, false},
		{"127.0.0.1:27960", public, false},
		{"10.1.2.3:27960", public, false},
		{"[::1]:27960", public, false},
		{"[fd00::1]:27960", public, false},
		{"100.64.1.2:27960", public, false},
		{"10.1.2.3:27960", private, true},
		{"127.0.0.1:27960", loopback, true},
		{"[::1]:27960", loopback, true},
	}
	for _, tt := range tests {
		if got := usable(netip.MustParseAddrPort(tt.server), netip.MustParseAddr(tt.master)); got != tt.want {
			t.Errorf("usable(%s, listed by %s) = %t", tt.server, tt.master, got)
		}
	}
}

func TestOneMasterListsSoManyServersAndNoMore(t *testing.T) {
	t.Parallel()
	a := asking{master: netip.MustParseAddrPort("198.51.100.1:27950")}
	for i := range discovery.MaxServers + 500 {
		ip := binary.BigEndian.AppendUint32(nil, 0x64000000+uint32(i))
		addr, _ := netip.AddrFromSlice(ip)
		a.add(netip.AddrPortFrom(addr, 1), nil)
	}
	if n := len(a.list.list()); n != discovery.MaxServers {
		t.Errorf("took %d servers, want %d", n, discovery.MaxServers)
	}
}

// However long a master goes on, asking ends at the deadline.
func TestAMasterHasADeadline(t *testing.T) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	a := asking{conn: conn, silence: time.Hour, deadline: time.Now()}
	if answered, err := a.collect(quake3.MasterQuery{}); answered || err != nil {
		t.Errorf("got %t, %v, want neither an answer nor an error", answered, err)
	}
}
