package cli

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/discovery/protocol/beacon"
	"muster/internal/echo"
	"muster/internal/hint"
	"muster/internal/lobby"
	"muster/internal/netinfo"
	"muster/internal/option"
	"muster/internal/portmap"
	"muster/internal/term"
)

// beaconCommand is the command that answers measurements where no game server runs.
type beaconCommand struct {
	*program
	listen, name string
	bounds       echo.Bounds
	portMap      consent
}

func newBeacon(p *program) *cobra.Command {
	b := &beaconCommand{program: p}
	cmd := &cobra.Command{
		GroupID: toTry,
		Use:     "beacon",
		Short:   "Answer measurements, so that a place can be a candidate",
		Long: `Beacon answers Muster's questions on a machine where no game server runs yet: a
group measures what its ping there would be, and hears whether a server at that
place would be better for all than any that there is. It says what friends put
into their list of places.

It answers nothing else, and never with more than it was asked; one network gets
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

// toldEvery is how often a beacon reports what it did, if anything.
const toldEvery = 10 * time.Minute

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
	at := discovery.Canonical(conn.LocalAddr().(*net.UDPAddr).AddrPort())
	answers := echo.New(b.name, b.bounds)
	line := b.tell(at)
	outside := make(chan netip.AddrPort, 1) // the newest
	if !at.Addr().IsLoopback() {
		defer b.desk().PassOn(ctx, b.portMap.given(), at.Port(), func(m portmap.Mapping) {
			b.screen.Say("%s", b.screen.Wrap(b.screen.Language.Say(lobby.PassedOn(m, false)), 0))
			if m.IsPublic() {
				select {
				case <-outside:
				default:
				}
				outside <- m.External
			}
		})()
	}
	ended := make(chan error, 1)
	go func() { ended <- answers.Serve(ctx, conn) }()
	tick := time.NewTicker(toldEvery)
	defer tick.Stop()
	var shown <-chan time.Time // ticks only under Home
	if b.home != nil {
		b.home.Shines(line, 0)
		second := time.NewTicker(time.Second)
		defer second.Stop()
		shown = second.C
	}
	for told, known := uint64(0), uint64(0); ; {
		select {
		case reached := <-outside:
			if line = b.line(reached); b.home != nil {
				b.home.Shines(line, int(known))
			}
		case <-shown:
			if n := answers.Answered.Load(); n != known {
				known = n
				b.home.Shines(line, int(n))
			}
		case <-tick.C:
			if n := answers.Answered.Load() + answers.HeldBack.Load(); n != told && b.home == nil {
				told = n
				b.count(answers)
			}
		case err := <-ended:
			b.count(answers)
			if err != nil {
				return fmt.Errorf("the beacon went out: %w", hint.Reason(err))
			}
			return nil
		}
	}
}

// line returns the line that friends add to their list of places.
func (b *beaconCommand) line(at netip.AddrPort) string {
	return fmt.Sprintf("%s, %v", cmp.Or(placeName(b.name), "Our place"), at)
}

// tell prints and returns the line that friends add to their list, as far as this machine knows its
// address.
func (b *beaconCommand) tell(at netip.AddrPort) (line string) {
	reachable := netinfo.Reachable(at)
	line = b.line(reachable)
	fmt.Fprintln(b.out, line)
	b.screen.Say("answering by UDP at %v; that line is for your friends' list of places. Ctrl-C ends it", at)
	switch {
	case discovery.ReachOf(reachable.Addr()) == discovery.InternetReach:
	case b.portMap == consented && !at.Addr().IsLoopback():
		b.screen.Say("%s", b.screen.Wrap(fmt.Sprintf("%v is an address of your own network: asking the router "+
			"for one that the internet reaches", reachable.Addr()), 0))
	default:
		b.screen.Say("%s", b.screen.Wrap(fmt.Sprintf("the internet reaches this machine by another address, "+
			"if at all: put that in place of %v, and have the router pass on UDP port %d", reachable.Addr(), at.Port()), 0))
	}
	return line
}

// count returns how many questions the beacon answered and held back.
func (b *beaconCommand) count(answers *echo.Beacon) {
	text := term.Count(int(answers.Answered.Load()), "question") + " answered"
	if n := answers.HeldBack.Load(); n > 0 {
		text += fmt.Sprintf(", %d held back", n)
	}
	if n := answers.Strange.Load(); n > 0 {
		text += fmt.Sprintf(", %s not Muster's", term.Count(int(n), "datagram"))
	}
	b.screen.Say("%s", text)
}
