package cli

import (
	"context"
	"fmt"
	"net"
	"runtime/debug"
	"strconv"

	"github.com/spf13/cobra"

	"muster/discovery/protocol/beacon"
	"muster/internal/echo"
	"muster/internal/hint"
	"muster/internal/lobby"
	"muster/internal/option"
	"muster/internal/portmap"
	"muster/internal/venue"
)

// tidies is how much garbage a beacon lets gather, in percent of what it needs. It answers no more slowly for it.
const tidies = 25

// beaconCommand is the command that answers measurements where no game server runs.
type beaconCommand struct {
	*program
	listen, name string
	bounds       echo.Bounds
	portMap      consent
}

func newBeacon(b *beaconCommand) *cobra.Command {
	cmd := &cobra.Command{
		GroupID: toTry,
		Use:     "beacon",
		Short:   "Answer measurements, so that a place can be a candidate",
		Long: `Beacon answers Muster's questions on a machine where no game server runs yet: a
group measures what its ping there would be, and hears whether a server at that
place would be better for all than any that there is. It says what friends put
into their list of places.

Browsers measure it, too, by the checks with which WebRTC begins. It answers
nothing else, and never with more than it was asked; one network gets
so many answers a second, and all together so many, whatever comes. The port has
to be open for UDP.`,
		Example: `  muster beacon --name Frankfurt
  muster beacon --listen 192.0.2.1:7787`,
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&b.listen, "listen", ":"+strconv.Itoa(beacon.Port),
		"`ADDRESS` to listen on, by UDP; on a machine with several that of the one to be measured")
	flags.StringVar(&b.name, "name", "", "the place's `NAME`, which whoever asks is told")
	option.YesNo(flags, &b.portMap, "port-map", "have the router pass on the UDP port from the internet "+
		"(port_map in config.toml)")
	flags.IntVar(&b.bounds.Each, "each", echo.DefaultEach, "answer one network at most `N` times a second")
	flags.IntVar(&b.bounds.All, "all", echo.DefaultAll, "answer all together at most `N` times a second")
	return cmd
}

func (b *beaconCommand) run(ctx context.Context) error {
	if b.bounds.Each < 1 || b.bounds.All < 1 {
		return usagef("--each %d --all %d: a beacon answers at least once a second", b.bounds.Each, b.bounds.All)
	}
	b.name = beacon.Name(b.name)
	addr, err := net.ResolveUDPAddr("udp", b.listen)
	if err != nil {
		return hint.With(usagef("--listen: %q is no ADDRESS:PORT", b.listen),
			"say --listen :7788, or --listen 192.0.2.1:7787 for one address of this machine")
	}
	conn, err := net.ListenUDP("udp", addr)
	if err != nil {
		return hint.With(fmt.Errorf("cannot listen on %s: %w", b.listen, hint.Reason(err)),
			"is another beacon running there? choose another port with --listen, such as --listen :7788")
	}
	runs := venue.Beacon{
		Name: b.name, Bounds: b.bounds, Out: b.out, Screen: b.screen, MayAskRouter: b.portMap == consented,
		PassOn: func(ctx context.Context, port uint16, told func(portmap.Mapping)) (stop func()) {
			return b.desk().PassOn(ctx, b.portMap.given(), port, func(m portmap.Mapping) {
				b.screen.Print(lobby.PassedOn(m, false))
				told(m)
			})
		},
	}
	if b.home != nil {
		runs.Shines = b.home.Shines
	} else { // alone on a machine, perhaps the smallest that one can rent
		defer debug.SetGCPercent(debug.SetGCPercent(tidies))
	}
	return runs.Run(ctx, conn)
}
