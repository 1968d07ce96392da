package fleet

import (
	"net/netip"
	"runtime"

	"muster/internal/sim"
)

// layout is how a fleet spreads over loopback.
type layout uint8

const (
	// shared: every server its address, one socket for all of a port.
	shared layout = iota
	// byAddress: every server its address, and a socket of its own.
	byAddress
	// byPort: all servers on 127.0.0.1, each with a socket of its own.
	byPort
)

// wholeLoopback tells whether the system has all of 127.0.0.0/8 from the start.
const wholeLoopback = runtime.GOOS == "linux" || runtime.GOOS == "windows"

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

func (o Options) layout() layout {
	switch {
	case o.OneAddress || !wholeLoopback:
		return byPort
	case runtime.GOOS == "linux":
		return shared
	}
	return byAddress
}

// berth is where a server shall listen: it is the nth of its address, counting
// apart those that answer and those that refuse.
type berth struct {
	addr netip.Addr
	nth  int
}

// berths finds a place for each server.
func berths(servers []sim.Server, l layout) ([]berth, error) {
	folded, err := foldServers(servers, l)
	if err != nil {
		return nil, err
	}
	type row struct {
		addr     netip.Addr
		refusing bool
	}
	taken := map[row]int{}
	at := make([]berth, len(servers))
	for i, s := range servers {
		r := row{folded[s.Addr.Addr()], s.Refusing}
		at[i] = berth{r.addr, taken[r]}
		taken[r]++
	}
	return at, nil
}

func foldServers(servers []sim.Server, l layout) (map[netip.Addr]netip.Addr, error) {
	addrs := make([]netip.Addr, len(servers))
	for i, s := range servers {
		addrs[i] = s.Addr.Addr()
	}
	if l != byPort {
		return foldAddrs(addrs)
	}
	folded := map[netip.Addr]netip.Addr{}
	for _, addr := range addrs {
		folded[addr] = loopback
	}
	return folded, nil
}
