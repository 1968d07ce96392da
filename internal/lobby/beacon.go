package lobby

import (
	"context"
	"net"
	"strconv"
	"sync"
	"sync/atomic"

	"muster/discovery/protocol/beacon"
	"muster/discovery/sentence"
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
			d.Screen.Tell("term.no-router", "port", strconv.Itoa(int(port)))
		}
	})
	return func() { cancel(); work.Wait() }
}

// PassedOn describes the port that a router has opened. isTold says whether the room passes it on
// to the other players.
func PassedOn(m portmap.Mapping, isTold bool) sentence.Sentence {
	here, outside := strconv.Itoa(int(m.Port)), strconv.Itoa(int(m.External.Port()))
	switch {
	case !m.IsPublic():
		return sentence.Of("term.passed-on-inside", "port", here, "by", m.Protocol, "address", m.External.Addr())
	case m.External.Port() != m.Port && !isTold:
		return sentence.Of("term.passed-on-untold", "outside", outside, "port", here, "by", m.Protocol, "address", m.External)
	}
	return sentence.Of("term.passed-on", "port", here, "by", m.Protocol, "address", m.External)
}

// beaconHere is the beacon on this machine. The zero value answers nobody.
type beaconHere struct {
	// port is the local port, 0 for none.
	port uint16
	// outside is the router's port that leads to it, 0 while it is unknown.
	outside atomic.Uint32
}

// reached returns the router's port through which others reach this machine, 0 while it is unknown.
func (b *beaconHere) reached() uint16 { return uint16(b.outside.Load()) }

// start answers as a beacon until stop is called. Once allowed is closed, it asks the router to
// forward the port; if allowed is nil it never does.
func (b *beaconHere) start(ctx context.Context, d *Desk, allowed <-chan struct{}) (stop func(), err error) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{Port: beacon.Port})
	if err != nil { // another program in the household has it
		conn, err = net.ListenUDP("udp", nil)
	}
	if err != nil {
		return nil, hint.Say("term.no-beacon", "why", hint.Reason(err))
	}
	b.port = uint16(conn.LocalAddr().(*net.UDPAddr).Port)
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		if err := echo.New("", echo.Bounds{}).Serve(ctx, conn); err != nil {
			d.Warn(hint.Say("term.beacon-ended", "why", err))
		}
	})
	d.Screen.Tell("term.beacon", "flag", "--can-host", "port", strconv.Itoa(int(b.port)))
	takeBack := d.PassOn(ctx, allowed, b.port, func(m portmap.Mapping) {
		d.Screen.Print(PassedOn(m, true))
		if m.IsPublic() {
			b.outside.Store(uint32(m.External.Port()))
		}
	})
	return func() { cancel(); takeBack(); work.Wait() }, nil
}
