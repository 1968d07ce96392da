package portmap

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	natpmp "github.com/jackpal/go-nat-pmp"
)

// pmp is NAT-PMP (RFC 6886).
type pmp struct{ gateway netip.Addr }

// pmpTime is how long the library goes on asking: it knows no context.
const pmpTime = 2 * time.Second

func (p pmp) name() string { return "NAT-PMP" }

func (p pmp) open(_ context.Context, port uint16, life time.Duration) (Mapping, error) {
	client := natpmp.NewClientWithTimeout(p.gateway.AsSlice(), pmpTime)
	outside, err := client.GetExternalAddress()
	if err != nil {
		return Mapping{}, err
	}
	m, err := client.AddPortMapping("tcp", int(port), int(port), int(life/time.Second))
	if err != nil {
		return Mapping{}, err
	}
	return Mapping{
		External: netip.AddrPortFrom(netip.AddrFrom4(outside.ExternalIPAddress), m.MappedExternalPort), Port: port,
		By: p.name(), Life: time.Duration(m.PortMappingLifetimeInSeconds) * time.Second,
	}, nil
}

func (p pmp) close(_ context.Context, m Mapping) error {
	_, err := natpmp.NewClientWithTimeout(p.gateway.AsSlice(), backTime).AddPortMapping("tcp", int(m.Port), 0, 0)
	if err != nil {
		return fmt.Errorf("portmap: %w", err)
	}
	return nil
}
