package portmap

import (
	"bytes"
	"encoding/hex"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// The bytes are laid out by hand from RFC 6887, sections 7 and 11.
const (
	pcpRequestHex = "02010000" + "00000e10" + "00000000000000000000ffff0a090002" +
		"000102030405060708090a0b" + "06000000" + "1e61" + "1e61" + "00000000000000000000ffff00000000"
	pcpReplyHex = "02810000" + "00000708" + "00000001" + "000000000000000000000000" +
		"000102030405060708090a0b" + "06000000" + "1e61" + "1e62" + "00000000000000000000ffffcb007107"
)

func fromHex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAppendPCP(t *testing.T) {
	nonce := [12]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	got := appendPCP(nil, netip.MustParseAddr("10.9.0.2"), nonce, TCP, 7777, netip.MustParseAddrPort("0.0.0.0:7777"), time.Hour)
	if want := fromHex(t, pcpRequestHex); !bytes.Equal(got, want) {
		t.Errorf("\n%x, want\n%x", got, want)
	}
	got = appendPCP(nil, netip.MustParseAddr("10.9.0.2"), nonce, UDP, 7777, netip.MustParseAddrPort("0.0.0.0:7777"), time.Hour)
	if want := fromHex(t, strings.Replace(pcpRequestHex, "06000000", "11000000", 1)); !bytes.Equal(got, want) {
		t.Errorf("by UDP\n%x, want\n%x", got, want)
	}
}

func TestParsePCP(t *testing.T) {
	reply := fromHex(t, pcpReplyHex)
	want := Mapping{External: netip.MustParseAddrPort("203.0.113.7:7778"), Protocol: "PCP", Life: 30 * time.Minute}
	if got, err := parsePCP(reply); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	refused := bytes.Clone(reply)
	refused[3] = 2
	if _, err := parsePCP(refused); err == nil || errors.Is(err, errMalformed) {
		t.Errorf("NOT_AUTHORIZED gives %v", err)
	}
	for name, bad := range map[string][]byte{
		"nothing": nil, "cut off": reply[:59], "NAT-PMP's": append([]byte{0}, reply[1:]...), "a request": fromHex(t, pcpRequestHex),
	} {
		if _, err := parsePCP(bad); !errors.Is(err, errMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParsePCP(f *testing.F) {
	f.Add(fromHex(f, pcpReplyHex))
	f.Fuzz(func(t *testing.T, b []byte) { parsePCP(b) })
}

// TestPCPExchange checks a router that answers only the second request, after strangers' packets.
func TestPCPExchange(t *testing.T) {
	router, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer router.Close()
	go func() {
		buf := make([]byte, 100)
		for i := 0; ; i++ {
			n, from, err := router.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			if i == 0 {
				continue // the first request is lost
			}
			reply := fromHex(t, pcpReplyHex)
			router.WriteToUDPAddrPort(reply, from) // with another nonce
			copy(reply[24:36], buf[24:n])
			router.WriteToUDPAddrPort(reply[:40], from)
			router.WriteToUDPAddrPort(reply, from)
		}
	}()
	p := newPCP(netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.1"))
	p.server = router.LocalAddr().(*net.UDPAddr).AddrPort()
	m, err := p.open(t.Context(), UDP, 7777, time.Hour)
	if want := netip.MustParseAddrPort("203.0.113.7:7778"); err != nil || m.External != want || m.Port != 7777 || m.Transport != UDP {
		t.Errorf("%+v, %v; want %v", m, err, want)
	}
}

func TestGatewayOf(t *testing.T) {
	const routes = "Iface\tDestination\tGateway \tFlags\neth0\t0000090A\t00000000\t0001\neth0\t00000000\t0101A8C0\t0003\n"
	if got, ok := gatewayOf(strings.NewReader(routes)); !ok || got.String() != "192.168.1.1" {
		t.Errorf("%v, %v", got, ok)
	}
	if got, ok := gatewayOf(strings.NewReader("Iface\tDestination\tGateway\n")); ok {
		t.Errorf("no default route gives %v", got)
	}
}

func TestIsPublic(t *testing.T) {
	for addr, want := range map[string]bool{"203.0.113.7:1": true, "192.168.1.2:1": false, "100.64.3.4:1": false, "0.0.0.0:1": false} {
		if got := (Mapping{External: netip.MustParseAddrPort(addr)}).IsPublic(); got != want {
			t.Errorf("%s: %v", addr, got)
		}
	}
}
