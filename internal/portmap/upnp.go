package portmap

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/huin/goupnp/dcps/internetgateway2"
)

// gateway is a router's service that opens ports. UPnP has three of the kind,
// alike but for their names.
type gateway interface {
	AddPortMappingCtx(ctx context.Context, remote string, external uint16, protocol string, internal uint16, client string, enabled bool, description string, seconds uint32) error
	DeletePortMappingCtx(ctx context.Context, remote string, external uint16, protocol string) error
	GetExternalIPAddressCtx(ctx context.Context) (string, error)
	LocalAddr() net.IP
}

// upnp finds a router by one of UPnP's services and asks it.
type upnp struct {
	service string
	find    func(ctx context.Context) ([]gateway, error)
	found   gateway // the one that has opened the port
}

// upnps are the services, the usual first.
func upnps() []way {
	return []way{
		&upnp{service: "UPnP", find: finder(internetgateway2.NewWANIPConnection1ClientsCtx)},
		&upnp{service: "UPnP 2", find: finder(internetgateway2.NewWANIPConnection2ClientsCtx)},
		&upnp{service: "UPnP PPP", find: finder(internetgateway2.NewWANPPPConnection1ClientsCtx)},
	}
}

func finder[C gateway](find func(context.Context) ([]C, []error, error)) func(context.Context) ([]gateway, error) {
	return func(ctx context.Context) ([]gateway, error) {
		clients, broken, err := find(ctx)
		if err != nil {
			return nil, err
		}
		var list []gateway
		for _, c := range clients {
			list = append(list, c)
		}
		if len(list) == 0 {
			return nil, errors.Join(append(broken, errors.New("no answer"))...)
		}
		return list, nil
	}
}

func (u *upnp) name() string { return u.service }

// nextPorts is how many ports are tried if others have theirs already.
const nextPorts = 4

func (u *upnp) open(ctx context.Context, port uint16, life time.Duration) (Mapping, error) {
	gateways := []gateway{u.found}
	if u.found == nil {
		var err error
		if gateways, err = u.find(ctx); err != nil {
			return Mapping{}, err
		}
	}
	var failed error
	for _, g := range gateways {
		for external := port; external-port < nextPorts; external++ {
			m, err := u.ask(ctx, g, external, port, life)
			if err == nil {
				u.found = g
				return m, nil
			}
			failed = err
		}
	}
	return Mapping{}, failed
}

// ask opens one port; routers of the first generation know only mappings that
// hold for ever.
func (u *upnp) ask(ctx context.Context, g gateway, external, port uint16, life time.Duration) (Mapping, error) {
	address, err := g.GetExternalIPAddressCtx(ctx)
	if err != nil {
		return Mapping{}, err
	}
	outside, err := netip.ParseAddr(address)
	if err != nil {
		return Mapping{}, errors.New("the router has no address of the internet")
	}
	here := g.LocalAddr().String()
	m := Mapping{External: netip.AddrPortFrom(outside, external), Port: port, By: u.service, Life: life}
	if g.AddPortMappingCtx(ctx, "", external, "TCP", port, here, true, "muster", uint32(life/time.Second)) == nil {
		return m, nil
	}
	m.Life = 0
	return m, g.AddPortMappingCtx(ctx, "", external, "TCP", port, here, true, "muster", 0)
}

func (u *upnp) close(ctx context.Context, m Mapping) error {
	return u.found.DeletePortMappingCtx(ctx, "", m.External.Port(), "TCP")
}
