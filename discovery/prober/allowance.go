package prober

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"muster/discovery"
)

// limit is a rate: one packet each so often. A silence saves up packets for one window,
// which may then leave at once.
type limit struct{ every, window time.Duration }

// The most that one prober sends to one address (IPv6: one /64, which is one
// customer's) and to one network, usually one provider's (IPv4: a /24, IPv6: a /48).
// Real lists have up to some thirty servers at an address and some hundred in a
// network. Each takes one packet or two, and a dead one takes four.
//
// The quick limits spread the servers that a list has in one place: 16 packets at once,
// then 8 a second. Thirty-two A2S servers at one address take six seconds. A network
// gets four times as much.
//
// The slow limits bound a whole session: 256 packets to an address and one more every
// two seconds. That is enough for 20 rounds, one every 200 s, that ask 32 A2S servers
// there and seven of them three more times. A network gets 1,024, and four a second.
var (
	quickAddress = limit{every: time.Second / 8, window: 2 * time.Second}
	slowAddress  = limit{every: 2 * time.Second, window: 256 * 2 * time.Second}
	quickNetwork = limit{every: time.Second / 32, window: 2 * time.Second}
	slowNetwork  = limit{every: time.Second / 4, window: 1024 * time.Second / 4}
)

const (
	// patience is how long a packet waits for its turn, times the share. Packets that
	// came together late may leave together: 80 to an address, 320 to a network, at the
	// worst.
	patience = 8 * time.Second
	// nearby multiplies the limits for private addresses: a LAN party has 60 servers on
	// one machine, and only hosts in the same network can aim at it.
	nearby = 4
	// fullRatePlayers may measure at once before each takes a share of the quick
	// limits.
	fullRatePlayers = 16
	// places is how many addresses, and how many networks, are distinguished, by a hash
	// that nobody can predict. Those with the same hash share their limits; 30,000
	// addresses leave three in five of them alone.
	places = 1 << 16
)

// Allowance bounds the packets to single addresses and their networks over the whole
// life of a program, for all callers. The author of a list can name all ports of a
// person who never ran a server, and again in every round. The memory of an Allowance
// is bounded, too (2 MB). Loopback addresses belong to this machine, and are free.
//
// Probers share one. It is safe for use by several goroutines.
type Allowance struct {
	seed  maphash.Seed
	start time.Time

	mu        sync.Mutex // guards the fields below
	among     int
	addresses []spent
	networks  []spent
}

// spent is when a place has used up its limits, as times since the allowance began.
// Each packet moves both on.
type spent struct{ quick, slow time.Duration }

// NewAllowance returns the allowance of a program that has asked nobody yet.
func NewAllowance() *Allowance {
	return &Allowance{
		seed: maphash.MakeSeed(), start: time.Now(), among: 1,
		addresses: make([]spent, places), networks: make([]spent, places),
	}
}

// Share sets how many players measure the same list at once, this one included. More
// than sixteen share what sixteen would send to an address and a network in a short
// time. Together 64 send 256 packets at once and 128 a second to an address, and four
// times as much to a network.
func (a *Allowance) Share(among int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.among = max(1, among)
}

// spend allows a packet to an address after a wait, if that is not too long.
func (a *Allowance) spend(addr netip.Addr) (wait time.Duration, ok bool) {
	addr = bare(addr)
	near := time.Duration(1)
	switch discovery.ReachOf(addr) {
	case discovery.MachineReach:
		return 0, true
	case discovery.NetworkReach:
		if !discovery.IsCarrierNAT(addr) { // a carrier's NAT has strangers in it
			near = nearby
		}
	}
	address, network := a.place(addr)
	a.mu.Lock()
	defer a.mu.Unlock()
	now, share := time.Since(a.start), time.Duration(a.among+fullRatePlayers-1)/fullRatePlayers
	at, of := &a.addresses[address], &a.networks[network]
	purses := [...]struct {
		until         *time.Duration
		every, window time.Duration
	}{
		{&at.quick, quickAddress.every * share / near, quickAddress.window},
		{&at.slow, slowAddress.every / near, slowAddress.window},
		{&of.quick, quickNetwork.every * share / near, quickNetwork.window},
		{&of.slow, slowNetwork.every / near, slowNetwork.window},
	}
	for _, p := range purses {
		wait = max(wait, *p.until+p.every-p.window-now)
	}
	if wait > patience*share {
		return 0, false
	}
	for _, p := range purses {
		*p.until = max(*p.until, now) + p.every
	}
	return wait, true
}

// Networks by family, in bits.
const (
	hostBitsV6    = 64
	networkBitsV4 = 24
	networkBitsV6 = 48
)

func (a *Allowance) place(addr netip.Addr) (address, network uint64) {
	bytes := addr.As16()
	ends := [2]int{16, 16 - (32-networkBitsV4)/8}
	if addr.Is6() && !addr.Is4In6() {
		ends = [2]int{hostBitsV6 / 8, networkBitsV6 / 8}
	}
	return maphash.Bytes(a.seed, bytes[:ends[0]]) % places, maphash.Bytes(a.seed, bytes[:ends[1]]) % places
}
