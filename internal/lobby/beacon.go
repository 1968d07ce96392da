package lobby

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"muster/discovery/protocol/beacon"
	"muster/internal/echo"
	"muster/internal/hint"
	"muster/internal/portmap"
)

// PassOn asks the router to forward a UDP port to this machine. It begins once allowed is closed
// and ends when stop is called. told receives the mapping, and again whenever it changes.
func (d *Desk) PassOn(ctx context.Context, allowed <-chan struct{}, port uint16,
	told func(portmap.Mapping)) (stop func()) {
	if allowed == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		select {
		case <-allowed:
		case <-ctx.Done():
			return
		}
		err := portmap.Keep(ctx, portmap.UDP, port, d.Logger, told)
		if err != nil && ctx.Err() == nil {
			d.Screen.Say("%s", d.Screen.Wrap(fmt.Sprintf("no router here opens UDP port %d for us (asked by PCP, "+
				"NAT-PMP and UPnP): have it pass that on to this computer yourself", port), 0))
		}
	})
	return func() { cancel(); work.Wait() }
}

// PassedOn describes the port that a router has opened. isTold says whether the room passes it on
// to the other players.
func PassedOn(m portmap.Mapping, isTold bool) string {
	switch {
	case !m.IsPublic():
		return fmt.Sprintf("the router passes on UDP port %d (%s), but its own address %v is not of the "+
			"internet: another router, or the provider's, stands before it", m.Port, m.By, m.External.Addr())
	case m.External.Port() != m.Port && isTold:
		return fmt.Sprintf("the router passes on UDP port %d to %d here (%s), as another machine has %d: the "+
			"room has the others ask for this computer at %v, but a game's server here may meet the same",
			m.External.Port(), m.Port, m.By, m.Port, m.External)
	case m.External.Port() != m.Port:
		return fmt.Sprintf("the router passes on UDP port %d to %d here (%s), as another machine has %d: "+
			"others ask for you at %d in vain, and a game's server may meet the same; name %v in lists of "+
			"places, or free that port on the router", m.External.Port(), m.Port, m.By, m.Port, m.Port, m.External)
	}
	return fmt.Sprintf("the router passes on UDP port %d (%s): others ask for this computer at %v", m.Port,
		m.By, m.External)
}

// beaconHere is the beacon on this machine. The zero value answers nobody.
type beaconHere struct {
	// port is the local port, 0 for none.
	port uint16
	// outside is the router's port that leads to it, 0 while it is unknown.
	outside *atomic.Uint32
	stop    func()
}

// close stops the beacon.
func (b beaconHere) close() {
	if b.stop != nil {
		b.stop()
	}
}

// reached returns the router's port through which others reach this machine, 0 while it is unknown.
func (b beaconHere) reached() uint16 {
	if b.outside == nil {
		return 0
	}
	return uint16(b.outside.Load())
}

// startBeacon answers as a beacon until it is closed. Once allowed is closed, it asks the router to
// forward the port; if allowed is nil it never does.
func (d *Desk) startBeacon(ctx context.Context, allowed <-chan struct{}) (beaconHere, error) {
	here := beaconHere{outside: &atomic.Uint32{}}
	conn, err := net.ListenUDP("udp", &net.UDPAddr{Port: beacon.Port})
	if err != nil { // another program in the household has it
		conn, err = net.ListenUDP("udp", nil)
	}
	if err != nil {
		return here, fmt.Errorf("this machine cannot answer as a beacon: %w", hint.Reason(err))
	}
	here.port = uint16(conn.LocalAddr().(*net.UDPAddr).Port)
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		if err := echo.New("", echo.Bounds{}).Serve(ctx, conn); err != nil {
			d.Warn(fmt.Errorf("this machine answers as a beacon no more: %w", err))
		}
	})
	d.Screen.Say("%s", d.Screen.Wrap(fmt.Sprintf("while everybody here says --can-host, their programs "+
		"measure this computer at UDP port %d; for friends elsewhere your router has to pass it on", here.port), 0))
	takeBack := d.PassOn(ctx, allowed, here.port, func(m portmap.Mapping) {
		d.Screen.Say("%s", d.Screen.Wrap(PassedOn(m, true), 0))
		if m.IsPublic() {
			here.outside.Store(uint32(m.External.Port()))
		}
	})
	here.stop = func() { cancel(); takeBack(); work.Wait() }
	return here, nil
}
