package portmap

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	natpmp "github.com/jackpal/go-nat-pmp"
)

// pmp is NAT-PMP (RFC 6886).
type pmp struct{ gateway netip.Addr }

// pmpTime is how long the library keeps asking, twice. It knows no context, and nobody waits longer for the end.
const pmpTime = 750 * time.Millisecond

func (p pmp) name() string { return "NAT-PMP" }

func (p pmp) open(ctx context.Context, t Transport, port uint16, life time.Duration) (Mapping, error) {
	client := natpmp.NewClientWithTimeout(p.gateway.AsSlice(), pmpTime)
	outside, err := client.GetExternalAddress()
	if err != nil {
		return Mapping{}, err
	}
	if ctx.Err() != nil {
		return Mapping{}, ctx.Err()
	}
	m, err := client.AddPortMapping(strings.ToLower(string(t)), int(port), int(port), int(life/time.Second))
	if err != nil {
		// The library does not tell a silent router from one that refuses.
		return Mapping{Port: port, Transport: t}, errors.Join(errNoAnswer, err)
	}
	return Mapping{
		External: netip.AddrPortFrom(netip.AddrFrom4(outside.ExternalIPAddress), m.MappedExternalPort), Port: port, Transport: t,
		Protocol: p.name(), Life: time.Duration(m.PortMappingLifetimeInSeconds) * time.Second,
	}, nil
}

func (p pmp) close(_ context.Context, m Mapping) error {
	_, err := natpmp.NewClientWithTimeout(p.gateway.AsSlice(), backTime).
		AddPortMapping(strings.ToLower(string(m.Transport)), int(m.Port), 0, 0)
	if err != nil {
		return fmt.Errorf("portmap: %w", err)
	}
	return nil
}
