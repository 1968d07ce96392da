package cli

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"

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
			h.sayLines(unmapped(i))
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
	if own, ok := routedAddress(); ok && isPublic(own) {
		return own
	}
	return netip.Addr{}
}

func (h *hosting) sayLines(lines []string) {
	for _, line := range lines {
		h.screen.say("%s", line)
	}
}

// mapped is what an open port means for friends.
func mapped(m portmap.Mapping, i invitation) []string {
	if !m.IsPublic() {
		return append([]string{fmt.Sprintf("the router opened a port (%s), but stands behind another router itself: its own address is %v", m.By, m.External.Addr())},
			otherWays(i)...)
	}
	if _, err := netip.ParseAddrPort(i.host); err == nil { // no name, which a certificate is for
		i.host = m.External.String()
	}
	return []string{fmt.Sprintf("friends on the internet: muster join %s   (the router lets them in: %s)", i.link(), m.By)}
}

// unmapped says what to do without the router's help.
func unmapped(i invitation) []string {
	return append([]string{"no router here opens a port for us (asked by PCP, NAT-PMP and UPnP)"}, otherWays(i)...)
}

func otherWays(i invitation) []string {
	_, port, _ := net.SplitHostPort(i.host) // ours has one
	return []string{
		fmt.Sprintf("for friends on the internet have the router forward TCP port %s to %s, and give them its public address with the code %s;", port, i.host, i.code),
		"or use a tunnel or VPN that all of you are on, and give them this machine's address there",
	}
}
