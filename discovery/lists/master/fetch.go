package master

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/lists/address"
)

// DefaultPort is the port of most masters of the Quake III family.
const DefaultPort = 27950

// Query is one master and the questions for it.
type Query struct {
	// Master is HOST[:PORT], with brackets around an IPv6 address with a port.
	Master string
	// Port is the master's if it names none; 0 is [DefaultPort].
	Port uint16
	// Asks are sent one after another, each when the list before it has ended or does
	// not come. A single one is sent twice, because parts of a list get lost.
	Asks []discovery.Lister
}

// Source is the origin of a list: a [Query], a [WebList], a [Steam] or [Regions].
type Source interface {
	name() string
	fetch(context.Context, Client) (Listing, error)
}

func (q Query) name() string { return q.Master }

// Fetch asks several sources at once and joins their lists, the first source's servers
// first. Sources without a list are warnings. If none gives one, the error is an
// [*UnreachableError]; if none lists a server, it is [ErrEmpty].
func (c Client) Fetch(ctx context.Context, sources ...Source) (Listing, error) {
	lists := make([]Listing, len(sources))
	errs := make([]error, len(sources))
	var wg sync.WaitGroup
	for i, s := range sources {
		wg.Go(func() { lists[i], errs[i] = s.fetch(ctx, c) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return Listing{}, fmt.Errorf("master: %w", err)
	}
	var all union
	var listing Listing
	var failed []*MasterError
	for i, s := range sources {
		if errs[i] != nil {
			_, udp := s.(Query)
			failed = append(failed, &MasterError{Master: s.name(), Err: errs[i], udp: udp})
			listing.Warnings = append(listing.Warnings, failed[len(failed)-1])
		}
		for name, to := range lists[i].Led {
			all.lead(name, to)
		}
		for _, s := range lists[i].Servers {
			all.add(i, s)
		}
		listing.say(lists[i].Said)
		listing.Warnings = append(listing.Warnings, lists[i].Warnings...)
	}
	listing.Servers, listing.Led = all.list(), all.led
	listing.Warnings = append(listing.Warnings, all.warnings("")...)
	switch {
	case len(failed) == len(sources):
		return listing, &UnreachableError{Masters: failed}
	case len(listing.Servers) == 0:
		return listing, fmt.Errorf("master: the masters' list: %w", ErrEmpty)
	}
	return listing, nil
}

// say adds another list's Infos of servers without one. The oldest list dates them all.
func (l *Listing) say(said discovery.Said) {
	switch {
	case len(said.Infos) == 0:
		return
	case l.Said.Infos == nil:
		l.Said = said
		return
	case said.At.Before(l.Said.At):
		l.Said.At = said.At
	}
	for addr, info := range said.Infos {
		if l.Said.Infos[addr] == nil {
			l.Said.Infos[addr] = info
		}
	}
}

// fetch asks one master, at its first address of each family at once: either may be
// unreachable from here.
func (q Query) fetch(ctx context.Context, c Client) (listing Listing, err error) {
	at, err := address.One(q.Master)
	if err != nil {
		return listing, errors.New("is no HOST[:PORT]")
	}
	addrs, err := c.addresses(ctx, at.Host)
	if err != nil {
		return listing, fmt.Errorf("cannot find the host: %w", reason(err))
	}
	addrs = slices.CompactFunc(addrs, func(a, b netip.Addr) bool { return a.BitLen() == b.BitLen() })
	asked := make([]*asking, len(addrs))
	errs := make([]error, len(addrs))
	var wg sync.WaitGroup
	for i, addr := range addrs {
		to := netip.AddrPortFrom(addr, cmp.Or(at.Port, q.Port, DefaultPort))
		wg.Go(func() { asked[i], errs[i] = c.ask(ctx, to, q.Asks) })
	}
	wg.Wait()
	if !slices.Contains(errs, nil) {
		return listing, errs[0]
	}
	for i, a := range asked {
		if errs[i] == nil {
			listing.Servers = append(listing.Servers, a.list.list()...)
			listing.Warnings = append(listing.Warnings, a.list.warnings(q.Master)...)
			listing.say(discovery.Said{At: time.Now(), Infos: a.said})
		}
	}
	return listing, nil
}

const (
	// receiveBuffer holds the burst of a master with 100,000 servers. With the system's default, a
	// third of 30,000 servers got lost. The system may grant less.
	receiveBuffer = 4 << 20
	// maxDatagram is UDP's limit.
	maxDatagram = 64 << 10
	// After maxSilent questions in a row without an answer a master counts as dead; old
	// masters know only every second kind of question.
	maxSilent = 2
)

var (
	errSilent    = errors.New("no answer")
	errNotMaster = errors.New("what answers there is no master")
)

// asking is a conversation with one master at one address.
type asking struct {
	conn     *net.UDPConn
	master   netip.AddrPort
	silence  time.Duration
	deadline time.Time
	list     union
	said     map[netip.AddrPort]*discovery.Info
	// wrong is why the last datagram that was no list was none.
	wrong error
}

// ask puts the questions to a master and returns the servers it lists, each once. The
// socket is connected, so the system drops packets from other senders.
func (c Client) ask(ctx context.Context, to netip.AddrPort, asks []discovery.Lister) (*asking, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "udp", to.String())
	if err != nil {
		return nil, reason(err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	a := &asking{
		conn:     conn.(*net.UDPConn),
		master:   to,
		silence:  cmp.Or(c.Silence, silence),
		deadline: time.Now().Add(patience),
	}
	_ = a.conn.SetReadBuffer(receiveBuffer) // a smaller one only loses more
	if len(asks) == 1 {
		asks = append(asks, asks...)
	}
	answered, silent := false, 0
	for _, q := range asks {
		if answered && !q.Repeats() {
			break
		}
		if _, err = conn.Write(q.AppendListQuery(nil)); err != nil {
			break
		}
		var ok bool
		ok, err = a.collect(q)
		if silent++; ok {
			answered, silent = true, 0
		}
		if err != nil || silent == maxSilent {
			break
		}
	}
	switch {
	case answered:
		return a, nil
	case err != nil:
		return nil, reason(err)
	case errors.Is(a.wrong, discovery.ErrMalformed):
		return nil, errNotMaster
	case a.wrong != nil:
		return nil, a.wrong
	}
	return nil, errSilent
}

// collect reads until the list has ended and the line is quiet. Answered reports that a
// list came.
func (a *asking) collect(q discovery.Lister) (answered bool, err error) {
	buf := make([]byte, maxDatagram)
	wait, quiet := 2*a.silence, a.silence
	a.await(wait)
	for {
		n, err := a.conn.Read(buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return answered, nil
		}
		if err != nil {
			return answered, err
		}
		hasServers := false
		end, err := q.ParseList(buf[:n], func(at netip.AddrPort, info *discovery.Info) {
			hasServers = true
			a.add(at, info)
		})
		if err != nil && !hasServers {
			a.wrong = err
			continue
		}
		answered = true
		if end {
			quiet = min(quiet, settle)
		}
		a.await(quiet)
	}
}

// await waits d for the next datagram, but never past the final deadline.
func (a *asking) await(d time.Duration) {
	at := time.Now().Add(d)
	if at.After(a.deadline) {
		at = a.deadline
	}
	_ = a.conn.SetReadDeadline(at) // fails on a closed socket, and so does the read
}

// add takes a server, and what the list says about it. A master may send a shorter list, too:
// the word that counts seats is the better one.
func (a *asking) add(at netip.AddrPort, info *discovery.Info) {
	if !at.IsValid() {
		at = a.master // it is a server itself
	}
	if !usable(at, a.master.Addr()) {
		return
	}
	a.list.add(0, discovery.Server{Addr: at})
	if info == nil {
		return
	}
	if a.said == nil {
		a.said = make(map[netip.AddrPort]*discovery.Info)
	}
	at = discovery.Canonical(at)
	known := a.said[at]
	if known == nil && len(a.said) < discovery.MaxServers || known != nil && known.MaxPlayers == 0 {
		info.AsListed = true
		a.said[at] = info
	}
}

// usable reports whether a server that a master lists can be reached. A master on the
// internet knows nothing about the local network. An address there would make Muster
// probe the user's own machines.
func usable(server netip.AddrPort, master netip.Addr) bool {
	a := server.Addr()
	isLocal := func(a netip.Addr) bool { return discovery.ReachOf(a) != discovery.InternetReach }
	return server.Port() != 0 && canBeServer(a) && !a.IsLinkLocalUnicast() && (!isLocal(a) || isLocal(master))
}
