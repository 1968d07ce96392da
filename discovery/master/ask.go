package master

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"

	"muster/discovery"
	"muster/discovery/quake3"
)

const (
	// receiveBuffer holds the burst of a master with 100,000 servers: with the
	// system's default a third of 30,000 got lost. The system may grant less.
	receiveBuffer = 4 << 20
	// maxDatagram is UDP's limit.
	maxDatagram = 64 << 10
	// maxSilent is after how many questions in a row without an answer a master
	// counts as dead; old ones know only every second kind.
	maxSilent = 2
)

var (
	errSilent    = errors.New("no answer")
	errNotMaster = errors.New("what answers there is no master")
)

// asking is a conversation with one master at one address.
type asking struct {
	conn     *net.UDPConn
	master   netip.Addr
	silence  time.Duration
	deadline time.Time
	found    map[netip.AddrPort]bool
	list     []netip.AddrPort
	// junk: there came something that is no list.
	junk bool
}

// ask puts the questions to a master and returns the servers it lists, each
// once. The socket is connected: the system keeps out what others send.
func (c Client) ask(ctx context.Context, to netip.AddrPort, asks []quake3.MasterQuery) ([]netip.AddrPort, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "udp", to.String())
	if err != nil {
		return nil, reason(err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	a := asking{
		conn:     conn.(*net.UDPConn),
		master:   to.Addr(),
		silence:  cmp.Or(c.Silence, silence),
		deadline: time.Now().Add(patience),
		found:    make(map[netip.AddrPort]bool),
	}
	_ = a.conn.SetReadBuffer(receiveBuffer) // a smaller one loses more, and that is all
	if len(asks) == 1 {
		asks = append(asks, asks...)
	}
	return a.all(asks)
}

func (a *asking) all(asks []quake3.MasterQuery) ([]netip.AddrPort, error) {
	answered, silent := false, 0
	for _, q := range asks {
		if _, err := a.conn.Write(quake3.AppendMasterQuery(nil, q)); err != nil {
			return a.list, a.verdict(answered, err)
		}
		ok, err := a.collect()
		if answered = answered || ok; err != nil {
			return a.list, a.verdict(answered, err)
		}
		if silent++; ok {
			silent = 0
		}
		if silent == maxSilent {
			break
		}
	}
	return a.list, a.verdict(answered, nil)
}

// verdict is the conversation's error: none if there is a list.
func (a *asking) verdict(answered bool, err error) error {
	switch {
	case answered:
		return nil
	case err != nil:
		return reason(err)
	case a.junk:
		return errNotMaster
	}
	return errSilent
}

// collect reads until the list has ended and the line is quiet; answered if
// there came a list at all.
func (a *asking) collect() (answered bool, err error) {
	buf := make([]byte, maxDatagram)
	var addrs []netip.AddrPort
	wait, quiet := 2*a.silence, a.silence
	a.await(wait)
	for len(a.list) < discovery.MaxServers {
		n, err := a.conn.Read(buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return answered, nil
		}
		if err != nil {
			return answered, err
		}
		var end bool
		addrs, end, err = quake3.ParseMasterReply(buf[:n], addrs[:0])
		if err != nil && len(addrs) == 0 {
			a.junk = true
			continue
		}
		answered = true
		a.add(addrs)
		if end {
			quiet = min(quiet, settle)
		}
		a.await(quiet)
	}
	return answered, nil
}

// await waits for the next datagram, though never past the whole deadline.
func (a *asking) await(d time.Duration) {
	at := time.Now().Add(d)
	if at.After(a.deadline) {
		at = a.deadline
	}
	_ = a.conn.SetReadDeadline(at) // fails on a closed socket, and so does the read
}

func (a *asking) add(addrs []netip.AddrPort) {
	for _, addr := range addrs {
		if !a.found[addr] && usable(addr, a.master) && len(a.list) < discovery.MaxServers {
			a.found[addr] = true
			a.list = append(a.list, addr)
		}
	}
}

// usable reports whether a server that a master lists can be reached. A master on
// the internet knows nothing of the local network: what it lists there would
// have Muster probe the user's own machines.
func usable(server netip.AddrPort, master netip.Addr) bool {
	a := server.Addr()
	return server.Port() != 0 && canBeServer(a) && !a.IsLinkLocalUnicast() && (!isLocal(a) || isLocal(master))
}

func isLocal(a netip.Addr) bool { return discovery.ReachOf(a) != discovery.InternetReach }
