package portmap

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/huin/goupnp/dcps/internetgateway2"
	"github.com/huin/goupnp/soap"
)

// gateway is a router's service that opens ports. UPnP has three such services, which differ only in name.
type gateway interface {
	AddPortMappingCtx(ctx context.Context, remote string, external uint16, protocol string, internal uint16,
		client string, enabled bool, description string, seconds uint32) error
	DeletePortMappingCtx(ctx context.Context, remote string, external uint16, protocol string) error
	GetExternalIPAddressCtx(ctx context.Context) (string, error)
	LocalAddr() net.IP
}

// upnp finds a router through one of UPnP's services and asks it.
type upnp struct {
	service string
	find    func(ctx context.Context) ([]gateway, error)
	found   gateway // the one that opened the port
}

// upnps returns the services, the usual one first.
func upnps() []protocol {
	return []protocol{
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

// nextPorts is how many further ports are tried if others have the first.
const nextPorts = 4

// These are errors of WANIPConnection, from section 2.5.16 of its version 2.
const (
	errConflict  = 718 // another machine has the port
	errPermanent = 725 // only permanent mappings are possible
	errOtherwise = 729 // the port is used for something else
)

func (u *upnp) open(ctx context.Context, t Transport, port uint16, life time.Duration) (Mapping, error) {
	gateways := []gateway{u.found}
	if u.found == nil {
		var err error
		if gateways, err = u.find(ctx); err != nil {
			return Mapping{}, err
		}
	}
	var failed error
	for _, g := range gateways {
		m, err := u.ask(ctx, g, t, port, life)
		if err == nil || ctx.Err() != nil { // the gateway may open the port after it was given up
			u.found = g
			return m, err
		}
		failed = err
	}
	return Mapping{}, failed
}

// ask asks a gateway to open a port, with the same number outside if that is free.
func (u *upnp) ask(ctx context.Context, g gateway, t Transport, port uint16, life time.Duration) (Mapping, error) {
	address, err := g.GetExternalIPAddressCtx(ctx)
	if err != nil {
		return Mapping{}, err
	}
	outside, err := netip.ParseAddr(address)
	if err != nil {
		return Mapping{}, errors.New("the router has no address of the internet")
	}
	for external := port; ; external++ {
		m := Mapping{External: netip.AddrPortFrom(outside, external), Port: port, Transport: t, Protocol: u.service, Life: life}
		err := add(ctx, g, m)
		if code(err) == errPermanent {
			m.Life = 0
			err = add(ctx, g, m)
		}
		taken := code(err) == errConflict || code(err) == errOtherwise
		if !taken || external-port >= nextPorts {
			return m, err
		}
	}
}

func add(ctx context.Context, g gateway, m Mapping) error {
	return g.AddPortMappingCtx(ctx, "", m.External.Port(), string(m.Transport), m.Port, g.LocalAddr().String(), true,
		"muster", uint32(m.Life/time.Second))
}

// code returns UPnP's number of an error, or 0.
func code(err error) int {
	if fault, is := errors.AsType[*soap.SOAPFaultError](err); is {
		return fault.Detail.UPnPError.Errorcode
	}
	return 0
}

func (u *upnp) close(ctx context.Context, m Mapping) error {
	if u.found == nil || !m.External.IsValid() {
		return nil // it was not asked for a port
	}
	return u.found.DeletePortMappingCtx(ctx, "", m.External.Port(), string(m.Transport))
}
