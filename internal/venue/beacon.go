package venue

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"muster/discovery"
	"muster/internal/echo"
	"muster/internal/hint"
	"muster/internal/netinfo"
	"muster/internal/portmap"
	"muster/internal/term"
)

// toldEvery is how often a beacon reports what it did, if anything.
const toldEvery = 10 * time.Minute

// Beacon answers measurements at a place where no game server runs yet.
type Beacon struct {
	// Name is the place's name.
	Name   string
	Bounds echo.Bounds
	Out    term.Terminal
	Screen *term.Screen
	// MayAskRouter says that PassOn asks the router.
	MayAskRouter bool
	// PassOn makes the router pass on a UDP port, if it may, until stop is called. told hears where that can be reached.
	PassOn func(ctx context.Context, port uint16, told func(portmap.Mapping)) (stop func())
	// Shines shows a page the line for friends, and how many questions were answered; nil at a terminal.
	Shines func(line string, answered int)
}

// Run answers on a socket until ctx ends or the socket fails.
func (b *Beacon) Run(ctx context.Context, conn *net.UDPConn) error {
	at := discovery.Canonical(conn.LocalAddr().(*net.UDPAddr).AddrPort())
	answers := echo.New(b.Name, b.Bounds)
	line := b.tell(at)
	outside := make(chan netip.AddrPort, 1) // the newest
	if !at.Addr().IsLoopback() {
		defer b.PassOn(ctx, at.Port(), func(m portmap.Mapping) {
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
	var shown <-chan time.Time // ticks only for a page
	if b.Shines != nil {
		b.Shines(line, 0)
		second := time.NewTicker(time.Second)
		defer second.Stop()
		shown = second.C
	}
	for told, known := uint64(0), uint64(0); ; {
		select {
		case reached := <-outside:
			if line = b.line(reached); b.Shines != nil {
				b.Shines(line, int(known))
			}
		case <-shown:
			if n := answers.Answered.Load(); n != known {
				known = n
				b.Shines(line, int(n))
			}
		case <-tick.C:
			if n := answers.Answered.Load() + answers.HeldBack.Load(); n != told && b.Shines == nil {
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

// line returns the line that friends add to their list of places. There a comma ends a name, and # begins a comment.
func (b *Beacon) line(at netip.AddrPort) string {
	name := strings.TrimSpace(strings.NewReplacer(",", "", "#", "").Replace(b.Name))
	return fmt.Sprintf("%s, %v", cmp.Or(name, "Our place"), at)
}

// tell prints and returns the line that friends add to their list, as far as this machine knows its address.
func (b *Beacon) tell(at netip.AddrPort) (line string) {
	reachable := netinfo.Reachable(at)
	line = b.line(reachable)
	fmt.Fprintln(b.Out, line)
	b.Screen.Say("answering by UDP at %v; that line is for your friends' list of places. Ctrl-C ends it", at)
	switch {
	case discovery.ReachOf(reachable.Addr()) == discovery.InternetReach:
	case b.MayAskRouter && !at.Addr().IsLoopback():
		b.Screen.Say("%s", b.Screen.Wrap(fmt.Sprintf("%v is an address of your own network: asking the router "+
			"for one that the internet reaches", reachable.Addr()), 0))
	default:
		b.Screen.Say("%s", b.Screen.Wrap(fmt.Sprintf("the internet reaches this machine by another address, "+
			"if at all: put that in place of %v, and have the router pass on UDP port %d", reachable.Addr(), at.Port()), 0))
	}
	return line
}

// count prints how many questions the beacon answered and held back.
func (b *Beacon) count(answers *echo.Beacon) {
	text := term.Count(int(answers.Answered.Load()), "question") + " answered"
	if n := answers.HeldBack.Load(); n > 0 {
		text += fmt.Sprintf(", %d held back", n)
	}
	if n := answers.Strange.Load(); n > 0 {
		text += fmt.Sprintf(", %s not Muster's", term.Count(int(n), "datagram"))
	}
	b.Screen.Say("%s", text)
}
