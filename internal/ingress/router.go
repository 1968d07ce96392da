package ingress

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"sync"

	"muster/discovery"
	"muster/host/access"
	"muster/internal/invite"
	"muster/internal/netinfo"
	"muster/internal/portmap"
)

// AskRouter asks the router to let friends in from the internet, to a room at a listener, until stop is called. stop
// withdraws that and waits for it. AskRouter says what friends should type, or what else can be done; lines that begin
// with blanks are for pasting.
func (in *Ingress) AskRouter(ctx context.Context, at netip.AddrPort, room access.Key, log *slog.Logger,
	say func(line string)) (stop func()) {
	home := netinfo.Reachable(at)
	if at.Addr().IsLoopback() {
		say("only this machine can join: there is nothing to ask the router for")
	}
	if home.Addr().IsLoopback() { // on no network, which the user knows already
		return func() {}
	}
	say("asking the router to let friends in from the internet …")
	link := in.direct(at, room)
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		err := portmap.Keep(ctx, portmap.TCP, at.Port(), log, func(m portmap.Mapping) {
			sayAll(say, mapped(m, link))
			if outside := m.External.Addr(); m.IsPublic() {
				in.router.Store(&outside)
				in.mapped.Store(&m.External)
			}
		})
		if err != nil && ctx.Err() == nil {
			log.Debug("no port mapping", "err", err)
			sayAll(say, unmapped(home, link))
		}
	})
	return func() { cancel(); work.Wait() }
}

func sayAll(say func(string), lines []string) {
	for _, line := range lines {
		say(line)
	}
}

const (
	toPaste   = "  muster join "
	otherWays = "or use a tunnel or VPN that all of you are on, and say its address here: --public-url"
)

// mapped explains an open port to friends.
func mapped(m portmap.Mapping, l invite.Link) []string {
	outside := m.External.Addr()
	switch {
	case discovery.IsCarriers(outside):
		return []string{
			fmt.Sprintf("the router opened a port (%s), but the provider shares its address %v among customers: "+
				"nobody on the internet reaches it", m.By, outside),
			otherWays,
		}
	case !m.IsPublic():
		return append([]string{fmt.Sprintf(
			"the router opened a port (%s), but stands behind another router itself: its own address is %v", m.By, outside)},
			forwarded("that other router", m.External, l)...)
	}
	return []string{fmt.Sprintf("the router lets friends on the internet in (%s), by", m.By), toPaste + l.At(m.External.String()).String()}
}

// unmapped says what to do without the router's help: forward a port to this machine by hand.
func unmapped(home netip.AddrPort, l invite.Link) []string {
	return append([]string{"no router here opens a port for us (asked by PCP, NAT-PMP and UPnP)"}, forwarded("the router", home, l)...)
}

// forwarded says how friends get in once a router forwards a port.
func forwarded(router string, to netip.AddrPort, l invite.Link) []string {
	from := net.JoinHostPort("PUBLIC-ADDRESS", strconv.Itoa(int(to.Port())))
	return []string{
		fmt.Sprintf("for friends on the internet have %s forward TCP port %d to %v; they join by", router, to.Port(), to),
		toPaste + l.At(from).String(),
		otherWays,
	}
}
