package cli

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/spf13/pflag"

	"muster/discovery/beacon"
	"muster/internal/echo"
	"muster/internal/hint"
	"muster/internal/portmap"
)

// canHost is whether this machine answers as a beacon while its player is in a room, so that
// the others see what a server here would give them.
type canHost struct {
	isWanted bool
	portMap  consent
}

func (c *canHost) bind(flags *pflag.FlagSet) {
	flags.BoolVar(&c.isWanted, "can-host", false, "you could host the game; once all say so, programs measure each other's computers (UDP "+fmt.Sprint(beacon.Port)+")")
}

// passesOn has the router pass on a UDP port to this machine until stop is called, if the user
// has allowed that.
func (p *program) passesOn(ctx context.Context, allowed consent, port uint16) (stop func()) {
	if allowed != consented {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		err := portmap.Keep(ctx, portmap.UDP, port, p.logger(), func(m portmap.Mapping) { p.screen.Say("%s", p.screen.Wrap(passedOn(m), 0)) })
		if err != nil && ctx.Err() == nil {
			p.screen.Say("%s", p.screen.Wrap(fmt.Sprintf("no router here opens UDP port %d for us (asked by PCP, NAT-PMP and UPnP): have it pass that on to this computer yourself", port), 0))
		}
	})
	return func() { cancel(); work.Wait() }
}

// passedOn says what a port that a router has opened is worth.
func passedOn(m portmap.Mapping) string {
	switch {
	case !m.IsPublic():
		return fmt.Sprintf("the router passes on UDP port %d (%s), but its own address %v is not of the internet: another router, or the provider's, stands before it", m.Port, m.By, m.External.Addr())
	case m.External.Port() != m.Port:
		return fmt.Sprintf("the router passes on UDP port %d to %d here (%s), as another machine has %d: others ask for you at %d in vain, and a game's server may meet the same; name %v in lists of places, or free that port on the router", m.External.Port(), m.Port, m.By, m.Port, m.Port, m.External)
	}
	return fmt.Sprintf("the router passes on UDP port %d (%s): others ask for this computer at %v", m.Port, m.By, m.External)
}

// shine answers until stop is called, and returns the port; 0 if it does not.
func (c *canHost) shine(ctx context.Context, p *program) (port uint16, stop func(), err error) {
	if !c.isWanted {
		return 0, func() {}, nil
	}
	conn, err := net.ListenUDP("udp", &net.UDPAddr{Port: beacon.Port})
	if err != nil { // another program of the household has it
		conn, err = net.ListenUDP("udp", nil)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("this machine cannot answer as a beacon: %w", hint.Reason(err))
	}
	port = uint16(conn.LocalAddr().(*net.UDPAddr).Port)
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		if err := echo.New("", echo.Bounds{}).Serve(ctx, conn); err != nil {
			p.warn(fmt.Errorf("this machine answers as a beacon no more: %w", err))
		}
	})
	p.screen.Say("%s", p.screen.Wrap(fmt.Sprintf("while everybody here says --can-host, their programs measure this computer at UDP port %d; for friends elsewhere your router has to pass it on", port), 0))
	takeBack := p.passesOn(ctx, c.portMap, port)
	return port, func() { cancel(); takeBack(); work.Wait() }, nil
}
