package host_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/host"
	"muster/host/networks"
	"muster/host/wire"
	"muster/internal/await"
)

// TestMemoryNamesNobody plays rooms on a host that remembers networks, reads every byte that it keeps
// of them, and checks that no player, server or room is in it.
func TestMemoryNamesNobody(t *testing.T) {
	t.Parallel()
	memory := networks.New([32]byte{7})
	var secrets []string
	var addrs []netip.Addr
	var servers []discovery.Server
	for i := range 8 {
		addr := netip.AddrFrom4([4]byte{198, 51, 100, byte(10 + i)})
		addrs = append(addrs, addr)
		servers = append(servers, discovery.Server{Addr: netip.AddrPortFrom(addr, 27960), Country: "DE", ASN: 24940})
	}
	h, server := serve(t, host.Config{
		List:     func(context.Context, string) ([]discovery.Server, error) { return servers, nil },
		Locate:   func(netip.Addr) (string, uint32) { return "NL", 1136 },
		Networks: memory, Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
	for room := range 3 {
		code, secret, err := h.Open(friday(2))
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, code, secret, h.Keys(code).Link)
		var players []*player
		for i, name := range []string{"Quillmere", "Wobblewick"} {
			from := netip.AddrFrom4([4]byte{203, 0, byte(113 + room), byte(50 + 100*i)})
			addrs, secrets = append(addrs, from), append(secrets, name)
			p := dialWith(t, server, http.Header{"X-Forwarded-For": {from.String()}})
			p.Conn.Send(wire.Hello{Version: wire.Version, Code: code, Name: name})
			welcome := expect[wire.Welcome](p)
			secrets = append(secrets, welcome.Token, welcome.Page)
			players = append(players, p)
		}
		for _, p := range players {
			p.measures(20)
		}
		for _, p := range players {
			p.looks()
		}
		for _, p := range players {
			expect[wire.Launch](p)
		}
		await.Until(t, func() bool { return (memory.Summary().Cells > 0) == (room == 2) }, "after %d rooms there are %d cells",
			room+1, memory.Summary().Cells)
	}
	if s := memory.Summary(); s.Cells != 6 || s.Networks != 2 {
		t.Errorf("the memory has %+v", s)
	}
	known := memory.Known([]networks.Network{{Country: "NL", ASN: 1136}}, topology.New(servers), time.Now())[0]
	if len(known) != 3 || known[0].MS != 23.5 || known[0].Count != 3 {
		t.Errorf("it knows %+v", known)
	}
	kept := memory.Append(nil) // all that muster serve writes
	for _, secret := range append(secrets, "Friday", "openarena") {
		if bytes.Contains(bytes.ToLower(kept), []byte(strings.ToLower(secret))) {
			t.Errorf("%s is kept", secret)
		}
	}
	for _, addr := range addrs {
		four := addr.As4()
		text := fmt.Sprintf("%d.%d.%d", four[0], four[1], four[2])
		if bytes.Contains(kept, four[:3]) || bytes.Contains(kept, []byte(text)) {
			t.Errorf("the network of %v is kept", addr)
		}
	}
}
