package ingress

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"sync"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/access"
	"muster/internal/invite"
	"muster/internal/netinfo"
	"muster/internal/portmap"
)

// AskRouter asks the router to let friends in from the internet, to a room at a listener, until stop is called. stop
// withdraws that and waits for it. AskRouter says what friends should type, or what else can be done; lines that begin
// with blanks are for pasting.
func (in *Ingress) AskRouter(ctx context.Context, at netip.AddrPort, room access.Key, log *slog.Logger,
	say func(sentence.Sentence)) (stop func()) {
	home := netinfo.Reachable(at)
	if at.Addr().IsLoopback() {
		say(sentence.Of("term.router-loopback"))
	}
	if home.Addr().IsLoopback() { // on no network, which the user knows already
		return func() {}
	}
	say(sentence.Of("term.router-asking"))
	link := in.direct(at, room)
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		err := portmap.Keep(ctx, portmap.TCP, at.Port(), log, func(m portmap.Mapping) {
			say(mapped(m, link))
			if outside := m.External.Addr(); m.IsPublic() {
				in.router.Store(&outside)
				in.mapped.Store(&m.External)
			}
		})
		if err != nil && ctx.Err() == nil {
			log.Debug("no port mapping", "err", err)
			say(unmapped(home, link))
		}
	})
	return func() { cancel(); work.Wait() }
}

// ways are other ways to let friends in.
const ways = "--public-url"

// toPaste returns the line that friends type.
func toPaste(l invite.Link) string { return "muster join " + l.String() }

// mapped explains an open port to friends.
func mapped(m portmap.Mapping, l invite.Link) sentence.Sentence {
	outside := m.External.Addr()
	switch {
	case discovery.IsCarrierNAT(outside):
		return sentence.Of("term.router-carrier", "by", m.Protocol, "address", outside, "flag", ways)
	case !m.IsPublic():
		return forwarded("term.router-behind", m.External, l, "by", m.Protocol, "address", outside)
	}
	return sentence.Of("term.router-open", "by", m.Protocol, "line", toPaste(l.At(m.External.String())))
}

// unmapped says what to do without the router's help: forward a port to this machine by hand.
func unmapped(home netip.AddrPort, l invite.Link) sentence.Sentence {
	return forwarded("term.router-refuses", home, l)
}

// forwarded says how friends get in once a router forwards a port.
func forwarded(key string, to netip.AddrPort, l invite.Link, more ...any) sentence.Sentence {
	port := strconv.Itoa(int(to.Port()))
	from := l.At(net.JoinHostPort("PUBLIC-ADDRESS", port))
	return sentence.Of(key, append(more, "port", port, "to", to, "line", toPaste(from), "flag", ways)...)
}
