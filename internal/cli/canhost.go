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
)

// canHost is whether this machine answers as a beacon while its player is in a room, so that
// the others see what a server here would give them.
type canHost struct{ isWanted bool }

func (c *canHost) bind(flags *pflag.FlagSet) {
	flags.BoolVar(&c.isWanted, "can-host", false, "you could host the game; once all say so, programs measure each other's computers (UDP "+fmt.Sprint(beacon.Port)+")")
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
	p.screen.Say("%s", p.screen.Wrap(fmt.Sprintf("while everybody here says --can-host, their programs measure this computer at UDP port %d, which your router has to pass on", port), 0))
	return port, func() { cancel(); work.Wait() }, nil
}
