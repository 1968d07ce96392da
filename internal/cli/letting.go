package cli

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"muster/discovery"
	"muster/internal/portmap"
)

// letIn asks the router to let friends in from the internet, if that is wanted,
// until stop is called, which takes it back and waits for that.
func (h *hosting) letIn(ctx context.Context, i invitation, at netip.AddrPort) (stop func()) {
	if !h.doors.portMap {
		return func() {}
	}
	if at.Addr().IsLoopback() {
		h.screen.say("only this machine can join: there is nothing to ask the router for")
		return func() {}
	}
	home := reachable(at)
	if home.Addr().IsLoopback() {
		return func() {} // on no network, as was said
	}
	h.screen.say("asking the router to let friends in from the internet …")
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		err := portmap.Keep(ctx, at.Port(), h.logger(), func(m portmap.Mapping) {
			h.sayLines(mapped(m, i))
			if outside := m.External.Addr(); m.IsPublic() {
				h.public.Store(&outside)
			}
		})
		if err != nil && ctx.Err() == nil {
			h.logger().Debug("no port mapping", "err", err)
			h.sayLines(unmapped(home, i))
		}
	})
	return func() { cancel(); work.Wait() }
}

// publicAddress is this network's, as far as it is known: by the router, by the
// public URL, or because it is this machine's own.
func (h *hosting) publicAddress() netip.Addr {
	if outside := h.public.Load(); outside != nil {
		return *outside
	}
	if h.doors.public != nil {
		if addr, err := netip.ParseAddr(h.doors.public.Hostname()); err == nil {
			return addr.Unmap()
		}
	}
	if own := sourceTowards(somewhere4); isPublic(own) {
		return own
	}
	return netip.Addr{}
}

func (h *hosting) sayLines(lines []string) {
	for _, line := range lines {
		if !strings.HasPrefix(line, toPaste) {
			line = wrapped(line, "", width(h.screen.w))
		}
		h.screen.say("%s", line)
	}
}

// mapped is what an open port means for friends.
func mapped(m portmap.Mapping, i invitation) []string {
	outside := m.External.Addr()
	switch {
	case discovery.IsCarriers(outside):
		return []string{
			fmt.Sprintf("the router opened a port (%s), but the provider shares its address %v among customers: nobody on the internet reaches it", m.By, outside),
			otherWays,
		}
	case !m.IsPublic():
		return append([]string{fmt.Sprintf("the router opened a port (%s), but stands behind another router itself: its own address is %v", m.By, outside)},
			forwarded("that other router", m.External.Port(), m.External, i)...)
	}
	return []string{fmt.Sprintf("the router lets friends on the internet in (%s), by", m.By), toPaste + i.from(m.External.String()).link()}
}

// unmapped says what to do without the router's help: let it forward a port to
// this machine.
func unmapped(to netip.AddrPort, i invitation) []string {
	return append([]string{"no router here opens a port for us (asked by PCP, NAT-PMP and UPnP)"}, forwarded("the router", to.Port(), to, i)...)
}

// forwarded is how friends get in once a router forwards a port.
func forwarded(router string, port uint16, to netip.AddrPort, i invitation) []string {
	from := net.JoinHostPort("PUBLIC-ADDRESS", strconv.Itoa(int(port)))
	return []string{
		fmt.Sprintf("for friends on the internet have %s forward TCP port %d to %v; they join by", router, port, to),
		toPaste + i.from(from).link(),
		otherWays,
	}
}

// toPaste begins lines that stay whole.
const toPaste = "  muster join "

const otherWays = "or use a tunnel or VPN that all of you are on, and say its address here: --public-url"
