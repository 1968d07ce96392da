package prober_test

import (
	"context"
	"fmt"
	"net"
	"time"

	"muster/discovery"
	"muster/discovery/prober"
	"muster/discovery/protocol/quake3"
)

// A prober asks a server of OpenArena, which here is on this machine.
func Example() {
	server, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	go serve(server)

	p, err := prober.New(prober.Options{Protocol: quake3.Protocol{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	list := []discovery.Server{{Addr: server.LocalAddr().(*net.UDPAddr).AddrPort()}}
	err = p.Run(ctx, list, discovery.NewConventional(len(list)), func(r discovery.Result) {
		fmt.Println(r.State, r.Info.Name, r.Info.Free(), "free seats", r.RTT > 0)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: answered Ann's arena 5 free seats true
}

// serve answers queries until the socket is closed.
func serve(server *net.UDPConn) {
	info := discovery.Info{Name: "Ann's arena", Players: 3, MaxPlayers: 8}
	for query := make([]byte, 1500); ; {
		n, from, err := server.ReadFromUDPAddrPort(query)
		if err != nil {
			return
		}
		var nonce string
		fmt.Sscanf(string(query[:n]), "\xff\xff\xff\xffgetinfo %s", &nonce)
		server.WriteToUDPAddrPort(quake3.AppendInfoResponse(nil, info, nonce, 71), from)
	}
}
