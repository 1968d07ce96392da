package publichost

import (
	"context"
	"net"
	"net/netip"

	"muster/internal/echo"
	"muster/internal/hint"
)

// shine answers measurements by UDP where the host listens by TCP, until stop is called. It returns the port, 0 if nobody
// can ask there: the host is as good without.
func (h *Host) shine(ctx context.Context, at netip.AddrPort) (port uint16, stop func()) {
	none := func() {}
	switch {
	case !h.Beacon:
		return 0, none
	case h.Ingress.Public != nil && (at.Addr().IsLoopback() || len(h.Ingress.Proxies) > 0):
		h.log.Info("no beacon: the host's name leads to a proxy, which hands on no UDP")
		return 0, none
	}
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
	if err != nil {
		h.log.Warn("no beacon: the UDP port cannot be opened", "port", at.Port(), "why", hint.Reason(err))
		return 0, none
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := echo.New("", echo.Bounds{}).Serve(ctx, conn); err != nil {
			h.log.Warn("the beacon went out", "why", hint.Reason(err))
		}
	}()
	return at.Port(), func() { cancel(); <-ended }
}
